/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preconnect_priv.h - reverse HTTP: connections of `bind rhttp@backend/server`, opened by us
 *
 * Purpose: keeps `nbconn` connections to the server of the line. Each one begins as HTTP/2 does
 *          with a server; once both sides have said what they can do, it is a client's: requests
 *          come through it and are served by the frontend.
 * Owns   : a struct preconnect is one of the <nbconn>, on the thread that it always has; it holds
 *          the generation of its line, and goes on with the heir of that line. Its connection is
 *          its own until a session has it (session_adopt()).
 * Threads: preconnects of a line are dealt out to the threads that the line uses; each belongs to
 *          its thread alone. What the whole line tells (the log) is counted in its state.
 * Errors : a failed one is tried again after a second; the line logs when it has the first failure,
 *          and when all its connections stand again.
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

/* The line begins on the calling thread, or takes over from the generation before: see
 * listen_reverse_fn.
 */
void preconnect_start(struct listener_conf *l, unsigned rank, unsigned threads);
/* The session that had its connection has ended. */
void preconnect_ended(struct preconnect *p);
void preconnect_thread_init(void);
/* Frees those of the calling thread. */
void preconnect_thread_fini(void);

#endif
