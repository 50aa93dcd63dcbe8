/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listen.c - the sockets of frontends, and the limits at accept */
#include "proxy/bind.h"
#include "stream/listen.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/diag.h"
#include "conf/conf.h"
#include "core/thread.h"
#include "net/handoff.h"
#include "net/listener.h"
#include "net/netns.h"
#include "net/socket.h"
#include "tls/tls.h"
#include "engine_priv.h"
#include "listen_priv.h"
#include "stream_conf_priv.h"

/* Limits and totals of the process: touched once per connection, not per request. */
static struct {
	unsigned maxconn, maxconnrate, maxsessrate;            /* atomic */
	unsigned maxaccept;                                    /* set before the threads */
	bool no_reuseport;                                     /* same */
	unsigned sessions __attribute__((aligned(64)));        /* atomic: places taken now */
	unsigned open;                                         /* atomic: sessions now */
	unsigned waiting;                                      /* atomic: some socket is paused */
	unsigned reached;                                      /* atomic: how often by maxconn */
	unsigned suspended;                                    /* atomic: by listen_pause_all() */
	unsigned lock;                                         /* of listener_conf.opened */
	unsigned handed_out;                                   /* atomic: to another process */
	bool taken;                                            /* from one; set at the start */
	bool reject_privileged;                                /* atomic: ports below 1024 */
} limits = { .maxaccept = 64 };

static struct rate_set conn_rate;

/* The sockets of one address of a bind line: one, or several with shards. */
struct opened {
	int backlog;
	unsigned count;
	struct opened *donor;   /* of the generation before: shares the first <lent> sockets */
	unsigned lent;          /* shared with another generation: the port must not be released */
	bool chosen;            /* has an heir in the generation that is being made */
	struct listener *sockets[];
};

void listen_set_limits(unsigned maxconn, unsigned maxconnrate, unsigned maxsessrate,
		       unsigned maxaccept)
{
	limits.maxconn = maxconn;
	limits.maxconnrate = maxconnrate;
	limits.maxsessrate = maxsessrate;
	limits.maxaccept = maxaccept ? maxaccept : 64;
}

void listen_set_rates(unsigned maxconnrate, unsigned maxsessrate)
{
	__atomic_store_n(&limits.maxconnrate, maxconnrate, __ATOMIC_RELAXED);
	__atomic_store_n(&limits.maxsessrate, maxsessrate, __ATOMIC_RELAXED);
}

void listen_reject_privileged(bool reject)
{
	__atomic_store_n(&limits.reject_privileged, reject, __ATOMIC_RELAXED);
}

bool listen_is_welcome(const struct addr *src)
{
	return !__atomic_load_n(&limits.reject_privileged, __ATOMIC_RELAXED) ||
	       !addr_is_inet(src) || !src->port || src->port >= 1024;
}

void listen_forbid_reuseport(void)
{
	limits.no_reuseport = true;
}

void listen_set_maxconn(unsigned maxconn)
{
	__atomic_store_n(&limits.maxconn, maxconn, __ATOMIC_RELAXED);
}

static unsigned process_max(void)
{
	return __atomic_load_n(&limits.maxconn, __ATOMIC_RELAXED);
}

/* Not the places: a thread takes one before it knows whether accept() will find a connection, and
 * what logs tell must not depend on who tries just then.
 */
unsigned sessions_count(void)
{
	return __atomic_load_n(&limits.open, __ATOMIC_RELAXED);
}

unsigned sessions_places(void)
{
	return __atomic_load_n(&limits.sessions, __ATOMIC_RELAXED);
}

void listen_get_figures(struct listen_figures *out)
{
	out->maxconn_reached = __atomic_load_n(&limits.reached, __ATOMIC_RELAXED);
	out->conn_rate = rate_set_read(&conn_rate);
	out->conn_rate_max = rate_set_max(&conn_rate);
	out->conn_rate_limit = __atomic_load_n(&limits.maxconnrate, __ATOMIC_RELAXED);
	out->session_rate_limit = __atomic_load_n(&limits.maxsessrate, __ATOMIC_RELAXED);
}

