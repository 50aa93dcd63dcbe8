/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http_conf.c - edge file: monitor-uri, monitor fail, http-error, http-send-name-header */
#include "http_proxy.h"
#include "rule_priv.h"

static bool monitor_uri_parse(struct conf_line *l)
{
	struct http_proxy *hp = slot_of(&http_proxy_slot, l->slots);
	const char *uri = conf_next(l);

	if (!uri || !*uri)
		return conf_error(l, l->at, NULL, "'monitor-uri' expects an URI.");
	if (conf_peek(l))
		return conf_error(l, l->at, NULL,
				  "'monitor-uri' cannot handle unexpected argument '%s'.",
				  conf_peek(l));
	hp->monitor_uri = slice_of(uri);
	return true;
}

static bool monitor_fail_parse(struct conf_line *l)
{
	struct http_proxy *hp = slot_of(&http_proxy_slot, l->slots);
	struct monitor_fail *f = arena_zalloc(&l->cfg->arena, sizeof(*f));

	if (!f)
		return conf_error(l, 0, NULL, "out of memory.");
	if (!conf_peek(l) || !rule_at_end(l))
		return conf_error(l, l->at, NULL, "'monitor fail' requires either 'if' or 'unless' "
				  "followed by a condition.");
	rule_warn_order(l, ORDER_MONITOR_FAIL);
	if (!rule_take_condition(l, "monitor fail", rule_phases(l->object, RULES_HTTP_REQUEST),
				 &f->condition))
		return false;
	*hp->fails_tail = f;
	hp->fails_tail = &f->next;
	return true;
}

static bool monitor_unknown_parse(struct conf_line *l)
{
	return conf_error(l, l->at, NULL, "'monitor' only supports 'fail'%s%s.",
			  conf_peek(l) ? ", not " : "", conf_peek(l) ? conf_peek(l) : "");
}

/* Does this field say where messages go and end? */
static bool makes_messages(struct slice name)
{
	return slice_eq_nocase(name, SLICE("connection")) ||
	       slice_eq_nocase(name, SLICE("content-length")) ||
	       slice_eq_nocase(name, SLICE("host")) ||
	       slice_eq_nocase(name, SLICE("transfer-encoding"));
}

static bool name_header_parse(struct conf_line *l)
{
	struct http_proxy *hp = slot_of(&http_proxy_slot, l->slots);
	const char *word = conf_next(l);
	char *name;

	if (!word || !*word)
		return conf_error(l, l->at, NULL,
				  "'http-send-name-header' requires a header string.");
	if (!h1_is_token(slice_of(word)))
		return conf_error(l, l->at - 1, NULL, "'http-send-name-header' : header name '%s' "
				  "contains a forbidden character.", word);
	if (makes_messages(slice_of(word)))
		return conf_error(l, l->at - 1, NULL, "'%s' cannot be used as header name for "
				  "'http-send-name-header' directive.", word);
	name = conf_strdup(l->cfg, word);
	if (!name)
		return conf_error(l, 0, NULL, "out of memory.");
	hp->name_header = slice_of(name);
	for (; *name; name++)
		*name = ascii_lower(*name);
	return conf_take_end(l);
}

static bool http_error_parse(struct conf_line *l)
{
	struct http_proxy *hp = slot_of(&http_proxy_slot, l->slots);

	return reply_error_line_parse(l, &hp->pages);
}

#define CONF_FL (CONF_FRONTEND | CONF_LISTEN)

static const struct conf_keyword keywords[] = {
	{ .words = "http-error", .where = CONF_PROXY, .max_args = -1, .parse = http_error_parse,
	  .syntax = "status <code> [{default-errorfiles|errorfile <file>|errorfiles <name>|"
	  "file <file>|lf-file <file>|string <str>|lf-string <fmt>}] [content-type <type>] "
	  "[hdr <name> <fmt>]*", .help = "answer this instead of the built-in error page" },
	{ .words = "http-send-name-header", .where = CONF_DEF_BE, .max_args = -1,
	  .parse = name_header_parse, .syntax = "<name>",
	  .help = "tell servers their names in this field" },
	{ .words = "monitor fail", .where = CONF_FL, .max_args = -1,
	  .parse = monitor_fail_parse, .syntax = "{if|unless} <condition>",
	  .help = "when requests to monitor-uri are answered 503" },
	{ .words = "monitor", .where = CONF_FL, .flags = CONF_HIDDEN, .max_args = -1,
	  .parse = monitor_unknown_parse, .syntax = "fail", .help = "see monitor fail" },
	{ .words = "monitor-uri", .where = CONF_DEF_FE, .max_args = -1, .parse = monitor_uri_parse,
	  .syntax = "<uri>", .help = "answer 200 to this target, without rules or logs" },
	{ 0 }
};

static void http_check(struct config *cfg, struct diag_list *diags)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };

	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		if (px->mode != PROXY_MODE_HTTP && px->caps & PROXY_FE &&
		    http_proxy_of(px)->monitor_uri.len)
			diag_add(diags, DIAG_WARNING, &nowhere, NULL,
				 "'monitor-uri' statement ignored for %s '%s' as it requires HTTP "
				 "mode.", proxy_kind_name(px), px->name);
}

static struct slot *const slots[] = { &http_proxy_slot, NULL };

const struct module mod_http_conf = { .name = "http", .keywords = keywords, .slots = slots,
				     .check = http_check };
