/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ruleset.c - ruleset and use-ruleset: ACLs and rules that several proxies use, with parameters
 *
 * The configuration engine keeps the lines of a ruleset (conf/block.h). A use executes them in its
 * own section: a rule made from a line belongs to that proxy, at that place of its lists.
 * Parameters are replaced word by word after quotes and escapes are resolved, so an argument stays
 * one word, or a part of one, whatever it contains. ACLs of a ruleset are known in that use only.
 *
 * A condition of a use is a rule of its own in each list that got rules: if it is false, those are
 * skipped. Nothing else of a ruleset exists at run time.
 */
#include <ctype.h>
#include <string.h>
#include "base/strbuf.h"
#include "conf/block.h"
#include "stream/rule_list.h"
#include "../rule_priv.h"

#define SECTION "ruleset"
/* Lines that uses may have carried out: rulesets that use each other twice grow without a bound. */
#define LINES_MAX 100000
/* Rulesets that use one another. */
#define DEPTH_MAX 64u

struct parameter {
	const char *name, *fallback; /* fallback: NULL: an argument is needed */
};

struct rule_lines {
	struct tree_node node;    /* key: address of the block */
	const struct conf_block *block;
	struct parameter *parameters;
	int count, needed;
	bool is_good;             /* its first line is */
	bool busy;                /* a use of it is being read */
};

struct rulesets {
	struct tree sets;         /* of struct rule_lines */
	unsigned lines;           /* carried out */
};

static struct slot rulesets_slot = { .of = SLOT_CONFIG, .size = sizeof(struct rulesets) };

/* A use, while its lines are read. */
struct using {
	struct conf_line *l;
	struct rule_proxy *rp;
	struct rule_lines *set;
	char *const *args;
	int arg_count;
	struct rule_use use;
};

/* --- the section ------------------------------------------------------------------------------ */

static bool is_parameter_name(const char *name, size_t len)
{
	if (!len || (!isalpha((unsigned char)*name) && *name != '_'))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_' && name[i] != '-')
			return false;
	return true;
}

static int find_parameter(const struct rule_lines *s, const char *name, size_t len)
{
	for (int i = 0; i < s->count; i++)
		if (strlen(s->parameters[i].name) == len &&
		    memcmp(s->parameters[i].name, name, len) == 0)
			return i;
	return -1;
}

/* Reports about a word of the section's own line. */
static bool head_error(struct conf_line *l, const struct conf_block *b, int word, const char *text)
{
	struct diag_place at = { .file = b->head.file, .line = b->head.line, .text = b->head.text,
				 .column = b->head.columns[word] };

	diag_add(l->diags, DIAG_ALERT, &at, NULL, "ruleset '%s' : %s (got '%s').",
		 b->head.words[1], text, b->head.words[word]);
	return false;
}

/* "prefix" or "code=403". */
static bool take_parameter(struct conf_line *l, struct rule_lines *s, int word)
{
	const char *text = s->block->head.words[word], *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : strlen(text);
	struct parameter *p = &s->parameters[s->count];

	if (!is_parameter_name(text, len))
		return head_error(l, s->block, word, "the name of a parameter is made of letters, "
				  "digits, '_' and '-'");
	if (find_parameter(s, text, len) >= 0)
		return head_error(l, s->block, word, "a parameter is named twice");
	if (!equals && s->needed < s->count)
		return head_error(l, s->block, word, "a parameter with a default is followed by "
				  "such ones only");
	p->name = arena_printf(&l->cfg->arena, "%.*s", (int)len, text);
	p->fallback = equals ? equals + 1 : NULL;
	s->count++;
	s->needed += !equals;
	return p->name != NULL;
}

static struct rule_lines *set_new(struct conf_line *l, const struct conf_block *b)
{
	struct rulesets *all = slot_of(&rulesets_slot, config_slots(l->cfg));
	struct rule_lines *s = arena_zalloc(&l->cfg->arena, sizeof(*s));

	if (s)
		s->parameters = arena_zalloc(&l->cfg->arena,
					     (size_t)b->head.count * sizeof(*s->parameters));
	if (!s || !s->parameters) {
		conf_error(l, 0, NULL, "out of memory.");
		return NULL;
	}
	s->block = b;
	s->is_good = true;
	for (int i = 2; i < b->head.count; i++)
		s->is_good = take_parameter(l, s, i) && s->is_good;
	tree_insert(&all->sets, &s->node, (uintptr_t)b);
	return s;
}

