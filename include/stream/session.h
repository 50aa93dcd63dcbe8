/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* session.h - one client connection, seen from the rules
 *
 * Purpose: what is known of a client for as long as its connection lasts: addresses, frontend,
 *          listener, dates. Streams are born of it, one after the other (H1) or several at once
 *          (H2).
 * Owns   : a reference on its generation; its client connection through the mux.
 * Threads: that of the connection.
 * Idle   : with an idle connection this and the mux's connection are all the memory there is.
 */
#ifndef STREAM_SESSION_H
#define STREAM_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include "base/addr.h"
#include "base/list.h"
#include "base/slice.h"
#include "expr/vars.h"
#include "proxy/proxy.h"

struct config;
struct conn;
struct endpoint;
struct listener_conf;
struct mux;
struct proxy;
struct preconnect;
struct proxy_tlvs;
struct server;
struct slot_area;
struct stream;

enum session_flags {
	SESS_HAS_DST = 1 << 0,     /* dst is known */
	SESS_PROXY_SRC = 1 << 1,   /* src and dst came by the PROXY protocol */
	SESS_FIRST_REQ = 1 << 2,   /* no request was served yet */
	SESS_EMBRYONIC = 1 << 4,   /* a preamble or a handshake is going on */
	SESS_EXPECT_PROXY = 1 << 6, /* a PROXY protocol header comes first */
	SESS_EXPECT_CIP = 1 << 7,   /* NetScaler's client addresses come first (after PROXY's) */
	SESS_DISMISSED = 1 << 9,    /* asked to leave: the process stops */
	SESS_UPGRADED = 1 << 11,    /* it began in mode tcp: see upgrade.c */
};

/* What few sessions have. */
struct session_rare {
	struct list server_conns;      /* idle server connections that only this client may use */
	struct session_past *past;     /* generations that it has left, with streams; or NULL */
	/* of its PROXY header, owned; NULL: none, or not asked for */
	struct proxy_tlvs *tlvs;
	struct slot_area *slots;       /* owned; NULL: no module has asked for them */
	/* reverse HTTP: what `attach-srv` wants of the connection, with the generation that has the
	 * server, borrowed, and the name, owned; NULL: nothing
	 */
	struct server *attach_to;
	const struct config *attach_config;
	char *attach_name;
	struct preconnect *dialled;    /* we have opened its connection; NULL: it was accepted */
	struct addr conn_src, conn_dst; /* before tcp-request session rules; ADDR_NONE: unchanged */
};

struct session {
	struct list link;              /* in the thread's list of sessions */
	struct proxy *fe;              /* of its generation, on which it has a reference */
	struct listener_conf *listener;
	struct mux *mux;               /* owns the connection; NULL: there is none yet */
	struct conn *conn;             /* borrowed of the mux; NULL once closed */
	struct addr src, dst;          /* dst: see session_dst() */
	uint64_t accept_ns;            /* monotonic */
	uint64_t idle_from_ns;         /* end of the last request; 0: none yet */
	uint32_t handshake_ms;
	uint16_t flags;                /* enum session_flags */
	uint8_t error;                 /* of the connection: fc_err */
	uint8_t only;                  /* switch-mode http proto: mux_number(); 0: any */
	uint32_t requests;             /* streams begun */
	uint32_t open_streams;         /* streams that have not ended */
	struct vars *vars;             /* scope sess, owned; NULL: the configuration uses none */
	struct session_rare *rare;     /* owned; NULL: nothing of it */
};

/* What is rare of it, made on first use. NULL: no memory. */
struct session_rare *session_rare_get(struct session *s);
/* Frees it, all of it being empty but the areas of modules, which are finished. */
void session_rare_free(struct session *s);
/* Where modules keep what is theirs of a client's connection (class SLOT_SESSION), until the
 * session ends. The session's thread. An area is not copied or told when the session goes over to
 * another generation: what it keeps of a configuration, it holds. <make>: makes the areas of all
 * modules unless they are there; then NULL is: no memory. Else NULL is: not made yet.
 */
struct slot_area *session_slots(struct session *s, bool make);

static inline struct config *session_config(const struct session *s)
{
	return s->fe->config;
}

/* Addresses for fetches and logs: the client's own, or what the PROXY protocol or a rule said. */
const struct addr *session_src(struct session *s);
/* Date of the accept in microseconds since 1970. */
uint64_t session_accept_wall_us(const struct session *s);
/* From when on a request was waited for (monotonic): the end of the last one, or of handshakes. */
static inline uint64_t session_idle_from_ns(const struct session *s)
{
	return s->idle_from_ns ? s->idle_from_ns : s->accept_ns + s->handshake_ms * NS_PER_MS;
}

/* Asks the kernel on first use. family ADDR_NONE: unknown. */
const struct addr *session_dst(struct session *s);
/* The addresses of the connection: the same, but no rule behind those of the connection itself
 * changes them (fetches fc_src, fc_dst).
 */
const struct addr *session_conn_src(struct session *s);
const struct addr *session_conn_dst(struct session *s);
/* Before a rule of the session changes an address: the connection's is kept. False: no memory. */
bool session_keep_conn_addr(struct session *s, bool dst);

/* Reverse HTTP: the client's connection is to become one to <srv> under the name <name> (copied)
 * as soon as it may. From rules of the session. False: no memory.
 */
bool session_attach(struct session *s, struct server *srv, struct slice name);
/* Are connections to <srv> told apart by a name: pool-conn-name, or sni with TLS? */
bool server_conn_is_named(const struct server *srv);

/* Accepts <fd> (non-blocking) for the listener, on the calling thread: rules, preambles, mux.
 * Closes <fd> when refused or when memory is out. Callback of net/listener.
 */
void session_accept(struct listener_conf *l, int fd, const struct addr *src);
/* As session_accept(), for a client of QUIC whose handshake is over; its struct conn is taken
 * over.
 */
struct listen_quic_client;
void session_accept_quic(struct listener_conf *l, const struct listen_quic_client *client);
/* quic-initial rules: what becomes of a client whose first packet came. Nothing is there yet but
 * two addresses: fetches see a session without a client connection.
 */
enum quic_verdict;
enum quic_verdict session_judge_quic(struct listener_conf *l, const struct addr *src,
				     const struct addr *dst);

#endif
