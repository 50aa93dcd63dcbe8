/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listen_open.c - the sockets of a bind line: their options, how many, opening and accepting */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/diag.h"
#include "conf/conf.h"
#include "core/thread.h"
#include "net/listener.h"
#include "net/socket.h"
#include "proxy/proxy.h"
#include "listen_priv.h"

#define MAXACCEPT 64

static struct listen_tunes tunes; /* in force; set before the threads */
static listen_accept_fn *accept_hook;

struct slot listen_tune_slot = { .of = SLOT_CONFIG, .size = sizeof(struct listen_tunes) };

struct listen_tunes *listen_tunes_of(const struct config *cfg)
{
	return slot_of(&listen_tune_slot, config_slots(cfg));
}

void listen_apply_tunes(const struct config *cfg, bool reuseport)
{
	tunes = *listen_tunes_of(cfg);
	tunes.no_reuseport |= !reuseport;
	listen_reject_privileged(tunes.reject_privileged);
}

void listen_apply_tunes_again(const struct config *cfg)
{
	listen_reject_privileged(listen_tunes_of(cfg)->reject_privileged);
}

void listen_set_accept(listen_accept_fn *fn)
{
	accept_hook = fn;
}

/* How many connections a listener accepts in a row. */
static unsigned maxaccept(void)
{
	return tunes.maxaccept ? (unsigned)tunes.maxaccept : MAXACCEPT;
}

/* --- accepting ------------------------------------------------------------------------------- */

static void give_back(void *owner)
{
	listen_free_place(owner);
}

static void on_accept(void *owner, int fd, const struct addr *src)
{
	accept_hook(owner, fd, src);
}

static bool uses(const struct listener_conf *l, unsigned thread)
{
	unsigned g = thread_group_of(thread);

	return thread_mask_has(&l->bind->threads, g, thread - thread_group_first(g));
}

static const char *frontend_name(void *owner)
{
	return ((const struct listener_conf *)owner)->bind->proxy->name;
}

static bool uses_thread(void *owner, unsigned thread)
{
	return uses(owner, thread);
}

static const struct listener_user user = {
	.name = frontend_name,
	.accept = on_accept, .may_accept = listen_may_accept, .give_back = give_back,
	.uses_thread = uses_thread,
};

static listen_datagrams_fn *datagrams_hook;

void listen_set_datagrams(listen_datagrams_fn *fn)
{
	datagrams_hook = fn;
}

static void on_datagrams(void *owner, int fd, enum listener_wish wish)
{
	datagrams_hook(owner, fd, wish);
}

static listen_reverse_fn *reverse_hook;

void listen_set_reverse(listen_reverse_fn *fn)
{
	reverse_hook = fn;
}

static const struct listener_user quic_user = {
	.name = frontend_name, .datagrams = on_datagrams, .uses_thread = uses_thread,
};

/* --- opening --------------------------------------------------------------------------------- */

static unsigned option_bits(const struct bind_conf *b)
{
	const struct proxy *fe = b->proxy;
	unsigned bits = 0;

	if (b->options & BIND_TRANSPARENT)
		bits |= SOCKET_TRANSPARENT;
	if (b->options & BIND_V6ONLY)
		bits |= SOCKET_V6ONLY;
	if (b->options & BIND_V4V6)
		bits |= SOCKET_V4V6;
	if (b->options & BIND_TFO)
		bits |= SOCKET_TFO;
	if (b->options & BIND_DEFER_ACCEPT)
		bits |= SOCKET_DEFER_ACCEPT;
	if (fe->options & PROXY_OPT_CLITCPKA)
		bits |= SOCKET_KEEPALIVE;
	if (fe->options & PROXY_OPT_SMART_ACCEPT)
		bits |= SOCKET_NO_QUICKACK;
	return tunes.no_reuseport ? bits : bits | SOCKET_REUSEPORT;
}

