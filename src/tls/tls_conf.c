/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tls_conf.c - edge file: TLS settings of the section `global`, and the life of the floor
 *
 * Manual: 3.1
 */
#include <openssl/err.h>
#include <openssl/provider.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "bind_priv.h"
#include "cert_priv.h"
#include "conn_priv.h"
#include "core/thread.h"
#include "gcm_priv.h"
#include "global_priv.h"
#include "key_priv.h"
#include "lib_priv.h"
#include "line_priv.h"
#include "ocsp_priv.h"
#include "session_priv.h"
#include "settings_priv.h"
#include "shown_priv.h"
#include "store_priv.h"
#include "trace_priv.h"

static struct tls_global *global_of(struct conf_line *l)
{
	return tls_global_of(l->cfg);
}

/* --- parsers ---------------------------------------------------------------------------------- */

static const char *take_one(struct conf_line *l)
{
	const char *word = conf_next(l);

	if (!word)
		conf_error(l, l->at, NULL, "'%s' expects an argument.", l->words[0]);
	return word;
}

/* keyword->offset: of a text in struct tls_global */
static bool parse_text(struct conf_line *l)
{
	const char *word = take_one(l);

	if (!word)
		return false;
	*(const char **)((char *)global_of(l) + l->keyword->offset) = word;
	return true;
}

/* As parse_text(), for a directory that is set once. */
static bool parse_base(struct conf_line *l)
{
	if (*(const char **)((char *)global_of(l) + l->keyword->offset))
		return conf_error(l, 0, NULL, "'%s' already specified.", l->words[0]);
	return parse_text(l);
}

/* What lines below this one begin with; keyword->min: 1 for servers. */
static struct tls_settings *default_settings(struct conf_line *l)
{
	struct tls_global *g = global_of(l);

	g->taken = NULL;
	return l->keyword->min ? &g->defaults.server : &g->defaults.bind;
}

/* ssl-default-bind-ciphers and kin. keyword->offset: of a text in struct tls_settings; min: 1 for
 * servers
 */
static bool parse_default_text(struct conf_line *l)
{
	struct tls_settings *set = default_settings(l);
	const char *word = take_one(l);

	if (!word)
		return false;
	*(const char **)((char *)set + l->keyword->offset) = word;
	return true;
}

static bool parse_default_options(struct conf_line *l)
{
	return tls_take_options(l, default_settings(l), l->keyword->min);
}

static bool parse_server_verify(struct conf_line *l)
{
	const char *word = take_one(l);

	if (!word)
		return false;
	if (strcmp(word, "none") != 0 && strcmp(word, "required") != 0)
		return conf_error(l, l->at - 1, NULL, "'%s' expects 'none' or 'required' as "
				  "argument.", l->words[0]);
	global_of(l)->server_verify_none = *word == 'n';
	return true;
}

static bool parse_dh_file(struct conf_line *l)
{
	struct tls_global *g = global_of(l);
	const char *word = take_one(l);
	size_t len;
	char *text = word ? file_load(word, 1 << 20, &len) : NULL;

	if (!word)
		return false;
	EVP_PKEY_free(g->dh);
	g->dh = text ? tls_dh_read(text, len) : NULL;
	free(text);
	return g->dh || conf_error(l, l->at - 1, NULL, "'%s': unable to load DH parameters from "
				   "file <%s>.", l->words[0], word);
}

static bool parse_extra_files(struct conf_line *l)
{
	static const struct { const char *name; unsigned bits; } known[] = {
		{ "bundle", TLS_EXTRA_BUNDLE }, { "sctl", TLS_EXTRA_SCTL },
		{ "ocsp", TLS_EXTRA_OCSP }, { "issuer", TLS_EXTRA_ISSUER },
		{ "key", TLS_EXTRA_KEY }, { "all", TLS_EXTRA_ALL }, { "none", 0 },
	};
	struct tls_global *g = global_of(l);
	const char *word;

	if (!conf_peek(l))
		return conf_error(l, l->at, NULL, "'%s' expects at least one argument.",
				  l->words[0]);
	g->extra_files = 0;
	while ((word = conf_next(l))) {
		bool alone = strcmp(word, "all") == 0 || strcmp(word, "none") == 0;
		size_t i = 0, n = sizeof(known) / sizeof(*known);

		while (i < n && strcmp(known[i].name, word) != 0)
			i++;
		if (i == n)
			return conf_error(l, l->at - 1, NULL, "%s : parsing error : unknown "
					  "argument '%s'", l->words[0], word);
		if (alone && l->count > 2)
			return conf_error(l, l->at - 1, NULL, "'%s' 'none' and 'all' can be only "
					  "used alone", l->words[0]);
		g->extra_files |= known[i].bits;
	}
	return true;
}

