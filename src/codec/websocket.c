/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SHA-1 (RFC 3174), which the handshake uses as a mere checksum, and its base64. */
#include "codec/websocket.h"

#define DIGEST_LEN 20
#define BLOCK_LEN 64

struct sha1 {
	uint32_t state[5];
	uint64_t len;
	uint8_t block[BLOCK_LEN];
};

static uint32_t rotate(uint32_t v, unsigned n)
{
	return v << n | v >> (32 - n);
}

/* The function and constant of step <i>. */
static uint32_t mix(unsigned i, uint32_t b, uint32_t c, uint32_t d)
{
	if (i < 20)
		return ((b & c) | (~b & d)) + 0x5a827999;
	if (i < 40)
		return (b ^ c ^ d) + 0x6ed9eba1;
	if (i < 60)
		return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
	return (b ^ c ^ d) + 0xca62c1d6;
}

static void sha1_block(struct sha1 *s)
{
	uint32_t w[80], v[5], next;

	for (unsigned i = 0; i < 16; i++)
		w[i] = (uint32_t)s->block[4 * i] << 24 | (uint32_t)s->block[4 * i + 1] << 16 |
		       (uint32_t)s->block[4 * i + 2] << 8 | s->block[4 * i + 3];
	for (unsigned i = 16; i < 80; i++)
		w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	memcpy(v, s->state, sizeof(v));
	for (unsigned i = 0; i < 80; i++) {
		next = rotate(v[0], 5) + mix(i, v[1], v[2], v[3]) + v[4] + w[i];
		v[4] = v[3];
		v[3] = v[2];
		v[2] = rotate(v[1], 30);
		v[1] = v[0];
		v[0] = next;
	}
	for (unsigned i = 0; i < 5; i++)
		s->state[i] += v[i];
}

static void sha1_add(struct sha1 *s, const void *data, size_t len)
{
	const uint8_t *p = data;

	while (len--) {
		s->block[s->len++ % BLOCK_LEN] = *p++;
		if (s->len % BLOCK_LEN == 0)
			sha1_block(s);
	}
}

static void sha1_end(struct sha1 *s, uint8_t digest[DIGEST_LEN])
{
	uint64_t bits = s->len * 8;
	uint8_t tail[8];

	for (unsigned i = 0; i < 8; i++)
		tail[i] = (uint8_t)(bits >> (56 - 8 * i));
	sha1_add(s, "\x80", 1);
	while (s->len % BLOCK_LEN != BLOCK_LEN - sizeof(tail))
		sha1_add(s, "", 1);
	sha1_add(s, tail, sizeof(tail));
	for (unsigned i = 0; i < DIGEST_LEN; i++)
		digest[i] = (uint8_t)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}

void websocket_accept(struct slice key, char out[WEBSOCKET_ACCEPT_LEN])
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	static const char salt[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
	struct sha1 s = { .state = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 } };
	uint8_t digest[DIGEST_LEN + 1];

	sha1_add(&s, key.ptr, key.len);
	sha1_add(&s, salt, sizeof(salt) - 1);
	sha1_end(&s, digest);
	digest[DIGEST_LEN] = 0;
	for (unsigned i = 0; i < WEBSOCKET_ACCEPT_LEN; i++) {
		unsigned bit = i * 6, at = bit / 8;
		unsigned pair = (unsigned)digest[at] << 8 | (at < DIGEST_LEN ? digest[at + 1] : 0);

		out[i] = digits[pair >> (10 - bit % 8) & 63];
	}
	out[WEBSOCKET_ACCEPT_LEN - 1] = '=';
}
