/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind_conf.c - edge file: TLS options of bind lines
 *
 * Manual: configuration 5.1
 */
#include <openssl/x509_vfy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bind_priv.h"
#include "global_priv.h"
#include "line_priv.h"
#include "session_priv.h"
#include "settings_priv.h"
#include "store_priv.h"

static struct tls_bind *bind_of(struct conf_line *l)
{
	return slot_of(&tls_bind_slot, l->slots);
}

static bool parse_ssl(struct conf_line *l)
{
	bind_of(l)->on = true;
	return true;
}

static struct tls_add add_of(struct conf_line *l)
{
	return (struct tls_add){ .cfg = l->cfg, .bind = bind_of(l), .line = l->place.line };
}

/* keyword->min: default-crt */
static bool parse_crt(struct conf_line *l)
{
	const char *word = conf_next(l);
	struct tls_add a = add_of(l);

	if (!word)
		return conf_error(l, l->at, NULL, "'%s' : missing certificate location",
				  l->keyword->words);
	a.is_default = l->keyword->min;
	return tls_bind_add_path(&a, word) || conf_error(l, l->at - 1, NULL, "%s", a.why);
}

static bool parse_crt_list(struct conf_line *l)
{
	const char *word = conf_next(l);
	struct tls_add a = add_of(l);

	if (!word)
		return conf_error(l, l->at, NULL, "'%s' : missing certificate location",
				  l->keyword->words);
	return tls_crt_list_read(l, &a, word) ||
	       conf_error(l, l->at - 1, NULL, "'%s' : %s", l->keyword->words, a.why);
}

static bool parse_ticket_keys(struct conf_line *l)
{
	const char *word = conf_next(l);
	char why[256] = "";

	if (!word)
		return conf_error(l, l->at, NULL, "'%s' : missing TLS ticket keys file path",
				  l->keyword->words);
	tls_tickets_drop(&bind_of(l)->tickets);
	bind_of(l)->tickets = tls_tickets_get(l->cfg, word, why, sizeof(why));
	return bind_of(l)->tickets || conf_error(l, l->at - 1, NULL, "'%s' : %s", word, why);
}

static bool parse_forges(struct conf_line *l)
{
	bind_of(l)->forges = true;
	return true;
}

static bool parse_sign_file(struct conf_line *l)
{
	const char *word = conf_next(l);

	if (!word)
		return conf_error(l, l->at, NULL, "'%s' : missing CAfile path",
				  l->keyword->words);
	bind_of(l)->sign_file = tls_path(l->cfg, tls_global_of(l->cfg)->ca_base, word);
	return true;
}

static bool parse_sign_pass(struct conf_line *l)
{
	const char *word = conf_next(l);

	if (!word)
		return conf_error(l, l->at, NULL, "'%s' : missing CAkey password",
				  l->keyword->words);
	bind_of(l)->sign_pass = word;
	return true;
}

/* A name of X509_V_ERR_ codes as the manual of OpenSSL has it; -1: none. */
static int error_named(const char *name, size_t len)
{
#define E(n) { #n, n }
	static const struct { const char *name; int code; } errors[] = {
		E(X509_V_ERR_UNSPECIFIED), E(X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT),
		E(X509_V_ERR_UNABLE_TO_GET_CRL), E(X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE),
		E(X509_V_ERR_UNABLE_TO_DECRYPT_CRL_SIGNATURE),
		E(X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY),
		E(X509_V_ERR_CERT_SIGNATURE_FAILURE), E(X509_V_ERR_CRL_SIGNATURE_FAILURE),
		E(X509_V_ERR_CERT_NOT_YET_VALID), E(X509_V_ERR_CERT_HAS_EXPIRED),
		E(X509_V_ERR_CRL_NOT_YET_VALID), E(X509_V_ERR_CRL_HAS_EXPIRED),
		E(X509_V_ERR_ERROR_IN_CERT_NOT_BEFORE_FIELD),
		E(X509_V_ERR_ERROR_IN_CERT_NOT_AFTER_FIELD),
		E(X509_V_ERR_ERROR_IN_CRL_LAST_UPDATE_FIELD),
		E(X509_V_ERR_ERROR_IN_CRL_NEXT_UPDATE_FIELD), E(X509_V_ERR_OUT_OF_MEM),
		E(X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT),
		E(X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN),
		E(X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY),
		E(X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE),
		E(X509_V_ERR_CERT_CHAIN_TOO_LONG), E(X509_V_ERR_CERT_REVOKED),
		E(X509_V_ERR_PATH_LENGTH_EXCEEDED), E(X509_V_ERR_INVALID_PURPOSE),
		E(X509_V_ERR_CERT_UNTRUSTED), E(X509_V_ERR_CERT_REJECTED),
		E(X509_V_ERR_SUBJECT_ISSUER_MISMATCH), E(X509_V_ERR_AKID_SKID_MISMATCH),
		E(X509_V_ERR_AKID_ISSUER_SERIAL_MISMATCH), E(X509_V_ERR_KEYUSAGE_NO_CERTSIGN),
		E(X509_V_ERR_HOSTNAME_MISMATCH), E(X509_V_ERR_EE_KEY_TOO_SMALL),
		E(X509_V_ERR_CA_KEY_TOO_SMALL), E(X509_V_ERR_CA_MD_TOO_WEAK),
		E(X509_V_ERR_INVALID_CA), E(X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION),
	};
#undef E
	char copy[16], *end;
	long v;

	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (strlen(errors[i].name) == len && memcmp(errors[i].name, name, len) == 0)
			return errors[i].code;
	if (!len || len >= sizeof(copy))
		return -1;
	memcpy(copy, name, len);
	copy[len] = 0;
	v = strtol(copy, &end, 10);
	return *end || v < 0 || v > 127 ? -1 : (int)v;
}

