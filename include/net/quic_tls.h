/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* quic_tls.h - what a QUIC connection and the TLS in it ask of each other (RFC 9001)
 *
 * Purpose: the two are on one floor and do not see each other. QUIC carries the bytes of the
 *          handshake, without records, and protects its packets with secrets that TLS makes.
 * Owns   : the TLS side hangs off the connection (transport_ctx of its struct conn) and ends with
 *          it. Texts and secrets are borrowed for the call.
 * Threads: that of the connection.
 * Errors : TLS alerts, by their number.
 *
 *      CRYPTO frames --> ops->recv --> TLS --> user->secret, user->params
 *      CRYPTO frames <-- user->send <--/
 */
#ifndef NET_QUIC_TLS_H
#define NET_QUIC_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct addr;
struct conn;

/* Encryption levels, in the order of a handshake; each has packet numbers of its own. */
enum quic_level {
	QUIC_LEVEL_INITIAL, QUIC_LEVEL_HANDSHAKE, QUIC_LEVEL_APP, QUIC_LEVELS,
	QUIC_LEVEL_EARLY = QUIC_LEVELS, /* 0-RTT: of secrets alone, its packets count with APP's */
};

/* Cipher suites of TLS 1.3, as RFC 8446 B.4 numbers them. */
enum quic_suite {
	QUIC_AES_128_GCM = 0x1301, QUIC_AES_256_GCM = 0x1302, QUIC_CHACHA20_POLY1305 = 0x1303,
};
/* The longest secret: a SHA-384. */
#define QUIC_SECRET_MAX 48
/* The most bytes of transport parameters that we send. */
#define QUIC_TLS_PARAMS_ROOM 256
/* The most bytes of <limits>. */
#define QUIC_TLS_LIMITS_ROOM 96

/* What TLS calls, within recv() but for closed(). */
struct quic_tls_user {
	/* A traffic secret: of what we send if <tx>. False: of no use, the handshake fails. */
	bool (*secret)(void *owner, enum quic_level level, bool tx, unsigned suite,
		       const uint8_t *secret, size_t len);
	/* Bytes for the peer, in CRYPTO frames of this level. False: no memory. */
	bool (*send)(void *owner, enum quic_level level, const uint8_t *bytes, size_t len);
	/* The peer's transport parameters. False: they are not valid. */
	bool (*params)(void *owner, const uint8_t *bytes, size_t len);
	/* Our transport parameters, which may depend on the peer's: written into <room>,
	 * QUIC_TLS_PARAMS_ROOM bytes; returns the length.
	 */
	size_t (*own_params)(const void *owner, uint8_t *room);
	/* What we allow a client, which it remembers with a session and keeps to with early data
	 * (RFC 9000 7.4.1): written into <room>, QUIC_TLS_LIMITS_ROOM bytes; returns the length. 0:
	 * early data cannot be taken now. Those of two sessions are compared byte by byte.
	 */
	size_t (*limits)(const void *owner, uint8_t *room);
	/* The struct conn was closed by its user before leave(). */
	void (*closed)(void *owner);
	/* Our address, or the peer's. */
	const struct addr *(*address)(void *owner, bool peer);
};

/* How a handshake goes on. EARLY: as MORE, and early data of the client is taken. */
enum quic_tls_status { QUIC_TLS_MORE, QUIC_TLS_EARLY, QUIC_TLS_DONE, QUIC_TLS_FAILED };

struct quic_tls_ops {
	/* Takes bytes of CRYPTO frames of this level, in order. With QUIC_TLS_FAILED *alert is what
	 * the peer is told. It says QUIC_TLS_DONE each time once the handshake is over. With no
	 * bytes a client begins.
	 */
	enum quic_tls_status (*recv)(struct conn *c, enum quic_level level, const uint8_t *bytes,
				     size_t len, uint8_t *alert);
	/* The connection of QUIC is over: conn_quic() does not name it any more. */
	void (*leave)(struct conn *c);
};

#endif
