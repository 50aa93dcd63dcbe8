/* SPDX-License-Identifier: GPL-2.0-or-later */
/* persist_conf.c - edge file: cookie, dynamic-cookie-key, force-persist, ignore-persist, persist */
#include <stdio.h>
#include <string.h>
#include "base/bug.h"
#include "conf/conf.h"
#include "manage/stats.h"
#include "proxy/server.h"
#include "stream/persist.h"
#include "rule_priv.h"

static struct persist_proxy *settings(struct conf_line *l)
{
	return slot_of(&persist_proxy_slot, l->slots);
}

static const char *const options[] = {
#define X(name, text) text,
	COOKIE_OPTIONS(X)
#undef X
};

/* Alerts of the values of `cookie` have their own form. */
#define value_error(l, ...) conf_report(l, (l)->at - 1, DIAG_ALERT, DIAG_TIGHT, __VA_ARGS__)

/* Appends "; <before><word>" to <list>. */
static bool list_add(struct conf_line *l, const char **list, const char *before, const char *word)
{
	*list = arena_printf(&l->cfg->arena, "%s; %s%s", *list ? *list : "", before, word);
	return *list || conf_error(l, 0, NULL, "out of memory.");
}

static bool take_domain(struct conf_line *l, struct persist_proxy *pp)
{
	const char *word = conf_next(l);

	if (!word)
		return value_error(l, "'domain' expects <domain> as argument.");
	if (strpbrk(word, ";, \t\r\n"))
		return value_error(l, "character '%c' is not permitted in domain name '%s'.",
				   *strpbrk(word, ";, \t\r\n"), word);
	if (*word != '.' && !strchr(word, '.'))
		conf_report(l, l->at - 1, DIAG_WARNING, DIAG_TIGHT, "domain '%s' contains no "
			    "embedded dot, this configuration may not work properly (see "
			    "RFC6265#5.2.3).", word);
	return list_add(l, &pp->domains, "domain=", word);
}

static bool take_attribute(struct conf_line *l, struct persist_proxy *pp)
{
	const char *word = conf_next(l);

	if (!word)
		return value_error(l, "'attr' expects <value> as argument.");
	for (const char *p = word; *p; p++)
		if ((unsigned char)*p < 32 || *p == 127 || *p == ';')
			return value_error(l, "character '%c' is not permitted in attribute '%s'.",
					   *p, word);
	return list_add(l, &pp->attributes, "", word);
}

static bool take_limit(struct conf_line *l, const char *what, int64_t *out_s)
{
	int64_t ms;

	if (!conf_peek(l))
		return value_error(l, "'%s' expects <%s> in seconds as argument.", what,
				   what[3] == 'i' ? "idletime" : "lifetime");
	if (!conf_take_time_s(l, &ms))
		return false;
	*out_s = ms / 1000;
	return true;
}

static bool take_option(struct conf_line *l, struct persist_proxy *pp)
{
	const char *word = conf_next(l);

	for (unsigned i = 0; i < ARRAY_LEN(options); i++)
		if (strcmp(word, options[i]) == 0) {
			pp->options |= 1u << i;
			return true;
		}
	if (strcmp(word, "domain") == 0)
		return take_domain(l, pp);
	if (strcmp(word, "attr") == 0)
		return take_attribute(l, pp);
	if (strcmp(word, "maxidle") == 0)
		return take_limit(l, word, &pp->max_idle_s);
	if (strcmp(word, "maxlife") == 0)
		return take_limit(l, word, &pp->max_life_s);
	return conf_error(l, l->at - 1, NULL, "'cookie' supports 'rewrite', 'insert', 'prefix', "
			  "'indirect', 'nocache', 'postonly', 'domain', 'maxidle', 'dynamic', "
			  "'maxlife' and 'attr' options.");
}

static bool parse_cookie(struct conf_line *l)
{
	struct persist_proxy *pp = settings(l);
	const char *name = conf_next(l);
	unsigned modes;

	if (!name || !*name)
		return conf_error(l, 0, NULL, "'cookie' expects <cookie_name> as argument.");
	if (strpbrk(name, "=;, \t\"\r\n"))
		return conf_error(l, 1, NULL, "character '%c' is not permitted in cookie name "
				  "'%s'.", *strpbrk(name, "=;, \t\"\r\n"), name);
	pp->cookie = slice_of(name);
	pp->options = 0;
	pp->max_idle_s = pp->max_life_s = 0;
	pp->domains = pp->attributes = NULL;
	while (conf_peek(l))
		if (!take_option(l, pp))
			return false;
	pp->is_dynamic = (pp->options & COOKIE_DYNAMIC) != 0;
	modes = pp->options & (COOKIE_REWRITE | COOKIE_INSERT | COOKIE_PREFIX);
	if (modes & (modes - 1))
		return conf_error(l, 0, NULL, "cookie 'rewrite', 'insert' and 'prefix' modes are "
				  "incompatible.");
	if (pp->options & COOKIE_REWRITE && pp->options & COOKIE_INDIRECT)
		return conf_error(l, 0, NULL, "cookie 'rewrite' and 'indirect' modes are "
				  "incompatible.");
	if (pp->options & COOKIE_PRESERVE && !(pp->options & (COOKIE_INSERT | COOKIE_INDIRECT)))
		return conf_error(l, 0, NULL, "cookie 'preserve' requires at least 'insert' or "
				  "'indirect'.");
	return true;
}

