/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store_priv.h - certificates, authorities and revocation lists by file name: one copy each per
 * generation (store.c, acme.c)
 *
 * Owns   : its entries, and one reference on each certificate.
 * Threads: under tls_store_lock() once threads run, unless noted otherwise.
 * Errors : a text for the administrator in <why>.
 */
#ifndef TLS_STORE_PRIV_H
#define TLS_STORE_PRIV_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/list.h"
#include "base/slice.h"
#include "base/slot.h"
#include "base/tree.h"
#include "cert_priv.h"
#include "conf/conf.h"

struct tls_acme;
struct tls_ocsp;

struct tls_store;

/* ocsp-update of a certificate; UNSET: see ocsp-update.mode. */
enum tls_ocsp_update { TLS_OCSP_UPDATE_UNSET, TLS_OCSP_UPDATE_OFF, TLS_OCSP_UPDATE_ON };

/* A named certificate; changed by commands under tls_store_lock(). */
struct tls_entry {
	struct tree_node node;       /* by hash of its name, in the store */
	const char *name;            /* as configured, joined with crt-base: owned */
	struct tls_cert *cert;       /* counted; NULL: from `new ssl cert`, still empty */
	struct tls_cert_files files; /* its files; in the arena, NULLs: from commands */
	struct list uses;            /* struct tls_use.of_entry */
	struct tls_cert *pending;    /* set ssl cert, not committed; counted */
	struct tls_ocsp *ocsp;       /* owned; NULL: no response, and none is needed */
	uint8_t ocsp_update;         /* enum tls_ocsp_update */
	bool in_store;               /* from a crt-store */
	const struct tls_acme *acme; /* in the arena; NULL: not obtained by ACME */
	bool jwt;                    /* atomic: may be used for tokens */
	bool is_new;                 /* from `new ssl cert`: no file had it at the start */
	/* why its OCSP response was ignored; owned, NULL: it was not */
	char *note;
	uint64_t stamp;              /* of its files, for watch.c */
};

/* A CA file, or a file of revocation lists. */
struct tls_ca {
	struct tree_node node;
	const char *name;
	STACK_OF(X509) *certs;       /* owned, as are the lists */
	STACK_OF(X509_CRL) *crls;
	STACK_OF(X509) *pending;     /* set ssl ca-file, not committed */
	STACK_OF(X509_CRL) *pending_crls;
	bool is_system;              /* "@system-ca" */
	bool is_crl;
	bool is_new;                 /* as in struct tls_entry */
	bool has_pending;
	unsigned char sum[32];       /* checksum of its contents: tls_ca_sum() */
	uint64_t stamp;              /* of its file, for watch.c */
};

/* Returns the store of a generation. */
struct tls_store *tls_store_of(const struct config *cfg);
extern struct slot tls_store_slot;
/* Commands and the watch of files hold this lock while they read or change the store, including all
 * that they call, such as parsers of settings. A thread that takes it twice ends the process with a
 * report.
 */
void tls_store_lock(void);
void tls_store_unlock(void);
/* A command has changed the contents of a file: <what> (static) is for tls_each_change(). NULL: the
 * contents are again as read.
 */
void tls_store_note(struct tls_store *s, const char *name, const char *what);
/* Is a change of this file noted? Then an entry of that name was not created by a command. */
bool tls_store_is_noted(const struct tls_store *s, const char *name);
/* Returns the entry of a file, read on first use. NULL: see <why>. */
struct tls_entry *tls_store_cert(struct config *cfg, const char *path, char *why, size_t size);
/* As tls_store_cert(), for parts with their own names (crt-store); replaces nothing. */
struct tls_entry *tls_store_load(struct config *cfg, const char *name,
				 const struct tls_cert_files *given, char *why, size_t size);
struct tls_entry *tls_store_find(struct tls_store *s, const char *name);
/* acme.c: creates a certificate of our own under <name>, until an authority issues one. NULL: see
 * <why>.
 */
struct tls_entry *tls_acme_temporary(struct config *cfg, const char *name, const char *domain,
				     char *why, size_t size);
struct tls_entry *tls_store_add(struct tls_store *s, const char *name, struct tls_cert *cert);
void tls_store_remove(struct tls_store *s, struct tls_entry *e);
/* Makes <cert> the certificate of <e>, taking over its reference; the caller gets the previous
 * one's.
 */
void tls_store_set_cert(struct tls_entry *e, struct tls_cert *cert);
/* Returns the certificate of that name, counted, for tokens; NULL: unknown, or empty. *jwt: may it
 * be used for them? Any thread, without the store's lock.
 */
struct tls_cert *tls_store_take(const struct config *cfg, const char *name, bool *jwt);
struct tls_entry *tls_store_first(struct tls_store *s);
struct tls_entry *tls_store_next(struct tls_entry *e);
/* The entries of CA files (and "@system-ca") and revocation lists; functions as for certificates.
 */
struct tls_ca *tls_store_ca(struct config *cfg, const char *path, bool crl, char *why, size_t size);
struct tls_ca *tls_store_ca_find(struct tls_store *s, const char *name);
/* For commands: finds a known one, or "@system-ca", which is read on first use. NULL: none, or the
 * system has no authorities (in the root folder of the process).
 */
struct tls_ca *tls_store_ca_named(struct config *cfg, const char *name);
struct tls_ca *tls_store_ca_new(struct tls_store *s, const char *name, bool crl);
void tls_store_ca_remove(struct tls_store *s, struct tls_ca *ca);
void tls_ca_forget_pending(struct tls_ca *ca);
/* Computes ca->sum; call when its certificates or lists have changed. False: out of memory. */
bool tls_ca_sum(struct tls_ca *ca);
/* Adds the contents of a PEM text to both stacks, creating them if needed. False: nothing found. */
bool tls_ca_read(struct slice pem, STACK_OF(X509) **certs, STACK_OF(X509_CRL) **crls);
struct tls_ca *tls_store_ca_first(struct tls_store *s);
struct tls_ca *tls_store_ca_next(struct tls_ca *ca);
/* Returns <path>, below <base> if it is relative; in the arena. */
const char *tls_path(struct config *cfg, const char *base, const char *path);

#endif
