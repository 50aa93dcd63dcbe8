/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* process.h - all sessions and streams of the process: totals, tunables, reloads and stops
 *
 * Purpose: what main() sets before the threads run, and what it asks of sessions when a
 *          configuration replaces another one or the process stops.
 * Owns   : nothing.
 * Threads: setters: before the threads run. Functions named *_thread() act on objects of the
 *          calling thread.
 * Errors : none.
 * Manual : configuration 3.2; management 3.
 */
#ifndef STREAM_PROCESS_H
#define STREAM_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

struct config;

/* A new generation was published: moves the idle sessions of the calling thread to it, or asks them
 * to leave when it has no place for them. Other sessions move at their next request.
 */
void sessions_follow_thread(void);
/* Ends the streams of the calling thread that belong to generation <number> or to an older one,
 * except those of the live generation.
 */
void streams_kill_older_thread(unsigned number);
/* Closes idle connections to servers of older generations. Connections to a server that the live
 * generation has too are kept.
 */
void server_conns_follow_thread(void);
/* Asks client connections of the calling thread to close (soft stop): one out of every <of> that
 * were not asked yet. 1: all, including those that arrive later from a backlog or a handshake.
 */
void sessions_stop_thread(unsigned of);

/* Sets how many of <descriptors>, the number that the process may have, are for idle connections to
 * servers (tune.pool-low-fd-ratio, tune.pool-high-fd-ratio), and whether threads share them
 * (tune.idle-pool.shared). Before the threads run.
 */
void stream_limit_idle(const struct config *cfg, int64_t descriptors);
/* Kernel settings for the sockets of one side; 0: the system's defaults. */
struct stream_socket_tunes {
	int rcvbuf, sndbuf, notsent_lowat;
};

/* Tunables of the stream engine; tune.bufsize is set with block_set_size(). */
struct stream_tunes {
	unsigned fields_max, maxrewrite;
	unsigned log_uri_max;            /* bytes of a URI in logs */
	int cookie_max;                  /* bytes of a captured cookie */
	bool any_payload;                /* h1-accept-payload-with-any-method */
	bool lax_framing;       /* h1-do-not-close-on-insecure-transfer-encoding */
	struct stream_socket_tunes server;
};

/* Applies what the section `global` of <cfg> says about the stream engine (stream_conf.c). Before
 * the threads run and before sockets are opened.
 */
void stream_apply_tunes(const struct config *cfg);
/* Returns the tunables in force, never NULL. Any thread. */
const struct stream_tunes *stream_tunes(void);

extern const struct module mod_net, mod_mux, mod_stream, mod_stream_log;
extern const struct module mod_stream_unique_id;

#endif
