/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forward_auth.c - edge file: the action forward-auth
 *
 * An extension, see ext/forward_auth.h.
 */
#include <string.h>
#include "ext/forward_auth.h"
#include "forward_auth_priv.h"

#define GRANTS 10000

/* What the question says of the request, unless `hdr` says otherwise. */
static const struct {
	const char *name, *value;
} said[] = {
	{ "x-forwarded-method", "%[method]" },
	{ "x-forwarded-proto", "%[ssl_fc,iif(https,http)]" },
	{ "x-forwarded-host", "%[req.fhdr(host)]" },
	{ "x-forwarded-uri", "%[pathq]" },
	{ "x-forwarded-for", "%[src]" },
};

static struct slice lower(struct conf_line *l, struct slice s)
{
	char *copy = arena_alloc(&l->cfg->arena, s.len + 1);

	if (!copy)
		return slice_none();
	for (size_t i = 0; i < s.len; i++)
		copy[i] = s.ptr[i] >= 'A' && s.ptr[i] <= 'Z' ? (char)(s.ptr[i] - 'A' + 'a')
			: s.ptr[i];
	copy[s.len] = '\0';
	return slice_make(copy, s.len);
}

/* The word behind <what>; NULL: reported. */
static const char *take_word(struct conf_line *l, const struct rule *r, const char *what)
{
	if (!rule_at_end(l))
		return conf_next(l);
	rule_error(l, r, l->at, "'%s' expects a value", what);
	return NULL;
}

/* "a,b,c" */
static bool take_names(struct conf_line *l, const struct rule *r, const char *what,
		       struct fa_names *out)
{
	const char *word = take_word(l, r, what);
	unsigned count = 1;

	if (!word)
		return false;
	for (const char *c = word; *c; c++)
		count += *c == ',';
	out->list = arena_alloc(&l->cfg->arena, count * sizeof(*out->list));
	if (!out->list)
		return rule_no_memory(l, r);
	while (*word) {
		size_t len = strcspn(word, ",");

		out->list[out->count] = lower(l, slice_make(word, len));
		if (!len || slice_is_none(out->list[out->count++]))
			return rule_error(l, r, l->at - 1, "'%s' expects names of fields with "
					  "commas between them", what);
		word += len + (word[len] == ',');
	}
	return true;
}

static bool add_field(struct conf_line *l, const struct rule *r, struct fa_action *a,
		      struct slice name, const char *value)
{
	struct fa_field *f = arena_zalloc(&l->cfg->arena, sizeof(*f));

	if (!f || slice_is_none(name))
		return rule_no_memory(l, r);
	f->name = name;
	f->next = a->fields;
	a->fields = f;
	return rule_text_parse(l, value, rule_phases(r->proxy, r->set), LOGFORMAT_HTTP, &f->value);
}

static bool parse_hdr(struct conf_line *l, struct rule *r, struct fa_action *a)
{
	struct slice name = rule_take_name(l, r, false);
	const char *value = slice_is_none(name) ? NULL : take_word(l, r, "hdr");

	return value && add_field(l, r, a, name, value);
}

static bool parse_cache(struct conf_line *l, struct rule *r, struct fa_action *a)
{
	const char *key = take_word(l, r, "cache");
	int64_t ms, max = GRANTS;

	if (!key || !rule_text_parse(l, key, rule_phases(r->proxy, r->set), 0, &a->key))
		return false;
	if (!conf_peek(l) || strcmp(conf_peek(l), "for") != 0)
		return rule_error(l, r, l->at, "'cache' expects a key, 'for' and a time, as in "
				  "'cache %%[req.cook(session)] for 10s'");
	l->at++;
	if (!conf_take_time_ms(l, &ms))
		return false;
	if (conf_peek(l) && strcmp(conf_peek(l), "max") == 0) {
		l->at++;
		if (!conf_take_int(l, 1, INT32_MAX, &max))
			return false;
	}
	if (ms <= 0)
		return rule_error(l, r, l->at - 1, "a time of more than 0 is expected");
	a->cache = fa_cache_new(l->cfg, ms, (unsigned)max);
	return a->cache || rule_no_memory(l, r);
}

static bool parse_path(struct conf_line *l, struct rule *r, struct fa_action *a)
{
	const char *word = take_word(l, r, "path");

	a->has_path = true;
	return word && rule_text_parse(l, word, rule_phases(r->proxy, r->set), LOGFORMAT_HTTP,
				       &a->path);
}

