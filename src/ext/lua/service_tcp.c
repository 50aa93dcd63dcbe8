/* SPDX-License-Identifier: GPL-2.0-or-later */
/* service_tcp.c - services of mode tcp that scripts bring: `tcp-request content use-service` */
#include "base/bug.h"
#include "base/clock.h"
#include "class_priv.h"
#include "core/timer.h"
#include "room_priv.h"
#include "row_priv.h"
#include "run_priv.h"
#include "stream/stream.h"

#define IN_MAX (64 * 1024)    /* bytes of the client that wait for the script */

struct tcp_applet {
	struct script_applet applet;
	struct service_call *call;    /* NULL: it has not begun */
	struct script_run run;
	struct expr_ctx ctx;
	struct timer timer;
	bool over;
	bool is_due;                  /* it may go on */
};

static void bytes_taken(struct script_applet *a)
{
	service_read(container_of(a, struct tcp_applet, applet)->call);
}

static int push_applet(lua_State *L, struct script_run *run, void *data)
{
	script_push_applet(L, run, data);
	return 1;
}

static void applet_due(struct timer *t)
{
	struct tcp_applet *a = container_of(t, struct tcp_applet, timer);

	a->is_due = true;
	service_continue(a->call);
}

static void applet_wake(struct script_run *run)
{
	struct tcp_applet *a = container_of(run, struct tcp_applet, run);

	timer_cancel(&a->timer);
	applet_due(&a->timer);
}

static bool applet_open(struct tcp_applet *a, struct service_call *c)
{
	struct script_function *fn = container_of(c->kind, struct script_function, service);
	unsigned flags = c->stream->expr.flags;

	a->call = c;
	a->ctx = *stream_expr(c->stream, EXPR_DIR_REQUEST | EXPR_FINAL);
	c->stream->expr.flags = flags;
	timer_init(&a->timer, applet_due);
	strbuf_init(&a->applet.out);
	a->applet.in = &c->body;
	a->applet.is_whole = &c->body_is_whole;
	a->applet.taken = bytes_taken;
	a->run.may_wait = true;
	a->run.wake = applet_wake;
	a->run.limit_ms = fn->room->service_ms;
	a->run.proxy = c->proxy;
	a->is_due = true;
	return script_begin(&a->run, fn, &a->ctx, push_applet, &a->applet);
}

/* Lets the script go on, if it can. */
static void applet_go(struct tcp_applet *a)
{
	if (a->over || (!a->is_due && !a->applet.wants))
		return;
	timer_cancel(&a->timer);
	a->is_due = a->applet.wants = false;
	if (script_go(&a->run, NULL, NULL) != SCRIPT_WAITS) {
		a->over = true;
		script_end(&a->run);
		return;
	}
	a->is_due = a->run.wake_ms <= clock_now_ms();
	if (!a->is_due)
		timer_set(&a->timer, a->run.wake_ms);
}

static enum service_result applet_part(struct service_call *c, struct strbuf *out)
{
	struct tcp_applet *a = c->state;

	if (!a->call && !applet_open(a, c))
		a->over = true;
	if (!a->applet.out.len)
		applet_go(a);
	if (a->applet.out.len && !strbuf_add(out, strbuf_slice(&a->applet.out)))
		return SERVICE_ERROR;
	strbuf_reset(&a->applet.out);
	if (a->over)
		return SERVICE_DONE;
	return a->is_due ? SERVICE_MORE : SERVICE_WAIT;
}

static void applet_end(struct service_call *c)
{
	struct tcp_applet *a = c->state;

	if (!a->call)
		return;
	timer_cancel(&a->timer);
	script_end(&a->run);
	strbuf_fini(&a->applet.out);
}

void script_service_tcp_row(struct script_function *fn)
{
	fn->said = arena_printf(&fn->room->cfg->arena, "<%s>", fn->name);
	fn->service = (struct service_kind){
		.name = fn->name, .shown = fn->said, .state_size = sizeof(struct tcp_applet),
		.body_max = IN_MAX, .streams_body = true, .is_raw = true, .part = applet_part,
		.end = applet_end,
	};
}
