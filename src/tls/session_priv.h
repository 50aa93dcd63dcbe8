/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session_priv.h - the process's session cache, and keys of tickets (session.c)
 *
 * Owns   : the cache belongs to the process; keys of a file are counted by the lines that name it.
 * Threads: any.
 * Source : RFC 5077, RFC 8446 4.6.1
 */
#ifndef TLS_SESSION_PRIV_H
#define TLS_SESSION_PRIV_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;
struct tls_tickets;

/* Makes the server side of <ctx> keep sessions in the process's cache. */
void tls_cache_attach(SSL_CTX *ctx);
bool tls_cache_set_size(int64_t sessions);
void tls_cache_free(void);
void tls_cache_figures(uint64_t *lookups, uint64_t *misses);
/* Returns the ticket keys of a file, shared by all lines that name it; counted. NULL: see <why>. */
struct tls_tickets *tls_tickets_get(struct config *cfg, const char *path, char *why, size_t size);
void tls_tickets_drop(struct tls_tickets **t);
struct strbuf;
/* For commands, under the store's lock: show the files ("0 (name)"), or the keys of <which>, "*"
 * for all; and add a key, in base64. False: see *error.
 */
void tls_tickets_show(struct strbuf *out, const char *which);
bool tls_tickets_add(const char *which, const char *key, const char **error);
/* Makes <ctx> use the keys of the bind line of tls_now(). */
void tls_tickets_attach(SSL_CTX *ctx);
/* Makes <ctx>, whose line names no file of keys, use keys of this process: the same for the same
 * <identity> (SHA256_DIGEST_LENGTH bytes), so that tickets survive a reload.
 */
void tls_ticket_keys_derive(SSL_CTX *ctx, const unsigned char *identity);

#endif
