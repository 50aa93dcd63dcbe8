/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoe.c - filter spoe, send-spoe-group: messages to agents, and effects of answers
 *
 * A stream has at most one outstanding request for each of its engines: it waits for the answer.
 */
#include "base/clock.h"
#include "expr/vars.h"
#include "stream/action.h"
#include "stream/sample.h"
#include "spoe_priv.h"

struct spoe_state {
	struct spoe_request rq;
	struct filter *filter;
	bool is_sent, is_over;      /* a request was sent; its end is here, but not seen yet */
	bool off;                   /* after an error */
	unsigned handled;           /* bits of enum spoe_event */
	unsigned status;
	unsigned direction;         /* EXPR_DIR_*: of what was sent last */
	struct slice actions;       /* of the answer, in the stream's arena */
	uint64_t begun_ns, total_ns, deadline_ms;
};

const char *spoe_event_word(enum spoe_event event)
{
	static const char *const words[] = {
#define X(name, word, phase) word,
		SPOE_EVENTS(X)
#undef X
	};

	return words[event];
}

static const struct spoe_engine *engine_of(const struct filter *f)
{
	return f->conf->data;
}

/* --- sending ---------------------------------------------------------------------------------- */

static struct spop_value value_of(struct sample *smp, struct arena *arena)
{
	struct spop_value v = { .type = SPOP_NULL };

	switch (smp->type) {
	case SMP_BOOL:
		return (struct spop_value){ .type = SPOP_BOOL, .boolean = smp->boolean };
	case SMP_INT:
		return (struct spop_value){ .type = SPOP_INT64, .integer = smp->integer };
	case SMP_IPV4:
		return (struct spop_value){ .type = SPOP_IPV4,
			.bytes = slice_make((const char *)&smp->ipv4, sizeof(smp->ipv4)) };
	case SMP_IPV6:
		return (struct spop_value){ .type = SPOP_IPV6,
			.bytes = slice_make((const char *)smp->ipv6, sizeof(smp->ipv6)) };
	case SMP_BIN:
		return (struct spop_value){ .type = SPOP_BINARY, .bytes = smp->text };
	case SMP_STR: case SMP_METH:
		if (sample_cast(smp, SMP_STR, arena))
			return (struct spop_value){ .type = SPOP_STRING, .bytes = smp->text };
		break;
	default:
		break;
	}
	return v;
}

static void add_message(struct strbuf *b, const struct spoe_message *m, struct expr_ctx *ctx)
{
	spop_add_text(b, m->id);
	strbuf_add_char(b, (char)m->arg_count);
	for (const struct spoe_arg *a = m->args; a; a = a->next) {
		struct spop_value v = { .type = SPOP_NULL };
		struct sample smp;

		if (expr_eval(a->expr, ctx, &smp) == EXPR_FOUND)
			v = value_of(&smp, ctx->arena);
		spop_add_text(b, a->name);
		spop_add_value(b, &v);
	}
}

/* Those whose conditions hold. */
static void add_messages(struct strbuf *b, const struct spoe_message *m, struct expr_ctx *ctx)
{
	for (; m; m = m->next_here)
		if (condition_eval(m->condition, ctx) == EXPR_FOUND)
			add_message(b, m, ctx);
}

static void on_done(struct spoe_request *rq, unsigned status, struct slice actions)
{
	struct spoe_state *st = container_of(rq, struct spoe_state, rq);
	struct stream *s = st->filter->stream;

	st->is_over = true;
	st->status = status;
	st->actions = actions.len ? arena_copy(&s->arena, actions) : slice_none();
	if (actions.len && !st->actions.ptr)
		st->status = SPOE_ERR_RESOURCES;
	filter_wake(st->filter);
}

/* False: there is nothing to be sent. An error is an end, too. */
static bool send_messages(struct filter *f, const struct spoe_message *messages,
			  unsigned direction)
{
	struct spoe_agent *agent = engine_of(f)->agent;
	struct spoe_state *st = f->state;
	struct stream *s = f->stream;
	struct strbuf b;
	bool any;

	strbuf_init(&b);
	add_messages(&b, messages, stream_expr(s, direction | EXPR_FINAL));
	st->direction = direction;
	any = b.len || b.overflow;
	st->filter = f;
	st->is_sent = any;
	st->is_over = false;
	st->begun_ns = clock_now_ns();
	st->deadline_ms = UINT64_MAX;
	if (any && agent->timeout_ms)
		st->deadline_ms = clock_now_ms() + (uint64_t)agent->timeout_ms;
	st->rq.payload = any ? arena_copy(&s->arena, strbuf_slice(&b)) : slice_none();
	st->rq.done = on_done;
	if (any && (b.overflow || !st->rq.payload.ptr))
		on_done(&st->rq, SPOE_ERR_RESOURCES, slice_none());
	else if (any && b.len > spoe_payload_max(agent))
		on_done(&st->rq, SPOE_ERR_TOO_BIG, slice_none());
	else if (any)
		spoe_request_begin(agent, &st->rq);
	strbuf_fini(&b);
	return any;
}

