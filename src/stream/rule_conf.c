/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rule_conf.c - edge file: the configuration's face of rule.h
 *
 * Manual: configuration 4.2 acl, http-request, http-response, http-after-response, redirect,
 * quic-initial, tcp-request, tcp-response, use_backend, use_backends, use-server.
 */
#include "base/bug.h"
#include "rule_priv.h"
#include "stream/route.h"

/* Is this a defaults section without a name? Rules are refused there, as ACLs are. */
static bool line_is_anonymous_defaults(const struct conf_line *l)
{
	const struct proxy *px = l->object;

	return (px->caps & PROXY_DEFAULTS) && !px->name[0];
}

static bool rules_refuse_anonymous(struct conf_line *l)
{
	return conf_error(l, 0, "a section with a name, as in 'defaults web', may have rules: "
			  "those of frontends, or those of backends",
			  "'%s' not allowed in anonymous 'defaults' section.", l->keyword->words);
}

static bool acl_line_parse(struct conf_line *l)
{
	struct acl_set *acls;

	if (line_is_anonymous_defaults(l))
		return rules_refuse_anonymous(l);
	acls = rule_acls(l);
	return acls && acl_parse(l, acls, 0);
}

static bool http_line_parse(struct conf_line *l, enum ruleset set)
{
	if (line_is_anonymous_defaults(l))
		return rules_refuse_anonymous(l);
	if (set == RULES_HTTP_REQUEST)
		rule_warn_order(l, ORDER_HTTP_REQUEST);
	if (set == RULES_HTTP_RESPONSE)
		rule_warn_order(l, ORDER_HTTP_RESPONSE);
	return rule_parse_line(l, set);
}

static bool http_request_parse(struct conf_line *l)
{
	return http_line_parse(l, RULES_HTTP_REQUEST);
}

static bool http_response_parse(struct conf_line *l)
{
	return http_line_parse(l, RULES_HTTP_RESPONSE);
}

static bool http_after_parse(struct conf_line *l)
{
	return http_line_parse(l, RULES_HTTP_AFTER);
}

static bool quic_initial_parse(struct conf_line *l)
{
	const struct proxy *px = l->object;

	if (line_is_anonymous_defaults(l))
		return conf_error(l, 0, NULL, "quic-initial is not allowed in anonymous "
				  "'defaults' sections");
	if (!(px->caps & (PROXY_FE | PROXY_DEFAULTS)))
		return conf_error(l, 0, NULL, "'quic-initial' : proxy '%s' has no frontend "
				  "capability", px->name);
	if (px->mode != PROXY_MODE_HTTP)
		return conf_error(l, 0, NULL, "'quic-initial' : proxy '%s' does not use HTTP mode",
				  px->name);
	rule_warn_order(l, ORDER_QUIC_INITIAL);
	return rule_parse_line(l, RULES_QUIC_INITIAL);
}

/* tcp-request connection | session | content <action> ... */
static bool tcp_line_parse(struct conf_line *l, enum ruleset set, enum rule_order order)
{
	const struct proxy *px = l->object;

	if (line_is_anonymous_defaults(l))
		return rules_refuse_anonymous(l);
	if (order <= ORDER_TCP_SESSION && !(px->caps & (PROXY_FE | PROXY_DEFAULTS)))
		return conf_error(l, 0, NULL, "%s is not allowed because %s %s is not a frontend",
				  l->keyword->words, proxy_kind_name(px), px->name);
	rule_warn_order(l, order);
	return rule_parse_line(l, set);
}

static bool tcp_connection_parse(struct conf_line *l)
{
	return tcp_line_parse(l, RULES_TCP_CONNECTION, ORDER_TCP_CONNECTION);
}

static bool tcp_session_parse(struct conf_line *l)
{
	return tcp_line_parse(l, RULES_TCP_SESSION, ORDER_TCP_SESSION);
}

static bool tcp_content_parse(struct conf_line *l)
{
	return tcp_line_parse(l, RULES_TCP_CONTENT, ORDER_TCP_CONTENT);
}