/* NULL: there is none of this name, or no memory. */
static struct rule_lines *set_find(struct conf_line *l, const char *name)
{
	const struct rulesets *all = slot_of(&rulesets_slot, config_slots(l->cfg));
	const struct conf_block *b = conf_block_find(l->cfg, SECTION, name);
	struct tree_node *n = b ? tree_find(&all->sets, (uintptr_t)b) : NULL;

	return !b ? NULL : n ? container_of(n, struct rule_lines, node) : set_new(l, b);
}

static bool ruleset_open(struct conf_line *l)
{
	const char *name = conf_peek(l);
	const struct conf_block *b;

	if (!name)
		return conf_error(l, l->at, NULL, "'ruleset' expects a name.");
	b = conf_block_find(l->cfg, SECTION, name);
	l->object = set_find(l, name);
	if (!b || (b->head.line == l->place.line && strcmp(b->head.file, l->place.file) == 0))
		return l->object != NULL;
	return conf_error(l, l->at, "a ruleset stands in one section", "ruleset '%s' was already "
			  "defined at %s:%d.", name, b->head.file, b->head.line);
}

/* The next "@{name}" of a word from <at> on; NULL: none. A name is no number, as in "a@{2}". */
static const char *next_reference(const char *at, size_t *len)
{
	while ((at = strstr(at, "@{")) != NULL) {
		*len = strcspn(at + 2, "}");
		if (at[2 + *len] && is_parameter_name(at + 2, *len))
			return at;
		at += 2;
	}
	return NULL;
}

static const char *closest_set(struct conf_line *l, const char *name);

/* A line of the section itself: its words are looked at, and carried out by uses. */
static bool line_parse(struct conf_line *l)
{
	const struct rule_lines *s = l->object;
	bool good = true;
	size_t len = 0;

	for (int i = 0; i < l->count; i++)
		for (const char *at = next_reference(l->words[i], &len); at;
		     at = next_reference(at + 2, &len))
			if (find_parameter(s, at + 2, len) < 0)
				good = conf_error(l, i, NULL, "ruleset '%s' has no parameter "
						  "'%.*s'.", s->block->head.words[1], (int)len,
						  at + 2);
	if (strcmp(l->keyword->words, "use-ruleset") == 0 && l->at < l->count &&
	    !next_reference(l->words[l->at], &len) &&
	    !conf_block_find(l->cfg, SECTION, l->words[l->at]))
		good = conf_error(l, l->at, closest_set(l, l->words[l->at]),
				  "there is no ruleset '%s'.", l->words[l->at]);
	return good;
}

/* --- uses ------------------------------------------------------------------------------------- */

struct name_walk {
	const struct config *cfg;
	const struct conf_block *at;
};

static const char *next_name(void *ctx)
{
	struct name_walk *w = ctx;

	do
		w->at = conf_block_next(w->cfg, SECTION, w->at);
	while (w->at && w->at->head.count < 2);
	return w->at ? w->at->head.words[1] : NULL;
}

static const char *closest_set(struct conf_line *l, const char *name)
{
	struct name_walk walk = { .cfg = l->cfg };
	const char *near = conf_closest(name, next_name, &walk);

	return near ? arena_printf(&l->cfg->arena, "did you mean '%s' ?", near) : NULL;
}

static const char *argument(const struct using *u, int i)
{
	return i < u->arg_count ? u->args[i] : u->set->parameters[i].fallback;
}

/* The word with its parameters replaced; itself when it has none. NULL: no memory. */
static char *fill_word(const struct using *u, char *word)
{
	const char *at = word, *found;
	struct strbuf text;
	char *filled;
	size_t len;

	if (!next_reference(word, &len))
		return word;
	strbuf_init(&text);
	while ((found = next_reference(at, &len)) != NULL) {
		int i = find_parameter(u->set, found + 2, len);

		strbuf_add(&text, slice_make(at, (size_t)(found - at)));
		if (i >= 0)
			strbuf_add_str(&text, argument(u, i));
		at = found + 2 + len + 1;
	}
	strbuf_add_str(&text, at);
	filled = arena_printf(&u->l->cfg->arena, "%.*s", SLICE_FMT(strbuf_slice(&text)));
	strbuf_fini(&text);
	return filled;
}