/* --- limits ---------------------------------------------------------------------------------- */

/* Does an administrator want it not to accept? */
static bool is_held(const struct proxy *fe)
{
	return __atomic_load_n(&limits.suspended, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&fe->state->disabled, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&fe->state->stopped, __ATOMIC_RELAXED);
}

/* Threads accept at the same time: a place is taken before the connection is. <max> 0: no limit. */
static bool take_one(unsigned *count, uint64_t max)
{
	unsigned now = __atomic_load_n(count, __ATOMIC_RELAXED);

	SHARED_WRITE(process);
	do {
		if (max && now >= max)
			return false;
	} while (!__atomic_compare_exchange_n(count, &now, now + 1, false, __ATOMIC_SEQ_CST,
					      __ATOMIC_RELAXED));
	return true;
}

static void free_one(unsigned *count)
{
	SHARED_WRITE(process);
	__atomic_sub_fetch(count, 1, __ATOMIC_SEQ_CST);
}

/* A place for one more session in the process, the frontend and the bind line. */
static bool take_place(struct listener_conf *l)
{
	struct proxy_state *fe = l->bind->proxy->state;

	if (!take_one(&limits.sessions, process_max())) {
		__atomic_add_fetch(&limits.reached, 1, __ATOMIC_RELAXED);
		return false;
	}
	if (take_one(&fe->open_sessions, __atomic_load_n(&fe->maxconn, __ATOMIC_RELAXED))) {
		if (take_one(&l->state->open_sessions, l->bind->maxconn))
			return true;
		free_one(&fe->open_sessions);
	}
	free_one(&limits.sessions);
	return false;
}

void listen_free_place(struct listener_conf *l)
{
	free_one(&l->state->open_sessions);
	free_one(&l->bind->proxy->state->open_sessions);
	free_one(&limits.sessions);
	/* whoever waited tries again; those who still may not pause once more */
	if (__atomic_load_n(&limits.waiting, __ATOMIC_SEQ_CST) &&
	    __atomic_exchange_n(&limits.waiting, 0, __ATOMIC_SEQ_CST))
		listen_retry_all(l->bind->proxy->config);
}

static void give_back(void *owner)
{
	listen_free_place(owner);
}

static unsigned rate_max(const unsigned *limit)
{
	return __atomic_load_n(limit, __ATOMIC_RELAXED);
}

static bool may_accept(void *owner, unsigned *wait_ms)
{
	struct listener_conf *l = owner;
	const struct proxy *fe = l->bind->proxy;

	if (is_held(fe))
		return false;
	*wait_ms = proxy_accept_wait_ms(fe);
	if (!*wait_ms && rate_max(&limits.maxconnrate))
		*wait_ms = rate_set_wait_ms(&conn_rate, rate_max(&limits.maxconnrate));
	if (!*wait_ms && rate_max(&limits.maxsessrate))
		*wait_ms = rate_set_wait_ms(&conn_rate, rate_max(&limits.maxsessrate));
	if (!*wait_ms && tls_bind_is_on(bind_slots(l->bind)))
		*wait_ms = tls_accept_wait_ms();
	if (*wait_ms)
		return false;
	if (take_place(l))
		return true;
	/* said before the caller asks a last time, so that a place freed meanwhile is not missed */
	__atomic_store_n(&limits.waiting, 1, __ATOMIC_SEQ_CST);
	return false;
}

void listen_session_began(struct listener_conf *l)
{
	SHARED_WRITE(process);
	__atomic_add_fetch(&limits.open, 1, __ATOMIC_RELAXED);
	listener_thread_load_add(1);
	rate_set_add(&conn_rate, 1);
}

/* Sockets are closed by one thread while others may want to resume them: all that reaches for them
 * after the start takes this lock. None of it is done for each connection.
 */
