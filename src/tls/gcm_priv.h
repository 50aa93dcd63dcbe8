/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gcm_priv.h - AES-GCM for records, faster than OpenSSL's
 *
 * Two implementations: an OpenSSL provider around Intel's library ipsec-mb (gcm.c), and an empty
 * one (gcm_none.c) if that library is missing.
 *
 * Threads : tls_gcm_properties(): any; the others act for the calling thread.
 * Config  : ssl-fast-aes
 */
#ifndef TLS_GCM_PRIV_H
#define TLS_GCM_PRIV_H

/* Returns the property query with which an OpenSSL context prefers it; static. NULL: this program
 * or this CPU has nothing better than OpenSSL. The first call loads the provider.
 */
const char *tls_gcm_properties(void);
/* Wipes the key that the thread has cached: when an operation on a connection is over. */
void tls_gcm_forget(void);
/* The calling thread ends. */
void tls_gcm_thread_fini(void);

#endif
