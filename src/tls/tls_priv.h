/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tls_priv.h - what the files of the TLS floor share */
#ifndef TLS_TLS_PRIV_H
#define TLS_TLS_PRIV_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/addr.h"
#include "base/list.h"
#include "base/slice.h"
#include "base/tree.h"
#include "conf/conf.h"
#include "net/conn.h"
#include "tls/tls.h"

struct tls_bind;
struct tls_names;
struct tls_server;

/* RFC 8879: OpenSSL knows it from 3.2 on; older ones compress nothing. */
#ifdef SSL_OP_NO_TX_CERTIFICATE_COMPRESSION
#define TLS_NO_COMPRESSION \
	(SSL_OP_NO_TX_CERTIFICATE_COMPRESSION | SSL_OP_NO_RX_CERTIFICATE_COMPRESSION)
#else
#define TLS_NO_COMPRESSION 0
#endif

/* --- settings that bind lines, lines of a crt-list and servers share ------------------------- */

enum tls_verify { TLS_VERIFY_UNSET, TLS_VERIFY_NONE, TLS_VERIFY_OPTIONAL, TLS_VERIFY_REQUIRED };

enum tls_set_flags {
	TLS_SET_NO_TICKETS = 1 << 0,
	TLS_SET_CLIENT_CIPHERS = 1 << 1, /* prefer-client-ciphers */
	TLS_SET_EARLY_DATA = 1 << 2,     /* allow-0rtt */
	TLS_SET_NO_CA_NAMES = 1 << 3,
	TLS_SET_NO_REUSE = 1 << 4,       /* servers: no-ssl-reuse */
	TLS_SET_NO_ALPN = 1 << 5,
	TLS_SET_STRICT_SNI = 1 << 6,
	/* what a line says against ssl-default-*-options: never beside its opposite */
	TLS_SET_TICKETS = 1 << 7,
	TLS_SET_NO_STRICT_SNI = 1 << 8,
	TLS_SET_RENEGOTIATE = 1 << 9,    /* servers may ask for another handshake, up to TLS 1.2 */
	TLS_SET_NO_RENEGOTIATE = 1 << 10,
	TLS_SET_QUIC = 1 << 11,          /* the line has addresses of QUIC */
};

/* Texts are in the generation's arena; NULL, 0: unset. */
struct tls_settings {
	const char *ciphers, *ciphersuites, *curves, *sigalgs, *client_sigalgs;
	const char *ca_file, *ca_verify_file, *crl_file;
	struct slice alpn;           /* wire format */
	uint16_t min, max;           /* TLS1_2_VERSION... */
	uint8_t off;                 /* bit n: TLS 1.n is disabled */
	uint8_t verify;              /* enum tls_verify */
	uint16_t flags;              /* enum tls_set_flags */
};

/* How large records are; bytes, 0: as large as can be. */
struct tls_records {
	uint16_t first;              /* where a flow begins, or begins again after <idle_ms> */
	uint16_t max;
	uint16_t idle_ms;            /* 0: a flow is never idle */
};

#define TLS_DH_SIZES 3

/* What a line has unless it says otherwise: as `global` says above the line, since there may be
 * several sections of it.
 */
struct tls_defaults {
	struct tls_settings bind, server;  /* ssl-default-bind-*, ssl-default-server-* */
	int64_t dh_bits;                   /* tune.ssl.default-dh-param */
};

