/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl_socket.c - connections of the Runtime API
 *
 * One function, ctl_conn_drive(), advances a connection as far as possible: receive, run, send. It
 * is called for socket events and when a waiting command may continue.
 */
#include "net/ctl_socket.h"
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/clock.h"
#include "core/symbol.h"
#include "core/task.h"
#include "net/conn.h"
#include "net/listener.h"
#include "net/net_init.h"

#define ACCEPT_MAX 4
/* Chunks of output sent in a row to a client that reads fast, before others have their turn. */
#define ROUNDS_A_TURN 2

struct ctl_socket {
	struct listener *listener;
	enum ctl_level level;
	int severity;
	bool exposes;           /* listening sockets, to a client that asks for them */
	struct ctl_socket *next;
};

struct ctl_conn {
	struct list link;        /* of the thread */
	struct conn *conn;
	struct ctl_session *session;
	struct task *task;       /* runs the session again; its timer is the timeout */
	uint64_t since_ns, wall_us;
	unsigned runs;
	bool exposes;            /* may it have our listening sockets? */
	bool spoken;             /* something was received */
};

static struct {
	unsigned max;
	unsigned count __attribute__((aligned(64))); /* atomic */
	/* atomic: a socket is paused for want of room */
	unsigned waiting;
	unsigned long long total;                    /* atomic */
	unsigned lock;                               /* of <sockets> */
	struct ctl_socket *sockets;
} all = { .max = 10 };

static __thread struct list conns;

static void ctl_conn_task(struct task *t, void *ctx, unsigned why);

bool ctl_socket_init(void)
{
	static const struct symbol names[] = { { ctl_conn_task, "ctl_conn_task" }, { 0 } };

	return symbol_register(names);
}

bool ctl_socket_thread_init(void)
{
	list_init(&conns);
	return true;
}

void ctl_socket_thread_fini(void)
{
	ctl_connections_close_thread(true);
}

void ctl_socket_set_max(unsigned connections)
{
	__atomic_store_n(&all.max, connections, __ATOMIC_RELAXED);
}

unsigned ctl_connections_count(void)
{
	return __atomic_load_n(&all.count, __ATOMIC_RELAXED);
}

unsigned long long ctl_connections_total(void)
{
	return __atomic_load_n(&all.total, __ATOMIC_RELAXED);
}

/* --- the list of sockets, to resume those that wait for room --------------------------------- */

static void sockets_lock(void)
{
	while (__atomic_exchange_n(&all.lock, 1, __ATOMIC_ACQUIRE))
		;
}

static void sockets_unlock(void)
{
	__atomic_store_n(&all.lock, 0, __ATOMIC_RELEASE);
}

static void sockets_resume(void)
{
	sockets_lock();
	for (struct ctl_socket *s = all.sockets; s; s = s->next)
		listener_resume(s->listener);
	sockets_unlock();
}

/* --- one connection -------------------------------------------------------------------------- */

static void ctl_conn_free(struct ctl_conn *c)
{
	list_remove(&c->link);
	task_free(&c->task);
	ctl_session_free(&c->session);
	conn_close(&c->conn);
	free(c);
	__atomic_sub_fetch(&all.count, 1, __ATOMIC_RELAXED);
	if (__atomic_exchange_n(&all.waiting, 0, __ATOMIC_RELAXED))
		sockets_resume();
}

/* False: broken. */
static bool ctl_conn_receive(struct ctl_conn *c, bool *moved)
{
	struct block *b;
	size_t got = 0;
	enum io r;

	if (!(c->conn->flags & CONN_CAN_RECV) || (c->conn->flags & CONN_EOF) ||
	    !ctl_session_wants_input(c->session))
		return true;
	b = block_new();
	if (!b)
		return false;
	r = conn_recv_block(c->conn, b, &got);
	if (got) {
		*moved = true;
		c->spoken = true;
		if (!ctl_session_feed(c->session, slice_make(b->data, got)))
			r = IO_ERR;
		explicit_bzero(b->data, got);
	}
	block_drop(b);
	if (r == IO_EOF || c->conn->flags & CONN_EOF) {
		ctl_session_eof(c->session);
		*moved = true;
	}
	return r != IO_ERR;
}

/* The client has left, and all that it has sent is read. */
static bool ctl_conn_is_left(const struct ctl_conn *c)
{
	return c->conn->flags & CONN_GONE && c->conn->flags & CONN_EOF;
}