static void run_line(const struct using *u, const struct conf_block_line *line)
{
	char **words = arena_alloc(&u->l->cfg->arena,
				   ((size_t)line->count + 1) * sizeof(*words));

	for (int i = 0; words && i < line->count; i++) {
		words[i] = fill_word(u, line->words[i]);
		if (words[i] && !*words[i]) {
			conf_error(u->l, 0, NULL, "the word '%s' at %s:%d comes to nothing.",
				   line->words[i], line->file, line->line);
			return;
		}
		if (!words[i])
			words = NULL;
	}
	if (!words) {
		conf_error(u->l, 0, NULL, "out of memory.");
		return;
	}
	words[line->count] = NULL;
	conf_block_run(u->l, line, words);
}

static void run_lines(const struct using *u)
{
	struct rulesets *all = slot_of(&rulesets_slot, config_slots(u->l->cfg));

	for (const struct conf_block_line *line = u->set->block->first; line; line = line->next) {
		if (all->lines == LINES_MAX) {
			conf_error(u->l, 0, "do rulesets use each other several times?",
				   "uses of rulesets come to more than %d lines.", LINES_MAX);
			return;
		}
		all->lines++;
		run_line(u, line);
	}
}

/* Says where the ruleset with the mistakes was used, and how. */
static void say_use(const struct using *u)
{
	struct strbuf text;

	strbuf_init(&text);
	for (int i = 0; i < u->set->count; i++)
		strbuf_printf(&text, "%s%s=%s", i ? ", " : " with ", u->set->parameters[i].name,
			      argument(u, i));
	diag_add(u->l->diags, DIAG_ALERT, &u->l->place, NULL,
		 "Error(s) found in ruleset '%s' (%s:%d), used here%.*s.", u->use.name,
		 u->set->block->head.file, u->set->block->head.line,
		 SLICE_FMT(strbuf_slice(&text)));
	strbuf_fini(&text);
}

/* --- conditions ------------------------------------------------------------------------------- */

/* The condition of the use holds. */
static enum rule_result enter(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	return RULE_CONTINUE;
}

static const struct rule_action entry = { .words = "use-ruleset", .run = enter };

/* Puts the condition in front of the rules of a list behind <last>, if there are any. */
static bool guard(const struct using *u, int at, enum ruleset set, struct list *last)
{
	struct list *rules = &u->rp->rules[set];
	struct rule *r;
	uint64_t count = 0;

	for (const struct list *it = last->next; it != rules; it = it->next)
		count++;
	if (!count)
		return true;
	r = arena_zalloc(&u->l->cfg->arena, sizeof(*r));
	if (!r)
		return conf_error(u->l, 0, NULL, "out of memory.");
	*r = (struct rule){
		.action = &entry,
		.set = set,
		.proxy = u->l->object,
		.file = u->use.file,
		.line = u->use.line,
		.use = u->use.outer,
		.otherwise = RULE_SKIP,
		.number = count,
	};
	u->l->at = at;
	if (!rule_take_condition(u->l, "use-ruleset", rule_phases(r->proxy, set), &r->condition))
		return false;
	list_insert_before(last->next, &r->link);
	return true;
}

/* --- use-ruleset ------------------------------------------------------------------------------ */

/* Has the lines read, with ACLs of their own. */
static bool expand(struct using *u, int condition)
{
	struct rule_proxy *rp = u->rp;
	struct acl_set *acls = rule_acls(u->l);
	int alerts = u->l->diags->alerts;
	struct list *last[RULES_COUNT];
	bool good;

	for (int set = 0; set < RULES_COUNT; set++)
		last[set] = rp->rules[set].prev;
	rp->acls = acls ? acl_set_inner(acls) : NULL;
	if (!rp->acls) {
		rp->acls = acls;
		return conf_error(u->l, 0, NULL, "out of memory.");
	}
	rp->use = &u->use;
	u->set->busy = true;
	run_lines(u);
	u->set->busy = false;
	rp->use = u->use.outer;
	rp->acls = acls;
	good = u->l->diags->alerts == alerts;
	if (!good)
		say_use(u);
	for (int set = 0; good && u->l->words[condition] && set < RULES_COUNT; set++)
		good = guard(u, condition, (enum ruleset)set, last[set]);
	return good;
}

