/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ring_forward.c - from a ring to a server, message by message
 *
 *	PAUSE --time--> DIALLING ----> READY: the ring --frames--> <out> --> socket
 *	  ^                 |            |
 *	  +----failed-------+------------+
 *
 * <out> holds whole frames; <ends> has the end of each, so that it is known which were sent
 * completely.
 *
 * Thread 0 has the list of forwarders; each works on a thread of its own, its *home*, where
 * messages from thread 0 (struct order, <end>) tell it what to use, and when to end.
 */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "core/mailbox.h"
#include "core/symbol.h"
#include "core/task.h"
#include "core/thread.h"
#include "net/conn_facts.h"
#include "net/dial.h"
#include "proxy/proxy.h"
#include "proxy/source.h"
#include "tls/tls.h"
#include "ring_priv.h"

#define FRAMES_MAX 64      /* in <out> */
#define OUT_SOFT 65536     /* bytes above which no frame is added */
#define PAUSE_MS 1000      /* between attempts */
#define BATCHES_MAX 16     /* sent in a row before others run */

/* What a generation says of it. */
struct use {
	struct config *config;     /* counted */
	struct sink *sink;         /* counted */
	struct server *srv;        /* of <config> */
	int64_t connect_ms, server_ms;
};

struct forwarder {
	/* of thread 0 */
	struct list link;
	struct use latest;         /* borrowed: <use>, or what is on its way there */
	unsigned home;
	struct message end;
	/* of its home */
	struct list mine;
	struct use use;
	struct ring_reader reader;
	struct task *task;         /* NULL: there was no memory for it */
	struct dial dial;
	struct conn *conn;         /* NULL: paused, or <dial> is at it */
	struct strbuf out, message;
	size_t at;                 /* bytes of <out> that were sent */
	size_t ends[FRAMES_MAX];
	unsigned frames, done;     /* how many, of which sent */
	uint64_t carried;          /* messages of <conn> so far */
	uint64_t deadline_ms;      /* of the pause, or of what is not sent */
};

/* Use this from now on. */
struct order {
	struct message message;
	struct forwarder *f;
	struct use use;
};

static struct list forwarders = LIST_HEAD(forwarders);
static unsigned next_home;     /* of thread 0 */
static __thread struct list mine;

static void use_drop(struct use *u)
{
	sink_drop(&u->sink);
	if (u->config)
		config_drop(&u->config);
}

static void forward_drop_conn(struct forwarder *f)
{
	if (!f->conn)
		return;
	conn_close(&f->conn);
	f->deadline_ms = clock_now_ms() + PAUSE_MS;
}

/* What was sent wholly is forgotten; the frame that was cut is sent again from its start. */
static void forward_rewind(struct forwarder *f)
{
	size_t from = f->done ? f->ends[f->done - 1] : 0;

	if (!f->out.len)
		return;
	memmove(f->out.ptr, f->out.ptr + from, f->out.len - from);
	f->out.len -= from;
	for (unsigned i = f->done; i < f->frames; i++)
		f->ends[i - f->done] = f->ends[i] - from;
	f->frames -= f->done;
	f->done = 0;
	f->at = 0;
}

static void forward_ready(struct conn *c)
{
	struct forwarder *f = c->owner;

	task_wake(f->task, TASK_WOKEN_IO);
}

static void forward_describe(const struct conn *c, struct strbuf *out)
{
	const struct forwarder *f = c->owner;

	strbuf_printf(out, " sv=%s/%s mux=SYSLOG", f->use.sink->name, f->use.srv->name);
}

static const struct conn_ops forward_conn_ops = {
	.name = "ring", .ready = forward_ready, .describe = forward_describe,
};

static void forward_dialled(struct dial *d, struct conn *c, enum dial_result r)
{
	struct forwarder *f = container_of(d, struct forwarder, dial);

	f->conn = c;
	f->carried = 0;
	if (c)
		forward_rewind(f);
	else
		f->deadline_ms = clock_now_ms() + PAUSE_MS;
	task_wake(f->task, TASK_WOKEN_IO);
}

static void forward_connect(struct forwarder *f)
{
	const struct server *srv = f->use.srv;
	struct server_addr to = { .len = srv->at.len };
	struct dial_want want;

	memcpy(&to.sa, srv->at.sa, srv->at.len);
	server_dial(srv, &to, &want);
	f->deadline_ms = dial_start(&f->dial, &want, f->use.connect_ms, &forward_conn_ops, f) ==
			 DIAL_DONE ? TIMER_NEVER : clock_now_ms() + PAUSE_MS;
}

