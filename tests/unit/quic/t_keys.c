/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys and protection of packets: the vectors of RFC 9001 and RFC 9369 (A of each); tokens. */
#include "../tap.h"
#include "base/addr.h"
#include "keys_priv.h"
#include "token_priv.h"

static size_t unhex(const char *text, uint8_t *out)
{
	size_t n = 0;
	unsigned byte;

	for (; sscanf(text, "%2x", &byte) == 1; text += 2)
		out[n++] = (uint8_t)byte;
	return n;
}

static bool is_hex(const uint8_t *got, size_t len, const char *want)
{
	uint8_t bytes[2048];

	return unhex(want, bytes) == len && memcmp(got, bytes, len) == 0;
}

static struct quic_cid cid_of(const char *hex)
{
	struct quic_cid c;

	c.len = (uint8_t)unhex(hex, c.bytes);
	return c;
}

static void test_initial(void)
{
	static const char head[] = "c1000000010008f067a5502a4262b50040750001";
	static const char frames[] =
		"02000000000600405a020000560303eefce7f7b37ba1d1632e96677825ddf73988cfc79825df566d"
		"c5430b9a045a1200130100002e00330024001d00209d3c940d89690b84d08a60993c144eca684d10"
		"81287c834d5311bcf32bb9da1a002b00020304";
	static const char packet[] =
		"cf000000010008f067a5502a4262b5004075c0d95a482cd0991cd25b0aac406a5816b6394100f37a"
		"1c69797554780bb38cc5a99f5ede4cf73c3ec2493a1839b3dbcba3f6ea46c5b7684df3548e7ddeb9"
		"c3bf9c73cc3f3bded74b562bfb19fb84022f8ef4cdd93795d77d06edbb7aaf2f58891850abbdca3d"
		"20398c276456cbc42158407dd074ee";
	struct quic_cid dcid = cid_of("8394c8f03e515708");
	struct quic_keys client, server, reader;
	uint8_t bytes[512], mask[5], sample[16];
	size_t n, m;

	ok(quic_keys_initial(&client, QUIC_VERSION_1, &dcid, true, true) &&
	   quic_keys_initial(&server, QUIC_VERSION_1, &dcid, false, true) &&
	   quic_keys_initial(&reader, QUIC_VERSION_1, &dcid, false, false),
	   "keys of Initial packets");
	ok(is_hex(client.secret, 32,
		  "c00cf151ca5be075ed0ebfb5c80323c42d6b7db67881289af4008f1f6c357aea"),
	   "A.1: the secret of the client");
	ok(is_hex(client.iv, 12, "fa044b2f42a3fd3b46fb255c"), "A.1: the client's IV");
	ok(is_hex(server.iv, 12, "0ac1493ca1905853b0bba03e"), "A.1: the server's IV");
	unhex("d1b1c98dd7689fb8ec11d242b123dc9b", sample);
	ok(quic_header_mask(&client, sample, mask) && is_hex(mask, 5, "437b9aec36"),
	   "A.2: the mask of the client's header");
	n = unhex(head, bytes);
	m = unhex(frames, bytes + n);
	ok(quic_seal(&server, 1, bytes, n, bytes + n, m), "A.3: the server's packet is protected");
	ok(quic_header_mask(&server, bytes + n + 2, mask) && is_hex(mask, 5, "2ec0d8356a"),
	   "A.3: its mask");
	bytes[0] ^= mask[0] & 0x0f;
	bytes[n - 2] ^= mask[1];
	bytes[n - 1] ^= mask[2];
	ok(is_hex(bytes, n + m + QUIC_TAG_LEN, packet), "A.3: the packet");
	unhex(head, bytes);
	ok(quic_open(&reader, 1, bytes, n, bytes + n, m + QUIC_TAG_LEN) &&
	   is_hex(bytes + n, m, frames), "A.3: it is opened");
	ok(!quic_open(&reader, 1, bytes, n, bytes + n, m + QUIC_TAG_LEN), "what is not authentic");
	ok(!quic_open(&reader, 1, bytes, n, bytes + n, 5), "what is shorter than a tag");
	quic_keys_free(&client);
	quic_keys_free(&server);
	quic_keys_free(&reader);
}

static void test_retry(void)
{
	struct quic_cid odcid = cid_of("8394c8f03e515708");
	uint8_t packet[64], tag[QUIC_RETRY_TAG_LEN];
	size_t n = unhex("ff000000010008f067a5502a4262b5746f6b656e", packet);

	ok(quic_retry_tag(QUIC_VERSION_1, &odcid, packet, n, tag) &&
	   is_hex(tag, sizeof(tag), "04a265ba2eff4d829058fb3f0f2496ba"), "A.4: a Retry's tag");
}

static void test_chacha(void)
{
	struct quic_keys k, next;
	uint8_t secret[32], bytes[64], mask[5];
	struct quic_secret s = { secret, 32, QUIC_CHACHA20_POLY1305, QUIC_VERSION_1 };
	size_t n;

	unhex("9ac312a7f877468ebe69422748ad00a15443f18203a07d6060f688f30f21632b", secret);
	ok(quic_keys_make(&k, &s, true, true), "A.5: keys");
	ok(is_hex(k.iv, 12, "e0459b3474bdd0e44a41c144"), "A.5: the IV");
	ok(quic_keys_next(&next, &k) &&
	   is_hex(next.secret, 32,
		  "1223504755036d556342ee9361d253421a826c9ecdf3c7148684b36b714881f9"),
	   "A.5: the next secret");
	n = unhex("4200bff4", bytes);
	bytes[n] = QUIC_FT_PING;
	ok(quic_seal(&k, 654360564, bytes, n, bytes + n, 1) &&
	   is_hex(bytes + n, 17, "655e5cd55c41f69080575d7999c25a5bfb"), "A.5: the payload");
	ok(quic_header_mask(&k, bytes + 5, mask) && is_hex(mask, 5, "aefefe7d03"), "A.5: the mask");
	quic_keys_free(&k);
	quic_keys_free(&next);
	s.suite = 0x1399;
	ok(!quic_keys_make(&k, &s, true, true), "a suite that is unknown");
}