static bool parse_key(struct conf_line *l)
{
	const char *key = conf_next(l);

	if (!key)
		return conf_error(l, 0, NULL, "'dynamic-cookie-key' expects <secret_key> as "
				  "argument.");
	if (strlen(key) > PERSIST_KEY_MAX)
		return conf_error(l, 1, NULL, "'dynamic-cookie-key' is longer than %d bytes.",
				  PERSIST_KEY_MAX);
	settings(l)->key = key;
	return true;
}

static bool parse_exception(struct conf_line *l)
{
	struct persist_proxy *pp = settings(l);
	const char *word = conf_peek(l);
	struct persist_rule *r;

	if (!word || (strcmp(word, "if") != 0 && strcmp(word, "unless") != 0))
		return conf_error(l, 0, NULL, "'%s' requires either 'if' or 'unless' followed by a "
				  "condition.", l->keyword->words);
	r = arena_zalloc(&l->cfg->arena, sizeof(*r));
	if (!r)
		return conf_error(l, 0, NULL, "out of memory.");
	r->force = l->keyword->min;
	if (!rule_take_condition(l, l->keyword->words, EXPR_BE_SET_SRV, &r->condition))
		return false;
	if (pp->last)
		pp->last->next = r;
	else
		pp->first = r;
	pp->last = r;
	return true;
}

/* "rdp-cookie" or "rdp-cookie(<name>)" */
static bool parse_persist(struct conf_line *l)
{
	const char *word = conf_next(l), *text;
	size_t name_len = 4, end;
	const char *name = "msts";

	if (!word)
		return conf_error(l, 0, NULL, "missing persist method.");
	if (strncmp(word, "rdp-cookie", 10) != 0 || (word[10] && word[10] != '('))
		return conf_error(l, 1, NULL, "unknown persist method.");
	if (word[10]) {
		name = word + 11;
		name_len = strcspn(name, ")");
		if (!name_len || strcmp(name + name_len, ")") != 0)
			return conf_error(l, 1, NULL, "persist rdp-cookie(name)' requires an rdp "
					  "cookie name.");
	}
	if (!expr_fetch_find(SLICE("req.rdp_cookie")))
		return conf_error(l, 1, NULL, "'persist rdp-cookie' is not supported yet.");
	text = arena_printf(&l->cfg->arena, "req.rdp_cookie(%.*s)", (int)name_len, name);
	if (!text)
		return conf_error(l, 0, NULL, "out of memory.");
	settings(l)->rdp_cookie = expr_parse(l, text, &end, EXPR_BE_SET_SRV);
	return settings(l)->rdp_cookie && conf_take_end(l);
}

static const struct conf_keyword keywords[] = {
	{ .words = "cookie", .where = CONF_DEF_BE, .max_args = -1, .flags = CONF_HTTP,
	  .parse = parse_cookie, .syntax = "<name> [rewrite | insert | prefix] [<options>]",
	  .help = "a cookie says which server a client belongs to" },
	{ .words = "dynamic-cookie-key", .where = CONF_DEF_BE, .max_args = -1, .flags = CONF_HTTP,
	  .parse = parse_key, .syntax = "<key>",
	  .help = "secret from which the values of dynamic cookies are made" },
	{ .words = "force-persist", .where = CONF_BE, .max_args = -1, .parse = parse_exception,
	  .min = 1, .syntax = "{ if | unless } <condition>",
	  .help = "keep to the server even if it is down" },
	{ .words = "ignore-persist", .where = CONF_BE, .max_args = -1, .parse = parse_exception,
	  .syntax = "{ if | unless } <condition>", .help = "any server will do" },
	{ .words = "persist", .where = CONF_DEF_BE, .max_args = -1, .parse = parse_persist,
	  .parts = "rdp-cookie", .syntax = "rdp-cookie[(<name>)]",
	  .help = "keep to the server that an RDP cookie names" },
	{ 0 }
};

static void persist_check(struct config *cfg, struct diag_list *diags)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };

	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		struct server *srv;

		if (px->mode == PROXY_MODE_HTTP || !(px->caps & PROXY_BE))
			continue;
		if (persist_of_proxy(px)->cookie.ptr)
			diag_add(diags, DIAG_WARNING, &nowhere, NULL, "cookie will be ignored for "
				 "%s '%s' (needs 'mode http').", proxy_kind_name(px), px->name);
		list_for_each(srv, &px->servers, link)
			if (srv->cookie)
				diag_add(diags, DIAG_WARNING, &nowhere, NULL, "%s '%s' : ignoring "
					 "cookie for server '%s' as HTTP mode is disabled.",
					 proxy_kind_name(px), px->name, srv->name);
	}
}

static struct slot *const slots[] = { &persist_proxy_slot, &persist_stream_slot, NULL };

static const char *cookie_of(const struct proxy *px)
{
	return persist_of_proxy(px)->cookie.ptr;
}

static bool persist_init(void)
{
	stats_set_cookie(cookie_of, persist_server_cookie_text);
	return true;
}

const struct module mod_persist = {
	.name = "persist", .keywords = keywords, .slots = slots, .init = persist_init,
	.check = persist_check,
};
