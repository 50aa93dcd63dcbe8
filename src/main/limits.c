/* SPDX-License-Identifier: GPL-2.0-or-later */
/* limits.c - the numbers of connections, descriptors and pipes that the process may have
 *
 * Without maxconn, the connections are what the descriptors allow: two for each, one per listening
 * socket and check, some for each peer and thread. With it, the descriptors follow.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/diag.h"
#include "core/fd.h"
#include "core/pool.h"
#include "core/thread.h"
#include "ext/peers.h"
#include "front/listen.h"
#include "net/pipe.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "stream/process.h"
#include "generation_priv.h"
#include "mode_priv.h"
#include "options_priv.h"
#include "settings_priv.h"

/* Descriptors of each thread (poller, wake-up, log sockets) and of the process: the
 * reference's figures.
 */
#define PER_THREAD 3
#define PER_PEER 3
#define FOR_PROCESS 10
/* Entries of the table of descriptors, of which those that are not used cost nothing: for checks
 * and connections that come with a reload or by the Runtime API.
 */
#define TABLE_MAX (1 << 20)
/* For -m: memory of a connection besides its two buffers; percent of all that are for these. */
#define CONNECTION_BYTES 2944
#define MEMORY_PERCENT 97

struct main_limits main_limits;

/* Descriptors of checks; two for an agent. */
static int64_t check_descriptors(const struct config *cfg)
{
	int64_t count = 0;

	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		for (struct server *srv = server_first(px); srv; srv = server_next(srv))
			count += srv->checks.health.on + 2 * srv->checks.agent.on;
	return count;
}

static int64_t other_descriptors(const struct config *cfg)
{
	unsigned stats = stats_sockets_count(cfg);

	return (int64_t)(generation_count_listeners(cfg) + stats) +
	       (stats ? settings_of(cfg)->stats_maxconn : 0) + check_descriptors(cfg) +
	       (int64_t)peers_count(cfg) * PER_PEER + (worker_has_master() ? 1 : 0) +
	       (int64_t)thread_count() * PER_THREAD + FOR_PROCESS;
}

static int64_t pipe_descriptors(const struct main_limits *l)
{
	return l->maxpipes > 0 ? 2 * l->maxpipes : 0;
}

/* The most descriptors to aim at. */
static int64_t descriptor_ceiling(const struct main_settings *set, const struct rlimit *limit)
{
	int64_t most = limit->rlim_max == RLIM_INFINITY ? 1048576 : (int64_t)limit->rlim_max;

	if (limit->rlim_cur != RLIM_INFINITY && (int64_t)limit->rlim_cur > most)
		most = (int64_t)limit->rlim_cur;
	if (set->descriptors)
		most = set->descriptors;
	if (set->descriptors_max && most > set->descriptors_max)
		most = set->descriptors_max;
	return most;
}

static bool raise_limit(const struct main_options *o, const struct main_settings *set,
			struct rlimit *limit, int64_t wanted)
{
	struct rlimit next = { .rlim_cur = (rlim_t)wanted, .rlim_max = limit->rlim_max };

	if (limit->rlim_cur != RLIM_INFINITY && (int64_t)limit->rlim_cur >= wanted &&
	    !set->descriptors)
		return true;
	if (limit->rlim_max != RLIM_INFINITY && (int64_t)limit->rlim_max < wanted)
		next.rlim_max = (rlim_t)wanted;
	if (setrlimit(RLIMIT_NOFILE, &next) == 0) {
		*limit = next;
		return true;
	}
	next.rlim_max = limit->rlim_max;
	next.rlim_cur = limit->rlim_max;
	setrlimit(RLIMIT_NOFILE, &next);
	getrlimit(RLIMIT_NOFILE, limit);
	if (!set->strict_limits) {
		diag_say(DIAG_WARNING, "[%s.main()] Cannot raise FD limit to %lld, limit is %lld.",
			 o->program, (long long)wanted, (long long)limit->rlim_cur);
		return true;
	}
	diag_say(DIAG_ALERT, "[%s.main()] Cannot raise FD limit to %lld, limit is %lld.",
		 o->program,
		 (long long)wanted, (long long)limit->rlim_cur);
	return false;
}

/* maxpipes: a quarter of the connections when splicing is asked for. */
static int64_t ideal_pipes(const struct config *cfg, const struct main_options *o,
			   int64_t maxconn)
{
	const struct main_settings *set = settings_of(cfg);
	const uint64_t bits = PROXY_OPT_SPLICE_AUTO | PROXY_OPT_SPLICE_REQUEST |
			      PROXY_OPT_SPLICE_RESPONSE;

	if (set->no_splice || o->without.splice)
		return 0;
	if (set->maxpipes >= 0)
		return set->maxpipes;
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		if (px->options & bits)
			return maxconn / 4 ? maxconn / 4 : 1;
	return 0;
}

