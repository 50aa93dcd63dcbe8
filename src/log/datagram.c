/* SPDX-License-Identifier: GPL-2.0-or-later */
/* datagram.c - this thread's sockets to log servers
 *
 * A working thread collects the lines of a turn's traffic and sends them in one call after
 * everything else of the turn: the receiver wakes once for all of them. Events (servers, commands)
 * are sent immediately (datagram_flush()): a reader that sees an effect finds its line. So is
 * everything sent outside of the loop: start, stop, other threads.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/clock.h"
#include "core/thread.h"
#include "log_priv.h"

#define BATCH_LINES 64
#define BATCH_BYTES 32768

/* Lines for one socket: <used> bytes of addresses and texts. */
struct batch {
	unsigned count;
	unsigned used;
	struct mmsghdr messages[BATCH_LINES];
	struct iovec texts[BATCH_LINES];
	char bytes[BATCH_BYTES];
};

/* A socket. The lines of traffic go through one that is connected to their server: the kernel then
 * does not look for the way with each of them.
 */
struct outlet {
	int fd;               /* 0: not opened (0 is never one of ours), -1: cannot be */
	struct addr_any to;   /* its server; len 0: any */
	uint64_t used_ms;     /* last */
	struct batch *batch;  /* NULL before the first line */
};

/* Servers with a socket of their own; one that was not used for so long gives its place. */
#define PEERS_MAX 4
#define PEER_UNUSED_MS 60000

static __thread struct outlet families[3]; /* to any server: IPv4, IPv6, UNIX */
static __thread struct outlet peers[PEERS_MAX];
static __thread struct turn_hook hook;
static __thread bool in_loop;

static struct outlet *outlet_n(unsigned i)
{
	return i < ARRAY_LEN(families) ? &families[i] : &peers[i - ARRAY_LEN(families)];
}
#define OUTLETS (ARRAY_LEN(families) + ARRAY_LEN(peers))

