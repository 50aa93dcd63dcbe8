/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tls_smp.c - edge file: fetches about TLS connections. Manual: configuration 7.3.4 */
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include "conn_priv.h"
#include "expr/pattern.h"
#include "facts_priv.h"
#include "shown_priv.h"
#include "smp_priv.h"

static const enum tls_side front = TLS_FRONT, back = TLS_BACK;

#define FETCH_ARGS struct expr_ctx *ctx, const struct expr_arg *args, struct sample *out

/* --- the session ------------------------------------------------------------------------------ */

static enum expr_result fetch_is_on(FETCH_ARGS)
{
	uint32_t error = 0;

	/* (of a connection to a server also when its handshake has failed) */
	return smp_give_bool(out, tls_smp_own(ctx) || (tls_smp_error(ctx, &error) && error));
}

static enum expr_result fetch_cipher(FETCH_ARGS)
{
	struct tls_conn *t = tls_smp_own(ctx);

	return t ? tls_smp_text(out, SSL_CIPHER_get_name(tls_conn_cipher(t))) : EXPR_NONE;
}

static enum expr_result fetch_protocol(FETCH_ARGS)
{
	struct tls_conn *t = tls_smp_own(ctx);

	return t ? tls_smp_text(out, tls_conn_version(t)) : EXPR_NONE;
}

static enum expr_result fetch_alg_keysize(FETCH_ARGS)
{
	struct tls_conn *t = tls_smp_own(ctx);
	int bits = 0;

	if (!t || !SSL_CIPHER_get_bits(tls_conn_cipher(t), &bits))
		return EXPR_NONE;
	return smp_give_int(out, bits);
}

static enum expr_result fetch_use_keysize(FETCH_ARGS)
{
	struct tls_conn *t = tls_smp_own(ctx);
	int bits = t ? SSL_CIPHER_get_bits(tls_conn_cipher(t), NULL) : 0;

	return bits ? smp_give_int(out, bits) : EXPR_NONE;
}

/* One that the connection has as long as it lives. */
static enum expr_result give_fact(FETCH_ARGS, enum tls_fact which, enum sample_type type)
{
	struct tls_conn *t = tls_smp_own(ctx);
	struct slice s = t ? tls_fact(t, which, NULL) : slice_none();

	return tls_smp_bytes(out, type, (const unsigned char *)s.ptr, s.len);
}

/* One that may have to be made: a copy. */
static enum expr_result copy_fact(FETCH_ARGS, enum tls_fact which)
{
	struct tls_conn *t = tls_smp_own(ctx);
	unsigned char room[TLS_FACT_ROOM];
	struct slice s = t ? tls_fact(t, which, room) : slice_none();

	return tls_smp_copy(ctx, out, SMP_BIN, s.ptr, s.len);
}

static enum expr_result fetch_alpn(FETCH_ARGS)
{
	return give_fact(ctx, args, out, TLS_FACT_ALPN, SMP_STR);
}

/* NPN is of the past: no client offers it. */
static enum expr_result fetch_npn(FETCH_ARGS)
{
	return EXPR_NONE;
}

static enum expr_result fetch_sni(FETCH_ARGS)
{
	return give_fact(ctx, args, out, TLS_FACT_SNI, SMP_STR);
}

static enum expr_result fetch_crtname(FETCH_ARGS)
{
	struct tls_conn *t = tls_smp_own(ctx);
	struct slice name = t ? tls_shown_name(tls_conn_cert(t)) : slice_none();

	return tls_smp_bytes(out, SMP_STR, (const unsigned char *)name.ptr, name.len);
}

static enum expr_result fetch_has_sni(FETCH_ARGS)
{
	struct tls_conn *t = tls_smp_own(ctx);

	return smp_give_bool(out, t && tls_fact(t, TLS_FACT_SNI, NULL).len);
}

static enum expr_result fetch_is_resumed(FETCH_ARGS)
{
	struct tls_conn *t = tls_smp_own(ctx);

	return smp_give_bool(out, t && tls_conn_is_resumed(t));
}

static enum expr_result fetch_session_id(FETCH_ARGS)
{
	return give_fact(ctx, args, out, TLS_FACT_SESSION_ID, SMP_BIN);
}

static enum expr_result fetch_session_key(FETCH_ARGS)
{
	return copy_fact(ctx, args, out, TLS_FACT_SESSION_KEY);
}

static enum expr_result fetch_client_random(FETCH_ARGS)
{
	return copy_fact(ctx, args, out, TLS_FACT_CLIENT_RANDOM);
}

static enum expr_result fetch_server_random(FETCH_ARGS)
{
	return copy_fact(ctx, args, out, TLS_FACT_SERVER_RANDOM);
}

static enum expr_result fetch_curve(FETCH_ARGS)
{
	struct tls_conn *t = tls_smp_own(ctx);
	int nid = t ? tls_conn_group(t) : 0;
	const char *name = nid ? OBJ_nid2sn(nid & ~TLSEXT_nid_unknown) : NULL;

