/* SPDX-License-Identifier: GPL-2.0-or-later */
/* action.c - actions of scripts: `http-request lua.NAME`, which may wait */
#include "base/bug.h"
#include "base/clock.h"
#include "class_priv.h"
#include "core/timer.h"
#include "room_priv.h"
#include "row_priv.h"
#include "run_priv.h"
#include "stream/stream.h"
#include "stream/wait.h"

/* What a function returns: act.CONTINUE and the others. */
enum act {
	ACT_CONTINUE, ACT_STOP, ACT_YIELD, ACT_ERROR, ACT_DONE, ACT_DENY, ACT_ABORT, ACT_INVALID,
};

struct action_rule {
	const struct script_function *fn;
	char **args;
};

/* A call that has begun: in the arena of its stream. */
struct action_call {
	struct stream_wait wait;
	struct timer timer;
	struct script_run run;
	lua_Integer result;
	bool is_again;                /* it waits to be called once more: act.wake_time() */
};

static struct script_function *function_of(const struct rule_action *a)
{
	return container_of(a, struct script_function, action);
}

static bool action_parse(struct conf_line *l, struct rule *r)
{
	struct script_function *fn = function_of(r->action);
	struct action_rule *ar = arena_zalloc(&l->cfg->arena, sizeof(*ar));

	if (ar)
		ar->args = arena_zalloc(&l->cfg->arena,
					((size_t)fn->arg_count + 1) * sizeof(char *));
	if (!ar || !ar->args)
		return rule_no_memory(l, r);
	ar->fn = fn;
	r->data = ar;
	for (int i = 0; i < fn->arg_count; i++) {
		if (!conf_peek(l))
			return rule_error(l, r, l->at, "expects %d arguments", fn->arg_count);
		ar->args[i] = l->words[l->at++];
	}
	return true;
}

static void call_cancel(struct stream_wait *wait)
{
	struct action_call *c = container_of(wait, struct action_call, wait);

	timer_cancel(&c->timer);
	script_end(&c->run);
}

static const struct stream_wait_kind call_kind = { .name = "lua", .cancel = call_cancel };

static void call_due(struct timer *t)
{
	stream_wake(&container_of(t, struct action_call, timer)->wait);
}

static void call_wake(struct script_run *run)
{
	stream_wake(&container_of(run, struct action_call, run)->wait);
}

static int push_call(lua_State *L, struct script_run *run, void *data)
{
	const struct action_rule *ar = data;

	script_push_txn(L, run);
	for (int i = 0; i < ar->fn->arg_count; i++)
		lua_pushstring(L, ar->args[i]);
	return 1 + ar->fn->arg_count;
}

static void take_act(lua_State *L, struct script_run *run, void *data)
{
	struct action_call *c = data;

	c->result = run->result_count ? lua_tointeger(L, -1) : ACT_CONTINUE;
}

static enum rule_result verdict(const struct action_call *c)
{
	switch (c->result) {
	case ACT_STOP:
	case ACT_DONE:
	case ACT_ABORT:
		return RULE_ACCEPT;
	case ACT_ERROR:
		return RULE_ERROR;
	case ACT_DENY:
		return RULE_DENY;
	case ACT_INVALID:
		return RULE_BAD_REQUEST;
	case ACT_YIELD: /* from the start when something changes */
		return RULE_WAIT;
	default:
		return RULE_CONTINUE;
	}
}

/* In mode tcp a script may read and change what has come, and say something to the client. */
static void show_bytes(struct script_run *run, struct stream *s)
{
	struct endpoint *from = run->ctx->flags & EXPR_DIR_RESPONSE ? &s->back : &s->front;

	if (s->flags & STRM_HTTP)
		return;
	run->ways[FILTER_RESPONSE].out = &s->front.tx;
	run->ways[from == &s->back].in = &from->rx;
	run->ways[from == &s->back].is_ended = from->flags & EP_RX_END;
}

static enum rule_result call_waits(struct action_call *c, struct stream *s, uint64_t until_ms)
{
	s->rule.data = c;
	stream_wait_begin(s, &c->wait, &call_kind);
	timer_set(&c->timer, until_ms);
	return RULE_WAIT;
}

static enum rule_result call_go(struct action_call *c, struct stream *s)
{
	enum script_step step;
	bool is_done, has_reply;

	timer_cancel(&c->timer); /* something else may have ended the wait */
	show_bytes(&c->run, s);
	step = script_go(&c->run, take_act, c);
	if (!(s->flags & STRM_HTTP) && s->front.tx.len && s->front.ops)
		s->front.ops->send(&s->front);
	is_done = c->run.is_done;
	has_reply = c->run.has_reply;
	if (step == SCRIPT_WAITS)
		return call_waits(c, s, c->run.wake_ms);
	s->rule.data = NULL;
	script_end(&c->run);
	if (step == SCRIPT_FAILED)
		return RULE_CONTINUE;
	if (is_done)
		return has_reply ? RULE_REPLY : RULE_REJECT;
	c->is_again = c->result == ACT_YIELD && c->run.again_ms;
	if (c->is_again)
		return call_waits(c, s, clock_now_ms() + (uint64_t)c->run.again_ms);
	return verdict(c);
}

/* The first call, or the next one after act.YIELD. */
static enum rule_result call_begin(struct action_call *c, const struct rule *r,
				   struct expr_ctx *ctx)
{
	struct action_rule *ar = r->data;

	ctx->stream->rule.data = NULL;
	c->is_again = false;
	c->run = (struct script_run){ .may_wait = true, .wake = call_wake,
				      .limit_ms = ar->fn->room->session_ms,
				      .proxy = r->proxy };
	if (!script_begin(&c->run, ar->fn, ctx, push_call, ar))
		return RULE_CONTINUE;
	return call_go(c, ctx->stream);
}

static enum rule_result action_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	struct stream *s = ctx->stream;
	struct action_call *c = s->rule.data;

	if (!c) {
		c = arena_zalloc(&s->arena, sizeof(*c));
		if (!c)
			return RULE_ERROR;
		timer_init(&c->timer, call_due);
		return call_begin(c, r, ctx);
	}
	if (!stream_wait_is_over(&c->wait)) {
		if (!(s->front.flags & EP_ERROR))
			return RULE_WAIT;
		stream_wait_cancel(&c->wait);
		s->rule.data = NULL;
		return RULE_CONTINUE;
	}
	if (c->is_again)
		return call_begin(c, r, ctx);
	c->run.ctx = ctx;
	return call_go(c, s);
}

void script_action_row(struct script_function *fn)
{
	struct script_function *other = fn->room->functions;

	if (fn->action.words)
		return; /* by the state of another thread */
	for (; other; other = other->next)
		if (other != fn && other->kind == SCRIPT_ACTION &&
		    strcmp(other->own_name, fn->own_name) == 0)
			other->action.rulesets &= ~fn->sets;
	fn->action.words = fn->name;
	fn->action.rulesets = fn->sets;
	fn->action.parse = action_parse;
	fn->action.run = action_run;
}

const struct rule_action *script_action_find(const struct config *cfg, const char *name,
					     unsigned sets)
{
	const struct script_function *fn = script_room_of(cfg)->functions;

	for (; fn; fn = fn->next)
		if (fn->kind == SCRIPT_ACTION && fn->action.rulesets & sets &&
		    strcmp(fn->name, name) == 0)
			return &fn->action;
	return NULL;
}