/* Of the section `global`, in the configuration's slot. */
struct tls_global {
	const char *ca_base, *crt_base, *key_base;
	const char *issuers_path;
	struct tls_chains *chains;         /* owned: of that directory */
	struct tls_defaults defaults;      /* up to here */
	const struct tls_defaults *taken;  /* a copy of them, for lines; in the arena, or NULL */
	bool server_verify_none;           /* ssl-server-verify none */
	bool extra_replaces_extension;     /* ssl-load-extra-del-ext */
	unsigned extra_files;              /* enum tls_extra */
	EVP_PKEY *dh;                      /* ssl-dh-param-file, owned */
	EVP_PKEY *dh_sizes[TLS_DH_SIZES];  /* tls_dh_prepare(); owned */
	int64_t cache_size, lifetime_s, capture_size;
	int64_t first_record, max_record;  /* tune.ssl.maxrecord, hard-maxrecord; 0: none */
	int64_t idle_ms;                   /* tune.idletimer */
	int64_t forged_max;                /* tune.ssl.ssl-ctx-cache-size */
	int64_t security_level;            /* -1 unset */
	int64_t max_connections, max_rate;
	int64_t keyupdate_rate;            /* tune.ssl.keyupdate-rate-limit; 0: no limit */
	struct tls_phrases *phrases;       /* in the arena, or NULL */
	bool keylog;
	bool fast_aes;                     /* ssl-fast-aes on */
	bool watch;                        /* crt-watch */
	bool no_compression;               /* tune.ssl.certificate-compression off */
	bool ocsp_mode, ocsp_off;          /* ocsp-update.mode, .disable */
	int64_t ocsp_min_s, ocsp_max_s;
	struct addr ocsp_proxy;            /* ADDR_NONE: none */
	struct list ocsps;                 /* struct tls_ocsp.link */
	struct list f_uses;                /* struct tls_f_use.link */
	struct list binds;                 /* struct tls_bind.link */
	struct list servers;               /* struct tls_server.link */
};
extern struct slot tls_global_slot;
struct tls_global *tls_global_of(const struct config *cfg);
/* The defaults that count for the line just read, the same for all until one changes; in the arena.
 */
const struct tls_defaults *tls_defaults_take(struct config *cfg);
struct tls_records tls_records_of(const struct config *cfg);

enum tls_extra {
	TLS_EXTRA_BUNDLE = 1 << 0, TLS_EXTRA_SCTL = 1 << 1, TLS_EXTRA_OCSP = 1 << 2,
	TLS_EXTRA_ISSUER = 1 << 3, TLS_EXTRA_KEY = 1 << 4,
	TLS_EXTRA_ALL = 31,
};

/* crt-watch: begins anew with the files of the live generation, if that wants it (watch.c). Any
 * thread; thread 0.
 */
void tls_watch_start(void);
void tls_watch_stop(void);
/* Tells the administrator; any thread. */
void tls_event(struct config *cfg, const char *text);
/* The generation that commands work on; NULL: none has started. It changes under tls_store_lock():
 * a caller that holds this lock works on one generation throughout.
 */
struct config *tls_live(void);
void tls_set_live(struct config *cfg);

/* --- certificates (cert.c): immutable, counted ----------------------------------------------- */

#define TLS_DIGEST 16 /* bytes: SHA-256, cut */

enum tls_key_type { TLS_KEY_RSA, TLS_KEY_ECDSA, TLS_KEY_DSA, TLS_KEY_TYPES };

struct tls_cert {
	unsigned refs;               /* atomic */
	unsigned char digest[TLS_DIGEST]; /* of its leaf, once that is there */
	/* The next three are NULL until tls_cert_open() when the certificate is <closed>. */
	X509 *leaf;
	EVP_PKEY *key;
	STACK_OF(X509) *chain;       /* without the leaf; may be NULL */
	const char *chain_file;      /* of issuers-chain-path; NULL: the chain came with the leaf */
	struct tls_closed *closed;   /* what they are made of; NULL: they are there. Atomic */
	X509 *issuer;                /* of a .issuer file, or NULL */
	enum tls_key_type type;
	unsigned char *ocsp;         /* stapled response, DER; or NULL */
	size_t ocsp_len;
	unsigned char *sctl;
	size_t sctl_len;
	EVP_PKEY *dh;                /* parameters of the file, or NULL */
	char *name;                  /* of its entry, owned; NULL: it has none */
};

/* Chains of issuers-chain-path (chains.c): reads the directory; gives <c> the one that its issuer
 * begins, if it has none itself: the name of the file is borrowed of <chains>.
 */
struct tls_chains;
bool tls_chains_read(struct tls_chains **chains, const char *path);
void tls_chains_free(struct tls_chains **chains);
void tls_chains_complete(const struct tls_chains *chains, struct tls_cert *c);