/* The arguments, and a look at the condition. *condition gets its place. */
static bool take_arguments(struct conf_line *l, struct using *u, int *condition)
{
	const struct condition *ignored;
	int from = l->at;

	while (!rule_at_end(l))
		l->at++;
	u->args = l->words + from;
	u->arg_count = l->at - from;
	*condition = l->at;
	if (u->arg_count < u->set->needed || u->arg_count > u->set->count)
		return conf_error(l, u->arg_count > u->set->count ? from + u->set->count : l->at,
				  NULL, "ruleset '%s' (%s:%d) takes %s%d argument%s, this use has "
				  "%d.", u->use.name, u->set->block->head.file,
				  u->set->block->head.line,
				  u->set->needed < u->set->count ? "up to " : "", u->set->count,
				  u->set->count == 1 ? "" : "s", u->arg_count);
	return rule_take_condition(l, "use-ruleset", 0, &ignored);
}

static bool use_parse(struct conf_line *l)
{
	const struct proxy *px = l->object;
	struct using *u = arena_zalloc(&l->cfg->arena, sizeof(*u));
	const char *name = conf_peek(l);
	unsigned depth = 0;
	int condition = 0;

	if (!u)
		return conf_error(l, 0, NULL, "out of memory.");
	if ((px->caps & PROXY_DEFAULTS) && !px->name[0])
		return conf_error(l, 0, NULL, "'use-ruleset' not allowed in anonymous 'defaults' "
				  "section.");
	if (!name || rule_at_end(l))
		return conf_error(l, l->at, NULL, "'use-ruleset' expects the name of a ruleset.");
	u->l = l;
	u->rp = slot_of(&rule_proxy_slot, l->slots);
	u->set = set_find(l, name);
	if (!u->set)
		return conf_error(l, l->at, closest_set(l, name), "there is no ruleset '%s'.",
				  name);
	if (u->set->busy)
		return conf_error(l, l->at, NULL, "ruleset '%s' (%s:%d) uses itself.", name,
				  u->set->block->head.file, u->set->block->head.line);
	for (const struct rule_use *o = u->rp->use; o; o = o->outer)
		depth++;
	if (depth >= DEPTH_MAX)
		return conf_error(l, l->at, NULL, "more than %u rulesets use one another.",
				  DEPTH_MAX);
	l->at++;
	u->use = (struct rule_use){ .name = name, .file = rule_file(l), .line = l->place.line,
				    .outer = u->rp->use };
	if (!u->set->is_good || !take_arguments(l, u, &condition))
		return false;
	u->use.has_condition = l->words[condition] ||
			       (u->use.outer && u->use.outer->has_condition);
	return expand(u, condition);
}

/* --- words ------------------------------------------------------------------------------------ */

#define RULE_SYNTAX "<action> [<arguments>...] [{if|unless} <condition>]"
#define USE_SYNTAX "<name> [<argument>...] [{if|unless} <condition>]"
#define LINE(name, what, text) \
	{ .words = name, .where = CONF_OTHER, .section = SECTION, .max_args = -1, \
	  .parse = line_parse, .syntax = what, .help = text }

static const struct conf_section sections[] = {
	{ .name = SECTION, .where = CONF_OTHER, .open = ruleset_open, .keeps_lines = true,
	  .syntax = "<name> [<parameter>[=<default>]]...",
	  .help = "ACLs and rules that proxies use" },
	{ 0 }
};

static const struct conf_keyword keywords[] = {
	LINE("acl", "<name> <criterion> [flags] [operator] <value>...",
	     "declare or extend an ACL of this ruleset"),
	LINE("http-request", RULE_SYNTAX, "a rule for each HTTP request"),
	LINE("http-response", RULE_SYNTAX, "a rule for each HTTP response of a server"),
	LINE("http-after-response", RULE_SYNTAX,
	     "a rule for each HTTP response, the proxy's own included"),
	LINE("quic-initial", RULE_SYNTAX, "a rule for the first packet of each client of QUIC"),
	LINE("tcp-request connection", RULE_SYNTAX, "a rule for each connection accepted"),
	LINE("tcp-request session", RULE_SYNTAX,
	     "a rule for each connection once its handshakes are done"),
	LINE("tcp-request content", RULE_SYNTAX, "a rule for the first bytes of each request"),
	LINE("tcp-response content", RULE_SYNTAX, "a rule for the first bytes of each response"),
	LINE("use-ruleset", USE_SYNTAX, "the rules of another ruleset"),
	{ .words = "use-ruleset", .where = CONF_PROXY, .max_args = -1, .parse = use_parse,
	  .syntax = USE_SYNTAX, .help = "the rules of a ruleset, at this place" },
	{ 0 }
};

static struct slot *const slots[] = { &rulesets_slot, NULL };

const struct module mod_ruleset = {
	.name = "ruleset", .sections = sections, .keywords = keywords, .slots = slots,
};
