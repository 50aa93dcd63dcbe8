/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* logformat.h - texts with %aliases and %[expressions] in them, compiled once
 *
 * Used for log lines and for every "lf-string" or <fmt> argument. An alias (%ci) is a row of a
 * module's table; an item carries the flags that stand for it (Q, X, E).
 * Owns   : compiled formats belong to the configuration's arena.
 * Threads: immutable once compiled; building writes to the caller's buffer and arena only.
 * Errors : reported at word l->at.
 * Manual : configuration 8.2.6, 8.6.
 */
#ifndef EXPR_LOGFORMAT_H
#define EXPR_LOGFORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/slice.h"
#include "base/strbuf.h"
#include "conf/conf.h"
#include "expr/expr.h"

enum logformat_options {
	LOGFORMAT_QUOTE = 1 << 0,     /* +Q */
	LOGFORMAT_HEX = 1 << 1,       /* +X */
	LOGFORMAT_ESCAPE = 1 << 2,    /* +E */
	LOGFORMAT_MANDATORY = 1 << 3, /* '-' stands for what is missing */
	LOGFORMAT_MERGE = 1 << 4,     /* runs of spaces are one space: log-format and its kin */
	LOGFORMAT_HTTP = 1 << 5,      /* for header fields: control bytes become %XX */
	LOGFORMAT_BINARY = 1 << 6,    /* +bin: bytes as they are */
	LOGFORMAT_PRINTABLE = 1 << 7, /* for logs: control bytes but tabs become #XX */
	LOGFORMAT_JSON = 1 << 8,      /* +json: values, and with %o a map of the named items */
	LOGFORMAT_CBOR = 1 << 9,      /* +cbor: the same; in hexadecimal unless +bin */
	LOGFORMAT_UTF8 = 1 << 10,     /* +utf8: JSON leaves valid UTF-8 as it is */
	/* with PRINTABLE, of what a client said: " and # become codes too */
	LOGFORMAT_SAID = 1 << 11,
	/* What `log-format` asks for. An lf-string for a body asks for nothing. */
	LOGFORMAT_LOG = LOGFORMAT_MANDATORY | LOGFORMAT_MERGE | LOGFORMAT_PRINTABLE,
};

struct logformat_item {
	unsigned options;             /* enum logformat_options */
	struct slice name;            /* "%(name:type)": the key of encodings */
	enum sample_type type;        /* the type asked for; SMP_ANY: its own */
	const struct expr_alias *alias; /* NULL: text or expression */
	struct expr *expr;
	struct slice text;
};

enum expr_alias_flags {
	ALIAS_HTTP = 1 << 0,     /* mode http only */
	ALIAS_NUMBER = 1 << 3,   /* a number to encodings */
	ALIAS_PIECES = 1 << 4,   /* what a client said: pieces to CBOR */
	ALIAS_CAPTURES = 1 << 5, /* captured fields: null to encodings when there are none */
	ALIAS_LIST = 1 << 6,     /* a list to encodings: its words, quoted with Q */
	ALIAS_HEX = 1 << 8,      /* hexadecimal digits with +X: a text to encodings then */
	ALIAS_SESSION = 1 << 7,  /* without a session (health checks) it is missing */
};

struct expr_alias {
	const char *name;        /* "ci" */
	/* Writes the value with the logformat_put_*() below. False: no room, building stops. */
	bool (*print)(struct expr_ctx *ctx, const struct logformat_item *item, struct strbuf *out);
	unsigned phases;         /* enum expr_phase where it has a value; 0: anywhere */
	unsigned flags;          /* enum expr_alias_flags */
	unsigned needs;          /* free for the floor above: what must be captured for it */
	const void *data;
	/* What stands for it where there is no stream (health checks, rules on connections): then
	 * <print> is not called. "": it is missing. NULL: it speaks of no stream.
	 */
	const char *absent;
	const char *help;
};

struct logformat;