/* ssl-skip-self-issued-ca: for what is read from now on. */
void tls_cert_skip_self_issued(bool skip);
struct tls_cert *tls_cert_take(struct tls_cert *c);
/* Gives it the name that ssl_fc_crtname tells, before other threads see it. */
void tls_cert_set_name(struct tls_cert *c, const char *name);
/* Makes c->digest of its leaf. */
void tls_cert_digest(struct tls_cert *c);
void tls_cert_drop(struct tls_cert **c);
/* What is read, and by `set ssl cert` changed, apart. */
enum tls_part { TLS_PART_CERT, TLS_PART_KEY, TLS_PART_OCSP, TLS_PART_ISSUER, TLS_PART_SCTL };
/* What the parts of a certificate come from; each may be NULL. */
struct tls_cert_files {
	const char *crt, *key, *ocsp, *issuer, *sctl;
	uint8_t named;               /* bit n: a line names the file of enum tls_part n */
	bool may_lack_key;           /* tokens are verified without */
	bool listed;                 /* by a crt-list, crt-store: companions are not told */
	struct tls_phrases *phrases; /* borrowed: ssl-passphrase-cmd; NULL: none */
};
/* A certificate of PEM texts and files, complete. NULL: the reason is in <why> (<size> bytes).
 * <files>->key becomes the crt file when that has the key. <at_once>: OpenSSL decodes it now, else
 * it may stay closed if what der.h sees of it is in order.
 */
struct tls_cert *tls_cert_load(struct tls_cert_files *files, bool at_once, char *why, size_t size);
/* What a text in base64 says, to free; NULL: it is not. */
unsigned char *tls_base64_read(struct slice text, size_t *len);
/* Another certificate with a part of it from a text (base64 for OCSP and SCTL, else PEM), and the
 * rest of <old>, which may be NULL. It need not be consistent: tls_cert_is_usable(). NULL: <why>.
 */
struct tls_cert *tls_cert_change(const struct tls_cert *old, enum tls_part part, struct slice text,
				 const char *name, char *why, size_t size);
/* Makes leaf, key and chain if they are not there yet: before anybody looks at them. False: no
 * memory, or OpenSSL wants nothing of it. Any thread.
 */
bool tls_cert_open(struct tls_cert *c);
/* Does its key go with its leaf? False: <why>. */
bool tls_cert_is_usable(struct tls_cert *c, const char *name, char *why, size_t size);
/* Has it a private key? It may lack where files->may_lack_key. */
bool tls_cert_has_key(struct tls_cert *c);
/* Calls <name> for each host name of a certificate: its alternative names and its common name. */
void tls_cert_names(const struct tls_cert *c, void (*name)(void *ctx, struct slice name),
		    void *ctx);
/* First reason of OpenSSL's error queue, as messages have it; empties the queue. */
const char *tls_reason(void);

/* --- keys that a passphrase protects (phrases.c) ---------------------------------------------- */

/* The command of ssl-passphrase-cmd. Passphrases that it has told are kept while the process
 * lives: a reload needs them when the process can start no command any more.
 */
struct tls_phrases;
/* <words>, ended by NULL, live in the arena. NULL: no memory. */
struct tls_phrases *tls_phrases_new(struct arena *arena, char *const *words);
/* The private key of a PEM text, read from the file <path>, by a known passphrase or by the
 * command; <phrases> may be NULL. NULL: it has none, or <why> says what is wrong.
 */
EVP_PKEY *tls_phrases_key(const struct tls_phrases *phrases, const char *path, struct slice pem,
			  char *why, size_t size);

/* --- parameters of DHE (dh.c) ----------------------------------------------------------------- */

/* The first ones of a PEM text; NULL: none. */
EVP_PKEY *tls_dh_read(const char *text, size_t len);
/* Makes what tune.ssl.default-dh-param needs. False: OpenSSL cannot. */
bool tls_dh_prepare(struct tls_global *g);
void tls_dh_free(struct tls_global *g);
/* Has the handshake of <ssl>, to which <c> is shown, use the right ones, of <bits> at most where
 * they are well-known ones, or no DHE.
 */
