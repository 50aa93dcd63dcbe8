/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib_priv.h - OpenSSL as a whole: its start (lib.c), its memory (memory.c), limits and figures of
 * the process
 *
 * Threads: any, unless it says otherwise.
 */
#ifndef TLS_LIB_PRIV_H
#define TLS_LIB_PRIV_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>
#include "tls/tls.h"

bool tls_lib_init(void);
/* Wipes and frees the keys that a handshake exchanged, when it is over. */
void tls_exchange_keys_drop(SSL *ssl);
/* OpenSSL's allocations (memory.c): before all others of OpenSSL; when a worker begins, ends. */
void tls_memory_init(void);
void tls_memory_thread_init(void);
void tls_memory_thread_fini(void);
/* Whether OpenSSL's memory is wiped when this thread frees it: while private keys are decoded. */
void tls_memory_wipe(bool on);
/* A key has gone: what OpenSSL's functions have left of it on the stacks of the working threads is
 * wiped soon. On one of them; elsewhere nothing is done.
 */
void tls_memory_wipe_stacks(void);
bool tls_figures_init(void);
/* All figures but those of the cache. */
void tls_figures_read(struct tls_figures *out);
void tls_set_limits(int64_t connections, int64_t rate);

#endif