static bool tcp_response_parse(struct conf_line *l)
{
	const struct proxy *px = l->object;

	if (line_is_anonymous_defaults(l))
		return rules_refuse_anonymous(l);
	if (!(px->caps & (PROXY_BE | PROXY_DEFAULTS)))
		return conf_error(l, 0, NULL, "tcp-response content is only allowed in 'backend' "
				  "sections or 'defaults' section with a name");
	rule_warn_order(l, ORDER_TCP_RESPONSE);
	return rule_parse_line(l, RULES_TCP_RESPONSE);
}

static bool inspect_delay_parse(struct conf_line *l)
{
	struct rule_proxy *rp = slot_of(&rule_proxy_slot, l->slots);
	const struct proxy *px = l->object;
	bool response = strncmp(l->keyword->words, "tcp-response", 12) == 0;
	int64_t delay;

	if (line_is_anonymous_defaults(l))
		return rules_refuse_anonymous(l);
	if (!conf_take_time_ms(l, &delay) || !conf_take_end(l))
		return false;
	if (rp->inspect_ms[response])
		conf_warn(l, 0, NULL, "ignoring %s (was already defined) in %s '%s'",
			  l->keyword->words, proxy_kind_name(px), px->name);
	else
		rp->inspect_ms[response] = delay;
	return true;
}

/* The first word behind tcp-request or tcp-response was none of those known. */
static bool tcp_unknown_parse(struct conf_line *l)
{
	const struct proxy *px = l->object;
	const char *name = l->keyword->words, *word = conf_peek(l);
	bool response = strcmp(name, "tcp-response") == 0;

	if (!word)
		return conf_error(l, l->at, response ? "inspect-delay, content"
				  : "inspect-delay, connection, session, content",
				  "missing argument for '%s' in %s '%s'", name,
				  proxy_kind_name(px), px->name);
	return conf_error(l, l->at, NULL, "'%s' expects %s in %s '%s' (got '%s')", name, response ?
			  "'inspect-delay' or 'content'" :
			  "'inspect-delay', 'connection', 'session', or 'content'",
			  proxy_kind_name(px), px->name, word);
}

/* --- sections that may inherit rules ------------------------------------------------------- */

static bool has_own(const struct rule_proxy *rp, enum ruleset first, enum ruleset last)
{
	for (enum ruleset set = first; set <= last; set++)
		if (!list_is_empty(&rp->rules[set]))
			return true;
	return false;
}

/* Why <px> may not have the rules of its defaults section; NULL: it may, or there are none. Rules
 * run in one place: they are those of frontends or of backends, as 3.4 has it.
 */
static const char *heir_problem(const struct proxy *px)
{
	struct rule_proxy *rp = px->defaults ? rule_proxy_of(px->defaults) : NULL;

	if (!rp || !has_own(rp, 0, RULES_COUNT - 1))
		return NULL;
	px->defaults->run.is_referenced = true;
	if (!has_own(rp, RULES_TCP_CONNECTION, RULES_COUNT - 1))
		return NULL; /* (rules of quic-initial are for all that have a frontend) */
	if (px->caps & PROXY_DEFAULTS)
		return "a defaults section cannot inherit from a defaults section defining TCP/HTTP"
			" rules";
	if ((px->caps & PROXY_LISTEN) == PROXY_LISTEN)
		return "a listen section cannot inherit from a defaults section defining TCP/HTTP"
			" rules";
	if (!rp->heir_caps)
		rp->heir_caps = px->caps;
	if (rp->heir_caps != px->caps)
		return "frontends and backends cannot inherit from the same defaults section if it"
			" defines TCP/HTTP rules";
	if (px->caps & PROXY_BE && has_own(rp, RULES_TCP_CONNECTION, RULES_TCP_SESSION))
		return "a backend section cannot inherit from a defaults section defining"
			" 'tcp-request connection' or 'tcp-request session' rules";
	if (px->caps & PROXY_FE && has_own(rp, RULES_TCP_RESPONSE, RULES_TCP_RESPONSE))
		return "a frontend section cannot inherit from a defaults section defining"
			" 'tcp-response content' rules";
	return NULL;
}