void tls_dh_use(SSL *ssl, const struct tls_global *g, int64_t bits, const struct tls_cert *c);

/* --- the store (store.c): files by name, one copy each --------------------------------------- */

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
	const struct tls_acme *acme; /* in the arena; NULL: nobody asks for it */
	bool jwt;                    /* atomic: tokens may be read with it */
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
/* The entry of a file, read when it is the first time. NULL: <why>. */
struct tls_entry *tls_store_cert(struct config *cfg, const char *path, char *why, size_t size);
/* Same for parts with a name of their own (crt-store); replaces nothing. */
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
/* Same for CA files (and "@system-ca") and revocation lists. */
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

/* --- bind lines (bind.c) ---------------------------------------------------------------------- */

/* One set of settings of a bind line: its own, or those of a line of a crt-list. */
struct tls_ctx {
	struct tls_ctx *next;
	struct tls_settings set;     /* complete */
	const struct tls_settings *own; /* what distinguishes it: compared by address */
	SSL_CTX *ssl;                /* current; under the store's lock once threads run */
	unsigned char identity[32];  /* same: tls_bind_identity() */
	unsigned index;              /* from 0, of its bind line */
};

/* A certificate used by a bind line. */
struct tls_use {
	struct list of_bind, of_entry;
	struct tls_bind *bind;
	struct tls_entry *entry;
	struct tls_ctx *ctx;
	struct tls_settings *own;    /* of a crt-list line; NULL: the line's */
	struct slice *filters;       /* names instead of the certificate's; "!" excludes */
	unsigned filter_count;
	const char *options;         /* as written between brackets; NULL: none */
	const char *list;            /* the crt-list; NULL: crt */
	int line;
	bool is_default;             /* default-crt */
	bool is_for_all;             /* it has a filter "*": a default, which may be deleted */
	bool in_bundle;              /* came by the name without .rsa, .ecdsa, .dsa */
};

struct tls_bind {
	bool on;
	bool early;                  /* atomic: one of its sets allows early data */
	struct tls_settings set;
	struct list uses;            /* struct tls_use.of_bind, in order */
	uint64_t ignore_crt[2], ignore_ca[2]; /* bit n: error n of verification is ignored */
	bool ignore_crt_all, ignore_ca_all;
	struct tls_ctx *ctxs;        /* the first one is the line's */
	struct tls_names *names;     /* current; under the store's lock */
	unsigned version;            /* atomic: of <names> */
	struct tls_seen *seen;       /* per thread: names in use */
	struct tls_tickets *tickets; /* counted, or NULL */
	bool quic;                   /* the line has addresses of QUIC */
	bool forges;                 /* generate-certificates */
	const char *sign_file, *sign_pass;
	struct tls_forge *forge;     /* owned; NULL: none is made */
	struct config *cfg;          /* borrowed: the generation that it is of */
	const struct tls_defaults *defaults; /* where the line stands; in the arena */
	struct tls_place where;
	int64_t capture_size;
	struct tls_records records;
	struct list link;            /* in tls_global.binds */
};
extern struct slot tls_bind_slot;

/* Makes an SSL_CTX with all of <set>, for connections to servers (<back>) or of clients. NULL: the
 * reason is in <why>, to stand before " for bind ...".
 */
SSL_CTX *tls_ctx_make(struct config *cfg, const struct tls_settings *set, bool back, char *why,
		      size_t size);
/* Finds or makes the context of a use whose settings are its own. NULL: <why>. */
struct tls_ctx *tls_bind_ctx(struct tls_bind *b, const struct tls_settings *own, char *why,
			     size_t size);
#define TLS_VERSIONS_OFF \
	(SSL_OP_NO_TLSv1 | SSL_OP_NO_TLSv1_1 | SSL_OP_NO_TLSv1_2 | SSL_OP_NO_TLSv1_3)
