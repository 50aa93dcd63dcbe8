/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* session.h - one client connection, as rules see it
 *
 * Purpose: what is known about a client while its connection lasts: addresses, frontend, listener,
 *          dates. Streams begin on it, one after the other (H1) or several at once (H2).
 * Owns   : a reference on its generation; its client connection through the mux.
 * Threads: that of the connection.
 * Idle   : an idle connection costs only this struct and the mux's connection.
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
	SESS_PROXY_SRC = 1 << 1,   /* src and dst were set by the PROXY protocol */
	SESS_FIRST_REQ = 1 << 2,   /* no request was served yet */
	SESS_EMBRYONIC = 1 << 4,   /* a preamble or a handshake is in progress */
	SESS_EXPECT_PROXY = 1 << 6, /* starts with a PROXY protocol header */
	SESS_EXPECT_CIP = 1 << 7,   /* starts with NetScaler's client addresses (after PROXY's) */
	SESS_DISMISSED = 1 << 9,    /* was asked to leave: the process stops */
	SESS_UPGRADED = 1 << 11,    /* began in mode tcp: see upgrade.c */
};

/* Members that few sessions need. */
struct session_rare {
	struct list server_conns;      /* idle server connections that only this client may use */
	/* generations left behind that still have streams; or NULL */
	struct session_past *past;
	/* from its PROXY header, owned; NULL: none, or not asked for */
	struct proxy_tlvs *tlvs;
	struct slot_area *slots;       /* owned; NULL: no module asked for them */
	/* reverse HTTP: the server that `attach-srv` gives the connection to, with the generation
	 * of the server, borrowed, and the name, owned; NULL: none
	 */
	struct server *attach_to;
	const struct config *attach_config;
	char *attach_name;
	struct preconnect *dialled;    /* set if we opened the connection; NULL: it was accepted */
	struct addr conn_src, conn_dst; /* before tcp-request session rules; ADDR_NONE: unchanged */
};

struct session {
	struct list link;              /* in the thread's list of sessions */
	struct proxy *fe;              /* of the session's generation, which it holds */
	struct listener_conf *listener;
	struct mux *mux;               /* owns the connection; NULL: there is none yet */
	struct conn *conn;             /* borrowed from the mux; NULL once closed */
	struct addr src, dst;          /* dst: see session_dst() */
	uint64_t accept_ns;            /* monotonic */
	uint64_t idle_from_ns;         /* end of the last request; 0: none yet */
	uint32_t handshake_ms;
	uint16_t flags;                /* enum session_flags */
	uint8_t error;                 /* of the connection: see fc_err */
	uint8_t only;                  /* switch-mode http proto: mux_number(); 0: any */
	uint32_t requests;             /* streams begun */
	uint32_t open_streams;         /* streams that have not ended */
	struct vars *vars;             /* scope sess, owned; NULL: the configuration uses none */
	struct session_rare *rare;     /* owned; NULL: none of it is needed */
};

/* Returns the rare members, created on first use. NULL: out of memory. */
struct session_rare *session_rare_get(struct session *s);
/* Frees the rare members and finishes the areas of modules; everything else must be empty. */
void session_rare_free(struct session *s);
/* Returns the area in which modules keep their data about a client connection (class SLOT_SESSION)
 * until the session ends. Session's thread only. The area is neither copied nor notified when the
 * session moves to another generation, so data that refers to a configuration must hold it. <make>:
 * creates the areas of all modules if needed, NULL: out of memory. Otherwise NULL: not created yet.
 */
struct slot_area *session_slots(struct session *s, bool make);

static inline struct config *session_config(const struct session *s)
{
	return s->fe->config;
}

/* Returns the client address for fetches and logs: its own, or the one that the PROXY protocol or a
 * rule set.
 */
const struct addr *session_src(struct session *s);
/* Returns the date of the accept in microseconds since 1970. */
uint64_t session_accept_wall_us(const struct session *s);
/* Returns since when a request is awaited (monotonic): the end of the last request, or of the
 * handshakes.
 */
static inline uint64_t session_idle_from_ns(const struct session *s)
{
	return s->idle_from_ns ? s->idle_from_ns : s->accept_ns + s->handshake_ms * NS_PER_MS;
}

/* Returns the destination address, asking the kernel on first use. Family ADDR_NONE: unknown. */
const struct addr *session_dst(struct session *s);
/* Return the addresses of the connection: as session_src() and session_dst(), but changed by no
 * rule except tcp-request connection rules (fetches fc_src, fc_dst).
 */
const struct addr *session_conn_src(struct session *s);
const struct addr *session_conn_dst(struct session *s);
/* Saves the connection's address before a rule of the session changes it. False: out of memory. */
bool session_keep_conn_addr(struct session *s, bool dst);

/* Reverse HTTP: the client connection is to become a connection to <srv> under the name <name>
 * (copied) as soon as possible. For rules of the session. False: out of memory.
 */
bool session_attach(struct session *s, struct server *srv, struct slice name);
/* Are connections to <srv> distinguished by a name: pool-conn-name, or sni with TLS? */
bool server_conn_is_named(const struct server *srv);

/* Accepts <fd> (non-blocking) for the listener on the calling thread: rules, preambles, mux. Closes
 * <fd> if the client is refused or memory is out. Callback of net/listener.
 */
void session_accept(struct listener_conf *l, int fd, const struct addr *src);
/* As session_accept(), for a QUIC client whose handshake is over. Takes over its struct conn. */
struct listen_quic_client;
void session_accept_quic(struct listener_conf *l, const struct listen_quic_client *client);
/* Runs quic-initial rules: decides about a client whose first packet came. Only two addresses are
 * known yet: fetches see a session without a client connection.
 */
enum quic_verdict;
enum quic_verdict session_judge_quic(struct listener_conf *l, const struct addr *src,
				     const struct addr *dst);

#endif
