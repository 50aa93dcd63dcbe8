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
	bool declined;               /* `no-ssl` on a server whose default-server has `ssl` */
	bool wanted;                 /* needed by checks, even if not <on> */
	struct tls_settings set;
	const char *crt, *verify_host, *sni_text;
	struct expr *sni;
	bool no_sni_auto;            /* without <sni>, do not use the host of requests */
	struct tls_records records;
	SSL_CTX *ctx;                /* under the locks of <kept> once threads run */
	uint64_t identity;           /* of <ctx>: changes with it; atomic. tls_server_sum() */
	struct slot_area *area;      /* borrowed: the slots that contain it */
	struct tls_entry *entry;     /* of crt; or NULL */
	struct config *cfg;          /* borrowed */
	const struct tls_defaults *defaults; /* at the line; in the arena */
	struct tls_place where;
	struct tls_kept *kept;       /* sessions, one per thread */
	struct list link;            /* in tls_global.servers */
};
extern struct slot tls_server_slot; /* struct tls_server *, owned; NULL: no TLS */
/* Returns the server's, created on first use. NULL: out of memory. */
struct tls_server *tls_server_make(struct slot_area *area);
/* Creates its context again from the current certificate and authorities, for new connections. If
 * these have changed, drops sessions and tells the floor above that idle connections must not be
 * reused. False: see <why>; nothing has changed. Any thread.
 */
bool tls_server_renew(struct tls_server *s, char *why, size_t size);

#endif
