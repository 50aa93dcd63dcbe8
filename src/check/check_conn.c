/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_conn.c - connections of checks: destination, source, and the bytes at their start */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "codec/proxyproto.h"
#include "net/dial.h"
#include "proxy/address.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "proxy/source.h"
#include "tls/tls.h"
#include "check_priv.h"
#include "check_settings.h"

#define LEND_PAUSE_MS 5 /* between looks for a connection of reverse HTTP */

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
static bool is_plain(const struct dial_want *w)
{
	const struct socket_settings *set = &w->set;

	return set->options == SPARE_OPTIONS &&
		(w->to->ss_family == AF_INET || w->to->ss_family == AF_INET6) && !set->source &&
		!set->netns && !set->interface && !set->mark && !set->tos && set->mss <= 0 &&
		!set->user_timeout_ms && !set->rcvbuf && !set->sndbuf && !set->notsent_lowat &&
		!set->congestion && !set->md5_key;
}

/* The socket to connect with; <fd>: where a spare one is noted for the call. */
static void choose_socket(struct check *c, struct dial_want *w, int *fd)
{
	struct spares *s = spares_of(w->to->ss_family);

	c->run->is_spare = is_plain(w);
	c->run->family = w->to->ss_family;
	if (!c->run->is_spare || !s->count)
		return;
	*fd = s->fds[--s->count];
	w->again = fd;
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

/* Is there no more than one thing to send, without waiting before it, over the rules that
 * follow?
 */
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

/* Does this connection begin with a PROXY protocol header? As the traffic's, unless the check goes
 * elsewhere; servers made at run time say it for checks alone.
 */
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
		(srv->send_proxy && !srv->life.is_dynamic &&
		 !srv->checks.health.addr && !srv->checks.health.port &&
		 !o->port && !o->port_expr && !o->addr);
}

/* Does this connection go through the server's SOCKS4 proxy? */
static bool wants_socks4(const struct check *c, const struct check_connect *o)
{
	if (c->agent)
		return false;
	return o->via_socks4 ||
	       ((o->implicit || o->use_default) && c->server->checks.via_socks4);
}

/* Like the traffic, unless the check goes elsewhere, the line says so or was made at run time. */
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
	return s->ssl > 0 || (tls_server_is_given(server_slots(srv)) && !srv->life.is_dynamic &&
			      !s->health.addr && !s->health.port && !o->port && !o->port_expr &&
			      !o->addr);
}

/* Is it one of QUIC, as the traffic's? Not when anything says how it is to connect. */
static bool wants_quic(const struct check *c, const struct check_connect *o)
{
	const struct server_checks *s = &c->server->checks;

	return c->server->is_quic && wants_tls(c, o) && !o->ssl && !o->proto && !o->alpn.ptr &&
	       !o->addr && !o->port && !o->port_expr && !s->ssl && !s->proto && !s->alpn.ptr &&
	       !s->health.addr && !s->health.port;
}

/* TLS on the new connection; names and protocols of the rule, or of the line. */
static void set_tls(struct check *c, const struct check_connect *o, struct dial_want *w)
{
	const struct server_checks *s = &c->server->checks;

	w->secure = tls_dial;
	w->tls = server_slots(c->server);
	w->sni = o->sni ? slice_of(o->sni) : check_http_sni(c);
	/* (without any, `alpn` of the line; `check-alpn` is for checks that connect as it says) */
	w->alpn = o->alpn.ptr || (!o->implicit && !o->use_default) ? o->alpn : s->alpn;
}

/* From our address to the one that was asked for; nothing is proxied with version 2. */
static struct slice proxy_header(struct dial_want *w, int fd, char room[DIAL_FIRST_MAX])
{
	const struct check *c = w->ctx;
	struct addr src, dst = addr_from_sockaddr(w->to, w->to_len);
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct proxyproto_writer p;

	bool local = c->server->send_proxy == 2 &&
		!check_settings_of(c->server->proxy->config)->never_local;

	if (!local && getsockname(fd, (struct sockaddr *)&ss, &len) < 0)
		return slice_none();
	src = local ? dst : addr_from_sockaddr(&ss, len);
	if (c->server->send_proxy != 2)
		return slice_make(room, proxyproto_make_v1(room, DIAL_FIRST_MAX, &src, &dst));
	proxyproto_v2_begin(&p, room, DIAL_FIRST_MAX, local ? NULL : &src, local ? NULL : &dst);
	return slice_make(room, proxyproto_v2_end(&p));
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

/* Does the check send something as soon as it is connected? */
static bool speaks_first(const struct check_rule *rule)
{
	rule = rule->next;
	return rule && (rule->type == CHECK_SEND || rule->type == CHECK_HTTP_SEND);
}

/* How to open the current rule's connection, to <to>. True: with nothing but the check on it. */
static bool want(struct check *c, const struct server_addr *to, struct dial_want *w)
{
	const struct check_rule *rule = c->run->rule;
	const struct check_connect *o = &rule->connect;
	bool plain;

	server_dial_check(c->server, to, w);
	w->secure = NULL;
	w->ctx = c;
	if (!wants_socks4(c, o))
		w->via = NULL;
	if (!wants_quic(c, o))
		w->open = NULL;
	if (wants_tls(c, o))
		set_tls(c, o, w);
	if (wants_proxy_header(c, o))
		w->first = proxy_header;
	if (!o->linger)
		w->flags |= DIAL_NO_LINGER;
	if (speaks_first(rule))
		w->flags |= DIAL_SPEAKS;
	plain = !w->via && !w->secure && !w->first;
	w->set.options |= SOCKET_ASK_AGAIN;
	/* the acknowledgement goes with what is sent, or is spared: a connection that carries
	 * nothing is reset immediately. Not with an agent, which may speak first: it would hear of
	 * the connection by the acknowledgement only
	 */
	if (plain && (rule->next || !o->linger) && !c->agent && sends_once(rule))
		w->set.options |= SOCKET_NO_QUICKACK | SOCKET_DELAY;
	return plain;
}

int check_open(struct check *c)
{
	const struct check_connect *o = &c->run->rule->connect;
	enum check_lend lent;
	struct server_addr to;
	struct dial_want w;
	bool in_progress, plain;
	int fd, spare;

	check_close(c);
	forget_received(c->run);
	c->run->connect_rule = c->run->rule;
	lent = check_mux_share(c);
	c->run->lend_ms = lent == CHECK_LEND_LATER ? clock_now_ms() + LEND_PAUSE_MS : 0;
	if (lent != CHECK_LEND_NONE)
		return 0;
	if (c->server->is_reverse && check_mux_shares_all(c->server, c->proxy))
		return ENOTCONN;
	if (!connect_address(c, o, &to))
		return EADDRNOTAVAIL;
	plain = want(c, &to, &w);
	if (w.open)
		return dial_open(&w, c->conn_ops, c, &c->conn) == DIAL_DONE ? 0 : errno;
	choose_socket(c, &w, &spare);
	if (dial_socket(&w, &fd, &in_progress) != DIAL_DONE)
		return errno;
	if (!in_progress && plain && !c->run->rule->next && !o->linger) {
		/* that is all that was asked for */
		close_at_once(c, fd);
		return 0;
	}
	return dial_conn(&w, fd, in_progress, c->conn_ops, c, &c->conn) == DIAL_DONE ? 0 : ENOMEM;
}