/* --- frames ---------------------------------------------------------------------------------- */

/* Adds what the ring has. */
static void forward_fill(struct forwarder *f)
{
	while (f->frames < FRAMES_MAX && f->out.len < OUT_SOFT) {
		strbuf_reset(&f->message);
		if (!ring_read(f->use.sink->ring, &f->reader, &f->message, true))
			return;
		if (f->use.srv->log_octets)
			strbuf_printf(&f->out, "%zu ", f->message.len);
		strbuf_add(&f->out, strbuf_slice(&f->message));
		if (!f->use.srv->log_octets)
			strbuf_add_char(&f->out, '\n');
		f->ends[f->frames++] = f->out.len;
	}
}

/* False: the connection is broken. */
static bool forward_send(struct forwarder *f)
{
	struct slice left = slice_make(f->out.ptr + f->at, f->out.len - f->at);
	size_t sent;
	enum io r = conn_send_bytes(f->conn, left, &sent);

	f->at += sent;
	if (sent && f->use.server_ms > 0)
		f->deadline_ms = clock_now_ms() + (uint64_t)f->use.server_ms;
	for (; f->done < f->frames && f->ends[f->done] <= f->at; f->done++)
		f->carried++;
	if (f->at == f->out.len) {
		strbuf_reset(&f->out);
		f->frames = f->done = 0;
		f->at = 0;
	}
	return r != IO_ERR;
}

/* Log servers say nothing: what they say is thrown away. False: they left. */
static bool forward_listen(struct forwarder *f)
{
	struct block *b;
	enum io r = IO_OK;
	size_t got;

	while (f->conn->flags & CONN_CAN_RECV && r == IO_OK) {
		b = block_new();
		if (!b)
			return true;
		r = conn_recv_block(f->conn, b, &got);
		block_drop(b);
	}
	return r != IO_EOF && r != IO_ERR;
}

static void forward_serve(struct forwarder *f)
{
	bool good = forward_listen(f);

	for (int i = 0; good && f->conn->flags & CONN_CAN_SEND; i++) {
		forward_fill(f);
		if (!f->out.len) {
			f->deadline_ms = TIMER_NEVER;
			break;
		}
		if (i == BATCHES_MAX) {
			task_wake(f->task, TASK_WOKEN_OTHER);
			break;
		}
		if (!f->at && f->use.server_ms > 0)
			f->deadline_ms = clock_now_ms() + (uint64_t)f->use.server_ms;
		good = forward_send(f);
	}
	if (!good)
		forward_drop_conn(f);
}

/* Was the certificate or an authority replaced since it was opened? A frame is not cut for this. */
static bool forward_is_outdated(const struct forwarder *f)
{
	return f->conn && !tls_is_current(f->conn) && f->at == (f->done ? f->ends[f->done - 1] : 0);
}

/* max-reuse: has the connection carried enough? Looked at when all that the ring had is sent. */
static bool forward_is_worn(const struct forwarder *f)
{
	int64_t most = f->use.srv->pool.max_reuse;

	return f->conn && most >= 0 && f->carried > (uint64_t)most && !f->out.len;
}

static void forward_task(struct task *t, void *ctx, unsigned why)
{
	struct forwarder *f = ctx;
	bool late = clock_now_ms() >= f->deadline_ms;

	if (forward_is_outdated(f)) {
		forward_drop_conn(f);
		late = true;
	}
	if (!f->conn && !dial_is_on(&f->dial) && late)
		forward_connect(f);
	else if (f->conn && (late || f->conn->flags & CONN_ERROR))
		forward_drop_conn(f);
	if (f->conn)
		forward_serve(f);
	if (forward_is_worn(f)) {
		forward_drop_conn(f);
		forward_connect(f);
	}
	task_schedule(f->task, f->deadline_ms);
}

static void forward_wake(struct ring_reader *r)
{
	task_wake(container_of(r, struct forwarder, reader)->task, TASK_WOKEN_MSG);
}

/* --- on its home ----------------------------------------------------------------------------- */

