/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib_priv.h - OpenSSL as a whole: start (lib.c), memory (memory.c), limits and figures of the
 * process
 *
 * Threads: any, unless noted otherwise.
 */
#ifndef TLS_LIB_PRIV_H
#define TLS_LIB_PRIV_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>
#include "tls/tls.h"

bool tls_lib_init(void);
/* Wipes and frees the keys exchanged in a handshake, after its end. */
void tls_exchange_keys_drop(SSL *ssl);
/* OpenSSL's allocations (memory.c): call before all other OpenSSL functions; and when a worker
 * begins and ends.
 */
void tls_memory_init(void);
void tls_memory_thread_init(void);
void tls_memory_thread_fini(void);
/* Sets whether OpenSSL's memory is wiped when this thread frees it: while private keys are decoded.
 */
void tls_memory_wipe(bool on);
/* A key was freed: wipes soon what OpenSSL's functions have left of it on the stacks of the worker
 * threads. On a worker thread; elsewhere it does nothing.
 */
void tls_memory_wipe_stacks(void);
bool tls_figures_init(void);
/* Reads all figures except those of the cache. */
void tls_figures_read(struct tls_figures *out);
void tls_set_limits(int64_t connections, int64_t rate);

#endif
