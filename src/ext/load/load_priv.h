/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load_priv.h - declarations shared by the files of the load generator
 *
 *	pace.c    when a request may start: rate, ramp, limits
 *	client.c  connections            flow.c    requests and their answers
 *	report.c  output lines, summary  curve.c   the picture
 *	plan.c    the plan, the sums     load.c    the module
 *
 * A client is the slot of a connection, a flow that of a request: both are reused. A flow that is
 * ready to start waits in its thread's list; the hook at the end of a turn starts those that the
 * pace allows.
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

/* Counters, written by their thread, read by any. */
struct load_figures {
	uint64_t conns;            /* open now */
	uint64_t tot_conn, tot_req, tot_bytes, errors;
	uint64_t ttfb_ns;          /* sum, of tot_head answers */
	uint64_t tot_head;
	uint64_t classes[6];       /* answers: 1xx to 5xx, others */
	uint64_t timeouts, refused; /* among the errors: timeouts; failed connections */
};

struct flow {
	struct endpoint ep;        /* first: flow_of() */
	struct list link;          /* in thread->ready or client->parked, or nowhere */
	struct client *client;
	struct http_msg res;
	struct timer timer;        /* the answer's timeout; or the end of the pause */
	uint64_t start_ns;
	bool running, sent, head_seen;
	struct arena arena;
	char area[768] __attribute__((aligned(8)));
};

struct client {
	struct load_thread *thread;
	struct mux *mux;           /* of the connection; NULL: none */
	struct list parked;        /* flows that wait for a free stream of the connection */
	uint64_t begun;            /* requests started on this connection */
	struct flow *flows;        /* plan->streams of them; owned */
};

struct load_thread {
	struct load_figures figures;
	struct histogram ttfb, total; /* ns */
	struct list ready;
	struct turn_hook hook;
	struct timer tick;         /* for the pace */
	struct client *clients;    /* owned */
	unsigned client_count, client_live; /* live: those that the ramp has started */
	uint64_t begin_ns;
	uint64_t begun, done, quota;
	double rate;               /* this thread's share; 0: none */
	bool over;
};

/* State shared by the threads. Set once, before they start. */
struct load {
	const struct load_plan *plan;
	struct server *server;     /* belongs to the generation */
	const struct mux_kind *mux;
	struct mux_settings settings;
	struct http_msg request;   /* shared by all flows: read only */
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
/* Adds up the counters of all threads. */
void load_sum(struct load_figures *sum);
/* Builds the request of the plan; an absolute target gives scheme and authority for HTTP/2. Returns
 * false: the plan gives no valid request.
 */
bool plan_request(void);

/* --- pace.c */
/* Returns how many of this thread's clients the ramp allows by now. */
unsigned pace_clients(const struct load_thread *t, uint64_t now_ns);
/* Returns true if one more request may start; sets *start_ns to when it was due, or to now. */
bool pace_take(struct load_thread *t, uint64_t now_ns, uint64_t *start_ns);
/* Returns the time of the next tick, ms; TIMER_NEVER: nothing depends on time. */
uint64_t pace_next_ms(const struct load_thread *t, uint64_t now_ms);

/* --- client.c */
bool client_init(struct client *c, struct load_thread *t);
void client_fini(struct client *c);
/* Returns true if the flow must wait for a free stream of the connection, and parks it. */
bool client_must_wait(struct client *c, struct flow *f);
/* Attaches <f>, which need not wait, to the connection or to a new one. Returns false: failed. */
bool client_attach(struct client *c, struct flow *f);

/* --- flow.c */
void flow_init(struct flow *f, struct client *c);
/* Marks the flow as ready: it starts at the end of a turn. */
void flow_ready(struct flow *f);
/* Starts the ready flows that the pace allows. */
void flows_begin(struct turn_hook *h);
/* Called when the process ends: leaves the connection. */
void flow_fini(struct flow *f);

/* --- report.c */
void report_begin(void);
/* Writes the summary after the threads have ended. Returns false: no answers, or no curve. */
bool report_end(void);

/* --- curve.c: one second of the run, and the picture of all */
struct load_second {
	double seconds, rps, ttfb_us;
	uint64_t conns, errors;
};
/* Returns false with errno set. */
bool curve_write(const char *path, const struct load_second *seconds, unsigned count,
		 const struct histogram *ttfb, const struct histogram *total);

#endif
