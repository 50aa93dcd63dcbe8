/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lint_secure.c - weak TLS, secrets in clear, doors that stand open */
#include <string.h>
#include <strings.h>
#include "base/num.h"
#include "conf/kept.h"
#include "lint_priv.h"

/* --- TLS ----------------------------------------------------------------------------------- */

static void look_at_versions(struct lint *x, const struct source_line *l, int word)
{
	const char *text = l->words[word].text, *before = source_word(l, word - 1);
	static const char old[] = "SSLv3 TLSv1.0 TLSv1.1";

	if (strcmp(before, "ssl-min-ver") == 0 || strcmp(before, "ssl-max-ver") == 0) {
		if (lint_names(old, text))
			lint_say(x, LINT_WEAK_TLS_VERSION, l, word, "%s is not safe any more",
				 text);
	} else if (lint_names("force-sslv3 force-tlsv10 force-tlsv11", text)) {
		lint_say(x, LINT_WEAK_TLS_VERSION, l, word,
			 "'%s' asks for a version that is not safe", text);
	}
}

static void look_at_ciphers(struct lint *x, const struct source_line *l, int word)
{
	static const char *const weak[] = {
		"RC4",
		"DES",
		"3DES",
		"NULL",
		"eNULL",
		"aNULL",
		"EXP",
		"EXPORT",
		"MD5",
		"ADH",
		"AECDH",
		"LOW",
		"RC2",
		"IDEA",
		"SEED",
		"ALL",
		"COMPLEMENTOFDEFAULT",
	};
	const char *at = l->words[word].text;

	while (*at) {
		size_t len = strcspn(at, ":, ");
		bool is_taken_out = *at == '!' || *at == '-';

		for (size_t i = 0; !is_taken_out && i < sizeof(weak) / sizeof(*weak); i++) {
			size_t n = strlen(weak[i]);
			const char *part = at;

			/* a part of a name: "DES-CBC3-SHA", "ECDHE-RSA-RC4-SHA" */
			for (; part < at + len; part += strcspn(part, "-+:, ") + 1)
				if (strncmp(part, weak[i], n) == 0 && strchr("-+:, ", part[n])) {
					lint_say(x, LINT_WEAK_CIPHER, l, word, "'%.*s' is weak",
						 (int)len, at);
					return;
				}
		}
		at += len + (at[len] != '\0');
	}
}

static void look_at_tls_words(struct lint *x, const struct source_line *l)
{
	for (int i = 1; i < l->count; i++) {
		const char *word = l->words[i].text;

		look_at_versions(x, l, i);
		if (strcmp(word, "ciphers") == 0 && i + 1 < l->count)
			look_at_ciphers(x, l, i + 1);
		if (strcmp(word, "verify") == 0 && strcmp(source_word(l, i + 1), "none") == 0 &&
		    (source_begins(l, "server") || source_begins(l, "default-server") ||
		     source_begins(l, "server-template") ||
		     source_begins(l, "ssl-default-server-options")))
			lint_say(x, LINT_VERIFY_NONE, l, i,
				 "any certificate is accepted: an attacker in "
				 "between can read and change what is sent");
	}
	if (source_begins(l, "ssl-default-bind-ciphers") ||
	    source_begins(l, "ssl-default-server-ciphers"))
		look_at_ciphers(x, l, 1);
	if (source_begins(l, "ssl-server-verify none"))
		lint_say(x, LINT_VERIFY_NONE, l, 1, "no certificate of a server is verified");
	if (source_begins(l, "tune.ssl.default-dh-param") && l->count > 1 &&
	    num_prefix_int(source_word(l, 1), NULL) < 2048)
		lint_say(x, LINT_WEAK_DH, l, 1, "%s bits are too few", source_word(l, 1));
}

static bool section_has(const struct lint *x, int section, const char *text)
{
	for (int i = lint_next(x, section, section); i >= 0; i = lint_next(x, section, i))
		for (int w = 0; w < x->source.lines[i].count; w++)
			if (strstr(x->source.lines[i].words[w].text, text))
				return true;
	return false;
}

static void look_at_bind(struct lint *x, const struct source_line *l)
{
	const char *address = source_word(l, 1), *port = strrchr(address, ':');

	if (lint_word(l, "allow-0rtt") > 0 && !section_has(x, l->section, "wait-for-handshake"))
		lint_say(x, LINT_EARLY_DATA, l, lint_word(l, "allow-0rtt"),
			 "early data may be sent again by others: no rule waits for the handshake");
	if (port && strcmp(port, ":443") == 0 && lint_word(l, "ssl") < 0 &&
	    lint_is_http(x, l->section) && strncmp(address, "quic", 4) != 0)
		lint_say(x, LINT_PORT_443, l, 1,
			 "port 443 without `ssl`: browsers do not get through");
}

/* --- secrets ------------------------------------------------------------------------------- */

static bool is_variable(const char *word)
{
	return strchr(word, '$') || strstr(word, "%[");
}

/* Does a converter in the word have a key that is written there? Those of asymmetric signatures are
 * names of files, and variables are filled elsewhere.
 */
