/* SPDX-License-Identifier: GPL-2.0-or-later */
/* route.c - route and use-routes: backends that choose requests of a frontend
 *
 * A `use-routes` line is a placeholder in the list of use_backend rules. The check phase inserts a
 * rule there for each `route` line that names the frontend, in the order of the files, and removes
 * the placeholder: requests see only rules.
 */
#include "stream/route.h"

#include <string.h>
#include "base/hash.h"
#include "proxy/proxy.h"
#include "stream/rule_list.h"

/* A `route` line. */
struct route {
	struct list link;
	const char *frontend;
	int column;               /* of that name */
	struct proxy *backend;
	struct switch_rule rule;
	uint64_t condition;       /* hash of its words; 0: none */
	bool names_acls;          /* which mean what the section says */
};

struct routes {
	struct list all;          /* in the order of the files */
};

static bool routes_init(void *data)
{
	list_init(&((struct routes *)data)->all);
	return true;
}

static struct slot routes_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct routes), .init = routes_init,
};

/* --- parsing ---------------------------------------------------------------------------------- */

static void rule_init(struct conf_line *l, struct switch_rule *sr)
{
	list_init(&sr->link);
	sr->word = l->keyword->words;
	sr->line = l->place.line;
	sr->file = l->place.file ? conf_strdup(l->cfg, l->place.file) : NULL;
}

/* Notes what the words of the condition are. */
static void note_condition(const struct conf_line *l, int from, struct route *r)
{
	bool braced = false;

	for (int i = from; i < l->count; i++) {
		const char *word = l->words[i], *name = word + strspn(word, "!");
		bool opens = strcmp(name, "{") == 0, closes = strcmp(name, "}") == 0;

		r->condition = hash_bytes(word, strlen(word) + 1, r->condition);
		if (i > from && !braced && *name && !opens && !closes &&
		    strcmp(name, "or") != 0 && strcmp(name, "||") != 0)
			r->names_acls = true;
		braced = opens || (braced && !closes);
	}
}

static bool route_parse(struct conf_line *l)
{
	struct routes *routes = slot_of(&routes_slot, config_slots(l->cfg));
	struct route *r = arena_zalloc(&l->cfg->arena, sizeof(*r));

	if (!r)
		return conf_error(l, 0, NULL, "out of memory.");
	if (!conf_peek(l) || strcmp(conf_peek(l), "from") != 0)
		return conf_error(l, l->at, NULL, "'route' expects 'from' and a frontend, as in "
				  "'route from web if { path_beg /api }'.");
	l->at++;
	if (!conf_peek(l) || rule_at_end(l))
		return conf_error(l, l->at, NULL, "'route from' expects the name of a frontend.");
	r->column = l->columns[l->at];
	r->frontend = conf_next(l);
	r->backend = l->object;
	rule_init(l, &r->rule);
	r->rule.name = r->backend->name;
	note_condition(l, l->at, r);
	if (!rule_take_condition(l, "route", EXPR_FE_SET_BCK, &r->rule.condition))
		return false;
	list_append(&routes->all, &r->link);
	return true;
}

static struct switch_rule *place_of(const struct proxy *fe)
{
	struct switch_rule *sr;

	list_for_each(sr, &rule_proxy_of(fe)->backends, link)
		if (sr->is_place)
			return sr;
	return NULL;
}

static bool use_routes_parse(struct conf_line *l)
{
	struct proxy *px = l->object;
	const struct switch_rule *before = place_of(px);
	struct switch_rule *sr = arena_zalloc(&l->cfg->arena, sizeof(*sr));

	if (!sr)
		return conf_error(l, 0, NULL, "out of memory.");
	if (before)
		return conf_error(l, 0, NULL, "the routes of '%s' stand at line %d already.",
				  px->name, before->line);
	rule_init(l, sr);
	sr->is_place = true;
	list_append(&rule_proxy_of(px)->backends, &sr->link);
	return true;
}

/* --- check phase ------------------------------------------------------------------------------ */

/* Does <a>, which stands before, take all that <b> asks for? */
static bool takes_all(const struct route *a, const struct route *b)
{
	if (strcmp(a->frontend, b->frontend) != 0)
		return false;
	return !a->condition || (a->condition == b->condition &&
				 (a->backend == b->backend || !a->names_acls));
}

/* A route that is never reached is a mistake of one of two hands: both are named. */
static bool is_reached(const struct routes *routes, const struct route *r,
		       const struct diag_place *at, struct diag_list *diags)
{
	const struct route *before;

	list_for_each(before, &routes->all, link) {
		if (before == r)
			return true;
		if (!takes_all(before, r))
			continue;
		diag_add(diags, DIAG_ALERT, at, before->condition ? NULL : "a route without a "
			 "condition is the last one of its frontend, else 'default_backend' is "
			 "meant", "this route of '%s' to '%s' is never reached: the one to '%s' "
			 "at %s:%d takes its requests.", r->frontend, r->backend->name,
			 before->backend->name, before->rule.file ? before->rule.file : "-",
			 before->rule.line);
		return false;
	}
	return true;
}

static void route_check(struct config *cfg, const struct routes *routes, struct route *r,
			struct diag_list *diags)
{
	struct diag_place at = { .file = r->rule.file, .line = r->rule.line,
				 .column = r->column };
	struct proxy *fe = proxy_find(cfg, r->frontend, PROXY_FE);
	struct switch_rule *place = fe ? place_of(fe) : NULL;

	if (!fe)
		diag_add(diags, DIAG_ALERT, &at, proxy_hint(cfg, r->frontend, PROXY_FE),
			 "route to '%s' : there is no frontend '%s'.", r->backend->name,
			 r->frontend);
	else if (!place)
		diag_add(diags, DIAG_ALERT, &at, "add 'use-routes' where routes shall stand among "
			 "the 'use_backend' rules of that frontend",
			 "route to '%s' : frontend '%s' (%s:%d) has no 'use-routes' line.",
			 r->backend->name, r->frontend, fe->file, fe->line);
	else if (is_reached(routes, r, &at, diags))
		list_insert_before(&place->link, &r->rule.link);
}

void routes_check(struct config *cfg, struct diag_list *diags)
{
	const struct routes *routes = slot_of(&routes_slot, config_slots(cfg));
	struct route *r;

	list_for_each(r, &routes->all, link)
		route_check(cfg, routes, r, diags);
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		struct switch_rule *place = place_of(px);

		if (place)
			list_remove(&place->link);
	}
}

static const struct conf_keyword keywords[] = {
	{ .words = "route", .where = CONF_BE, .max_args = -1, .parse = route_parse,
	  .syntax = "from <frontend> [{if|unless} <condition>]",
	  .help = "which requests of a frontend this backend wants" },
	{ .words = "use-routes", .where = CONF_FE, .parse = use_routes_parse,
	  .help = "where the routes of backends stand among the use_backend rules" },
	{ 0 }
};

static struct slot *const slots[] = { &routes_slot, NULL };

const struct module mod_route = { .name = "route", .keywords = keywords, .slots = slots };
