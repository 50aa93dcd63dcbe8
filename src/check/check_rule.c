/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_rule.c - parses `http-check` and `tcp-check` lines
 *
 * Each line becomes a rule after those of its proxy. The first one in a section starts a new list:
 * the rules of `defaults` are then not used.
 */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "conf/conf.h"
#include "mux/mux.h"
#include "proxy/address.h"
#include "proxy/proxy.h"
#include "check_priv.h"

/* --- helpers -------------------------------------------------------------------------------- */

/* An alert about the word before l->at, which begins with what the line is: "'tcp-check send'". */
#define rule_error(l, fmt, ...) \
	conf_error(l, (l)->at - 1, NULL, "'%s %s' : " fmt, (l)->words[0], (l)->words[1], \
		   ##__VA_ARGS__)

static bool no_memory(struct conf_line *l)
{
	return conf_error(l, 0, NULL, "out of memory.");
}

/* The list of this line's proxy. */
static struct check_rules *rules_of(struct conf_line *l, bool http)
{
	struct check_proxy *cp = check_proxy_of_line(l);
	bool *own = http ? &cp->http_is_own : &cp->tcp_is_own;
	struct check_rules *rules = http ? &cp->http : &cp->tcp;

	if (!*own)
		*rules = (struct check_rules){ 0 };
	if (!*own && http)
		cp->httpchk = NULL;
	*own = true;
	return rules;
}

/* The value behind the option that was just read; NULL: reported. */
static const char *take_value(struct conf_line *l, const char *what)
{
	const char *option = l->words[l->at - 1], *value = conf_next(l);

	if (!value)
		rule_error(l, "'%s' expects %s as argument.", option, what);
	return value;
}

static bool take_comment(struct conf_line *l, struct check_rule *rule)
{
	rule->comment = take_value(l, "a string");
	return rule->comment != NULL;
}

static bool take_format(struct conf_line *l, struct logformat **out)
{
	const char *text = take_value(l, "a log-format string");

	if (!text)
		return false;
	l->at--;
	*out = logformat_parse(l, text, EXPR_BE_CHK_RUL, 0);
	l->at++;
	return *out != NULL;
}

/* --- connect -------------------------------------------------------------------------------- */

/* A number, or an expression. */
static bool connect_port_parse(struct conf_line *l, struct check_connect *o)
{
	const char *word = take_value(l, "a port number or expression");
	char *end;
	long v;

	if (!word)
		return false;
	v = strtol(word, &end, 10);
	if (!*end) {
		if (v < 1 || v > 65535)
			return rule_error(l, "expects a valid TCP port (from range 1 to 65535) or "
					  "a sample expression, got %s.", word);
		o->port = (int)v;
		return true;
	}
	l->at--;
	o->port_expr = expr_take(l, EXPR_BE_CHK_RUL);
	return o->port_expr != NULL;
}

static bool connect_addr_parse(struct conf_line *l, struct check_connect *o)
{
	const char *word = take_value(l, "<ipv4|ipv6>");
	struct sockaddr_storage *copy;
	struct address a;

	if (!word)
		return false;
	if (!address_parse(word, ADDRESS_UNIX, &a))
		return rule_error(l, "'addr' : %s", a.error);
	copy = arena_zalloc(&l->cfg->arena, sizeof(*copy));
	if (!copy)
		return no_memory(l);
	*copy = a.addr.sa;
	o->addr = copy;
	o->addr_len = a.addr.len;
	return true;
}

static bool connect_flag(struct conf_line *l, struct check_connect *o, const char *word)
{
	if (strcmp(word, "default") == 0)
		o->use_default = true;
	else if (strcmp(word, "send-proxy") == 0)
		o->send_proxy = true;
	else if (strcmp(word, "linger") == 0)
		o->linger = true;
	else if (strcmp(word, "ssl") == 0)
		o->ssl = true;
	else if (strcmp(word, "via-socks4") == 0)
		o->via_socks4 = true;
	else
		return rule_error(l, "expects 'comment', 'port', 'addr', 'send-proxy', 'ssl', "
				  "'sni', 'alpn' or 'via-socks4', 'linger', 'default' but got '%s' "
				  "as argument.", word);
	return true;
}

static bool connect_alpn_parse(struct conf_line *l, struct check_connect *o)
{
	const char *word = take_value(l, "a comma-delimited list of protocols");

	if (!word)
		return false;
	o->alpn = check_alpn_make(&l->cfg->arena, word);
	return o->alpn.ptr || rule_error(l, "invalid list of protocols '%s'.", word);
}

/* `proto h1` or `proto h2` for HTTP, `proto none` else. */
static bool connect_proto_parse(struct conf_line *l, struct check_connect *o, bool http)
{
	const char *word = take_value(l, "a MUX protocol");

	if (!word)
		return false;
	o->proto = check_mux_find(word);
	if (o->proto && mux_fits(o->proto, MUX_BACK, http ? MUX_HTTP : MUX_TCP))
		return true;
	return rule_error(l, "'proto' : unknown MUX protocol '%s'.", word);
}

/* Nothing that talks may stand before the first connection. */
static bool connect_is_first(struct conf_line *l, const struct check_rules *rules,
			     const struct check_rule *rule)
{
	const struct check_rule *it = rules->first;

	while (it->type >= CHECK_SET_VAR)
		it = it->next;
	return it->type == CHECK_CONNECT || it == rule ||
		rule_error(l, "first step MUST also be a 'connect', optionally preceded by a "
			   "'set-var', an 'unset-var' or a 'comment', when there is a 'connect' "
			   "step in the tcp-check ruleset.");
}

static bool connect_parse(struct conf_line *l, struct check_rules *rules, bool http)
{
	struct check_rule *rule = check_rule_add(&l->cfg->arena, rules, CHECK_CONNECT);
	const char *word;
	bool good = true;

	if (!rule)
		return no_memory(l);
	while (good && (word = conf_next(l))) {
		if (strcmp(word, "port") == 0)
			good = connect_port_parse(l, &rule->connect);
		else if (strcmp(word, "addr") == 0)
			good = connect_addr_parse(l, &rule->connect);
		else if (strcmp(word, "comment") == 0)
			good = take_comment(l, rule);
		else if (strcmp(word, "proto") == 0)
			good = connect_proto_parse(l, &rule->connect, http);
		else if (strcmp(word, "sni") == 0)
			good = (rule->connect.sni = take_value(l, "a string")) != NULL;
		else if (strcmp(word, "alpn") == 0)
			good = connect_alpn_parse(l, &rule->connect);
		else
			good = connect_flag(l, &rule->connect, word);
	}
	check_comment_inherit(rules, rule);
	return good && connect_is_first(l, rules, rule);
}

/* --- send ----------------------------------------------------------------------------------- */

/* "send-binary-lf" and its shorter kin, of tcp-check. */
static bool send_parse(struct conf_line *l, struct check_rules *rules)
{
	struct check_rule *rule = check_rule_add(&l->cfg->arena, rules, CHECK_SEND);
	bool binary = strncmp(l->words[1], "send-binary", 11) == 0;
	bool format = strstr(l->words[1], "-lf") != NULL;
	const char *word = conf_next(l), *error;

	if (!rule)
		return no_memory(l);
	if (!word)
		return rule_error(l, "'%s' expects a %s as argument.",
				  binary ? "binary string" : "string", l->words[1]);
	rule->send.hex = binary && format;
	if (format) {
		rule->send.format = logformat_parse(l, word, EXPR_BE_CHK_RUL, 0);
		if (!rule->send.format)
			return false;
	} else if (binary) {
		rule->send.text = check_hex_bytes(&l->cfg->arena, word, &error);
		if (!rule->send.text.ptr)
			return rule_error(l, "'%s' invalid binary string (%s).", word, error);
	} else {
		rule->send.text = slice_of(word);
	}
	check_comment_inherit(rules, rule);
	word = conf_next(l);
	if (!word)
		return true;
	if (strcmp(word, "comment") != 0)
		return rule_error(l, "expects 'comment' but got '%s' as argument.", word);
	return take_comment(l, rule) && conf_take_end(l);
}

/* A string, or with <format> a log-format. */
static bool send_value(struct conf_line *l, struct check_value *v, bool format)
{
	const char *word;

	*v = (struct check_value){ 0 };
	if (format)
		return take_format(l, &v->format);
	word = take_value(l, "a string");
	v->text = slice_of(word);
	return word != NULL;
}

/* Keeps the value of the host for this message: a request has one. */
static bool take_host(struct conf_line *l, const struct check_http_send *h, struct check_field *f)
{
	for (const struct check_field *it = h->fields; it; it = it->next)
		if (it->text)
			return rule_error(l, "'%s' header already defined (previous value is "
					  "'%s').", l->words[l->at - 1], it->text);
	f->text = conf_strdup(l->cfg, conf_peek(l));
	return f->text || no_memory(l);
}

static bool send_field(struct conf_line *l, struct check_http_send *h)
{
	struct check_field *f = arena_zalloc(&l->cfg->arena, sizeof(*f));
	char *name;

	if (!f)
		return no_memory(l);
	if (l->count - l->at < 2) {
		l->at = l->count;
		return rule_error(l, "'hdr' expects <name> and <value> as arguments.");
	}
	name = conf_strdup(l->cfg, conf_next(l));
	if (!name)
		return no_memory(l);
	if (!h1_is_token(slice_of(name)))
		return rule_error(l, "'hdr' : invalid header name '%s'.", name);
	for (char *p = name; *p; p++)
		*p = ascii_lower(*p);
	f->name = name;
	if (strcmp(name, "host") == 0 && !take_host(l, h, f))
		return false;
	f->value = logformat_parse(l, conf_peek(l), EXPR_BE_CHK_RUL, 0);
	l->at++;
	if (!h->last_field)
		h->last_field = &h->fields;
	*h->last_field = f;
	h->last_field = &f->next;
	return f->value != NULL;
}

static bool http_send_option(struct conf_line *l, struct check_rule *rule, const char *word)
{
	struct check_http_send *h = &rule->http;

	if (strcmp(word, "meth") == 0) {
		h->method = take_value(l, "a string");
		return h->method && (h1_is_token(slice_of(h->method)) ||
				     rule_error(l, "invalid method '%s'.", h->method));
	}
	if (strcmp(word, "uri") == 0 || strcmp(word, "uri-lf") == 0)
		return send_value(l, &h->uri, word[3]);
	if (strcmp(word, "body") == 0 || strcmp(word, "body-lf") == 0)
		return send_value(l, &h->body, word[4]);
	if (strcmp(word, "ver") == 0) {
		h->version = take_value(l, "a string");
		return h->version != NULL;
	}
	if (strcmp(word, "hdr") == 0)
		return send_field(l, h);
	if (strcmp(word, "comment") == 0)
		return take_comment(l, rule);
	return rule_error(l, "expects 'comment', 'meth', 'uri', 'uri-lf', 'ver', 'hdr', 'body' or "
			  "'body-lf' but got '%s' as argument.", word);
}

/* One connection carries one exchange: behind what is expected of it, another one is due. */
static bool send_has_connection(struct conf_line *l, const struct check_rules *rules)
{
	const struct check_rule *last = NULL;

	for (const struct check_rule *it = rules->first; it; it = it->next)
		if (it->type < CHECK_SET_VAR)
			last = it;
	return !last || last->type != CHECK_EXPECT ||
		rule_error(l, "unable to add http-check send rule at step %d (missing connect "
			   "rule).", rules->count + 1);
}

static bool http_send_parse(struct conf_line *l, struct check_rules *rules)
{
	bool has_connection = send_has_connection(l, rules);
	struct check_rule *rule = check_rule_add(&l->cfg->arena, rules, CHECK_HTTP_SEND);
	const char *word;
	bool good = true;

	if (!rule)
		return no_memory(l);
	while (good && (word = conf_next(l)))
		good = http_send_option(l, rule, word);
	check_comment_inherit(rules, rule);
	return good && has_connection;
}

/* --- variables and comments ----------------------------------------------------------------- */

/* "set-var(check.x)" : the name in parentheses. */
static bool var_parse(struct conf_line *l, struct check_rules *rules)
{
	const char *word = l->words[1], *open = strchr(word, '('), *error;
	size_t len = strlen(word);
	bool unset = word[0] == 'u', format = strncmp(word, "set-var-fmt", 11) == 0;
	struct check_rule *rule;
	char *name;

	if (!open || word[len - 1] != ')' || len - (size_t)(open - word) < 3)
		return rule_error(l, "incomplete argument: a variable name is expected.");
	name = conf_strdup(l->cfg, open + 1);
	rule = check_rule_add(&l->cfg->arena, rules, unset ? CHECK_UNSET_VAR : CHECK_SET_VAR);
	if (!name || !rule)
		return no_memory(l);
	name[strlen(name) - 1] = 0;
	rule->var.ref = var_ref_parse(l->cfg, name, !unset, &error);
	if (!rule->var.ref)
		return rule_error(l, "%s", error);
	if (unset)
		return true;
	if (!conf_peek(l))
		return rule_error(l, "missing %s", format ? "log-format string" : "fetch method");
	if (format)
		return take_format(l, &rule->var.format);
	rule->var.expr = expr_take(l, EXPR_BE_CHK_RUL);
	return rule->var.expr && conf_take_end(l);
}

static bool comment_parse(struct conf_line *l, struct check_rules *rules)
{
	struct check_rule *rule;
	const char *word = conf_next(l);

	if (!word)
		return rule_error(l, "expects a string as argument.");
	rule = check_rule_add(&l->cfg->arena, rules, CHECK_COMMENT);
	if (!rule)
		return no_memory(l);
	rule->comment = word;
	return conf_take_end(l);
}

/* --- lines ---------------------------------------------------------------------------------- */

static bool is_var(const char *word)
{
	return strncmp(word, "set-var(", 8) == 0 || strncmp(word, "set-var-fmt(", 12) == 0 ||
		strncmp(word, "unset-var(", 10) == 0;
}

/* The rules that both languages have; *known: it was one of them. */
static bool common_parse(struct conf_line *l, struct check_rules *rules, bool http, bool *known)
{
	const char *word = l->words[1];

	*known = true;
	if (strcmp(word, "connect") == 0)
		return connect_parse(l, rules, http);
	if (strcmp(word, "expect") == 0)
		return check_expect_parse(l, rules, http);
	if (strcmp(word, "comment") == 0)
		return comment_parse(l, rules);
	if (is_var(word))
		return var_parse(l, rules);
	*known = false;
	return false;
}

bool check_tcp_rule_parse(struct conf_line *l)
{
	const char *word = conf_next(l);
	struct check_rules *rules;
	bool known, good;

	if (!check_section_fits(l, false))
		return false;
	rules = rules_of(l, false);
	good = common_parse(l, rules, false, &known);
	if (known)
		return good;
	if (strcmp(word, "send") == 0 || strcmp(word, "send-lf") == 0 ||
	    strcmp(word, "send-binary") == 0 || strcmp(word, "send-binary-lf") == 0)
		return send_parse(l, rules);
	return conf_error(l, 1, NULL, "'tcp-check' only supports 'comment', 'connect', 'send', "
			  "'send-binary', 'expect', 'set-var-fmt(*)', 'set-var(*)', "
			  "'unset-var(*)'. but got '%s'", word);
}

bool check_http_rule_parse(struct conf_line *l)
{
	struct check_proxy *cp = check_proxy_of_line(l);
	const char *word = conf_next(l);
	bool known, good;

	if (strcmp(word, "disable-on-404") == 0 || strcmp(word, "send-state") == 0) {
		*(word[0] == 'd' ? &cp->disable_on_404 : &cp->send_state) = true;
		return !conf_peek(l) || conf_error(l, l->at, NULL, "'http-check' cannot handle "
						   "unexpected argument '%s'.", conf_peek(l));
	}
	if (!check_section_fits(l, true))
		return false;
	good = common_parse(l, rules_of(l, true), true, &known);
	if (known)
		return good;
	if (strcmp(word, "send") == 0)
		return http_send_parse(l, &cp->http);
	return conf_error(l, 1, NULL, "'http-check' only supports 'disable-on-404', 'send-state', "
			  "'comment', 'connect', 'send', 'expect', 'set-var-fmt(*)', "
			  "'set-var(*)', 'unset-var(*)'. but got '%s'", word);
}
