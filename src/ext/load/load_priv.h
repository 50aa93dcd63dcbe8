/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load_priv.h - what the files of the load generator share
 *
 *	pace.c    when a request may begin: rate, ramp, limits
 *	client.c  connections            flow.c    requests and their answers
 *	report.c  the lines and the end  curve.c   the picture
 *	plan.c    the plan, the sums     load.c    the module
 *
 * A client is one connection's place, a flow one request's: they are used again and again. A flow
 * that may begin waits in its thread's list; the hook at the end of a turn begins what the pace
 * allows.
 */
#ifndef EXT_LOAD_LOAD_PRIV_H
#define EXT_LOAD_LOAD_PRIV_H

#include "base/arena.h"
#include "base/histogram.h"
#include "base/list.h"
#include "core/thread.h"
#include "core/timer.h"
#include "ext/load.h"
#include "http/msg.h"
#include "mux/mux.h"

struct server;

/* Written by its thread, read by all. */
struct load_figures {
	uint64_t conns;            /* open now */
	uint64_t tot_conn, tot_req, tot_bytes, errors;
	uint64_t ttfb_ns;          /* sum, of tot_head answers */
	uint64_t tot_head;
	uint64_t classes[6];       /* answers: 1xx to 5xx, others */
	uint64_t timeouts, refused; /* among the errors: late; no connection */
};

struct flow {
	struct endpoint ep;        /* first: flow_of() */
	struct list link;          /* in thread->ready or client->parked, or nowhere */
	struct client *client;
	struct http_msg res;
	struct timer timer;        /* the answer is late; or the pause is over */
	uint64_t start_ns;
	bool running, sent, head_seen;
	struct arena arena;
	char area[768] __attribute__((aligned(8)));
};

struct client {
	struct load_thread *thread;
	struct mux *mux;           /* of the connection; NULL: there is none */
	struct list parked;        /* flows that wait for room on the connection */
	uint64_t begun;            /* requests on this connection */
	struct flow *flows;        /* plan->streams of them; owned */
};

struct load_thread {
	struct load_figures figures;
	struct histogram ttfb, total; /* ns */
	struct list ready;
	struct turn_hook hook;
	struct timer tick;         /* the pace */
	struct client *clients;    /* owned */
	unsigned client_count, client_live; /* live: those that the ramp has let in */
	uint64_t begin_ns;
	uint64_t begun, done, quota;
	double rate;               /* this thread's share; 0: none */
	bool over;
};

/* What the threads do. Set once, before they start. */
struct load {
	const struct load_plan *plan;
	struct server *server;     /* borrowed of the generation */
	const struct mux_kind *mux;
	struct mux_settings settings;
	struct http_msg request;   /* the same for all: read only */
	struct arena arena;
	struct slice sni;          /* the host of the URL */
	struct load_thread *threads[THREADS_MAX];
	uint64_t begin_ns;
	unsigned threads_over;     /* atomic */
	bool has_failed;           /* atomic */
};
extern struct load load;

static inline void load_count(uint64_t *figure, uint64_t n)
{
	__atomic_store_n(figure, *figure + n, __ATOMIC_RELAXED);
}

/* --- plan.c */
/* Every thread's figures added up. */
void load_sum(struct load_figures *sum);
/* Makes the request, all of it the plan's; an absolute target tells HTTP/2 scheme and authority.
 * False: the plan makes none.
 */
bool plan_request(void);

/* --- pace.c */
/* How many of this thread's clients the ramp lets in by now. */
unsigned pace_clients(const struct load_thread *t, uint64_t now_ns);
/* May one more request begin? Then *start_ns is when it was due, or now. */
bool pace_take(struct load_thread *t, uint64_t now_ns, uint64_t *start_ns);
/* When the tick is to come next, ms; TIMER_NEVER: nothing depends on time. */
uint64_t pace_next_ms(const struct load_thread *t, uint64_t now_ms);

/* --- client.c */
bool client_init(struct client *c, struct load_thread *t);
void client_fini(struct client *c);
/* Has it to wait for room on the connection? Parks it then. */
bool client_must_wait(struct client *c, struct flow *f);
/* Gives <f>, which has not to wait, the connection, or a new one. False: there is none. */
bool client_attach(struct client *c, struct flow *f);

/* --- flow.c */
void flow_init(struct flow *f, struct client *c);
/* It may begin: waits for the end of the turn. */
void flow_ready(struct flow *f);
/* Begins those that are ready, as the pace allows. */
void flows_begin(struct turn_hook *h);
/* The process ends: lets go of the connection. */
void flow_fini(struct flow *f);

/* --- report.c */
void report_begin(void);
/* The summary, once the threads have ended. False: nothing was answered, or no curve. */
bool report_end(void);

/* --- curve.c : one second of the run, and the picture of all */
struct load_second {
	double seconds, rps, ttfb_us;
	uint64_t conns, errors;
};
/* False: errno. */
bool curve_write(const char *path, const struct load_second *seconds, unsigned count,
		 const struct histogram *ttfb, const struct histogram *total);

#endif
