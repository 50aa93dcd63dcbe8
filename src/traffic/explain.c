/* SPDX-License-Identifier: GPL-2.0-or-later */
/* explain.c - walking the rules of a request offline */
#include "proxy/bind.h"
#include "traffic/explain.h"

#include <string.h>
#include "proxy/server.h"
#include "stream/action.h"
#include "stream/rule_list.h"

struct explainer {
	FILE *out;
	struct stream *stream;
};

/* --- what is said ------------------------------------------------------------------------- */

struct place {
	const char *file;
	int line;
};

static void say_rule(struct explainer *x, const char *what, const char *more, struct place at,
		     const char *verdict)
{
	fprintf(x->out, "  %s%s%s (%s:%d): %s\n", what, *more ? " " : "", more,
		at.file ? at.file : "-", at.line, verdict);
}

/* What a list's verdict means for the request; NULL: it goes on. */
static const char *verdict_text(enum rule_result r)
{
	switch (r) {
	case RULE_CONTINUE: return NULL;
	case RULE_ACCEPT: return "applied, ends this list";
	case RULE_DENY: return "applied, denies";
	case RULE_REPLY: return "applied, answers";
	case RULE_REJECT: return "applied, closes";
	case RULE_TARPIT: return "applied, holds then denies";
	case RULE_CLOSE: return "applied, drops";
	case RULE_BAD_REQUEST: return "applied, finds the request invalid";
	default: return "applied, fails";
	}
}

/* Says how it ended. */
static void say_end(struct explainer *x, enum rule_result r, const struct rule *which)
{
	struct stream *s = x->stream;
	const struct h1_field *location;

	if (r == RULE_DENY || r == RULE_TARPIT) {
		fprintf(x->out, "result: %u\n", rule_deny_status(which));
	} else if (r == RULE_REPLY) {
		location = http_field_find(&s->res.fields, FIELD_LOCATION, SLICE("location"));
		fprintf(x->out, "result: %d", s->res.status);
		if (location)
			fprintf(x->out, " %.*s", SLICE_FMT(location->value));
		fputc('\n', x->out);
	} else if (r == RULE_BAD_REQUEST || r == RULE_ERROR) {
		fprintf(x->out, "result: %u\n", r == RULE_ERROR ? 500 : 400);
	} else {
		fprintf(x->out, "result: closed\n");
	}
}

/* --- rules -------------------------------------------------------------------------------- */

