/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* quic_tls.h - the interface between a QUIC connection and its TLS (RFC 9001)
 *
 * Purpose: the two are on the same floor and must not include each other. QUIC carries the bytes of
 *          the handshake, without TLS records, and protects its packets with secrets that TLS
 *          derives.
 * Owns   : the TLS side is attached to the connection (transport_ctx of its struct conn) and ends
 *          with it. Texts and secrets are borrowed for the call.
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

/* Encryption levels, in the order of a handshake; each has its own packet numbers. */
enum quic_level {
	QUIC_LEVEL_INITIAL, QUIC_LEVEL_HANDSHAKE, QUIC_LEVEL_APP, QUIC_LEVELS,
	/* 0-RTT: secrets only, its packets are numbered with APP's */
	QUIC_LEVEL_EARLY = QUIC_LEVELS,
};

/* Cipher suites of TLS 1.3, as RFC 8446 B.4 numbers them. */
enum quic_suite {
	QUIC_AES_128_GCM = 0x1301, QUIC_AES_256_GCM = 0x1302, QUIC_CHACHA20_POLY1305 = 0x1303,
};
/* The longest secret: that of SHA-384. */
#define QUIC_SECRET_MAX 48
/* The maximum size of our transport parameters. */
#define QUIC_TLS_PARAMS_ROOM 256
/* The maximum size of what limits() writes. */
#define QUIC_TLS_LIMITS_ROOM 96

/* Callbacks of TLS, called from within recv(), except closed(). */
struct quic_tls_user {
	/* Gives a traffic secret: for sending if <tx>, else for receiving. False: unusable, the
	 * handshake fails.
	 */
	bool (*secret)(void *owner, enum quic_level level, bool tx, unsigned suite,
		       const uint8_t *secret, size_t len);
	/* Sends bytes to the peer, in CRYPTO frames of this level. False: out of memory. */
	bool (*send)(void *owner, enum quic_level level, const uint8_t *bytes, size_t len);
	/* Gives the peer's transport parameters. False: they are invalid. */
	bool (*params)(void *owner, const uint8_t *bytes, size_t len);
	/* Writes our transport parameters, which may depend on the peer's, to <room>,
	 * QUIC_TLS_PARAMS_ROOM bytes; returns their length.
	 */
	size_t (*own_params)(const void *owner, uint8_t *room);
	/* Writes the limits that we grant a client, which it remembers with a session and observes
	 * in early data (RFC 9000 7.4.1), to <room>, QUIC_TLS_LIMITS_ROOM bytes; returns their
	 * length. 0: early data cannot be accepted now. The limits of two sessions are compared
	 * byte by byte.
	 */
	size_t (*limits)(const void *owner, uint8_t *room);
	/* The user closed the struct conn before leave(). */
	void (*closed)(void *owner);
	/* Returns our address, or the peer's. */
	const struct addr *(*address)(void *owner, bool peer);
};

/* State of a handshake. EARLY: as MORE, and the client's early data is accepted. */
enum quic_tls_status { QUIC_TLS_MORE, QUIC_TLS_EARLY, QUIC_TLS_DONE, QUIC_TLS_FAILED };

struct quic_tls_ops {
	/* Takes bytes of CRYPTO frames of this level, in order. With QUIC_TLS_FAILED, *alert is the
	 * alert for the peer. Returns QUIC_TLS_DONE from the end of the handshake on. A client
	 * begins with a call without bytes.
	 */
	enum quic_tls_status (*recv)(struct conn *c, enum quic_level level, const uint8_t *bytes,
				     size_t len, uint8_t *alert);
	/* The QUIC connection is over: conn_quic() no longer returns it. */
	void (*leave)(struct conn *c);
};

#endif