/* The bits of these for the versions that the settings leave out. */
uint64_t tls_versions_off(const struct tls_settings *set);
/* Is ssl-max-ver below the default of ssl-min-ver, which is not given? Then it is the lowest
 * version, too.
 */
bool tls_max_is_ambiguous(const struct tls_settings *set);
/* "TLSv1.2", as the settings have it. */
const char *tls_version_text(uint16_t version);
/* Has one handshake allow the versions of <set> only. */
void tls_set_versions(SSL *ssl, const struct tls_settings *set);
/* Fills what is unset in <set> from the defaults. */
void tls_settings_inherit(struct tls_settings *set, const struct tls_settings *from);
/* What is added to a bind line, and how. */
struct tls_add {
	struct config *cfg;
	struct tls_bind *bind;
	struct tls_settings *own;
	struct slice *filters;
	unsigned filter_count;
	const char *options;
	const char *list;
	int line;
	bool is_default;
	struct tls_cert_files files; /* those that the line names; crt NULL */
	uint8_t ocsp_update;         /* enum tls_ocsp_update */
	uint8_t jwt;                 /* enum tls_ocsp_update: "on" or "off", if said */
	char why[512];               /* when it failed */
};
/* Adds a file, a bundle or a directory. False: a->why. */
bool tls_bind_add_path(struct tls_add *a, const char *path);
/* Makes c->ssl anew from its set, and c->identity. False: <why>; nothing has changed. */
bool tls_bind_renew(struct tls_bind *b, struct tls_ctx *c, char *why, size_t size);
/* Reads a crt-list (crt_list.c). False: a->why. */
bool tls_crt_list_read(struct tls_add *a, const char *path);
/* Takes the options at words[*at] up to "]" into <a>. False: a->why. */
bool tls_crt_list_options(struct tls_add *a, char **words, int count, int *at);
/* A line `ssl-f-use` of a proxy (use_conf.c). */
struct tls_f_use {
	struct list link;            /* in tls_global.f_uses, the last one first */
	const char *crt, *list;      /* the certificate, "@<proxy>" */
	const char *file;            /* where the line stands */
	int line;
	struct tls_add add;          /* without the bind line */
};
/* Adds the certificates of <b>'s proxy. False: reported. */
bool tls_f_use_add(struct tls_bind *b, struct diag_list *diags);
/* Adds what one line of it says; the text is changed. */
bool tls_crt_list_line(struct tls_add *a, char *text);
/* The words that may stand between brackets, for -dK. */
void tls_crt_list_dump(FILE *out);

/* --- what sessions and connections depend on (identity.c) ------------------------------------ */

/* Both under the store's lock at run time. */

/* Of a bind line with <set>, without the certificate: 32 bytes. False: no memory. */
bool tls_bind_identity(const struct tls_bind *b, const struct tls_settings *set,
		       unsigned char *out);
/* What server->identity is to be, never 0. False: no memory. */
bool tls_server_sum(const struct tls_server *s, uint64_t *out);

/* --- certificates made for any name (forge.c) ------------------------------------------------- */

/* Makes them with the authority of a PEM file, whose key <phrase> (or NULL) deciphers; keeps the
 * last <max>. NULL: <why>.
 */
struct tls_forge *tls_forge_new(const char *path, const char *phrase, unsigned max, char *why,
				size_t size);
void tls_forge_free(struct tls_forge **f);
/* One for <host>, with the key of <like>, counted. NULL: no host name, or no memory. Any thread. */
struct tls_cert *tls_forge_cert(struct tls_forge *f, struct slice host, struct tls_cert *like);

/* --- which certificate for which name (names.c) ----------------------------------------------- */

/* What a name leads to: at most one certificate of each type of key. */
struct tls_choice {
	struct tls_cert *cert[TLS_KEY_TYPES];
	struct tls_ctx *ctx[TLS_KEY_TYPES];
	bool is_default;             /* the name is of nobody */
};

/* Builds the names of a bind line anew from its uses and publishes them. Under the store's lock
 * once threads run. False: no memory.
 */
