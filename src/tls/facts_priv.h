/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts_priv.h - what is asked of a connection when its handshake is over (facts.c)
 *
 * Purpose: OpenSSL is asked as long as there is an SSL. A connection of QUIC to a client needs none
 *          behind the handshake: a tenth of its size answers all that fetches and logs ask.
 * Owns   : struct tls_facts owns its texts and counts its certificates.
 * Threads: the connection's.
 * Errors : without memory the SSL stays.
 */
#ifndef TLS_FACTS_PRIV_H
#define TLS_FACTS_PRIV_H

#include "conn_priv.h"

/* Texts and bytes. FINISHED is the first one of the handshake (RFC 5929 3). */
enum tls_fact {
	TLS_FACT_ALPN, TLS_FACT_SNI, TLS_FACT_SESSION_ID, TLS_FACT_SESSION_KEY,
	TLS_FACT_CLIENT_RANDOM, TLS_FACT_SERVER_RANDOM, TLS_FACT_FINISHED, TLS_FACTS
};
#define TLS_FACT_ROOM 128
/* One of them; empty: there is none. Bytes are those of the connection, or written into <room>,
 * TLS_FACT_ROOM bytes; an SNI ends in a NUL that is not counted.
 */
struct slice tls_fact(const struct tls_conn *t, enum tls_fact which, unsigned char *room);

/* Keeps what may be asked of a connection whose handshake is over, and on which OpenSSL has nothing
 * more to do: true, the SSL is needed no more, and the caller frees it (tls_ssl_free()). False
 * without memory, and with a captured hello.
 */
bool tls_facts_keep(struct tls_conn *t);
void tls_facts_free(struct tls_conn *t);

/* As OpenSSL's functions of such names. The objects are borrowed; NULL: there is none. */
const SSL_CIPHER *tls_conn_cipher(const struct tls_conn *t);
const char *tls_conn_version(const struct tls_conn *t);
bool tls_conn_is_resumed(const struct tls_conn *t);
bool tls_conn_is_stapled(const struct tls_conn *t);
int tls_conn_group(const struct tls_conn *t);
long tls_conn_verify_result(const struct tls_conn *t);
X509 *tls_conn_cert(const struct tls_conn *t);
X509 *tls_conn_peer_cert(const struct tls_conn *t);
STACK_OF(X509) *tls_conn_peer_chain(const struct tls_conn *t);
STACK_OF(X509) *tls_conn_verified_chain(const struct tls_conn *t);

#endif
