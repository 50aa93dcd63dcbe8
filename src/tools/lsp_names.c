/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lsp_names.c - names of sections, ACLs and servers: where they are made, where they are used */
#include <ctype.h>
#include <string.h>
#include "codec/json.h"
#include "codec/json_text.h"
#include "lsp_priv.h"

const char *lsp_section(const struct lsp_document *d, const struct source_line *l)
{
	return l->section >= 0 ? source_word(&d->source.lines[l->section], 0) : "";
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.' || c == ':';
}

/* Where the name "canary" of "canary:5" ends, which is read up to <to>: before its weight. */
static int name_end(const struct source_line *l, int from, int to)
{
	int colon = to;

	while (colon > from && l->raw.ptr[colon - 1] != ':')
		colon--;
	return source_begins(l, "use_backends") && colon > from ? colon - 1 : to;
}

struct slice lsp_name_at(const struct source_line *l, int at)
{
	int from = at, to = at;

	while (from > 0 && is_name_char(l->raw.ptr[from - 1]))
		from--;
	while ((size_t)to < l->raw.len && is_name_char(l->raw.ptr[to]))
		to++;
	return slice_sub(l->raw, (size_t)from, (size_t)name_end(l, from, to));
}

/* --- what a name is -------------------------------------------------------------------------- */

enum sort { SORT_NONE, SORT_ACL, SORT_SERVER, SORT_SECTION };

/* A name, and whose it is. */
struct symbol {
	enum sort sort;
	struct slice name;
	int section;	  /* of an ACL or a server */
	const char *kind; /* of a section: "backend" */
};

static bool word_is(const struct source_line *l, int i, struct slice name)
{
	return slice_eq(slice_of(source_word(l, i)), name);
}

static bool is_made_here(const struct source_line *l, const char *keyword, struct slice name)
{
	return l->kind == SOURCE_KEYWORD && source_begins(l, keyword) && word_is(l, 1, name);
}

/* The line that makes an ACL or a server of this section. */
static const struct source_line *maker(const struct lsp_document *d, int section,
				       const char *keyword, struct slice name)
{
	for (int i = 0; i < d->source.count; i++)
		if (d->source.lines[i].section == section &&
		    is_made_here(&d->source.lines[i], keyword, name))
			return &d->source.lines[i];
	return NULL;
}

static bool holds_proxies(const char *kind)
{
	return strcmp(kind, "backend") == 0 || strcmp(kind, "listen") == 0;
}

/* The section of a name; of several, the one that can be used by others: a backend. */
static const struct source_line *section_of(const struct lsp_document *d, struct slice name)
{
	const struct source_line *found = NULL;

	for (int i = 0; i < d->source.count; i++) {
		const struct source_line *l = &d->source.lines[i];

		if (l->kind == SOURCE_SECTION && word_is(l, 1, name) &&
		    (!found || holds_proxies(source_word(l, 0))))
			found = l;
	}
	return found;
}

static struct symbol symbol_at(const struct lsp_place *p)
{
	struct symbol s = { .sort = SORT_NONE };
	const struct source_line *l = p->line;
	const struct source_line *made;

	if (!l || (l->comment >= 0 && p->at > l->comment))
		return s;
	s.name = lsp_name_at(l, p->at);
	s.section = l->section;
	if (!s.name.len)
		return s;
	if (l->kind == SOURCE_SECTION) {
		s.sort = word_is(l, 1, s.name) || lsp_lists("from", source_word(l, 2))
				 ? SORT_SECTION
				 : SORT_NONE;
		s.kind = word_is(l, 1, s.name) ? source_word(l, 0) : "defaults";
		return s;
	}
	if (maker(p->document, l->section, "acl", s.name)) {
		s.sort = SORT_ACL;
	} else if (maker(p->document, l->section, "server", s.name)) {
		s.sort = SORT_SERVER;
	} else {
		made = section_of(p->document, s.name);
		s.sort = made ? SORT_SECTION : SORT_NONE;
		s.kind = made ? source_word(made, 0) : "";
	}
	return s;
}

/* --- where it stands ------------------------------------------------------------------------- */

/* Words behind which names of sections stand, and the kinds of these. */
static const struct {
	const char *word, *kinds;
} behind[] = {
	{ "use_backend", "backend,listen" },
	{ "default_backend", "backend,listen" },
	{ "from", "defaults" },
	{ "use-ruleset", "ruleset" },
	{ "resolvers", "resolvers" },
	{ "peers", "peers" },
	{ "table", "backend,frontend,listen,peers" },
	{ "cache-use", "cache" },
	{ "cache-store", "cache" },
	{ "cache", "cache" },
	{ "errorfiles", "http-errors" },
	{ "profile", "log-profile" },
	{ "use-fcgi-app", "fcgi-app" },
	{ "track", "backend,listen" },
	{ "mailers", "mailers" },
};

