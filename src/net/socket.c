/* SPDX-License-Identifier: GPL-2.0-or-later */
/* socket.c - the door for addresses: listening and connecting sockets */
#include "net/socket.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/addr.h"
#include "base/strbuf.h"
#include "net/handoff.h"
#include "net/netns.h"

static int fail(int fd, char *error, size_t size, const char *what)
{
	int saved = errno;

	snprintf(error, size, "%s (%s)", what, strerror(saved));
	if (fd >= 0)
		close(fd);
	errno = saved;
	return -1;
}

static void set_int(int fd, int level, int name, int value)
{
	setsockopt(fd, level, name, &value, sizeof(value));
}

static bool set_transparent(int fd, int family)
{
	int one = 1;

	if (family == AF_INET6)
		return setsockopt(fd, IPPROTO_IPV6, IPV6_TRANSPARENT, &one, sizeof(one)) == 0;
	return setsockopt(fd, IPPROTO_IP, IP_TRANSPARENT, &one, sizeof(one)) == 0 ||
	       setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &one, sizeof(one)) == 0;
}

static void set_buffers(int fd, const struct socket_settings *set)
{
	if (set->rcvbuf)
		set_int(fd, SOL_SOCKET, SO_RCVBUF, set->rcvbuf);
	if (set->sndbuf)
		set_int(fd, SOL_SOCKET, SO_SNDBUF, set->sndbuf);
	if (set->notsent_lowat)
		set_int(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, set->notsent_lowat);
}

bool socket_set_congestion(int fd, const char *name)
{
	return setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)) == 0;
}

/* RFC 2385: segments to and from <addr>, or with an address of all zeros any, are signed. */
static bool set_md5_key(int fd, const struct sockaddr_storage *addr, const char *key, bool any)
{
	struct tcp_md5sig sig = { .tcpm_keylen = (uint16_t)strlen(key) };
	int option = TCP_MD5SIG;

	if (sig.tcpm_keylen > sizeof(sig.tcpm_key))
		return false;
	memcpy(sig.tcpm_key, key, sig.tcpm_keylen);
	if (any) {
		sig.tcpm_addr.ss_family = addr->ss_family;
		sig.tcpm_flags = TCP_MD5SIG_FLAG_PREFIX;
		option = TCP_MD5SIG_EXT;
	} else {
		sig.tcpm_addr = *addr;
	}
	return setsockopt(fd, IPPROTO_TCP, option, &sig, sizeof(sig)) == 0;
}

static void set_keepalive(int fd, const struct socket_settings *set)
{
	if (!(set->options & SOCKET_KEEPALIVE))
		return;
	set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	if (set->keepalive_count)
		set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, set->keepalive_count);
	if (set->keepalive_idle_ms)
		set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, (int)(set->keepalive_idle_ms / 1000));
	if (set->keepalive_interval_ms)
		set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, (int)(set->keepalive_interval_ms / 1000));
}

/* --- listening ------------------------------------------------------------------------------- */

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool socket_settings_are_equal(const struct socket_settings *a, const struct socket_settings *b)
{
	return a->options == b->options && a->mss == b->mss &&
	       a->user_timeout_ms == b->user_timeout_ms && a->save_syn == b->save_syn &&
	       is_same_text(a->interface, b->interface) &&
	       is_same_text(netns_name(a->netns), netns_name(b->netns)) &&
	       a->mode == b->mode && a->uid == b->uid && a->gid == b->gid &&
	       a->keepalive_count == b->keepalive_count &&
	       a->keepalive_idle_ms == b->keepalive_idle_ms &&
	       a->keepalive_interval_ms == b->keepalive_interval_ms &&
	       a->rcvbuf == b->rcvbuf && a->sndbuf == b->sndbuf &&
	       a->notsent_lowat == b->notsent_lowat &&
	       is_same_text(a->congestion, b->congestion) && is_same_text(a->md5_key, b->md5_key);
}

