/* SPDX-License-Identifier: GPL-2.0-or-later */
/* udp.c - QUIC: sockets of a thread, and finding the connection of a datagram
 *
 * Each thread has a copy of the descriptor of each listening socket that it reads, and a connection
 * uses the one on which its first datagram arrived: it outlives the listener. A connection to a
 * server has a socket of its own, a client's connection may have one. Connections are found by the
 * id that the peer sends to.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/clock.h"
#include "base/hash.h"
#include "conn_priv.h"
#include "core/fd.h"
#include "core/mailbox.h"
#include "core/thread.h"
#include "net/sent.h"
#include "udp_priv.h"

/* Datagrams read, and sent by one connection, before others get their turn. */
#define READ_BURST 128
#define SEND_BURST 64
#define DATAGRAM_ROOM 65536
/* Bytes that are given to the kernel in one call (UDP_SEGMENT: what one datagram may have at
 * most).
 */
#define BATCH_ROOM 65000
/* Bytes that may wait in a socket's buffer, as far as the system lets it: all connections of a
 * thread share it, and what does not fit is lost.
 */
#define RCVBUF (4 * 1024 * 1024)
/* A socket that takes no more is tried again so much later. */
#define FULL_MS 1


/* Datagrams of one connection, of equal length but for the last, which may be shorter. */
struct batch {
	struct addr peer, local;
	size_t len, segment;
	uint8_t mark;                  /* enum quic_ecn_mark */
};

/* One that the socket did not take. */
struct held {
	struct batch batch;
	uint8_t bytes[];
};

static __thread struct {
	struct tree by_ours, by_original; /* connections */
	struct list sockets, flush;
	struct turn_hook hook;
	uint8_t *rx;                      /* DATAGRAM_ROOM */
	uint8_t *tx;                      /* BATCH_ROOM */
} me;

static uint64_t hash_key[2];              /* set before the threads */

/* --- finding ---------------------------------------------------------------------------------- */

static uint64_t key_of(const struct quic_cid *cid)
{
	return hash_sip13(cid->bytes, cid->len, hash_key);
}

struct quic_conn *quic_find(const struct quic_cid *cid, bool initial)
{
	uint64_t key = key_of(cid);
	struct tree_node *n = tree_find(&me.by_ours, key);
	struct quic_conn *q;

	if (n) {
		q = list_entry(n, struct quic_conn, ids.by_ours);
		/* (those to servers have sockets of their own) */
		return quic_cid_is(&q->ids.ours, cid) && !(q->flags & QUIC_FL_CLIENT) ? q : NULL;
	}
	n = initial ? tree_find(&me.by_original, key) : NULL;
	if (!n)
		return NULL;
	q = list_entry(n, struct quic_conn, ids.by_original);
	return quic_cid_is(&q->ids.retry, cid) ? q : NULL;
}

static void on_timer(struct timer *t)
{
	struct quic_conn *q = container_of(t, struct quic_conn, timer);

	quic_conn_timeout(q, clock_now_ns());
	quic_flush_later(q);
	quic_conn_settle(q);
}

void quic_attach(struct quic_conn *q, struct quic_socket *s)
{
	timer_init(&q->timer, on_timer);
	q->socket = s;
	s->conns++;
	tree_insert(&me.by_ours, &q->ids.by_ours, key_of(&q->ids.ours));
	if (!(q->flags & QUIC_FL_CLIENT))
		tree_insert(&me.by_original, &q->ids.by_original, key_of(&q->ids.retry));
}

/* --- sockets ---------------------------------------------------------------------------------- */

void quic_socket_close(struct quic_socket *s)
{
	timer_cancel(&s->again);
	free(s->held);
	list_remove(&s->link);
	fd_close(s->fd);
	free(s);
}

