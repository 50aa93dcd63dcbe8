/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_conn.c - the connections of checks: where to, from where, and what they begin with */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>
#include "codec/proxyproto.h"
#include "net/socket.h"
#include "net/socks4.h"
#include "proxy/address.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "proxy/source.h"
#include "tls/tls.h"
#include "check_priv.h"
#include "check_settings.h"

/* --- sockets that were used ------------------------------------------------------------------ */

/* Checks are alike: a socket whose connection was reset serves the next one. That spares the kernel
 * making and freeing one, which is a good part of what a check costs.
 */
#define SPARES_MAX 256

struct spares {
	int fds[SPARES_MAX];
	unsigned count;
};

/* Of this thread: IPv4, IPv6. */
static __thread struct spares own_spares[2];

static struct spares *spares_of(int family)
{
	return &own_spares[family == AF_INET6];
}

void check_spares_close(void)
{
	for (int i = 0; i < 2; i++)
		while (own_spares[i].count)
			close(own_spares[i].fds[--own_spares[i].count]);
}

/* What every socket that is kept was made with. */
#define SPARE_OPTIONS (SOCKET_ASK_AGAIN | SOCKET_NO_QUICKACK | SOCKET_DELAY)

/* May a socket with these settings serve others? */
static bool is_plain(const struct server_addr *to, const struct socket_settings *set)
{
	return set->options == SPARE_OPTIONS &&
		(to->sa.ss_family == AF_INET || to->sa.ss_family == AF_INET6) && !set->source &&
		!set->netns && !set->interface && !set->mark && !set->tos && set->mss <= 0 &&
		!set->user_timeout_ms && !set->rcvbuf && !set->sndbuf && !set->notsent_lowat;
}

static int connect_spare(struct check *c, const struct server_addr *to,
			 const struct socket_settings *set, bool *in_progress)
{
	struct spares *s = spares_of(to->sa.ss_family);

	c->run->is_spare = is_plain(to, set);
	c->run->family = to->sa.ss_family;
	if (!c->run->is_spare || !s->count)
		return socket_connect(&to->sa, to->len, set, in_progress);
	return socket_connect_again(s->fds[--s->count], &to->sa, to->len, set, in_progress);
}

/* Ends a connection for good, and keeps its socket. */
static void spare_put(int fd, int family)
{
	struct spares *s = spares_of(family);

	if (s->count < SPARES_MAX && socket_disconnect(fd))
		s->fds[s->count++] = fd;
	else
		socket_reset(fd);
}

/* Is its connection one to reset, and its socket one to keep? */
static bool leaves_spare(const struct check *c)
{
	return c->run && c->run->is_spare && c->conn->flags & CONN_NO_LINGER &&
		!(c->conn->flags & CONN_ERROR);
}

void check_close(struct check *c)
{
	if (c->conn && leaves_spare(c))
		spare_put(conn_release(&c->conn), c->run->family);
	else if (c->conn)
		conn_close(&c->conn);
	if (!c->run)
		return;
	check_mux_close(c->run);
	block_queue_clear(&c->run->out);
	block_drop(c->run->in);
	c->run->in = NULL;
}

/* Is there no more than one thing to send, at once, over the rules that follow? */
static bool sends_once(const struct check_rule *rule)
{
	unsigned sends = 0;

	for (rule = rule->next; rule && rule->type != CHECK_CONNECT; rule = rule->next) {
		if (rule->type == CHECK_EXPECT && !sends)
			return false;
		sends += rule->type == CHECK_SEND || rule->type == CHECK_HTTP_SEND;
	}
	return sends < 2;
}

static void connect_settings(const struct check *c, struct socket_settings *set, bool plain)
{
	const struct server *srv = c->server;

	source_fill_settings(srv, set);
	set->options |= SOCKET_ASK_AGAIN;
	/* the acknowledgement goes with what is sent, or is spared: a connection that carries
	 * nothing is reset at once. Not with an agent, which may be the one to speak: it would
	 * hear of the connection by the acknowledgement only
	 */
	if (plain && !c->agent && sends_once(c->run->rule))
		set->options |= SOCKET_NO_QUICKACK | SOCKET_DELAY;
}

/* The port that a `port <expr>` gives; 0: none. */
static int connect_port(struct check *c, const struct check_connect *o)
{
	struct sample s;

	if (!o->port_expr)
		return o->port;
	if (expr_eval(o->port_expr, &c->run->ctx, &s) != EXPR_FOUND ||
	    !sample_cast(&s, SMP_INT, &c->run->arena) || s.integer < 1 || s.integer > 65535)
		return 0;
	return (int)s.integer;
}

static bool connect_address(struct check *c, const struct check_connect *o,
			    struct server_addr *to)
{
	bool known = check_address(c->server, c->agent, to);
	int port = connect_port(c, o);

	if (o->addr) {
		int old = address_port((struct sockaddr *)&to->sa);

		to->sa = *o->addr;
		to->len = o->addr_len;
		if (!address_port((struct sockaddr *)&to->sa))
			address_set_port((struct sockaddr *)&to->sa, old);
	}
	if (port && to->sa.ss_family != AF_UNIX)
		address_set_port((struct sockaddr *)&to->sa, port);
	return (known || port || o->addr) && to->sa.ss_family != AF_UNSPEC;
}

