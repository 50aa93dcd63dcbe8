/* SPDX-License-Identifier: GPL-2.0-or-later */
/* datagram.c - this thread's sockets to log servers
 *
 * A working thread keeps the lines of a turn's traffic and sends them in one call behind everything
 * else of the turn: the receiver wakes once for all of them. Events (servers, commands) go at once
 * (datagram_flush()): whoever sees an effect finds its line. So does all that is sent outside of
 * the loop: start, stop, other threads.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/bug.h"
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

struct family {
	int fd;               /* 0: not opened (0 is never one of ours) */
	struct batch *batch;  /* NULL before the first line */
};

static __thread struct family families[3]; /* IPv4, IPv6, UNIX */
static __thread struct turn_hook hook;
static __thread bool in_loop;

static bool family_open(struct family *f, int domain)
{
	int made;

	if (f->fd > 0)
		return true;
	made = socket(domain, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (made == 0) { /* standard input was closed: keep its number out of use */
		made = fcntl(0, F_DUPFD_CLOEXEC, 3);
		close(0);
	}
	if (made <= 0)
		return false;
	shutdown(made, SHUT_RD); /* nothing is ever read */
	f->fd = made;
	return true;
}

static bool send_one(int fd, const struct msghdr *m)
{
	ssize_t sent;

	do
		sent = sendmsg(fd, m, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent >= 0;
}

static void batch_send(struct family *f)
{
	struct batch *b = f->batch;
	unsigned done = 0;

	while (done < b->count) {
		int n = sendmmsg(f->fd, b->messages + done, b->count - done,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n > 0) {
			done += (unsigned)n;
		} else if (errno != EINTR) {
			log_drop(); /* the first of those that are left */
			done++;
		}
	}
	b->count = b->used = 0;
}

void datagram_flush(void)
{
	for (unsigned i = 0; i < ARRAY_LEN(families); i++)
		if (families[i].batch && families[i].batch->count)
			batch_send(&families[i]);
}

static void send_all(struct turn_hook *h)
{
	(void)h;
	datagram_flush();
}

/* The line's own copy of all that <m> points to. False: it does not fit. */
static bool batch_add(struct family *f, const struct msghdr *m)
{
	struct batch *b = f->batch;
	struct mmsghdr *to;
	size_t len = 0;
	char *p;

	for (size_t i = 0; i < m->msg_iovlen; i++)
		len += m->msg_iov[i].iov_len;
	if (!b)
		b = f->batch = calloc(1, sizeof(*b));
	if (!b || m->msg_namelen + len > BATCH_BYTES)
		return false;
	if (b->count == BATCH_LINES || b->used + m->msg_namelen + len > BATCH_BYTES)
		batch_send(f);
	p = b->bytes + b->used;
	to = &b->messages[b->count];
	*to = (struct mmsghdr){ .msg_hdr = { .msg_name = p, .msg_namelen = m->msg_namelen,
					     .msg_iov = &b->texts[b->count], .msg_iovlen = 1 } };
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

bool datagram_send(const struct addr_any *to, struct iovec *v, int count)
{
	int domain = to->ss.ss_family;
	struct family *f = &families[domain == AF_INET ? 0 : domain == AF_INET6 ? 1 : 2];
	struct msghdr m = { .msg_name = (void *)(uintptr_t)&to->ss, .msg_namelen = to->len,
			    .msg_iov = v, .msg_iovlen = (size_t)count };

	if (!family_open(f, domain))
		return false;
	return (in_loop && batch_add(f, &m)) || send_one(f->fd, &m);
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
	for (unsigned i = 0; i < ARRAY_LEN(families); i++) {
		if (families[i].fd > 0)
			close(families[i].fd);
		free(families[i].batch);
		families[i] = (struct family){ 0 };
	}
}
