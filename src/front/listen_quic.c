/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listen_quic.c - listening for QUIC: connections get their TLS, then their owner */
#include "base/block.h"
#include "conf/conf.h"
#include "net/conn.h"
#include "net/listener.h"
#include "net/socket.h"
#include "proxy/address.h"
#include "proxy/bind.h"
#include "proxy/counters.h"
#include "proxy/proxy.h"
#include "quic/quic.h"
#include "tls/tls.h"
#include "listen_priv.h"

static listen_accept_quic_fn *accept_hook;
static listen_judge_quic_fn *judge_hook;

static enum quic_verdict judge(void *owner, const struct addr *peer, const struct addr *local)
{
	return judge_hook(owner, peer, local);
}

static bool handshake_begins(struct listener_conf *l)
{
	if (__atomic_add_fetch(&l->handshakes, 1, __ATOMIC_RELAXED) <= l->handshakes_max)
		return true;
	__atomic_sub_fetch(&l->handshakes, 1, __ATOMIC_RELAXED);
	return false;
}

static void handshake_ends(struct listener_conf *l)
{
	__atomic_sub_fetch(&l->handshakes, 1, __ATOMIC_RELAXED);
}

/* A connection that is no session yet is of its generation until it has become one. */
static bool may_begin(void *owner)
{
	struct listener_conf *l = owner;
	unsigned wait_ms = 0;

	if (!handshake_begins(l))
		return false;
	if (!listen_may_accept(l, &wait_ms)) {
		handshake_ends(l);
		return false;
	}
	config_take(l->bind->proxy->config);
	return true;
}

static void gone(void *owner)
{
	struct listener_conf *l = owner;
	struct config *cfg = l->bind->proxy->config;

	handshake_ends(l);
	listen_free_place(l);
	config_drop(&cfg);
}

static int own_socket(void *owner, const struct addr *local, const struct addr *peer)
{
	const struct listener_conf *l = owner;
	struct sockaddr_storage from, to;
	socklen_t from_len = addr_to_sockaddr(local, &from), to_len = addr_to_sockaddr(peer, &to);
	struct socket_settings set;

	if (from.ss_family != to.ss_family)
		return -1;
	listen_settings(l->bind, &set);
	return socket_datagram_between(&from, from_len, &to, to_len, &set);
}

static void no_event(struct conn *c)
{
}

static void describe(const struct conn *c, struct strbuf *out)
{
}

static const struct conn_ops conn_ops = {
	.name = "quic-handshake", .ready = no_event, .describe = describe,
};

static bool begin(void *owner, struct quic_conn *q)
{
	struct listener_conf *l = owner;
	struct tls_quic_start how = {
		.user = &quic_conn_tls_user, .owner = q,
	};
	struct conn *c = conn_new(-1, &conn_ops, q, 0);

	if (c && tls_quic_accept(c, bind_slots(l->bind), &how)) {
		quic_conn_secure(q, c, &tls_quic_ops);
		return true;
	}
	conn_close(&c);
	return false;
}

static void ready(void *owner, struct quic_conn *q)
{
	struct listener_conf *l = owner;
	struct config *cfg = l->bind->proxy->config;
	struct listen_quic_client client = {
		.conn = quic_conn_release(q), .src = *quic_conn_peer(q),
		.dst = *quic_conn_local(q), .since_ns = quic_conn_since_ns(q),
	};

	handshake_ends(l);
	accept_hook(l, &client);
	config_drop(&cfg);
}

static const struct quic_user user = {
	.judge = judge, .may_begin = may_begin, .begin = begin, .own_socket = own_socket,
	.ready = ready, .gone = gone,
};

static void datagrams(void *owner, int fd, enum listener_wish wish)
{
	static const enum quic_listen how[] = {
		[LISTENER_READ] = QUIC_LISTEN, [LISTENER_HOLD] = QUIC_PAUSE,
		[LISTENER_LEAVE] = QUIC_CLOSE,
	};
	const struct listener_conf *l = owner;
	const struct proxy *fe = l->bind->proxy;
	int64_t ms = fe->timeout.client_hs ? fe->timeout.client_hs : fe->timeout.client;
	struct quic_listener ql = {
		.user = &user, .owner = owner, .tunes = quic_tunes_of(fe->config),
		.line = quic_line_of(bind_slots(l->bind)),
		.handshake_ms = (uint64_t)ms,
		.app_limits = block_size(),
		.port = (uint16_t)address_port((const struct sockaddr *)&l->address),
		.tally = { &fe->state->fe, CNT_H3_DATA },
	};

	if (!ql.tunes->off)
		quic_listen(fd, &ql, how[wish]);
}

void listen_set_judge_quic(listen_judge_quic_fn *fn)
{
	judge_hook = fn;
}

void listen_set_accept_quic(listen_accept_quic_fn *fn)
{
	accept_hook = fn;
	listen_set_datagrams(datagrams);
}
