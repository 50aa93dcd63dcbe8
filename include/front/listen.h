/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* listen.h - the sockets of frontends: opening, polling, pausing, closing; limits at accept
 *
 * Purpose: opens what bind lines say, accepts as long as limits allow, and hands each connection to
 *          the floor above. Sockets go from one generation to the next.
 * Owns   : opened sockets hang off the generation's listener_conf.
 * Threads: opening and stopping are for the main thread before the loops, or any thread after.
 * Errors : diagnostics; a socket that cannot be opened leaves the others open.
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
 * calling it again tries those that failed. Sockets that the generation <prev> (NULL: none) has for
 * the same address with the same options are shared with it, until listen_inherit_all() makes them
 * <cfg>'s or listen_abandon_all() gives them up.
 */
bool listen_open_all(struct config *cfg, const struct config *prev, struct diag_list *diags);
/* A socket for another process, of the line of <cfg> that names this address (<origin>'s texts are
 * no NULL), with its settings. -1: <error>; an empty one: no line names it.
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
/* A socket for an address of a line that is no frontend's, of streams or datagrams: a copy of what
 * was inherited, else of <before> (-1: none), which another generation has; or a new one. -1: see
 * <error>. <backlog> when the line says none. On thread 0.
 */
int listen_plain_open(const struct listener_conf *a, int before, bool datagrams, int64_t backlog,
		      char *error, size_t size);
/* Begins to accept on the calling thread. */
void listen_start_thread(struct config *cfg);
/* Closes the listening sockets and asks idle clients to leave; sessions go on. From any thread. */
void listen_stop_all(struct config *cfg);
/* Closes all sockets at a hard stop: no connection is accepted any more. */
void listen_end_all(struct config *cfg);
/* How many listening sockets there are. */
unsigned listen_count(const struct config *cfg);
/* Work that no client has asked for: it is no session, but a process that stops waits for it. */
void listen_work_began(void);
void listen_work_ended(void);
/* Fills in the open sockets of frontends, borrowed, at most <max>; with <max> 0, only counts them.
 * Returns how many.
 */
unsigned listen_collect(const struct config *cfg, int *sockets, struct socket_origin *origins,
			unsigned max);
/* The open socket on which the calling thread accepts for <l>, to be shown; -1: none. */
int listen_descriptor(const struct listener_conf *l);
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
/* A process that has the same sockets has ended: accepts what the kernel has told that one of. */
void listen_look_again_all(struct config *cfg);
/* A limit was raised, or there is room below one: listeners that wait for it try again. */
void listen_retry_all(struct config *cfg);

struct listen_figures {
	unsigned maxconn_reached;        /* times that the maxconn held connections back */
	uint64_t conn_rate, conn_rate_max; /* connections per second: now, and the most so far */
	unsigned conn_rate_limit, session_rate_limit; /* in force; 0: none */
};

/* Of all frontends together. */
void listen_get_figures(struct listen_figures *out);

/* Hands over an accepted connection: <owner> is its listener_conf; <fd> belongs to the callee. */
struct addr;
typedef void listen_accept_fn(struct listener_conf *owner, int fd, const struct addr *src);
/* Installs it. Before sockets are opened. */
void listen_set_accept(listen_accept_fn *fn);
/* A client of QUIC whose handshake is over. */
struct conn;
struct listen_quic_client {
	struct conn *conn;            /* the callee's; its owner is the struct quic_conn */
	struct addr src, dst;
	uint64_t since_ns;            /* when its first packet came */
};
typedef void listen_accept_quic_fn(struct listener_conf *owner,
				   const struct listen_quic_client *client);
void listen_set_accept_quic(listen_accept_quic_fn *fn);
/* What is to become of a client of QUIC whose first packet came; installed as above. */
enum quic_verdict;
typedef enum quic_verdict listen_judge_quic_fn(struct listener_conf *owner, const struct addr *src,
					       const struct addr *dst);
void listen_set_judge_quic(listen_judge_quic_fn *fn);
/* A line of rhttp@ begins, or goes on with a new generation, on the calling thread: the <rank>-th
 * (from 0) of the <threads> that the line uses. Installed before sockets are opened.
 */
typedef void listen_reverse_fn(struct listener_conf *l, unsigned rank, unsigned threads);
void listen_set_reverse(listen_reverse_fn *fn);
/* Lets the Runtime API pause, resume and close frontends. At the start. */
void listen_init(void);

/* Has what the section `global` of <cfg> says of listening sockets be in force (listen_conf.c), and
 * <reuseport> false be noreuseport. Before sockets are opened.
 */
void listen_apply_tunes(const struct config *cfg, bool reuseport);
/* Applies what can still change, for a generation that replaces another one. From any thread. */
void listen_apply_tunes_again(const struct config *cfg);
extern const struct module mod_listen;

/* --- sessions count themselves --------------------------------------------------------------- */

/* Client sessions of the process, all threads; and since the start. */
unsigned sessions_count(void);
/* Client sessions of the process, with the connections that are being accepted and other work: 0 if
 * nothing is left.
 */
unsigned sessions_places(void);
/* May this client come in at all? */
bool listen_is_welcome(const struct addr *src);
/* May one more connection to <owner>, a listener_conf, be accepted now? Then its place is taken,
 * for a session or until listen_free_place(); else *wait_ms says when to ask again, 0: when a place
 * becomes free.
 */
bool listen_may_accept(void *owner, unsigned *wait_ms);
/* Count a session in and out of the limits; the latter may let sockets accept again. */
void listen_session_began(struct listener_conf *l);
void listen_session_ended(struct listener_conf *l);
/* The place which a connection had, that is no session yet. */
void listen_free_place(struct listener_conf *l);

/* --- limits ---------------------------------------------------------------------------------- */

/* The process's limits; main computes them before listen_open_all(). 0: none. */
void listen_set_limits(unsigned maxconn, unsigned maxconnrate, unsigned maxsessrate);
/* Changes the rates at run time; from any thread. */
void listen_set_rates(unsigned maxconnrate, unsigned maxsessrate);
/* Changes the limit of the process at run time; from any thread. Sockets that wait are for
 * listen_resume_all().
 */
void listen_set_maxconn(unsigned maxconn);

#endif