/* --- answers ---------------------------------------------------------------------------------- */

static bool sample_of(const struct spop_value *v, struct sample *out)
{
	*out = (struct sample){ .flags = SMP_CONST };
	switch (v->type) {
	case SPOP_NULL:
		return false;
	case SPOP_BOOL:
		out->type = SMP_BOOL;
		out->boolean = v->boolean;
		return true;
	case SPOP_INT32: case SPOP_UINT32: case SPOP_INT64: case SPOP_UINT64:
		out->type = SMP_INT;
		out->integer = v->integer;
		return true;
	case SPOP_IPV4:
		out->type = SMP_IPV4;
		memcpy(&out->ipv4, v->bytes.ptr, sizeof(out->ipv4));
		return true;
	case SPOP_IPV6:
		out->type = SMP_IPV6;
		memcpy(out->ipv6, v->bytes.ptr, sizeof(out->ipv6));
		return true;
	case SPOP_STRING: case SPOP_BINARY:
		out->type = v->type == SPOP_STRING ? SMP_STR : SMP_BIN;
		out->text = v->bytes;
		return true;
	}
	return false;
}

/* prefix.name in a scope; <smp> NULL: not set any more. */
static void set_var(struct filter *f, enum var_scope scope, struct slice name,
		    const struct sample *smp, bool create)
{
	struct spoe_agent *agent = engine_of(f)->agent;
	const struct spoe_state *st = f->state;
	struct expr_ctx *ctx = stream_expr(f->stream, st->direction | EXPR_FINAL);
	size_t end = slice_find_char(name, 0, '\0'); /* as for HAProxy */
	struct strbuf b;

	strbuf_init(&b);
	strbuf_add_str(&b, agent->prefix);
	strbuf_add_char(&b, '.');
	strbuf_add(&b, slice_sub(name, 0, end < name.len ? end : name.len));
	if (!b.overflow)
		var_set_named(agent->config, scope, strbuf_slice(&b), ctx, smp, create);
	strbuf_fini(&b);
}

static void set_number(struct filter *f, const char *name, uint64_t number)
{
	struct sample smp = { .type = SMP_INT, .integer = (int64_t)number };

	if (name)
		set_var(f, VAR_TXN, slice_of(name), &smp, false);
}

/* Those behind one that makes no sense are passed over, as by HAProxy. */
static void do_actions(struct filter *f, struct slice in)
{
	static const enum var_scope scopes[] = { VAR_PROC, VAR_SESS, VAR_TXN, VAR_REQ, VAR_RES };
	bool create = engine_of(f)->agent->options & SPOE_FORCE_SET_VAR;
	struct spop_action a;
	struct sample smp;

	while (in.len && spop_action_take(&in, &a))
		set_var(f, scopes[a.scope], a.name,
			!a.is_unset && sample_of(&a.value, &smp) ? &smp : NULL, create);
}

/* --- the end of a request --------------------------------------------------------------------- */

static void tell(struct filter *f, const char *kind, const char *name, uint64_t ms)
{
	struct spoe_agent *agent = engine_of(f)->agent;
	const struct spoe_state *st = f->state;
	uint64_t failed = __atomic_load_n(&agent->failed, __ATOMIC_RELAXED);

	if ((!st->status && agent->options & SPOE_DONTLOG_NORMAL) ||
	    !log_is_wanted(f->stream->config, &agent->log))
		return;
	log_printf(f->stream->config, &agent->log, st->status ? LOG_LVL_WARNING : LOG_LVL_NOTICE,
		   "SPOE: [%s] <%s:%s> sid=%llu st=%u %llu %llu/%llu", agent->id, kind, name,
		   (unsigned long long)f->stream->id.in_process, st->status, (unsigned long long)ms,
		   (unsigned long long)failed,
		   (unsigned long long)__atomic_load_n(&agent->processed, __ATOMIC_RELAXED));
}

