/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gcm_priv.h - AES-GCM for records, faster than OpenSSL's
 *
 * Two implementations: a provider of OpenSSL around Intel's library ipsec-mb (gcm.c), and none
 * (gcm_none.c) where that library is not there.
 *
 * Threads : tls_gcm_properties() any; the others work for the calling thread.
 * Config  : ssl-fast-aes
 */
#ifndef TLS_GCM_PRIV_H
#define TLS_GCM_PRIV_H

/* The property query with which a context of OpenSSL prefers it; static. NULL: this program or this
 * CPU has nothing better than OpenSSL. The first call loads the provider.
 */
const char *tls_gcm_properties(void);
/* Wipes the key that the thread has ready: when an operation on a connection is over. */
void tls_gcm_forget(void);
/* The calling thread ends. */
void tls_gcm_thread_fini(void);

#endif