static bool parse_issuers_path(struct conf_line *l)
{
	struct tls_global *g = global_of(l);
	const char *word = take_one(l);

	if (!word)
		return false;
	/* the last line counts */
	tls_chains_free(&g->chains);
	return tls_chains_read(&g->chains, word) ||
	       conf_error(l, l->at - 1, NULL, "'%s' : unable to load files from '%s'.",
			  l->words[0], word);
}

/* keyword->offset: of a bool in struct tls_global */
static bool take_switch(struct conf_line *l, bool *on)
{
	const char *word = take_one(l);

	if (!word)
		return false;
	if (strcmp(word, "on") != 0 && strcmp(word, "off") != 0)
		return conf_error(l, l->at - 1, NULL, "'%s' expects either 'on' or 'off' but got "
				  "'%s'.", l->words[0], word);
	*on = strcmp(word, "on") == 0;
	return true;
}

static bool parse_switch(struct conf_line *l)
{
	return take_switch(l, (bool *)((char *)global_of(l) + l->keyword->offset));
}

static bool parse_fast_aes(struct conf_line *l)
{
	bool on;

	if (!take_switch(l, &on))
		return false;
	global_of(l)->fast_aes = on;
	if (on && !tls_gcm_properties())
		conf_warn(l, 0, NULL, "'%s': OpenSSL's AES-GCM is used, this program or this CPU "
			  "has no faster one.", l->words[0]);
	return true;
}

static bool parse_compression(struct conf_line *l)
{
	const char *word = take_one(l);

	if (!word)
		return false;
	if (strcmp(word, "auto") != 0 && strcmp(word, "off") != 0)
		return conf_error(l, l->at - 1, NULL, "'%s' expects either 'auto' or 'off' but got "
				  "'%s'.", l->words[0], word);
	global_of(l)->no_compression = strcmp(word, "off") == 0;
	return true;
}

static bool parse_skip_self_issued(struct conf_line *l)
{
	tls_cert_skip_self_issued(true);
	return true;
}

static bool parse_del_ext(struct conf_line *l)
{
	global_of(l)->extra_replaces_extension = true;
	return true;
}

static bool parse_provider(struct conf_line *l)
{
	const char *word = take_one(l);

	if (!word)
		return false;
	if (OSSL_PROVIDER_load(NULL, word))
		return true;
	ERR_clear_error();
	return conf_error(l, l->at - 1, NULL, "'%s': failed to load the provider '%s'.",
			  l->words[0], word);
}

static bool parse_provider_path(struct conf_line *l)
{
	const char *word = take_one(l);

	return word && OSSL_PROVIDER_set_default_search_path(NULL, word) == 1;
}

static bool parse_propquery(struct conf_line *l)
{
	const char *word = take_one(l);

	if (!word)
		return false;
	global_of(l)->fast_aes = false; /* the user chooses */
	if (EVP_set_default_properties(NULL, word) == 1)
		return true;
	ERR_clear_error();
	return conf_error(l, l->at - 1, NULL, "'%s': failed to set the default property string.",
			  l->words[0]);
}

static bool parse_number(struct conf_line *l)
{
	int64_t *field = (int64_t *)((char *)global_of(l) + l->keyword->offset);

	return conf_take_int(l, l->keyword->min, l->keyword->max, field);
}

