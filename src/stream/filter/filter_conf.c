/* SPDX-License-Identifier: GPL-2.0-or-later */
/* filter_conf.c - edge file: the keyword `filter` */
#include <string.h>
#include "conf/conf.h"
#include "filter_priv.h"
#include "../stream_conf_priv.h"

static const char *next_name(void *at)
{
	const struct filter_kind *k = filter_kind_next(at);

	return k ? k->name : NULL;
}

static const struct filter_kind *kind_find(const char *name)
{
	const struct filter_kind *k;
	unsigned at = 0;

	do
		k = filter_kind_next(&at);
	while (k && strcmp(k->name, name) != 0);
	return k;
}

static bool unknown(struct conf_line *l, const char *name)
{
	unsigned at = 0;
	const char *close = conf_closest(name, next_name, &at);

	return conf_error(l, l->at, NULL, "'filter' : unknown keyword '%s'%s%s%s", name,
			  close ? "; did you mean '" : "", close ? close : "",
			  close ? "' maybe ?" : ".");
}

static bool filter_line_parse(struct conf_line *l)
{
	struct stream_proxy *sp = slot_of(&stream_proxy_slot, l->slots);
	struct filter_conf *c = arena_zalloc(&l->cfg->arena, sizeof(*c));
	const char *name = conf_peek(l);

	if (!c)
		return conf_error(l, 0, NULL, "out of memory.");
	if (!name || !*name)
		return conf_error(l, 0, NULL, "'filter' expects the name of a filter.");
	c->kind = kind_find(name);
	if (!c->kind)
		c->kind = filter_kind_of_script(l->cfg, name);
	if (!c->kind)
		return unknown(l, name);
	l->at++;
	c->proxy = l->object;
	c->file = conf_strdup(l->cfg, l->place.file ? l->place.file : "");
	c->line = l->place.line;
	if (!c->kind->parse(l, c))
		return false;
	filter_conf_append(sp, c);
	return conf_take_end(l);
}

static void filters_check(struct config *cfg, struct diag_list *diags)
{
	struct filter_conf *c;
	struct proxy *px;

	for (px = proxies_first(cfg); px; px = proxy_next(px))
		for (c = stream_proxy(px)->filters; c; c = c->next)
			if (c->kind->check)
				c->kind->check(cfg, c, diags);
}

static const struct conf_keyword keywords[] = {
	{ .words = "filter", .where = CONF_FE_BE, .max_args = -1, .parse = filter_line_parse,
	  .syntax = "<name> [<arguments>...]",
	  .help = "put a filter on the way of requests and responses" },
	{ 0 }
};

const struct module mod_filter = {
	.name = "filter", .keywords = keywords, .check = filters_check,
};
