/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preconnect.c - reverse HTTP: connections that lines of rhttp@ open; see preconnect_priv.h */
#include "../preconnect_priv.h"
#include <stdlib.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/clock.h"
#include "codec/proxyproto.h"
#include "conf/conf.h"
#include "front/listen.h"
#include "log/log.h"
#include "mux/mux.h"
#include "net/dial.h"
#include "proxy/bind.h"
#include "proxy/source.h"
#include "tls/tls.h"
#include "../session_priv.h"
#include "../stream_conf_priv.h"

/* After a failure; and what a connection must last, lest its end count as one. */
#define PAUSE_MS 1000
/* Without `timeout connect`. */
#define SETTLE_MS 5000

enum preconnect_state { PRECONNECT_WAIT, PRECONNECT_DIAL, PRECONNECT_SETTLE, PRECONNECT_UP };
/* listener_state.reverse_told */
enum preconnect_told { TOLD_NOTHING, TOLD_BEGIN, TOLD_ERROR, TOLD_RUNNING };

struct preconnect {
	struct list link;            /* in <preconnects> */
	struct timer timer;          /* WAIT: until the next try; SETTLE: until it has failed */
	struct dial dial;
	struct listener_conf *line;  /* borrowed of <config> */
	struct config *config;       /* counted */
	struct conn *conn;           /* SETTLE: borrowed of <mux> */
	struct mux *mux;             /* SETTLE: owned */
	struct addr to;
	unsigned index;              /* among those of its line, on all threads */
	uint64_t since_ms;           /* UP: when that began */
	uint8_t state;               /* enum preconnect_state */
	bool has_place;              /* listen_may_accept() */
};

static __thread struct list preconnects; /* of the calling thread */

static void fire(struct timer *t);
static void dialled(struct dial *d, struct conn *c, enum dial_result r);

/* --- logs ----------------------------------------------------------------------------------- */

#define SAY(l, level, ...) \
	log_printf((l)->bind->proxy->config, slot_of(&log_proxy_slot, \
		   proxy_slots((l)->bind->proxy)), level, "preconnect %s::%s: " __VA_ARGS__)

static bool tell(struct listener_conf *l, enum preconnect_told what)
{
	return __atomic_exchange_n(&l->state->reverse_told, what, __ATOMIC_RELAXED) != what;
}

static unsigned wanted(const struct listener_conf *l)
{
	return l->bind->reversed ? (unsigned)l->bind->reversed : 1;
}

static void tell_running(struct listener_conf *l, unsigned count)
{
	if (count >= wanted(l) && tell(l, TOLD_RUNNING))
		SAY(l, LOG_LVL_INFO, "Running with nbconn %u reached.", l->bind->proxy->name,
		    l->reverse, wanted(l));
}

/* --- life ----------------------------------------------------------------------------------- */

static struct preconnect *preconnect_new(struct listener_conf *l, unsigned index)
{
	struct preconnect *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	timer_init(&p->timer, fire);
	dial_init(&p->dial, dialled);
	p->line = l;
	p->config = config_take(l->bind->proxy->config);
	p->index = index;
	list_append(&preconnects, &p->link);
	return p;
}

static void preconnect_free(struct preconnect *p)
{
	timer_cancel(&p->timer);
	dial_cancel(&p->dial);
	if (p->has_place)
		listen_free_place(p->line);
	list_remove(&p->link);
	config_drop(&p->config);
	free(p);
}

/* Is the line, or this one of its connections, no more? */
static bool is_over(const struct preconnect *p)
{
	return __atomic_load_n(&p->line->is_left, __ATOMIC_RELAXED) || p->index >= wanted(p->line);
}

static void wait_for(struct preconnect *p, uint64_t ms)
{
	p->state = PRECONNECT_WAIT;
	p->mux = NULL;
	p->conn = NULL;
	timer_set(&p->timer, clock_now_ms() + ms);
}