int lsp_shares_end(const struct source_line *l)
{
	int i = 1;

	while (i < l->count && !lsp_lists("by,if,unless", source_word(l, i)))
		i++;
	return i;
}

/* Does a name that begins at byte <at> of word <i> mean the symbol? */
static bool means(const struct symbol *s, const struct source_line *l, int i, int at)
{
	const struct source_word *w = &l->words[i];
	char before = at > 0 ? l->raw.ptr[at - 1] : ' ';
	bool is_whole = word_is(l, i, s->name);

	if (s->sort == SORT_ACL)
		return l->section == s->section &&
		       ((i == 1 && source_begins(l, "acl")) || is_whole ||
			(before == '!' && w->end - at == (int)s->name.len) ||
			strstr(w->text, "acl("));
	if (s->sort == SORT_SERVER)
		return l->section == s->section && i == 1 &&
		       (source_begins(l, "server") || source_begins(l, "use-server")) && is_whole;
	if (l->kind == SOURCE_SECTION && i == 1)
		return is_whole && strcmp(source_word(l, 0), s->kind) == 0;
	if (l->kind == SOURCE_KEYWORD && source_begins(l, "route from"))
		return i == 2 && lsp_lists("frontend,listen", s->kind);
	if (source_begins(l, "use_backends") && lsp_lists("backend,listen", s->kind))
		return i < lsp_shares_end(l);
	for (size_t k = 0; k < sizeof(behind) / sizeof(*behind); k++)
		if (i && strcmp(source_word(l, i - 1), behind[k].word) == 0 &&
		    lsp_lists(behind[k].kinds, s->kind))
			return true;
	/* an argument of a fetch: nbsrv(name), srv_is_up(name/server), http_auth(name) */
	return strcmp(s->kind, "defaults") != 0 && (before == '(' || before == ',') &&
	       (size_t)at + s->name.len < l->raw.len &&
	       strchr(",)/", l->raw.ptr[at + (int)s->name.len]);
}

/* Is it the colon before the weight of a backend? */
static bool is_weight_behind(const struct source_line *l, int i, int at)
{
	return source_begins(l, "use_backends") && l->raw.ptr[at] == ':' &&
	       !memchr(l->raw.ptr + at + 1, ':', (size_t)(l->words[i].end - at - 1));
}

/* The next place of a name in a line, from byte <at> on; -1: none. */
static int next_place(const struct symbol *s, const struct source_line *l, int at)
{
	for (int i = 0; i < l->count; i++) {
		const struct source_word *w = &l->words[i];

		for (int k = w->at > at ? w->at : at; k + (int)s->name.len <= w->end; k++) {
			int end = k + (int)s->name.len;

			if (memcmp(l->raw.ptr + k, s->name.ptr, s->name.len) != 0 ||
			    (k > 0 && is_name_char(l->raw.ptr[k - 1])) ||
			    ((size_t)end < l->raw.len && is_name_char(l->raw.ptr[end]) &&
			     !is_weight_behind(l, i, end)))
				continue;
			if (means(s, l, i, k))
				return k;
		}
	}
	return -1;
}

typedef void place_fn(struct lsp *x, struct strbuf *out, const struct source_line *l, int at,
		      const struct symbol *s, void *data);

static int each_place(struct lsp *x, const struct lsp_document *d, const struct symbol *s,
		      struct strbuf *out, place_fn *put, void *data)
{
	int count = 0;

	for (int i = 0; i < d->source.count; i++) {
		const struct source_line *l = &d->source.lines[i];

		for (int at = next_place(s, l, 0); at >= 0;
		     at = next_place(s, l, at + (int)s->name.len)) {
			strbuf_add_str(out, count++ ? "," : "");
			put(x, out, l, at, s, data);
		}
	}
	return count;
}

/* --- requests -------------------------------------------------------------------------------- */

static void put_location(struct lsp *x, struct strbuf *out, const struct source_line *l, int at,
			 const struct symbol *s, void *data)
{
	const struct lsp_document *d = data;

	strbuf_add_str(out, "{\"uri\":");
	json_put_string(out, slice_of(d->uri));
	strbuf_add_str(out, ",\"range\":");
	lsp_put_range(x, out, l, at, at + (int)s->name.len);
	strbuf_add_char(out, '}');
}

