/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ring_forward.c - from a ring to a server, message by message
 *
 *	PAUSE --time--> CONNECTING --> READY: the ring --frames--> <out> --> socket
 *	  ^                 |            |
 *	  +----failed-------+------------+
 *
 * <out> holds whole frames; <ends> says where each ends, so that what was sent for good is known.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/clock.h"
#include "core/symbol.h"
#include "core/task.h"
#include "net/conn.h"
#include "net/socket.h"
#include "net/socks4.h"
#include "proxy/proxy.h"
#include "proxy/source.h"
#include "tls/tls.h"
#include "ring_priv.h"

#define FRAMES_MAX 64      /* in <out> */
#define OUT_SOFT 65536     /* bytes above which no frame is added */
#define PAUSE_MS 1000      /* between attempts */
#define BATCHES_MAX 16     /* sent in a row before others run */

struct forwarder {
	struct list link;
	struct config *config;     /* counted */
	struct sink *sink;         /* counted */
	struct server *srv;        /* of <config> */
	int64_t connect_ms, server_ms;
	struct ring_reader reader;
	struct task *task;
	struct conn *conn;         /* NULL: paused */
	struct strbuf out, message;
	size_t at;                 /* bytes of <out> that were sent */
	size_t ends[FRAMES_MAX];
	unsigned frames, done;     /* how many, of which sent */
	uint64_t deadline_ms;      /* of the pause, the connection or what is not sent */
};

static struct list forwarders = LIST_HEAD(forwarders);

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

	strbuf_printf(out, " sv=%s/%s mux=SYSLOG", f->sink->name, f->srv->name);
}

static const struct conn_ops forward_conn_ops = {
	.name = "ring", .ready = forward_ready, .describe = forward_describe,
};

static void forward_connect(struct forwarder *f)
{
	const struct server_addr *socks4 = f->srv->socks4;
	struct sockaddr_storage to = { 0 };
	struct socket_settings set;
	bool in_progress;
	int fd;

	memcpy(&to, f->srv->address, f->srv->address_len);
	source_fill_settings(f->srv, &set);
	f->deadline_ms = clock_now_ms() + PAUSE_MS;
	fd = socket_connect(socks4 ? &socks4->sa : &to, socks4 ? socks4->len
			    : f->srv->address_len, &set, &in_progress);
	if (fd < 0)
		return;
	f->conn = conn_new(fd, &forward_conn_ops, f, CONN_BACKEND |
			   (in_progress ? CONN_CONNECTING : CONN_CAN_SEND));
	if (!f->conn) {
		close(fd);
		return;
	}
	forward_rewind(f);
	if ((tls_server_is_on(server_slots(f->srv)) &&
	     !tls_connect(f->conn, server_slots(f->srv), slice_none(), slice_none())) ||
	    (socks4 && !socks4_attach(f->conn, &to))) {
		forward_drop_conn(f);
		return;
	}
	f->deadline_ms = f->connect_ms > 0 ? clock_now_ms() + (uint64_t)f->connect_ms
					   : TIMER_NEVER;
}

/* --- frames ---------------------------------------------------------------------------------- */

/* Adds what the ring has. */
static void forward_fill(struct forwarder *f)
{
	while (f->frames < FRAMES_MAX && f->out.len < OUT_SOFT) {
		strbuf_reset(&f->message);
		if (!ring_read(f->sink->ring, &f->reader, &f->message, true))
			return;
		if (f->srv->log_octets)
			strbuf_printf(&f->out, "%zu ", f->message.len);
		strbuf_add(&f->out, strbuf_slice(&f->message));
		if (!f->srv->log_octets)
			strbuf_add_char(&f->out, '\n');
		f->ends[f->frames++] = f->out.len;
	}
}