static void failed(struct preconnect *p)
{
	if (p->has_place)
		listen_free_place(p->line);
	p->has_place = false;
	if (!is_over(p) && tell(p->line, TOLD_ERROR))
		SAY(p->line, LOG_LVL_ERR, "Error encountered.", p->line->bind->proxy->name,
		    p->line->reverse);
	wait_for(p, PAUSE_MS);
}

void preconnect_ended(struct preconnect *p)
{
	uint64_t lasted = clock_now_ms() - p->since_ms;

	__atomic_sub_fetch(&p->line->state->reversed, 1, __ATOMIC_RELAXED);
	wait_for(p, lasted < PAUSE_MS ? PAUSE_MS : 0);
}

/* --- its mux, until there is a session ------------------------------------------------------- */

static struct endpoint *no_stream(void *owner, uint64_t since_ns)
{
	return NULL;
}

static struct slice bad_request(void *owner, const struct front_bad *bad)
{
	return slice_none();
}

static bool no_preface(void *owner, const struct mux_kind *kind, struct conn *c,
		       struct block_queue *q)
{
	return false;
}

static void closed(void *owner)
{
	failed(owner);
}

static void describe(const void *owner, struct strbuf *out)
{
	const struct preconnect *p = owner;

	strbuf_printf(out, " fe=%s", p->line->bind->proxy->name);
}

/* The peer has said what it can do: a session begins. */
static bool settled(void *owner)
{
	struct preconnect *p = owner;

	if (is_over(p))
		return false;
	p->has_place = false; /* session_adopt() takes it, or gives it back */
	if (!session_adopt(p->line, p->conn, p->mux, &p->to, p))
		return false;
	timer_set(&p->timer, TIMER_NEVER);
	p->state = PRECONNECT_UP;
	p->mux = NULL;
	p->conn = NULL;
	p->since_ms = clock_now_ms();
	tell_running(p->line, __atomic_add_fetch(&p->line->state->reversed, 1, __ATOMIC_RELAXED));
	return true;
}

static const struct front_user preconnect_user = {
	.stream_new = no_stream, .bad_request = bad_request, .preface = no_preface,
	.closed = closed, .describe = describe, .settled = settled,
};

/* --- opening --------------------------------------------------------------------------------- */

static uint64_t time_limit(const struct preconnect *p)
{
	int64_t ms = p->line->reverse_server->proxy->timeout.connect;

	return ms ? (uint64_t)ms : SETTLE_MS;
}

static bool speaks_h2(const struct preconnect *p, const struct conn *c)
{
	return p->line->reverse_server->mux.forced || slice_eq(conn_alpn(c), SLICE("h2"));
}

static void dialled(struct dial *d, struct conn *c, enum dial_result r)
{
	struct preconnect *p = container_of(d, struct preconnect, dial);
	struct front_owner owner = {
		.user = &preconnect_user, .owner = p, .dialled = true,
		.settings = &stream_proxy(p->line->bind->proxy)->front,
	};

	if (!c) {
		failed(p);
		return;
	}
	if (!is_over(p) && speaks_h2(p, c))
		p->mux = mux_front_begin(c, mux_find("h2"), &owner);
	if (!p->mux) {
		conn_close(&c);
		failed(p);
		return;
	}
	p->conn = c;
	p->state = PRECONNECT_SETTLE;
	timer_set(&p->timer, clock_now_ms() + time_limit(p));
	p->mux->kind->front_start(p->mux, true);
}

/* Nothing is proxied yet: the header says so, as version 1 cannot. */
static struct slice proxy_header(struct dial_want *w, int fd, char room[DIAL_FIRST_MAX])
{
	const struct preconnect *p = w->ctx;
	struct addr src, dst = addr_from_sockaddr(w->to, w->to_len);
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct proxyproto_writer writer;

	if (p->line->reverse_server->send_proxy == 2) {
		proxyproto_v2_begin(&writer, room, DIAL_FIRST_MAX, NULL, NULL);
		return slice_make(room, proxyproto_v2_end(&writer));
	}
	if (getsockname(fd, (struct sockaddr *)&ss, &len) < 0)
		return slice_none();
	src = addr_from_sockaddr(&ss, len);
	return slice_make(room, proxyproto_make_v1(room, DIAL_FIRST_MAX, &src, &dst));
}

