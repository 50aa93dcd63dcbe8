/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* process.h - sessions and streams of the whole process: totals, tunables, reloads and stops
 *
 * Purpose: what main sets before the threads run, and asks of sessions when a configuration follows
 *          another or the process stops.
 * Owns   : nothing.
 * Threads: setters before the threads; functions named *_thread() act on the calling thread's own.
 * Errors : none.
 * Manual : configuration 3.2; management 3.
 */
#ifndef STREAM_PROCESS_H
#define STREAM_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

struct config;

/* A new generation was published: the sessions of the calling thread that are idle go on with it,
 * or are asked to leave when it has no place for them; others do so at their next request.
 */
void sessions_follow_thread(void);
/* Ends the streams of the calling thread that are of generation <number> or of an older one, unless
 * it is the live one.
 */
void streams_kill_older_thread(unsigned number);
/* Closes idle connections to servers of older generations: those to a server that the live one has
 * too are kept.
 */
void server_conns_follow_thread(void);
/* Asks client connections of the calling thread to go (soft stop): one of <of> of those that were
 * not asked yet. With 1, so is each one that comes later, out of a backlog or from a handshake.
 */
void sessions_stop_thread(unsigned of);

/* Which parts of <descriptors>, that the process may have, are for idle connections to servers
 * (tune.pool-low-fd-ratio, tune.pool-high-fd-ratio), and whether threads give each other some
 * (tune.idle-pool.shared). Before the threads.
 */
void stream_limit_idle(const struct config *cfg, int64_t descriptors);
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
	struct stream_socket_tunes server;
};

/* Has what the section `global` of <cfg> says of the stream engine be in force (stream_conf.c).
 * Before the threads, and before sockets are opened.
 */
void stream_apply_tunes(const struct config *cfg);
/* The tunables in force: never NULL. From any thread. */
const struct stream_tunes *stream_tunes(void);

extern const struct module mod_net, mod_mux, mod_stream, mod_stream_log;
extern const struct module mod_stream_unique_id;

#endif
