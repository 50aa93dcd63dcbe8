/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_gcm.c - our AES-GCM gives what the published vectors and OpenSSL's own say, on every path */
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/tls1.h>
#include <pthread.h>
#include <stdlib.h>
#include "tap.h"
#include "gcm_priv.h"

#define MOST 20000

static EVP_CIPHER *ours[2], *theirs[2]; /* AES-128, AES-256 */
static const size_t key_len[2] = { 16, 32 };

static unsigned below(unsigned n)
{
	return (unsigned)random() % n;
}

static void fill(unsigned char *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (unsigned char)random();
}

struct message {
	unsigned char key[32], iv[300], aad[1100], text[MOST], tag[16];
	size_t iv_len, aad_len, len;
	int bits; /* 0: AES-128, 1: AES-256 */
};

/* Calls EVP_CipherUpdate() for pieces of any length. */
static bool update(EVP_CIPHER_CTX *c, unsigned char *out, const unsigned char *in, size_t len)
{
	while (len) {
		size_t n = below(3) ? len : 1 + below((unsigned)len);
		int done;

		if (!EVP_CipherUpdate(c, out, &done, in, (int)n) || (size_t)done != n)
			return false;
		in += n;
		len -= n;
		out = out ? out + n : NULL;
	}
	return true;
}

static bool begin(EVP_CIPHER_CTX *c, EVP_CIPHER *how, const struct message *m, int enc)
{
	return EVP_CipherInit_ex(c, how, NULL, NULL, NULL, enc) == 1 &&
	       (m->iv_len == 12 || EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_IVLEN, (int)m->iv_len,
						       NULL) == 1) &&
	       EVP_CipherInit_ex(c, NULL, NULL, m->key, m->iv, enc) == 1 &&
	       (enc || EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, 16,
					   (void *)(uintptr_t)m->tag) == 1) &&
	       update(c, NULL, m->aad, m->aad_len);
}

/* Works on a message in place. False: refused, or its tag is not right. */
static bool run(EVP_CIPHER *how, struct message *m, int enc)
{
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	unsigned char rest[16];
	int len;
	bool good = begin(c, how, m, enc) && update(c, m->text, m->text, m->len) &&
		    EVP_CipherFinal_ex(c, rest, &len) == 1 &&
		    (!enc || EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, 16, m->tag) == 1);

	EVP_CIPHER_CTX_free(c);
	return good;
}

static size_t unhex(unsigned char *to, const char *hex)
{
	size_t n = strlen(hex) / 2;

	for (size_t i = 0; i < n; i++)
		sscanf(hex + 2 * i, "%2hhx", &to[i]);
	return n;
}

/* The test cases of McGrew and Viega's "The Galois/Counter Mode of Operation", by their numbers. */
static void test_vectors(void)
{
#define K "feffe9928665731c6d6a8f9467308308"
#define A "feedfacedeadbeeffeedfacedeadbeefabaddad2"
#define P "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72" \
	  "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
#define ZERO "00000000000000000000000000000000"
	static const struct { int number; const char *key, *iv, *aad, *text, *out, *tag; } all[] = {
		{ 1, ZERO, "000000000000000000000000", "", "", "",
		  "58e2fccefa7e3061367f1d57a4e7455a" },
		{ 2, ZERO, "000000000000000000000000", "", ZERO,
		  "0388dace60b6a392f328c2b971b2fe78", "ab6e47d42cec13bdf53a67b21257bddf" },
		{ 4, K, "cafebabefacedbaddecaf888", A, P,
		  "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c"
		  "7d8f6a5aac84aa051ba30b396a0aac973d58e091",
		  "5bc94fbc3221a5db94fae95ae7121a47" },
		{ 5, K, "cafebabefacedbad", A, P,
		  "61353b4c2806934a777ff51fa22a4755699b2a714fcdc6f83766e5f97b6c742373806900e49f24b2"
		  "2b097544d4896b424989b5e1ebac0f07c23f4598",
		  "3612d2e79e3b0785561be14aaca2fccb" },
		{ 14, ZERO ZERO, "000000000000000000000000", "", ZERO,
		  "cea7403d4d606b6e074ec5d3baf39d18", "d0d1c8a799996bf0265b98b5d48ab919" },
		{ 16, K K, "cafebabefacedbaddecaf888", A, P,
		  "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3d"
		  "a7b08b1056828838c5f61e6393ba7a0abcc9f662",
		  "76fc6ece0f4e1768cddf8853bb2d551b" },
	};
	static struct message m;
	unsigned char out[128], tag[16], text[128];

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		int bits = unhex(m.key, all[i].key) == 32;

		m.iv_len = unhex(m.iv, all[i].iv);
		m.aad_len = unhex(m.aad, all[i].aad);
		m.len = unhex(m.text, all[i].text);
		unhex(text, all[i].text);
		unhex(out, all[i].out);
		unhex(tag, all[i].tag);
		ok(run(ours[bits], &m, 1) && memcmp(m.text, out, m.len) == 0 &&
		   memcmp(m.tag, tag, 16) == 0, "case %d is encrypted", all[i].number);
		ok(run(ours[bits], &m, 0) && memcmp(m.text, text, m.len) == 0,
		   "case %d is decrypted", all[i].number);
	}
}