/* Options of a listening TCP socket before bind(). Returns what failed, NULL if nothing did. */
static const char *prepare_inet(int fd, int family, const struct socket_settings *set)
{
	int one = 1, zero = 0;

	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0)
		return "cannot do so_reuseaddr";
	if (set->options & SOCKET_REUSEPORT)
		set_int(fd, SOL_SOCKET, SO_REUSEPORT, 1);
	if (family == AF_INET6 && set->options & SOCKET_V6ONLY)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	else if (family == AF_INET6 && set->options & SOCKET_V4V6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (set->options & SOCKET_TRANSPARENT && !set_transparent(fd, family))
		return "cannot make listening socket transparent";
	if (set->interface && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, set->interface,
					 (socklen_t)strlen(set->interface) + 1) < 0)
		return "cannot bind listener to device";
	if (set->mss > 0 &&
	    setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &set->mss, sizeof(set->mss)) < 0)
		return "cannot set MSS";
	if (set->user_timeout_ms)
		set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)set->user_timeout_ms);
	if (set->save_syn)
		socket_save_syn(fd, set->save_syn);
	if (set->options & SOCKET_DEFER_ACCEPT)
		set_int(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, 1);
	if (set->options & SOCKET_TFO)
		set_int(fd, IPPROTO_TCP, TCP_FASTOPEN, set->backlog ? set->backlog : 1024);
	if (set->options & SOCKET_NO_QUICKACK)
		set_int(fd, IPPROTO_TCP, TCP_QUICKACK, 0);
	set_buffers(fd, set);
	set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set_keepalive(fd, set);
	if (set->md5_key && !set_md5_key(fd, &(struct sockaddr_storage){ .ss_family =
					 (sa_family_t)family }, set->md5_key, true))
		return "cannot set the key of TCP MD5 signatures";
	return NULL;
}

void socket_save_syn(int fd, int mode)
{
	set_int(fd, IPPROTO_TCP, TCP_SAVE_SYN, mode);
}

/* Binds a path through a temporary name; rename() then replaces an older socket atomically. */
static const char *bind_path(int fd, const struct sockaddr_un *un,
			     const struct socket_settings *set)
{
	struct sockaddr_un temp = { .sun_family = AF_UNIX };
	size_t n = (size_t)snprintf(temp.sun_path, sizeof(temp.sun_path), "%.90s.%d.tmp",
				    un->sun_path, (int)getpid());

	if (n >= sizeof(temp.sun_path))
		return "socket path too long";
	unlink(temp.sun_path);
	if (bind(fd, (struct sockaddr *)&temp, sizeof(temp)) < 0)
		return "cannot bind UNIX socket";
	if (((set->uid != (uid_t)-1 || set->gid != (gid_t)-1) &&
	     chown(temp.sun_path, set->uid, set->gid) < 0) ||
	    (set->mode != (mode_t)-1 && chmod(temp.sun_path, set->mode) < 0)) {
		unlink(temp.sun_path);
		return "cannot change UNIX socket ownership";
	}
	if (rename(temp.sun_path, un->sun_path) < 0) {
		unlink(temp.sun_path);
		return "cannot switch final and temporary UNIX sockets";
	}
	return NULL;
}

/* Goes on with a socket that another process has opened. */
static int take_over(int fd, const struct socket_settings *set, char *error, size_t size)
{
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	if (listen(fd, set->backlog > 0 ? set->backlog : SOCKET_BACKLOG_DEFAULT) < 0)
		return fail(fd, error, size, "cannot listen to socket");
	return fd;
}

static socket_listener_fn *parent; /* atomic; NULL: the kernel is asked */

void socket_set_listener(socket_listener_fn *fn)
{
	__atomic_store_n(&parent, fn, __ATOMIC_RELEASE);
}

int socket_listen(const struct sockaddr_storage *addr, socklen_t len,
		  const struct socket_settings *set, char *error, size_t size)
{
	socket_listener_fn *ask = __atomic_load_n(&parent, __ATOMIC_ACQUIRE);
	const struct sockaddr_un *un = (const struct sockaddr_un *)addr;
	int family = addr->ss_family;
	struct socket_origin origin = { .netns = netns_name(set->netns),
					.interface = set->interface };
	const char *wrong = NULL;
	int fd = socket_take_offer(addr, len, &origin);

	if (fd < 0 && ask) {
		fd = ask(addr, len, &origin, error, size);
		if (fd < 0)
			return -1;
	}
	if (fd >= 0)
		return take_over(fd, set, error, size);
	fd = netns_socket(set->netns, family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0)
		return fail(fd, error, size, "cannot create listening socket");
	if (family == AF_UNIX) {
		if (un->sun_path[0])
			wrong = bind_path(fd, un, set);
		else if (bind(fd, (const struct sockaddr *)addr, len) < 0)
			wrong = "cannot bind abstract socket";
	} else {
		wrong = prepare_inet(fd, family, set);
		if (!wrong && bind(fd, (const struct sockaddr *)addr, len) < 0)
			wrong = "cannot bind socket";
	}
	if (wrong)
		return fail(fd, error, size, wrong);
	if (listen(fd, set->backlog > 0 ? set->backlog : SOCKET_BACKLOG_DEFAULT) < 0)
		return fail(fd, error, size, "cannot listen to socket");
	return fd;
}