static bool parse_dh_bits(struct conf_line *l)
{
	struct tls_global *g = global_of(l);

	if (!conf_take_int(l, 1024, 8192, &g->defaults.dh_bits))
		return false;
	g->taken = NULL;
	return tls_dh_prepare(g) || conf_error(l, l->at - 1, NULL, "'%s': the TLS library has no "
					       "such parameters.", l->words[0]);
}

static bool parse_size(struct conf_line *l)
{
	int64_t *field = (int64_t *)((char *)global_of(l) + l->keyword->offset);
	uint64_t v;

	if (!conf_take_size(l, &v))
		return false;
	*field = (int64_t)v;
	return true;
}

static bool parse_lifetime(struct conf_line *l)
{
	int64_t ms;

	if (!conf_take_time_s(l, &ms))
		return false;
	global_of(l)->lifetime_s = ms / 1000;
	return true;
}

static bool parse_idle_timer(struct conf_line *l)
{
	int64_t ms;

	if (!conf_take_time_ms(l, &ms))
		return false;
	if (ms > UINT16_MAX)
		return conf_error(l, l->at - 1, NULL, "'%s' expects a timer value between 0 and "
				  "65535 ms.", l->words[0]);
	global_of(l)->idle_ms = ms;
	return true;
}

static bool parse_passphrase(struct conf_line *l)
{
	char **words = l->words + l->at;

	if (!conf_peek(l)) {
		conf_warn(l, 0, NULL, "global statement '%s' expects a command that tells "
			  "passphrases, and its arguments.", l->words[0]);
		return true;
	}
	global_of(l)->phrases = tls_phrases_new(&l->cfg->arena, words);
	while (conf_next(l))
		;
	return global_of(l)->phrases || conf_error(l, 0, NULL, "out of memory.");
}

/* Without engines, which are of the past, nothing works asynchronously; the kernel is not asked to
 * cipher.
 */
static bool parse_nothing(struct conf_line *l)
{
	while (conf_next(l))
		;
	return true;
}

#define GLOBAL .where = CONF_GLOBAL, .max_args = 1
#define NUMBER(name, member, low, high, what) \
	{ .words = name, GLOBAL, .parse = parse_number, \
	  .offset = offsetof(struct tls_global, member), .min = low, .max = high, \
	  .syntax = "<number>", .help = what }
#define BASE(name, member, what) \
	{ .words = name, GLOBAL, .parse = parse_base, \
	  .offset = offsetof(struct tls_global, member), .syntax = "<dir>", .help = what }
#define DEFAULT_TEXT(name, member, value, what) \
	{ .words = "ssl-default-bind-" name, GLOBAL, .parse = parse_default_text, \
	  .offset = offsetof(struct tls_settings, member), .syntax = value, \
	  .help = what " of bind lines" }, \
	{ .words = "ssl-default-server-" name, GLOBAL, .parse = parse_default_text, .min = 1, \
	  .offset = offsetof(struct tls_settings, member), .syntax = value, \
	  .help = what " of servers" }