bool tls_names_publish(struct tls_bind *b);
/* The context of <c> in this view; borrowed. */
SSL_CTX *tls_names_ssl(const struct tls_names *n, const struct tls_ctx *c);
/* Has sessions of <ssl>, to which <cert> is shown, belong to it and to <c> as they are now. */
bool tls_names_bind_session(const struct tls_names *n, const struct tls_ctx *c, SSL *ssl,
			    const struct tls_cert *cert);
/* The calling thread's view: valid until its next call. NULL: no memory. */
const struct tls_names *tls_names_get(struct tls_bind *b);
void tls_names_fini(struct tls_bind *b);
/* Looks a host name up; empty: none was given. Types of keys that the name itself has not are those
 * of its wildcard. False: no certificate for it, not even a default one.
 */
bool tls_names_find(const struct tls_names *n, struct slice host, bool strict,
		    struct tls_choice *out);
/* Is <u> for names that nobody has, <first> being the first of its bind line? */
bool tls_use_is_default(const struct tls_use *u, const struct tls_use *first);
/* For commands: each name with what it leads to. */
struct tls_name_row {
	struct slice name;
	bool wildcard, negative;
	const struct tls_use *use;
};
bool tls_names_row(const struct tls_names *n, unsigned i, struct tls_name_row *out);

/* --- hellos (hello.c) ------------------------------------------------------------------------ */

/* What is kept of a client's hello for fetches (tune.ssl.capture-buffer-size). */
struct tls_capture {
	uint64_t cipher_hash;
	uint16_t version;
	uint8_t ec_point_count, alpn_len;
	uint16_t cipher_len, extension_len, curve_len, sigalg_len, versions_len;
	/* behind it: ciphers, extension types, curves, point formats, signature algorithms,
	 * versions, first ALPN, each as it was sent
	 */
	unsigned char bytes[];
};
/* Callback of OpenSSL for the ClientHello; looks at tls_now(). */
int tls_hello_callback(SSL *ssl, int *alert, void *arg);

/* What is shown beside a leaf to clients that ask for it (shown.c), and its name, as "show ssl
 * cert" has it; copied, lives with the leaf. OCSP answers may be replaced while it is used;
 * <until>: of these. False: no memory.
 */
enum tls_shown { TLS_SHOWN_OCSP, TLS_SHOWN_SCTL, TLS_SHOWN_NAME };
#define TLS_SHOWN_PLACES 3
bool tls_shown_set(X509 *leaf, enum tls_shown what, const unsigned char *bytes, size_t len,
		   time_t until);
/* What was set as TLS_SHOWN_NAME; it lives with the leaf. slice_none(): nothing. */
struct slice tls_shown_name(X509 *leaf);
/* Makes room in a leaf that nobody uses yet. */
void tls_shown_prepare(X509 *leaf);
/* Has <ctx> show these. */
void tls_shown_attach(SSL_CTX *ctx);
bool tls_shown_init(void);
/* Is this a list of timestamps (RFC 6962 3.3)? Its signatures are not looked at. */
bool tls_sctl_is_list(const unsigned char *p, size_t len);
/* May this answer be stapled to <c>, which is open (ocsp.c)? NULL: yes, until *expires; else why
 * not.
 */
const char *tls_ocsp_check(const struct tls_cert *c, const unsigned char *der, size_t len,
			   time_t *expires);

/* --- connections (conn.c) --------------------------------------------------------------------- */

enum tls_conn_flags {
	TLS_FL_BACK = 1 << 0,
	TLS_FL_DONE = 1 << 1,     /* the handshake is over */
	TLS_FL_FAILED = 1 << 2,   /* OpenSSL allows no further call */
	TLS_FL_SHUT = 1 << 3,     /* our close_notify was made */
	TLS_FL_LATER = 1 << 4,    /* in one of the thread's lists of what is sent later */
	TLS_FL_COUNTED = 1 << 5,  /* in the figures */
	TLS_FL_HELD = 1 << 6,     /* one byte of the sender's was encrypted already */
	TLS_FL_EARLY = 1 << 7,    /* early data may come */
	TLS_FL_EARLY_END = 1 << 8, /* all of it has come */
	TLS_FL_EOF = 1 << 9,
	TLS_FL_HAD_EARLY = 1 << 10,
	TLS_FL_SHUT_LATER = 1 << 11, /* our end is to be sent when the handshake is over */
	TLS_FL_EARLY_SENT = 1 << 12, /* to a server, some */
	TLS_FL_EARLY_REFUSED = 1 << 13, /* which the server did not take */
	TLS_FL_PLACE = 1 << 14, /* it has one of the places of maxsslconn */
	TLS_FL_BLOCKED = 1 << 15, /* nothing can be sent before another handshake is over */
};