static bool ctl_conn_send(struct ctl_conn *c, bool *moved)
{
	struct slice out = ctl_session_output(c->session);
	struct iovec v = { .iov_base = (char *)(uintptr_t)out.ptr, .iov_len = out.len };
	size_t sent = 0;
	enum io r;

	if (!out.len || !(c->conn->flags & CONN_CAN_SEND))
		return true;
	r = c->conn->transport->send(c->conn, &v, 1, &sent, false);
	if (sent) {
		ctl_session_sent(c->session, sent);
		*moved = true;
	}
	if (sent < out.len) {
		c->conn->flags &= ~CONN_CAN_SEND;
		fd_cant_send(c->conn->fd);
	}
	return r != IO_ERR;
}

static void ctl_conn_touch(struct ctl_conn *c)
{
	int64_t ms = ctl_session_timeout_ms(c->session);

	task_schedule(c->task, ms > 0 ? clock_now_ms() + (uint64_t)ms : TIMER_NEVER);
}

/* May free <c>. */
static void ctl_conn_drive(struct ctl_conn *c)
{
	bool moved = true, good = true;

	c->runs++;
	for (unsigned rounds = 0; moved && good; rounds++) {
		if (rounds == ROUNDS_A_TURN) {
			task_wake(c->task, TASK_WOKEN_OTHER);
			break;
		}
		moved = false;
		good = ctl_conn_receive(c, &moved);
		if (unlikely(ctl_conn_is_left(c)))
			ctl_session_gone(c->session);
		ctl_session_run(c->session);
		good = good && ctl_conn_send(c, &moved);
	}
	if (!good || ctl_session_is_over(c->session))
		ctl_conn_free(c);
	else
		ctl_conn_touch(c);
}

static void ctl_conn_ready(struct conn *conn)
{
	struct ctl_conn *c = conn->owner;

	if (conn->flags & CONN_ERROR)
		ctl_conn_free(c);
	else
		ctl_conn_drive(c);
}

static void ctl_conn_describe(const struct conn *conn, struct strbuf *out)
{
	strbuf_printf(out, " fe=GLOBAL mux=CTL ctx=%p", conn->owner);
}

static const struct conn_ops ctl_conn_ops = {
	.name = "ctl", .ready = ctl_conn_ready, .describe = ctl_conn_describe,
};

static void ctl_conn_task(struct task *t, void *ctx, unsigned why)
{
	if (why & TASK_WOKEN_TIMER && !(why & TASK_WOKEN_OTHER))
		ctl_conn_free(ctx);
	else
		ctl_conn_drive(ctx);
}

static void ctl_conn_wake(void *owner)
{
	struct ctl_conn *c = owner;

	task_wake(c->task, TASK_WOKEN_OTHER);
}

static int ctl_conn_expose(void *owner)
{
	const struct ctl_conn *c = owner;

	return c->exposes ? c->conn->fd : -1;
}

static const struct ctl_session_owner ctl_conn_owner = {
	.wake = ctl_conn_wake, .expose = ctl_conn_expose,
};

void ctl_connections_close_thread(bool every)
{
	struct ctl_conn *c, *next;

	list_for_each_safe(c, next, &conns, link)
		if (every || (c->spoken && ctl_session_is_idle(c->session)))
			ctl_conn_free(c);
}

void ctl_connections_visit(void (*fn)(void *ctx, const struct ctl_connection_info *info), void *ctx)
{
	struct ctl_conn *c;

	list_for_each(c, &conns, link) {
		struct ctl_connection_info info = {
			.id = c, .conn = c->conn, .since_ns = c->since_ns, .wall_us = c->wall_us,
			.timeout_ms = ctl_session_timeout_ms(c->session),
			.expire_ms = c->task->timer.expire_ms, .runs = c->runs,
		};

		fn(ctx, &info);
	}
}

bool ctl_connection_kill(const void *id)
{
	struct ctl_conn *c;

	list_for_each(c, &conns, link)
		if (c == id && !ctl_session_is_patient(c->session)) {
			ctl_conn_free(c);
			return true;
		}
	return false;
}

/* --- sockets --------------------------------------------------------------------------------- */