void quic_detach(struct quic_conn *q)
{
	struct quic_socket *s = q->socket;

	if (list_is_linked(&q->flush))
		list_remove(&q->flush);
	if (!s)
		return;
	timer_cancel(&q->timer);
	tree_remove(&me.by_ours, &q->ids.by_ours);
	if (!(q->flags & QUIC_FL_CLIENT))
		tree_remove(&me.by_original, &q->ids.by_original);
	if (s->only == q)
		s->only = NULL;
	q->socket = NULL;
	if (!--s->conns && s->of < 0)
		quic_socket_close(s);
}

/* --- sending ---------------------------------------------------------------------------------- */

/* Adds a control message of <len> bytes. */
static void put_control(struct msghdr *m, int level, int type, const void *bytes, size_t len)
{
	struct cmsghdr *c = (struct cmsghdr *)(void *)((char *)m->msg_control + m->msg_controllen);

	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(c), bytes, len);
	m->msg_controllen += CMSG_SPACE(len);
}

/* Tells the kernel which of our addresses to send from. */
static void put_source(struct msghdr *m, const struct addr *local)
{
	if (local->family == ADDR_INET) {
		struct in_pktinfo info = { .ipi_spec_dst.s_addr = local->v4 };

		put_control(m, IPPROTO_IP, IP_PKTINFO, &info, sizeof(info));
	} else if (local->family == ADDR_INET6) {
		struct in6_pktinfo info = { .ipi6_ifindex = local->scope };

		memcpy(&info.ipi6_addr, local->v6, 16);
		put_control(m, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof(info));
	}
}

/* Tells the kernel the mark of the packets. */
static void put_mark(struct msghdr *m, const struct addr *peer, int mark)
{
	struct addr to = addr_unmapped(peer);

	if (to.family == ADDR_INET6)
		put_control(m, IPPROTO_IPV6, IPV6_TCLASS, &mark, sizeof(mark));
	else
		put_control(m, IPPROTO_IP, IP_TOS, &mark, sizeof(mark));
}