struct tls_conn {
	SSL *ssl;
	struct conn *conn;
	union {
		struct tls_bind *bind;
		struct tls_server *server;
	};
	struct tls_capture *capture; /* owned; NULL: none */
	char **secrets;              /* TLS_SECRETS texts, owned; NULL: none (keylog.c) */
	unsigned char *out;          /* encrypted, unsent; owned */
	uint32_t out_len, out_at;
	struct tls_early *early;     /* owned; NULL: none (early.c) */
	struct tls_records records;
	uint32_t flowed, sent_ms;    /* with records.first: bytes of this flow, last date */
	uint32_t error;              /* of OpenSSL, the first that ended something; 0 none */
	uint16_t flags;              /* enum tls_conn_flags */
	uint8_t peer_error, ca_error, ca_depth; /* of verification: ignored or not */
	uint32_t early_room;         /* towards a server: bytes that it still takes early */
	uint64_t identity;           /* towards a server: server->identity when it began */
	/* KeyUpdate messages received in this second; UINT32_MAX: too many */
	uint32_t updates, updates_s;
	struct list later;
	struct tls_quic *quic;       /* owned; NULL: it is no connection of QUIC (quic.c) */
};

extern const struct transport transport_tls;
/* OpenSSL's message callback: tells of hellos, counts KeyUpdate; <rate>: how many a second are not
 * too many, 0: any number (key_update.c).
 */
void tls_message_seen(int sent, int version, int type, const void *bytes, size_t len,
		      SSL *ssl, void *rate);

/* A ClientHello came, with the header of the handshake: tls_hello_callback() follows (hello.c). */
void tls_hello_seen(const void *message, size_t len);

/* --- sizes of records (records.c) ------------------------------------------------------------ */

#define TLS_RECORD_MAX 16384
/* So many bytes without a pause are a bulk transfer. */
#define TLS_FLOW_IS_BULK (64 * 1024)
/* How many bytes the next record takes. */
size_t tls_record_size(const struct tls_conn *t);
/* With records.first, before bytes are sent: a new flow begins after a pause. */
void tls_flow_begins(struct tls_conn *t);

/* --- early data of clients (early.c) --------------------------------------------------------- */

/* Most of it. */
#define TLS_EARLY_MAX (15 * 1024)
/* A session must be found in the cache to be resumed, where it is found once (session.c). That of
 * OpenSSL, which it would do this with by itself, is another for each process and context.
 */
#define TLS_EARLY_OPTIONS (SSL_OP_NO_TICKET | SSL_OP_NO_ANTI_REPLAY)
/* Is the connection used although its handshake is not over? */
static inline bool tls_early_goes_on(const struct tls_conn *t)
{
	return (t->flags & (TLS_FL_HAD_EARLY | TLS_FL_DONE | TLS_FL_FAILED)) == TLS_FL_HAD_EARLY;
}
/* Does what we send reach a server before the handshake is over? */
static inline bool tls_sends_early(const struct tls_conn *t)
{
	return !(t->flags & TLS_FL_DONE) && t->flags & TLS_FL_BACK;
}
/* Reads what there is of it, with OpenSSL at work for <t>. True: all has come, or there is none. */
bool tls_early_read(struct tls_conn *t);
/* Gives what was read. */
size_t tls_early_take(struct tls_conn *t, char *p, size_t room);
/* The handshake is over, or failed: wakes who waits for it. */
void tls_early_over(struct tls_conn *t);
void tls_early_free(struct tls_conn *t);