/* The answer, or that there is none. */
static void finish(struct filter *f, const char *kind, const char *name)
{
	struct spoe_agent *agent = engine_of(f)->agent;
	struct spoe_state *st = f->state;
	uint64_t ns = clock_now_ns() - st->begun_ns;

	spoe_request_cancel(&st->rq);
	st->is_sent = st->is_over = false;
	st->total_ns += ns;
	if (!st->status)
		do_actions(f, st->actions);
	set_number(f, agent->process_var, ns / NS_PER_MS);
	set_number(f, agent->total_var, st->total_ns / NS_PER_MS);
	__atomic_add_fetch(&agent->processed, 1, __ATOMIC_RELAXED);
	if (st->status) {
		__atomic_add_fetch(&agent->failed, 1, __ATOMIC_RELAXED);
		set_number(f, agent->error_var, st->status);
		st->off = !(agent->options & SPOE_CONTINUE_ON_ERROR);
	}
	tell(f, kind, name, ns / NS_PER_MS);
}

/* Is there an answer, or has it taken too long? Until then the stream runs at the deadline: the
 * timer may have been set to that of an event before, and fires once.
 */
static bool is_over(struct filter *f)
{
	struct spoe_state *st = f->state;
	uint64_t now_ms = clock_now_ms();

	if (!st->is_over && now_ms >= st->deadline_ms) {
		st->is_over = true;
		st->status = SPOE_ERR_TIMEOUT;
	}
	if (!st->is_over && st->deadline_ms != UINT64_MAX)
		filter_wake_ms(f, (int64_t)(st->deadline_ms - now_ms));
	return st->is_over;
}

/* --- events ----------------------------------------------------------------------------------- */

static enum filter_result run_event(struct filter *f, enum spoe_event event)
{
	const struct spoe_message *messages = engine_of(f)->by_event[event];
	struct spoe_state *st = f->state;
	unsigned bit = 1u << event;

	if (!messages || st->off || st->handled & bit)
		return FILTER_NEXT;
	if (!st->is_sent &&
	    !send_messages(f, messages, event >= SPOE_SERVER_SESSION ? EXPR_DIR_RESPONSE
								     : EXPR_DIR_REQUEST)) {
		st->handled |= bit;
		return FILTER_NEXT;
	}
	if (!is_over(f))
		return FILTER_WAIT;
	st->handled |= bit;
	finish(f, "EVENT", spoe_event_word(event));
	return FILTER_NEXT;
}

static enum filter_result spoe_begin(struct filter *f, enum filter_side side)
{
	if (side == FILTER_RESPONSE)
		return run_event(f, SPOE_SERVER_SESSION);
	return f->is_backend ? FILTER_NEXT : run_event(f, SPOE_CLIENT_SESSION);
}

static enum filter_result spoe_before(struct filter *f, enum filter_point point)
{
	switch (point) {
	case FILTER_POINT_TCP_REQUEST_FE:
		return run_event(f, SPOE_TCP_REQUEST_FE);
	case FILTER_POINT_HTTP_REQUEST_FE:
		return run_event(f, SPOE_HTTP_REQUEST_FE);
	case FILTER_POINT_TCP_REQUEST_BE:
		return run_event(f, SPOE_TCP_REQUEST_BE);
	case FILTER_POINT_HTTP_REQUEST_BE:
		return run_event(f, SPOE_HTTP_REQUEST_BE);
	case FILTER_POINT_TCP_RESPONSE:
		return run_event(f, SPOE_TCP_RESPONSE);
	case FILTER_POINT_HTTP_RESPONSE:
		return run_event(f, SPOE_HTTP_RESPONSE);
	default:
		return FILTER_NEXT;
	}
}

static void spoe_detach(struct filter *f)
{
	struct spoe_state *st = f->state;

	spoe_request_cancel(&st->rq);
}

static const struct filter_kind spoe_kinds[] = {
	{ .name = "spoe", .group = "SPOE", .id = "SPOE filter",
	  .state_size = sizeof(struct spoe_state), .parse = spoe_line_parse,
	  .check = spoe_line_check, .detach = spoe_detach, .begin = spoe_begin,
	  .before = spoe_before, .syntax = "[engine <name>] config <file>",
	  .help = "ask an agent about streams (SPOE)" },
	{ 0 }
};

/* --- send-spoe-group -------------------------------------------------------------------------- */

struct group_rule {
	const char *engine_id, *group_id;
	const struct filter_conf *filter;
	const struct spoe_group *group;
};