	char *text;

	if (!name)
		return EXPR_NONE;
	/* newer libraries tell the names of the TLS registry so */
	if (strcmp(name, "prime256v1") == 0)
		name = "SECP256R1";
	text = arena_printf(ctx->arena, "%s", name);
	for (char *p = text; p && *p; p++)
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
	return tls_smp_text(out, text);
}

/* RFC 5929 3: the first Finished of the handshake. */
static enum expr_result fetch_unique_id(FETCH_ARGS)
{
	return copy_fact(ctx, args, out, TLS_FACT_FINISHED);
}

static enum expr_result fetch_early_rcvd(FETCH_ARGS)
{
	struct tls_conn *t = tls_smp_own(ctx);

	return t ? smp_give_bool(out, t->flags & TLS_FL_HAD_EARLY) : EXPR_NONE;
}

static enum expr_result fetch_has_early(FETCH_ARGS)
{
	struct tls_conn *t = tls_smp_own(ctx);

	return t ? smp_give_bool(out, t->flags & TLS_FL_HAD_EARLY && !(t->flags & TLS_FL_DONE)) :
	       EXPR_NONE;
}

static enum expr_result fetch_error(FETCH_ARGS)
{
	uint32_t error;

	return tls_smp_error(ctx, &error) ? smp_give_int(out, error) : EXPR_NONE;
}

static enum expr_result fetch_error_text(FETCH_ARGS)
{
	uint32_t error;
	char text[256];

	if (!tls_smp_error(ctx, &error) || !error)
		return EXPR_NONE;
	ERR_error_string_n(error, text, sizeof(text));
	return tls_smp_copy(ctx, out, SMP_STR, text, strlen(text));
}

#define L5C EXPR_USE_L5_CLIENT
#define L5S EXPR_USE_L5_SERVER
#define FRONT(n, type, function, text) \
	{ .name = "ssl_fc" n, .out = type, .use = L5C, .fetch = function, .data = &front, \
	  .help = text " of the client's connection" }
#define BOTH(n, type, function, text) \
	FRONT(n, type, function, text), \
	{ .name = "ssl_bc" n, .out = type, .use = L5S, .fetch = function, .data = &back, \
	  .help = text " of the server's connection" }

static const struct expr_fetch fetches[] = {
	BOTH("", SMP_BOOL, fetch_is_on, "is there TLS: state"),
	BOTH("_alg_keysize", SMP_INT, fetch_alg_keysize, "bits of the cipher's keys"),
	BOTH("_alpn", SMP_STR, fetch_alpn, "protocol chosen by ALPN"),
	BOTH("_cipher", SMP_STR, fetch_cipher, "cipher"),
	BOTH("_client_random", SMP_BIN, fetch_client_random, "the client's random bytes"),
	BOTH("_curve", SMP_STR, fetch_curve, "curve of the key exchange"),
	BOTH("_err", SMP_INT, fetch_error, "OpenSSL's first error"),
	BOTH("_err_str", SMP_STR, fetch_error_text, "OpenSSL's first error, in words,"),
	BOTH("_is_resumed", SMP_BOOL, fetch_is_resumed, "was the session resumed: state"),
	BOTH("_npn", SMP_STR, fetch_npn, "protocol chosen by NPN: never any"),
	BOTH("_protocol", SMP_STR, fetch_protocol, "TLS version"),
	BOTH("_server_random", SMP_BIN, fetch_server_random, "the server's random bytes"),
	BOTH("_session_id", SMP_BIN, fetch_session_id, "identifier of the session"),
	BOTH("_session_key", SMP_BIN, fetch_session_key, "master key of the session"),
	BOTH("_sni", SMP_STR, fetch_sni, "name asked for in the handshake"),
	BOTH("_unique_id", SMP_BIN, fetch_unique_id, "RFC 5929 unique identifier"),
	BOTH("_use_keysize", SMP_INT, fetch_use_keysize, "bits of the cipher's keys in use"),
	FRONT("_crtname", SMP_STR, fetch_crtname, "name of the certificate"),
	FRONT("_early_rcvd", SMP_BOOL, fetch_early_rcvd, "did early data come: state"),
	FRONT("_has_early", SMP_BOOL, fetch_has_early, "is it early data still: state"),
	FRONT("_has_sni", SMP_BOOL, fetch_has_sni, "was a name asked for: state"),
	{ 0 }
};

static const struct expr_acl_keyword acl_keywords[] = {
	{ "ssl_fc_sni_end", "ssl_fc_sni", PATTERN_END },
	{ "ssl_fc_sni_reg", "ssl_fc_sni", PATTERN_REG },
	{ 0 }
};

const struct module mod_tls_smp = {
	.name = "tls-fetches", .fetches = fetches, .acl_keywords = acl_keywords,
};
