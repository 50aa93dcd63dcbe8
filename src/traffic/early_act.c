/* SPDX-License-Identifier: GPL-2.0-or-later */
/* early_act.c - edge file: wait-for-handshake, for requests that came as early data (RFC 8470)
 *
 * Manual: configuration 4.4 wait-for-handshake.
 */
#include "core/task.h"
#include "stream/rule.h"
#include "stream/stream.h"
#include "stream/wait.h"
#include "tls/tls.h"

/* What a stream waits for: in its arena. */
struct early_wait {
	struct stream_wait wait;
	struct tls_waiter waiter;
};

static void early_cancel(struct stream_wait *wait)
{
	struct early_wait *w = container_of(wait, struct early_wait, wait);

	tls_waiter_cancel(&w->waiter);
	task_free(&w->waiter.task);
}

static const struct stream_wait_kind early_kind = { .name = "handshake", .cancel = early_cancel };

static void handshake_is_over(struct task *t, void *ctx, unsigned why)
{
	struct early_wait *w = ctx;

	task_free(&w->waiter.task);
	stream_wake(&w->wait);
}

/* False: no memory. */
static bool wait_begin(struct stream *s)
{
	struct early_wait *w = arena_zalloc(&s->arena, sizeof(*w));

	if (!w)
		return false;
	list_init(&w->waiter.link);
	w->waiter.task = task_new(handshake_is_over, w);
	if (!w->waiter.task)
		return false;
	tls_wait_handshake(s->sess->conn, &w->waiter);
	stream_wait_begin(s, &w->wait, &early_kind);
	s->rule.data = w;
	return true;
}

static enum rule_result wait_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	struct stream *s = ctx->stream;
	const struct early_wait *w = s->rule.data;

	if (!tls_is_early(s->sess->conn))
		return RULE_CONTINUE;
	if (s->front.flags & EP_ERROR)
		return RULE_CLOSE;
	if (w && !stream_wait_is_over(&w->wait))
		return RULE_WAIT;
	return wait_begin(s) ? RULE_WAIT : RULE_ERROR;
}

static const struct rule_action actions[] = {
	{ .words = "wait-for-handshake", .rulesets = RULES_BIT(RULES_HTTP_REQUEST),
	  .run = wait_run, .help = "go on once the client's TLS handshake is over" },
	{ 0 }
};

const struct module mod_early_act = { .name = "early-data-actions", .actions = actions };