static bool has_key_in_clear(const char *word)
{
	const char *name;

	if (!strchr(word, ','))
		return false; /* a key stands behind one */
	for (unsigned i = 0; (name = conf_secret_converter(i)); i++) {
		const char *at = strstr(word, name), *key = at ? strchr(at, ',') : NULL;
		bool is_jwt = at && strncmp(at, "jwt_verify(", 11) == 0;

		if (!key || (is_jwt && strncmp(at + 11 + (at[11] == '"'), "HS", 2) != 0))
			continue;
		if (!is_variable(at) && !strstr(at, "txn.") && !strstr(at, "proc.") &&
		    !strstr(at, "sess."))
			return true;
	}
	return false;
}

static void look_at_secret(struct lint *x, const struct source_line *l)
{
	for (int i = 0; i + 1 < l->count; i++) {
		const char *word = l->words[i].text, *value = l->words[i + 1].text;

		if (conf_secret_behind(word) == CONF_SECRET_CLEAR && !is_variable(value))
			lint_say(x, LINT_SECRET_IN_CLEAR, l, i,
				 "the secret of '%s' stands in clear", word);
		if (strcasecmp(word, "authorization") == 0 && strlen(value) > 8 &&
		    !is_variable(value) &&
		    (strncasecmp(value, "Basic ", 6) == 0 || strncasecmp(value, "Bearer ", 7) == 0))
			lint_say(x, LINT_SECRET_IN_CLEAR, l, i + 1, "a credential stands in clear");
	}
	if (source_begins(l, "stats auth") && strchr(source_word(l, 2), ':') &&
	    !is_variable(source_word(l, 2)))
		lint_say(x, LINT_SECRET_IN_CLEAR, l, 2, "a password stands in clear");
	for (int i = 1; i < l->count; i++)
		if (has_key_in_clear(l->words[i].text))
			lint_say(x, LINT_SECRET_IN_CLEAR, l, i, "a key stands in clear");
}

/* --- doors --------------------------------------------------------------------------------- */

static bool has_open_bind(const struct lint *x, int section)
{
	for (int i = lint_next(x, section, section); i >= 0; i = lint_next(x, section, i)) {
		const struct source_line *l = &x->source.lines[i];

		if (source_begins(l, "bind") && !lint_is_local(source_word(l, 1)))
			return true;
	}
	return lint_is(x, section, "backend");
}

static void look_at_statistics(struct lint *x, int section)
{
	const struct source_line *page = NULL, *admin = NULL;
	bool asks = false;

	for (int i = lint_next(x, section, section); i >= 0; i = lint_next(x, section, i)) {
		const struct source_line *l = &x->source.lines[i];

		if (source_begins(l, "stats enable") || source_begins(l, "stats uri"))
			page = page ? page : l;
		if (source_begins(l, "stats admin"))
			admin = l;
		asks |= source_begins(l, "stats auth") || source_begins(l, "stats http-request") ||
			source_begins(l, "http-request auth") ||
			source_begins(l, "http-request deny");
	}
	if (asks || !(page || admin) || !has_open_bind(x, section))
		return;
	if (admin && (strcmp(source_word(admin, 3), "TRUE") == 0 || !admin->words))
		lint_say(x, LINT_STATS_ADMIN, admin, 1, "anyone may stop servers on this page");
	else if (page)
		lint_say(x, LINT_STATS_OPEN, page, 1, "the statistics are open to anyone");
}

static void look_at_socket(struct lint *x, const struct source_line *l)
{
	const char *mode = lint_value(l, "mode"), *level = lint_value(l, "level");
	const char *address = source_word(l, 2);
	bool is_path = strchr(address, '/') || strncmp(address, "unix", 4) == 0 ||
		       strncmp(address, "abns", 4) == 0 || strncmp(address, "fd@", 3) == 0;

	if (!is_path && !lint_is_local(address) && level && strcmp(level, "admin") == 0)
		lint_say(x, LINT_SOCKET_OPEN, l, 2,
			 "anyone who can reach this address controls the process");
	if (is_path && mode && *mode && (mode[strlen(mode) - 1] - '0') & 2)
		lint_say(x, LINT_SOCKET_OPEN, l, lint_word(l, "mode") + 1,
			 "every user of this machine may write to it");
}

static void look_at_cookie(struct lint *x, const struct source_line *l)
{
	if (lint_word(l, "insert") > 0 && lint_word(l, "httponly") < 0)
		lint_say(x, LINT_COOKIE_SCRIPT, l, 1, "scripts of pages can read this cookie");
}

void lint_secure(struct lint *x)
{
	for (int i = 0; i < x->source.count; i++) {
		const struct source_line *l = &x->source.lines[i];

		if (l->kind == SOURCE_SECTION && lint_is(x, i, "frontend listen backend"))
			look_at_statistics(x, i);
		if (l->kind != SOURCE_KEYWORD)
			continue;
		look_at_tls_words(x, l);
		look_at_secret(x, l);
		if (source_begins(l, "bind"))
			look_at_bind(x, l);
		else if (source_begins(l, "stats socket"))
			look_at_socket(x, l);
		else if (source_begins(l, "cookie"))
			look_at_cookie(x, l);
		else if (source_begins(l, "user root") || source_begins(l, "uid 0"))
			lint_say(x, LINT_RUNS_AS_ROOT, l, 0, "the process keeps all rights");
	}
}