static void test_second_version(void)
{
	struct quic_cid dcid = cid_of("8394c8f03e515708");
	struct quic_keys client, server, k, next;
	uint8_t packet[64], tag[QUIC_RETRY_TAG_LEN], secret[32];
	struct quic_secret s = { secret, 32, QUIC_CHACHA20_POLY1305, QUIC_VERSION_2 };
	size_t n = unhex("cf6b3343cf0008f067a5502a4262b5746f6b656e", packet);

	ok(quic_keys_initial(&client, QUIC_VERSION_2, &dcid, true, true) &&
	   quic_keys_initial(&server, QUIC_VERSION_2, &dcid, false, true), "version 2: keys");
	ok(is_hex(client.secret, 32,
		  "14ec9d6eb9fd7af83bf5a668bc17a7e283766aade7ecd0891f70f9ff7f4bf47b"),
	   "version 2, A.1: the secret of the client");
	ok(is_hex(client.iv, 12, "91f73e2351d8fa91660e909f"), "version 2, A.1: the client's IV");
	ok(is_hex(server.iv, 12, "dd13c276499c0249d3310652"), "version 2, A.1: the server's IV");
	ok(quic_retry_tag(QUIC_VERSION_2, &dcid, packet, n, tag) &&
	   is_hex(tag, sizeof(tag), "c8646ce8bfe33952d955543665dcc7b6"),
	   "version 2, A.4: a Retry's tag");
	unhex("9ac312a7f877468ebe69422748ad00a15443f18203a07d6060f688f30f21632b", secret);
	ok(quic_keys_make(&k, &s, true, true) && is_hex(k.iv, 12, "a6b5bc6ab7dafce30ffff5dd"),
	   "version 2, A.5: the IV");
	ok(quic_keys_next(&next, &k) &&
	   is_hex(next.secret, 32,
		  "c69374c49e3d2a9466fa689e49d476db5d0dfbc87d32ceeaa6343fd0ae4c7d88"),
	   "version 2, A.5: the next secret");
	n = unhex("4200bff4", packet);
	packet[n] = QUIC_FT_PING;
	ok(quic_seal(&k, 654360564, packet, n, packet + n, 1) &&
	   is_hex(packet + n, 17, "0ae7b6b932bc27d786f4bc2bb20f2162ba"),
	   "version 2, A.5: the payload");
	quic_keys_free(&client);
	quic_keys_free(&server);
	quic_keys_free(&k);
	quic_keys_free(&next);
}

static void test_tokens(void)
{
	struct addr a = addr_from_v4("\x7f\0\0\1", 1000), b = addr_from_v4("\x7f\0\0\1", 1001);
	struct quic_cid odcid = cid_of("0102030405060708"), scid, other, got;
	uint8_t token[QUIC_TOKEN_MAX], reset[QUIC_RESET_TOKEN_LEN], again[QUIC_RESET_TOKEN_LEN];
	size_t n;

	ok(quic_secret_set("secret", 6) && quic_cid_new(&scid, 300) && quic_cid_new(&other, 300),
	   "ids are made");
	is_int(quic_cid_thread(&scid), 300, "an id tells its thread");
	ok(!quic_cid_is(&scid, &other), "no two are the same");
	n = quic_token_make(token, &a, &odcid, &scid, 5000);
	ok(n && quic_token_check(token, n, &a, &scid, 5003, &got) && quic_cid_is(&got, &odcid),
	   "a token is good for its client");
	ok(!quic_token_check(token, n, &b, &scid, 5003, &got), "and for no other");
	ok(!quic_token_check(token, n, &a, &other, 5003, &got), "nor for another id");
	ok(!quic_token_check(token, n, &a, &scid, 5060, &got), "nor later");
	ok(quic_token_check(token, n, &a, &scid, 4997, &got), "a clock that is late takes it");
	ok(!quic_token_check(token, n, &a, &scid, 4900, &got), "but not long before it was made");
	ok(!quic_token_check(token, n - 1, &a, &scid, 5003, &got), "nor when it is cut");
	token[3] ^= 1;
	ok(!quic_token_check(token, n, &a, &scid, 5003, &got), "nor changed");
	ok(!quic_token_check(token, 0, &a, &scid, 5003, &got), "an empty token");
	ok(quic_token_is_retry(token, n) && !quic_token_is_retry(token, 0) &&
	   !quic_token_is_retry(token + 1, n - 1), "changed tokens are known as such, others not");
	ok(!quic_token_is_retry(token, n - 1) && !quic_token_is_retry(token, 1),
	   "nor another server's that begins with the same byte");
	ok(quic_reset_token(&scid, reset) && quic_reset_token(&scid, again) &&
	   memcmp(reset, again, sizeof(reset)) == 0, "a reset token is always the same");
}

int main(void)
{
	test_initial();
	test_retry();
	test_chacha();
	test_second_version();
	test_tokens();
	return done_testing();
}
