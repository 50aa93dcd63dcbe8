/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind_priv.h - bind lines with `ssl`: certificates, crt-lists, contexts (bind.c, crt_list.c,
 * use_conf.c, f_use.c)
 *
 * Owns   : its uses, contexts and names; entries belong to the store.
 * Threads: filled while the configuration is read; then changed under the store's lock.
 * Errors : a text for the administrator in <why>, to be printed before " for bind ...".
 */
#ifndef TLS_BIND_PRIV_H
#define TLS_BIND_PRIV_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "base/list.h"
#include "base/slice.h"
#include "base/slot.h"
#include "cert_priv.h"
#include "conf/conf.h"
#include "line_priv.h"
#include "tls/tls.h"

struct tls_bind;
struct tls_defaults;
struct tls_entry;
struct tls_forge;
struct tls_names;
struct tls_seen;
struct tls_tickets;

/* One set of settings of a bind line: the line's own, or those of a crt-list line. */
struct tls_ctx {
	struct tls_ctx *next;
	struct tls_settings set;     /* complete */
	const struct tls_settings *own; /* identifies it: compared by address */
	SSL_CTX *ssl;                /* current; under the store's lock once threads run */
	unsigned char identity[32];  /* likewise: tls_bind_identity() */
	unsigned index;              /* from 0, within its bind line */
};

/* A certificate used by a bind line. */
struct tls_use {
	struct list of_bind, of_entry;
	struct tls_bind *bind;
	struct tls_entry *entry;
	struct tls_ctx *ctx;
	struct tls_settings *own;    /* settings of a crt-list line; NULL: the bind line's */
	struct slice *filters;       /* names that replace the certificate's; "!" excludes */
	unsigned filter_count;
	const char *options;         /* as configured between brackets; NULL: none */
	const char *list;            /* the crt-list; NULL: from crt */
	int line;
	bool is_default;             /* default-crt */
	bool is_for_all;             /* it has a filter "*": a default, which may be deleted */
	bool in_bundle;              /* came by the name without .rsa, .ecdsa, .dsa */
	unsigned row, rows;          /* of its names in <names> of the bind line (names.c) */
};

struct tls_bind {
	bool on;
	bool early;                  /* atomic: a set allows early data */
	struct tls_settings set;
	struct list uses;            /* struct tls_use.of_bind, in order */
	uint64_t ignore_crt[2], ignore_ca[2]; /* bit n: error n of verification is ignored */
	bool ignore_crt_all, ignore_ca_all;
	struct tls_ctx *ctxs;        /* the first one belongs to the line */
	struct tls_names *names;     /* current; under the store's lock */
	unsigned version;            /* atomic: of <names> */
	struct tls_seen *seen;       /* per thread: names in use */
	struct tls_tickets *tickets; /* counted, or NULL */
	bool quic;                   /* the line has QUIC addresses */
	bool forges;                 /* generate-certificates */
	const char *sign_file, *sign_pass;
	struct tls_forge *forge;     /* owned; NULL: none is made */
	struct config *cfg;          /* borrowed: its generation */
	const struct tls_defaults *defaults; /* at the line; in the arena */
	struct tls_place where;
	int64_t capture_size;
	struct tls_records records;
	struct list link;            /* in tls_global.binds */
};
extern struct slot tls_bind_slot;

/* Finds or creates the context of a use with its own settings. NULL: see <why>. */
struct tls_ctx *tls_bind_ctx(struct tls_bind *b, const struct tls_settings *own, char *why,
			     size_t size);

/* A certificate being added to a bind line. */
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
	struct tls_cert_files files; /* those named by the line; crt is NULL */
	uint8_t ocsp_update;         /* enum tls_ocsp_update */
	uint8_t jwt;                 /* enum tls_ocsp_update: "on" or "off", if said */
	bool lost_names;             /* names stood before the options: they do not count */
	const char *mark;            /* what stands between the line's place and why; NULL: no
				      * place is told by commands
				      */
	char why[512];               /* when it failed */
};
/* Adds a file, a bundle or a directory. False: see a->why. */
bool tls_bind_add_path(struct tls_add *a, const char *path);
/* Creates c->ssl again from its set, and c->identity. False: see <why>; nothing has changed. */
bool tls_bind_renew(struct tls_bind *b, struct tls_ctx *c, char *why, size_t size);
/* Reads a crt-list that <l> names (crt_list.c). False: a->why. */
bool tls_crt_list_read(struct conf_line *l, struct tls_add *a, const char *path);
/* Takes the options at words[*at] up to "]" into <a>. False: a->why. */
bool tls_crt_list_options(struct tls_add *a, char **words, int count, int *at);
/* A line `ssl-f-use` of a proxy (use_conf.c). */
struct tls_f_use {
	struct list link;            /* in tls_global.f_uses, the last one first */
	const char *crt, *list;      /* the certificate, "@<proxy>" */
	const char *file;            /* where the line is */
	int line;
	struct tls_add add;          /* without the bind line */
};
/* Adds the certificates of `ssl-f-use` lines to <b>. False: reported. */
bool tls_f_use_add(struct tls_bind *b, struct diag_list *diags);
/* Empties what a line of a list may say. */
void tls_crt_list_bare(struct tls_add *a);
/* Takes what a line says into <a>; *cert, in the arena: its certificate, NULL: the line is empty.
 * Nothing is added. False: a->why.
 */
bool tls_crt_list_words(struct tls_add *a, const char *text, const char **cert);
/* Adds what a line says. False: a->why. */
bool tls_crt_list_line(struct tls_add *a, const char *text);
/* The words that may stand between brackets, for -dK. */
void tls_crt_list_dump(FILE *out);

#endif
