/* SPDX-License-Identifier: GPL-2.0-or-later */
/* early_act.c - edge file: wait-for-handshake, for requests that came as early data (RFC 8470)
 *
 * Manual: configuration 4.4 wait-for-handshake.
 */
#include "core/task.h"
#include "stream/rule.h"
#include "stream/stream.h"
#include "tls/tls.h"

/* What a stream that has waited keeps. */
struct early_wait {
	struct tls_waiter waiter;
};

static void early_fini(void *data)
{
	struct early_wait *w = *(struct early_wait **)data;

	if (!w)
		return;
	tls_waiter_cancel(&w->waiter);
	task_free(&w->waiter.task);
}

static struct slot early_slot = {
	.of = SLOT_STREAM, .size = sizeof(struct early_wait *), .fini = early_fini,
};
static struct slot *const slots[] = { &early_slot, NULL };

static void handshake_is_over(struct task *t, void *ctx, unsigned why)
{
	stream_run(ctx);
}

static struct early_wait *wait_of(struct stream *s)
{
	struct early_wait **place = slot_of(&early_slot, stream_slots(s)), *w = *place;

	if (w)
		return w;
	w = arena_zalloc(&s->arena, sizeof(*w));
	if (!w)
		return NULL;
	list_init(&w->waiter.link);
	w->waiter.task = task_new(handshake_is_over, s);
	if (w->waiter.task)
		*place = w;
	return *place;
}

static enum rule_result wait_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	struct stream *s = ctx->stream;
	struct early_wait *w;

	if (!tls_is_early(s->sess->conn))
		return RULE_CONTINUE;
	if (s->front.flags & EP_ERROR)
		return RULE_CLOSE;
	w = wait_of(s);
	if (!w)
		return RULE_ERROR;
	tls_wait_handshake(s->sess->conn, &w->waiter);
	return RULE_WAIT;
}

static const struct rule_action actions[] = {
	{ .words = "wait-for-handshake", .rulesets = RULES_BIT(RULES_HTTP_REQUEST),
	  .run = wait_run, .help = "go on once the client's TLS handshake is over" },
	{ 0 }
};

const struct module mod_early_act = { .name = "early-data-actions", .actions = actions,
				      .slots = slots };