static const struct conf_keyword keywords[] = {
	BASE("ca-base", ca_base, "where relative names of CA files begin"),
	BASE("crt-base", crt_base, "where relative names of certificates begin"),
	BASE("key-base", key_base, "where relative names of keys begin"),
	DEFAULT_TEXT("ciphers", ciphers, "<ciphers>", "default of ciphers"),
	DEFAULT_TEXT("ciphersuites", ciphersuites, "<suites>", "default of ciphersuites"),
	DEFAULT_TEXT("curves", curves, "<curves>", "default of curves"),
	DEFAULT_TEXT("sigalgs", sigalgs, "<algorithms>", "default of sigalgs"),
	DEFAULT_TEXT("client-sigalgs", client_sigalgs, "<algorithms>",
		     "default of client-sigalgs"),
	{ .words = "ssl-default-bind-options", .where = CONF_GLOBAL, .max_args = -1,
	  .parse = parse_default_options, .syntax = "<option>...",
	  .help = "options of all bind lines" },
	{ .words = "ssl-default-server-options", .where = CONF_GLOBAL, .max_args = -1,
	  .parse = parse_default_options, .min = 1, .syntax = "<option>...",
	  .help = "options of all servers" },
	{ .words = "ssl-server-verify", GLOBAL, .parse = parse_server_verify,
	  .syntax = "{ none | required }", .help = "default of verify on server lines" },
	{ .words = "ssl-dh-param-file", GLOBAL, .parse = parse_dh_file, .syntax = "<file>",
	  .help = "parameters for DHE" },
	{ .words = "ssl-load-extra-files", .where = CONF_GLOBAL, .max_args = -1,
	  .parse = parse_extra_files, .syntax = "{ all | none | bundle | sctl | ocsp | issuer | "
	  "key }...", .help = "which files beside a certificate are read" },
	{ .words = "ssl-load-extra-del-ext", .where = CONF_GLOBAL, .parse = parse_del_ext,
	  .help = "names of such files replace .crt, they do not follow it" },
	{ .words = "ssl-provider", GLOBAL, .parse = parse_provider, .syntax = "<name>",
	  .help = "load a provider of OpenSSL" },
	{ .words = "ssl-provider-path", GLOBAL, .parse = parse_provider_path, .syntax = "<dir>",
	  .help = "where providers are" },
	{ .words = "ssl-propquery", GLOBAL, .parse = parse_propquery, .syntax = "<query>",
	  .help = "which provider's algorithms are preferred" },
	NUMBER("ssl-security-level", security_level, 0, 5, "OpenSSL's security level"),
	NUMBER("maxsslconn", max_connections, 0, INT32_MAX, "most TLS connections of clients"),
	NUMBER("maxsslrate", max_rate, 0, INT32_MAX, "most TLS connections a second"),
	{ .words = "tune.ssl.default-dh-param", GLOBAL, .parse = parse_dh_bits,
	  .syntax = "<number>", .help = "size of DHE parameters" },
	{ .words = "ssl-passphrase-cmd", .where = CONF_GLOBAL, .max_args = -1,
	  .parse = parse_passphrase, .syntax = "<command> [<argument>...]",
	  .help = "what tells the passphrase of a private key" },
	{ .words = "ssl-mode-async", .where = CONF_GLOBAL, .max_args = -1, .parse = parse_nothing,
	  .help = "let engines of OpenSSL work asynchronously: there are none" },
	{ .words = "noktls", .where = CONF_GLOBAL, .parse = parse_nothing,
	  .help = "records are not ciphered by the kernel: they never are" },
	NUMBER("tune.ssl.keyupdate-rate-limit", keyupdate_rate, 0, INT32_MAX,
	       "most KeyUpdate messages of a connection a second; 0: any number"),
	NUMBER("tune.ssl.cachesize", cache_size, 0, INT32_MAX, "sessions kept for resumption"),
	NUMBER("tune.ssl.ssl-ctx-cache-size", forged_max, 0, INT32_MAX,
	       "certificates of generate-certificates that a line keeps"),
	{ .words = "tune.ssl.lifetime", GLOBAL, .parse = parse_lifetime, .syntax = "<timeout>",
	  .help = "how long a session may be resumed" },
	{ .words = "tune.ssl.maxrecord", GLOBAL, .parse = parse_size, .syntax = "<bytes>",
	  .offset = offsetof(struct tls_global, first_record),
	  .help = "largest record where a transfer begins" },
	{ .words = "tune.ssl.hard-maxrecord", GLOBAL, .parse = parse_size, .syntax = "<bytes>",
	  .offset = offsetof(struct tls_global, max_record), .help = "largest record sent" },
	{ .words = "tune.idletimer", GLOBAL, .parse = parse_idle_timer, .syntax = "<timeout>",
	  .help = "after this pause tune.ssl.maxrecord counts again" },
	NUMBER("tune.ssl.capture-buffer-size", capture_size, 0, 65536,
	       "bytes kept of a client's hello"),
	{ .words = "tune.ssl.capture-cipherlist-size", GLOBAL, .flags = CONF_DEPRECATED,
	  .parse = parse_number, .offset = offsetof(struct tls_global, capture_size), .min = 0,
	  .max = 65536, .syntax = "<number>",
	  .help = "older spelling of tune.ssl.capture-buffer-size",
	  .hint = "Use 'tune.ssl.capture-buffer-size'." },
	{ .words = "issuers-chain-path", GLOBAL, .parse = parse_issuers_path, .syntax = "<dir>",
	  .help = "chains for certificates that come without" },
	{ .words = "ssl-skip-self-issued-ca", .where = CONF_GLOBAL,
	  .parse = parse_skip_self_issued, .help = "roots are not sent" },
	{ .words = "crt-watch", GLOBAL, .parse = parse_switch,
	  .offset = offsetof(struct tls_global, watch), .syntax = "{ on | off }",
	  .help = "files of certificates, authorities and maps that change are read again" },
	{ .words = "ssl-fast-aes", GLOBAL, .parse = parse_fast_aes, .syntax = "{ on | off }",
	  .help = "AES-GCM of records by ipsec-mb, not by OpenSSL" },
	{ .words = "tune.ssl.keylog", GLOBAL, .parse = parse_switch,
	  .offset = offsetof(struct tls_global, keylog), .syntax = "{ on | off }",
	  .help = "connections keep their secrets for fetches" },
	{ .words = "tune.ssl.certificate-compression", GLOBAL, .parse = parse_compression,
	  .syntax = "{ auto | off }", .help = "may certificates be sent compressed" },
	{ 0 }
};

