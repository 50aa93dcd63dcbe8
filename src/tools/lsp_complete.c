/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lsp_complete.c - completion at a position, and the meaning of a word */
#include <string.h>
#include "codec/json_text.h"
#include "lsp_priv.h"

/* Of LSP: CompletionItemKind. */
enum item {
	ITEM_FUNCTION = 3,
	ITEM_VARIABLE = 6,
	ITEM_MODULE = 9,
	ITEM_KEYWORD = 14,
	ITEM_REFERENCE = 18
};

struct completion {
	struct lsp *x;
	struct lsp_place place;
	const struct source_line
		*line; /* cut at the cursor: its last word is the one being typed */
	struct source cut;
	struct strbuf *out;
	const char *section;
	int index; /* of the word being typed */
	int from;  /* where what is replaced begins */
	int count; /* items so far */
	const char *typed;
};

static void put_item(struct completion *c, const char *label, enum item kind, const char *detail,
		     const char *help)
{
	struct strbuf *b = c->out;

	if (strncmp(label, c->typed, strlen(c->typed)) != 0)
		return;
	strbuf_add_str(b, c->count++ ? ",{\"label\":" : "{\"label\":");
	json_put_string(b, slice_of(label));
	strbuf_printf(b, ",\"kind\":%d,\"textEdit\":{\"range\":", kind);
	lsp_put_range(c->x, b, c->place.line, c->from, c->place.at);
	strbuf_add_str(b, ",\"newText\":");
	json_put_string(b, slice_of(label));
	strbuf_add_char(b, '}');
	if (detail && *detail) {
		strbuf_add_str(b, ",\"detail\":");
		json_put_string(b, slice_of(detail));
	}
	if (help && *help) {
		strbuf_add_str(b, ",\"documentation\":");
		json_put_string(b, slice_of(help));
	}
	strbuf_add_char(b, '}');
}

static void put_records(struct completion *c, const char *kind, enum item item)
{
	for (int i = 0; i < c->x->word_count; i++) {
		const struct lsp_record *r = &c->x->words[i];

		if (strcmp(r->kind, kind) == 0)
			put_item(c, r->name, item, r->syntax, r->help);
	}
}

/* What is left of <name> behind the words that stand before the one being typed; NULL: another
 * name.
 */
static const char *rest_of(const struct completion *c, int from, const char *name)
{
	for (int i = from; i < c->index; i++) {
		size_t len = strlen(source_word(c->line, i));

		if (strncmp(name, source_word(c->line, i), len) != 0 || name[len] != ' ')
			return NULL;
		name += len + 1;
	}
	return name;
}

/* Keywords of <where> whose first words are those from word <from> on. */
static void put_keywords(struct completion *c, const char *where, int from)
{
	for (int i = 0; i < c->x->word_count; i++) {
		const struct lsp_record *r = &c->x->words[i];
		const char *rest;

		if (strcmp(r->kind, "keyword") != 0 || !lsp_lists(r->where, where) ||
		    lsp_lists(r->notes, "refused"))
			continue;
		rest = rest_of(c, from, r->name);
		if (rest)
			put_item(c, rest, ITEM_KEYWORD, r->syntax, r->help);
	}
}

/* Actions of the list of rules that the line belongs to. */
static void put_actions(struct completion *c)
{
	char list[64];
	struct strbuf name;

	strbuf_init_fixed(&name, list, sizeof(list));
	strbuf_add_str(&name, source_word(c->line, 0));
	if (c->index == 2)
		strbuf_printf(&name, " %s", source_word(c->line, 1));
	for (int i = 0; i < c->x->word_count && (c->index == 1 || c->index == 2); i++) {
		const struct lsp_record *r = &c->x->words[i];

		if (strcmp(r->kind, "action") == 0 && lsp_lists(r->where, list))
			put_item(c, r->name, ITEM_FUNCTION, r->syntax, r->help);
	}
}

/* Names of sections of these kinds. */
static void put_sections(struct completion *c, const char *kinds)
{
	const struct source *s = c->place.all;

	for (int i = 0; i < s->count; i++) {
		const struct source_line *l = &s->lines[i];

		if (l->kind == SOURCE_SECTION && l->count > 1 &&
		    lsp_lists(kinds, source_word(l, 0)))
			put_item(c, source_word(l, 1), ITEM_MODULE, source_word(l, 0), NULL);
	}
}

/* Second words of the lines of this section that begin with <keyword>: ACLs, servers. */
static void put_names(struct completion *c, const char *keyword)
{
	const struct source *s = c->place.all;

	for (int i = 0; i < s->count; i++) {
		const struct source_line *l = &s->lines[i];

		if (l->kind == SOURCE_KEYWORD && l->section == c->place.of_all->section &&
		    l->count > 1 && l != c->place.of_all && source_begins(l, keyword))
			put_item(c, source_word(l, 1), ITEM_REFERENCE, keyword, NULL);
	}
}

/* --- where ----------------------------------------------------------------------------------- */