/* --- the vectors of project Wycheproof -------------------------------------------------------- */

#define VECTORS "tests/unit/tls/wycheproof_aes_gcm.txt"
#define WORD 2100

static size_t unhex_word(unsigned char *to, const char *word)
{
	return strcmp(word, "-") == 0 ? 0 : unhex(to, word);
}

struct vector {
	char number[16], flag[64], key[WORD], iv[WORD], aad[WORD], text[WORD], out[WORD], tag[WORD],
		result[16];
};

/* How both do: encrypt as the vector says, decrypt it again, refuse it with one wrong bit. */
static bool vector_holds(const struct vector *v, EVP_CIPHER *const *how)
{
	static struct message m, sealed;
	static unsigned char out[WORD];
	bool valid = strcmp(v->result, "valid") == 0;
	size_t out_len;

	m.bits = unhex_word(m.key, v->key) == 32;
	m.iv_len = unhex_word(m.iv, v->iv);
	m.aad_len = unhex_word(m.aad, v->aad);
	out_len = unhex_word(out, v->out);
	unhex_word(m.tag, v->tag);
	sealed = m;
	m.len = unhex_word(m.text, v->text);
	sealed.len = out_len;
	memcpy(sealed.text, out, out_len);
	if (m.iv_len > 128) /* neither takes such a one */
		return !run(how[m.bits], &m, 1) && !run(how[m.bits], &sealed, 0);
	if (!valid)
		return !run(how[m.bits], &sealed, 0);
	if (!run(how[m.bits], &m, 1) || m.len != out_len || memcmp(m.text, out, out_len) != 0 ||
	    memcmp(m.tag, sealed.tag, 16) != 0 || !run(how[m.bits], &sealed, 0))
		return false;
	m.tag[below(16)] ^= (unsigned char)(1u << below(8));
	return !run(how[m.bits], &m, 0);
}

/* The counter of blocks, of 32 bits, begins near its end and wraps in a long text. */
static bool wraps_as_openssl(const struct vector *v)
{
	static struct message m, other;

	m.bits = unhex_word(m.key, v->key) == 32;
	m.iv_len = unhex_word(m.iv, v->iv);
	m.aad_len = 0;
	m.len = 1 + below(MOST - 1);
	fill(m.text, m.len);
	other = m;
	return run(ours[m.bits], &m, 1) && run(theirs[m.bits], &other, 1) &&
	       memcmp(m.text, other.text, m.len) == 0 && memcmp(m.tag, other.tag, 16) == 0;
}

static void test_wycheproof(void)
{
	static struct vector v;
	char line[8 * WORD];
	FILE *f = fopen(VECTORS, "r");
	int count = 0, good = 0, known = 0, wraps = 0, same = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (*line == '#' ||
		    sscanf(line, "%15s %63s %2099s %2099s %2099s %2099s %2099s %2099s %15s",
			   v.number, v.flag, v.key, v.iv, v.aad, v.text, v.out, v.tag,
			   v.result) != 9)
			continue;
		count++;
		known += vector_holds(&v, theirs);
		if (vector_holds(&v, ours))
			good++;
		else
			ok(false, "vector %s, %s", v.number, v.flag);
		for (int i = 0; strcmp(v.flag, "CounterWrap") == 0 && i < 20; i++) {
			wraps++;
			same += wraps_as_openssl(&v);
		}
	}
	if (f)
		fclose(f);
	is_int(count, 213, "vectors of Wycheproof");
	is_int(known, count, "OpenSSL does as they say");
	is_int(good, count, "and so do we");
	is_int(wraps, 24 * 20, "texts over which the counter wraps");
	is_int(same, wraps, "both make the same of them");
}

static void make(struct message *m)
{
	m->bits = (int)below(2);
	m->iv_len = below(2) ? 12 : 1 + below(128);
	m->aad_len = below(3) ? below(24) : below(sizeof(m->aad));
	m->len = below(3) ? below(400) : below(MOST);
	fill(m->key, sizeof(m->key));
	fill(m->iv, m->iv_len);
	fill(m->aad, m->aad_len);
	fill(m->text, m->len);
}

