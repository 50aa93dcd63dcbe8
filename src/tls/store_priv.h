/* SPDX-License-Identifier: GPL-2.0-or-later */
/* store_priv.h - certificates, authorities and revocation lists by the name of their file: one copy
 * each in a generation (store.c, acme.c)
 *
 * Owns   : its entries, and one count of each certificate.
 * Threads: under tls_store_lock() once threads run, unless it says otherwise.
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

/* ocsp-update of a certificate; UNSET: as ocsp-update.mode says. */
enum tls_ocsp_update { TLS_OCSP_UPDATE_UNSET, TLS_OCSP_UPDATE_OFF, TLS_OCSP_UPDATE_ON };

/* A named certificate; changed by commands under tls_store_lock(). */
struct tls_entry {
	struct tree_node node;       /* by hash of its name, in the store */
	const char *name;            /* as written, joined with crt-base: owned */
	struct tls_cert *cert;       /* counted; NULL: of `new ssl cert`, still empty */
	struct tls_cert_files files; /* where it was read; in the arena, NULLs: by commands */
	struct list uses;            /* struct tls_use.of_entry */
	struct tls_cert *pending;    /* set ssl cert, not committed; counted */
	struct tls_ocsp *ocsp;       /* owned; NULL: no answer, nor is there to be one */
	uint8_t ocsp_update;         /* enum tls_ocsp_update */
	bool in_store;               /* of a crt-store */
	const struct tls_acme *acme; /* in the arena; NULL: it is not obtained by ACME */
	bool jwt;                    /* atomic: tokens may be read with it */
	bool is_new;                 /* of `new ssl cert`: no file had it at the start */
	char *note;                  /* why its OCSP answer was left out; owned, NULL: it was not */
	uint64_t stamp;              /* of its files, for watch.c */
};

/* A CA file, or a file of revocation lists. */
struct tls_ca {
	struct tree_node node;
	const char *name;
	STACK_OF(X509) *certs;       /* owned, and so are the lists */
	STACK_OF(X509_CRL) *crls;
	STACK_OF(X509) *pending;     /* set ssl ca-file, not committed */
	STACK_OF(X509_CRL) *pending_crls;
	bool is_system;              /* "@system-ca" */
	bool is_crl;
	bool is_new;                 /* as a tls_entry's */
	bool has_pending;
	unsigned char sum[32];       /* of what it says: tls_ca_sum() */
	uint64_t stamp;              /* of its file, for watch.c */
};

/* That of a generation. */
struct tls_store *tls_store_of(const struct config *cfg);
extern struct slot tls_store_slot;
/* What commands and the watch of files hold while they look at the store or change it, around all
 * that they call: parsers of settings too. A thread that takes it twice ends the process with a
 * report.
 */
void tls_store_lock(void);
void tls_store_unlock(void);
/* A command has changed what stands in the file: <what> (static) is what tls_each_change() tells of
 * it. NULL: it is again what was read.
 */
void tls_store_note(struct tls_store *s, const char *name, const char *what);
/* Has tls_store_note() anything of it? Then an entry of that name is none that commands began. */
bool tls_store_is_noted(const struct tls_store *s, const char *name);
/* The entry of a file, read when it is the first time. NULL: <why>. */
struct tls_entry *tls_store_cert(struct config *cfg, const char *path, char *why, size_t size);
/* As tls_store_cert(), for parts with a name of their own (crt-store); replaces nothing. */
struct tls_entry *tls_store_load(struct config *cfg, const char *name,
				 const struct tls_cert_files *given, char *why, size_t size);
struct tls_entry *tls_store_find(struct tls_store *s, const char *name);
/* acme.c: a certificate of our own under <name>, until an authority gives one. NULL: <why>. */
struct tls_entry *tls_acme_temporary(struct config *cfg, const char *name, const char *domain,
				     char *why, size_t size);
struct tls_entry *tls_store_add(struct tls_store *s, const char *name, struct tls_cert *cert);
void tls_store_remove(struct tls_store *s, struct tls_entry *e);
/* Has <e> be <cert>, of which a count is taken over; what it was is the caller's. */
void tls_store_set_cert(struct tls_entry *e, struct tls_cert *cert);
/* The certificate of that name, counted, for tokens; NULL: it is unknown, or empty. *jwt: is it
 * meant for them? Any thread, without the store's lock.
 */
struct tls_cert *tls_store_take(const struct config *cfg, const char *name, bool *jwt);
struct tls_entry *tls_store_first(struct tls_store *s);
struct tls_entry *tls_store_next(struct tls_entry *e);
/* The entries of CA files (and "@system-ca") and revocation lists, as those of certificates
 * above.
 */
struct tls_ca *tls_store_ca(struct config *cfg, const char *path, bool crl, char *why, size_t size);
struct tls_ca *tls_store_ca_find(struct tls_store *s, const char *name);
/* For commands: one that is known, or "@system-ca", which is read when it is named for the first
 * time. NULL: none, or the system has no authorities (in the root folder of the process).
 */
struct tls_ca *tls_store_ca_named(struct config *cfg, const char *name);
struct tls_ca *tls_store_ca_new(struct tls_store *s, const char *name, bool crl);
void tls_store_ca_remove(struct tls_store *s, struct tls_ca *ca);
void tls_ca_forget_pending(struct tls_ca *ca);
/* Makes ca->sum, whenever its certificates or lists have changed. False: no memory. */
bool tls_ca_sum(struct tls_ca *ca);
/* Adds what a PEM text has to both stacks, which are made if need be. False: nothing. */
bool tls_ca_read(struct slice pem, STACK_OF(X509) **certs, STACK_OF(X509_CRL) **crls);
struct tls_ca *tls_store_ca_first(struct tls_store *s);
struct tls_ca *tls_store_ca_next(struct tls_ca *ca);
/* <path> below <base> when it is relative; in the arena. */
const char *tls_path(struct config *cfg, const char *base, const char *path);

#endif
