/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_priv.h - servers with `ssl` (server.c)
 *
 * Owns   : its context and sessions.
 * Threads: filled while the configuration is read; renewed by any.
 */
#ifndef TLS_SERVER_PRIV_H
#define TLS_SERVER_PRIV_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/list.h"
#include "base/slot.h"
#include "line_priv.h"
#include "tls/tls.h"

struct tls_defaults;
struct tls_entry;
struct tls_kept;

struct tls_server {
	bool on;
	bool off;                    /* atomic: `set server ssl off` although <on> */
	bool declined;               /* `no-ssl` of a server whose default-server says `ssl` */
	bool wanted;                 /* by checks, even if not <on> */
	struct tls_settings set;
	const char *crt, *verify_host, *sni_text;
	struct expr *sni;
	bool no_sni_auto;            /* without <sni>, the host of requests does not stand for it */
	struct tls_records records;
	SSL_CTX *ctx;                /* under the locks of <kept> once threads run */
	uint64_t identity;           /* of <ctx>: changes with it; atomic. tls_server_sum() */
	struct slot_area *area;      /* borrowed: the slots that it is in */
	struct tls_entry *entry;     /* of crt; or NULL */
	struct config *cfg;          /* borrowed */
	const struct tls_defaults *defaults; /* where the line stands; in the arena */
	struct tls_place where;
	struct tls_kept *kept;       /* sessions, one per thread */
	struct list link;            /* in tls_global.servers */
};
extern struct slot tls_server_slot; /* struct tls_server *, owned; NULL: one in clear */
/* The server's, made on first use. NULL: no memory. */
struct tls_server *tls_server_make(struct slot_area *area);
/* Makes its context anew, of certificate and authorities as they are now, for connections that
 * begin from now on. When they are others than before, sessions are forgotten and the floor above
 * is told that idle connections are of no use. False: <why>; nothing has changed. Any thread.
 */
bool tls_server_renew(struct tls_server *s, char *why, size_t size);

#endif