static bool parse_method(struct conf_line *l, struct rule *r, struct fa_action *a)
{
	const char *word = take_word(l, r, "method");

	if (!word)
		return false;
	a->method = slice_of(word);
	return slice_eq(a->method, SLICE("GET")) || slice_eq(a->method, SLICE("HEAD")) ||
	       slice_eq(a->method, SLICE("POST")) ||
	       rule_error(l, r, l->at - 1, "'method' expects GET, HEAD or POST");
}

static bool parse_pass(struct conf_line *l, struct rule *r, struct fa_action *a)
{
	a->pass_all = false;
	return take_names(l, r, "pass", &a->pass);
}

static bool parse_copy(struct conf_line *l, struct rule *r, struct fa_action *a)
{
	return take_names(l, r, "copy", &a->copy);
}

static bool parse_open(struct conf_line *l, struct rule *r, struct fa_action *a)
{
	a->fail_open = true;
	return true;
}

static bool parse_closed(struct conf_line *l, struct rule *r, struct fa_action *a)
{
	a->fail_open = false;
	return true;
}

static const struct {
	const char *word;
	bool (*parse)(struct conf_line *l, struct rule *r, struct fa_action *a);
} options[] = {
	{ "path", parse_path }, { "method", parse_method }, { "pass", parse_pass },
	{ "hdr", parse_hdr }, { "copy", parse_copy }, { "cache", parse_cache },
	{ "fail-open", parse_open }, { "fail-closed", parse_closed },
};

static bool parse_option(struct conf_line *l, struct rule *r, struct fa_action *a)
{
	const char *word = conf_next(l);

	for (unsigned i = 0; i < ARRAY_LEN(options); i++)
		if (strcmp(word, options[i].word) == 0)
			return options[i].parse(l, r, a);
	return rule_error(l, r, l->at - 1, "unknown option '%s': expects path, method, pass, hdr, "
			  "copy, cache, fail-open, fail-closed", word);
}

static bool action_parse(struct conf_line *l, struct rule *r)
{
	struct fa_action *a = arena_zalloc(&l->cfg->arena, sizeof(*a));

	if (!a)
		return rule_no_memory(l, r);
	r->data = a;
	a->method = SLICE("GET");
	a->pass_all = true;
	a->backend_name = take_word(l, r, "forward-auth");
	if (!a->backend_name)
		return false;
	while (!rule_at_end(l))
		if (!parse_option(l, r, a))
			return false;
	for (unsigned i = 0; i < ARRAY_LEN(said); i++) {
		bool is_there = false;

		for (const struct fa_field *f = a->fields; f; f = f->next)
			is_there = is_there || slice_eq(f->name, slice_of(said[i].name));
		if (!is_there && !add_field(l, r, a, slice_of(said[i].name), said[i].value))
			return false;
	}
	return true;
}

static bool action_check(struct config *cfg, struct rule *r, struct diag_list *diags)
{
	struct diag_place place = { .file = r->file, .line = r->line };
	struct fa_action *a = r->data;

	a->backend = proxy_find_kept(cfg, a->backend_name, PROXY_BE);
	if (!a->backend || a->backend->mode != PROXY_MODE_HTTP)
		diag_add(diags, DIAG_ALERT, &place, NULL, "'http-request forward-auth' in proxy "
			 "'%s': there is no backend '%s' in mode http.", r->proxy->name,
			 a->backend_name);
	else if (a->backend == r->proxy)
		diag_add(diags, DIAG_ALERT, &place, "give it a backend of its own",
			 "'http-request forward-auth' in proxy '%s': a proxy that asks itself "
			 "never comes to an end.", r->proxy->name);
	else
		return true;
	return false;
}

static const struct rule_action actions[] = {
	{ .words = "forward-auth", .rulesets = RULES_BIT(RULES_HTTP_REQUEST),
	  .parse = action_parse, .check = action_check, .run = fa_run,
	  .ends_with_client = true,
	  .syntax = "<backend> [path <fmt>] [method <name>] [pass <fields>] [hdr <name> <fmt>]* "
		    "[copy <fields>] [cache <fmt> for <time> [max <number>]] "
		    "[fail-open|fail-closed]",
	  .help = "ask a server whether the request may pass" },
	{ 0 }
};

static struct slot *const slots[] = { &fa_cache_slot, NULL };

const struct module mod_forward_auth = {
	.name = "forward-auth", .actions = actions, .slots = slots,
};
