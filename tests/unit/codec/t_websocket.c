/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The WebSocket handshake: the example of RFC 6455 1.3, keys of every length around a block. */
#include "codec/websocket.h"
#include "tap.h"

static bool accept_is(const char *key, const char *want)
{
	char out[WEBSOCKET_ACCEPT_LEN];

	websocket_accept(slice_of(key), out);
	return slice_eq(slice_make(out, sizeof(out)), slice_of(want));
}

int main(void)
{
	static const uint8_t nonce[WEBSOCKET_NONCE_LEN] = "the sample nonce";
	char key[WEBSOCKET_KEY_LEN];

	ok(accept_is("dGhlIHNhbXBsZSBub25jZQ==", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "RFC 6455 1.3");
	ok(accept_is("", "Kfh9QIsMVZcl6xEPYxPHzW8SZ8w="), "no key");
	/* the digest's padding goes to a second block here */
	ok(accept_is("dGhlIHNhbXBsZSBub25jZQ==dGhlIHNhbXBsZSBub25jZQ==",
		     "0mi0nArQh5igP1yImiQxBl21Yaw="), "a long key");
	websocket_key(nonce, key);
	ok(memcmp(key, "dGhlIHNhbXBsZSBub25jZQ==", WEBSOCKET_KEY_LEN) == 0, "a key of bytes");
	return done_testing();
}