/* The name of `sni`, where it needs no request. */
static struct slice name_of(const struct server *srv, struct arena *arena)
{
	struct expr_ctx ctx = { .proxy = srv->proxy, .arena = arena, .flags = EXPR_FINAL };
	bool is_auto;
	const struct expr *e = tls_server_sni(server_slots(srv), &is_auto);
	struct slice name;

	if (!e || expr_eval_string(e, &ctx, &name) != EXPR_FOUND)
		return slice_none();
	return name;
}

static enum dial_result begin(struct preconnect *p)
{
	static const struct conn_ops none = { .name = "preconnect" };
	const struct server *srv = p->line->reverse_server;
	struct server_addr to;
	struct arena arena;
	struct dial_want w;
	enum dial_result r;

	server_address(srv, &to);
	if (to.sa.ss_family == AF_UNSPEC)
		return DIAL_NO_ADDRESS;
	p->to = addr_from_sockaddr(&to.sa, to.len);
	arena_init(&arena, 0);
	server_dial(srv, &to, &w);
	w.ctx = p;
	w.flags = DIAL_SPEAKS;
	if (w.secure)
		w.sni = name_of(srv, &arena);
	if (srv->send_proxy)
		w.first = proxy_header;
	r = dial_start(&p->dial, &w, (int64_t)time_limit(p), &none, p);
	arena_fini(&arena);
	return r;
}

static void try(struct preconnect *p)
{
	unsigned wait_ms = 0;

	if (!listen_may_accept(p->line, &wait_ms)) {
		wait_for(p, wait_ms ? wait_ms : PAUSE_MS);
		return;
	}
	p->has_place = true;
	p->state = PRECONNECT_DIAL;
	if (begin(p) != DIAL_DONE)
		failed(p);
}

static void fire(struct timer *t)
{
	struct preconnect *p = container_of(t, struct preconnect, timer);

	switch ((enum preconnect_state)p->state) {
	case PRECONNECT_WAIT:
		if (is_over(p))
			preconnect_free(p);
		else
			try(p);
		break;
	case PRECONNECT_SETTLE:
		p->mux->kind->back_close(p->mux); /* closed() is told */
		break;
	case PRECONNECT_DIAL:
	case PRECONNECT_UP:
		break;
	}
}

/* --- lines ------------------------------------------------------------------------------------ */

static struct preconnect *find(const struct listener_conf *l, unsigned index)
{
	struct preconnect *p;

	list_for_each(p, &preconnects, link)
		if (p->line->state == l->state && p->index == index)
			return p;
	return NULL;
}

/* It goes on with another generation: its session does so by itself. */
static void follow(struct preconnect *p, struct listener_conf *l)
{
	struct config *was = p->config;

	p->line = l;
	p->config = config_take(l->bind->proxy->config);
	config_drop(&was);
}

void preconnect_start(struct listener_conf *l, unsigned rank, unsigned threads)
{
	unsigned nothing = TOLD_NOTHING;

	if (__atomic_compare_exchange_n(&l->state->reverse_told, &nothing, TOLD_BEGIN, false,
					__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		SAY(l, LOG_LVL_INFO, "Initiating.", l->bind->proxy->name, l->reverse);
	for (unsigned i = rank; i < wanted(l); i += threads) {
		struct preconnect *p = find(l, i);

		if (p) {
			follow(p, l);
			continue;
		}
		p = preconnect_new(l, i);
		if (p)
			try(p);
	}
}

void preconnect_thread_init(void)
{
	list_init(&preconnects);
}

void preconnect_thread_fini(void)
{
	while (!list_is_empty(&preconnects)) {
		struct preconnect *p = list_first(&preconnects, struct preconnect, link);

		if (p->state == PRECONNECT_SETTLE)
			p->mux->kind->back_close(p->mux);
		preconnect_free(p);
	}
}
