/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts_priv.h - facts about a connection after its handshake (facts.c)
 *
 * Purpose: OpenSSL is asked as long as there is an SSL. A QUIC connection to a client needs none
 *          after the handshake: a tenth of its size answers all questions of fetches and logs.
 * Owns   : struct tls_facts owns its texts and holds counted certificates.
 * Threads: the connection's.
 * Errors : out of memory, the SSL is kept.
 */
#ifndef TLS_FACTS_PRIV_H
#define TLS_FACTS_PRIV_H

#include "conn_priv.h"

/* Texts and bytes. FINISHED is the first Finished message of the handshake (RFC 5929 3). */
enum tls_fact {
	TLS_FACT_ALPN, TLS_FACT_SNI, TLS_FACT_SESSION_ID, TLS_FACT_SESSION_KEY,
	TLS_FACT_CLIENT_RANDOM, TLS_FACT_SERVER_RANDOM, TLS_FACT_FINISHED, TLS_FACTS
};
#define TLS_FACT_ROOM 128
/* Returns one fact; empty: none. The bytes belong to the connection, or are written to <room>,
 * TLS_FACT_ROOM bytes; an SNI is followed by a NUL that is not counted.
 */
struct slice tls_fact(const struct tls_conn *t, enum tls_fact which, unsigned char *room);

/* Keeps the facts of a connection whose handshake is over and on which OpenSSL has no more work.
 * True: the SSL is no longer needed, and the caller frees it (tls_ssl_free()). False: out of
 * memory, or there is a captured hello.
 */
bool tls_facts_keep(struct tls_conn *t);
void tls_facts_free(struct tls_conn *t);

/* As OpenSSL's functions of similar names. The objects are borrowed; NULL: none. */
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
