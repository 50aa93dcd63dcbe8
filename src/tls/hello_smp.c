/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hello_smp.c - edge file: fetches about what the client's hello offered
 *
 * They need tune.ssl.capture-buffer-size. Manual: configuration 7.3.4
 */
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include "conn_priv.h"
#include "hello_priv.h"
#include "smp_priv.h"

#define FETCH_ARGS struct expr_ctx *ctx, const struct expr_arg *args, struct sample *out

/* The parts of a capture, in the order in which they lie. */
enum part { PART_CIPHERS, PART_EXTENSIONS, PART_CURVES, PART_FORMATS, PART_SIGALGS, PART_VERSIONS,
	    PART_ALPN };

static const struct tls_capture *capture_of(struct expr_ctx *ctx)
{
	struct tls_conn *t = tls_smp_conn(ctx, TLS_FRONT);

	return t ? t->capture : NULL;
}

static struct slice part_of(const struct tls_capture *c, enum part which)
{
	const size_t lens[] = {
		[PART_CIPHERS] = c->cipher_len, [PART_EXTENSIONS] = c->extension_len,
		[PART_CURVES] = c->curve_len, [PART_FORMATS] = c->ec_point_count,
		[PART_SIGALGS] = c->sigalg_len, [PART_VERSIONS] = c->versions_len,
		[PART_ALPN] = c->alpn_len,
	};
	size_t at = 0;

	for (enum part p = 0; p < which; p++)
		at += lens[p];
	return slice_make((const char *)c->bytes + at, lens[which]);
}

/* RFC 8701: values that mean nothing. */
static bool is_grease(const unsigned char *p)
{
	return (p[0] & 0x0f) == 0x0a && p[0] == p[1];
}

/* The two-byte values of a part without those that mean nothing; in the arena. */
static struct slice without_grease(struct expr_ctx *ctx, struct slice in)
{
	char *p = arena_alloc(ctx->arena, in.len + 1);
	size_t used = 0;

	if (!p)
		return slice_none();
	for (size_t i = 0; i + 1 < in.len; i += 2) {
		if (is_grease((const unsigned char *)in.ptr + i))
			continue;
		memcpy(p + used, in.ptr + i, 2);
		used += 2;
	}
	return slice_make(p, used);
}

static struct slice filtered(struct expr_ctx *ctx, const struct expr_arg *args, enum part which)
{
	const struct tls_capture *c = capture_of(ctx);
	struct slice s = c ? part_of(c, which) : slice_none();

	if (s.len && args[0].type == ARG_INT && args[0].integer == 1)
		s = without_grease(ctx, s);
	return s;
}

static enum expr_result fetch_part(FETCH_ARGS)
{
	struct slice s = filtered(ctx, args, *(const enum part *)ctx->data);

	return tls_smp_bytes(out, SMP_BIN, s.ptr, s.len);
}

static enum expr_result fetch_cipher_hex(FETCH_ARGS)
{
	struct slice s = filtered(ctx, args, PART_CIPHERS);
	char *p = s.len ? arena_alloc(ctx->arena, s.len * 2 + 1) : NULL;

	for (size_t i = 0; p && i < s.len; i++)
		snprintf(p + 2 * i, 3, "%02X", (unsigned char)s.ptr[i]);
	return tls_smp_bytes(out, SMP_STR, p, s.len * 2);
}

/* Names, separated by commas; those unknown to OpenSSL as "UNKNOWN(0000)". */
static enum expr_result fetch_cipher_names(FETCH_ARGS)
{
	struct slice s = filtered(ctx, args, PART_CIPHERS);
	struct tls_conn *t = tls_smp_conn(ctx, TLS_FRONT);
	char *p = s.len ? arena_alloc(ctx->arena, s.len / 2 * 48) : NULL;
	size_t used = 0;

