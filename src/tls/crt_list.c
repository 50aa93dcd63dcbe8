/* SPDX-License-Identifier: GPL-2.0-or-later */
/* crt_list.c - lists of certificates with settings and names of their own
 *
 *     <certificate> [\[<option> [<value>] ...\]] [[!]<name> ...]
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "bind_priv.h"
#include "cert_priv.h"
#include "global_priv.h"
#include "line_priv.h"
#include "settings_priv.h"
#include "store_priv.h"

#define LINE_WORDS 512
#define BLANKS " \t\r\n"

/* What stands between the brackets of a line. */
struct list_options {
	struct tls_settings set;     /* first: the parsers of settings.c take it for the object */
	struct tls_cert_files files;
	uint8_t ocsp_update, jwt;    /* enum tls_ocsp_update */
	bool any_setting;
};

/* Says what is wrong. <mark>: stands behind the place of the line, see struct tls_add. */
static void wrong_line(struct tls_add *a, const char *mark, const char *what)
{
	a->mark = mark;
	snprintf(a->why, sizeof(a->why), "%s", what);
}

static const char *take_value(struct conf_line *l)
{
	const char *word = conf_next(l);

	if (!word)
		conf_error(l, l->at, NULL, "'%s' expects a value.", l->keyword->words);
	return word;
}

/* keyword->offset: in struct tls_cert_files; min: 1 for a key */
static bool parse_file(struct conf_line *l)
{
	const struct tls_global *g = tls_global_of(l->cfg);
	struct list_options *o = l->object;
	const char *word = take_value(l);

	if (word)
		*(const char **)((char *)&o->files + l->keyword->offset) =
			tls_path(l->cfg, l->keyword->min ? g->key_base : g->crt_base, word);
	return word;
}

/* keyword->offset: in struct list_options */
static bool parse_switch(struct conf_line *l)
{
	const char *word = take_value(l);

	return word && (tls_ocsp_update_take(word, (uint8_t *)l->object + l->keyword->offset) ||
			conf_error(l, l->at - 1, NULL, "cannot parse '%s' value '%s', 'on' or "
				   "'off' is expected.", l->keyword->words, word));
}

#define PART(name, member, is_key, what) \
	{ .words = name, LIST, .max_args = 1, .parse = parse_file, .min = is_key, \
	  .offset = offsetof(struct tls_cert_files, member), .syntax = "<file>", .help = what }
#define LIST .where = CONF_OTHER, .section = "crt-list"
/* What ALPN has replaced: lists of former years have it. */
static bool skip_npn(struct conf_line *l)
{
	return conf_next(l) || conf_error(l, 0, NULL, "'npn' expects protocols.");
}

/* What may stand between brackets; shown as the section "crt-list". */
static const struct conf_keyword options[] = {
	TLS_SHARED_KEYWORDS(CONF_OTHER, "crt-list"),
	TLS_FILE("ca-verify-file", CONF_OTHER, "crt-list", ca_verify_file, 0,
		 "authorities that are trusted and not announced"),
	TLS_TEXT("ecdhe", CONF_OTHER, "crt-list", curves, "older spelling of curves",
		 "<curve>"),
	{ .words = "npn", LIST, .max_args = 1, .parse = skip_npn, .syntax = "<protocols>",
	  .help = "what ALPN has replaced: no effect" },
	{ .words = "no-alpn", LIST, .parse = tls_parse_no_alpn, .help = "no ALPN" },
	{ .words = "allow-0rtt", LIST, .parse = tls_parse_flag, .min = TLS_SET_EARLY_DATA,
	  .help = "data may come before the handshake is over" },
	{ .words = "no-ca-names", LIST, .parse = tls_parse_flag, .min = TLS_SET_NO_CA_NAMES,
	  .help = "do not tell clients which authorities" },
	{ .words = "ocsp-update", LIST, .max_args = 1, .parse = parse_switch,
	  .offset = offsetof(struct list_options, ocsp_update),
	  .syntax = "{ on | off }", .help = "is the stapled answer fetched" },
	{ .words = "jwt", LIST, .max_args = 1, .parse = parse_switch,
	  .offset = offsetof(struct list_options, jwt), .syntax = "{ on | off }",
	  .help = "may JSON Web Tokens be read with it" },
	PART("key", key, 1, "where the key is"), PART("ocsp", ocsp, 0, "an OCSP answer"),
	PART("issuer", issuer, 0, "the certificate of the issuer"),
	PART("sctl", sctl, 0, "timestamps of certificate logs"),
	{ 0 }
};

