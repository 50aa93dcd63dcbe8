/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* socket.h - the single place that creates, binds and connects sockets
 *
 * Every bind() and connect() of the program goes through here, so that a privileged parent can be
 * asked for listening sockets. Descriptors are non-blocking and close-on-exec.
 * Owns   : nothing; the caller owns the descriptor. Threads: any.
 * Errors : -1 and a text in <error> (caller's buffer) that names the failing step.
 */
#ifndef NET_SOCKET_H
#define NET_SOCKET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

enum socket_options {
	SOCKET_TRANSPARENT = 1 << 0,
	SOCKET_V6ONLY = 1 << 1,
	SOCKET_V4V6 = 1 << 2,
	SOCKET_TFO = 1 << 3,
	SOCKET_DEFER_ACCEPT = 1 << 4,
	SOCKET_REUSEPORT = 1 << 5,
	SOCKET_KEEPALIVE = 1 << 6,
	SOCKET_NO_QUICKACK = 1 << 7, /* delay the first ACK: smart accept and connect */
	SOCKET_DELAY = 1 << 9,       /* small segments may wait for ACKs */
	/* a near host may have answered already: check before waiting */
	SOCKET_ASK_AGAIN = 1 << 10,
};

/* The backlog when none is asked for. */
#define SOCKET_BACKLOG_DEFAULT 1024

struct netns;

struct socket_settings {
	unsigned options;        /* enum socket_options */
	int backlog;
	int mss;
	int64_t user_timeout_ms; /* tcp-ut; 0 none */
	int save_syn;            /* tcp-ss: 1 from the IP header on, 2 from Ethernet's; 0 none */
	const char *interface;
	const struct netns *netns; /* NULL: the process's own */
	mode_t mode;             /* UNIX; (mode_t)-1 unset */
	uid_t uid;               /* -1 unset */
	gid_t gid;
	int keepalive_count;
	int64_t keepalive_idle_ms, keepalive_interval_ms;
	const struct sockaddr_storage *source; /* bind before connect; NULL none */
	int source_port_low, source_port_high; /* a range, 0 0: none */
	uint32_t *source_cursor;
	int rcvbuf, sndbuf;      /* 0: the system's */
	const uint32_t *mark;    /* of outgoing packets; NULL none */
	const uint8_t *tos;
	int notsent_lowat;       /* limit of unsent bytes in the kernel; 0 none */
	const char *congestion;  /* name of the algorithm, for connect(); NULL the system's */
	const char *md5_key;     /* signs segments (RFC 2385); NULL none */
};

/* Do both describe the same socket, except for its backlog? */
bool socket_settings_are_equal(const struct socket_settings *a, const struct socket_settings *b);

/* Makes the kernel keep the first packet of each client of a listening socket, see <save_syn>. Does
 * nothing where this is not supported.
 */
void socket_save_syn(int fd, int mode);

/* The longest md5_key, in bytes. */
#define SOCKET_MD5_KEY_MAX 80

/* Sets the congestion control algorithm of a TCP socket's connections. False, errno: the kernel
 * does not have it, or the process is not permitted.
 */
bool socket_set_congestion(int fd, const char *name);

/* Opens a listening stream socket. Listening TCP sockets have TCP_NODELAY, which accepted ones
 * inherit. UNIX paths are bound under another name and renamed, so that a running process keeps its
 * own.
 */
int socket_listen(const struct sockaddr_storage *addr, socklen_t len,
		  const struct socket_settings *set, char *error, size_t size);

/* Opens a datagram socket bound to an internet address, for receiving only. */
int socket_datagram(const struct sockaddr_storage *addr, socklen_t len,
		    const struct socket_settings *set, char *error, size_t size);

/* Opens a datagram socket that talks with <to> only: for one of the peers of a socket that is bound
 * to <from>. -1: the system refuses, for a privileged port for instance.
 */
int socket_datagram_between(const struct sockaddr_storage *from, socklen_t from_len,
			    const struct sockaddr_storage *to, socklen_t to_len,
			    const struct socket_settings *set);

/* Installs a function that opens listening sockets in another process: a privileged parent, while a
 * chrooted, unprivileged worker reads a new configuration. Same contract, except that it knows the
 * settings itself. NULL: this process opens them.
 */
struct socket_origin;
typedef int socket_listener_fn(const struct sockaddr_storage *addr, socklen_t len,
			       const struct socket_origin *origin, char *error, size_t size);
void socket_set_listener(socket_listener_fn *fn);

/* Begins a connection. Returns the descriptor (connected, or *in_progress), or -1 with errno, from
 * which the caller derives the cause (EAGAIN, EADDRNOTAVAIL, EMFILE, ENFILE: ours; others: the
 * server's).
 */
int socket_connect(const struct sockaddr_storage *addr, socklen_t len,
		   const struct socket_settings *set, bool *in_progress);

/* Ends the connection of <fd>, by a reset if it is established, so that the socket can be connected
 * again. False: the socket cannot be reused; the caller closes it.
 */
bool socket_disconnect(int fd);
/* As socket_connect(), with an <fd> that was connected with the same settings to the same family
 * and then disconnected; it is closed on errors. It must not have been bound to a source.
 */
int socket_connect_again(int fd, const struct sockaddr_storage *addr, socklen_t len,
			 const struct socket_settings *set, bool *in_progress);

/* Opens a datagram socket that talks with <addr> only. Returns the descriptor, or -1 with errno. */
int socket_connect_datagram(const struct sockaddr_storage *addr, socklen_t len);
/* As socket_connect_datagram(), with the source, namespace, interface and marks of <set>. */
int socket_connect_datagram_from(const struct sockaddr_storage *addr, socklen_t len,
				 const struct socket_settings *set);

/* Set the TOS or traffic class, and the mark, of the packets that connection <fd> sends from now
 * on. Refusals of the system are not reported. ip(7), ipv6(7), socket(7).
 */
void socket_set_tos(int fd, uint8_t tos);
void socket_set_mark(int fd, uint32_t mark);
/* socket_set_reset() makes a later close of <fd> reset the connection, which then leaves no state
 * behind. socket_reset() closes <fd> in this way.
 */
void socket_set_reset(int fd);
void socket_reset(int fd);

/* For `show fd`: appends " fam=ipv4 lport=80", with <peer> also " rport=1234". */
struct strbuf;
void socket_describe(int fd, bool peer, struct strbuf *out);

#endif
