/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settings.c - parsers shared by bind lines, server lines, crt-lists and `global` */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bind_priv.h"
#include "ctx_priv.h"
#include "global_priv.h"
#include "line_priv.h"
#include "server_priv.h"
#include "settings_priv.h"
#include "store_priv.h"

struct tls_server *tls_server_of_line(struct conf_line *l)
{
	static __thread struct tls_server nowhere;
	struct tls_server *s = tls_server_make(l->slots);

	if (s)
		return s;
	conf_error(l, l->at - 1, NULL, "out of memory.");
	nowhere = (struct tls_server){ 0 };
	return &nowhere;
}

static struct tls_settings *tls_settings_of(struct conf_line *l)
{
	if (l->where == CONF_BIND)
		return &((struct tls_bind *)slot_of(&tls_bind_slot, l->slots))->set;
	if (l->where == CONF_SERVER)
		return &tls_server_of_line(l)->set;
	return l->object;
}

bool tls_parse_text(struct conf_line *l)
{
	const char **field = (const char **)((char *)tls_settings_of(l) + l->keyword->offset);

	if (!conf_peek(l))
		return conf_error(l, l->at, NULL, "'%s' : missing value", l->keyword->words);
	*field = conf_next(l);
	return true;
}

/* Is there a file of this name with something in it? At run time: a line of a crt-list comes by a
 * command that holds the store's lock, the line of `add server` does not.
 */
static bool ca_file_is_known(const struct conf_line *l, const char *path)
{
	bool locked = l->where == CONF_OTHER, known;
	const struct tls_ca *ca;

	if (!locked)
		tls_store_lock();
	ca = tls_store_ca_named(l->cfg, path);
	known = ca && (sk_X509_num(ca->certs) > 0 || sk_X509_CRL_num(ca->crls) > 0);
	if (!locked)
		tls_store_unlock();
	return known;
}

/* Files of CAs and of revocation lists are read immediately, so that a wrong line is reported. At
 * run time no file is read: it must be one that the configuration has read.
 */
bool tls_parse_ca_file(struct conf_line *l)
{
	const char **field = (const char **)((char *)tls_settings_of(l) + l->keyword->offset);
	const char *word = conf_next(l);
	char why[512] = "";

	if (!word)
		return conf_error(l, l->at, NULL, "'%s' : missing CAfile path", l->keyword->words);
	*field = tls_path(l->cfg, tls_global_of(l->cfg)->ca_base, word);
	if (l->cfg->is_checked)
		return ca_file_is_known(l, *field) ||
		       conf_error(l, l->at - 1, NULL, "'%s' : unable to load %s",
				  l->keyword->words, *field);
	if (tls_store_ca(l->cfg, *field, l->keyword->min, why, sizeof(why)))
		return true;
	diag_add(l->diags, DIAG_ALERT, NULL, NULL, "%s", why);
	return conf_error(l, l->at - 1, NULL, "'%s' : unable to load %s", l->keyword->words,
			  *field);
}

/* "h2,http/1.1" in wire format, in the arena. False: *error. */
static bool tls_alpn_make(struct config *cfg, const char *text, struct slice *out,
			  const char **error)
{
	size_t len = strlen(text), used = 0;
	char *wire = arena_alloc(&cfg->arena, len + 2);

	*error = !wire ? "out of memory" : NULL;
	while (wire && *text) {
		size_t n = strcspn(text, ",");

		if (!n || n > 255) {
			*error = !n ? "contains an empty protocol" : "protocol name too long";
			return false;
		}
		wire[used] = (char)n;
		memcpy(wire + used + 1, text, n);
		used += n + 1;
		text += n;
		text += *text == ',';
	}
	*out = slice_make(wire, used);
	return wire != NULL;
}

static bool tls_take_alpn(struct conf_line *l, struct tls_settings *set)
{
	const char *word = conf_next(l), *error;

	if (!word)
		return conf_error(l, l->at, NULL, "'%s' : missing the comma-delimited ALPN "
				  "protocol suite", l->keyword->words);
	set->flags &= (uint16_t)~TLS_SET_NO_ALPN;
	return tls_alpn_make(l->cfg, word, &set->alpn, &error) ||
	       conf_error(l, l->at - 1, NULL, "'%s' : %s", l->keyword->words, error);
}

bool tls_parse_alpn(struct conf_line *l)
{
	return tls_take_alpn(l, tls_settings_of(l));
}

bool tls_parse_no_alpn(struct conf_line *l)
{
	struct tls_settings *set = tls_settings_of(l);

	set->alpn = slice_none();
	set->flags |= TLS_SET_NO_ALPN;
	return true;
}

static const struct {
	const char *name;
	uint16_t version;
	uint8_t bit;
} versions[] = {
	{ "tlsv10", TLS1_VERSION, 1 }, { "tlsv11", TLS1_1_VERSION, 2 },
	{ "tlsv12", TLS1_2_VERSION, 4 }, { "tlsv13", TLS1_3_VERSION, 8 },
};

/* "TLSv1.2". SSLv3, which no library has, is below all of them. */
static bool version_named(const char *word, uint16_t *version)
{
	for (uint16_t v = SSL3_VERSION; v <= TLS1_3_VERSION; v++)
		if (strcmp(word, tls_version_text(v)) == 0) {
			*version = v;
			return true;
		}
	return false;
}

/* keyword->min: 0 ssl-min-ver, 1 ssl-max-ver */
bool tls_parse_version(struct conf_line *l)
{
	struct tls_settings *set = tls_settings_of(l);
	const char *word = conf_next(l);

	if (!word)
		return conf_error(l, l->at, NULL, "'%s' : missing version", l->keyword->words);
	return version_named(word, l->keyword->min ? &set->max : &set->min) ||
	       conf_error(l, l->at - 1, NULL, "'%s' : unknown ssl/tls version", word);
}