/* Changes one bit somewhere. */
static void damage(struct message *m)
{
	unsigned char bit = (unsigned char)(1u << below(8));

	if (m->aad_len && below(3) == 0)
		m->aad[below((unsigned)m->aad_len)] ^= bit;
	else if (m->len && below(2) == 0)
		m->text[below((unsigned)m->len)] ^= bit;
	else
		m->tag[below(16)] ^= bit;
}

/* From one place to another, with what lies behind the text untouched. */
static bool run_apart(EVP_CIPHER *how, const struct message *m, unsigned char *out, int enc)
{
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	unsigned char rest[16];
	int len;
	bool good;

	memset(out, 0xa5, m->len + 64);
	good = begin(c, how, m, enc) && update(c, out, m->text, m->len) &&
	       EVP_CipherFinal_ex(c, rest, &len) == 1;
	for (int i = 0; i < 64; i++)
		good = good && out[m->len + (size_t)i] == 0xa5;
	EVP_CIPHER_CTX_free(c);
	return good;
}

static void test_apart(void)
{
	static struct message m, sealed;
	static unsigned char out[MOST + 64];
	int same = 0, opened = 0, rounds = 1000;

	for (int i = 0; i < rounds; i++) {
		make(&m);
		sealed = m;
		if (!run(theirs[m.bits], &sealed, 1))
			continue;
		same += run_apart(ours[m.bits], &m, out, 1) &&
			memcmp(out, sealed.text, m.len) == 0;
		opened += run_apart(ours[m.bits], &sealed, out, 0) &&
			  memcmp(out, m.text, m.len) == 0;
	}
	is_int(same, rounds, "from one place to another, too");
	is_int(opened, rounds, "and back");
}

static void test_as_openssl(void)
{
	static struct message m, other, back;
	int same = 0, opened = 0, refused = 0, rounds = 3000;

	for (int i = 0; i < rounds; i++) {
		make(&m);
		back = other = m;
		same += run(ours[m.bits], &m, 1) && run(theirs[m.bits], &other, 1) &&
			memcmp(m.text, other.text, m.len) == 0 && memcmp(m.tag, other.tag, 16) == 0;
		opened += run(ours[m.bits], &other, 0) &&
			  memcmp(other.text, back.text, m.len) == 0;
		damage(&m);
		refused += !run(ours[m.bits], &m, 0);
	}
	is_int(same, rounds, "both make the same of any message, in any pieces");
	is_int(opened, rounds, "what theirs encrypts ours decrypts");
	is_int(refused, rounds, "one wrong bit, and it is refused");
}

/* A record of TLS 1.2 through the two calls that libssl makes. Returns its length, -1: refused. */
static int record(EVP_CIPHER_CTX *c, unsigned char *buf, size_t len, int number)
{
	unsigned char aad[EVP_AEAD_TLS1_AAD_LEN] = { 0 };
	int pad, out;

	aad[7] = (unsigned char)number;
	aad[8] = 23;
	aad[9] = aad[10] = 3;
	aad[11] = (unsigned char)(len >> 8);
	aad[12] = (unsigned char)len;
	pad = EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_TLS1_AAD, sizeof(aad), aad);
	if (pad != 16)
		return -1;
	len += EVP_CIPHER_CTX_is_encrypting(c) ? (size_t)pad : 0;
	return EVP_CipherUpdate(c, buf, &out, buf, (int)len) == 1 ? out : -1;
}

static void test_records(EVP_CIPHER *from, EVP_CIPHER *to, const char *what)
{
	EVP_CIPHER_CTX *e = EVP_CIPHER_CTX_new(), *d = EVP_CIPHER_CTX_new();
	static unsigned char text[MOST], buf[MOST + 64], last[8], zero[MOST];
	unsigned char key[32], fixed[4];
	int good = 0, rounds = 500, ivs = 0, bad = 0;

	fill(key, sizeof(key));
	fill(fixed, sizeof(fixed));
	EVP_CipherInit_ex(e, from, NULL, key, NULL, 1);
	EVP_CIPHER_CTX_ctrl(e, EVP_CTRL_GCM_SET_IV_FIXED, 4, fixed);
	EVP_CipherInit_ex(d, to, NULL, key, NULL, 0);
	EVP_CIPHER_CTX_ctrl(d, EVP_CTRL_GCM_SET_IV_FIXED, 4, fixed);
	for (int i = 0; i < rounds; i++) {
		int len = (int)below(below(2) ? 100 : 16385), sealed, opened;

		fill(text, (size_t)len);
		memcpy(buf + 8, text, (size_t)len);
		sealed = record(e, buf, (size_t)len + 8, i);
		ivs += memcmp(last, buf, 8) != 0;
		memcpy(last, buf, 8);
		if (i % 5 == 4) {
			buf[below((unsigned)sealed)] ^= 1;
			bad += record(d, buf, (size_t)sealed, i) < 0 &&
			       memcmp(buf + 8, zero, (size_t)len) == 0;
			continue;
		}
		opened = record(d, buf, (size_t)sealed, i);
		good += sealed == len + 24 && opened == len &&
			memcmp(buf + 8, text, (size_t)len) == 0;
	}
	is_int(good, rounds * 4 / 5, "records of TLS 1.2, %s", what);
	is_int(bad, rounds / 5, "damaged ones are refused and wiped, %s", what);
	is_int(ivs, rounds, "no IV twice, %s", what);
	EVP_CIPHER_CTX_free(e);
	EVP_CIPHER_CTX_free(d);
}

