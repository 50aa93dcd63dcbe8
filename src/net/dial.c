/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dial.c - connections that the program opens: socket, initial bytes, TLS, timeout */
#include "net/dial.h"
#include <errno.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/clock.h"
#include "prelude_priv.h"

/* --- results --------------------------------------------------------------------------------- */

const char *dial_text(enum dial_result r)
{
	static const char *const texts[] = {
#define X(name, text) [DIAL_##name] = text,
		DIAL_RESULTS(X)
#undef X
	};

	return texts[r];
}

enum dial_result dial_result_of(int error)
{
	static const struct {
		int error;
		enum dial_result result;
	} known[] = {
		{ 0, DIAL_DONE }, { ENOMEM, DIAL_NO_MEMORY }, { ENOBUFS, DIAL_NO_MEMORY },
		{ EMFILE, DIAL_NO_DESCRIPTOR }, { ENFILE, DIAL_NO_DESCRIPTOR },
		{ EADDRNOTAVAIL, DIAL_NO_SOURCE }, { EADDRINUSE, DIAL_NO_SOURCE },
		{ EAGAIN, DIAL_NO_SOURCE }, { EPERM, DIAL_FORBIDDEN },
		{ ECONNREFUSED, DIAL_REFUSED }, { ENOENT, DIAL_REFUSED },
		{ EHOSTUNREACH, DIAL_UNREACHABLE }, { ENETUNREACH, DIAL_UNREACHABLE },
		{ ECONNRESET, DIAL_RESET }, { EPIPE, DIAL_RESET }, { ECONNABORTED, DIAL_RESET },
		{ ETIMEDOUT, DIAL_TIMEOUT }, { EPROTO, DIAL_HANDSHAKE },
		{ EAFNOSUPPORT, DIAL_NO_WAY }, { PRELUDE_SOCKS4_SEND, DIAL_SOCKS4_SEND },
		{ PRELUDE_SOCKS4_RECV, DIAL_SOCKS4_RECV },
		{ PRELUDE_SOCKS4_DENY, DIAL_SOCKS4_DENY },
		{ PRELUDE_SOCKS4_ABORT, DIAL_SOCKS4_ABORT },
	};

	for (unsigned i = 0; i < ARRAY_LEN(known); i++)
		if (known[i].error == error)
			return known[i].result;
	return DIAL_OTHER;
}

bool dial_is_ours(enum dial_result r)
{
	return r == DIAL_NO_MEMORY || r == DIAL_NO_DESCRIPTOR || r == DIAL_NO_SOURCE ||
	       r == DIAL_FORBIDDEN;
}

bool dial_is_socks4(enum dial_result r)
{
	return r >= DIAL_SOCKS4_SEND && r <= DIAL_SOCKS4_ABORT;
}

enum dial_result dial_why(const struct conn *c)
{
	enum dial_result r;

	if (!(c->flags & CONN_ERROR))
		return DIAL_DONE;
	r = dial_result_of(c->error);
	return r == DIAL_DONE ? DIAL_OTHER : r;
}

/* --- opening --------------------------------------------------------------------------------- */

static enum dial_result refuse(const struct dial_want *w, int error, enum dial_result r)
{
	if (w->again)
		close(*w->again);
	errno = error;
	return r;
}

enum dial_result dial_socket(const struct dial_want *w, int *fd, bool *in_progress)
{
	const struct sockaddr_storage *to = w->via ? w->via : w->to;
	socklen_t len = w->via ? w->via_len : w->to_len;

	*fd = -1;
	if (w->to->ss_family == AF_UNSPEC)
		return refuse(w, EADDRNOTAVAIL, DIAL_NO_ADDRESS);
	if (w->via && !prelude_can_reach(w->to))
		return refuse(w, EAFNOSUPPORT, DIAL_NO_WAY);
	*fd = w->again ? socket_connect_again(*w->again, to, len, &w->set, in_progress)
		       : socket_connect(to, len, &w->set, in_progress);
	return *fd < 0 ? dial_result_of(errno) : DIAL_DONE;
}