/* Moves <from> to the last part of an expression that is being typed. True: a converter's place. */
static bool enter_expression(struct completion *c)
{
	size_t len = strlen(c->typed), at = len;
	bool converter = false;
	int depth = 0;

	while (at && !(c->typed[at - 1] == '[' || (c->typed[at - 1] == ',' && !depth))) {
		depth += (c->typed[at - 1] == ')') - (c->typed[at - 1] == '(');
		if (depth < 0)
			return false;
		at--;
	}
	converter = at && c->typed[at - 1] == ',';
	c->typed += at;
	c->from = c->place.at - (int)(len - at);
	return converter;
}

static void put_expression(struct completion *c)
{
	if (enter_expression(c)) {
		put_records(c, "converter", ITEM_FUNCTION);
		return;
	}
	put_records(c, "fetch", ITEM_FUNCTION);
	put_records(c, "acl", ITEM_FUNCTION);
}

/* Within a condition: ACLs, or fetches between braces. False: the cursor is in none. */
static bool put_condition(struct completion *c)
{
	bool inside = false, braced = false;

	for (int i = 1; i < c->index; i++) {
		const char *word = source_word(c->line, i);

		inside |= strcmp(word, "if") == 0 || strcmp(word, "unless") == 0;
		braced = strcmp(word, "{") == 0 || strcmp(word, "!{") == 0 ||
			 (braced && strcmp(word, "}"));
	}
	if (!inside)
		return false;
	if (braced) {
		put_expression(c);
		return true;
	}
	if (*c->typed == '!') {
		c->typed++;
		c->from++;
	}
	put_names(c, "acl");
	for (const char *const *name =
		     (const char *const[]){ "{", "or", "TRUE", "FALSE", "METH_GET", "METH_POST",
					    "HTTP", "LOCALHOST", NULL };
	     *name; name++)
		put_item(c, *name, ITEM_VARIABLE, NULL, NULL);
	return true;
}

/* Names that stand behind certain words. */
static bool put_references(struct completion *c)
{
	static const struct {
		const char *word, *kinds;
	} behind[] = {
		{ "use_backend", "backend,listen" },
		{ "default_backend", "backend,listen" },
		{ "from", "defaults" },
		{ "use-ruleset", "ruleset" },
		{ "resolvers", "resolvers" },
		{ "table", "backend,frontend,listen" },
		{ "peers", "peers" },
		{ "cache-use", "cache" },
		{ "cache-store", "cache" },
		{ "errorfiles", "http-errors" },
		{ "profile", "log-profile" },
		{ "use-fcgi-app", "fcgi-app" },
	};
	const char *before = source_word(c->line, c->index - 1);

	if (source_begins(c->line, "route from") && c->index == 2) {
		put_sections(c, "frontend,listen");
		return true;
	}
	if (source_begins(c->line, "use_backends") && c->index <= lsp_shares_end(c->line)) {
		put_sections(c, "backend,listen");
		return false; /* or 'by' */
	}
	for (size_t i = 0; i < sizeof(behind) / sizeof(*behind); i++)
		if (strcmp(before, behind[i].word) == 0) {
			put_sections(c, behind[i].kinds);
			return true;
		}
	return false;
}

static void put_first(struct completion *c)
{
	static const char *const directives[] = { ".if",      ".elif",	  ".else",
						  ".endif",   ".include", ".notice",
						  ".warning", ".alert",	  ".diag" };

	for (size_t i = 0; i < sizeof(directives) / sizeof(*directives); i++)
		put_item(c, directives[i], ITEM_KEYWORD, NULL, NULL);
	put_records(c, "section", ITEM_MODULE);
	if (*c->section)
		put_keywords(c, c->section, 0);
}

static void put_options(struct completion *c)
{
	const char *word = source_word(c->line, 0);

	if (strcmp(word, "bind") == 0 && c->index >= 2)
		put_keywords(c, "bind", c->index);
	else if ((strcmp(word, "server") == 0 && c->index >= 3) ||
		 strcmp(word, "default-server") == 0 ||
		 (strcmp(word, "server-template") == 0 && c->index >= 4))
		put_keywords(c, "server", c->index);
	else if (strcmp(word, "filter") == 0 && c->index == 1)
		put_records(c, "filter", ITEM_MODULE);
	else if (strcmp(word, "use-server") == 0 && c->index == 1)
		put_names(c, "server");
	else if (strcmp(word, "acl") == 0 && c->index == 2)
		put_expression(c);
}

static void put_all(struct completion *c)
{
	int no = strcmp(source_word(c->line, 0), "no") == 0;

	if (c->index == 0) {
		put_first(c);
		return;
	}
	if (strstr(c->typed, "%[") && !strchr(strrchr(c->typed, '['), ']')) {
		put_expression(c);
		return;
	}
	if (put_condition(c) || put_references(c))
		return;
	if (*c->section)
		put_keywords(c, c->section, no);
	put_actions(c);
	put_options(c);
}

