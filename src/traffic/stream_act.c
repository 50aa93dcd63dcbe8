/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream_act.c - edge file: actions on how a stream goes on: timeouts, tries, ranks, waits
 *
 * An action that waits sets the stream's deadline when it begins and checks it each time that it is
 * called again.
 * Manual: configuration 4.4 set-timeout, set-retries, pause, wait-for-body...
 */
#include <stdlib.h>
#include "base/num.h"
#include "conf/conf.h"
#include "stream/action.h"
#include "stream/log.h"
#include "stream/stream.h"

#define LARGE_MAX (256u << 20)

/* --- timeouts and tries ------------------------------------------------------------------- */

struct timeout_arg {
	enum stream_timeout which;
	struct rule_value value;
};

static bool timeout_parse(struct conf_line *l, struct rule *r)
{
	static const char *const names[STREAM_TIMEOUTS] = {
		[STREAM_TIMEOUT_CLIENT] = "client", [STREAM_TIMEOUT_SERVER] = "server",
		[STREAM_TIMEOUT_TUNNEL] = "tunnel", [STREAM_TIMEOUT_CONNECT] = "connect",
		[STREAM_TIMEOUT_QUEUE] = "queue", [STREAM_TIMEOUT_TARPIT] = "tarpit",
	};
	struct timeout_arg *arg = arena_zalloc(&l->cfg->arena, sizeof(*arg));
	const char *word = conf_peek(l);
	unsigned caps = r->proxy->caps;

	if (!arg)
		return rule_no_memory(l, r);
	if (rule_at_end(l))
		return rule_error(l, r, l->at, "expects exactly 2 arguments");
	while (arg->which < STREAM_TIMEOUTS && strcmp(names[arg->which], word) != 0)
		arg->which++;
	if (arg->which == STREAM_TIMEOUTS)
		return rule_error(l, r, l->at, "'set-timeout' rule supports "
				  "'client'/'connect'/'queue'/'server'/'tarpit'/'tunnel' "
				  "(got '%s')", word);
	if (arg->which != STREAM_TIMEOUT_TARPIT &&
	    !(caps & (PROXY_DEFAULTS | (arg->which ? PROXY_BE : PROXY_FE))))
		return rule_error(l, r, l->at, "'%s' has no %s capability", r->proxy->name,
				  arg->which ? "backend" : "frontend");
	l->at++;
	if (rule_at_end(l))
		return rule_error(l, r, l->at, "expects exactly 2 arguments");
	r->data = arg;
	return rule_value_take_time(l, r, &arg->value);
}

static enum rule_result timeout_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	struct stream_overrides *o = stream_overrides_get(ctx->stream);
	const struct timeout_arg *arg = r->data;
	int64_t ms;

	if (o && rule_value_eval(&arg->value, ctx, &ms) && ms > 0)
		o->timeout_ms[arg->which] = ms;
	return RULE_CONTINUE;
}

static bool retries_parse(struct conf_line *l, struct rule *r)
{
	struct rule_value *v = arena_zalloc(&l->cfg->arena, sizeof(*v));
	const char *word = conf_peek(l);

	if (!v)
		return rule_no_memory(l, r);
	r->data = v;
	if (!(r->proxy->caps & PROXY_BE) || r->proxy->caps & PROXY_DEFAULTS)
		return rule_error(l, r, l->at - 1,
				  "'set-retries' only available in backend or listen section");
	if (rule_at_end(l))
		return rule_error(l, r, l->at, "expects exactly 1 argument (an expression or an "
				  "integer between 0 and 100)");
	if (!ascii_is_digit(*word) && *word != '-')
		return rule_value_take_expr(l, r, v);
	if (!num_parse_range(slice_of(word), 0, 100, &v->number))
		return rule_error(l, r, l->at, "expects an expression or an integer between 0 "
				  "and 100, not '%s'", word);
	l->at++;
	return true;
}

static enum rule_result retries_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	int64_t number;

	if (rule_value_eval(r->data, ctx, &number) && number >= 0 && number <= 100)
		ctx->stream->retry.left = (uint16_t)number;
	return RULE_CONTINUE;
}

static enum rule_result disable_l7_retry_run(const struct rule *r, struct expr_ctx *ctx,
					     bool *first)
{
	ctx->stream->flags |= STRM_NO_L7_RETRY;
	return RULE_CONTINUE;
}