/* Two figures of <n> that count, as HAProxy has it. */
static int64_t rounded_down(int64_t n)
{
	int64_t step = 1;

	while (n / step >= 100)
		step *= 10;
	return n - n % step;
}

/* As many as <room> descriptors and the memory allow: client and server, and pipes where
 * they are used.
 */
static int64_t ideal_connections(const struct config *cfg, const struct main_options *o,
				 int64_t room)
{
	const struct main_settings *set = settings_of(cfg);
	int64_t most, pipes = ideal_pipes(cfg, o, 4);

	if (set->maxpipes >= 0 || !pipes)
		most = (room - 2 * pipes) / 2;
	else
		most = room * 2 / 5; /* one pipe for four connections */
	if (o->memory_mb) {
		int64_t each = 2 * (int64_t)set->bufsize + CONNECTION_BYTES;
		int64_t fits = ((int64_t)o->memory_mb << 20) / 100 * MEMORY_PERCENT / each;

		most = rounded_down(fits < most ? fits : most);
	}
	return most < 1 ? 1 : most;
}

/* How many descriptors there are to use: what was planned, unless the kernel gave less. */
static int usable_descriptors(const struct main_limits *l)
{
	return (int)(l->descriptors < l->maxsock ? l->descriptors : l->maxsock);
}

/* Entries for what is planned, and for more that a reload may bring. */
static int table_size(const struct main_limits *l)
{
	int64_t planned = usable_descriptors(l) + 64;

	if (planned < TABLE_MAX)
		planned = TABLE_MAX;
	return (int)(l->descriptors < planned ? l->descriptors : planned);
}

/* prealloc-fd: a descriptor as high as there will be, for a moment; the kernel then never stops
 * the threads to make its table larger. Without it nothing is lost but that.
 */
static void preallocate_descriptors(const struct main_limits *l)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), high;

	high = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, usable_descriptors(l) - 1) : -1;
	if (high >= 0)
		close(high);
	if (fd >= 0)
		close(fd);
}

bool limits_apply(struct config *cfg, const struct main_options *o)
{
	const struct main_settings *set = settings_of(cfg);
	struct main_limits *l = &main_limits;
	int64_t others = other_descriptors(cfg), ceiling;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0) {
		diag_say(DIAG_ALERT, "[%s.main()] Cannot read the limit of descriptors: %s.",
			 o->program,
			 strerror(errno));
		return false;
	}
	ceiling = descriptor_ceiling(set, &limit);
	l->memory_mb = o->memory_mb;
	l->maxconn = o->maxconn ? o->maxconn : set->maxconn;
	if (!l->maxconn) {
		l->maxconn = ideal_connections(cfg, o, ceiling - others);
		diag_say(DIAG_NOTICE, "Automatically setting global.maxconn to %lld.",
			 (long long)l->maxconn);
	}
	l->hard_maxconn = l->maxconn;
	l->maxpipes = ideal_pipes(cfg, o, l->maxconn);
	l->maxsock = 2 * l->maxconn + pipe_descriptors(l) + others;
	if (!raise_limit(o, set, &limit, set->descriptors ? set->descriptors : l->maxsock))
		return false;
	l->descriptors = (int64_t)limit.rlim_cur;
	if (set->prealloc_fd)
		preallocate_descriptors(l);
	l->told = set->descriptors ? set->descriptors : usable_descriptors(l);
	pool_set_limit((uint64_t)o->memory_mb << 20);
	pipe_set_limit((unsigned)l->maxpipes);
	listen_set_limits((unsigned)l->maxconn, (unsigned)set->maxconnrate,
			  (unsigned)set->maxsessrate);
	l->proxy_maxconn = o->proxy_maxconn ? o->proxy_maxconn : l->maxconn;
	proxies_set_process_maxconn(cfg, l->proxy_maxconn);
	stream_limit_idle(cfg, usable_descriptors(l));
	if (!fd_init(table_size(l))) {
		diag_say(DIAG_ALERT, "[%s.main()] out of memory for the table of descriptors.",
			 o->program);
		return false;
	}
	return true;
}

void limits_prepare_again(struct config *next)
{
	proxies_set_process_maxconn(next, main_limits.proxy_maxconn);
}

void limits_apply_again(const struct config *next, const struct config *prev,
			struct diag_list *diags)
{
	const struct main_settings *set = settings_of(next);
	struct main_limits *l = &main_limits;
	int64_t wanted = set->maxconn ? set->maxconn : l->hard_maxconn;

	if (set->maxconn != settings_of(prev)->maxconn) {
		if (wanted > l->hard_maxconn) {
			diag_add(diags, DIAG_WARNING, NULL, NULL, "'maxconn %lld' is more than "
				 "the process was started for: %lld until it is "
				 "restarted.", (long long)wanted, (long long)l->hard_maxconn);
			wanted = l->hard_maxconn;
		}
		__atomic_store_n(&l->maxconn, wanted, __ATOMIC_RELAXED);
		listen_set_maxconn((unsigned)wanted);
	}
}