static bool group_parse(struct conf_line *l, struct rule *r)
{
	struct group_rule *g = arena_zalloc(&l->cfg->arena, sizeof(*g));

	if (!g)
		return rule_no_memory(l, r);
	r->data = g;
	if (rule_at_end(l) || l->at + 1 >= l->count)
		return rule_error(l, r, l->at, "expects the name of an engine and the one of a "
				  "group");
	g->engine_id = conf_next(l);
	g->group_id = conf_next(l);
	return true;
}

static bool group_problem(const struct rule *r, struct diag_list *diags, const char *fmt,
			  const char *name)
{
	struct diag_place place = { .file = r->file, .line = r->line };

	diag_add(diags, DIAG_ALERT, &place, NULL, fmt, name, r->proxy->name);
	return false;
}

static bool group_check(struct config *cfg, struct rule *r, struct diag_list *diags)
{
	struct group_rule *g = r->data;
	const struct spoe_engine *e = NULL;
	const struct spoe_group *group;

	g->filter = filter_conf_find(r->proxy, spoe_kinds, g->engine_id);
	if (!g->filter)
		return group_problem(r, diags, "unable to find SPOE engine '%s' used by the "
				     "send-spoe-group of proxy '%s'.", g->engine_id);
	e = g->filter->data;
	for (group = e->groups; group && strcmp(group->id, g->group_id) != 0;)
		group = group->next;
	if (!group || !group->is_used)
		return group_problem(r, diags, "unable to find SPOE group '%s' used by the "
				     "send-spoe-group of proxy '%s': the agent must list it.",
				     g->group_id);
	for (const struct spoe_message *m = group->messages; m; m = m->next_here)
		for (const struct spoe_arg *a = m->args; a; a = a->next)
			if (!(expr_phases(a->expr) & rule_phases(r->proxy, r->set)))
				return group_problem(r, diags, "an argument of the SPOE group '%s' "
						     "is not available where a rule of proxy '%s' "
						     "sends it.", g->group_id);
	g->group = group;
	return true;
}

static enum rule_result group_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct group_rule *g = r->data;
	struct stream *s = ctx->stream;
	struct filter *f = filter_of_stream(s, g->filter);
	struct spoe_state *st = f ? f->state : NULL;
	bool answer = r->set == RULES_TCP_RESPONSE || r->set == RULES_HTTP_RESPONSE ||
		      r->set == RULES_HTTP_AFTER;

	if (!st || (st->off && !st->is_sent))
		return RULE_CONTINUE;
	if (!st->is_sent && !send_messages(f, g->group->messages,
				  answer ? EXPR_DIR_RESPONSE : EXPR_DIR_REQUEST))
		return RULE_CONTINUE;
	if (!is_over(f) && !(s->front.flags & EP_ERROR))
		return RULE_WAIT;
	if (!st->is_over)
		st->status = SPOE_ERR_INTERRUPTED;
	finish(f, "GROUP", g->group_id);
	return RULE_CONTINUE;
}

static const struct rule_action actions[] = {
	{ .words = "send-spoe-group",
	  .rulesets = RULES_BIT(RULES_TCP_CONTENT) | RULES_BIT(RULES_TCP_RESPONSE) |
		      RULES_BIT(RULES_HTTP_REQUEST) | RULES_BIT(RULES_HTTP_RESPONSE),
	  .parse = group_parse, .check = group_check, .run = group_run,
	  .syntax = "<engine> <group>", .help = "send a group of messages to an agent (SPOE)" },
	{ 0 }
};

/* --- spoe.engine-id --------------------------------------------------------------------------- */

static enum expr_result fetch_engine_id(struct expr_ctx *ctx, const struct expr_arg *args,
					struct sample *out)
{
	const struct spoe_agent *a = ctx->stream ? spoe_agent_of_stream(ctx->stream) : NULL;

	return a ? smp_give_text(out, slice_of(a->engine_id)) : EXPR_NONE;
}

static const struct expr_fetch fetches[] = {
	{ .name = "spoe.engine-id", .out = SMP_STR, .use = EXPR_USE_INTERNAL,
	  .fetch = fetch_engine_id,
	  .help = "id of the SPOE engine that a connection to an agent is of" },
	{ 0 }
};

static struct slot *const slots[] = { &spoe_config_slot, NULL };

const struct module mod_spoe = {
	.name = "spoe", .sections = spoe_sections, .keywords = spoe_keywords,
	.filters = spoe_kinds, .actions = actions, .fetches = fetches, .slots = slots,
};