int socket_datagram(const struct sockaddr_storage *addr, socklen_t len,
		    const struct socket_settings *set, char *error, size_t size)
{
	int fd = netns_socket(set->netns, addr->ss_family,
			      SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return fail(fd, error, size, "cannot create receiving socket");
	set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	set_int(fd, SOL_SOCKET, SO_REUSEPORT, 1); /* the process that replaces us binds it, too */
	if (addr->ss_family == AF_INET6 && set->options & (SOCKET_V6ONLY | SOCKET_V4V6))
		set_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, !!(set->options & SOCKET_V6ONLY));
	if (set->options & SOCKET_TRANSPARENT && !set_transparent(fd, addr->ss_family))
		return fail(fd, error, size, "cannot make receiving socket transparent");
	if (set->interface && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, set->interface,
					 (socklen_t)strlen(set->interface) + 1) < 0)
		return fail(fd, error, size, "cannot bind receiving socket to device");
	set_buffers(fd, set);
	if (bind(fd, (const struct sockaddr *)addr, len) < 0)
		return fail(fd, error, size, "cannot bind socket");
	return fd;
}

/* --- connecting ------------------------------------------------------------------------------ */

static void set_port(struct sockaddr_storage *a, int port)
{
	if (a->ss_family == AF_INET)
		((struct sockaddr_in *)a)->sin_port = htons((uint16_t)port);
	else if (a->ss_family == AF_INET6)
		((struct sockaddr_in6 *)a)->sin6_port = htons((uint16_t)port);
}

static socklen_t addr_len(const struct sockaddr_storage *a)
{
	if (a->ss_family == AF_INET)
		return sizeof(struct sockaddr_in);
	return a->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(*a);
}

/* Binds to the wanted source; a port range is tried once round from its cursor. */
static bool bind_source(int fd, const struct socket_settings *set)
{
	struct sockaddr_storage from = *set->source;
	int span = set->source_port_high - set->source_port_low + 1;
	int one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (set->source_port_low <= 0 || span <= 1) {
		setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof(one));
		return bind(fd, (struct sockaddr *)&from, addr_len(&from)) == 0;
	}
	for (int i = 0; i < span; i++) {
		uint32_t turn = __atomic_fetch_add(set->source_cursor, 1, __ATOMIC_RELAXED);

		set_port(&from, set->source_port_low + (int)(turn % (uint32_t)span));
		if (bind(fd, (struct sockaddr *)&from, addr_len(&from)) == 0)
			return true;
		if (errno != EADDRINUSE)
			return false;
	}
	errno = EADDRNOTAVAIL;
	return false;
}

/* As far as the process may: without the right to, packets go unmarked. */
static void set_marks(int fd, const struct sockaddr_storage *addr,
		      const struct socket_settings *set)
{
	if (set->mark)
		set_int(fd, SOL_SOCKET, SO_MARK, (int)*set->mark);
	if (set->tos && addr->ss_family == AF_INET)
		set_int(fd, IPPROTO_IP, IP_TOS, *set->tos);
	if (set->tos && addr->ss_family == AF_INET6)
		set_int(fd, IPPROTO_IPV6, IPV6_TCLASS, *set->tos);
}

static bool set_device(int fd, const struct socket_settings *set)
{
	return !set->interface ||
	       setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, set->interface,
			  (socklen_t)strlen(set->interface) + 1) == 0;
}

static bool set_source(int fd, int family, const struct socket_settings *set)
{
	if (!set->source)
		return true;
	if (set->options & SOCKET_TRANSPARENT && !set_transparent(fd, family))
		return false;
	return bind_source(fd, set);
}

static bool prepare_connect(int fd, const struct sockaddr_storage *addr,
			    const struct socket_settings *set)
{
	if (!set_device(fd, set))
		return false;
	if (addr->ss_family == AF_UNIX)
		return true;
	if (!(set->options & SOCKET_DELAY))
		set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	if (set->user_timeout_ms)
		set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)set->user_timeout_ms);
	if (set->mss > 0)
		set_int(fd, IPPROTO_TCP, TCP_MAXSEG, set->mss);
	if (set->options & SOCKET_NO_QUICKACK)
		set_int(fd, IPPROTO_TCP, TCP_QUICKACK, 0);
	if (set->options & SOCKET_TFO)
		set_int(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1);
	set_buffers(fd, set);
	set_keepalive(fd, set);
	set_marks(fd, addr, set);
	if (set->congestion)
		socket_set_congestion(fd, set->congestion);
	if (set->md5_key && !set_md5_key(fd, addr, set->md5_key, false))
		return false;
	return set_source(fd, addr->ss_family, set);
}

