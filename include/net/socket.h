/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* socket.h - the door for addresses: listening and connecting sockets
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
	SOCKET_NO_QUICKACK = 1 << 7, /* delay the first acknowledgement: smart accept and connect */
	SOCKET_DELAY = 1 << 9,       /* small segments may wait for acknowledgements */
	SOCKET_ASK_AGAIN = 1 << 10,  /* a near host has answered already: look before waiting */
};

/* When no backlog is asked for. */
#define SOCKET_BACKLOG_DEFAULT 1024

struct netns;

struct socket_settings {
	unsigned options;        /* enum socket_options */
	int backlog;
	int mss;
	int64_t user_timeout_ms; /* tcp-ut; 0 none */
	int save_syn;            /* tcp-ss: 1 from the IP header on, 2 from Ethernet's; 0 none */
	const char *interface;
	const struct netns *netns; /* NULL: that of the process */
	mode_t mode;             /* UNIX; (mode_t)-1 unset */
	uid_t uid;               /* -1 unset */
	gid_t gid;
	int keepalive_count;
	int64_t keepalive_idle_ms, keepalive_interval_ms;
	const struct sockaddr_storage *source; /* bind before connect; NULL none */
	int source_port_low, source_port_high; /* a range, 0 0: none */
	uint32_t *source_cursor;
	int rcvbuf, sndbuf;      /* 0: the system's */
	const uint32_t *mark;    /* of the packets that leave by it; NULL none */
	const uint8_t *tos;
	int notsent_lowat;       /* bytes that may wait in the kernel unsent; 0 no limit */
	const char *congestion;  /* name of an algorithm, for connect(); NULL the system's */
	const char *md5_key;     /* signs segments (RFC 2385); NULL none */
};

/* Do both make the same socket, but for its backlog? */
bool socket_settings_are_equal(const struct socket_settings *a, const struct socket_settings *b);

/* Has the kernel keep the first packet of each client of a listening socket, see <save_syn>. Where
 * it cannot, nothing happens.
 */
void socket_save_syn(int fd, int mode);

/* The longest md5_key, in bytes. */
#define SOCKET_MD5_KEY_MAX 80

/* Has the connections of a TCP socket use that algorithm. False, errno: the kernel has it not, or
 * the process may not.
 */
bool socket_set_congestion(int fd, const char *name);

/* A listening stream socket. Listening TCP sockets have TCP_NODELAY, which accepted ones inherit.
 * UNIX paths are bound aside and renamed into place, so that a running process keeps its own.
 */
int socket_listen(const struct sockaddr_storage *addr, socklen_t len,
		  const struct socket_settings *set, char *error, size_t size);

/* A datagram socket bound to an internet address, to receive only. */
int socket_datagram(const struct sockaddr_storage *addr, socklen_t len,
		    const struct socket_settings *set, char *error, size_t size);

/* A datagram socket that receives from <to> alone and sends to it: for one of the peers that talk
 * to a socket that is bound to <from>. -1: the system does not let it, for a port of the privileged
 * ones for instance.
 */
int socket_datagram_between(const struct sockaddr_storage *from, socklen_t from_len,
			    const struct sockaddr_storage *to, socklen_t to_len,
			    const struct socket_settings *set);

/* Another process opens listening sockets: a privileged parent, while a chrooted, unprivileged
 * worker reads a new configuration. Same contract, but that it knows the settings itself. NULL:
 * this process does.
 */
struct socket_origin;
typedef int socket_listener_fn(const struct sockaddr_storage *addr, socklen_t len,
			       const struct socket_origin *origin, char *error, size_t size);
void socket_set_listener(socket_listener_fn *fn);

/* Begins a connection. Returns the descriptor (connected or in progress: *in_progress), or -1 with
 * errno: the caller tells the cause by it (EAGAIN, EADDRNOTAVAIL, EMFILE, ENFILE: ours; others: the
 * server's).
 */
int socket_connect(const struct sockaddr_storage *addr, socklen_t len,
		   const struct socket_settings *set, bool *in_progress);

/* Ends the connection of <fd>, by a reset if it stands, so that the socket may be connected once
 * more. False: it cannot be used again; the caller closes it.
 */
bool socket_disconnect(int fd);
/* As socket_connect(), with <fd> that was connected with the same settings and to the same family,
 * and disconnected; it is closed on errors. It must not have been bound to a source.
 */
int socket_connect_again(int fd, const struct sockaddr_storage *addr, socklen_t len,
			 const struct socket_settings *set, bool *in_progress);

/* A datagram socket that talks with <addr> alone. Returns the descriptor, or -1 with errno. */
int socket_connect_datagram(const struct sockaddr_storage *addr, socklen_t len);
/* As socket_connect_datagram(), from the source, namespace and interface, and with the marks, that
 * <set> asks for.
 */
int socket_connect_datagram_from(const struct sockaddr_storage *addr, socklen_t len,
				 const struct socket_settings *set);

/* The TOS or traffic class, and the mark, of packets that <fd>, a connection, sends from now on.
 * What the system refuses is not told. ip(7), ipv6(7), socket(7).
 */
void socket_set_tos(int fd, uint8_t tos);
void socket_set_mark(int fd, uint32_t mark);
/* Closing <fd> will reset its connection, which then leaves nothing behind; and does so now. */
void socket_set_reset(int fd);
void socket_reset(int fd);

/* Appends " fam=ipv4 lport=80", with <peer> also " rport=1234". For `show fd`. */
struct strbuf;
void socket_describe(int fd, bool peer, struct strbuf *out);

#endif
