/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ctl_socket.h - Runtime API connections: the sockets of ctl's sessions
 *
 * Purpose: accepts administration connections, passes received bytes to a struct ctl_session and
 *          sends its output.
 * Owns   : a ctl_socket owns its listening descriptor; each connection belongs to its thread.
 * Threads: created and closed by any thread; start_thread is called on each; accepted connections
 *          stay on the thread that accepted them.
 * Limits : stats maxconn limits all sockets together; stats timeout closes idle connections.
 * Errors : NULL or false when out of memory; a broken connection is closed silently.
 * Manual : configuration 3.1 stats socket, management 9.3.
 */
#ifndef NET_CTL_SOCKET_H
#define NET_CTL_SOCKET_H

#include <stdbool.h>
#include <stdint.h>
#include "ctl/ctl.h"

struct conn;
struct ctl_socket;

/* Takes over listening descriptor <fd>; <severity>: in the terms of `set severity-output`, none
 * (0), number (1), string (2). NULL: out of memory, the caller keeps the descriptor.
 */
struct ctl_socket *ctl_socket_new(int fd, enum ctl_level level, int severity);
/* Allows its clients to ask for this process's listening sockets (expose-fd listeners). */
void ctl_socket_set_exposing(struct ctl_socket *s);
/* Serves an existing connection on the calling thread, with the rights of <level>; it may ask for
 * the listening sockets. Takes over <fd>.
 */
void ctl_connection_new(int fd, enum ctl_level level);
/* Returns its listening descriptor, borrowed; -1: closed. On a worker thread, it stays open until
 * the end of this turn.
 */
int ctl_socket_fd(const struct ctl_socket *s);
/* Returns a duplicate of the descriptor, owned by the caller; -1: closed, or out of descriptors.
 * Any thread.
 */
int ctl_socket_dup(const struct ctl_socket *s);
/* Begins to accept on the calling thread. */
void ctl_socket_start_thread(struct ctl_socket *s);
/* Pauses or resumes accepting. Any thread. */
void ctl_socket_pause(struct ctl_socket *s, bool on);
/* As listener_look_again(). */
void ctl_socket_look_again(struct ctl_socket *s);
/* Stops accepting and closes the socket; connections continue. Any thread; with <drain>, which is
 * allowed on worker threads only, clients in the backlog are accepted first.
 */
void ctl_socket_close(struct ctl_socket *s, bool drain);
/* Closes the socket and frees the object, once no thread runs its loop with it. NULLs the pointer;
 * NULL is harmless.
 */
void ctl_socket_free(struct ctl_socket **s);
/* Sets the maximum of connections over all sockets (stats maxconn). Any thread. */
void ctl_socket_set_max(unsigned connections);
/* Return the number of connections of the process, now and since the start. */
unsigned ctl_connections_count(void);
unsigned long long ctl_connections_total(void);
/* Closes the connections of the calling thread: all, or only those that have run a command and wait
 * for another.
 */
void ctl_connections_close_thread(bool all);
/* Facts about a connection, for dumps. */
struct ctl_connection_info {
	const void *id;
	const struct conn *conn;
	uint64_t since_ns, wall_us; /* when it was accepted: monotonic, and since 1970 */
	int64_t timeout_ms;
	uint64_t expire_ms;         /* on the scale of clock_now_ms(); TIMER_NEVER: no timeout */
	unsigned runs;              /* how often it made progress */
};
/* Calls <fn> for each connection of the calling thread; <fn> must not end any. */
void ctl_connections_visit(void (*fn)(void *ctx, const struct ctl_connection_info *info),
			   void *ctx);
/* Ends the connection of the calling thread that has this id. False: none has. */
bool ctl_connection_kill(const void *id);

/* Per thread: before its first connection, and after its loop (closes what is left). False: out of
 * memory.
 */
bool ctl_socket_thread_init(void);
void ctl_socket_thread_fini(void);

#endif