void lsp_definition(struct lsp *x, struct slice params, struct strbuf *out)
{
	struct lsp_place p = lsp_place(x, params);
	struct symbol s = symbol_at(&p);
	const char *keyword = s.sort == SORT_ACL ? "acl" : "server";
	int count = 0;

	strbuf_add_str(out, "[");
	for (int i = 0; s.sort && i < p.document->source.count; i++) {
		const struct source_line *l = &p.document->source.lines[i];
		bool is_made =
			s.sort == SORT_SECTION
				? l->kind == SOURCE_SECTION && word_is(l, 1, s.name) &&
					  strcmp(source_word(l, 0), s.kind) == 0
				: l->section == s.section && is_made_here(l, keyword, s.name);

		if (is_made) {
			strbuf_add_str(out, count++ ? "," : "");
			put_location(x, out, l, l->words[1].at, &s, p.document);
		}
	}
	strbuf_add_str(out, "]");
}

void lsp_references(struct lsp *x, struct slice params, struct strbuf *out)
{
	struct lsp_place p = lsp_place(x, params);
	struct symbol s = symbol_at(&p);

	strbuf_add_str(out, "[");
	if (s.sort)
		each_place(x, p.document, &s, out, put_location, p.document);
	strbuf_add_str(out, "]");
}

static void put_edit(struct lsp *x, struct strbuf *out, const struct source_line *l, int at,
		     const struct symbol *s, void *data)
{
	const struct slice *name = data;

	strbuf_add_str(out, "{\"range\":");
	lsp_put_range(x, out, l, at, at + (int)s->name.len);
	strbuf_add_str(out, ",\"newText\":");
	json_put_string(out, *name);
	strbuf_add_char(out, '}');
}

/* Nothing is appended where nothing can be renamed. */
void lsp_rename(struct lsp *x, struct slice params, struct strbuf *out)
{
	struct lsp_place p = lsp_place(x, params);
	struct symbol s = symbol_at(&p);
	struct slice name = slice_none();
	bool good =
		s.sort && json_find(params, SLICE("$.newName"), &name) == JSON_STRING && name.len;

	for (size_t i = 0; i < name.len; i++)
		good = good && is_name_char(name.ptr[i]);
	if (!good)
		return;
	strbuf_add_str(out, "{\"changes\":{");
	json_put_string(out, slice_of(p.document->uri));
	strbuf_add_str(out, ":[");
	each_place(x, p.document, &s, out, put_edit, &name);
	strbuf_add_str(out, "]}}");
}

/* --- symbols --------------------------------------------------------------------------------- */

/* The last line of the section that begins at <i>. */
static int section_end(const struct source *s, int i)
{
	int end = i;

	for (int k = i + 1; k < s->count && s->lines[k].section == i; k++)
		if (s->lines[k].kind != SOURCE_BLANK && s->lines[k].kind != SOURCE_COMMENT)
			end = k;
	return end;
}

void lsp_symbols(struct lsp *x, struct slice params, struct strbuf *out)
{
	struct slice uri = slice_none();
	struct lsp_document *d;
	int count = 0;

	json_find(params, SLICE("$.textDocument.uri"), &uri);
	d = lsp_find(x, uri);
	strbuf_add_str(out, "[");
	for (int i = 0; d && i < d->source.count; i++) {
		const struct source_line *l = &d->source.lines[i];
		const struct source_line *last = &d->source.lines[section_end(&d->source, i)];

		if (l->kind != SOURCE_SECTION)
			continue;
		strbuf_add_str(out, count++ ? ",{\"name\":" : "{\"name\":");
		json_put_string(out,
				slice_of(l->count > 1 ? source_word(l, 1) : source_word(l, 0)));
		strbuf_add_str(out, ",\"kind\":2,\"detail\":");
		json_put_string(out, slice_of(source_word(l, 0)));
		strbuf_printf(out,
			      ",\"range\":{\"start\":{\"line\":%d,\"character\":0},\"end\":"
			      "{\"line\":%d,\"character\":%d}},\"selectionRange\":",
			      l->number - 1, last->number - 1,
			      lsp_characters(x, last->raw, (int)last->raw.len));
		lsp_put_range(x, out, l, l->words[l->count > 1].at, l->words[l->count > 1].end);
		strbuf_add_char(out, '}');
	}
	strbuf_add_str(out, "]");
}
