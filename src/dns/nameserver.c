/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nameserver.c - a name server: questions go out over UDP, or over TCP by link.c
 *
 * The socket is connected, so that the kernel drops datagrams of others; and it is replaced by a
 * new one, with another port, whenever no answer is outstanding: an attacker that wants to forge an
 * answer has to guess the port as well as the identifier.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/clock.h"
#include "core/fd.h"
#include "net/socket.h"
#include "dns_priv.h"

static void read_on(struct timer *t);

void nameserver_count(struct nameserver *ns, enum resolve_counter what)
{
	uint64_t *v = &ns->figures->value[what];

	__atomic_store_n(v, *v + 1, __ATOMIC_RELAXED);
}

void figures_drop(struct nameserver_figures **pf)
{
	struct nameserver_figures *f = *pf;

	*pf = NULL;
	if (f && !__atomic_sub_fetch(&f->refs, 1, __ATOMIC_ACQ_REL))
		free(f);
}

void figures_share(struct nameserver_conf *conf, struct nameserver *ns)
{
	__atomic_add_fetch(&ns->figures->refs, 1, __ATOMIC_RELAXED);
	conf->figures = ns->figures;
}

struct nameserver *nameserver_new(struct resolvers_state *st, const struct nameserver_conf *conf)
{
	struct nameserver *ns = calloc(1, sizeof(*ns));

	if (!ns)
		return NULL;
	ns->name = strdup(conf->name);
	ns->figures = calloc(1, sizeof(*ns->figures));
	if (!ns->name || !ns->figures) {
		free(ns->name);
		free(ns->figures);
		free(ns);
		return NULL;
	}
	ns->figures->refs = 1;
	ns->state = st;
	ns->addr = conf->addr;
	ns->is_stream = conf->is_stream;
	ns->fd = ns->fd_before = -1;
	timer_init(&ns->more, read_on);
	list_init(&ns->link);
	list_init(&ns->links);
	return ns;
}

bool nameserver_is(const struct nameserver *ns, const struct nameserver_conf *conf)
{
	return strcmp(ns->name, conf->name) == 0 && ns->is_stream == conf->is_stream &&
	       ns->addr.len == conf->addr.len &&
	       memcmp(&ns->addr.ss, &conf->addr.ss, ns->addr.len) == 0;
}

static void socket_close(int *fd)
{
	if (*fd >= 0)
		fd_close(*fd);
	*fd = -1;
}

static void sockets_close(struct nameserver *ns)
{
	socket_close(&ns->fd);
	socket_close(&ns->fd_before);
}

void nameserver_free(struct nameserver *ns)
{
	list_remove(&ns->link);
	resolutions_forget_server(ns);
	sockets_close(ns);
	timer_cancel(&ns->more);
	links_close(ns);
	figures_drop(&ns->figures);
	free(ns->name);
	free(ns);
}

/* --- families ------------------------------------------------------------------------------- */

#define ROUTE_KNOWN_MS 30000

/* Connecting a datagram socket sends nothing, but needs a route. */
static bool ipv6_has_route(void)
{
	static uint64_t until_ms; /* thread 0's */
	static bool known;
	struct sockaddr_in6 far = { .sin6_family = AF_INET6, .sin6_port = htons(53) };
	struct sockaddr_storage ss = { 0 };
	int fd;

	if (clock_now_ms() < until_ms)
		return known;
	far.sin6_addr.s6_addr[0] = 0x20;
	far.sin6_addr.s6_addr[15] = 1;
	memcpy(&ss, &far, sizeof(far));
	fd = socket_connect_datagram(&ss, sizeof(far));
	known = fd >= 0;
	if (known)
		close(fd);
	until_ms = clock_now_ms() + ROUTE_KNOWN_MS;
	return known;
}

bool family_is_accepted(const struct resolvers_settings *set, bool v6)
{
	return set->accept[v6] && (!v6 || !set->ipv6_by_route || ipv6_has_route());
}

/* --- UDP ------------------------------------------------------------------------------------
 *
 * An attacker that wants to forge an answer has to know the port as well as the query's number. It
 * is another one whenever nothing is waited for, and after each `timeout retry` when something
 * always is: the socket before the current one then still hears what is late, and by the next
 * change every query that it has sent was answered or sent again.
 */

#define DATAGRAMS_AT_ONCE 64
/* So many unexpected messages in one turn come from an attacker that guesses. */
#define STRANGERS_MAX 48

static bool is_own(const struct nameserver *ns, int fd)
{
	return ns->fd == fd || ns->fd_before == fd;
}

static void readable(void *owner, int fd, unsigned events)
{
	static uint8_t buffer[UINT16_MAX + 1]; /* thread 0's */
	struct nameserver *ns = owner;
	unsigned strangers = 0;

	for (int i = 0; i < DATAGRAMS_AT_ONCE && is_own(ns, fd); i++) {
		ssize_t n = recv(fd, buffer, sizeof(buffer), 0);

		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			fd_cant_recv(fd);
			return;
		}
		/* an error tells of a question that was not received: its time will run out */
		if (n < 0)
			strangers++;
		else if ((size_t)n > ns->state->set.payload)
			nameserver_count(ns, RESOLVE_CNT_TOO_BIG);
		else if (!resolution_answer(ns, slice_make((char *)buffer, (size_t)n)))
			strangers++;
	}
	if (!is_own(ns, fd))
		return;
	/* more than a turn's share: others come first, and a new socket has none of a flood */
	if (strangers >= STRANGERS_MAX)
		socket_close(ns->fd == fd ? &ns->fd : &ns->fd_before);
	else
		timer_set(&ns->more, clock_now_ms());
}

static void read_on(struct timer *t)
{
	struct nameserver *ns = container_of(t, struct nameserver, more);

	if (ns->fd_before >= 0)
		readable(ns, ns->fd_before, FD_IN);
	if (ns->fd >= 0)
		readable(ns, ns->fd, FD_IN);
}

static bool socket_open(struct nameserver *ns)
{
	int fd;

	if (!ns->waiting)
		sockets_close(ns);
	if (ns->fd >= 0 && clock_now_ms() < ns->fd_since_ms + (uint64_t)ns->state->set.retry_ms)
		return true;
	socket_close(&ns->fd_before);
	ns->fd_before = ns->fd;
	ns->fd = -1;
	fd = socket_connect_datagram(&ns->addr.ss, ns->addr.len);
	if (fd < 0)
		return false;
	if (!fd_add(fd, readable, ns, FD_FL_BACKEND)) {
		close(fd);
		return false;
	}
	ns->fd = fd;
	ns->fd_since_ms = clock_now_ms();
	return true;
}

/* The first error may be that of an earlier datagram. */
static bool nameserver_send_datagram(struct nameserver *ns, struct slice query)
{
	for (int i = 0; i < 2; i++)
		if (send(ns->fd, query.ptr, query.len, MSG_NOSIGNAL) == (ssize_t)query.len)
			return true;
	return false;
}

bool nameserver_send(struct nameserver *ns, struct slice query)
{
	bool sent = ns->is_stream ? links_send(ns, query)
				  : socket_open(ns) && nameserver_send_datagram(ns, query);

	nameserver_count(ns, sent ? RESOLVE_CNT_SENT : RESOLVE_CNT_SEND_ERROR);
	return sent;
}
