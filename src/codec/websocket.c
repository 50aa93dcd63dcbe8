/* SPDX-License-Identifier: GPL-2.0-or-later */
/* websocket.c - the proof that a server understood a WebSocket handshake (RFC 6455 4) */
#include "codec/websocket.h"

/* Appended to the key before the digest (RFC 6455 1.3). */
static const char magic[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/* --- SHA-1 (RFC 3174), of a few dozen bytes -------------------------------------------------- */

struct sha1 {
	uint32_t h[5];
	uint8_t block[64];
	uint64_t length; /* bytes so far */
};

static inline uint32_t rotate(uint32_t v, unsigned n)
{
	return v << n | v >> (32 - n);
}

static void sha1_block(struct sha1 *s)
{
	static const uint32_t k[4] = { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };
	uint32_t w[80], a = s->h[0], b = s->h[1], c = s->h[2], d = s->h[3], e = s->h[4];

	for (unsigned i = 0; i < 16; i++)
		w[i] = (uint32_t)s->block[4 * i] << 24 | (uint32_t)s->block[4 * i + 1] << 16 |
		       (uint32_t)s->block[4 * i + 2] << 8 | s->block[4 * i + 3];
	for (unsigned i = 16; i < 80; i++)
		w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (unsigned i = 0; i < 80; i++) {
		uint32_t f = i < 20 ? (b & c) | (~b & d)
			     : i >= 40 && i < 60 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
		uint32_t next = rotate(a, 5) + f + e + w[i] + k[i / 20];

		e = d;
		d = c;
		c = rotate(b, 30);
		b = a;
		a = next;
	}
	s->h[0] += a;
	s->h[1] += b;
	s->h[2] += c;
	s->h[3] += d;
	s->h[4] += e;
}

static void sha1_byte(struct sha1 *s, uint8_t byte)
{
	s->block[s->length++ % 64] = byte;
	if (s->length % 64 == 0)
		sha1_block(s);
}

static void sha1_end(struct sha1 *s, uint8_t out[20])
{
	uint64_t bits = s->length * 8;

	sha1_byte(s, 0x80);
	while (s->length % 64 != 56)
		sha1_byte(s, 0);
	for (unsigned i = 0; i < 8; i++)
		sha1_byte(s, (uint8_t)(bits >> (56 - 8 * i)));
	for (unsigned i = 0; i < 20; i++)
		out[i] = (uint8_t)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

/* --- base64 ----------------------------------------------------------------------------------- */

static void base64(const uint8_t *in, size_t len, char *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";

	for (size_t i = 0; i < len; i += 3, out += 4) {
		unsigned v = (unsigned)in[i] << 16;

		v |= i + 1 < len ? (unsigned)in[i + 1] << 8 : 0;
		v |= i + 2 < len ? in[i + 2] : 0;
		out[0] = digits[v >> 18];
		out[1] = digits[v >> 12 & 63];
		out[2] = i + 1 < len ? digits[v >> 6 & 63] : '=';
		out[3] = i + 2 < len ? digits[v & 63] : '=';
	}
}

void websocket_key(const uint8_t nonce[WEBSOCKET_NONCE_LEN], char out[WEBSOCKET_KEY_LEN])
{
	base64(nonce, WEBSOCKET_NONCE_LEN, out);
}

void websocket_accept(struct slice key, char out[WEBSOCKET_ACCEPT_LEN])
{
	struct sha1 s = {
		.h = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 },
	};
	uint8_t digest[20];

	for (size_t i = 0; i < key.len; i++)
		sha1_byte(&s, (uint8_t)key.ptr[i]);
	for (size_t i = 0; i < sizeof(magic) - 1; i++)
		sha1_byte(&s, (uint8_t)magic[i]);
	sha1_end(&s, digest);
	base64(digest, sizeof(digest), out);
}
