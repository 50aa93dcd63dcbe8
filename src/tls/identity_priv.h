/* SPDX-License-Identifier: GPL-2.0-or-later */
/* identity_priv.h - checksums of what sessions and connections depend on (identity.c) */
#ifndef TLS_IDENTITY_PRIV_H
#define TLS_IDENTITY_PRIV_H

#include <stdbool.h>
#include <stdint.h>

struct tls_bind;
struct tls_server;
struct tls_settings;

/* Both under the store's lock at run time. */

/* Computes the identity of a bind line with <set>, without the certificate: 32 bytes. False: out of
 * memory.
 */
bool tls_bind_identity(const struct tls_bind *b, const struct tls_settings *set,
		       unsigned char *out);
/* Computes server->identity, never 0. False: out of memory. */
bool tls_server_sum(const struct tls_server *s, uint64_t *out);

#endif