static void connection_new(int fd, enum ctl_level level, int severity, bool exposes)
{
	struct ctl_conn *c = calloc(1, sizeof(*c));

	if (!c) {
		close(fd);
		return;
	}
	list_init(&c->link);
	c->exposes = exposes;
	c->session = ctl_session_new(level, &ctl_conn_owner, c);
	c->task = task_new(ctl_conn_task, c);
	if (c->session && c->task)
		c->conn = conn_new(fd, &ctl_conn_ops, c, CONN_CAN_RECV | CONN_CAN_SEND);
	if (!c->conn) {
		close(fd);
		task_free(&c->task);
		ctl_session_free(&c->session);
		free(c);
		return;
	}
	ctl_session_set_severity(c->session, severity);
	c->since_ns = clock_now_ns();
	c->wall_us = clock_wall_us();
	list_append(&conns, &c->link);
	__atomic_add_fetch(&all.count, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&all.total, 1, __ATOMIC_RELAXED);
	ctl_conn_drive(c);
}

void ctl_connection_new(int fd, enum ctl_level level)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	connection_new(fd, level, 0, true);
}

static void ctl_socket_accept(void *owner, int fd, const struct addr *src)
{
	const struct ctl_socket *s = owner;

	connection_new(fd, s->level, s->severity, s->exposes);
}

static bool ctl_socket_may_accept(void *owner, unsigned *wait_ms)
{
	if (ctl_connections_count() < __atomic_load_n(&all.max, __ATOMIC_RELAXED))
		return true;
	__atomic_store_n(&all.waiting, 1, __ATOMIC_RELAXED);
	*wait_ms = 100; /* should the last one leave before the socket is paused */
	return false;
}

static void ctl_socket_give_back(void *owner)
{
}

static bool ctl_socket_uses_thread(void *owner, unsigned thread)
{
	return true;
}

static const char *ctl_socket_name(void *owner)
{
	return "GLOBAL";
}

static const struct listener_user ctl_socket_user = {
	.name = ctl_socket_name,
	.accept = ctl_socket_accept, .may_accept = ctl_socket_may_accept,
	.give_back = ctl_socket_give_back,
	.uses_thread = ctl_socket_uses_thread,
};

void ctl_socket_set_exposing(struct ctl_socket *s)
{
	s->exposes = true;
}

struct ctl_socket *ctl_socket_new(int fd, enum ctl_level level, int severity)
{
	struct ctl_socket *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->level = level;
	s->severity = severity;
	s->listener = listener_new(fd, &ctl_socket_user, s, ACCEPT_MAX);
	if (!s->listener) {
		free(s);
		return NULL;
	}
	sockets_lock();
	s->next = all.sockets;
	all.sockets = s;
	sockets_unlock();
	return s;
}

/* NULL: closed. It stays until this thread's turn ends. */
static struct listener *listener_of(const struct ctl_socket *s)
{
	struct listener *l;

	sockets_lock();
	l = s->listener;
	sockets_unlock();
	return l;
}

int ctl_socket_fd(const struct ctl_socket *s)
{
	struct listener *l = listener_of(s);

	return l ? listener_fd(l) : -1;
}

int ctl_socket_dup(const struct ctl_socket *s)
{
	int fd;

	sockets_lock();
	fd = s->listener ? fcntl(listener_fd(s->listener), F_DUPFD_CLOEXEC, 0) : -1;
	sockets_unlock();
	return fd;
}

void ctl_socket_start_thread(struct ctl_socket *s)
{
	struct listener *l = listener_of(s);

	if (l)
		listener_start_thread(l);
}

void ctl_socket_pause(struct ctl_socket *s, bool on)
{
	struct listener *l = listener_of(s);

	if (l && on)
		listener_pause(l);
	else if (l)
		listener_resume(l);
}

void ctl_socket_look_again(struct ctl_socket *s)
{
	struct listener *l = listener_of(s);

	if (l)
		listener_look_again(l);
}

void ctl_socket_close(struct ctl_socket *s, bool drain)
{
	struct ctl_socket **at;
	struct listener *l;

	sockets_lock();
	for (at = &all.sockets; *at && *at != s; at = &(*at)->next)
		;
	if (*at)
		*at = s->next;
	l = s->listener;
	s->listener = NULL;
	sockets_unlock();
	if (drain)
		listener_drain(&l);
	else
		listener_close(&l);
}

void ctl_socket_free(struct ctl_socket **ps)
{
	if (*ps)
		ctl_socket_close(*ps, false);
	free(*ps);
	*ps = NULL;
}