/* keyword->min: of CAs, not of the client's certificate */
static bool parse_ignore(struct conf_line *l)
{
	struct tls_bind *b = bind_of(l);
	uint64_t *mask = l->keyword->min ? b->ignore_ca : b->ignore_crt;
	bool *all = l->keyword->min ? &b->ignore_ca_all : &b->ignore_crt_all;
	const char *p = conf_next(l);

	if (!p)
		return conf_error(l, l->at, NULL, "'%s' : missing error IDs list",
				  l->keyword->words);
	if (strcmp(p, "all") == 0) {
		*all = true;
		return true;
	}
	while (*p) {
		size_t len = strcspn(p, ",");
		int code = error_named(p, len);

		if (code < 0)
			return conf_error(l, l->at - 1, NULL, "'%s' : error ID '%.*s' unknown",
					  l->keyword->words, (int)len, p);
		mask[code / 64] |= (uint64_t)1 << (code % 64);
		p += len;
		p += *p == ',';
	}
	return true;
}

#define BIND .where = CONF_BIND, .section = "ssl"
#define FLAG(name, set, clear, what) \
	{ .words = name, BIND, .parse = tls_parse_flag, .min = set, .max = clear, .help = what }

static const struct conf_keyword keywords[] = {
	{ .words = "ssl", .where = CONF_BIND, .parse = parse_ssl, .help = "clients speak TLS" },
	{ .words = "crt", BIND, .max_args = 1, .parse = parse_crt, .syntax = "<cert>",
	  .help = "a certificate: file, bundle or directory" },
	{ .words = "default-crt", BIND, .max_args = 1, .parse = parse_crt, .min = 1,
	  .syntax = "<cert>", .help = "a certificate for unknown names too" },
	{ .words = "crt-list", BIND, .max_args = 1, .parse = parse_crt_list, .syntax = "<file>",
	  .help = "a list of certificates with options and names" },
	TLS_SHARED_KEYWORDS(CONF_BIND, "ssl"), TLS_SHARED_OPTIONS(CONF_BIND, "ssl"),
	TLS_FILE("ca-verify-file", CONF_BIND, "ssl", ca_verify_file, 0,
		 "authorities that are trusted and not announced"),
	TLS_TEXT("ecdhe", CONF_BIND, "ssl", curves, "older spelling of curves",
		 "<curve>"),
	{ .words = "crt-ignore-err", BIND, .max_args = 1, .parse = parse_ignore,
	  .syntax = "<errors>", .help = "errors of client certificates that do no harm" },
	{ .words = "ca-ignore-err", BIND, .max_args = 1, .parse = parse_ignore, .min = 1,
	  .syntax = "<errors>", .help = "same, of their authorities" },
	{ .words = "tls-ticket-keys", BIND, .max_args = 1, .parse = parse_ticket_keys,
	  .syntax = "<file>", .help = "keys of session tickets" },
	{ .words = "generate-certificates", BIND, .parse = parse_forges,
	  .help = "make certificates for names that none has" },
	{ .words = "ca-sign-file", BIND, .max_args = 1, .parse = parse_sign_file,
	  .syntax = "<file>", .help = "the authority that signs these, with its key" },
	{ .words = "ca-sign-pass", BIND, .max_args = 1, .parse = parse_sign_pass,
	  .syntax = "<passphrase>", .help = "what deciphers its key" },
	{ .words = "no-alpn", BIND, .parse = tls_parse_no_alpn, .help = "no ALPN" },
	FLAG("allow-0rtt", TLS_SET_EARLY_DATA, 0, "data may come before the handshake is over"),
	FLAG("no-ca-names", TLS_SET_NO_CA_NAMES, 0, "do not tell clients which authorities"),
	FLAG("prefer-client-ciphers", TLS_SET_CLIENT_CIPHERS, 0, "the client's order counts"),
	FLAG("strict-sni", TLS_SET_STRICT_SNI, TLS_SET_NO_STRICT_SNI,
	     "no certificate for unknown names"),
	FLAG("no-strict-sni", TLS_SET_NO_STRICT_SNI, TLS_SET_STRICT_SNI,
	     "the default certificate for unknown names"),
	{ 0 }
};

static struct slot *const slots[] = { &tls_bind_slot, NULL };

const struct module mod_tls_bind = { .name = "tls-bind", .keywords = keywords, .slots = slots };