static void check_heir(const struct proxy *px, struct diag_list *diags)
{
	const struct diag_place at = { .form = DIAG_TIGHT, .file = px->file, .line = px->line };
	const char *problem = heir_problem(px);

	if (problem)
		diag_add(diags, DIAG_ALERT, &at, NULL, "%s (defaults section at %s:%d).", problem,
			 px->defaults->file, px->defaults->line);
}

/* --- check phase -------------------------------------------------------------------------- */

static unsigned rules_count(const struct rule_proxy *rp, enum ruleset set)
{
	const struct rule *r;
	unsigned count = rp->from ? rules_count(rp->from, set) : 0;

	list_for_each(r, &rp->rules[set], link)
		count++;
	return count;
}

static unsigned rules_collect(const struct rule_proxy *rp, enum ruleset set,
			      const struct rule **out)
{
	const struct rule *r;
	unsigned at = rp->from ? rules_collect(rp->from, set, out) : 0;

	list_for_each(r, &rp->rules[set], link)
		out[at++] = r;
	return at;
}

/* Makes the array of a set: the rules of the defaults sections, then the proxy's own. */
static bool rules_flatten(struct proxy *px, enum ruleset set)
{
	struct rule_proxy *rp = rule_proxy_of(px);
	unsigned count = rules_count(rp, set);

	if (!count)
		return true;
	rp->all[set] = arena_alloc(proxy_arena(px), count * sizeof(*rp->all[set]));
	if (!rp->all[set])
		return false;
	rp->count[set] = rules_collect(rp, set, rp->all[set]);
	return true;
}

static void rules_check_actions(struct config *cfg, struct proxy *px, enum ruleset set,
				struct diag_list *diags)
{
	struct rule_proxy *rp = rule_proxy_of(px);
	unsigned i;

	for (i = 0; i < rp->count[set]; i++) {
		struct rule *r = (struct rule *)rp->all[set][i];

		rule_warn_bytes(px, r->condition, r->file, r->line, diags);
		if (r->action->check)
			r->action->check(cfg, r, diags);
	}
}

static void rules_warn_ignored(const struct proxy *px, const char *what, struct diag_list *diags)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };

	diag_add(diags, DIAG_WARNING, &nowhere, NULL,
		 "'%s' rules ignored for %s '%s' as they require HTTP mode.", what,
		 proxy_kind_name(px), px->name);
}

/* Is there a rule that makes HTTP of TCP? */
static bool rules_make_http(const struct rule_proxy *rp)
{
	for (unsigned i = 0; i < rp->count[RULES_TCP_CONTENT]; i++)
		if (rp->all[RULES_TCP_CONTENT][i]->action->to_http)
			return true;
	return false;
}

static bool rules_of_http_run(const struct proxy *px)
{
	return px->mode == PROXY_MODE_HTTP || px->switching.to_http;
}

/* <actions>: their own checks too. */
static void rules_check_proxy(struct config *cfg, struct proxy *px, bool actions,
			      struct diag_list *diags)
{
	struct rule_proxy *rp = rule_proxy_of(px);
	enum ruleset set;

	switch_check(px, diags);
	for (set = 0; set < RULES_COUNT; set++) {
		if (!rules_flatten(px, set)) {
			diag_add(diags, DIAG_ALERT, NULL, NULL, "out of memory.");
			return;
		}
		if (set == RULES_TCP_CONTENT)
			px->switching.to_http |= rules_make_http(rp);
		if (set >= RULES_HTTP_REQUEST && !rules_of_http_run(px) && rp->count[set]) {
			rp->count[set] = 0;
			if (has_own(rp, set, set)) /* those of defaults may be for others */
				rules_warn_ignored(px, ruleset_name(set), diags);
		}
		if (actions)
			rules_check_actions(cfg, px, set, diags);
	}
	if (!rules_of_http_run(px) && !list_is_empty(&rp->redirects)) {
		list_init(&rp->redirects);
		rules_warn_ignored(px, "redirect", diags);
	}
	rule_hits_number(rp);
}

static void rules_check(struct config *cfg, struct diag_list *diags)
{
	struct proxy *px;

	routes_check(cfg, diags);
	for (px = proxy_next_defaults(cfg, NULL); px; px = proxy_next_defaults(cfg, px))
		check_heir(px, diags);
	for (px = proxies_first(cfg); px; px = proxy_next(px)) {
		check_heir(px, diags);
		rules_check_proxy(cfg, px, true, diags);
	}
}