/* --- life ------------------------------------------------------------------------------------- */

static bool tls_init(void)
{
	return tls_lib_init() && tls_conn_init() && tls_shown_init() &&
	       conf_on_dump("crt-list", tls_crt_list_dump);
}

/* Says which OCSP answers cannot be used. */
static void warn_of_answers(struct config *cfg, struct diag_list *diags)
{
	struct tls_store *s = tls_store_of(cfg);

	for (struct tls_entry *e = tls_store_first(s); e; e = tls_store_next(e))
		if (e->note)
			diag_add(diags, DIAG_WARNING, NULL, NULL, "Loading: %s: %s Content "
				 "will be ignored.", e->files.ocsp, e->note);
}

static void tls_check(struct config *cfg, struct diag_list *diags)
{
	const struct tls_global *g = tls_global_of(cfg);

	if (!tls_figures_init() || !tls_cache_set_size(g->cache_size))
		diag_add(diags, DIAG_ALERT, NULL, NULL, "out of memory for the cache of TLS "
			 "sessions.");
	warn_of_answers(cfg, diags);
}

static void start_watch(const struct config *cfg, const struct config *prev)
{
	if (tls_watch_is_wanted(cfg) || (prev && tls_watch_is_wanted(prev)))
		tls_watch_start();
}

static bool tls_start(struct config *cfg, struct diag_list *diags)
{
	const struct tls_global *g = tls_global_of(cfg);

	tls_set_limits(g->max_connections, g->max_rate);
	if (!tls_live()) {
		tls_set_live(cfg);
		tls_ocsp_start(cfg, NULL);
		start_watch(cfg, NULL);
	}
	return true;
}

/* Another module's start may still have failed until here: the new one would have been freed. */
static void tls_adopt(struct config *next, struct config *prev)
{
	tls_set_live(next);
	tls_ocsp_start(next, prev);
	start_watch(next, prev);
}

static void tls_thread_fini(void)
{
	if (thread_id == 0) {
		tls_ocsp_stop();
		tls_watch_stop();
	}
	tls_conn_thread_fini();
	tls_gcm_thread_fini();
	tls_memory_thread_fini();
}

static void tls_fini(void)
{
	tls_cache_free();
}

static struct slot *const slots[] = { &tls_global_slot, &tls_store_slot, NULL };

static struct trace_source *const traces[] = { &trace_tls, NULL };

const struct module mod_tls = {
	.name = "tls", .keywords = keywords, .slots = slots, .init = tls_init, .check = tls_check,
	.start = tls_start, .adopt = tls_adopt,
	.thread_init = tls_conn_thread_init, .thread_fini = tls_thread_fini, .fini = tls_fini,
	.traces = traces,
};
