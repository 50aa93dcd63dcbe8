/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bind.h - `bind` lines of frontends: what to listen on, and how
 *
 * Purpose: one bind_conf per line (its options), one listener_conf per address of the line (port
 *          ranges are expanded). The stream floor opens sockets from them; modules keep their
 *          settings (TLS...) in the slots of the line.
 * Owns   : everything lies in the generation's arena. A listener_conf holds a reference on its
 *          state, which the next generation adopts if the address is the same.
 * Threads: immutable after the check phase; states hold counters.
 * Manual : bind, configuration 5.1.
 */
#ifndef PROXY_BIND_H
#define PROXY_BIND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include "base/list.h"
#include "base/slot.h"
#include "core/thread.h"
#include "proxy/counters.h"

struct conf_line;
struct config;
struct diag_list;
struct mux_kind;
struct proxy;

#define BIND_OPTIONS(X) \
	X(ACCEPT_PROXY, "accept-proxy") X(ACCEPT_CIP, "accept-netscaler-cip") \
	X(DEFER_ACCEPT, "defer-accept") X(TFO, "tfo") X(TRANSPARENT, "transparent") \
	X(V4V6, "v4v6") X(V6ONLY, "v6only") X(EXPOSE_FD, "expose-fd")
#define X(name, text) BIND_AT_##name,
enum bind_option_at { BIND_OPTIONS(X) BIND_OPTION_COUNT };
#undef X
#define X(name, text) BIND_##name = 1 << BIND_AT_##name,
enum bind_option { BIND_OPTIONS(X) };
#undef X

enum bind_shards { BIND_SHARDS_DEFAULT = 0, BIND_SHARDS_BY_THREAD = -1, BIND_SHARDS_BY_GROUP = -2 };

enum bind_level { BIND_LEVEL_USER = 1, BIND_LEVEL_OPERATOR, BIND_LEVEL_ADMIN };

/* Limit of connections that an rhttp@ line keeps open, whatever nbconn says. */
#define BIND_REVERSED_MAX 65536

/* Which threads accept: by group, or with absolute numbers; a line uses one notation only. */
struct thread_mask {
	bool restricted;                   /* false: every thread */
	bool is_absolute;
	uint64_t of_group[GROUPS_MAX];     /* bit n: n-th thread of the group */
	uint64_t absolute[THREADS_MAX / 64];
};

struct bind_conf {
	struct list link;         /* in proxy->binds */
	struct proxy *proxy;
	const char *file;
	int line;
	const char *text;         /* the addresses as configured */
	struct list listeners;    /* struct listener_conf.link */
	const char *name;         /* `name`, or NULL */
	const char *interface, *guid_prefix;
	const struct mux_kind *proto;  /* forced mux; or NULL */
	const struct netns *netns;    /* `namespace`; NULL: none */
	uint32_t cip_magic;
	unsigned options;         /* enum bind_option */
	int64_t backlog, maxconn; /* 0: the proxy's */
	int64_t tcp_ut_ms;
	const char *congestion, *md5_key; /* see struct socket_settings; NULL none */
	int64_t idle_ping_ms;     /* HTTP/2: interval of PINGs to clients; 0 none */
	int mss;                  /* negative: relative; 0 none */
	int save_syn;             /* tcp-ss: see struct socket_settings */
	int nice;
	int shards;               /* > 0, or enum bind_shards */
	int reversed;             /* nbconn: connections to keep open; 0: not set */
	int id;                   /* first id of the line, 0 none */
	mode_t mode;              /* UNIX sockets; (mode_t)-1: unset */
	uid_t uid;                /* -1 unset */
	gid_t gid;
	enum bind_level level;    /* for `stats socket` lines, which share these options */
	int severity_output;      /* 0 none, 1 number, 2 string */
	struct thread_mask threads;
	/* slots follow */
};

struct listener_state {
	unsigned refs;               /* atomic */
	uint64_t late_ns;            /* atomic: a rate limit pauses it until then; 0: never */
	unsigned open_sessions;      /* atomic */
	char *identity;              /* "frontend@address": owned */
	struct counter_set counters; /* enum counter_front; shown by option socket-stats */
	uint64_t session_max;        /* atomic */
	int64_t last_session_s;
	unsigned reversed;           /* atomic: rhttp@: established connections */
	unsigned reverse_told;       /* atomic: rhttp@: last state that was logged */
};

struct listener_conf {
	struct list link;
	struct bind_conf *bind;
	int id;                      /* unique in the frontend, from 1 (CSV column sid) */
	const char *name;            /* `name`, or "sock-<n>" */
	struct sockaddr_storage address;
	socklen_t address_len;
	int inherited_fd;            /* from fd@ or sockpair@, else -1 */
	bool is_sockpair;
	bool is_quic;                /* datagrams: HTTP/3 */
	/* rhttp@: "backend/server" as configured, for connections that we open; NULL: a socket */
	const char *reverse;
	struct server *reverse_server; /* the server of that name, set by the check phase */
	unsigned is_left;            /* atomic: rhttp@: nothing is opened for it any more */
	unsigned handshakes;         /* atomic: QUIC: connections that are not sessions yet */
	unsigned handshakes_max;     /* their limit, from the backlog */
	struct listener_state *state;
	void *opened;                /* the stream floor's sockets */
};

/* Is it an rhttp@ line? */
bool bind_is_reverse(const struct bind_conf *b);
/* Does it have a QUIC address? */
bool bind_has_quic(const struct bind_conf *b);
/* Returns its slots (SLOT_BIND). */
struct slot_area *bind_slots(const struct bind_conf *b);
/* Creates one with default options, linked to no proxy (for stats sockets). NULL: out of memory. */
struct bind_conf *bind_conf_new(struct config *cfg);
/* Parses "<address>[:<port_range>][,...]" and the options that follow. False: reported. */
bool bind_conf_parse(struct conf_line *l, struct bind_conf *b);

/* Takes a reference. Any thread; dropping the last one frees. */
struct listener_state *listener_state_take(struct listener_state *st);
/* Drops a reference and NULLs the pointer. */
void listener_state_drop(struct listener_state **st);

/* Does thread <thread> of group <group> (both from 0, thread within its group) accept? */
static inline bool thread_mask_has(const struct thread_mask *m, unsigned group, unsigned thread)
{
	unsigned n = thread_group_first(group) + thread;

	if (!m->restricted)
		return true;
	if (m->is_absolute)
		return m->absolute[n / 64] >> (n % 64) & 1;
	return m->of_group[group] >> thread & 1;
}

/* Parses a `thread` argument ("1-4", "all", "odd", "1/1-4", "2/all", comma-separated) and adds it
 * to <m>. Numbers without a group are absolute. False: *error is a static text.
 */
bool thread_mask_parse(struct thread_mask *m, const char *text, const char **error);
/* Returns how many groups <m> names; 0: its numbers are absolute, or it has all threads. */
unsigned thread_mask_groups(const struct thread_mask *m);

#endif
