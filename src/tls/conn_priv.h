/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conn_priv.h - TLS connections (conn.c): their data, entering and leaving OpenSSL (wire.c), sizes
 * of records (records.c), secrets (keylog.c), limits and figures (lib.c)
 *
 * Owns   : the SSL, encrypted unsent bytes, the capture.
 * Threads: the connection's. OpenSSL's callbacks find it by tls_now().
 */
#ifndef TLS_CONN_PRIV_H
#define TLS_CONN_PRIV_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/list.h"
#include "line_priv.h"
#include "net/conn.h"

struct tls_bind;
struct tls_capture;
struct tls_early;
struct tls_facts;
struct tls_quic;
struct tls_server;

enum tls_conn_flags {
	TLS_FL_BACK = 1 << 0,
	TLS_FL_DONE = 1 << 1,     /* the handshake is over */
	TLS_FL_FAILED = 1 << 2,   /* OpenSSL allows no further call */
	TLS_FL_SHUT = 1 << 3,     /* our close_notify was created */
	TLS_FL_LATER = 1 << 4,    /* in one of the thread's lists of bytes to send later */
	TLS_FL_COUNTED = 1 << 5,  /* in the figures */
	TLS_FL_HELD = 1 << 6,     /* one byte of the sender's was already encrypted */
	TLS_FL_EARLY = 1 << 7,    /* early data may come */
	TLS_FL_EARLY_END = 1 << 8, /* all of it was received */
	TLS_FL_EOF = 1 << 9,
	TLS_FL_HAD_EARLY = 1 << 10,
	TLS_FL_SHUT_LATER = 1 << 11, /* our end is to be sent after the handshake */
	TLS_FL_EARLY_SENT = 1 << 12, /* to a server */
	TLS_FL_EARLY_REFUSED = 1 << 13, /* the server has rejected it */
	TLS_FL_PLACE = 1 << 14, /* it has a place of maxsslconn */
	TLS_FL_BLOCKED = 1 << 15, /* nothing can be sent before another handshake is over */
};

struct tls_conn {
	SSL *ssl;                    /* NULL: the handshake is over, <facts> replace it */
	struct tls_facts *facts;     /* owned; NULL: ask <ssl> (facts.c) */
	struct conn *conn;
	union {
		struct tls_bind *bind;
		struct tls_server *server;
	};
	struct tls_capture *capture; /* owned; NULL: none */
	char **secrets;              /* TLS_SECRETS texts, owned; NULL: none (keylog.c) */
	unsigned char *out;          /* encrypted, unsent; owned */
	uint32_t out_len, out_at;
	struct tls_early *early;     /* owned; NULL: none (early.c) */
	struct tls_records records;
	/* with records.first: bytes of this flow, time of the last one */
	uint32_t flowed, sent_ms;
	uint32_t error;              /* OpenSSL's first fatal error; 0 none */
	uint16_t flags;              /* enum tls_conn_flags */
	uint8_t peer_error, ca_error, ca_depth; /* of verification: ignored or not */
	bool left;                   /* a client that has closed its side gets no answer */
	uint32_t early_room;         /* to a server: remaining bytes of early data */
	uint64_t identity;           /* to a server: server->identity at its begin */
	/* KeyUpdate messages received in this second; UINT32_MAX: too many */
	uint32_t updates, updates_s;
	struct list later;
	struct tls_quic *quic;       /* owned; NULL: not a QUIC connection (quic.c) */
};

extern const struct transport transport_tls;
/* OpenSSL's message callback: reports hellos, counts KeyUpdate; <rate>: limit per second, 0: no
 * limit (key_update.c).
 */
void tls_message_seen(int sent, int version, int type, const void *bytes, size_t len,
		      SSL *ssl, void *rate);

#define TLS_RECORD_MAX 16384
/* Bytes without a pause that count as a bulk transfer. */
#define TLS_FLOW_IS_BULK (64 * 1024)
/* Returns how many bytes the next record takes. */
size_t tls_record_size(const struct tls_conn *t);
/* With records.first, before bytes are sent: starts a new flow after a pause. */
void tls_flow_begins(struct tls_conn *t);

/* Returns the TLS state of a connection; NULL: none. */
static inline struct tls_conn *tls_of(const struct conn *c)
{
	return c && c->transport->is_tls ? c->transport_ctx : NULL;
}

/* tune.ssl.keylog (keylog.c): makes connections of <ctx> keep their secrets. */
#define TLS_SECRETS 7
void tls_keylog_attach(SSL_CTX *ctx);

/* Bracket all work for <c>; tls_leave() sends the output. */
SSL *tls_enter(struct conn *c);
enum io tls_leave(struct conn *c, bool more);
/* Call when the handshake has succeeded. */
void tls_handshake_done(struct conn *c);
/* Prepares <ctx> for QUIC connections (quic_hooks.c). False: out of memory. */
bool tls_quic_attach(SSL_CTX *ctx);
/* Checks a hello: if it is of QUIC, does it have what it must? False: *alert. */
bool tls_quic_hello(SSL *ssl, int *alert);
/* Is the connection that OpenSSL works for one of QUIC, which has TLS 1.3 only? */
bool tls_is_quic(void);
/* How much early data sessions are told of where a context allows <max>: of QUIC it is all or
 * nothing (RFC 9001 4.6.1).
 */
uint32_t tls_quic_early_max(uint32_t max);
/* Returns the connection that OpenSSL is working for, for its callbacks. */
struct conn *tls_now(void);
/* Frees its SSL, if it has one. */
void tls_ssl_free(struct tls_conn *t);
/* Puts TLS on <c>; takes over <ssl>, also on failure. False: out of memory. */
bool tls_attach(struct conn *c, SSL *ssl, unsigned flags);
bool tls_conn_init(void);
bool tls_conn_thread_init(void);
void tls_conn_thread_fini(void);

/* Count connections and handshakes: see tls_get_figures(). False: maxsslconn would be exceeded. */
bool tls_count_open(struct tls_conn *t);
void tls_uncount(struct tls_conn *t);
void tls_count_handshake(bool back, bool resumed);

#endif
