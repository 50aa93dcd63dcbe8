/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lint_dead.c - unused objects: sections, ACLs, variables, tables, checks
 *
 * A name counts as used if any other line has it as a separate word: a script or a file that is not
 * read may use it, too, so objects that might be in use are not reported.
 */
#include <string.h>
#include "base/strbuf.h"
#include "lint_priv.h"

static bool any_line(const struct lint *x, const char *words)
{
	for (int i = 0; i < x->source.count; i++)
		if (source_begins(&x->source.lines[i], words))
			return true;
	return false;
}

/* Are backends chosen by names that only requests tell? */
static bool backends_are_dynamic(const struct lint *x)
{
	for (int i = 0; i < x->source.count; i++) {
		const struct source_line *l = &x->source.lines[i];

		if (source_begins(l, "use_backend") && strstr(source_word(l, 1), "%["))
			return true;
	}
	return any_line(x, "lua-load") || any_line(x, "lua-load-per-thread");
}

/* Does the backend ask for requests by itself? */
static bool has_route(const struct lint *x, int section)
{
	for (int i = lint_next(x, section, section); i >= 0; i = lint_next(x, section, i))
		if (source_begins(&x->source.lines[i], "route"))
			return true;
	return false;
}

/* <dynamic>: see backends_are_dynamic(), which goes through all lines. */
static void look_at_section(struct lint *x, int i, bool dynamic)
{
	static const char named[] = "userlist resolvers cache ring mailers http-errors fcgi-app "
				    "crt-store log-profile peers ruleset";
	const struct source_line *l = &x->source.lines[i];
	const char *name = source_word(l, 1);

	if (!*name)
		return;
	if (lint_is(x, i, "backend") && !dynamic && !has_route(x, i) &&
	    !lint_is_used(x, name, i, i))
		lint_say(x, LINT_UNUSED_BACKEND, l, 1, "nothing uses backend '%s'", name);
	if (lint_is(x, i, named) && !lint_is_used(x, name, i, i))
		lint_say(x, LINT_UNUSED_SECTION, l, 1, "nothing uses %s '%s'", source_word(l, 0),
			 name);
	if (lint_is(x, i, "defaults") && l->count == 2) {
		/* it also stands behind the proxies that follow, up to the next */
		int next = lint_next_section(x, i);

		if ((next < 0 || lint_is(x, next, "defaults")) && !lint_is_used(x, name, i, i))
			lint_say(x, LINT_UNUSED_DEFAULTS, l, 1,
				 "no section is made from defaults '%s'", name);
	}
}

/* Does a word of a condition name the ACL, or acl(a,b) one of several? */
static bool is_acl_use(const char *word, const char *name)
{
	word += strspn(word, "!");
	return strcmp(word, name) == 0 || (strstr(word, "acl(") && lint_names(word, name));
}

static void look_at_acl(struct lint *x, int i)
{
	const struct source_line *l = &x->source.lines[i];
	int only = lint_is(x, l->section, "defaults") ? -1 : l->section;
	const char *name = source_word(l, 1);

	const struct lint_name *at = lint_first_use(x, name, only < 0 ? 0 : only);

	for (; at; at = lint_next_use(x, name, at)) {
		const struct source_line *other = &x->source.lines[at->line];
		bool is_its_line = source_begins(other, "acl") && at->word == 1;

		if (only >= 0 && other->section != only)
			break; /* the lines of a section stand together */
		if (at->line == i)
			continue;
		if (!is_acl_use(source_word(other, at->word), name))
			continue;
		/* another line of the same ACL is no use, but told of is the first one only */
		if (!is_its_line || at->line < i)
			return;
	}
	lint_say(x, LINT_UNUSED_ACL, l, 1, "no condition uses the ACL '%s'", name);
}

/* "set-var(txn.name)": the name; false: it sets none. */
static bool variable_of(const char *word, struct strbuf *name)
{
	const char *open = strchr(word, '(');
	size_t len;

	if (!open || (strncmp(word, "set-var(", 8) != 0 && strncmp(word, "set-var-fmt(", 12) != 0))
		return false;
	len = strcspn(open + 1, ",)");
	strbuf_reset(name);
	return strbuf_add(name, slice_make(open + 1, len));
}

static void look_at_variables(struct lint *x, int i, struct strbuf *name)
{
	const struct source_line *l = &x->source.lines[i];

	for (int w = 1; w < l->count && w < 4; w++)
		if (variable_of(l->words[w].text, name) && !lint_is_used(x, name->ptr, -1, i))
			lint_say(x, LINT_UNUSED_VARIABLE, l, w, "nothing reads the variable '%s'",
				 name->ptr);
}

static void look_at_table(struct lint *x, int i)
{
	const struct source_line *l = &x->source.lines[i];
	const char *name = source_word(&x->source.lines[l->section], 1);

	if (!lint_is(x, l->section, "frontend listen backend"))
		return;
	for (int k = lint_next(x, l->section, l->section); k >= 0;
	     k = lint_next(x, l->section, k)) {
		const struct source_line *other = &x->source.lines[k];

		if (k == i)
			continue;
		if (source_begins(other, "stick"))
			return;
		for (int w = 1; w < other->count; w++)
			if (strncmp(other->words[w].text, "track-sc", 8) == 0 ||
			    strstr(other->words[w].text, "src_") ||
			    strstr(other->words[w].text, "table_"))
				return;
	}
	if (!lint_is_used(x, name, l->section, i))
		lint_say(x, LINT_UNUSED_TABLE, l, 0, "nothing is kept in the table of '%s'", name);
}

/* `option httpchk` or a `http-check` line, and no server that is checked. */
static void look_at_checks(struct lint *x, int section)
{
	const struct source_line *how = NULL;
	int servers = 0;

	for (int i = lint_next(x, section, section); i >= 0; i = lint_next(x, section, i)) {
		const struct source_line *l = &x->source.lines[i];
		const char *word = source_word(l, 0);

		if (source_begins(l, "option httpchk") || source_begins(l, "option tcp-check"))
			how = l;
		if (strcmp(word, "server") == 0 || strcmp(word, "server-template") == 0)
			servers++;
		if (strcmp(word, "server") == 0 || strncmp(word, "server-", 7) == 0 ||
		    strcmp(word, "default-server") == 0)
			if (lint_word(l, "check") > 0 || lint_word(l, "track") > 0)
				return;
	}
	if (how && servers && !lint_setting(x, section, "default-server"))
		lint_say(x, LINT_UNUSED_CHECK, how, 1, "no server of '%s' is checked",
			 source_word(&x->source.lines[section], 1));
}

void lint_dead(struct lint *x)
{
	bool scripts = any_line(x, "lua-load") || any_line(x, "lua-load-per-thread") ||
		       any_line(x, "filter spoe");
	bool dynamic = backends_are_dynamic(x);
	struct strbuf name;

	strbuf_init(&name);
	for (int i = lint_next_section(x, -1); i >= 0; i = lint_next_section(x, i)) {
		look_at_section(x, i, dynamic);
		if (lint_is(x, i, "backend listen"))
			look_at_checks(x, i);
	}
	for (int i = 0; i < x->source.count; i++) {
		const struct source_line *l = &x->source.lines[i];

		if (l->kind != SOURCE_KEYWORD)
			continue;
		if (source_begins(l, "acl") && l->count > 2)
			look_at_acl(x, i);
		if (!scripts)
			look_at_variables(x, i, &name);
		if (source_begins(l, "stick-table") && l->section >= 0)
			look_at_table(x, i);
	}
	strbuf_fini(&name);
}