/* --- rank in queues ----------------------------------------------------------------------- */

static int64_t clamp(int64_t value, int64_t limit)
{
	return value < -limit ? -limit : value > limit ? limit : value;
}

static bool priority_parse(struct conf_line *l, struct rule *r)
{
	struct rule_value *v = arena_zalloc(&l->cfg->arena, sizeof(*v));

	r->data = v;
	return v ? rule_value_take_expr(l, r, v) : rule_no_memory(l, r);
}

static enum rule_result priority_class_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	int64_t number;

	if (rule_value_eval(r->data, ctx, &number))
		ctx->stream->queue.priority_class = (int16_t)clamp(number, 2047);
	return RULE_CONTINUE;
}

static enum rule_result priority_offset_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	int64_t number;

	if (rule_value_eval(r->data, ctx, &number))
		ctx->stream->queue.priority_offset_ms = (int32_t)clamp(number, 524287);
	return RULE_CONTINUE;
}

/* --- waits -------------------------------------------------------------------------------- */

static bool pause_parse(struct conf_line *l, struct rule *r)
{
	struct rule_value *v = arena_zalloc(&l->cfg->arena, sizeof(*v));

	r->data = v;
	return v ? rule_value_take_time(l, r, v) : rule_no_memory(l, r);
}

static enum rule_result pause_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	struct stream *s = ctx->stream;
	int64_t ms;

	if (*first) {
		if (!rule_value_eval(r->data, ctx, &ms) || ms <= 0)
			return RULE_CONTINUE;
		stream_wait_ms(s, ms);
	}
	/* no client is left to be slowed down */
	if (!stream_is_late(s) && !(s->front.flags & EP_ERROR))
		return RULE_WAIT;
	s->due.stage_ms = TIMER_NEVER;
	return RULE_CONTINUE;
}

struct body_arg {
	int64_t time_ms;
	uint64_t at_least; /* 0: all of it */
	bool large;        /* use-large-buffer */
	size_t most;       /* of the body that is waited for; 0: a buffer */
};

static bool body_take_time(struct conf_line *l, struct rule *r, int64_t *ms)
{
	size_t bad = 0;
	uint64_t us;

	if (rule_at_end(l))
		return rule_error(l, r, l->at, "missing argument for 'time'");
	if (num_parse_time(slice_of(conf_peek(l)), NUM_MS, &us, &bad) != NUM_OK)
		return rule_error(l, r, l->at, "unexpected character '%c' in '%s' (a time is "
				  "expected)", conf_peek(l)[bad], conf_peek(l));
	*ms = (int64_t)num_us_to_ms(us);
	l->at++;
	return true;
}

static bool body_take_size(struct conf_line *l, struct rule *r, uint64_t *size)
{
	size_t bad = 0;

	if (rule_at_end(l))
		return rule_error(l, r, l->at, "missing argument for 'at-least'");
	if (num_parse_size(slice_of(conf_peek(l)), size, &bad) != NUM_OK)
		return rule_error(l, r, l->at, "unexpected character '%c' in '%s' (a size is "
				  "expected)", conf_peek(l)[bad], conf_peek(l));
	l->at++;
	return true;
}

/* tune.bufsize.large of a configuration; 0: it is not set. */
static struct slot large_slot = { .of = SLOT_CONFIG, .size = sizeof(uint64_t) };

/* Only `use-large-buffer` has such bodies, as pieces of several buffers: nothing is allocated. */
static bool parse_large(struct conf_line *l)
{
	uint64_t *large = slot_of(&large_slot, config_slots(l->cfg));

	if (!conf_take_size(l, large) || !conf_take_end(l))
		return false;
	if (!*large)
		return conf_error(l, l->at - 1, NULL, "'tune.bufsize.large' expects a positive "
				  "integer argument.");
	return *large < LARGE_MAX ||
	       conf_error(l, l->at - 1, NULL, "global.tune.bufsize_large must be below 256 MB when "
			  "HTTP is in use (current value = %llu).", (unsigned long long)*large);
}