static void opened_lock(void)
{
	while (__atomic_exchange_n(&limits.lock, 1, __ATOMIC_ACQUIRE))
		;
}

static void opened_unlock(void)
{
	__atomic_store_n(&limits.lock, 0, __ATOMIC_RELEASE);
}

/* Calls <fn> for all addresses of a frontend; false when it failed for one. */
static bool for_each_of(struct proxy *fe, bool (*fn)(struct listener_conf *l))
{
	struct bind_conf *b;
	struct listener_conf *l;
	bool ok = true;

	opened_lock();
	list_for_each(b, &fe->binds, link)
		list_for_each(l, &b->listeners, link)
			ok = fn(l) && ok;
	opened_unlock();
	return ok;
}

static bool for_each_listener(const struct config *cfg, bool (*fn)(struct listener_conf *l))
{
	bool ok = true;

	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		ok = for_each_of(px, fn) && ok;
	return ok;
}

/* Accepts again, unless it is still held for another reason. */
static bool resume_one(struct listener_conf *l)
{
	struct opened *o = l->opened;

	for (unsigned i = 0; o && i < o->count && !is_held(l->bind->proxy); i++)
		listener_resume(o->sockets[i]);
	return true;
}

void listen_session_ended(struct listener_conf *l)
{
	listener_thread_load_add(-1);
	free_one(&limits.open);
	listen_free_place(l);
}

void listen_retry_all(struct config *cfg)
{
	for_each_listener(cfg, resume_one);
}

/* --- accepting ------------------------------------------------------------------------------- */

static void on_accept(void *owner, int fd, const struct addr *src)
{
	session_accept(owner, fd, src);
}

static bool bind_uses(const struct listener_conf *l, unsigned thread)
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
	return bind_uses(owner, thread);
}

static const struct listener_user user = {
	.name = frontend_name,
	.accept = on_accept, .may_accept = may_accept, .give_back = give_back,
	.uses_thread = uses_thread,
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
	return limits.no_reuseport ? bits : bits | SOCKET_REUSEPORT;
}

void listen_settings(const struct bind_conf *b, struct socket_settings *set)
{
	const struct proxy *fe = b->proxy;

	*set = (struct socket_settings){
		.options = option_bits(b), .mss = b->mss, .user_timeout_ms = b->tcp_ut_ms,
		.interface = b->interface, .netns = b->netns,
		.mode = b->mode, .uid = b->uid, .gid = b->gid,
		.rcvbuf = stream_tunes()->client.rcvbuf, .sndbuf = stream_tunes()->client.sndbuf,
		.notsent_lowat = stream_tunes()->client.notsent_lowat,
		.backlog = (int)(b->backlog ? b->backlog : fe->backlog ? fe->backlog
				 : b->maxconn ? b->maxconn : fe->maxconn ? fe->maxconn
				 : process_max()),
		.keepalive_count = fe->client_keepalive.count,
		.keepalive_idle_ms = fe->client_keepalive.idle_ms,
		.keepalive_interval_ms = fe->client_keepalive.interval_ms,
	};
}

/* The threads, or the groups, which the line uses, among those numbered below <below>. */
static unsigned used_threads(const struct listener_conf *l, unsigned below)
{
	unsigned n = 0;

	for (unsigned t = 0; t < below; t++)
		n += bind_uses(l, t);
	return n;
}

static unsigned used_groups(const struct listener_conf *l, unsigned below)
{
	unsigned n = 0;

	for (unsigned g = 0; g < below; g++) {
		unsigned t = thread_group_first(g), end = t + thread_group_size(g);

		while (t < end && !bind_uses(l, t))
			t++;
		n += t < end;
	}
	return n;
}