void listen_settings(const struct bind_conf *b, struct socket_settings *set)
{
	const struct proxy *fe = b->proxy;

	*set = (struct socket_settings){
		.options = option_bits(b), .mss = b->mss, .user_timeout_ms = b->tcp_ut_ms,
		.save_syn = b->save_syn,
		.interface = b->interface, .netns = b->netns,
		.mode = b->mode, .uid = b->uid, .gid = b->gid,
		.rcvbuf = tunes.rcvbuf, .sndbuf = tunes.sndbuf,
		.notsent_lowat = tunes.notsent_lowat,
		.congestion = b->congestion, .md5_key = b->md5_key,
		.backlog = (int)(b->backlog ? b->backlog : fe->backlog ? fe->backlog
				 : b->maxconn ? b->maxconn : fe->maxconn ? fe->maxconn
				 : listen_process_max()),
		.keepalive_count = fe->keepalive.client.count,
		.keepalive_idle_ms = fe->keepalive.client.idle_ms,
		.keepalive_interval_ms = fe->keepalive.client.interval_ms,
	};
}

/* The threads, or the groups, which the line uses, among those numbered below <below>. */
static unsigned used_threads(const struct listener_conf *l, unsigned below)
{
	unsigned n = 0;

	for (unsigned t = 0; t < below; t++)
		n += uses(l, t);
	return n;
}

static unsigned used_groups(const struct listener_conf *l, unsigned below)
{
	unsigned n = 0;

	for (unsigned g = 0; g < below; g++) {
		unsigned t = thread_group_first(g), end = t + thread_group_size(g);

		while (t < end && !uses(l, t))
			t++;
		n += t < end;
	}
	return n;
}

/* What the line says, or tune.listener.default-shards: a number or enum bind_shards. */
static int wanted_shards(const struct listener_conf *l)
{
	if (l->is_quic) /* what one client sends should always reach the same thread */
		return BIND_SHARDS_BY_THREAD;
	if (l->bind->shards)
		return l->bind->shards;
	switch (tunes.shards) {
	case LISTEN_SHARDS_BY_PROCESS:
		return 1;
	case LISTEN_SHARDS_BY_THREAD:
		return BIND_SHARDS_BY_THREAD;
	default:
		return BIND_SHARDS_BY_GROUP;
	}
}

static bool is_by_group(const struct listener_conf *l)
{
	return wanted_shards(l) == BIND_SHARDS_BY_GROUP;
}

/* How many sockets: the kernel deals connections out to all of them, so each needs a thread. */
static unsigned shard_count(const struct listener_conf *l)
{
	unsigned threads = used_threads(l, thread_count());
	int shards = wanted_shards(l);

	if (l->address.ss_family == AF_UNIX || l->inherited_fd >= 0 || tunes.no_reuseport ||
	    !threads)
		return 1;
	if (is_by_group(l))
		return used_groups(l, thread_group_count());
	return shards > 0 && (unsigned)shards < threads ? (unsigned)shards : threads;
}

/* The socket of the calling thread, of <count>: threads, or groups, are dealt out in turn. */
unsigned listen_shard_of_thread(const struct listener_conf *l, unsigned count)
{
	unsigned rank = is_by_group(l) ? used_groups(l, thread_group) : used_threads(l, thread_id);

	return rank % count;
}

void listen_start_reverse(struct listener_conf *l)
{
	if (uses(l, thread_id))
		reverse_hook(l, used_threads(l, thread_id), used_threads(l, thread_count()));
}

bool listen_reads(const struct listener_conf *l, unsigned thread, unsigned count)
{
	return uses(l, thread) && (!l->is_quic || used_threads(l, thread) < count);
}

bool listen_report(struct diag_list *diags, const struct listener_conf *l, const char *error)
{
	static const struct diag_place bare = { .form = DIAG_BARE };
	const struct sockaddr_un *un = (const struct sockaddr_un *)&l->address;
	const struct proxy *fe = l->bind->proxy;
	struct addr a = addr_from_sockaddr(&l->address, l->address_len);
	char ip[ADDR_IP_MAX], where[sizeof(un->sun_path) + 16];
	const char *protocol = a.family == ADDR_INET ? l->is_quic ? "quic4" : "tcpv4"
						     : l->is_quic ? "quic6" : "tcpv6";

	if (addr_is_inet(&a)) {
		addr_put_ip(&a, ip, sizeof(ip));
		snprintf(where, sizeof(where), "for [%s:%u]", ip, a.port);
	} else if (l->inherited_fd >= 0) {
		protocol = "fd";
		snprintf(where, sizeof(where), "[fd@%d]", l->inherited_fd);
	} else {
		protocol = un->sun_path[0] ? "unix_stream" : "abns_stream";
		snprintf(where, sizeof(where), "[%s%.107s]", un->sun_path[0] ? "" : "abns@",
			 un->sun_path + !un->sun_path[0]);
	}
	diag_add(diags, DIAG_ALERT, &bare, NULL, "Binding [%s:%d] for %s %s: protocol %s: %s %s.",
		 l->bind->file, l->bind->line, fe ? proxy_kind_name(fe) : "frontend",
		 fe ? fe->name : "GLOBAL", protocol, error, where);
	return false;
}