/* A size below that of buffers is none. */
static void check_large(struct config *cfg, struct diag_list *diags)
{
	uint64_t *large = slot_of(&large_slot, config_slots(cfg));

	if (!*large || *large >= block_size())
		return;
	diag_add(diags, DIAG_WARNING, &(struct diag_place){ .form = DIAG_BARE }, NULL,
		 "tune.bufsize.large (%llu) is lower than tune.bufsize (%llu). large buffers "
		 "support is disabled. Please fix either value to remove this warning.",
		 (unsigned long long)*large, (unsigned long long)block_size());
	*large = 0;
}

/* time <time> [at-least <bytes>] [use-large-buffer] */
static bool body_parse(struct conf_line *l, struct rule *r)
{
	struct body_arg *arg = arena_zalloc(&l->cfg->arena, sizeof(*arg));
	bool has_time = false;

	if (!arg)
		return rule_no_memory(l, r);
	r->data = arg;
	while (!rule_at_end(l)) {
		if (strcmp(conf_peek(l), "time") == 0) {
			l->at++;
			has_time = true;
			if (!body_take_time(l, r, &arg->time_ms))
				return false;
		} else if (strcmp(conf_peek(l), "at-least") == 0) {
			l->at++;
			if (!body_take_size(l, r, &arg->at_least))
				return false;
		} else if (strcmp(conf_peek(l), "use-large-buffer") == 0) {
			l->at++;
			arg->large = true;
		} else {
			return rule_error(l, r, l->at, "unknown argument '%s', expects time "
					  "<time> [ at-least <bytes> ]", conf_peek(l));
		}
	}
	return has_time || rule_error(l, r, l->at, "expects time <time> [ at-least <bytes> ]");
}

static bool body_check(struct config *cfg, struct rule *r, struct diag_list *diags)
{
	const uint64_t *large = slot_of(&large_slot, config_slots(cfg));
	struct body_arg *arg = r->data;

	if (!arg->large)
		return true;
	if (*large > block_size())
		arg->most = (size_t)*large;
	if (*large >= block_size())
		return true;
	diag_add(diags, DIAG_ALERT, &(struct diag_place){ .form = DIAG_BARE }, NULL,
		 "Proxy '%s': unable to use large buffers at %s:%d, 'tune.bufsize.large' global "
		 "parameter must be set.", r->proxy->name, r->file, r->line);
	return false;
}

/* Is there enough of the body, or can there be no more? */
static bool body_is_here(const struct endpoint *ep, const struct body_arg *arg)
{
	if (ep->flags & (EP_RX_END | EP_RX_BAD | EP_RX_ABORT | EP_ERROR))
		return true;
	return ep->rx.len >= (arg->most ? arg->most : block_size()) - 1024 ||
	       (arg->at_least && ep->rx.len >= arg->at_least);
}

static enum rule_result body_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	bool response = r->set == RULES_HTTP_RESPONSE;
	const struct body_arg *arg = r->data;
	struct stream *s = ctx->stream;
	struct endpoint *ep = response ? &s->back : &s->front;

	if (*first) {
		struct stream_overrides *o = arg->most ? stream_overrides_get(s) : NULL;

		if (o)
			o->hold_bytes = (uint32_t)arg->most;
		if (!response)
			stream_send_continue(s);
		stream_wait_ms(s, arg->time_ms);
	}
	if (body_is_here(ep, arg)) {
		s->due.stage_ms = TIMER_NEVER;
		return RULE_CONTINUE;
	}
	if (!stream_is_late(s))
		return RULE_WAIT;
	s->due.stage_ms = TIMER_NEVER;
	return RULE_TIMEOUT;
}

/* --- logs --------------------------------------------------------------------------------- */

/* The section that is meant may come later. */
struct do_log_arg { const char *name; const struct log_profile *profile; };

static bool do_log_parse(struct conf_line *l, struct rule *r)
{
	struct do_log_arg *arg;

	if (rule_at_end(l) || strcmp(conf_peek(l), "profile") != 0)
		return true;
	l->at++;
	if (!conf_peek(l))
		return rule_error(l, r, l->at - 1, "action 'do-log': 'profile' expects argument.");
	r->data = arg = arena_zalloc(&l->cfg->arena, sizeof(*arg));
	if (!arg)
		return rule_no_memory(l, r);
	arg->name = conf_next(l);
	return true;
}