static bool connect_begin(int fd, const struct sockaddr_storage *addr, socklen_t len,
			  const struct socket_settings *set, bool *in_progress)
{
	*in_progress = false;
	if (connect(fd, (const struct sockaddr *)addr, len) == 0)
		return true;
	if (errno != EINPROGRESS)
		return false;
	*in_progress = !(set->options & SOCKET_ASK_AGAIN) ||
		connect(fd, (const struct sockaddr *)addr, len) < 0;
	return !*in_progress || errno == EALREADY || errno == EINPROGRESS;
}

static int close_failed(int fd)
{
	int saved = errno;

	close(fd);
	errno = saved;
	return -1;
}

int socket_connect(const struct sockaddr_storage *addr, socklen_t len,
		   const struct socket_settings *set, bool *in_progress)
{
	int fd = netns_socket(set->netns, addr->ss_family,
			      SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return -1;
	return prepare_connect(fd, addr, set) && connect_begin(fd, addr, len, set, in_progress)
		? fd : close_failed(fd);
}

bool socket_disconnect(int fd)
{
	static const struct sockaddr nobody = { .sa_family = AF_UNSPEC };

	return connect(fd, &nobody, sizeof(nobody)) == 0;
}

int socket_connect_again(int fd, const struct sockaddr_storage *addr, socklen_t len,
			 const struct socket_settings *set, bool *in_progress)
{
	/* what the end of a connection forgets */
	if (set->options & SOCKET_NO_QUICKACK)
		set_int(fd, IPPROTO_TCP, TCP_QUICKACK, 0);
	return connect_begin(fd, addr, len, set, in_progress) ? fd : close_failed(fd);
}

int socket_connect_datagram(const struct sockaddr_storage *addr, socklen_t len)
{
	int fd = socket(addr->ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)addr, len) == 0)
		return fd;
	return close_failed(fd);
}

int socket_connect_datagram_from(const struct sockaddr_storage *addr, socklen_t len,
				 const struct socket_settings *set)
{
	int fd = netns_socket(set->netns, addr->ss_family,
			      SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return -1;
	set_marks(fd, addr, set);
	return set_device(fd, set) && set_source(fd, addr->ss_family, set) &&
	       connect(fd, (const struct sockaddr *)addr, len) == 0 ? fd : close_failed(fd);
}

int socket_datagram_between(const struct sockaddr_storage *from, socklen_t from_len,
			    const struct sockaddr_storage *to, socklen_t to_len,
			    const struct socket_settings *set)
{
	char error[128];
	int fd = socket_datagram(from, from_len, set, error, sizeof(error));

	if (fd < 0 || connect(fd, (const struct sockaddr *)to, to_len) == 0)
		return fd;
	return close_failed(fd);
}

void socket_describe(int fd, bool peer, struct strbuf *out)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct addr a;

	if (getsockname(fd, (struct sockaddr *)&ss, &len) < 0)
		return;
	a = addr_from_sockaddr(&ss, len);
	strbuf_printf(out, " fam=%s", a.family == ADDR_INET ? "ipv4"
				      : a.family == ADDR_INET6 ? "ipv6" : "unix");
	if (!addr_is_inet(&a))
		return;
	strbuf_printf(out, " lport=%u", a.port);
	len = sizeof(ss);
	if (!peer || getpeername(fd, (struct sockaddr *)&ss, &len) < 0)
		return;
	a = addr_from_sockaddr(&ss, len);
	strbuf_printf(out, " rport=%u", a.port);
}

void socket_set_reset(int fd)
{
	struct linger l = { .l_onoff = 1, .l_linger = 0 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
}

void socket_reset(int fd)
{
	socket_set_reset(fd);
	close(fd);
}

/* --- marks ------------------------------------------------------------------------------------ */

void socket_set_tos(int fd, uint8_t tos)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);

	if (getsockname(fd, (struct sockaddr *)&ss, &len) < 0)
		return;
	if (ss.ss_family == AF_INET)
		set_int(fd, IPPROTO_IP, IP_TOS, tos);
	else if (ss.ss_family == AF_INET6)
		set_int(fd, IPPROTO_IPV6, IPV6_TCLASS, tos);
}

void socket_set_mark(int fd, uint32_t mark)
{
	set_int(fd, SOL_SOCKET, SO_MARK, (int)mark);
}
