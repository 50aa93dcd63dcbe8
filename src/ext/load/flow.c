/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow.c - sends one request after another, and handles their answers */
#include "base/bug.h"
#include "base/clock.h"
#include "load_priv.h"

/* Before another try, where no connection was to be had. */
#define PAUSE_MS 20

static void flow_wake(struct endpoint *ep);

static const struct endpoint_user flow_user = { .wake = flow_wake };

static struct flow *flow_of(struct endpoint *ep)
{
	return (struct flow *)ep;
}

void flow_ready(struct flow *f)
{
	struct load_thread *t = f->client->thread;

	list_append(&t->ready, &f->link);
	turn_hook_add(&t->hook);
}

/* Lets go of the connection and of the answer. */
static void flow_release(struct flow *f)
{
	f->running = false;
	timer_set(&f->timer, TIMER_NEVER);
	block_queue_clear(&f->ep.rx);
	if (f->ep.ops)
		f->ep.ops->detach(&f->ep);
	block_queue_clear(&f->ep.rx);
	block_queue_clear(&f->ep.tx);
	http_msg_fini(&f->res);
	arena_fini(&f->arena);
	arena_init_in(&f->arena, f->area, sizeof(f->area), 2048);
}

static void thread_check_over(struct load_thread *t)
{
	if (t->over || t->done < t->quota)
		return;
	t->over = true;
	if (__atomic_add_fetch(&load.threads_over, 1, __ATOMIC_RELAXED) == thread_count())
		thread_stop_all();
}

/* It is over, well or not; goes on after <pause_ms>. */
static void flow_end(struct flow *f, int64_t pause_ms)
{
	struct load_thread *t = f->client->thread;

	flow_release(f);
	t->done++;
	thread_check_over(t);
	if (pause_ms)
		timer_set(&f->timer, clock_now_ms() + (uint64_t)pause_ms);
	else
		flow_ready(f);
}

static void flow_fail(struct flow *f)
{
	struct load_figures *fig = &f->client->thread->figures;

	load_count(&fig->errors, 1);
	if (!(f->ep.flags & EP_CONNECTED))
		load_count(&fig->refused, 1);
	if (load.plan->stop_on_error) {
		__atomic_store_n(&load.has_failed, true, __ATOMIC_RELAXED);
		thread_stop_all();
	}
	flow_end(f, PAUSE_MS);
}

/* <head_ns>: how long the head took, if it came in this call too; else 0. */
static void flow_done(struct flow *f, uint64_t head_ns)
{
	struct load_thread *t = f->client->thread;
	unsigned class = f->res.status / 100;

	histogram_add(&t->total, head_ns ? head_ns : clock_read_ns() - f->start_ns);
	load_count(&t->figures.tot_req, 1);
	load_count(&t->figures.classes[class >= 1 && class <= 5 ? class - 1 : 5], 1);
	flow_end(f, load.plan->think_ms);
}

/* How long it took, ns; 0: it is none. */
static uint64_t take_head(struct flow *f)
{
	struct load_thread *t = f->client->thread;
	uint64_t ns;

	f->ep.flags &= ~EP_RX_HEAD;
	if (f->res.flags & HTTP_MSG_INTERIM || f->head_seen)
		return 0;
	f->head_seen = true;
	ns = clock_read_ns() - f->start_ns;
	histogram_add(&t->ttfb, ns);
	load_count(&t->figures.ttfb_ns, ns);
	load_count(&t->figures.tot_head, 1);
	return ns;
}

/* A kept connection that the server has closed meanwhile is no failure: another one is taken. */
static bool may_try_again(const struct flow *f)
{
	return f->ep.flags & EP_REUSED && !(f->ep.flags & (EP_RX_ANY | EP_RX_BAD));
}

/* The connection stands: the request goes. */
static void flow_send(struct flow *f)
{
	f->sent = true;
	f->ep.flags |= EP_TX_HEAD | EP_TX_END;
	f->ep.ops->send(&f->ep);
}

static void flow_wake(struct endpoint *ep)
{
	struct flow *f = flow_of(ep);
	struct load_thread *t = f->client->thread;
	uint64_t head_ns = 0;

	if (!f->running)
		return;
	if (!f->sent && (ep->flags & (EP_CONNECTED | EP_ERROR)) == EP_CONNECTED) {
		flow_send(f);
		return;
	}
	if (ep->flags & EP_RX_HEAD)
		head_ns = take_head(f);
	if (ep->rx.len) {
		load_count(&t->figures.tot_bytes, ep->rx.len);
		block_queue_clear(&ep->rx);
	}
	if (f->head_seen && ep->flags & EP_RX_END) {
		flow_done(f, head_ns);
	} else if (ep->flags & (EP_RX_BAD | EP_RX_ABORT | EP_ERROR)) {
		if (may_try_again(f)) {
			t->begun--;
			flow_release(f);
			flow_ready(f);
		} else {
			flow_fail(f);
		}
	}
}

static void flow_timeout(struct timer *timer)
{
	struct flow *f = container_of(timer, struct flow, timer);

	if (!f->running) {
		flow_ready(f);
		return;
	}
	load_count(&f->client->thread->figures.timeouts, 1);
	flow_fail(f);
}

void flow_init(struct flow *f, struct client *c)
{
	f->client = c;
	list_init(&f->link);
	timer_init(&f->timer, flow_timeout);
	arena_init_in(&f->arena, f->area, sizeof(f->area), 2048);
}

void flow_fini(struct flow *f)
{
	if (list_is_linked(&f->link))
		list_remove(&f->link);
	flow_release(f);
	timer_cancel(&f->timer);
}

static void flow_begin(struct flow *f, uint64_t start_ns)
{
	f->start_ns = start_ns;
	f->running = true;
	f->head_seen = f->sent = false;
	http_msg_init(&f->res, &f->arena);
	f->ep = (struct endpoint){
		.user = &flow_user, .rx_head = &f->res, .tx_head = &load.request,
	};
	if (!client_attach(f->client, f)) {
		flow_fail(f);
		return;
	}
	if (load.plan->timeout_ms)
		timer_set(&f->timer, clock_now_ms() + (uint64_t)load.plan->timeout_ms);
	if (f->ep.flags & EP_CONNECTED)
		flow_send(f);
}

void flows_begin(struct turn_hook *h)
{
	struct load_thread *t = container_of(h, struct load_thread, hook);
	uint64_t now = clock_read_ns(), start;
	unsigned most = t->client_count * load.plan->streams;

	while (!list_is_empty(&t->ready) && most--) {
		struct flow *f = list_first(&t->ready, struct flow, link);

		list_remove(&f->link);
		if (client_must_wait(f->client, f))
			continue;
		if (!pace_take(t, now, &start)) {
			list_prepend(&t->ready, &f->link);
			return;
		}
		flow_begin(f, start);
		now = clock_read_ns();
	}
	if (!list_is_empty(&t->ready))
		turn_hook_add(&t->hook);
}