static bool outlet_open(struct outlet *o, int domain)
{
	int made;

	if (o->fd > 0)
		return true;
	made = socket(domain, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (made == 0) { /* standard input was closed: keep its number out of use */
		made = fcntl(0, F_DUPFD_CLOEXEC, 3);
		close(0);
	}
	if (made <= 0)
		return false;
	if (o->to.len && connect(made, (const struct sockaddr *)&o->to.ss, o->to.len) < 0) {
		close(made);
		return false;
	}
	shutdown(made, SHUT_RD); /* nothing is ever read */
	o->fd = made;
	return true;
}

static void outlet_close(struct outlet *o)
{
	if (o->fd > 0)
		close(o->fd);
	free(o->batch);
	*o = (struct outlet){ 0 };
}

static bool send_one(int fd, const struct msghdr *m)
{
	ssize_t sent;

	do
		sent = sendmsg(fd, m, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent >= 0;
}

/* Whether what failed with <error> is worth another try: a connected socket tells with one line
 * that an earlier one had no receiver, and keeps our address of the time it was connected.
 */
static bool outlet_recover(struct outlet *o, int error)
{
	int domain = o->to.ss.ss_family;

	if (!o->to.len || error == EAGAIN || error == ENOBUFS || error == ENOMEM ||
	    error == EMSGSIZE)
		return false;
	if (error == ECONNREFUSED)
		return true;
	if (o->fd >= 0)
		close(o->fd);
	o->fd = 0;
	if (outlet_open(o, domain))
		return true;
	o->fd = -1;
	return false;
}

static void batch_send(struct outlet *o)
{
	struct batch *b = o->batch;
	unsigned done = 0;
	bool again = true;

	while (done < b->count) {
		int n = sendmmsg(o->fd, b->messages + done, b->count - done,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n > 0) {
			done += (unsigned)n;
			again = true;
		} else if (errno != EINTR && again && outlet_recover(o, errno)) {
			again = false;
		} else if (errno != EINTR) {
			log_drop(); /* the first of those that are left */
			done++;
			again = true;
		}
	}
	b->count = b->used = 0;
}

void datagram_flush(void)
{
	for (unsigned i = 0; i < OUTLETS; i++) {
		struct outlet *o = outlet_n(i);

		if (o->batch && o->batch->count)
			batch_send(o);
	}
}

static void send_all(struct turn_hook *h)
{
	(void)h;
	datagram_flush();
}

/* The line's own copy of all that <m> points to. False: it does not fit. */
static bool batch_add(struct outlet *o, const struct msghdr *m)
{
	struct batch *b = o->batch;
	struct mmsghdr *to;
	size_t len = 0;
	char *p;

	for (size_t i = 0; i < m->msg_iovlen; i++)
		len += m->msg_iov[i].iov_len;
	if (!b)
		b = o->batch = calloc(1, sizeof(*b));
	if (!b || m->msg_namelen + len > BATCH_BYTES)
		return false;
	if (b->count == BATCH_LINES || b->used + m->msg_namelen + len > BATCH_BYTES)
		batch_send(o);
	p = b->bytes + b->used;
	to = &b->messages[b->count];
	*to = (struct mmsghdr){ .msg_hdr = { .msg_name = p, .msg_namelen = m->msg_namelen,
					     .msg_iov = &b->texts[b->count], .msg_iovlen = 1 } };
	if (m->msg_namelen)
		memcpy(p, m->msg_name, m->msg_namelen);
	p += m->msg_namelen;
	b->texts[b->count++] = (struct iovec){ .iov_base = p, .iov_len = len };
	b->used += (unsigned)(m->msg_namelen + len);
	for (size_t i = 0; i < m->msg_iovlen; i++) {
		memcpy(p, m->msg_iov[i].iov_base, m->msg_iov[i].iov_len);
		p += m->msg_iov[i].iov_len;
	}
	turn_hook_add_last(&hook);
	return true;
}

/* The socket that is connected to <to>, made on first use. NULL: all places are taken. */
static struct outlet *peer_of(const struct addr_any *to)
{
	struct outlet *place = NULL;

	for (unsigned i = 0; i < PEERS_MAX; i++) {
		struct outlet *o = &peers[i];

		if (o->to.len == to->len && memcmp(&o->to.ss, &to->ss, to->len) == 0)
			return o;
		if (!place && (!o->to.len || clock_now_ms() - o->used_ms > PEER_UNUSED_MS))
			place = o;
	}
	if (!place)
		return NULL;
	outlet_close(place); /* (what it had to send was sent at the end of a turn) */
	place->to.len = to->len;
	memcpy(&place->to.ss, &to->ss, to->len);
	return place;
}

bool datagram_send(const struct addr_any *to, struct iovec *v, int count)
{
	int domain = to->ss.ss_family;
	struct outlet *o = &families[domain == AF_INET ? 0 : domain == AF_INET6 ? 1 : 2];
	struct msghdr m = { .msg_iov = v, .msg_iovlen = (size_t)count };
	struct outlet *peer = in_loop && domain != AF_UNIX ? peer_of(to) : NULL;

	if (peer && outlet_open(peer, domain)) {
		peer->used_ms = clock_now_ms();
		if (batch_add(peer, &m))
			return true;
	}
	m.msg_name = (void *)(uintptr_t)&to->ss;
	m.msg_namelen = to->len;
	if (!outlet_open(o, domain))
		return false;
	return (in_loop && batch_add(o, &m)) || send_one(o->fd, &m);
}

bool datagram_thread_init(void)
{
	turn_hook_init(&hook, send_all);
	in_loop = true;
	return true;
}

void datagram_thread_fini(void)
{
	datagram_flush();
	in_loop = false;
	for (unsigned i = 0; i < OUTLETS; i++)
		outlet_close(outlet_n(i));
}