/* Compiles <text>. <phase>: where it will be built (one bit or a mask). NULL: reported. */
struct logformat *logformat_parse(struct conf_line *l, const char *text, unsigned phase,
				  unsigned options);
/* Appends the text. False: no room (the text is cut; out->overflow is set). */
bool logformat_build(const struct logformat *f, struct expr_ctx *ctx, struct strbuf *out);
/* Builds into ctx->arena, at most <max> bytes; slice_none(): no memory. */
struct slice logformat_make(const struct logformat *f, struct expr_ctx *ctx, size_t max);
/* The constant text, or slice_none() when it depends on anything. */
struct slice logformat_constant(const struct logformat *f);
/* Items one by one, for floors that must prepare what aliases need. NULL: no more. */
const struct logformat_item *logformat_item_at(const struct logformat *f, unsigned index);
/* All <needs> of its aliases, and all uses of its expressions. */
unsigned logformat_needs(const struct logformat *f);
unsigned logformat_uses(const struct logformat *f);

/* For alias printers. A missing text is '-' where it is mandatory, else nothing; with Q it is
 * quoted ("" when missing); control bytes are encoded (#XX, %XX), E puts a backslash before '"',
 * ']' and itself.
 */
bool logformat_put_text(const struct logformat_item *item, struct strbuf *out, struct slice text);
/* Bytes that need no encoding: names and words of ours; quoted with Q. */
bool logformat_put_word(const struct logformat_item *item, struct strbuf *out, struct slice text);
/* The quote that Q asks for, or nothing: around texts made of pieces. */
bool logformat_put_quote(const struct logformat_item *item, struct strbuf *out);
/* Decimal. <plus>: a '+' stands before ("+12", incomplete values). */
bool logformat_put_int(const struct logformat_item *item, struct strbuf *out, int64_t value,
		       bool plus);
/* Decimal, or with X that many hexadecimal digits (at most 8): ports (4), %Ts (8), %rt, %pid (4).
 */
bool logformat_put_hex(const struct logformat_item *item, struct strbuf *out, uint32_t value,
		       int digits);
/* An IPv4 address (network order) or IPv6; hexadecimal with X, else quoted with Q. */
bool logformat_put_ipv4(const struct logformat_item *item, struct strbuf *out, uint32_t ip);
bool logformat_put_ipv6(const struct logformat_item *item, struct strbuf *out,
			const uint8_t ip[16]);
bool logformat_put_port(const struct logformat_item *item, struct strbuf *out, unsigned port);
/* What comes from a client, manual 8.6: all but printable ASCII, '#' and '"' become #XX, and so do
 * the characters of <also> ("" or "{|}" for captured headers). No quotes around it.
 */
bool logformat_put_encoded(const struct logformat_item *item, struct strbuf *out, struct slice text,
			   const char *also);

/* Dates as the aliases write them. */
enum logformat_date {
	LOGFORMAT_DATE_LOCAL_MS, /* 01/Jan/2026:10:20:30.123 */
	LOGFORMAT_DATE_LOCAL,    /* 01/Jan/2026:10:20:30 +0100 */
	LOGFORMAT_DATE_GMT,      /* 01/Jan/2026:09:20:30 +0000 */
};
bool logformat_put_date(const struct logformat_item *item, struct strbuf *out,
			enum logformat_date form, uint64_t wall_us);

/* What `option tcplog`, `option httplog`, `option httplog clf`, `option httpslog` and `option
 * tcplog clf` stand for; manual 8.2.2 to 8.2.4.
 */
extern const char logformat_tcp[], logformat_http[], logformat_clf[], logformat_https[];
/* The key log format of NSS for the frontend and the server's connection. */
extern const char logformat_keylog_front[], logformat_keylog_back[];
extern const char logformat_tcp_clf[];
/* The formats of `option tcplog json`, `option httplog json` and `option httpslog json`, an
 * extension: objects of JSON.
 */
extern const char logformat_tcp_json[], logformat_http_json[], logformat_https_json[];

#endif
