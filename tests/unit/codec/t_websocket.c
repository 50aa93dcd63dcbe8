/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The example of RFC 6455 1.3, and keys of lengths around those of a block of the sum. */
#include "codec/websocket.h"
#include "tap.h"

static const struct { const char *key, *accept; } rows[] = {
	{ "dGhlIHNhbXBsZSBub25jZQ==", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" },
	{ "",
	  "Kfh9QIsMVZcl6xEPYxPHzW8SZ8w=" },
	{ "xxxxxxxxxxxxxxxxxxx",
	  "qQsxh2Nb/vsnD9od6HBiP6Igif0=" },
	{ "xxxxxxxxxxxxxxxxxxxx",
	  "7jD6MP55bPPoLSNhT1mD/AE8sjc=" },
	{ "xxxxxxxxxxxxxxxxxxxxxxxxxxx",
	  "WWp/NRXr3+N4xy7O/17rN1JrRGc=" },
	{ "xxxxxxxxxxxxxxxxxxxxxxxxxxxx",
	  "atUL8kQGe4qplhq19Y5TKRw/Uj4=" },
	{ "xxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
	  "EoHUgLwSj5LVfz4NhAZzg2z0i4Y=" },
	{ "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
	  "xxxxxxxxxxxxxxxxxxxxxxxxx",
	  "InslgUhEUGrE7unh07gEbqvKX/Y=" },
	{ "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
	  "xxxxxxxxxxxxxxxxxxxxxxxxxx",
	  "N6jQH9SY1VrfN6p4qvkUdTUUhwQ=" },
};

int main(void)
{
	char out[WEBSOCKET_ACCEPT_LEN + 1] = { 0 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		websocket_accept(slice_of(rows[i].key), out);
		is_str(out, rows[i].accept, "key of %zu bytes", strlen(rows[i].key));
	}
	return done_testing();
}