/* Hands <b>'s bytes to the kernel; a segment of 0: as one datagram. 0, or an error. */
static int send_once(struct quic_socket *s, const struct batch *b, const uint8_t *bytes, size_t len,
		     uint16_t segment)
{
	struct iovec v = { (void *)(uintptr_t)bytes, len };
	char room[CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(uint16_t)) +
		  CMSG_SPACE(sizeof(int))]
		__attribute__((aligned(8))) = { 0 };
	struct sockaddr_storage to;
	struct msghdr m = { .msg_name = &to, .msg_iov = &v, .msg_iovlen = 1, .msg_control = room };

	if (s->only && addr_eq(&s->peer, &b->peer)) {
		m.msg_name = NULL; /* (it is connected) */
	} else {
		m.msg_namelen = addr_to_sockaddr(&b->peer, &to);
		put_source(&m, &b->local);
	}
	if (b->mark)
		put_mark(&m, &b->peer, b->mark);
	if (segment)
		put_control(&m, SOL_UDP, UDP_SEGMENT, &segment, sizeof(segment));
	while (sendmsg(s->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return errno;
	sent_add(len);
	return 0;
}

static bool is_full(int error)
{
	return error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS;
}

/* The server's address has no receiver, as the kernel was told by ICMP. A forged message ends
 * nothing but a handshake that has not come far: see flush().
 */
static void note_error(struct quic_socket *s, int error)
{
	if (!s->only || (error != ECONNREFUSED && error != EHOSTUNREACH && error != ENETUNREACH))
		return;
	s->error = error;
	quic_later(s->only);
}

static void count_failure(const struct quic_socket *s, int error)
{
	const struct quic_tally *t = s->only ? &s->only->counts.tally : &s->listener.tally;

	switch (error) {
	case 0:
	case ECONNREFUSED: /* (of a datagram before it) */
		break;
	case EACCES:
	case EPERM:
	case EHOSTUNREACH:
	case ENETUNREACH:
	case ENETDOWN:
	case EMSGSIZE:
		quic_tally_add(t, COUNT_QUIC_SEND_FAILED, 1);
		break;
	default:
		quic_tally_add(t, is_full(error) ? COUNT_QUIC_SOCKET_FULL
						 : COUNT_QUIC_SEND_UNKNOWN, 1);
	}
}

/* Keeps what is left of a batch until the socket takes more. */
static void hold(struct quic_socket *s, const struct batch *b, const uint8_t *bytes, size_t len)
{
	struct held *h = malloc(sizeof(*h) + len);

	s->full = true;
	timer_set(&s->again, clock_now_ms() + FULL_MS);
	if (!h) /* (they are lost, as on any network) */
		return;
	h->batch = *b;
	h->batch.len = len;
	memcpy(h->bytes, bytes, len);
	free(s->held);
	s->held = h;
}

/* What the socket refuses, but for want of room, is lost, as on any network. */
static void send_batch(struct quic_socket *s, const struct batch *b, const uint8_t *bytes)
{
	size_t at = 0, n;
	int error;

	if (b->len > b->segment && !s->no_gso) {
		error = send_once(s, b, bytes, b->len, (uint16_t)b->segment);
		if (is_full(error))
			hold(s, b, bytes, b->len);
		note_error(s, error);
		if (error != EIO && error != EINVAL)
			count_failure(s, error);
		/* the interface cannot cut them, or not for this route */
		if (error != EIO && error != EINVAL)
			return;
		s->no_gso = error == EIO;
	}
	for (; at < b->len; at += n) {
		n = b->len - at < b->segment ? b->len - at : b->segment;
		error = send_once(s, b, bytes + at, n, 0);
		count_failure(s, error);
		if (is_full(error)) {
			hold(s, b, bytes + at, b->len - at);
			return;
		}
		note_error(s, error);
	}
}

void quic_send_datagram(struct quic_socket *s, const struct quic_datagram *d)
{
	struct batch b = { .peer = d->peer, .local = d->local, .len = d->len, .segment = d->len };

	if (!s->full)
		send_batch(s, &b, d->bytes);
}

void quic_later(struct quic_conn *q)
{
	if (list_is_linked(&q->flush) || !q->socket)
		return;
	list_append(&me.flush, &q->flush);
	turn_hook_add(&me.hook);
}

static void arm(struct quic_conn *q)
{
	uint64_t at = quic_conn_deadline(q);

	timer_set(&q->timer, at == UINT64_MAX ? TIMER_NEVER : (at + NS_PER_MS - 1) / NS_PER_MS);
}

/* Makes datagrams behind <bytes> until one is not as long as the first. Returns how many bytes of
 * them do not belong to the batch: one that is longer.
 */
static size_t fill_batch(struct quic_conn *q, struct batch *b, uint8_t *bytes, unsigned *left,
			 uint64_t now)
{
	size_t n;

	while (*left && b->len + QUIC_DATAGRAM_MAX <= BATCH_ROOM &&
	       (n = quic_conn_send(q, bytes + b->len, now))) {
		--*left;
		if (!b->segment)
			b->segment = n;
		if (n > b->segment)
			return n;
		b->len += n;
		if (n < b->segment)
			break;
	}
	return 0;
}

/* Sends what a connection has to send, as far as windows and the socket let it. */
static void flush(struct quic_conn *q)
{
	struct quic_socket *s = q->socket;
	uint64_t now = clock_now_ns(), before = q->counts.packets;
	unsigned left = SEND_BURST;
	size_t over = 0;

	if (s->error && q->state == QUIC_HANDSHAKE)
		quic_conn_lose(q, s->error);
	s->error = 0;
	while (!s->full && (left || over)) {
		struct batch b = { .local = q->local, .len = over, .segment = over };

		if (!over)
			q->path.ecn.tx = (uint8_t)quic_ecn_mark(q);
		b.mark = q->path.ecn.tx;
		over = fill_batch(q, &b, me.tx, &left, now);
		if (!b.len)
			break;
		b.peer = q->path.peer;
		send_batch(s, &b, me.tx);
		memmove(me.tx, me.tx + b.len, over);
	}
	if (q->counts.packets != before)
		quic_tally_add(&q->counts.tally, COUNT_QUIC_SENT,
			       (int64_t)(q->counts.packets - before));
	if (!left && !s->full)
		timer_set(&s->again, clock_now_ms());
	if (s->full || timer_is_set(&s->again))
		list_append(&s->waiting, &q->flush);
	arm(q);
}

static void flush_all(struct turn_hook *hook)
{
	struct list todo;

	list_init(&todo);
	list_splice(&todo, &me.flush);
	while (!list_is_empty(&todo)) {
		struct quic_conn *q = list_first(&todo, struct quic_conn, flush);

		list_remove(&q->flush);
		flush(q);
		/* what was sent makes room for streams, which may have more */
		quic_conn_settle(q);
	}
}

/* Those that waited for the socket, or for others, send. */
static void go_on(struct quic_socket *s)
{
	struct held *h = s->held;

	s->full = false;
	s->held = NULL;
	if (h)
		send_batch(s, &h->batch, h->bytes);
	free(h);
	if (s->full || list_is_empty(&s->waiting))
		return;
	list_splice(&me.flush, &s->waiting);
	turn_hook_add(&me.hook);
}

/* --- receiving -------------------------------------------------------------------------------- */

void quic_conn_input(struct quic_conn *q, const struct quic_datagram *d)
{
	q->path.from = d->peer;
	q->path.ecn.rx = d->mark;
	quic_conn_recv(q, d->bytes, d->len, clock_now_ns());
}

/* Which of our addresses it was sent to. */
static struct addr local_of(struct msghdr *m, uint16_t port)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo info;

			memcpy(&info, CMSG_DATA(c), sizeof(info));
			return addr_from_v4(&info.ipi_addr, port);
		}
		if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
			struct in6_pktinfo info;
			struct addr a;

			memcpy(&info, CMSG_DATA(c), sizeof(info));
			a = addr_from_v6(&info.ipi6_addr, port);
			if (IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr))
				a.scope = info.ipi6_ifindex;
			return a;
		}
	}
	return (struct addr){ .family = ADDR_NONE };
}

