/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NetScaler client address headers: both forms, what is refused, what is incomplete. */
#include "base/bug.h"
#include "codec/netscaler.h"
#include "tap.h"

#define MAGIC 0x12345678
#define V4 "\x45\0\0\x28\0\1\0\0\x40\6\0\0\x0a\1\2\3\x0a\x09\x08\7"
#define V6 "\x60\0\0\0\0\x14\6\x40" "\x20\1\0\0\0\0\0\0\0\0\0\0\0\0\0\1" \
	"\x20\1\0\0\0\0\0\0\0\0\0\0\0\0\0\2"
#define TCP "\4\x57\x08\xae\0\0\0\1\0\0\0\1\x50\2\0\x64\0\0\0\0"
#define M "\x12\x34\x56\x78"
#define S(text) { text, sizeof(text) - 1 }

static const struct {
	struct slice bytes;
	enum netscaler_status status;
	size_t length;
	const char *source, *destination;
} cases[] = {
	{ S(M "\0\0\0\x28" V4 TCP "GET"), NETSCALER_DONE, 48, "10.1.2.3:1111", "10.9.8.7:2222" },
	{ S(M "\0\0\0\x30" V4 TCP "12345678GET"), NETSCALER_DONE, 56, "10.1.2.3:1111",
	  "10.9.8.7:2222" },
	{ S(M "\0\0\0\x3c" V6 TCP), NETSCALER_DONE, 68, "[2001::1]:1111", "[2001::2]:2222" },
	{ S(M "\0\0\0\x34\0\1\0\x28" V4 TCP), NETSCALER_DONE, 52, "10.1.2.3:1111",
	  "10.9.8.7:2222" },
	{ S(M "\0\0\0\x48\0\0\0\x3c" V6 TCP), NETSCALER_DONE, 72, "[2001::1]:1111",
	  "[2001::2]:2222" },
	{ S("\x12\x34\x56\x79"), NETSCALER_MAGIC, 0, NULL, NULL },
	{ S("G"), NETSCALER_MAGIC, 0, NULL, NULL },
	/* UDP; a header of 16 bytes; ports outside of the length; far too long */
	{ S(M "\0\0\0\x28\x45\0\0\x28\0\1\0\0\x40\x11\0\0\x0a\1\2\3\x0a\x09\x08\7" TCP),
	  NETSCALER_PROTOCOL, 0, NULL, NULL },
	{ S(M "\0\0\0\x28\x44\0\0\x28\0\1\0\0\x40\6\0\0\x0a\1\2\3\x0a\x09\x08\7" TCP),
	  NETSCALER_PROTOCOL, 0, NULL, NULL },
	{ S(M "\0\0\0\x28" V6 "\4\x57\x08\xae"), NETSCALER_PROTOCOL, 0, NULL, NULL },
	{ S(M "\0\0\0\x14" V4 TCP), NETSCALER_PROTOCOL, 0, NULL, NULL },
	{ S(M "\0\0\1\xf9" V4 TCP), NETSCALER_PROTOCOL, 0, NULL, NULL },
	{ S(M "\0\0\0\x34\0\1\0\x14" V4 TCP), NETSCALER_PROTOCOL, 0, NULL, NULL },
};

static void check_case(size_t i)
{
	struct netscaler n = { 0 };
	char text[ADDR_MAX];

	is_int(netscaler_parse(cases[i].bytes, MAGIC, &n), cases[i].status, "case %zu", i);
	if (cases[i].status != NETSCALER_DONE)
		return;
	is_int(n.length, cases[i].length, "case %zu: length", i);
	addr_put(&n.source, text, sizeof(text));
	is_str(text, cases[i].source, "case %zu: source", i);
	addr_put(&n.destination, text, sizeof(text));
	is_str(text, cases[i].destination, "case %zu: destination", i);
	for (size_t len = 0; len < n.length; len++)
		if (netscaler_parse(slice_make(cases[i].bytes.ptr, len), MAGIC, &n) !=
		    NETSCALER_MORE)
			ok(false, "case %zu cut at %zu is not complete", i, len);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check_case(i);
	return done_testing();
}
