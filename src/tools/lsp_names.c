/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lsp_names.c - names of sections, ACLs and servers: their definitions and uses */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "codec/json.h"
#include "codec/json_text.h"
#include "lsp_priv.h"

const char *lsp_section(const struct source *s, const struct source_line *l)
{
	return l->section >= 0 ? source_word(&s->lines[l->section], 0) : "";
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
	const struct source *all;
	const struct source_line *made; /* of an ACL or a server: the line that makes it */
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
static const struct source_line *maker(const struct source *all, int section, const char *keyword,
				       struct slice name)
{
	for (int i = 0; i < all->count; i++)
		if (all->lines[i].section == section &&
		    is_made_here(&all->lines[i], keyword, name))
			return &all->lines[i];
	return NULL;
}

static bool is_same_line(const struct source_line *a, const struct source_line *b)
{
	return a->number == b->number && a->file == b->file;
}

/* Is an ACL or a server one of this section, too? So it is where the file that makes it is included
 * by both.
 */
static bool is_of_section(const struct symbol *s, int section)
{
	const char *keyword = s->sort == SORT_ACL ? "acl" : "server";
	const struct source_line *made;

	if (section == s->section)
		return true;
	if (section < 0 || !s->made || s->section < 0 ||
	    s->made->file == s->all->lines[s->section].file)
		return false;
	made = maker(s->all, section, keyword, s->name);
	return made && is_same_line(made, s->made);
}

static bool holds_proxies(const char *kind)
{
	return strcmp(kind, "backend") == 0 || strcmp(kind, "listen") == 0;
}

/* The section of a name; of several, the one that can be used by others: a backend. */
static const struct source_line *section_of(const struct source *all, struct slice name)
{
	const struct source_line *found = NULL;

	for (int i = 0; i < all->count; i++) {
		const struct source_line *l = &all->lines[i];

		if (l->kind == SOURCE_SECTION && word_is(l, 1, name) &&
		    (!found || holds_proxies(source_word(l, 0))))
			found = l;
	}
	return found;
}

static struct symbol symbol_at(const struct lsp_place *p)
{
	struct symbol s = { .sort = SORT_NONE, .all = p->all };
	const struct source_line *l = p->of_all;
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
	s.made = maker(p->all, l->section, "acl", s.name);
	if (s.made) {
		s.sort = SORT_ACL;
		return s;
	}
	s.made = maker(p->all, l->section, "server", s.name);
	if (s.made) {
		s.sort = SORT_SERVER;
	} else {
		made = section_of(p->all, s.name);
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
		return is_of_section(s, l->section) &&
		       ((i == 1 && source_begins(l, "acl")) || is_whole ||
			(before == '!' && w->end - at == (int)s->name.len) ||
			strstr(w->text, "acl("));
	if (s->sort == SORT_SERVER)
		return i == 1 && is_of_section(s, l->section) &&
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

/* Places of a name, each once: a file may be included twice. */
struct places {
	struct place {
		const struct source_line *line;
		int at;
		bool is_told;
	} *list;                     /* owned */
	int count, room;
};

static bool has_place(const struct places *all, const struct source_line *l, int at)
{
	for (int i = 0; i < all->count; i++)
		if (all->list[i].at == at && is_same_line(all->list[i].line, l))
			return true;
	return false;
}

static void add_place(struct places *all, const struct symbol *s, const struct source_line *l,
		      int at)
{
	/* only where there are several files can a line be there twice */
	if (l->file != s->all->lines[0].file && has_place(all, l, at))
		return;
	if (all->count == all->room) {
		int room = all->room ? all->room * 2 : 16;
		struct place *bigger = realloc(all->list, (size_t)room * sizeof(*bigger));

		if (!bigger)
			return;
		all->list = bigger;
		all->room = room;
	}
	all->list[all->count++] = (struct place){ .line = l, .at = at };
}

/* Where the symbol stands. free() the list. */
static struct places find_places(const struct symbol *s)
{
	struct places all = { .list = NULL };

	for (int i = 0; s->sort && i < s->all->count; i++) {
		const struct source_line *l = &s->all->lines[i];

		for (int at = next_place(s, l, 0); at >= 0;
		     at = next_place(s, l, at + (int)s->name.len))
			add_place(&all, s, l, at);
	}
	return all;
}

/* --- requests -------------------------------------------------------------------------------- */

static void put_uri(struct lsp *x, struct strbuf *out, const char *path)
{
	struct strbuf uri;

	strbuf_init(&uri);
	lsp_put_uri(x, path, &uri);
	json_put_string(out, strbuf_slice(&uri));
	strbuf_fini(&uri);
}

static void put_location(struct lsp *x, struct strbuf *out, const struct place *p,
			 const struct symbol *s)
{
	strbuf_add_str(out, "{\"uri\":");
	put_uri(x, out, p->line->file);
	strbuf_add_str(out, ",\"range\":");
	lsp_put_range(x, out, p->line, p->at, p->at + (int)s->name.len);
	strbuf_add_char(out, '}');
}

static void put_locations(struct lsp *x, struct strbuf *out, struct places *all,
			  const struct symbol *s)
{
	strbuf_add_str(out, "[");
	for (int i = 0; i < all->count; i++) {
		strbuf_add_str(out, i ? "," : "");
		put_location(x, out, &all->list[i], s);
	}
	strbuf_add_str(out, "]");
	free(all->list);
}

static bool is_made_by(const struct symbol *s, const struct source_line *l)
{
	if (s->sort == SORT_SECTION)
		return l->kind == SOURCE_SECTION && word_is(l, 1, s->name) &&
		       strcmp(source_word(l, 0), s->kind) == 0;
	return is_made_here(l, s->sort == SORT_ACL ? "acl" : "server", s->name) &&
	       is_of_section(s, l->section);
}

void lsp_definition(struct lsp *x, struct slice params, struct strbuf *out)
{
	struct lsp_place p = lsp_place(x, params);
	struct places all = { .list = NULL };
	struct symbol s;

	lsp_family_open(x, &p);
	s = symbol_at(&p);
	for (int i = 0; s.sort && i < s.all->count; i++)
		if (is_made_by(&s, &s.all->lines[i]))
			add_place(&all, &s, &s.all->lines[i], s.all->lines[i].words[1].at);
	put_locations(x, out, &all, &s);
	lsp_family_close(&p);
}

void lsp_references(struct lsp *x, struct slice params, struct strbuf *out)
{
	struct lsp_place p = lsp_place(x, params);
	struct places all;
	struct symbol s;

	lsp_family_open(x, &p);
	s = symbol_at(&p);
	all = find_places(&s);
	put_locations(x, out, &all, &s);
	lsp_family_close(&p);
}

/* The edits of the file that place <i> is of. */
static void put_edits(struct lsp *x, struct strbuf *out, struct places *all, int i,
		      const struct symbol *s, struct slice name)
{
	const char *file = all->list[i].line->file, *comma = "";

	put_uri(x, out, file);
	strbuf_add_str(out, ":[");
	for (; i < all->count; i++) {
		struct place *p = &all->list[i];

		if (p->is_told || p->line->file != file)
			continue;
		p->is_told = true;
		strbuf_printf(out, "%s{\"range\":", comma);
		lsp_put_range(x, out, p->line, p->at, p->at + (int)s->name.len);
		strbuf_add_str(out, ",\"newText\":");
		json_put_string(out, name);
		strbuf_add_char(out, '}');
		comma = ",";
	}
	strbuf_add_str(out, "]");
}

/* Nothing is appended where nothing can be renamed. */
void lsp_rename(struct lsp *x, struct slice params, struct strbuf *out)
{
	struct lsp_place p = lsp_place(x, params);
	struct slice name = slice_none();
	const char *comma = "";
	struct places all;
	struct symbol s;
	bool good;

	lsp_family_open(x, &p);
	s = symbol_at(&p);
	good = s.sort && json_find(params, SLICE("$.newName"), &name) == JSON_STRING && name.len;
	for (size_t i = 0; i < name.len; i++)
		good = good && is_name_char(name.ptr[i]);
	if (good) {
		all = find_places(&s);
		strbuf_add_str(out, "{\"changes\":{");
		for (int i = 0; i < all.count; i++) {
			if (all.list[i].is_told)
				continue;
			strbuf_add_str(out, comma);
			put_edits(x, out, &all, i, &s, name);
			comma = ",";
		}
		strbuf_add_str(out, "}}");
		free(all.list);
	}
	lsp_family_close(&p);
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