void tls_crt_list_dump(FILE *out)
{
	for (const struct conf_keyword *k = options; k->words; k++)
		fprintf(out, "\t%s%s\n", k->words, k->max_args ? " +1" : "");
}

static const struct conf_keyword *option_find(const char *word)
{
	for (const struct conf_keyword *k = options; k->words; k++)
		if (strcmp(k->words, word) == 0)
			return k;
	return NULL;
}

/* What is wrong with the bracket at <at>, behind <n> words; NULL: nothing. open, closed: how many
 * of each there were.
 */
static const char *wrong_bracket(char at, int n, int *open, int *closed)
{
	if (at == '[') {
		if (n == 0)
			return "file must start with a cert";
		return (*open)++ ? "too many '['" : NULL;
	}
	if (!*open)
		return "missing '['";
	return (*closed)++ ? "too many ']'" : NULL;
}

/* Cuts a line into words; brackets are words of their own. -1: a->why. */
static int cut(struct tls_add *a, const char *text, char **words)
{
	int n = 0, open = 0, closed = 0;

	while (*(text += strspn(text, BLANKS))) {
		bool bracket = *text == '[' || *text == ']';
		size_t len = bracket ? 1 : strcspn(text, BLANKS "[]");
		const char *wrong = !bracket ? NULL : wrong_bracket(*text, n, &open, &closed);

		if (n + 1 >= LINE_WORDS)
			wrong = "too many words";
		words[n] = wrong ? NULL : arena_printf(&a->cfg->arena, "%.*s", (int)len, text);
		if (!words[n]) {
			wrong_line(a, ": ", wrong ? wrong : "out of memory");
			return -1;
		}
		n++;
		text += len;
	}
	if (open > closed) {
		wrong_line(a, ": ", "missing ']'");
		return -1;
	}
	words[n] = NULL;
	return n;
}

/* Is it about the certificate, not about the line that shows it? */
static bool is_load_option(const struct conf_keyword *k)
{
	return k->parse == parse_file || k->parse == parse_switch;
}

/* Takes the option words[l->at - 1], and its value. False: a->why. */
static bool take_option(struct tls_add *a, struct conf_line *l, struct diag_list *diags)
{
	const char *word = l->words[l->at - 1], *value = conf_peek(l);
	struct list_options *o = l->object;
	bool good;

	l->keyword = option_find(word);
	if (!l->keyword) {
		wrong_line(a, ": ", "");
		snprintf(a->why, sizeof(a->why), "unknown ssl keyword %s", word);
		return false;
	}
	if (l->keyword->max_args && value && strcmp(value, "]") == 0) {
		wrong_line(a, ": ", "");
		snprintf(a->why, sizeof(a->why), "ssl args out of '[]' for %s", word);
		return false;
	}
	good = l->keyword->parse(l);
	o->any_setting |= !is_load_option(l->keyword);
	if (!good && !list_is_empty(&diags->diags))
		wrong_line(a, l->keyword->parse == parse_switch ? " : " : NULL,
			   list_last(&diags->diags, struct diag, link)->message);
	return good;
}