/* What the line says, or tune.listener.default-shards: a number or enum bind_shards. */
static int wanted_shards(const struct listener_conf *l)
{
	if (l->bind->shards)
		return l->bind->shards;
	switch (stream_tunes()->shards) {
	case STREAM_SHARDS_BY_PROCESS:
		return 1;
	case STREAM_SHARDS_BY_THREAD:
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

	if (l->address.ss_family == AF_UNIX || l->inherited_fd >= 0 || limits.no_reuseport ||
	    !threads)
		return 1;
	if (is_by_group(l))
		return used_groups(l, thread_group_count());
	return shards > 0 && (unsigned)shards < threads ? (unsigned)shards : threads;
}

/* The socket of the calling thread, of <count>: threads, or groups, are dealt out in turn. */
static unsigned shard_of_thread(const struct listener_conf *l, unsigned count)
{
	unsigned rank = is_by_group(l) ? used_groups(l, thread_group) : used_threads(l, thread_id);

	return rank % count;
}

bool listen_report(struct diag_list *diags, const struct listener_conf *l, const char *error)
{
	static const struct diag_place bare = { .form = DIAG_BARE };
	const struct sockaddr_un *un = (const struct sockaddr_un *)&l->address;
	const struct proxy *fe = l->bind->proxy;
	struct addr a = addr_from_sockaddr(&l->address, l->address_len);
	char ip[ADDR_IP_MAX], where[sizeof(un->sun_path) + 16];
	const char *protocol = a.family == ADDR_INET ? "tcpv4" : "tcpv6";

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

/* A socket for <l>: another process's, one that the generation before listens on, or a new one. */
static int open_socket(struct listener_conf *l, const struct socket_settings *set, unsigned shard,
		       char *error, size_t size)
{
	struct opened *o = l->opened, *donor = o->donor;
	int fd;

	if (l->inherited_fd >= 0)
		return fcntl(l->inherited_fd, F_DUPFD_CLOEXEC, 0);
	if (!donor || shard >= donor->count || o->lent != shard)
		return socket_listen(&l->address, l->address_len, set, error, size);
	fd = fcntl(listener_fd(donor->sockets[shard]), F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		snprintf(error, size, "cannot share listening socket (%s)", strerror(errno));
	else
		o->lent++;
	return fd;
}

static bool open_one(struct listener_conf *l, struct opened *donor, struct diag_list *diags)
{
	unsigned n = shard_count(l);
	struct opened *o = calloc(1, sizeof(*o) + n * sizeof(o->sockets[0]));
	struct socket_settings set;
	char error[256];

	if (!o)
		return listen_report(diags, l, "out of memory");
	l->opened = o;
	o->donor = donor;
	listen_settings(l->bind, &set);
	o->backlog = set.backlog > 0 ? set.backlog : SOCKET_BACKLOG_DEFAULT;
	for (unsigned i = 0; i < n; i++) {
		int fd = open_socket(l, &set, i, error, sizeof(error));

		if (fd < 0)
			return listen_report(diags, l, error);
		o->sockets[i] = listener_new(fd, &user, l, limits.maxaccept);
		if (!o->sockets[i]) {
			close(fd);
			return listen_report(diags, l, "out of memory");
		}
		o->count++;
	}
	return true;
}

static bool choose_none(struct listener_conf *l)
{
	if (l->opened)
		((struct opened *)l->opened)->chosen = false;
	return true;
}

/* Would both be the same socket? The backlog can be changed while it listens. */
static bool is_same_socket(const struct listener_conf *l, const struct listener_conf *was)
{
	struct socket_settings a, b;

	if (l->inherited_fd != was->inherited_fd || l->address_len != was->address_len ||
	    memcmp(&l->address, &was->address, l->address_len) != 0)
		return false;
	listen_settings(l->bind, &a);
	listen_settings(was->bind, &b);
	return socket_settings_are_equal(&a, &b);
}

/* The sockets of <prev>, not chosen yet, that <l> would open; NULL: none. */
static struct opened *find_donor(const struct listener_conf *l, const struct config *prev)
{
	struct listener_conf *was;
	struct bind_conf *b;

	for (struct proxy *px = proxies_first(prev); px; px = proxy_next(px))
		list_for_each(b, &px->binds, link)
			list_for_each(was, &b->listeners, link) {
				struct opened *o = was->opened;

				if (o && !o->chosen && is_same_socket(l, was))
					return o;
			}
	return NULL;
}

/* Can the port be released while the socket is kept? An inherited socket is shared with others. */
static bool can_release(const struct listener_conf *l)
{
	return l->inherited_fd < 0 && l->address.ss_family != AF_UNIX;
}

static bool is_handed_out(void)
{
	return __atomic_load_n(&limits.handed_out, __ATOMIC_RELAXED);
}

/* Not twice: the kernel would take the second for the end of all connections to come. */
static void release_port(int fd)
{
	socklen_t len = sizeof(int);
	int listening = 0;

	if (is_handed_out())
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) == 0 && listening)
		shutdown(fd, SHUT_RD);
}

static void close_sockets(struct listener_conf *l)
{
	struct opened *o = l->opened;

	for (unsigned i = 0; o && i < o->count; i++) {
		/* the descriptor goes when every thread has left it, the port now; but a process
		 * that gave us its sockets may be there and go on with them
		 */
		if (can_release(l) && i >= o->lent && !limits.taken)
			release_port(listener_fd(o->sockets[i]));
		listener_close(&o->sockets[i]);
	}
	free(o);
	l->opened = NULL;
}

/* All sockets of the address or none, so that it may be tried again. */
static bool open_whole(struct listener_conf *l, struct opened *donor, struct diag_list *diags)
{
	if (open_one(l, donor, diags)) {
		if (donor)
			donor->chosen = true;
		return true;
	}
	close_sockets(l);
	return false;
}

bool listen_open_all(struct config *cfg, const struct config *prev, struct diag_list *diags)
{
	bool ok = true;

	if (prev)
		for_each_listener(prev, choose_none);

	if (!conn_rate.shards && !rate_set_init(&conn_rate))
		return false;
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		struct bind_conf *b;
		struct listener_conf *l;

		if (px->disabled)
			continue;
		list_for_each(b, &px->binds, link)
			list_for_each(l, &b->listeners, link)
				ok = (l->opened ||
				      open_whole(l, prev ? find_donor(l, prev) : NULL, diags)) &&
				     ok;
	}
	return ok;
}