/* Has the donor this socket still? Then <fd> is a copy of it, or -1. */
static bool is_shared(const struct opened *donor, unsigned shard, int *fd)
{
	bool has;

	listen_opened_lock();
	has = shard < donor->count && donor->sockets[shard];
	if (has)
		*fd = fcntl(listener_fd(donor->sockets[shard]), F_DUPFD_CLOEXEC, 0);
	listen_opened_unlock();
	return has;
}

/* A copy of the socket that the parent has left open for <l>. */
static int open_inherited(const struct listener_conf *l, const struct socket_settings *set,
			  char *error, size_t size)
{
	int fd = fcntl(l->inherited_fd, F_DUPFD_CLOEXEC, 0), type;
	socklen_t len = sizeof(type);

	if (fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0) {
		if (set->save_syn)
			socket_save_syn(fd, set->save_syn);
		return fd;
	}
	snprintf(error, size, "cannot use file descriptor '%d' (%s)", l->inherited_fd,
		 strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* A socket for <l>: another process's, one that the generation before listens on, or a new one. */
static int open_socket(struct listener_conf *l, const struct socket_settings *set, unsigned shard,
		       char *error, size_t size)
{
	struct opened *o = l->opened, *donor = o->donor;
	int fd;

	if (l->inherited_fd >= 0)
		return open_inherited(l, set, error, size);
	if (!donor || o->lent != shard || !is_shared(donor, shard, &fd))
		return (l->is_quic ? socket_datagram : socket_listen)(
			&l->address, l->address_len, set, error, size);
	if (fd < 0)
		snprintf(error, size, "cannot share listening socket (%s)", strerror(errno));
	else
		o->lent++;
	return fd;
}

/* Connections have the algorithm of the listening socket. Without it there are others. */
static void set_congestion(int fd, const char *name, const struct listener_conf *l,
			   struct diag_list *diags)
{
	if (l->address.ss_family == AF_UNIX || socket_set_congestion(fd, name))
		return;
	diag_add(diags, DIAG_WARNING, &(struct diag_place){ .form = DIAG_BARE }, NULL,
		 "Starting [%s:%d] for proxy %s: cannot use the TCP congestion control algorithm "
		 "'%s' (%s); see net.ipv4.tcp_available_congestion_control.", l->bind->file,
		 l->bind->line, l->bind->proxy ? l->bind->proxy->name : "GLOBAL", name,
		 strerror(errno));
}

/* The backlog of a line of QUIC is for handshakes that go on and for connections that are not
 * accepted yet. There are none of these here: half of it is for handshakes, as in HAProxy.
 */
static unsigned handshakes_max(int backlog)
{
	return backlog > 1 ? (unsigned)backlog / 2 : 1;
}

bool listen_open_one(struct listener_conf *l, struct opened *donor, struct diag_list *diags)
{
	unsigned n = shard_count(l);
	struct opened *o = calloc(1, sizeof(*o) + n * sizeof(o->sockets[0]));
	struct socket_settings set;
	char error[256];

	if (!o)
		return listen_report(diags, l, "out of memory");
	l->opened = o;
	o->refs = 1;
	o->donor = donor;
	listen_settings(l->bind, &set);
	o->backlog = set.backlog > 0 ? set.backlog : SOCKET_BACKLOG_DEFAULT;
	l->handshakes_max = handshakes_max(o->backlog);
	for (unsigned i = 0; i < n; i++) {
		int fd = open_socket(l, &set, i, error, sizeof(error));

		if (fd < 0)
			return listen_report(diags, l, error);
		if (set.congestion && !l->is_quic)
			set_congestion(fd, set.congestion, l, diags);
		o->sockets[i] = listener_new(fd, l->is_quic ? &quic_user : &user, l,
					     maxaccept());
		if (!o->sockets[i]) {
			close(fd);
			return listen_report(diags, l, "out of memory");
		}
		o->count++;
	}
	return true;
}
