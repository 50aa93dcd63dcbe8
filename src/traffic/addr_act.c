/* SPDX-License-Identifier: GPL-2.0-or-later */
/* addr_act.c - edge file: actions on addresses, and on the marks of packets
 *
 * In the rules of a connection or session an address is changed for the whole session; in those of
 * a stream, for that stream alone. Setting marks requires privileges: without them it has no
 * effect.
 * Manual: configuration 4.4 set-src, set-dst, set-fc-mark...
 */
#include <stdlib.h>
#include "net/conn_facts.h"
#include "stream/action.h"

/* Takes <parse>'s value as the rule's data. */
static bool value_parse(struct conf_line *l, struct rule *r,
			bool (*parse)(struct conf_line *, struct rule *, struct rule_value *))
{
	struct rule_value *v = arena_zalloc(&l->cfg->arena, sizeof(*v));

	r->data = v;
	return v ? parse(l, r, v) : rule_no_memory(l, r);
}

static bool number_parse(struct conf_line *l, struct rule *r)
{
	return value_parse(l, r, rule_value_take_number);
}

static bool mark_parse(struct conf_line *l, struct rule *r)
{
	conf_needs_net(l, l->words[l->at - 1]);
	return number_parse(l, r);
}

static bool expr_parse_value(struct conf_line *l, struct rule *r)
{
	return value_parse(l, r, rule_value_take_expr);
}

/* --- addresses ---------------------------------------------------------------------------- */

/* The address that rules see now, and where another one goes; NULL: no memory. */
static struct addr *address_place(const struct rule *r, struct expr_ctx *ctx, bool dst)
{
	struct stream_overrides *o;
	struct addr *place;

	if (!ctx->stream) {
		if (r->set == RULES_TCP_SESSION && !session_keep_conn_addr(ctx->session, dst))
			return NULL;
		if (dst) {
			session_dst(ctx->session);
			ctx->session->flags |= SESS_HAS_DST;
		}
		return dst ? &ctx->session->dst : &ctx->session->src;
	}
	o = stream_overrides_get(ctx->stream);
	if (!o)
		return NULL;
	place = dst ? &o->dst : &o->src;
	if (place->family == ADDR_NONE)
		*place = dst ? *session_dst(ctx->session) : *session_src(ctx->session);
	return place;
}

/* The address changes, the port stays. */
static enum rule_result set_address(const struct rule *r, struct expr_ctx *ctx, bool dst)
{
	const struct rule_value *v = r->data;
	struct addr *place, fresh;
	struct sample smp;

	if (expr_eval(v->expr, ctx, &smp) != EXPR_FOUND ||
	    !sample_to_addr(&smp, ctx->arena, &fresh))
		return RULE_CONTINUE;
	place = address_place(r, ctx, dst);
	if (!place)
		return RULE_CONTINUE;
	fresh.port = addr_is_inet(place) ? place->port : 0;
	*place = fresh;
	return RULE_CONTINUE;
}

static enum rule_result set_port(const struct rule *r, struct expr_ctx *ctx, bool dst)
{
	struct addr *place;
	int64_t port;

	if (!rule_value_eval(r->data, ctx, &port))
		return RULE_CONTINUE;
	place = address_place(r, ctx, dst);
	if (!place)
		return RULE_CONTINUE;
	if (!addr_is_inet(place))
		*place = (struct addr){ .family = ADDR_INET };
	place->port = (uint16_t)port;
	return RULE_CONTINUE;
}

static enum rule_result set_src_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	return set_address(r, ctx, false);
}

static enum rule_result set_dst_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	return set_address(r, ctx, true);
}

static enum rule_result set_src_port_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	return set_port(r, ctx, false);
}

static enum rule_result set_dst_port_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	return set_port(r, ctx, true);
}

/* --- marks -------------------------------------------------------------------------------- */

static enum rule_result fc_tos_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	struct session *sess = ctx->session;
	int64_t number;

	if (sess && sess->conn && rule_value_eval(r->data, ctx, &number))
		conn_set_tos(sess->conn, (uint8_t)number);
	return RULE_CONTINUE;
}

static enum rule_result fc_mark_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	struct session *sess = ctx->session;
	int64_t number;

	if (sess && sess->conn && rule_value_eval(r->data, ctx, &number))
		conn_set_mark(sess->conn, (uint32_t)number);
	return RULE_CONTINUE;
}

static enum rule_result bc_tos_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	struct stream_overrides *o = stream_overrides_get(ctx->stream);
	int64_t number;

	if (o && rule_value_eval(r->data, ctx, &number)) {
		o->has_tos = true;
		o->tos = (uint8_t)number;
	}
	return RULE_CONTINUE;
}

static enum rule_result bc_mark_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	struct stream_overrides *o = stream_overrides_get(ctx->stream);
	int64_t number;

	if (o && rule_value_eval(r->data, ctx, &number)) {
		o->has_mark = true;
		o->mark = (uint32_t)number;
	}
	return RULE_CONTINUE;
}

#define CONTENT RULES_BIT(RULES_TCP_CONTENT)
#define HTTP_REQ RULES_BIT(RULES_HTTP_REQUEST)
#define REQUESTS (RULES_BIT(RULES_TCP_CONNECTION) | RULES_BIT(RULES_TCP_SESSION) | CONTENT | \
		  HTTP_REQ)
#define ANY (REQUESTS | RULES_BIT(RULES_TCP_RESPONSE) | RULES_BIT(RULES_HTTP_RESPONSE))
#define ACTION(name, sets, parser, runner, what, text) \
	{ .words = name, .rulesets = sets, .parse = parser, .run = runner, .syntax = what, \
	  .help = text }

static const struct rule_action actions[] = {
	ACTION("set-bc-mark", CONTENT | HTTP_REQ, mark_parse, bc_mark_run, "{<mark>|<expr>}",
	       "mark the packets sent to the server"),
	ACTION("set-bc-tos", CONTENT | HTTP_REQ, number_parse, bc_tos_run, "{<tos>|<expr>}",
	       "set the TOS of packets sent to the server"),
	ACTION("set-dst", REQUESTS, expr_parse_value, set_dst_run, "<expr>",
	       "change the address that the client connected to"),
	ACTION("set-dst-port", REQUESTS, expr_parse_value, set_dst_port_run, "<expr>",
	       "change the port that the client connected to"),
	ACTION("set-fc-mark", ANY, mark_parse, fc_mark_run, "{<mark>|<expr>}",
	       "mark the packets sent to the client"),
	ACTION("set-fc-tos", ANY, number_parse, fc_tos_run, "{<tos>|<expr>}",
	       "set the TOS of packets sent to the client"),
	ACTION("set-mark", ANY, mark_parse, fc_mark_run, "{<mark>|<expr>}", "see set-fc-mark"),
	ACTION("set-src", REQUESTS, expr_parse_value, set_src_run, "<expr>",
	       "change the address of the client"),
	ACTION("set-src-port", REQUESTS, expr_parse_value, set_src_port_run, "<expr>",
	       "change the port of the client"),
	ACTION("set-tos", ANY, number_parse, fc_tos_run, "{<tos>|<expr>}", "see set-fc-tos"),
	{ 0 }
};

const struct module mod_addr_act = { .name = "address-actions", .actions = actions };