static bool start_one(struct listener_conf *l)
{
	struct opened *o = l->opened;

	if (o && o->count && bind_uses(l, thread_id))
		listener_start_thread(o->sockets[shard_of_thread(l, o->count)]);
	return true;
}

void listen_start_thread(struct config *cfg)
{
	for_each_listener(cfg, start_one);
}

unsigned listen_collect(const struct config *cfg, int *sockets, struct socket_origin *origins,
			unsigned max)
{
	struct listener_conf *l;
	struct bind_conf *b;
	unsigned n = 0;

	opened_lock();
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		list_for_each(b, &px->binds, link)
			list_for_each(l, &b->listeners, link) {
				const struct opened *o = l->opened;

				for (unsigned i = 0; o && i < o->count; i++, n++) {
					if (n >= max)
						continue;
					sockets[n] = listener_fd(o->sockets[i]);
					origins[n].netns = netns_name(b->netns);
					origins[n].interface = b->interface;
				}
			}
	opened_unlock();
	return n < max || !max ? n : max;
}

void listen_set_handed_out(void)
{
	__atomic_store_n(&limits.handed_out, 1, __ATOMIC_RELAXED);
}

void listen_set_taken(void)
{
	limits.taken = true;
}

bool listen_is_taken(void)
{
	return limits.taken;
}

/* --- pausing and stopping --------------------------------------------------------------------- */

static void set_status(struct listener_conf *l, enum listener_status status)
{
	__atomic_store_n(&l->state->status, status, __ATOMIC_RELAXED);
}