/* --- early data to servers (early.c) ---------------------------------------------------------- */

/* Handshakes with servers, see transport.handshake: may bytes be sent before it has begun? */
bool tls_early_begins(struct tls_conn *t);
/* How many bytes can be sent now; 0: none before the handshake is over. */
size_t tls_early_room(const struct tls_conn *t);
/* Notes that so many were sent. */
void tls_early_sent(struct tls_conn *t, size_t len);
/* The handshake is over. False: the server has not taken what was sent. */
bool tls_early_was_taken(struct tls_conn *t);

/* The TLS state of a connection; NULL: it has none. */
static inline struct tls_conn *tls_of(const struct conn *c)
{
	return c && c->transport->is_tls ? c->transport_ctx : NULL;
}

/* tune.ssl.keylog (keylog.c): connections of <ctx> keep their secrets. */
#define TLS_SECRETS 7
void tls_keylog_attach(SSL_CTX *ctx);
void tls_secrets_free(char ***secrets);

/* Everything between these two is done for <c>; the second sends what was made. */
SSL *tls_enter(struct conn *c);
enum io tls_leave(struct conn *c, bool more);
/* The handshake is over, well. */
void tls_handshake_done(struct conn *c);
/* Connections of <ctx> may be of QUIC (quic_hooks.c). False: no memory. */
bool tls_quic_attach(SSL_CTX *ctx);
/* A hello came: does it have, if it is of QUIC, what it must? False: *alert. */
bool tls_quic_hello(SSL *ssl, int *alert);
/* The connection that OpenSSL works for now, for its callbacks. */
struct conn *tls_now(void);
/* Puts TLS on <c>; takes over <ssl>, also on failure. False: no memory. */
bool tls_attach(struct conn *c, SSL *ssl, unsigned flags);
bool tls_conn_init(void);
bool tls_conn_thread_init(void);
void tls_conn_thread_fini(void);
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
/* Counts connections and what handshakes do: see tls_get_figures(). False: above maxsslconn. */
bool tls_count_open(struct tls_conn *t);
void tls_uncount(struct tls_conn *t);
void tls_count_handshake(bool back, bool resumed);

/* Callback of verification, for both sides. */
int tls_verify_callback(int ok, X509_STORE_CTX *ctx);

/* transport.alpn (early.c) */
struct slice tls_alpn(const struct conn *c);
/* "RSA2048", "EC256" (info.c). */
struct slice tls_cert_key_name(X509 *x, char *room, size_t size);
/* "RSA-SHA256"; static. */
struct slice tls_cert_signature_name(X509 *x);

/* --- sessions and tickets (session.c) --------------------------------------------------------- */

/* Has the server side of <ctx> keep sessions in the process's cache. */
void tls_cache_attach(SSL_CTX *ctx);
bool tls_cache_set_size(int64_t sessions);
void tls_cache_free(void);
void tls_cache_figures(uint64_t *lookups, uint64_t *misses);
/* Ticket keys of a file, shared by all lines that name it; counted. NULL: <why>. */
struct tls_tickets *tls_tickets_get(struct config *cfg, const char *path, char *why, size_t size);
void tls_tickets_drop(struct tls_tickets **t);
struct strbuf;
/* For commands, under the store's lock: the files ("0 (name)"), or the keys of <which>, "*" for
 * all; and a key more, of base64. False: *error.
 */
void tls_tickets_show(struct strbuf *out, const char *which);
bool tls_tickets_add(const char *which, const char *key, const char **error);
/* Has <ctx> use the keys of the bind line of tls_now(). */
void tls_tickets_attach(SSL_CTX *ctx);
/* Has <ctx>, whose line names no file of keys, use some of this process: the same for the same
 * <identity> (SHA256_DIGEST_LENGTH bytes), so that tickets outlive a reload.
 */
void tls_ticket_keys_derive(SSL_CTX *ctx, const unsigned char *identity);

/* --- servers (server.c) ----------------------------------------------------------------------- */

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

/* --- keywords (settings.c; more in settings_priv.h) ------------------------------------------- */

#endif