/* Puts on <c> what is to stand on it. False: no memory. */
static bool cover(struct conn *c, struct dial_want *w)
{
	char room[DIAL_FIRST_MAX];
	struct slice first = slice_none();

	if (w->secure && !w->secure(c, w))
		return false;
	if (w->first) {
		first = w->first(w, c->fd, room);
		if (!first.len)
			return false;
	}
	return (!w->via && !first.len) ||
	       prelude_attach(c, w->via ? w->to : NULL, first,
			      w->secure || w->flags & DIAL_SPEAKS);
}

enum dial_result dial_conn(struct dial_want *w, int fd, bool in_progress,
			   const struct conn_ops *ops, void *owner, struct conn **out)
{
	struct conn *c = conn_new(fd, ops, owner, CONN_BACKEND |
				  (in_progress ? CONN_CONNECTING : CONN_CAN_SEND));

	*out = NULL;
	if (!c)
		close(fd);
	else if (w->flags & DIAL_NO_LINGER)
		c->flags |= CONN_NO_LINGER;
	if (c && !cover(c, w))
		conn_close(&c);
	*out = c;
	if (!c)
		errno = ENOMEM;
	return c ? DIAL_DONE : DIAL_NO_MEMORY;
}

enum dial_result dial_open(struct dial_want *w, const struct conn_ops *ops, void *owner,
			   struct conn **out)
{
	enum dial_result r;
	bool in_progress;
	int fd;

	*out = NULL;
	if (w->open)
		return w->open(w, ops, owner, out);
	r = dial_socket(w, &fd, &in_progress);
	return r == DIAL_DONE ? dial_conn(w, fd, in_progress, ops, owner, out) : r;
}

/* --- with a timer ---------------------------------------------------------------------------- */

/* <d> is idle: it may not be there any more when this returns. */
static void finish(struct dial *d, struct conn *c, enum dial_result r)
{
	timer_cancel(&d->timer);
	d->conn = NULL;
	if (r == DIAL_DONE) {
		c->ops = d->ops;
		c->owner = d->owner;
	} else {
		conn_close(&c);
	}
	d->done(d, c, r);
}

static void on_ready(struct conn *c)
{
	finish(c->owner, c, dial_why(c));
}

static void on_timer(struct timer *t)
{
	struct dial *d = container_of(t, struct dial, timer);
	struct conn *c = d->conn;

	finish(d, c, conn_is_usable(c) ? DIAL_DONE : c->flags & CONN_ERROR ? dial_why(c)
	       : c->flags & CONN_CONNECTING ? DIAL_TIMEOUT : DIAL_HANDSHAKE_TIMEOUT);
}

/* As its owner has it. */
static void on_describe(const struct conn *c, struct strbuf *out)
{
	const struct dial *d = c->owner;
	struct conn later = *c;

	later.owner = d->owner;
	if (d->ops->describe)
		d->ops->describe(&later, out);
}

static const struct conn_ops dial_ops = {
	.name = "dial", .ready = on_ready, .describe = on_describe,
};

void dial_init(struct dial *d,
	       void (*done)(struct dial *d, struct conn *c, enum dial_result r))
{
	*d = (struct dial){ .done = done };
	timer_init(&d->timer, on_timer);
}

enum dial_result dial_start(struct dial *d, struct dial_want *w, int64_t ms,
			    const struct conn_ops *ops, void *owner)
{
	enum dial_result r;

	BUG_ON(d->conn);
	d->ops = ops;
	d->owner = owner;
	r = dial_open(w, &dial_ops, d, &d->conn);
	if (r != DIAL_DONE)
		return r;
	if (conn_is_usable(d->conn))
		timer_set(&d->timer, clock_now_ms()); /* told in a turn of its own */
	else if (ms > 0)
		timer_set(&d->timer, clock_now_ms() + (uint64_t)ms);
	return DIAL_DONE;
}

void dial_cancel(struct dial *d)
{
	timer_cancel(&d->timer);
	if (d->conn)
		conn_close(&d->conn);
}
