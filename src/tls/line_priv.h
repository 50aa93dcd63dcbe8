/* SPDX-License-Identifier: GPL-2.0-or-later */
/* line_priv.h - settings of lines with `ssl`, shared by bind lines, crt-list lines and servers
 * (inherit.c), and sizes of records
 *
 * Owns   : nothing; texts lie in the arena of their generation.
 * Threads: filled while the configuration is read, then read-only.
 */
#ifndef TLS_LINE_PRIV_H
#define TLS_LINE_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include "base/slice.h"

enum tls_verify { TLS_VERIFY_UNSET, TLS_VERIFY_NONE, TLS_VERIFY_OPTIONAL, TLS_VERIFY_REQUIRED };

enum tls_set_flags {
	TLS_SET_NO_TICKETS = 1 << 0,
	TLS_SET_CLIENT_CIPHERS = 1 << 1, /* prefer-client-ciphers */
	TLS_SET_EARLY_DATA = 1 << 2,     /* allow-0rtt */
	TLS_SET_NO_CA_NAMES = 1 << 3,
	TLS_SET_NO_REUSE = 1 << 4,       /* servers: no-ssl-reuse */
	TLS_SET_NO_ALPN = 1 << 5,
	TLS_SET_STRICT_SNI = 1 << 6,
	/* options of a line that override ssl-default-*-options: never together with their opposite
	 */
	TLS_SET_TICKETS = 1 << 7,
	TLS_SET_NO_STRICT_SNI = 1 << 8,
	TLS_SET_RENEGOTIATE = 1 << 9,    /* servers may renegotiate, up to TLS 1.2 */
	TLS_SET_NO_RENEGOTIATE = 1 << 10,
	TLS_SET_QUIC = 1 << 11,          /* the line has addresses of QUIC */
	TLS_SET_OWN_VERSIONS = 1 << 12,  /* a line of a crt-list tells versions */
};

/* Texts lie in the generation's arena; NULL, 0: unset. */
struct tls_settings {
	const char *ciphers, *ciphersuites, *curves, *sigalgs, *client_sigalgs;
	const char *ca_file, *ca_verify_file, *crl_file;
	struct slice alpn;           /* wire format */
	uint16_t min, max;           /* TLS1_2_VERSION... */
	uint8_t off;                 /* bit n: TLS 1.n is disabled */
	uint8_t verify;              /* enum tls_verify */
	uint16_t flags;              /* enum tls_set_flags */
};

/* Sizes of records in bytes; 0: the maximum. */
struct tls_records {
	uint16_t first;              /* at the start of a flow, and again after <idle_ms> */
	uint16_t max;
	uint16_t idle_ms;            /* 0: a flow is never idle */
};

/* Sets the unset members of <set> to the defaults. */
void tls_settings_inherit(struct tls_settings *set, const struct tls_settings *from);

#endif
