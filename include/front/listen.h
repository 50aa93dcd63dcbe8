/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* listen.h - the sockets of frontends: opening, polling, pausing, closing; limits at accept
 *
 * Purpose: opens the sockets of bind lines, accepts connections within the limits, and passes each
 *          to the floor above. Sockets are passed from one generation to the next.
 * Owns   : opened sockets are attached to the generation's listener_conf.
 * Threads: opening and stopping: the main thread before the loops, or any thread later.
 * Errors : diagnostics; if a socket cannot be opened, the others stay open.
 * Manual : configuration 4.2 bind, maxconn, rate-limit sessions; 3.2 maxconn, maxconnrate.
 */
#ifndef FRONT_LISTEN_H
#define FRONT_LISTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/addr.h"

struct config;
struct diag_list;
struct listener_conf;
struct socket_origin;

/* Opens every bind line of every frontend; problems become diagnostics. False: at least one failed;
 * another call retries those that failed. Sockets that the generation <prev> (NULL: none) has open
 * for the same address with the same options are shared with it, until listen_inherit_all() makes
 * them <cfg>'s own or listen_abandon_all() releases them.
 */
bool listen_open_all(struct config *cfg, const struct config *prev, struct diag_list *diags);
/* Opens a socket for another process, with the settings of the line of <cfg> that has this address
 * (the texts of <origin> must not be NULL). -1: see <error>; empty: no line has it.
 */
struct sockaddr_storage;
int listen_open_named(const struct config *cfg, const struct sockaddr_storage *addr, unsigned len,
		      const struct socket_origin *origin, char *error, size_t size);
/* Closes what was opened for a generation that is not published after all. */
void listen_abandon_all(struct config *cfg);
/* Call when the generation is published: shared sockets become its own. Then call
 * listen_start_thread() on each thread, then listen_leave_all() for the old generation.
 */
void listen_inherit_all(struct config *cfg);
/* Releases the sockets of a replaced generation: those that the new one does not have are closed,
 * after their backlogs were accepted. Worker threads only.
 */
void listen_leave_all(struct config *prev);
/* Adds an alert about an address that cannot be opened. Returns false. */
bool listen_report(struct diag_list *diags, const struct listener_conf *l, const char *error);
/* Opens a socket, of streams or datagrams, for an address of a line outside of frontends: a
 * duplicate of an inherited socket, else of <before> (-1: none), the socket of another generation,
 * else a new one. -1: see <error>. <backlog>: used if the line sets none. On thread 0.
 */
int listen_plain_open(const struct listener_conf *a, int before, bool datagrams, int64_t backlog,
		      char *error, size_t size);
/* Begins to accept on the calling thread. */
void listen_start_thread(struct config *cfg);
/* Closes the listening sockets and asks idle clients to leave; sessions continue. Any thread. */
void listen_stop_all(struct config *cfg);
/* Closes all sockets at a hard stop: no further connection is accepted. */
void listen_end_all(struct config *cfg);
/* Returns the number of listening sockets. */
unsigned listen_count(const struct config *cfg);
/* Count work that no client has asked for: it is not a session, but a stopping process waits for
 * it.
 */
void listen_work_began(void);
void listen_work_ended(void);
/* Writes the open sockets of frontends, borrowed, at most <max>; with <max> 0, only counts them.
 * Returns how many there are.
 */
unsigned listen_collect(const struct config *cfg, int *sockets, struct socket_origin *origins,
			unsigned max);
/* Returns the open socket on which the calling thread accepts for <l>, for display; -1: none. */
int listen_descriptor(const struct listener_conf *l);
/* Call when another process has the sockets, too: closing them no longer releases their ports. */
void listen_set_handed_out(void);
/* Call when another process gave us its sockets and may have to continue with them: closing ours
 * releases no port. Before the threads run.
 */
void listen_set_taken(void);
bool listen_is_taken(void);
/* Pauses listening, releasing the ports, and resumes it (SIGTTOU, SIGTTIN). */
void listen_pause_all(struct config *cfg);
void listen_resume_all(struct config *cfg);
/* Call when a process with the same sockets has ended: accepts connections that the kernel has
 * announced to that process.
 */