	for (size_t i = 0; p && i + 1 < s.len; i += 2) {
		const unsigned char *two = (const unsigned char *)s.ptr + i;
		const SSL_CIPHER *c = SSL_CIPHER_find(t->ssl, two);
		const char *comma = used ? "," : "";

		if (c)
			used += (size_t)snprintf(p + used, 48, "%s%s", comma,
						 SSL_CIPHER_get_name(c));
		else
			used += (size_t)snprintf(p + used, 48, "%sUNKNOWN(%02x%02x)", comma, two[0],
						 two[1]);
	}
	return tls_smp_bytes(out, SMP_STR, p, used);
}

static enum expr_result fetch_cipher_hash(FETCH_ARGS)
{
	const struct tls_capture *c = capture_of(ctx);

	return c ? smp_give_int(out, (int64_t)c->cipher_hash) : EXPR_NONE;
}

static enum expr_result fetch_version(FETCH_ARGS)
{
	const struct tls_capture *c = capture_of(ctx);

	return c ? smp_give_int(out, c->version) : EXPR_NONE;
}

/* --- JA4: an extension of ours ---------------------------------------------------------------- */

static int compare_two(const void *a, const void *b)
{
	return memcmp(a, b, 2);
}

/* First 12 digits of the SHA-256 of hexadecimal values joined by commas. */
static void ja4_hash(char out[13], const char *text, size_t len)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned size = 0;

	if (!len || EVP_Digest(text, len, digest, &size, EVP_sha256(), NULL) != 1)
		memset(digest, 0, sizeof(digest));
	for (int i = 0; i < 6; i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

static size_t put_values(char *out, struct slice values)
{
	size_t used = 0;

	for (size_t i = 0; i + 1 < values.len; i += 2)
		used += (size_t)sprintf(out + used, "%s%02x%02x", used ? "," : "",
					(unsigned char)values.ptr[i],
					(unsigned char)values.ptr[i + 1]);
	return used;
}

/* The highest version offered, as JA4 writes it. */
static const char *ja4_version(const struct tls_capture *c, struct slice versions)
{
	unsigned best = versions.len ? 0 : c->version;

	for (size_t i = 0; i + 1 < versions.len; i += 2) {
		unsigned v = (unsigned)(unsigned char)versions.ptr[i] << 8 |
			     (unsigned char)versions.ptr[i + 1];

		if (v > best)
			best = v;
	}
	switch (best) {
	case 0x0304:
		return "13";
	case 0x0303:
		return "12";
	case 0x0302:
		return "11";
	case 0x0301:
		return "10";
	}
	return "00";
}

/* Extensions without SNI and ALPN, sorted. */
static struct slice ja4_extensions(struct expr_ctx *ctx, struct slice all)
{
	char *p = arena_alloc(ctx->arena, all.len + 1);
	size_t used = 0;

	for (size_t i = 0; p && i + 1 < all.len; i += 2) {
		if (all.ptr[i] == 0 && (all.ptr[i + 1] == 0 || all.ptr[i + 1] == 16))
			continue;
		memcpy(p + used, all.ptr + i, 2);
		used += 2;
	}
	if (p)
		qsort(p, used / 2, 2, compare_two);
	return slice_make(p, p ? used : 0);
}

static bool has_value(struct slice s, unsigned char low)
{
	for (size_t i = 0; i + 1 < s.len; i += 2)
		if (s.ptr[i] == 0 && (unsigned char)s.ptr[i + 1] == low)
			return true;
	return false;
}

static enum expr_result fetch_ja4(FETCH_ARGS)
{
	const struct tls_capture *c = capture_of(ctx);
	struct slice ciphers, extensions, sigalgs, alpn, sorted;
	char *room, *text, b[13], d[13], first = '0', last = '0';
	unsigned cipher_count, extension_count;
	size_t used;

	if (!c)
		return EXPR_NONE;
	ciphers = without_grease(ctx, part_of(c, PART_CIPHERS));
	extensions = without_grease(ctx, part_of(c, PART_EXTENSIONS));
	sigalgs = without_grease(ctx, part_of(c, PART_SIGALGS));
	alpn = part_of(c, PART_ALPN);
	room = arena_alloc(ctx->arena, (ciphers.len + extensions.len + sigalgs.len) * 3 + 64);
	text = arena_alloc(ctx->arena, 64);
	if (!room || !text)
		return EXPR_NONE;
	if (alpn.len > 1 && (unsigned char)alpn.ptr[0] < alpn.len) {
		first = alpn.ptr[1];
		last = alpn.ptr[(unsigned char)alpn.ptr[0]];
	}
	qsort((char *)(uintptr_t)ciphers.ptr, ciphers.len / 2, 2, compare_two);
	ja4_hash(b, room, put_values(room, ciphers));
	sorted = ja4_extensions(ctx, extensions);
	used = put_values(room, sorted);
	if (sigalgs.len) {
		room[used++] = '_';
		used += put_values(room + used, sigalgs);
	}
	ja4_hash(d, room, used);
	cipher_count = (unsigned)(ciphers.len / 2);
	extension_count = (unsigned)(extensions.len / 2);
	used = (size_t)snprintf(text, 64, "t%s%c%02u%02u%c%c_%s_%s",
				ja4_version(c, without_grease(ctx, part_of(c, PART_VERSIONS))),
				has_value(extensions, 0) ? 'd' : 'i',
				cipher_count > 99 ? 99 : cipher_count,
				extension_count > 99 ? 99 : extension_count, first, last, b, d);
	return tls_smp_bytes(out, SMP_STR, text, used);
}

static const enum part ciphers = PART_CIPHERS, extensions = PART_EXTENSIONS,
	curves = PART_CURVES, formats = PART_FORMATS, sigalgs = PART_SIGALGS,
	versions = PART_VERSIONS;

#define OPTION .args_min = 0, .args = { ARG_INT }, .use = EXPR_USE_L5_CLIENT, .syntax = "[<filter>]"
#define PART(n, type, which, text) \
	{ .name = n, .out = type, OPTION, .fetch = fetch_part, .data = &which, .help = text }

static const struct expr_fetch fetches[] = {
	PART("ssl_fc_cipherlist_bin", SMP_BIN, ciphers, "ciphers that the client offers"),
	{ .name = "ssl_fc_cipherlist_hex", .out = SMP_STR, OPTION, .fetch = fetch_cipher_hex,
	  .help = "same, in hexadecimal digits" },
	{ .name = "ssl_fc_cipherlist_str", .out = SMP_STR, OPTION, .fetch = fetch_cipher_names,
	  .help = "same, by name" },
	{ .name = "ssl_fc_cipherlist_xxh", .out = SMP_INT, .use = EXPR_USE_L5_CLIENT,
	  .fetch = fetch_cipher_hash, .help = "hash of them" },
	PART("ssl_fc_extlist_bin", SMP_BIN, extensions, "extensions that the client sent"),
	PART("ssl_fc_eclist_bin", SMP_BIN, curves, "curves that the client knows"),
	{ .name = "ssl_fc_ecformats_bin", .out = SMP_BIN, .use = EXPR_USE_L5_CLIENT,
	  .fetch = fetch_part, .data = &formats, .help = "point formats that the client knows" },
	PART("ssl_fc_sigalgs_bin", SMP_BIN, sigalgs, "signatures that the client knows"),
	PART("ssl_fc_supported_versions_bin", SMP_BIN, versions, "versions that it knows"),
	{ .name = "ssl_fc_protocol_hello_id", .out = SMP_INT, .use = EXPR_USE_L5_CLIENT,
	  .fetch = fetch_version, .help = "version in the client's hello" },
	{ .name = "ssl_fc_ja4", .out = SMP_STR, .use = EXPR_USE_L5_CLIENT, .fetch = fetch_ja4,
	  .help = "JA4 fingerprint of the client (of this program only)" },
	{ 0 }
};

const struct module mod_tls_hello_smp = { .name = "tls-hello-fetches", .fetches = fetches };
