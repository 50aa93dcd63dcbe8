/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* listen.h - the sockets of frontends: opening, polling, pausing, closing
 *
 * Owns   : opened sockets hang off the generation's listener_conf.
 * Threads: opening and stopping are for the main thread before the loops, or any thread after.
 */
#ifndef STREAM_LISTEN_H
#define STREAM_LISTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;
struct diag_list;
struct listener_conf;
struct socket_origin;
struct stream_limits;

/* Opens every bind line of every frontend; problems become diagnostics. False: at least one failed;
 * calling it again tries those that failed. Sockets that the generation <prev> (NULL: none) has for
 * the same address with the same options are shared with it, until listen_inherit_all() makes them
 * <cfg>'s or listen_abandon_all() gives them up.
 */
bool listen_open_all(struct config *cfg, const struct config *prev, struct diag_list *diags);
/* A socket for somebody else, of the line of <cfg> that names this address (<origin>'s texts are no
 * NULL), with its settings. -1: <error>; an empty one: no line names it.
 */
struct sockaddr_storage;
int listen_open_named(const struct config *cfg, const struct sockaddr_storage *addr, unsigned len,
		      const struct socket_origin *origin, char *error, size_t size);
/* Closes what was opened for a generation that is not published after all. */
void listen_abandon_all(struct config *cfg);
/* The generation is published: what it shared is its own. Then listen_start_thread() on each
 * thread, then listen_leave_all() on the old one.
 */
void listen_inherit_all(struct config *cfg);
/* Leaves the sockets of a generation that was replaced: those without an heir are closed, once
 * their backlogs are accepted. From a thread of the loops.
 */
void listen_leave_all(struct config *prev);
/* Adds the alert about an address that cannot be opened. Returns false. */
bool listen_report(struct diag_list *diags, const struct listener_conf *l, const char *error);
/* Refuse clients whose own port is below 1024 (harden.reject-privileged-ports.tcp)? */
void listen_reject_privileged(bool reject);
/* One socket for each address, whatever `shards` says (noreuseport). Before they are opened. */
void listen_forbid_reuseport(void);
/* Begins to accept on the calling thread. */
void listen_start_thread(struct config *cfg);
/* Closes the listening sockets and asks idle clients to leave; sessions go on. From any thread. */
void listen_stop_all(struct config *cfg);
/* The same, at a hard stop: nobody is accepted any more. */
void listen_end_all(struct config *cfg);
/* How many listening sockets there are. */
unsigned listen_count(const struct config *cfg);
/* Fills in the open sockets of frontends, borrowed, at most <max>; with <max> 0, only counts them.
 * Returns how many.
 */
unsigned listen_collect(const struct config *cfg, int *sockets, struct socket_origin *origins,
			unsigned max);
/* Another process has them as well: their ports are not ours to release from now on. */
void listen_set_handed_out(void);
/* Another process gave us its sockets, and may have to go on with them: closing ours releases no
 * port. Before the threads.
 */
void listen_set_taken(void);
bool listen_is_taken(void);
/* Stops accepting for a while, releasing the ports / takes them back (SIGTTOU, SIGTTIN). */
void listen_pause_all(struct config *cfg);
void listen_resume_all(struct config *cfg);
/* A limit was raised, or there is room below one: whoever waits for it tries again. */
void listen_retry_all(struct config *cfg);

struct listen_figures {
	unsigned maxconn_reached;        /* times that the maxconn held connections back */
	uint64_t conn_rate, conn_rate_max; /* connections per second: now, and the most so far */
	unsigned conn_rate_limit, session_rate_limit; /* in force; 0: none */
};

/* Of all frontends together. */
void listen_get_figures(struct listen_figures *out);

/* Bytes given to clients in the last second, counted as streams end or report. */
uint64_t streams_bytes_out_rate(void);
/* Client sessions of the process, all threads; and since the start. */
unsigned sessions_count(void);
/* The same with the connections that are being accepted: nothing is left when it is 0. */
unsigned sessions_places(void);
unsigned long long sessions_total(void);
unsigned long long requests_total(void);
/* Closes the sessions of the calling thread at once (hard stop, end of hard-stop-after). */
void sessions_kill_thread(void);
/* A new generation was published: the sessions of the calling thread that are idle go on with it,
 * or are asked to leave when it has no place for them; others do so at their next request.
 */
void sessions_follow_thread(void);
/* Ends the streams of the calling thread that are of generation <number> or of an older one, unless
 * it is the live one.
 */
void streams_kill_older_thread(unsigned number);
/* The same for idle connections to servers: those to a server that it has too are kept. */
void server_conns_follow_thread(void);
/* Asks client connections of the calling thread to go (soft stop), the idle ones at once: one of
 * <of> of those that were not asked yet.
 */
void sessions_stop_thread(unsigned of);

/* The process's limits; main computes them before listen_open_all(). 0: none. */
void listen_set_limits(unsigned maxconn, unsigned maxconnrate, unsigned maxsessrate,
		       unsigned maxaccept);
/* Changes the rates at run time; from any thread. */
void listen_set_rates(unsigned maxconnrate, unsigned maxsessrate);
/* Changes the limit of the process at run time; from any thread. Sockets that wait are for
 * listen_resume_all().
 */
void listen_set_maxconn(unsigned maxconn);
/* May threads give each other idle server connections (tune.idle-pool.shared)? Before the threads.
 */
void stream_set_idle_sharing(bool shared);
/* With <low> descriptors open or more, connections to servers are closed instead of kept idle; with
 * more than <high>, a new one makes an idle one of its thread close. Before the threads.
 */
void stream_set_idle_descriptors(int low, int high);
/* What the kernel is told of the sockets of one side; 0: its own defaults. */
struct stream_socket_tunes {
	int rcvbuf, sndbuf, notsent_lowat;
};

/* Of the stream engine; tune.bufsize is given with block_set_size(). */
struct stream_tunes {
	unsigned fields_max, maxrewrite;
	unsigned log_uri_max;            /* bytes of a URI in logs */
	int cookie_max;                  /* bytes of a captured cookie */
	bool any_payload;                /* h1-accept-payload-with-any-method */
	bool lax_framing;       /* h1-do-not-close-on-insecure-transfer-encoding */
	unsigned shards;                 /* of an address, by default: enum stream_shards */
	struct stream_socket_tunes client, server;
};

enum stream_shards { STREAM_SHARDS_BY_GROUP, STREAM_SHARDS_BY_PROCESS, STREAM_SHARDS_BY_THREAD };

/* Copied. Before the threads, and before sockets are opened. */
void stream_set_tunes(const struct stream_tunes *tunes);
/* The tunables in force: never NULL. From any thread. */
const struct stream_tunes *stream_tunes(void);

extern const struct module mod_net, mod_mux, mod_stream, mod_stream_log;
extern const struct module mod_stream_unique_id;

#endif
