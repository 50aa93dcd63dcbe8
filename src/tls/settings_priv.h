/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settings_priv.h - parsers for the keywords of bind lines, servers and crt-lists (settings.c)
 *
 * Each parser sets a member of the settings that tls_settings_of() finds for the line: those in the
 * slot of the bind line or server, or line->object.
 */
#ifndef TLS_SETTINGS_PRIV_H
#define TLS_SETTINGS_PRIV_H

#include <stddef.h>
#include "conf/conf.h"
#include "line_priv.h"
#include "server_priv.h"

/* Returns the server's settings for a server line. Out of memory: reported, and the settings that
 * follow are lost.
 */
struct tls_server *tls_server_of_line(struct conf_line *l);
bool tls_parse_text(struct conf_line *l);        /* keyword->offset: of the text */
bool tls_parse_ca_file(struct conf_line *l);     /* likewise; keyword->min: revocation lists */
bool tls_parse_alpn(struct conf_line *l);
bool tls_parse_no_alpn(struct conf_line *l);
bool tls_parse_version(struct conf_line *l);     /* keyword->min: 1 for ssl-max-ver */
bool tls_parse_verify(struct conf_line *l);
bool tls_parse_ktls(struct conf_line *l);        /* the kernel is never used: "on" warns */
bool tls_parse_flag(struct conf_line *l);        /* keyword->min: bits set, max: cleared */
bool tls_parse_option_word(struct conf_line *l); /* the keyword itself is the option */
/* Parses "on", "off" of ocsp-update, as enum tls_ocsp_update. False: neither. */
bool tls_ocsp_update_take(const char *word, uint8_t *out);
/* Parses the words of ssl-default-*-options, for servers or bind lines. */
bool tls_take_options(struct conf_line *l, struct tls_settings *set, bool server);

#define TLS_TEXT(name, where_, section_, member, what, value) \
	{ .words = name, .where = where_, .section = section_, .min_args = 1, \
	  .max_args = 1, .parse = tls_parse_text, .offset = offsetof(struct tls_settings, member), \
	  .syntax = value, .help = what }
#define TLS_FILE(name, where_, section_, member, crl, what) \
	{ .words = name, .where = where_, .section = section_, .min_args = 1, \
	  .max_args = 1, .parse = tls_parse_ca_file, .min = crl, \
	  .offset = offsetof(struct tls_settings, member), .syntax = "<file>", .help = what }

/* Keywords known to all three. <where_>, <section_>: where they are allowed. */
#define TLS_SHARED_KEYWORDS(where_, section_) \
	TLS_TEXT("ciphers", where_, section_, ciphers, "algorithms up to TLS 1.2", "<ciphers>"), \
	TLS_TEXT("ciphersuites", where_, section_, ciphersuites, "algorithms of TLS 1.3", \
		 "<suites>"), \
	TLS_TEXT("curves", where_, section_, curves, "elliptic curves", "<curves>"), \
	TLS_TEXT("sigalgs", where_, section_, sigalgs, "signature algorithms", "<algorithms>"), \
	TLS_TEXT("client-sigalgs", where_, section_, client_sigalgs, \
		 "signature algorithms of client certificates", "<algorithms>"), \
	TLS_FILE("ca-file", where_, section_, ca_file, 0, "authorities that are trusted"), \
	TLS_FILE("crl-file", where_, section_, crl_file, 1, "revoked certificates"), \
	{ .words = "alpn", .where = where_, .section = section_, .max_args = 1, \
	  .parse = tls_parse_alpn, .syntax = "<protocols>", \
	  .help = "protocols offered by ALPN, in order" }, \
	{ .words = "ssl-min-ver", .where = where_, .section = section_, .min_args = 1, \
	  .max_args = 1, .parse = tls_parse_version, .syntax = "<version>", \
	  .help = "lowest version" }, \
	{ .words = "ssl-max-ver", .where = where_, .section = section_, .min_args = 1, \
	  .max_args = 1, .min = 1, .parse = tls_parse_version, .syntax = "<version>", \
	  .help = "highest version" }, \
	{ .words = "ktls", .where = where_, .section = section_, .max_args = 1, \
	  .flags = CONF_EXPERIMENTAL, .parse = tls_parse_ktls, .syntax = "{ on | off }", \
	  .help = "records ciphered by the kernel: never" }, \
	{ .words = "verify", .where = where_, .section = section_, .max_args = 1, \
	  .parse = tls_parse_verify, .syntax = "{ none | optional | required }", \
	  .help = "check the peer's certificate" }
#define TLS_OPTION(name, where_, section_, what) \
	{ .words = name, .where = where_, .section = section_, \
	  .parse = tls_parse_option_word, .help = what }
#define TLS_SHARED_OPTIONS(where_, section_) \
	TLS_OPTION("force-tlsv10", where_, section_, "TLS 1.0 only"), \
	TLS_OPTION("force-tlsv11", where_, section_, "TLS 1.1 only"), \
	TLS_OPTION("force-tlsv12", where_, section_, "TLS 1.2 only"), \
	TLS_OPTION("force-tlsv13", where_, section_, "TLS 1.3 only"), \
	{ .words = "force-sslv3", .where = where_, .section = section_, .flags = CONF_REFUSED, \
	  .help = "SSLv3 only", .hint = "'force-sslv3' : SSLv3 is broken, no library has it " \
	  "any more." }, \
	{ .words = "npn", .where = where_, .section = section_, .flags = CONF_IGNORED, \
	  .max_args = 1, .syntax = "<protocols>", .help = "what ALPN has replaced", \
	  .hint = "'npn' has no effect: ALPN has replaced it, use 'alpn'." }, \
	TLS_OPTION("no-sslv3", where_, section_, "no SSLv3: there is none"), \
	TLS_OPTION("no-tlsv10", where_, section_, "no TLS 1.0"), \
	TLS_OPTION("no-tlsv11", where_, section_, "no TLS 1.1"), \
	TLS_OPTION("no-tlsv12", where_, section_, "no TLS 1.2"), \
	TLS_OPTION("no-tlsv13", where_, section_, "no TLS 1.3"), \
	TLS_OPTION("no-tls-tickets", where_, section_, "sessions are not resumed by tickets"), \
	TLS_OPTION("tls-tickets", where_, section_, "sessions are resumed by tickets")

#endif