void listen_look_again_all(struct config *cfg);
/* Call when a limit was raised, or there is room below one: waiting listeners try again. */
void listen_retry_all(struct config *cfg);

struct listen_figures {
	unsigned maxconn_reached;        /* how often maxconn delayed connections */
	uint64_t conn_rate, conn_rate_max; /* connections per second: now, and maximum so far */
	unsigned conn_rate_limit, session_rate_limit; /* in force; 0: none */
};

/* Returns the figures of all frontends together. */
void listen_get_figures(struct listen_figures *out);

/* Receives an accepted connection: <owner> is its listener_conf; <fd> belongs to the callee. */
struct addr;
typedef void listen_accept_fn(struct listener_conf *owner, int fd, const struct addr *src);
/* Installs the function, before sockets are opened. */
void listen_set_accept(listen_accept_fn *fn);
/* A QUIC client whose handshake is over. */
struct conn;
struct listen_quic_client {
	struct conn *conn;            /* belongs to the callee; its owner is the struct quic_conn */
	struct addr src, dst;
	uint64_t since_ns;            /* when its first packet came */
};
typedef void listen_accept_quic_fn(struct listener_conf *owner,
				   const struct listen_quic_client *client);
void listen_set_accept_quic(listen_accept_quic_fn *fn);
/* Decides about a QUIC client whose first packet came; installed likewise. */
enum quic_verdict;
typedef enum quic_verdict listen_judge_quic_fn(struct listener_conf *owner, const struct addr *src,
					       const struct addr *dst);
void listen_set_judge_quic(listen_judge_quic_fn *fn);
/* An rhttp@ line begins, or continues with a new generation, on the calling thread: the <rank>-th
 * (from 0) of the <threads> that it uses. Installed before sockets are opened.
 */
typedef void listen_reverse_fn(struct listener_conf *l, unsigned rank, unsigned threads);
void listen_set_reverse(listen_reverse_fn *fn);
/* Enables the Runtime API to pause, resume and close frontends. At start-up. */
void listen_init(void);

/* Applies the settings of listening sockets in section `global` of <cfg> (listen_conf.c);
 * <reuseport> false: noreuseport. Before sockets are opened.
 */
void listen_apply_tunes(const struct config *cfg, bool reuseport);
/* Applies the settings that can change at run time, for a generation that replaces another one. Any
 * thread.
 */
void listen_apply_tunes_again(const struct config *cfg);
extern const struct module mod_listen;

/* --- called by sessions ---------------------------------------------------------------------- */

/* Return the number of client sessions of the process, over all threads: now, and since the start.
 */
unsigned sessions_count(void);
/* Returns the number of client sessions plus connections being accepted and other work; 0: nothing
 * is left.
 */
unsigned sessions_places(void);
/* May this client connect at all? */
bool listen_is_welcome(const struct addr *src);
/* May one more connection to <owner>, a listener_conf, be accepted now? Then its place is reserved,
 * for a session or until listen_free_place(); otherwise *wait_ms is when to ask again, 0: when a
 * place becomes free.
 */
bool listen_may_accept(void *owner, unsigned *wait_ms);
/* Add and remove a session for the limits; removing may let sockets accept again. */
void listen_session_began(struct listener_conf *l);
void listen_session_ended(struct listener_conf *l);
/* Frees the place of a connection that did not become a session. */
void listen_free_place(struct listener_conf *l);

/* --- limits ---------------------------------------------------------------------------------- */

/* Sets the limits of the process, 0: none; main computes them before listen_open_all(). */
void listen_set_limits(unsigned maxconn, unsigned maxconnrate, unsigned maxsessrate);
/* Changes the rates at run time. Any thread. */
void listen_set_rates(unsigned maxconnrate, unsigned maxsessrate);
/* Changes the process's connection limit at run time. Any thread. listen_resume_all() restarts
 * sockets that wait for it.
 */
void listen_set_maxconn(unsigned maxconn);

#endif
