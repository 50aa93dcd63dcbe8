/* SPDX-License-Identifier: GPL-2.0-or-later */
/* global_priv.h - TLS settings of section `global` (global.c), and the live generation
 *
 * Owns   : owned by the configuration.
 * Threads: filled while the configuration is read, then read-only, except its lists, which change
 *          under the store's lock (store_priv.h).
 */
#ifndef TLS_GLOBAL_PRIV_H
#define TLS_GLOBAL_PRIV_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/addr.h"
#include "base/list.h"
#include "base/slot.h"
#include "line_priv.h"

struct config;
struct tls_chains;
struct tls_phrases;

#define TLS_DH_SIZES 3

/* Defaults for a line: those of `global` above the line, since there may be several such sections.
 */
struct tls_defaults {
	struct tls_settings bind, server;  /* ssl-default-bind-*, ssl-default-server-* */
	int64_t dh_bits;                   /* tune.ssl.default-dh-param */
};

/* Settings of section `global`, in the configuration's slot. */
struct tls_global {
	const char *ca_base, *crt_base, *key_base;
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
/* Returns the defaults for the line just read; shared by lines until one changes; in the arena. */
const struct tls_defaults *tls_defaults_take(struct config *cfg);
struct tls_records tls_records_of(const struct config *cfg);

enum tls_extra {
	TLS_EXTRA_BUNDLE = 1 << 0, TLS_EXTRA_SCTL = 1 << 1, TLS_EXTRA_OCSP = 1 << 2,
	TLS_EXTRA_ISSUER = 1 << 3, TLS_EXTRA_KEY = 1 << 4,
	TLS_EXTRA_ALL = 31,
};

/* crt-watch: restarts with the files of the live generation, if it is enabled (watch.c).
 * tls_watch_start(): any thread; tls_watch_stop(): thread 0.
 */
void tls_watch_start(void);
void tls_watch_stop(void);
/* Reports an event to the administrator. Any thread. */
void tls_event(struct config *cfg, const char *text);
/* Returns the generation that commands work on; NULL: none has started. It changes under
 * tls_store_lock(): a caller that holds this lock works on one generation throughout.
 */
struct config *tls_live(void);
void tls_set_live(struct config *cfg);

#endif