/* The explicit part of the IV of records counts 64 bits, and begins again behind the last one. */
static void test_iv_wraps(void)
{
	EVP_CIPHER_CTX *c[2] = { EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_new() };
	unsigned char key[32], iv[12], buf[2][200], next[2][8];
	int good = 0, same = 0, rounds = 6;

	fill(key, sizeof(key));
	fill(iv, sizeof(iv));
	memset(iv + 4, 0xff, 8);
	iv[11] = 0xfd;
	for (int i = 0; i < 2; i++) {
		EVP_CipherInit_ex(c[i], i ? theirs[1] : ours[1], NULL, key, NULL, 1);
		good += EVP_CIPHER_CTX_ctrl(c[i], EVP_CTRL_GCM_SET_IV_FIXED, -1, iv);
	}
	is_int(good, 2, "all of the IV is given");
	for (int n = 0; n < rounds; n++) {
		for (int i = 0; i < 2; i++)
			memset(buf[i], n, sizeof(buf[i]));
		same += record(c[0], buf[0], 108, n) == 124 &&
			record(c[1], buf[1], 108, n) == 124 &&
			memcmp(buf[0], buf[1], sizeof(buf[0])) == 0;
		if (n == 3)
			ok(memcmp(buf[0], "\0\0\0\0\0\0\0", 8) == 0, "it begins again at 0");
	}
	is_int(same, rounds, "both make the same records around it");
	for (int i = 0; i < 2; i++)
		EVP_CIPHER_CTX_ctrl(c[i], EVP_CTRL_GCM_IV_GEN, 8, next[i]);
	ok(memcmp(next[0], next[1], 8) == 0, "and have the same one next");
	EVP_CIPHER_CTX_free(c[0]);
	EVP_CIPHER_CTX_free(c[1]);
}

static void test_refusals(void)
{
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	unsigned char buf[64] = { 0 }, key[32] = { 1 }, iv[12] = { 2 };
	int n;

	EVP_CipherInit_ex(c, ours[0], NULL, key, NULL, 1);
	ok(EVP_CipherUpdate(c, buf, &n, buf, 16) != 1, "nothing is encrypted without an IV");
	EVP_CipherInit_ex(c, NULL, NULL, NULL, iv, 1);
	ok(EVP_CipherUpdate(c, buf, &n, buf, 16) == 1, "with one it is");
	ok(EVP_CipherUpdate(c, NULL, &n, buf, 16) != 1, "no AAD behind the text");
	ok(EVP_CipherFinal_ex(c, buf, &n) == 1, "it ends");
	ok(EVP_CipherUpdate(c, buf, &n, buf, 16) != 1, "the same IV again is refused");
	EVP_CIPHER_CTX_reset(c);
	EVP_CipherInit_ex(c, ours[0], NULL, key, iv, 0);
	EVP_CipherUpdate(c, buf, &n, buf, 16);
	ok(EVP_CipherFinal_ex(c, buf, &n) != 1, "no end of a decryption without a tag");
	EVP_CIPHER_CTX_reset(c);
	EVP_CipherInit_ex(c, ours[0], NULL, NULL, iv, 1);
	ok(EVP_CipherUpdate(c, buf, &n, buf, 16) != 1, "nothing without a key");
	ok(EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_IVLEN, 129, NULL) != 1, "no IV is so long");
	EVP_CIPHER_CTX_reset(c);
	EVP_CipherInit_ex(c, ours[0], NULL, key, NULL, 1);
	EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_SET_IV_FIXED, 4, iv);
	ok(record(c, buf, 7, 0) < 0, "a record too short for its IV is refused");
	EVP_CIPHER_CTX_free(c);
}

