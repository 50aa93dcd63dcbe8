/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lint_rule.c - rules that are never reached, conditions that never hold, lines that say a thing
 * twice
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/hash.h"
#include "lint_priv.h"

/* --- lists of rules ---------------------------------------------------------------------- */

/* Where a list of rules begins, how many words that are, and its actions that end it. */
static const struct list_kind {
	const char *words;
	int count;
	const char *final; /* NULL: every rule */
} lists[] = {
	{ "http-request", 1,
	  "allow deny reject redirect return tarpit silent-drop auth use-service" },
	{ "http-response", 1, "allow deny redirect return silent-drop" },
	{ "http-after-response", 1, "allow" },
	{ "tcp-request connection", 2, "accept reject silent-drop" },
	{ "tcp-request session", 2, "accept reject" },
	{ "tcp-request content", 2, "accept reject silent-drop use-service" },
	{ "tcp-response content", 2, "accept close reject silent-drop" },
	{ "use_backend", 1, NULL },
	{ "redirect", 1, NULL },
};

#define LISTS ((int)(sizeof(lists) / sizeof(*lists)))

/* use_backend and use_backends stand in one list. */
static bool is_of(const struct source_line *l, const struct list_kind *list)
{
	return source_begins(l, list->words) ||
	       (list->words[0] == 'u' && source_begins(l, "use_backends"));
}

static const struct list_kind *list_of(const struct source_line *l)
{
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		if (is_of(l, &lists[i]))
			return &lists[i];
	return NULL;
}

/* Does the rule end its list where its condition holds? Not so where .if decides whether it is
 * there.
 */
static bool is_final(const struct source_line *l, const struct list_kind *list)
{
	if (l->depth)
		return false;
	if (list->final)
		return lint_names(list->final, source_word(l, list->count));
	/* a name that the request tells may be that of no backend */
	return !strstr(source_word(l, 1), "%[");
}

static bool always_holds(const struct source_line *l)
{
	int at = lint_condition(l);

	return at == l->count ||
	       (at + 2 == l->count &&
		strcmp(l->words[at + 1].text, l->words[at].text[0] == 'i' ? "TRUE" : "FALSE") == 0);
}

static bool same_words(const struct source_line *a, int from_a, const struct source_line *b,
		       int from_b)
{
	if (a->count - from_a != b->count - from_b)
		return false;
	for (int i = from_a; i < a->count; i++)
		if (strcmp(a->words[i].text, b->words[i - from_a + from_b].text) != 0)
			return false;
	return true;
}

/* A condition of a final rule, with the list that it is in; line: its index from 1, 0: free. */
struct seen {
	uint64_t key;
	int line;
};

/* The lists of a section, rule by rule. */
struct walk {
	const struct source_line *always[LISTS]; /* ends the list for every request; NULL: none */
	/* Rules with nothing but final ones between them are a run; its number is part of keys. */
	unsigned run[LISTS], runs;
	struct seen *seen; /* owned: of all runs */
	size_t mask;
};

static bool walk_init(struct walk *w, int lines)
{
	size_t room = 64;

	while (room < (size_t)lines * 2)
		room *= 2;
	*w = (struct walk){ .seen = calloc(room, sizeof(*w->seen)), .mask = room - 1 };
	return w->seen != NULL;
}

static void walk_section(struct walk *w)
{
	for (int i = 0; i < LISTS; i++) {
		w->always[i] = NULL;
		w->run[i] = ++w->runs;
	}
}

/* The first rule of the run with the condition of rule <i>; NULL: it is that, and is remembered. */
static const struct source_line *same_condition(const struct lint *x, struct walk *w, int i,
						unsigned run)
{
	const struct source_line *l = &x->source.lines[i];
	int at = lint_condition(l);
	uint64_t key = run;
	size_t slot;

	for (int k = at; k < l->count; k++)
		key = hash_bytes(l->words[k].text, strlen(l->words[k].text) + 1, key);
	for (slot = key & w->mask; w->seen[slot].line; slot = (slot + 1) & w->mask) {
		const struct source_line *other = &x->source.lines[w->seen[slot].line - 1];

		if (w->seen[slot].key == key && same_words(other, lint_condition(other), l, at))
			return other;
	}
	w->seen[slot] = (struct seen){ .key = key, .line = i + 1 };
	return NULL;
}

static void look_at_default(struct lint *x, const struct source_line *l)
{
	const struct source_line *dead = NULL;

	for (int k = lint_next(x, l->section, l->section); k >= 0; k = lint_next(x, l->section, k))
		if (source_begins(&x->source.lines[k], "default_backend"))
			dead = &x->source.lines[k];
	if (dead)
		lint_say(x, LINT_DEFAULT_BACKEND_DEAD, dead, 0,
			 "line %d takes every request: the default backend gets none", l->number);
}