/* The rules of its defaults section were checked with the first section that has them, and other
 * threads run them.
 */
static void rules_check_added(struct proxy *be, struct diag_list *diags)
{
	int alerts = diags->alerts;
	bool known = be->defaults && rule_proxy_of(be->defaults)->heir_caps;

	check_heir(be, diags);
	if (diags->alerts == alerts)
		rules_check_proxy(be->config, be, !known, diags);
}

#define RULE_SYNTAX "<action> [<arguments>...] [{if|unless} <condition>]"
#define KEYWORD(name, places, function, what, text) \
	{ .words = name, .where = places, .max_args = -1, .parse = function, .syntax = what, \
	  .help = text }

static const struct conf_keyword keywords[] = {
	KEYWORD("acl", CONF_PROXY, acl_line_parse,
		"<name> <criterion> [flags] [operator] <value>...", "declare or extend an ACL"),
	KEYWORD("http-request", CONF_PROXY, http_request_parse, RULE_SYNTAX,
		"a rule for each HTTP request"),
	KEYWORD("http-response", CONF_PROXY, http_response_parse, RULE_SYNTAX,
		"a rule for each HTTP response of a server"),
	KEYWORD("http-after-response", CONF_PROXY, http_after_parse, RULE_SYNTAX,
		"a rule for each HTTP response, the proxy's own included"),
	KEYWORD("quic-initial", CONF_PROXY, quic_initial_parse, RULE_SYNTAX,
		"a rule for the first packet of each client of QUIC"),
	KEYWORD("tcp-request connection", CONF_PROXY, tcp_connection_parse, RULE_SYNTAX,
		"a rule for each connection accepted"),
	KEYWORD("tcp-request session", CONF_PROXY, tcp_session_parse, RULE_SYNTAX,
		"a rule for each connection once its handshakes are done"),
	KEYWORD("tcp-request content", CONF_PROXY, tcp_content_parse, RULE_SYNTAX,
		"a rule for the first bytes of each request"),
	KEYWORD("tcp-request inspect-delay", CONF_PROXY, inspect_delay_parse, "<time>",
		"how long tcp-request content rules wait for bytes"),
	KEYWORD("tcp-request", CONF_PROXY, tcp_unknown_parse, "connection|session|content <action>",
		"see tcp-request connection, session, content, inspect-delay"),
	KEYWORD("tcp-response content", CONF_PROXY, tcp_response_parse, RULE_SYNTAX,
		"a rule for the first bytes of each response"),
	KEYWORD("tcp-response inspect-delay", CONF_DEFAULTS | CONF_BE, inspect_delay_parse,
		"<time>",
		"how long tcp-response content rules wait for bytes"),
	KEYWORD("tcp-response", CONF_PROXY, tcp_unknown_parse, "content <action>",
		"see tcp-response content, inspect-delay"),
	KEYWORD("redirect", CONF_FE_BE, redirect_line_parse,
		"{location|prefix|scheme} <text> [<options>...] [{if|unless} <condition>]",
		"answer a redirection"),
	KEYWORD("use_backend", CONF_FE_BE, switch_backend_parse,
		"<backend> [{if|unless} <condition>]", "send requests to this backend"),
	KEYWORD("use_backends", CONF_FE, switch_split_parse,
		"<backend>:<weight>... [by <sample>] [{if|unless} <condition>]",
		"send each of these backends its share of the requests"),
	KEYWORD("force-be-switch", CONF_FE, switch_force_parse, "{if|unless} <condition>",
		"take backends even if they are disabled or unpublished"),
	KEYWORD("use-server", CONF_FE_BE, switch_server_parse,
		"<server> {if|unless} <condition>", "send requests to this server"),
	{ 0 }
};

static struct slot *const slots[] = { &rule_proxy_slot, NULL };

const struct module mod_rule = {
	.name = "rule",
	.keywords = keywords,
	.slots = slots,
	.check = rules_check, .check_backend = rules_check_added,
};