/* Is it harmless to carry out: an edit of the request, a variable, or a verdict? */
static bool is_offline(const struct rule_action *a)
{
	static const char *const names[] = {
		"accept", "add-header", "allow", "auth", "capture", "del-header", "deny",
		"normalize-uri", "redirect", "reject", "replace-", "return", "set-dst",
		"set-header", "set-method", "set-path", "set-query", "set-src", "set-uri",
		"set-var", "strict-mode", "tarpit", "unset-var", "use-ruleset",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncmp(a->words, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static struct expr_ctx *context_of(struct explainer *x, struct proxy *px)
{
	struct expr_ctx *ctx = stream_expr(x->stream, EXPR_DIR_REQUEST | EXPR_FINAL);

	ctx->proxy = px;
	return ctx;
}

static enum rule_result explain_rule(struct explainer *x, struct proxy *px, const struct rule *r)
{
	struct expr_ctx *ctx = context_of(x, px);
	enum rule_result ret = RULE_CONTINUE;
	struct place at = { r->file, r->line };
	const char *verdict = "applied";
	bool first = true;

	if (condition_eval(r->condition, ctx) != EXPR_FOUND) {
		say_rule(x, ruleset_name(r->set), r->action->words, at, "not met");
		return r->otherwise;
	}
	if (!is_offline(r->action))
		verdict = "applied (not carried out here)";
	else
		ret = r->action->run(r, ctx, &first);
	say_rule(x, ruleset_name(r->set), r->action->words, at,
		 verdict_text(ret) ? verdict_text(ret) : verdict);
	return ret;
}

/* A whole list. False: the request ends there. */
static bool explain_list(struct explainer *x, struct proxy *px, enum ruleset set)
{
	const struct rule_proxy *rp = rule_proxy_of(px);

	for (unsigned i = 0; i < rp->count[set]; i++) {
		enum rule_result ret = explain_rule(x, px, rp->all[set][i]);

		if (ret == RULE_SKIP)
			i += (unsigned)rp->all[set][i]->number;
		if (ret == RULE_CONTINUE || ret == RULE_SKIP)
			continue;
		if (ret == RULE_ACCEPT)
			return true;
		say_end(x, ret, rp->all[set][i]);
		return false;
	}
	return true;
}

static bool explain_redirects(struct explainer *x, struct proxy *px)
{
	const struct redirect_rule *rr;

	list_for_each(rr, &rule_proxy_of(px)->redirects, link) {
		struct expr_ctx *ctx = context_of(x, px);
		bool met = condition_eval(rr->rule.condition, ctx) == EXPR_FOUND;
		enum rule_result ret = met ? redirect_run(rr->redirect, ctx) : RULE_CONTINUE;

		say_rule(x, "redirect", "", (struct place){ rr->rule.file, rr->rule.line },
			 !met ? "not met" : ret == RULE_CONTINUE ? "applied" : "applied, answers");
		if (ret == RULE_CONTINUE)
			continue;
		say_end(x, ret, &rr->rule);
		return false;
	}
	return true;
}

/* The rules up to the one that rules_backend() or rules_server() takes. */
static void explain_switches(struct explainer *x, struct proxy *px, const struct list *rules)
{
	const struct switch_rule *sr;

	list_for_each(sr, rules, link) {
		bool met = condition_eval(sr->condition, context_of(x, px)) == EXPR_FOUND;

		say_rule(x, sr->word, sr->name, (struct place){ sr->file, sr->line },
			 met ? "chosen" : "not met");
		if (met)
			return;
	}
}

static bool explain_requests(struct explainer *x, struct proxy *px)
{
	return explain_list(x, px, RULES_TCP_CONTENT) &&
	       explain_list(x, px, RULES_HTTP_REQUEST) && explain_redirects(x, px);
}

static void explain_backend(struct explainer *x, struct proxy *be)
{
	struct server *srv = NULL;
	const char *comma = " ";

	x->stream->be = be;
	if (be != x->stream->fe) {
		fprintf(x->out, "backend %s\n", be->name);
		if (!explain_requests(x, be))
			return;
	}
	explain_switches(x, be, &rule_proxy_of(be)->servers);
	rules_server(be, context_of(x, be), be->options & PROXY_OPT_PERSIST, &srv);
	fprintf(x->out, "result: backend %s, ", be->name);
	if (srv) {
		fprintf(x->out, "server %s\n", srv->name);
		return;
	}
	if (be->direct) {
		fprintf(x->out, be->dispatch ? "its dispatch address\n"
					     : "the address that the client asked for\n");
		return;
	}
	fprintf(x->out, "servers");
	for (srv = server_first(be); srv; srv = server_next(srv)) {
		fprintf(x->out, "%s%s", comma, srv->name);
		comma = ", ";
	}
	fprintf(x->out, "%s\n", *comma == ' ' ? " none" : "");
}

static void explain_frontend(struct explainer *x, struct proxy *fe)
{
	struct proxy *be = NULL;

	fprintf(x->out, "frontend %s\n", fe->name);
	if (!explain_list(x, fe, RULES_TCP_CONNECTION) ||
	    !explain_list(x, fe, RULES_TCP_SESSION) || !explain_requests(x, fe))
		return;
	explain_switches(x, fe, &rule_proxy_of(fe)->backends);
	rules_backend(fe, context_of(x, fe), &be);
	if (be)
		explain_backend(x, be);
	else
		fprintf(x->out, "result: 503, no backend\n");
}

/* --- the request -------------------------------------------------------------------------- */

/* "GET /x HTTP/1.1" and "Name: value". */
static bool fill_request(struct http_msg *m, const struct explain_request *rq, const char **error)
{
	struct slice line = slice_of(rq->line), method, uri;
	size_t blank = slice_find_char(line, 0, ' '), end;

	*error = "a request line is: <method> <target> [HTTP/1.1]";
	if (blank == SIZE_MAX)
		return false;
	end = slice_find_char(line, blank + 1, ' ');
	method = slice_sub(line, 0, blank);
	uri = slice_sub(line, blank + 1, end == SIZE_MAX ? line.len : end);
	if (!h1_is_token(method) || !uri.len)
		return false;
	m->method_text = method;
	m->method = (uint8_t)http_method_of(method);
	m->uri = uri;
	m->version = slice_ends(line, SLICE("/1.0")) ? 10 : 11;
	m->version_text = m->version == 10 ? SLICE("HTTP/1.0") : SLICE("HTTP/1.1");
	*error = "a header is: <name>: <value>";
	for (int i = 0; i < rq->field_count; i++) {
		struct slice field = slice_of(rq->fields[i]);
		size_t colon = slice_find_char(field, 0, ':');

		if (colon == SIZE_MAX || !h1_is_token(slice_sub(field, 0, colon)) ||
		    !http_msg_add_field(m, slice_sub(field, 0, colon),
					slice_trim(slice_sub(field, colon + 1, field.len))))
			return false;
	}
	*error = NULL;
	return true;
}

static struct listener_conf *first_listener(const struct proxy *fe)
{
	struct bind_conf *b;

	list_for_each(b, &fe->binds, link)
		if (!list_is_empty(&b->listeners))
			return list_first(&b->listeners, struct listener_conf, link);
	return NULL;
}

static bool explain_one(struct proxy *fe, const struct explain_request *rq, FILE *out,
			const char **error)
{
	struct vars vars = { 0 };
	struct session sess = {
		.fe = fe, .src = rq->src, .vars = &vars,
		.listener = first_listener(fe), .flags = SESS_HAS_DST | SESS_FIRST_REQ,
	};
	struct explainer x = { .out = out };
	bool good;

	if (sess.src.family == ADDR_NONE)
		addr_parse_ip(SLICE("127.0.0.1"), 0, &sess.src);
	x.stream = stream_new(&sess, true);
	if (!x.stream) {
		*error = "out of memory";
		return false;
	}
	good = fill_request(&x.stream->req, rq, error);
	if (good) {
		x.stream->log.method = x.stream->req.method_text;
		x.stream->log.uri = x.stream->req.uri;
		x.stream->log.version = x.stream->req.version_text;
		explain_frontend(&x, fe);
	}
	stream_abandon(x.stream);
	vars_clear(&vars);
	return good;
}

bool explain(struct config *cfg, const struct explain_request *rq, FILE *out, const char **error)
{
	bool any = false;

	list_init(&stream_list_of_thread);
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		if (!(px->caps & PROXY_FE) || px->caps & PROXY_DEFAULTS || px->disabled ||
		    px->mode != PROXY_MODE_HTTP || (!rq->frontend && !first_listener(px)) ||
		    (rq->frontend && strcmp(px->name, rq->frontend) != 0))
			continue;
		any = true;
		if (!explain_one(px, rq, out, error))
			return false;
	}
	*error = rq->frontend ? "no frontend of this name in mode http"
			      : "no frontend in mode http";
	return any;
}