static void forward_follow(struct message *m)
{
	struct order *o = container_of(m, struct order, message);
	struct forwarder *f = o->f;
	struct use old = f->use;

	f->use = o->use;
	free(o);
	if (dial_is_on(&f->dial) ||
	    (f->conn && !tls_follow(f->conn, server_slots(f->use.srv)))) {
		dial_cancel(&f->dial);
		forward_drop_conn(f);
		f->deadline_ms = clock_now_ms();
	}
	if (!list_is_linked(&f->mine))
		list_append(&mine, &f->mine);
	if (!f->task)
		f->task = task_new(forward_task, f);
	if (f->task)
		task_wake(f->task, TASK_WOKEN_INIT);
	else
		diag_say(DIAG_WARNING, "out of memory: ring '%s' is not sent to server '%s'.",
			 f->use.sink->name, f->use.srv->name);
	use_drop(&old);
}

static void forward_free(struct forwarder *f)
{
	list_remove(&f->mine);
	ring_reader_stop(f->use.sink->ring, &f->reader);
	dial_cancel(&f->dial);
	conn_close(&f->conn);
	task_free(&f->task);
	strbuf_fini(&f->out);
	strbuf_fini(&f->message);
	use_drop(&f->use);
	free(f);
}

static void forward_end(struct message *m)
{
	forward_free(container_of(m, struct forwarder, end));
}

/* --- on thread 0 ----------------------------------------------------------------------------- */

/* The one that sends from this ring to the same address. */
static struct forwarder *forward_find(const struct ring_conf *r, const struct server *srv)
{
	struct forwarder *f;

	list_for_each(f, &forwarders, link) {
		const struct server *was = f->latest.srv;

		if (f->latest.sink->ring == r->sink->ring && strcmp(was->name, srv->name) == 0 &&
		    was->at.len == srv->at.len &&
		    memcmp(was->at.sa, srv->at.sa, srv->at.len) == 0)
			return f;
	}
	return NULL;
}

static struct forwarder *forward_new(const struct ring_conf *r)
{
	struct forwarder *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	list_init(&f->mine);
	dial_init(&f->dial, forward_dialled);
	strbuf_init(&f->out);
	strbuf_init(&f->message);
	f->home = next_home++ % thread_count();
	f->end.run = forward_end;
	f->reader.wake = forward_wake;
	f->reader.holds = true;
	list_append(&forwarders, &f->link);
	ring_reader_start(r->sink->ring, &f->reader, false);
	return f;
}

static bool forward_begin(struct config *cfg, const struct ring_conf *r, struct server *srv)
{
	struct forwarder *f = forward_find(r, srv);
	struct order *o = malloc(sizeof(*o));

	if (o && !f)
		f = forward_new(r);
	if (!o || !f) {
		free(o);
		return false;
	}
	*o = (struct order){
		.message.run = forward_follow, .f = f,
		.use = { .config = config_take(cfg), .sink = sink_take(r->sink), .srv = srv,
			 .connect_ms = r->connect_ms, .server_ms = r->server_ms },
	};
	f->latest = o->use;
	mailbox_post(f->home, &o->message);
	return true;
}

/* --- life ------------------------------------------------------------------------------------ */

bool ring_forward_init(void)
{
	static const struct symbol names[] = { { forward_task, "ring_forward_task" }, { 0 } };

	return symbol_register(names);
}

bool ring_forward_start(struct config *cfg, struct ring_conf *rings, struct diag_list *diags)
{
	struct server *srv;
	bool good = true;

	for (struct ring_conf *r = rings; r; r = r->next)
		list_for_each(srv, &r->proxy->servers, link)
			if (!r->only || r->only == srv)
				good = good && (srv->disabled || forward_begin(cfg, r, srv));
	if (!good)
		diag_add(diags, DIAG_ALERT, NULL, NULL, "out of memory for rings.");
	return good;
}

void ring_forward_stop(const struct config *cfg)
{
	struct forwarder *f, *next;

	list_for_each_safe(f, next, &forwarders, link) {
		if (f->latest.config != cfg)
			continue;
		list_remove(&f->link);
		mailbox_post(f->home, &f->end);
	}
}

bool ring_forward_thread_init(void)
{
	list_init(&mine);
	return true;
}

void ring_forward_thread_fini(void)
{
	struct forwarder *f, *next;

	list_for_each_safe(f, next, &mine, mine)
		forward_free(f);
}