bool tls_parse_verify(struct conf_line *l)
{
	struct tls_settings *set = tls_settings_of(l);
	bool server = l->where == CONF_SERVER;
	const char *word = conf_next(l);

	if (!word)
		return conf_error(l, l->at, NULL, "'%s' : missing verify method",
				  l->keyword->words);
	if (strcmp(word, "none") == 0)
		set->verify = TLS_VERIFY_NONE;
	else if (strcmp(word, "optional") == 0 && !server)
		set->verify = TLS_VERIFY_OPTIONAL;
	else if (strcmp(word, "required") == 0)
		set->verify = TLS_VERIFY_REQUIRED;
	else
		return conf_error(l, l->at - 1, NULL, "'%s' : unknown verify method '%s', only "
				  "'none'%s and 'required' are supported%s", l->keyword->words,
				  word, server ? "" : ", 'optional',", server ? "." : "");
	return true;
}

bool tls_parse_ktls(struct conf_line *l)
{
	const char *word = conf_next(l);
	uint8_t on;

	if (!word)
		return conf_error(l, l->at, NULL, "'%s' expects \"on\" or \"off\" as an argument.",
				  l->keyword->words);
	if (!tls_ocsp_update_take(word, &on))
		return conf_error(l, l->at - 1, NULL, "'%s' expects \"on\" or \"off\" as an "
				  "argument, got '%s'.", l->keyword->words, word);
	if (on == TLS_OCSP_UPDATE_ON)
		conf_note(l, l->at - 1, "'%s on' has no effect: records are ciphered by this "
			  "program, not by the kernel.", l->keyword->words);
	return true;
}

/* keyword->min: bits to set, max: bits to clear */
bool tls_parse_flag(struct conf_line *l)
{
	struct tls_settings *set = tls_settings_of(l);

	set->flags = (uint16_t)((set->flags | l->keyword->min) & ~l->keyword->max);
	return true;
}

/* "no-tlsv12", "force-tlsv13", "no-tls-tickets"...: options that ssl-default-*-options take too.
 * False: not one of them, or not one of servers where <server_only>.
 */
static bool tls_take_option_word(struct tls_settings *set, const char *word, bool server_only)
{
	static const struct {
		const char *name;
		uint16_t set, clear;
		bool bind_only;
	} flags[] = {
		{ "no-tls-tickets", TLS_SET_NO_TICKETS, TLS_SET_TICKETS, false },
		{ "tls-tickets", TLS_SET_TICKETS, TLS_SET_NO_TICKETS, true },
		{ "prefer-client-ciphers", TLS_SET_CLIENT_CIPHERS, 0, true },
		{ "strict-sni", TLS_SET_STRICT_SNI, TLS_SET_NO_STRICT_SNI, true },
		{ "no-strict-sni", TLS_SET_NO_STRICT_SNI, TLS_SET_STRICT_SNI, true },
		{ "renegotiate", TLS_SET_RENEGOTIATE, TLS_SET_NO_RENEGOTIATE, false },
		{ "no-renegotiate", TLS_SET_NO_RENEGOTIATE, TLS_SET_RENEGOTIATE, false },
		{ "no-sslv3", 0, 0, false },
	};
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		if (strcmp(word, flags[i].name) == 0 && !(server_only && flags[i].bind_only)) {
			set->flags = (uint16_t)((set->flags | flags[i].set) & ~flags[i].clear);
			return true;
		}
	for (int i = 0; i < 4; i++) {
		if (strncmp(word, "no-", 3) == 0 && strcmp(word + 3, versions[i].name) == 0) {
			set->off |= versions[i].bit;
			return true;
		}
		if (strncmp(word, "force-", 6) == 0 && strcmp(word + 6, versions[i].name) == 0) {
			set->min = set->max = versions[i].version;
			return true;
		}
	}
	return false;
}

bool tls_parse_option_word(struct conf_line *l)
{
	return tls_take_option_word(tls_settings_of(l), l->keyword->words, false);
}

/* ssl-default-bind-options, ssl-default-server-options: words up to the end. */
bool tls_take_options(struct conf_line *l, struct tls_settings *set, bool server)
{
	const char *word;

	if (!conf_peek(l))
		return conf_error(l, l->at, NULL, "global statement '%s' expects an option as an "
				  "argument.", l->words[0]);
	while ((word = conf_next(l))) {
		bool max = strcmp(word, "ssl-max-ver") == 0;

		if (max || strcmp(word, "ssl-min-ver") == 0) {
			const char *value = conf_next(l);

			if (!value)
				return conf_error(l, l->at, NULL, "%s: '%s' : missing version",
						  l->words[0], word);
			if (!version_named(value, max ? &set->max : &set->min))
				return conf_error(l, l->at - 1, NULL, "%s: '%s' : unknown ssl/tls "
						  "version", l->words[0], value);
			continue;
		}
		if (!tls_take_option_word(set, word, server))
			return conf_error(l, l->at - 1, NULL, "unknown option '%s' on global "
					  "statement '%s'.", word, l->words[0]);
	}
	return true;
}

bool tls_ocsp_update_take(const char *word, uint8_t *out)
{
	bool on = strcmp(word, "on") == 0;

	*out = on ? TLS_OCSP_UPDATE_ON : TLS_OCSP_UPDATE_OFF;
	return on || strcmp(word, "off") == 0;
}