/* Does this connection begin with a PROXY protocol header? */
static bool wants_proxy_header(const struct check *c, const struct check_connect *o)
{
	const struct server *srv = c->server;

	if (c->agent)
		return false;
	if (o->send_proxy)
		return true;
	if (!o->implicit && !o->use_default)
		return false;
	return srv->checks.send_proxy ||
		(srv->send_proxy && !srv->checks.health.addr && !srv->checks.health.port &&
		 !o->port && !o->port_expr && !o->addr);
}

/* The proxy that this connection goes through; NULL: none. */
static const struct server_addr *through(const struct check *c, const struct check_connect *o)
{
	const struct server *srv = c->server;

	if (c->agent)
		return NULL;
	if (o->via_socks4)
		return srv->socks4;
	return (o->implicit || o->use_default) && srv->checks.via_socks4 ? srv->socks4 : NULL;
}

/* Like the traffic, unless the check goes elsewhere or the line says so. */
static bool wants_tls(const struct check *c, const struct check_connect *o)
{
	const struct server *srv = c->server;
	const struct server_checks *s = &srv->checks;

	if (c->agent)
		return false;
	if (o->ssl)
		return true;
	if ((!o->implicit && !o->use_default) || s->ssl < 0)
		return false;
	return s->ssl > 0 || (tls_server_is_given(server_slots(srv)) && !s->health.addr &&
			      !s->health.port && !o->port && !o->port_expr && !o->addr);
}

/* Puts TLS on the new connection; names and protocols of the rule, or of the line. */
static bool put_tls(const struct check *c, const struct check_connect *o)
{
	const struct server_checks *s = &c->server->checks;
	const char *sni = o->sni ? o->sni : s->sni;
	struct slice alpn = o->alpn.ptr ? o->alpn : s->alpn;

	/* (without any, those of the line, unless a rule says all of it) */
	if (!alpn.ptr && !o->implicit && !o->use_default)
		alpn = SLICE("");
	return tls_connect(c->conn, server_slots(c->server), slice_of(sni), alpn);
}

/* From our address to the one that was asked for; nothing is proxied with version 2. */
static bool put_proxy_header(struct check *c, const struct server_addr *to)
{
	struct addr src, dst = addr_from_sockaddr(&to->sa, to->len);
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct proxyproto_writer w;
	char header[256];
	size_t n;

	bool local = c->server->send_proxy == 2 &&
		!check_settings_of(c->server->proxy->config)->never_local;

	if (!local && getsockname(c->conn->fd, (struct sockaddr *)&ss, &len) < 0)
		return false;
	src = local ? dst : addr_from_sockaddr(&ss, len);
	if (c->server->send_proxy == 2) {
		proxyproto_v2_begin(&w, header, sizeof(header), local ? NULL : &src,
				    local ? NULL : &dst);
		n = proxyproto_v2_end(&w);
	} else {
		n = proxyproto_make_v1(header, sizeof(header), &src, &dst);
	}
	if (n && tls_is_on(c->conn))
		return tls_preamble(c->conn, slice_make(header, n));
	return n && block_queue_add_copy(&c->run->out, slice_make(header, n));
}

/* Bytes of an earlier connection are not those of this one. */
static void forget_received(struct check_run *r)
{
	block_queue_clear(&r->out);
	block_drop(r->in);
	r->in = NULL;
	r->in_end = false;
	r->head_begun = r->head_done = r->body_end = false;
	r->seen.response = NULL;
	r->seen.body = slice_none();
	r->body = slice_none();
	r->raw_at = 0;
}

/* A connection that has shown what it had to. */
static void close_at_once(const struct check *c, int fd)
{
	if (c->run->is_spare)
		spare_put(fd, c->run->family);
	else
		socket_reset(fd);
}

int check_open(struct check *c)
{
	const struct check_connect *o = &c->run->rule->connect;
	const struct server_addr *socks4 = through(c, o);
	struct socket_settings set;
	struct server_addr to;
	bool in_progress, proxied = wants_proxy_header(c, o), secured = wants_tls(c, o);
	bool plain = !proxied && !secured && !socks4;
	int fd;

	check_close(c);
	forget_received(c->run);
	c->run->connect_rule = c->run->rule;
	if (check_mux_share(c))
		return 0;
	if (!connect_address(c, o, &to))
		return EADDRNOTAVAIL;
	if (socks4 && !socks4_can_reach(&to.sa))
		return EAFNOSUPPORT;
	connect_settings(c, &set, plain && (c->run->rule->next || !o->linger));
	fd = connect_spare(c, socks4 ? socks4 : &to, &set, &in_progress);
	if (fd < 0)
		return errno;
	if (!in_progress && plain && !c->run->rule->next && !o->linger) {
		/* that is all that was asked for */
		close_at_once(c, fd);
		return 0;
	}
	c->conn = conn_new(fd, c->conn_ops, c, CONN_BACKEND |
			   (in_progress ? CONN_CONNECTING : CONN_CAN_SEND));
	if (!c->conn) {
		close(fd);
		return ENOMEM;
	}
	if (!o->linger)
		c->conn->flags |= CONN_NO_LINGER;
	if ((secured && !put_tls(c, o)) || (proxied && !put_proxy_header(c, &to)) ||
	    (socks4 && !socks4_attach(c->conn, &to.sa)))
		return ENOMEM;
	return 0;
}