/* The place behind the last line end is one of an empty line, which <behind> becomes. */
static void settle(struct lsp_place *p, struct source_line *behind)
{
	const struct source_line *last = p->line ? NULL : lsp_family_end(p);

	if (!p->line) {
		*behind = (struct source_line){ .raw = { "", 0 }, .section = -1 };
		behind->number = p->document->source.count + 1;
		behind->section = last ? last->section : -1;
		p->line = p->of_all = behind;
		p->at = 0;
	} else if (!p->of_all) {
		p->of_all = p->line;
	}
}

void lsp_complete(struct lsp *x, struct slice params, struct strbuf *out)
{
	struct completion c = { .x = x, .place = lsp_place(x, params), .out = out };
	static const struct source_line empty = { .raw = { "", 0 }, .section = -1 };
	struct source_line behind;
	struct slice before;

	if (!c.place.document)
		return;
	lsp_family_open(x, &c.place);
	settle(&c.place, &behind);
	before = slice_sub(c.place.line->raw, 0, (size_t)c.place.at);
	source_init(&c.cut);
	source_add(&c.cut, "", before.len ? before : SLICE(" "));
	c.line = c.cut.count ? &c.cut.lines[0] : &empty;
	c.section = lsp_section(c.place.all, c.place.of_all);
	c.index = c.line->count;
	c.from = c.place.at;
	c.typed = "";
	if (c.line->count && c.line->words[c.line->count - 1].end == c.place.at) {
		c.index--;
		c.from = c.line->words[c.index].at;
		c.typed = source_word(c.line, c.index);
	}
	strbuf_add_str(out, "[");
	if (c.line->comment < 0)
		put_all(&c);
	strbuf_add_str(out, "]");
	source_fini(&c.cut);
	lsp_family_close(&c.place);
}

/* --- hover ----------------------------------------------------------------------------------- */

static void put_meaning(struct strbuf *b, const struct lsp_record *r)
{
	strbuf_printf(b, "%s**%s** `%s%s%s`\n", b->len ? "\n\n" : "", r->kind, r->name,
		      *r->syntax ? " " : "", r->syntax);
	if (*r->help)
		strbuf_printf(b, "\n%s\n", r->help);
	if (*r->where)
		strbuf_printf(b, "\n%s %s\n",
			      strcmp(r->kind, "keyword") == 0 || strcmp(r->kind, "action") == 0
				      ? "In"
				      : "Type",
			      r->where);
	if (*r->notes)
		strbuf_printf(b, "\n%s\n", r->notes);
	if (*r->hint)
		strbuf_printf(b, "\n%s\n", r->hint);
}

/* The word at <at>: its index; -1: none. */
static int word_at(const struct source_line *l, int at)
{
	for (int i = 0; i < l->count; i++)
		if (l->words[i].at <= at && at <= l->words[i].end)
			return i;
	return -1;
}

/* What a name within an expression means, or an option of the line. */
static void put_name(struct lsp *x, struct strbuf *b, const struct source_line *l, int word, int at)
{
	static const char *const kinds[] = { "fetch", "converter", "acl" };
	struct slice name = lsp_name_at(l, at);
	const char *place = source_begins(l, "bind") ? "bind" : "server";
	const char *text = source_word(l, word);

	for (int i = 0; i < x->word_count; i++) {
		const struct lsp_record *r = &x->words[i];
		bool is_option = strcmp(r->kind, "keyword") == 0 && lsp_lists(r->where, place) &&
				 (*place == 'b' || strstr(source_word(l, 0), "server"));
		bool is_action = strcmp(r->kind, "action") == 0 && word <= 2 &&
				 strstr(r->where, source_word(l, 0));

		if ((is_option || is_action) && strcmp(r->name, text) == 0) {
			put_meaning(b, r);
			return;
		}
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds) && name.len; i++) {
		const struct lsp_record *r = lsp_word(x, kinds[i], name.ptr, name.len);

		if (r)
			put_meaning(b, r);
	}
}

void lsp_hover(struct lsp *x, struct slice params, struct strbuf *out)
{
	struct lsp_place p = lsp_place(x, params);
	int word = p.line ? word_at(p.line, p.at) : -1, used;
	const struct lsp_record *r;
	struct strbuf text;

	if (word < 0)
		return;
	lsp_family_open(x, &p);
	strbuf_init(&text);
	if (p.line->kind == SOURCE_SECTION && word == 0) {
		r = lsp_word(x, "section", source_word(p.line, 0), strlen(source_word(p.line, 0)));
		if (r)
			put_meaning(&text, r);
	} else {
		r = lsp_keyword(x, p.line, lsp_section(p.all, p.of_all ? p.of_all : p.line),
				&used);
		if (r && word < used)
			put_meaning(&text, r);
		else
			put_name(x, &text, p.line, word, p.at);
	}
	if (text.len) {
		strbuf_add_str(out, "{\"contents\":{\"kind\":\"markdown\",\"value\":");
		json_put_string(out, slice_trim(strbuf_slice(&text)));
		strbuf_add_str(out, "},\"range\":");
		lsp_put_range(x, out, p.line, p.line->words[word].at, p.line->words[word].end);
		strbuf_add_char(out, '}');
	}
	strbuf_fini(&text);
	lsp_family_close(&p);
}
