/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preconnect_priv.h - reverse HTTP: connections of `bind rhttp@backend/server`, opened by us
 *
 * Purpose: keeps `nbconn` connections to the server of the line. Each one begins like an HTTP/2
 *          connection to a server; once both sides have exchanged SETTINGS, it becomes a client's:
 *          requests come through it and are served by the frontend.
 * Owns   : a struct preconnect is one of the <nbconn> connections, always on the same thread. It
 *          holds the generation of its line, and moves to the line that replaces it. It owns its
 *          connection until a session has it (session_adopt()).
 * Threads: the preconnects of a line are distributed over the threads of the line; each is used by
 *          its thread only. What concerns the whole line (the log) is counted in its state.
 * Errors : a failed one is retried after a second; the line logs its first failure, and when all
 *          its connections are established again.
 * Manual : configuration 4.2 bind rhttp@, 5.1 nbconn
 *
 *      WAIT --> DIAL --> SETTLE --> UP
 *       ^         |         |        |
 *       +---------+---------+--------+   failed, or closed
 */
#ifndef STREAM_PRECONNECT_PRIV_H
#define STREAM_PRECONNECT_PRIV_H

#include <stdbool.h>

struct listener_conf;
struct preconnect;

/* Starts the line on the calling thread, or takes over from the previous generation: see
 * listen_reverse_fn.
 */
void preconnect_start(struct listener_conf *l, unsigned rank, unsigned threads);
/* The session that used its connection has ended. */
void preconnect_ended(struct preconnect *p);
void preconnect_thread_init(void);
/* Frees the preconnects of the calling thread. */
void preconnect_thread_fini(void);

#endif