bool tls_crt_list_options(struct tls_add *a, char **words, int count, int *at)
{
	struct diag_list diags;
	struct conf_line l = { .cfg = a->cfg, .diags = &diags, .words = words, .count = count,
			       .at = *at, .where = CONF_OTHER, .about = "" };
	struct list_options *o;
	bool good = true;

	o = arena_zalloc(&a->cfg->arena, sizeof(*o));
	l.object = o;
	l.columns = arena_zalloc(&a->cfg->arena, sizeof(int) * (size_t)count);
	if (!o || !l.columns)
		return false;
	diag_list_init(&diags);
	while (good && l.at < count && strcmp(words[l.at], "]") != 0) {
		l.at++;
		good = take_option(a, &l, &diags);
	}
	diag_list_fini(&diags);
	a->options = l.at > *at ? arena_printf(&a->cfg->arena, "%s", words[*at]) : NULL;
	for (int i = *at + 1; a->options && i < l.at; i++)
		a->options = arena_printf(&a->cfg->arena, "%s %s", a->options, words[i]);
	*at = l.at + 1;
	a->own = o->any_setting ? &o->set : NULL;
	a->files = o->files;
	a->files.listed = true;
	a->ocsp_update = o->ocsp_update;
	a->jwt = o->jwt;
	return good;
}

void tls_crt_list_bare(struct tls_add *a)
{
	a->own = NULL;
	a->options = NULL;
	a->filters = NULL;
	a->filter_count = 0;
	a->files = (struct tls_cert_files){ .listed = true };
	a->ocsp_update = a->jwt = TLS_OCSP_UPDATE_UNSET;
	a->mark = NULL;
}

/* Where the options begin, behind the bracket; 0: there are none. */
static int options_at(char **words, int n)
{
	for (int i = 1; i < n; i++)
		if (strcmp(words[i], "[") == 0)
			return i + 1;
	return 0;
}

bool tls_crt_list_words(struct tls_add *a, const char *text, const char **cert)
{
	char *words[LINE_WORDS];
	int n, at;

	tls_crt_list_bare(a);
	n = cut(a, text, words);
	*cert = n > 0 ? words[0] : NULL;
	if (n <= 0)
		return n == 0;
	at = options_at(words, n);
	a->lost_names = at > 2;
	if (at && !tls_crt_list_options(a, words, n, &at))
		return false;
	a->filters = arena_zalloc(&a->cfg->arena, sizeof(*a->filters) * (size_t)(n + 1));
	if (!a->filters)
		return false;
	for (at = at ? at : 1; at < n; at++)
		a->filters[a->filter_count++] = slice_of(words[at]);
	return true;
}

bool tls_crt_list_line(struct tls_add *a, const char *text)
{
	const char *cert;

	return tls_crt_list_words(a, text, &cert) && (!cert || tls_bind_add_path(a, cert));
}

/* One line that is neither empty nor a comment. False: a->why. */
static bool take_line(struct conf_line *l, struct tls_add *a, const char *text)
{
	bool good = tls_crt_list_line(a, text);

	if (good && a->lost_names)
		conf_warn(l, l->at - 1, NULL, "'%s' : parsing [%s:%d]: names between the "
			  "certificate and its options do not count.", l->keyword->words, a->list,
			  a->line);
	return good;
}

bool tls_crt_list_read(struct conf_line *l, struct tls_add *a, const char *path)
{
	size_t len;
	char *text = file_load(path, 64 << 20, &len), *p = text, *next;
	struct tls_add one = *a;
	int line = 0;

	if (!text) {
		snprintf(a->why, sizeof(a->why), "cannot open file '%s' : %s", path,
			 strerror(errno));
		return false;
	}
	for (; p; p = next) {
		next = strchr(p, '\n');
		if (next)
			*next++ = 0;
		one.line = ++line;
		p += strspn(p, " \t\r");
		if (!*p || *p == '#')
			continue;
		one.list = path;
		if (!take_line(l, &one, p)) {
			snprintf(a->why, sizeof(a->why), "parsing [%s:%d]%s%.400s", path, line,
				 one.mark ? one.mark : ": ", one.why);
			break;
		}
	}
	free(text);
	return !*a->why;
}