/* False: the connection is broken. */
static bool forward_send(struct forwarder *f)
{
	struct iovec v = { .iov_base = f->out.ptr + f->at, .iov_len = f->out.len - f->at };
	size_t sent = 0;
	enum io r = f->conn->transport->send(f->conn, &v, 1, &sent, false);

	f->at += sent;
	if (sent && f->server_ms > 0)
		f->deadline_ms = clock_now_ms() + (uint64_t)f->server_ms;
	while (f->done < f->frames && f->ends[f->done] <= f->at)
		f->done++;
	if (f->at == f->out.len) {
		strbuf_reset(&f->out);
		f->frames = f->done = 0;
		f->at = 0;
	} else if (r != IO_ERR) {
		f->conn->flags &= (uint16_t)~CONN_CAN_SEND;
		fd_cant_send(f->conn->fd);
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
		if (!f->at && f->server_ms > 0)
			f->deadline_ms = clock_now_ms() + (uint64_t)f->server_ms;
		good = forward_send(f);
	}
	if (!good)
		forward_drop_conn(f);
}

static void forward_task(struct task *t, void *ctx, unsigned why)
{
	struct forwarder *f = ctx;
	bool late = clock_now_ms() >= f->deadline_ms;

	if (!f->conn && late)
		forward_connect(f);
	else if (f->conn && (late || f->conn->flags & CONN_ERROR))
		forward_drop_conn(f);
	if (f->conn && !(f->conn->flags & (CONN_CONNECTING | CONN_HANDSHAKE | CONN_ERROR)))
		forward_serve(f);
	task_schedule(f->task, f->deadline_ms);
}

static void forward_wake(struct ring_reader *r)
{
	task_wake(container_of(r, struct forwarder, reader)->task, TASK_WOKEN_MSG);
}

/* --- life ------------------------------------------------------------------------------------ */

static void forward_free(struct forwarder *f)
{
	list_remove(&f->link);
	ring_reader_stop(f->sink->ring, &f->reader);
	if (f->conn)
		conn_close(&f->conn);
	task_free(&f->task);
	strbuf_fini(&f->out);
	strbuf_fini(&f->message);
	sink_drop(&f->sink);
	config_drop(&f->config);
	free(f);
}

/* The one that sends from this ring to the same address. */
static struct forwarder *forward_find(const struct ring_conf *r, const struct server *srv)
{
	struct forwarder *f;

	list_for_each(f, &forwarders, link)
		if (f->sink->ring == r->sink->ring && strcmp(f->srv->name, srv->name) == 0 &&
		    f->srv->address_len == srv->address_len &&
		    memcmp(f->srv->address, srv->address, srv->address_len) == 0)
			return f;
	return NULL;
}

static struct forwarder *forward_new(const struct ring_conf *r)
{
	struct forwarder *f = calloc(1, sizeof(*f));

	if (f)
		f->task = task_new(forward_task, f);
	if (!f || !f->task) {
		free(f);
		return NULL;
	}
	strbuf_init(&f->out);
	strbuf_init(&f->message);
	f->reader.wake = forward_wake;
	f->reader.holds = true;
	list_append(&forwarders, &f->link);
	ring_reader_start(r->sink->ring, &f->reader, false);
	return f;
}

static bool forward_begin(struct config *cfg, const struct ring_conf *r, struct server *srv)
{
	struct forwarder *f = forward_find(r, srv);
	struct config *held;
	struct sink *old;

	if (!f)
		f = forward_new(r);
	if (!f)
		return false;
	held = f->config;
	old = f->sink;
	f->config = config_take(cfg);
	f->sink = sink_take(r->sink);
	f->srv = srv;
	f->connect_ms = r->connect_ms;
	f->server_ms = r->server_ms;
	task_wake(f->task, TASK_WOKEN_INIT);
	sink_drop(&old);
	if (held)
		config_drop(&held);
	return true;
}

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

	list_for_each_safe(f, next, &forwarders, link)
		if (!cfg || f->config == cfg)
			forward_free(f);
}