static void test_copy(void)
{
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new(), *d = EVP_CIPHER_CTX_new();
	static struct message m;
	unsigned char a[64], b[64], tag[2][16];
	int n, good;

	make(&m);
	m.iv_len = 77;
	m.aad_len = 99;
	begin(c, ours[m.bits], &m, 1);
	EVP_CipherUpdate(c, a, &n, m.key, 7);
	good = EVP_CIPHER_CTX_copy(d, c);
	EVP_CipherUpdate(c, a, &n, m.key, 32);
	tls_gcm_forget(); /* the key is made ready again */
	EVP_CipherUpdate(d, b, &n, m.key, 32);
	EVP_CipherFinal_ex(c, a + 32, &n);
	EVP_CipherFinal_ex(d, b + 32, &n);
	EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, 16, tag[0]);
	EVP_CIPHER_CTX_ctrl(d, EVP_CTRL_AEAD_GET_TAG, 16, tag[1]);
	ok(good && memcmp(a, b, 32) == 0 && memcmp(tag[0], tag[1], 16) == 0,
	   "a copy in the middle of a message goes on as the original");
	EVP_CIPHER_CTX_free(c);
	EVP_CIPHER_CTX_free(d);
}

/* Two messages a bit at a time, one decrypted by another thread. */
static void *open_elsewhere(void *arg)
{
	struct message *m = arg;

	return run(ours[m->bits], m, 0) ? m : NULL;
}

static void test_side_by_side(void)
{
	static struct message m[2], plain[2], check[2];
	EVP_CIPHER_CTX *c[2] = { EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_new() };
	pthread_t thread;
	void *opened = NULL;
	int n, same = 0;

	for (int i = 0; i < 2; i++) {
		make(&m[i]);
		m[i].len = 900;
		plain[i] = check[i] = m[i];
		begin(c[i], ours[m[i].bits], &m[i], 1);
		run(theirs[m[i].bits], &check[i], 1);
	}
	for (int at = 0; at < 900; at += 90)
		for (int i = 0; i < 2; i++)
			EVP_CipherUpdate(c[i], m[i].text + at, &n, m[i].text + at, 90);
	for (int i = 0; i < 2; i++) {
		EVP_CipherFinal_ex(c[i], m[i].text + 900, &n);
		EVP_CIPHER_CTX_ctrl(c[i], EVP_CTRL_AEAD_GET_TAG, 16, m[i].tag);
		same += memcmp(m[i].text, check[i].text, 900) == 0 &&
			memcmp(m[i].tag, check[i].tag, 16) == 0;
		EVP_CIPHER_CTX_free(c[i]);
	}
	is_int(same, 2, "two messages side by side");
	if (pthread_create(&thread, NULL, open_elsewhere, &m[1]) == 0)
		pthread_join(thread, &opened);
	ok(opened == &m[1] && memcmp(m[1].text, plain[1].text, 900) == 0, "and in another thread");
}

int main(void)
{
	static const char *const names[2] = { "AES-128-GCM", "AES-256-GCM" };
	const char *how = tls_gcm_properties();

	srandom(7);
	if (!how) {
		skip(1, "this build or this CPU has OpenSSL's AES-GCM only");
		return done_testing();
	}
	for (int i = 0; i < 2; i++) {
		ours[i] = EVP_CIPHER_fetch(NULL, names[i], how);
		theirs[i] = EVP_CIPHER_fetch(NULL, names[i], "provider=default");
		ok(ours[i] && theirs[i] && ours[i] != theirs[i], "%s is there twice", names[i]);
		is_int(EVP_CIPHER_get_flags(ours[i]), EVP_CIPHER_get_flags(theirs[i]),
		       "%s: the same kind", names[i]);
		is_int(EVP_CIPHER_get_key_length(ours[i]), key_len[i], "%s: key", names[i]);
		is_int(EVP_CIPHER_get_iv_length(ours[i]), 12, "%s: IV", names[i]);
		is_int(EVP_CIPHER_get_mode(ours[i]), EVP_CIPH_GCM_MODE, "%s: mode", names[i]);
		test_records(ours[i], theirs[i], "ours to theirs");
		test_records(theirs[i], ours[i], "theirs to ours");
	}
	test_vectors();
	test_wycheproof();
	test_as_openssl();
	test_apart();
	test_iv_wraps();
	test_refusals();
	test_copy();
	test_side_by_side();
	for (int i = 0; i < 2; i++) {
		EVP_CIPHER_free(ours[i]);
		EVP_CIPHER_free(theirs[i]);
	}
	tls_gcm_thread_fini();
	return done_testing();
}