/* The length of the datagrams that the kernel has put together (UDP_GRO). */
static size_t segment_of(struct msghdr *m, size_t len)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
		if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_GRO) {
			int n;

			memcpy(&n, CMSG_DATA(c), sizeof(n));
			return n > 0 ? (size_t)n : len;
		}
	return len;
}

/* The mark of the packets: one that the kernel has put together is of packets of one mark. */
static uint8_t mark_of(struct msghdr *m)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		int class = 0;

		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS)
			return *CMSG_DATA(c) & QUIC_ECN_BITS;
		if (c->cmsg_level != IPPROTO_IPV6 || c->cmsg_type != IPV6_TCLASS)
			continue;
		memcpy(&class, CMSG_DATA(c), sizeof(class));
		return (uint8_t)(class & QUIC_ECN_BITS);
	}
	return QUIC_ECN_NONE;
}

/* Receives datagrams, one or several of equal length, and handles them. False: there is none. */
static bool receive(struct quic_socket *s)
{
	struct iovec v = { me.rx, DATAGRAM_ROOM };
	char control[128] __attribute__((aligned(8)));
	struct sockaddr_storage from;
	struct msghdr m = {
		.msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &v, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct quic_datagram d;
	ssize_t n = recvmsg(s->fd, &m, MSG_DONTWAIT);
	size_t segment;
	int error;

	if (n < 0) { /* (an error of a datagram sent before is told once) */
		error = errno;
		note_error(s, error);
		return error != EAGAIN && error != EWOULDBLOCK;
	}
	d.peer = addr_from_sockaddr(&from, m.msg_namelen);
	d.local = local_of(&m, s->port);
	d.mark = mark_of(&m);
	segment = segment_of(&m, (size_t)n);
	for (size_t at = 0; at < (size_t)n && d.peer.port && addr_is_inet(&d.peer); at += d.len) {
		d.bytes = me.rx + at;
		d.len = (size_t)n - at < segment ? (size_t)n - at : segment;
		s->input(s, &d);
	}
	return true;
}

static void read_some(struct quic_socket *s)
{
	for (unsigned i = 0; i < READ_BURST; i++)
		if (!receive(s)) {
			fd_cant_recv(s->fd);
			return;
		}
	timer_set(&s->again, clock_now_ms());
}

static void on_event(void *owner, int fd, unsigned events)
{
	struct quic_socket *s = owner;

	if (events & (FD_IN | FD_ERR | FD_HUP | FD_RDHUP)) {
		s->conns++; /* stays while it is read */
		read_some(s);
		if (!--s->conns && s->of < 0)
			quic_socket_close(s);
	}
}

static void on_again(struct timer *t)
{
	struct quic_socket *s = container_of(t, struct quic_socket, again);

	go_on(s);
	on_event(s, s->fd, FD_IN);
}

/* --- making them ------------------------------------------------------------------------------ */

static void describe(void *owner, int fd, struct strbuf *out)
{
	const struct quic_socket *s = owner;

	strbuf_printf(out, " l.st=%s quic_conns=%u", s->accepts ? "RDY" : "PAU", s->conns);
}

static struct fd_kind kind = {
	.handler = on_event, .name = "quic_event", .letter = 'l', .describe = describe,
};

struct quic_socket *quic_socket_new(int fd, bool no_gso, quic_input_fn *input)
{
	int one = 1, none = 0, room = RCVBUF, probe = IP_PMTUDISC_DO;
	struct quic_socket *s = calloc(1, sizeof(*s));

	if (!s) {
		close(fd);
		return NULL;
	}
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	setsockopt(fd, SOL_UDP, UDP_GRO, &one, sizeof(one));
	setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &one, sizeof(one));
	setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &one, sizeof(one));
	setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &one, sizeof(one));
	setsockopt(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, &one, sizeof(one));
	setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &probe, sizeof(probe));
	setsockopt(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &probe, sizeof(probe));
	s->fd = fd;
	s->of = -1;
	s->input = input;
	s->no_gso = no_gso ||
		    setsockopt(fd, SOL_UDP, UDP_SEGMENT, &none, sizeof(none)) < 0;
	list_init(&s->waiting);
	timer_init(&s->again, on_again);
	if (!fd_add(fd, on_event, s, FD_FL_IN_ONLY)) {
		close(fd);
		free(s);
		return NULL;
	}
	list_append(&me.sockets, &s->link);
	return s;
}