/* Does a rule before this one of its list leave it nothing? */
static void look_before(struct lint *x, struct walk *w, int i, const struct list_kind *list)
{
	const struct source_line *l = &x->source.lines[i], *same = NULL;
	size_t n = (size_t)(list - lists);
	bool final = is_final(l, list), always = always_holds(l);

	if (w->always[n])
		lint_say(x, LINT_RULE_AFTER_FINAL, l, 0,
			 "line %d ends the list for every request: this rule is never reached",
			 w->always[n]->number);
	if (!always)
		same = same_condition(x, w, i, w->run[n]);
	if (same)
		lint_say(x, LINT_SAME_CONDITION, l, lint_condition(l),
			 "line %d takes all that this condition would", same->number);
	if (!final)
		w->run[n] = ++w->runs;
	if (final && always && !w->always[n]) {
		w->always[n] = l;
		if (list->words[0] == 'u')
			look_at_default(x, l);
	}
}

/* --- conditions -------------------------------------------------------------------------- */

static bool is_or(const char *word)
{
	return strcasecmp(word, "or") == 0 || strcmp(word, "||") == 0;
}

/* The end of the terms that begin at <from> and must all hold. */
static int conjunction_end(const struct source_line *l, int from)
{
	int depth = 0;

	for (; from < l->count && (depth || !is_or(l->words[from].text)); from++) {
		depth += strcmp(l->words[from].text, "{") == 0 ||
			 strcmp(l->words[from].text, "!{") == 0;
		depth -= strcmp(l->words[from].text, "}") == 0;
	}
	return from;
}

/* The word that contradicts another of the terms; -1: none. */
static int contradiction(const struct source_line *l, int from, int end)
{
	for (int i = from; i < end; i++) {
		const char *a = l->words[i].text;

		if (strcmp(a, "FALSE") == 0 || strcmp(a, "!TRUE") == 0)
			return i;
		for (int k = from; *a == '!' && a[1] && a[1] != '{' && k < end; k++)
			if (strcmp(a + 1, l->words[k].text) == 0)
				return i > k ? i : k;
	}
	return -1;
}

static void look_at_condition(struct lint *x, const struct source_line *l)
{
	int at = lint_condition(l), word = -1;
	bool can_hold = false;

	if (at == l->count || l->words[at].text[0] != 'i')
		return;
	for (int from = at + 1; from < l->count && !can_hold;) {
		int end = conjunction_end(l, from);
		int found = contradiction(l, from, end);

		can_hold = found < 0;
		word = found;
		from = end + 1;
	}
	if (!can_hold && word >= 0)
		lint_say(x, LINT_NEVER_TRUE, l, word, "this condition never holds");
}

void lint_reached(struct lint *x)
{
	struct walk w;

	if (!walk_init(&w, x->source.count))
		return;
	walk_section(&w);
	for (int i = 0; i < x->source.count; i++) {
		const struct source_line *l = &x->source.lines[i];
		const struct list_kind *list = l->kind == SOURCE_KEYWORD ? list_of(l) : NULL;

		if (l->kind == SOURCE_SECTION)
			walk_section(&w);
		if (l->kind == SOURCE_KEYWORD)
			look_at_condition(x, l);
		if (list)
			look_before(x, &w, i, list);
	}
	free(w.seen);
}

/* --- a thing twice ----------------------------------------------------------------------- */

/* Settings of which the last one counts. */
static const char *const single[] = {
	"mode",
	"balance",
	"default_backend",
	"maxconn",
	"retries",
	"cookie",
	"fullconn",
	"hash-type",
	"log-format",
	"monitor-uri",
	"stick-table",
	"timeout client",
	"timeout server",
	"timeout connect",
	"timeout http-request",
	"timeout http-keep-alive",
	"timeout queue",
	"timeout tunnel",
	"timeout check",
	"timeout client-fin",
	"timeout server-fin",
	"option forwardfor",
	"compression algo",
	"unique-id-format",
	"nbthread",
	"chroot",
	"user",
	"group",
	"pidfile",
	"rate-limit sessions",
	"http-reuse",
};

static const char *setting_of(const struct source_line *l)
{
	for (size_t i = 0; i < sizeof(single) / sizeof(*single); i++)
		if (source_begins(l, single[i]))
			return single[i];
	return NULL;
}

/* What two lines have in common when they say the same thing; 0: nothing is expected to. */
static uint64_t key_of(const struct source_line *l)
{
	const char *setting = setting_of(l);
	const struct list_kind *list = list_of(l);
	uint64_t key = 0;

	if (setting)
		return hash_bytes(setting, strlen(setting), 1);
	if (source_begins(l, "no option") || source_begins(l, "option")) {
		const char *name = source_word(l, 1 + (l->words[0].text[0] == 'n'));

		return hash_bytes(name, strlen(name), 2);
	}
	if (source_begins(l, "server") && l->count > 2 && lint_word(l, "weight") < 0 &&
	    lint_word(l, "backup") < 0)
		return hash_bytes(source_word(l, 2), strlen(source_word(l, 2)), 3);
	if (!source_begins(l, "acl") &&
	    (!list || list->words[0] == 'u' || list->words[0] == 'r' || is_final(l, list)))
		return 0;
	for (int i = 0; i < l->count; i++)
		key = hash_bytes(l->words[i].text, strlen(l->words[i].text) + 1, key + 4);
	return key;
}

