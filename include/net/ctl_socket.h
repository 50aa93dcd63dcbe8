/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ctl_socket.h - Runtime API connections: sockets in front of ctl's sessions
 *
 * Purpose: accepts administration connections, feeds what they send to a struct ctl_session and
 *          sends what it makes.
 * Owns   : a ctl_socket owns its listening descriptor; each connection belongs to its thread.
 * Threads: made and closed by any thread, start_thread on each; accepted connections stay on the
 *          thread that accepted them.
 * Limits : stats maxconn counts over all sockets; stats timeout closes idle connections.
 * Errors : NULL or false when memory is out; a broken connection is closed silently.
 * Manual : configuration 3.1 stats socket, management 9.3.
 */
#ifndef NET_CTL_SOCKET_H
#define NET_CTL_SOCKET_H

#include <stdbool.h>
#include <stdint.h>
#include "ctl/ctl.h"

struct conn;
struct ctl_socket;

/* Takes over listening descriptor <fd>; <severity>: what `set severity-output` calls none (0),
 * number (1), string (2). NULL: no memory, the caller keeps the descriptor.
 */
struct ctl_socket *ctl_socket_new(int fd, enum ctl_level level, int severity);
/* Its clients may ask for this process's listening sockets (expose-fd listeners). */
void ctl_socket_set_exposing(struct ctl_socket *s);
/* A connection that is there already, on the calling thread, with the rights of <level>; it may ask
 * for the listening sockets. Takes over <fd>.
 */
void ctl_connection_new(int fd, enum ctl_level level);
/* Its listening descriptor, borrowed; -1: closed. On a thread of the loops: it stays open until
 * this turn ends.
 */
int ctl_socket_fd(const struct ctl_socket *s);
/* A copy of it, the caller's; -1: closed, or no descriptor is left. From any thread. */
int ctl_socket_dup(const struct ctl_socket *s);
/* Begins to accept on the calling thread. */
void ctl_socket_start_thread(struct ctl_socket *s);
/* Stops accepting for a while / again; from any thread. */
void ctl_socket_pause(struct ctl_socket *s, bool on);
/* Like listener_look_again(). */
void ctl_socket_look_again(struct ctl_socket *s);
/* Stops accepting and closes the socket; connections go on. From any thread; with <drain>, which is
 * for those of the loops, clients in the backlog are accepted first.
 */
void ctl_socket_close(struct ctl_socket *s, bool drain);
/* Closes the socket and frees it: once no thread runs its loop with it. NULLs; NULL is harmless. */
void ctl_socket_free(struct ctl_socket **s);
/* Most connections at once over all sockets (stats maxconn); from any thread. */
void ctl_socket_set_max(unsigned connections);
/* Connections of the process, now and since the start. */
unsigned ctl_connections_count(void);
unsigned long long ctl_connections_total(void);
/* Closes the connections of the calling thread: all, or only those that wait for another
 * command than their first.
 */
void ctl_connections_close_thread(bool all);
/* What a dump tells of a connection. */
struct ctl_connection_info {
	const void *id;
	const struct conn *conn;
	uint64_t since_ns, wall_us; /* when it was accepted: monotonic, and since 1970 */
	int64_t timeout_ms;
	uint64_t expire_ms;         /* clock_now_ms() scale; TIMER_NEVER: does not */
	unsigned runs;              /* how often it moved */
};
/* Calls <fn> for those of the calling thread; it must not end any. */
void ctl_connections_visit(void (*fn)(void *ctx, const struct ctl_connection_info *info),
			   void *ctx);
/* Ends the one of the calling thread that has this id; false: none has. */
bool ctl_connection_kill(const void *id);

/* Per thread, before its first connection, and after its loop: closes what is left. */
bool ctl_socket_thread_init(void);
void ctl_socket_thread_fini(void);

#endif