struct list *quic_sockets(void)
{
	return &me.sockets;
}

void quic_conns_visit(void (*fn)(void *ctx, struct quic_conn *q), void *ctx)
{
	for (struct tree_node *n = tree_first(&me.by_ours); n; n = tree_next(n))
		fn(ctx, list_entry(n, struct quic_conn, ids.by_ours));
}

bool quic_udp_init(void)
{
	fd_kind_register(&kind);
	return getrandom(hash_key, sizeof(hash_key), 0) == (ssize_t)sizeof(hash_key);
}

bool quic_udp_thread_init(void)
{
	list_init(&me.sockets);
	list_init(&me.flush);
	turn_hook_init(&me.hook, flush_all);
	me.rx = malloc(DATAGRAM_ROOM);
	me.tx = malloc(BATCH_ROOM + QUIC_DATAGRAM_MAX);
	return me.rx && me.tx;
}

void quic_udp_thread_fini(void)
{
	struct tree_node *n;

	while ((n = tree_first(&me.by_ours))) {
		struct quic_conn *q = list_entry(n, struct quic_conn, ids.by_ours);

		/* (for TCP the kernel says it) */
		quic_conn_fail(q, QUIC_NO_ERROR, 0);
		flush(q);
		quic_conn_free(q);
	}
	while (!list_is_empty(&me.sockets))
		quic_socket_close(list_first(&me.sockets, struct quic_socket, link));
	free(me.rx);
	free(me.tx);
}