/* Stops accepting; whoever connects to the port is refused by the kernel; others may bind it. */
static bool pause_one(struct listener_conf *l)
{
	struct opened *o = l->opened;

	for (unsigned i = 0; o && i < o->count; i++) {
		listener_pause(o->sockets[i]);
		if (can_release(l) && i >= o->lent)
			release_port(listener_fd(o->sockets[i]));
	}
	set_status(l, LISTENER_PAUSED);
	return true;
}

/* Takes back the port and accepts. False: somebody else has it now. */
static bool reopen_one(struct listener_conf *l)
{
	struct opened *o = l->opened;
	bool ok = true;

	if (is_held(l->bind->proxy))
		return true;
	for (unsigned i = 0; o && i < o->count; i++) {
		if (!can_release(l) || listen(listener_fd(o->sockets[i]), o->backlog) == 0)
			listener_resume(o->sockets[i]);
		else
			ok = false;
	}
	if (ok)
		set_status(l, LISTENER_OPEN);
	return ok;
}

static bool end_one(struct listener_conf *l)
{
	close_sockets(l);
	set_status(l, LISTENER_CLOSED);
	return true;
}

/* Another process that has the socket would not hear of a client whom the kernel has told us of. */
static bool stop_one(struct listener_conf *l)
{
	struct opened *o = l->opened;
	bool shared = is_handed_out() || limits.taken;

	while (shared && o && o->count)
		listener_drain(&o->sockets[--o->count]);
	close_sockets(l);
	set_status(l, LISTENER_CLOSED);
	return true;
}

void listen_stop_all(struct config *cfg)
{
	for_each_listener(cfg, stop_one);
}

void listen_end_all(struct config *cfg)
{
	for_each_listener(cfg, end_one);
}

void listen_pause_all(struct config *cfg)
{
	__atomic_store_n(&limits.suspended, 1, __ATOMIC_RELAXED);
	for_each_listener(cfg, pause_one);
}

void listen_resume_all(struct config *cfg)
{
	__atomic_store_n(&limits.suspended, 0, __ATOMIC_RELAXED);
	for_each_listener(cfg, reopen_one);
}

/* --- from one generation to the next ---------------------------------------------------------- */

static bool abandon_one(struct listener_conf *l)
{
	close_sockets(l);
	return true;
}

void listen_abandon_all(struct config *cfg)
{
	for_each_listener(cfg, abandon_one);
}

static bool inherit_one(struct listener_conf *l)
{
	struct opened *o = l->opened;

	if (!o)
		return true;
	if (o->donor) {
		for (unsigned i = 0; i < o->lent && o->backlog != o->donor->backlog; i++)
			listen(listener_fd(o->sockets[i]), o->backlog);
		o->donor->lent = o->lent;
		o->donor = NULL;
		o->lent = 0;
	}
	if (is_held(l->bind->proxy))
		pause_one(l);
	return true;
}

void listen_inherit_all(struct config *cfg)
{
	for_each_listener(cfg, inherit_one);
}

static bool leave_one(struct listener_conf *l)
{
	struct opened *o = l->opened;

	/* shared ones too: the kernel may have told us, and nobody else, of a client */
	for (unsigned i = 0; o && i < o->count; i++)
		listener_drain(&o->sockets[i]);
	free(o);
	l->opened = NULL;
	return true;
}

void listen_leave_all(struct config *prev)
{
	for_each_listener(prev, leave_one);
}

/* What the Runtime API wants of one frontend. */
static bool change_frontend(struct proxy *fe, int what)
{
	return for_each_of(fe, what == 0 ? stop_one : what == 1 ? pause_one : reopen_one);
}

static void change_limit(struct proxy *fe)
{
	for_each_of(fe, resume_one);
}

void listen_init(void)
{
	proxy_set_listen_hook(change_frontend);
	proxy_set_limit_hook(change_limit);
}

unsigned listen_count(const struct config *cfg)
{
	unsigned n = 0;

	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		struct bind_conf *b;
		struct listener_conf *l;

		list_for_each(b, &px->binds, link)
			list_for_each(l, &b->listeners, link)
				n += !px->disabled;
	}
	return n;
}