static bool do_log_check(struct config *cfg, struct rule *r, struct diag_list *diags)
{
	struct do_log_arg *arg = r->data;

	if (!arg)
		return true;
	arg->profile = log_profile_find(cfg, arg->name);
	if (!arg->profile)
		diag_add(diags, DIAG_ALERT, &(struct diag_place){ .form = DIAG_BARE }, NULL,
			 "Proxy '%s': do-log action: profile '%s' is invalid.", r->proxy->name,
			 arg->name);
	return arg->profile;
}

static enum rule_result do_log_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	static const enum log_step steps[RULES_COUNT] = {
		[RULES_QUIC_INITIAL] = LOG_STEP_QUIC_INIT,
		[RULES_TCP_CONNECTION] = LOG_STEP_TCP_REQ_CONN,
		[RULES_TCP_SESSION] = LOG_STEP_TCP_REQ_SESS,
		[RULES_TCP_CONTENT] = LOG_STEP_TCP_REQ_CONT,
		[RULES_TCP_RESPONSE] = LOG_STEP_TCP_RES_CONT,
		[RULES_HTTP_REQUEST] = LOG_STEP_HTTP_REQ,
		[RULES_HTTP_RESPONSE] = LOG_STEP_HTTP_RES,
		[RULES_HTTP_AFTER] = LOG_STEP_HTTP_AFTER_RES,
	};
	const struct do_log_arg *arg = r->data;

	if (ctx->session)
		stream_log_now(ctx->session, ctx->stream, steps[r->set],
			       arg ? arg->profile : NULL);
	return RULE_CONTINUE;
}

#define CONTENT RULES_BIT(RULES_TCP_CONTENT)
#define HTTP_REQ RULES_BIT(RULES_HTTP_REQUEST)
#define HTTP_RES RULES_BIT(RULES_HTTP_RESPONSE)
#define ACTION(name, sets, parser, runner, what, text) \
	{ .words = name, .rulesets = sets, .parse = parser, .run = runner, .syntax = what, \
	  .help = text }
#define ALL (RULES_BIT(RULES_COUNT) - 1)

static const struct rule_action actions[] = {
	ACTION("disable-l7-retry", HTTP_REQ, NULL, disable_l7_retry_run, "",
	       "retry only what could not be connected"),
	{ .words = "do-log", .rulesets = ALL, .parse = do_log_parse, .check = do_log_check,
	  .run = do_log_run, .syntax = "[profile <name>]", .help = "write a log line now" },
	ACTION("pause", HTTP_REQ | HTTP_RES, pause_parse, pause_run, "{<time>|<expr>}",
	       "wait that long before the next rule"),
	ACTION("set-priority-class", CONTENT | HTTP_REQ, priority_parse, priority_class_run,
	       "<expr>", "rank in queues, lower first"),
	ACTION("set-priority-offset", CONTENT | HTTP_REQ, priority_parse, priority_offset_run,
	       "<expr>", "milliseconds added to the date in queues"),
	ACTION("set-retries", CONTENT | HTTP_REQ, retries_parse, retries_run, "{<number>|<expr>}",
	       "how often to try servers for this request"),
	ACTION("set-timeout", HTTP_REQ | HTTP_RES, timeout_parse, timeout_run,
	       "{client|connect|queue|server|tarpit|tunnel} {<time>|<expr>}",
	       "another timeout for this stream"),
	{ .words = "wait-for-body", .rulesets = HTTP_REQ | HTTP_RES, .parse = body_parse,
	  .check = body_check, .run = body_run,
	  .syntax = "time <time> [at-least <bytes>] [use-large-buffer]",
	  .help = "wait for the body, or for so much of it" },
	{ 0 }
};

static const struct conf_keyword keywords[] = {
	{ .words = "tune.bufsize.large", .where = CONF_GLOBAL, .min_args = 1, .max_args = 1,
	  .parse = parse_large, .syntax = "<size>",
	  .help = "most of a body that 'wait-for-body ... use-large-buffer' waits for" },
	{ 0 }
};

static struct slot *const slots[] = { &large_slot, NULL };

const struct module mod_stream_act = {
	.name = "stream-actions", .actions = actions, .keywords = keywords, .slots = slots,
	.check = check_large,
};