static void compare(struct lint *x, const struct source_line *a, const struct source_line *b)
{
	char first = a->words[0].text[0];

	if (setting_of(a))
		lint_say(x, LINT_OVERRIDDEN, a, 0, "line %d says it again: this line means nothing",
			 b->number);
	else if (source_begins(a, "acl"))
		lint_say(x, LINT_DUPLICATE_ACL, b, 1, "line %d says the same", a->number);
	else if (source_begins(a, "server"))
		lint_say(x, LINT_DUPLICATE_SERVER, b, 2, "server '%s' has the same address",
			 source_word(a, 1));
	else if (list_of(a))
		lint_say(x, LINT_DUPLICATE_RULE, b, 0, "line %d is the same rule", a->number);
	else if (first != b->words[0].text[0])
		lint_say(x, LINT_CONTRADICTORY_OPTION, a, 0, "line %d says the opposite",
			 b->number);
}

/* A line, and what it may have in common with others. */
struct keyed {
	uint64_t key;
	int line;
};

static int compare_keyed(const void *a, const void *b)
{
	const struct keyed *m = a, *n = b;

	return m->key != n->key ? (m->key < n->key ? -1 : 1) : m->line - n->line;
}

/* The lines of one section, each with the next one that has something in common with it. */
static void compare_lines(struct lint *x, int section, struct keyed *keys)
{
	size_t count = 0;

	for (int i = lint_next(x, section, section); i >= 0; i = lint_next(x, section, i)) {
		const struct source_line *l = &x->source.lines[i];

		keys[count] = (struct keyed){ .key = l->depth ? 0 : key_of(l), .line = i };
		count += keys[count].key != 0;
	}
	qsort(keys, count, sizeof(*keys), compare_keyed);
	for (size_t i = 1; i < count; i++)
		if (keys[i - 1].key == keys[i].key)
			compare(x, &x->source.lines[keys[i - 1].line],
				&x->source.lines[keys[i].line]);
}

/* Does nothing but the address say where it is bound? */
static bool has_plain_address(const struct source_line *l)
{
	return l->kind == SOURCE_KEYWORD && !l->depth && source_begins(l, "bind") &&
	       lint_word(l, "interface") < 0 && lint_word(l, "namespace") < 0 &&
	       !strchr(source_word(l, 1), '$');
}

static void look_at_binds(struct lint *x, struct keyed *keys)
{
	size_t count = 0;

	for (int i = 0; i < x->source.count; i++) {
		const char *address = source_word(&x->source.lines[i], 1);

		if (has_plain_address(&x->source.lines[i]))
			keys[count++] = (struct keyed){
				.key = hash_bytes(address, strlen(address), 0), .line = i
			};
	}
	qsort(keys, count, sizeof(*keys), compare_keyed);
	for (size_t first = 0, i = 1; i < count; i++) {
		const struct source_line *l = &x->source.lines[keys[i].line];

		if (keys[i].key != keys[first].key)
			first = i;
		else
			lint_say(x, LINT_DUPLICATE_BIND, l, 1, "line %d binds the same address",
				 x->source.lines[keys[first].line].number);
	}
}

static void look_at_cookies(struct lint *x, int section)
{
	const struct source_line *cookie = lint_setting(x, section, "cookie"), *unset = NULL,
				 *set = NULL;
	int servers = 0;

	for (int i = lint_next(x, section, section); i >= 0; i = lint_next(x, section, i)) {
		const struct source_line *l = &x->source.lines[i];

		if (!source_begins(l, "server"))
			continue;
		servers++;
		if (lint_word(l, "cookie") > 0)
			set = set ? set : l;
		else if (lint_word(l, "backup") < 0)
			unset = unset ? unset : l;
	}
	if (cookie && servers && unset && !lint_setting(x, section, "dynamic-cookie-key") &&
	    lint_word(cookie, "dynamic") < 0)
		lint_say(x, LINT_COOKIE_UNSET, unset, 1,
			 "server '%s' has no cookie value: clients do "
			 "not come back to it",
			 source_word(unset, 1));
	if (!cookie && set)
		lint_say(x, LINT_COOKIE_UNUSED, set, lint_word(set, "cookie"),
			 "the backend has no `cookie` line: this value means nothing");
}

void lint_twice(struct lint *x)
{
	struct keyed *keys = calloc((size_t)x->source.count + 1, sizeof(*keys));

	for (int i = lint_next_section(x, -1); keys && i >= 0; i = lint_next_section(x, i)) {
		compare_lines(x, i, keys);
		if (lint_is(x, i, "listen backend"))
			look_at_cookies(x, i);
	}
	if (keys)
		look_at_binds(x, keys);
	free(keys);
}
