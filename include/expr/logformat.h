/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* logformat.h - log formats: texts with %aliases and %[expressions], compiled once
 *
 * Used for log lines and for every "lf-string" or <fmt> argument. An alias (%ci) is a row of a
 * module's table; an item carries the flags that apply to it (Q, X, E).
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
	LOGFORMAT_MANDATORY = 1 << 3, /* '-' for a missing value */
	/* runs of spaces become one space: log-format and related keywords */
	LOGFORMAT_MERGE = 1 << 4,
	LOGFORMAT_HTTP = 1 << 5,      /* for header fields: control bytes become %XX */
	LOGFORMAT_BINARY = 1 << 6,    /* +bin: bytes as they are */
	LOGFORMAT_PRINTABLE = 1 << 7, /* for logs: control bytes except tabs become #XX */
	LOGFORMAT_JSON = 1 << 8,      /* +json: values, and with %o a map of the named items */
	LOGFORMAT_CBOR = 1 << 9,      /* +cbor: likewise; in hexadecimal unless +bin */
	LOGFORMAT_UTF8 = 1 << 10,     /* +utf8: JSON leaves valid UTF-8 as it is */
	/* with PRINTABLE, for data from clients: " and # are encoded too */
	LOGFORMAT_SAID = 1 << 11,
	/* Options of `log-format`. An lf-string for a body has none. */
	LOGFORMAT_LOG = LOGFORMAT_MANDATORY | LOGFORMAT_MERGE | LOGFORMAT_PRINTABLE,
};

struct logformat_item {
	unsigned options;             /* enum logformat_options */
	struct slice name;            /* "%(name:type)": the key of encodings */
	enum sample_type type;        /* the requested type; SMP_ANY: its own */
	const struct expr_alias *alias; /* NULL: text or expression */
	struct expr *expr;
	struct slice text;
};

enum expr_alias_flags {
	ALIAS_HTTP = 1 << 0,     /* mode http only */
	ALIAS_NUMBER = 1 << 3,   /* encoded as a number */
	ALIAS_PIECES = 1 << 4,   /* data from a client: in CBOR, a sequence of pieces */
	ALIAS_CAPTURES = 1 << 5, /* captured fields: encoded as null if there are none */
	ALIAS_LIST = 1 << 6,     /* encoded as a list: its words, quoted with Q */
	ALIAS_HEX = 1 << 8,      /* hexadecimal digits with +X: then encoded as a text */
	ALIAS_SESSION = 1 << 7,  /* missing if there is no session (health checks) */
};

struct expr_alias {
	const char *name;        /* "ci" */
	/* Writes the value with logformat_put_*(), see below. False: no room, building stops. */
	bool (*print)(struct expr_ctx *ctx, const struct logformat_item *item, struct strbuf *out);
	unsigned phases;         /* enum expr_phase where it has a value; 0: anywhere */
	unsigned flags;          /* enum expr_alias_flags */
	unsigned needs;          /* for the floor above: what must be captured for it */
	const void *data;
	/* Replaces the value where there is no stream (health checks, rules on connections);
	 * <print> is not called then. "": missing. NULL: the alias does not depend on a stream.
	 */
	const char *absent;
	const char *help;
};

struct logformat;

/* Compiles <text>. <phase>: where it will be built (one bit or a mask). NULL: reported. */
struct logformat *logformat_parse(struct conf_line *l, const char *text, unsigned phase,
				  unsigned options);
/* Appends the text. False: no room (the text is cut, out->overflow is set). */
bool logformat_build(const struct logformat *f, struct expr_ctx *ctx, struct strbuf *out);
/* Builds the text in ctx->arena, at most <max> bytes; slice_none(): out of memory. */
struct slice logformat_make(const struct logformat *f, struct expr_ctx *ctx, size_t max);
/* Returns the text if it is constant, else slice_none(). */
struct slice logformat_constant(const struct logformat *f);
/* Returns items one by one, for floors that must prepare what aliases need. NULL: no more. */
const struct logformat_item *logformat_item_at(const struct logformat *f, unsigned index);
/* Return all <needs> of its aliases, and all uses of its expressions. */
unsigned logformat_needs(const struct logformat *f);
unsigned logformat_uses(const struct logformat *f);

/* For alias printers. A missing text becomes '-' if mandatory, else nothing; with Q it is quoted
 * ("" if missing); control bytes are encoded (#XX, %XX); E puts a backslash before '"', ']' and
 * itself.
 */
bool logformat_put_text(const struct logformat_item *item, struct strbuf *out, struct slice text);
/* Writes bytes that need no encoding: names and words of our own; quoted with Q. */
bool logformat_put_word(const struct logformat_item *item, struct strbuf *out, struct slice text);
/* Writes the quote if Q asks for it: around texts made of pieces. */
bool logformat_put_quote(const struct logformat_item *item, struct strbuf *out);
/* Writes a decimal number. <plus>: preceded by '+' ("+12", incomplete values). */
bool logformat_put_int(const struct logformat_item *item, struct strbuf *out, int64_t value,
		       bool plus);
/* Writes a decimal number or, with X, <digits> hexadecimal digits (at most 8): ports (4), %Ts (8),
 * %rt, %pid (4).
 */
bool logformat_put_hex(const struct logformat_item *item, struct strbuf *out, uint32_t value,
		       int digits);
/* Write an IPv4 address (network order), an IPv6 address, or a port; hexadecimal with X, else
 * quoted with Q.
 */
bool logformat_put_ipv4(const struct logformat_item *item, struct strbuf *out, uint32_t ip);
bool logformat_put_ipv6(const struct logformat_item *item, struct strbuf *out,
			const uint8_t ip[16]);
bool logformat_put_port(const struct logformat_item *item, struct strbuf *out, unsigned port);
/* Writes data from a client, manual 8.6: all but printable ASCII, '#' and '"' become #XX, as do the
 * characters of <also> ("" or "{|}" for captured headers). Writes no quotes around it.
 */
bool logformat_put_encoded(const struct logformat_item *item, struct strbuf *out, struct slice text,
			   const char *also);

/* Formats of dates in aliases. */
enum logformat_date {
	LOGFORMAT_DATE_LOCAL_MS, /* 01/Jan/2026:10:20:30.123 */
	LOGFORMAT_DATE_LOCAL,    /* 01/Jan/2026:10:20:30 +0100 */
	LOGFORMAT_DATE_GMT,      /* 01/Jan/2026:09:20:30 +0000 */
};
bool logformat_put_date(const struct logformat_item *item, struct strbuf *out,
			enum logformat_date form, uint64_t wall_us);

/* The formats of `option tcplog`, `option httplog`, `option httplog clf`, `option httpslog` and
 * `option tcplog clf`; manual 8.2.2 to 8.2.4.
 */
extern const char logformat_tcp[], logformat_http[], logformat_clf[], logformat_https[];
/* The NSS key log format, for connections of the frontend and of the server. */
extern const char logformat_keylog_front[], logformat_keylog_back[];
extern const char logformat_tcp_clf[];
/* The formats of `option tcplog json`, `option httplog json` and `option httpslog json`, an
 * extension: JSON objects.
 */
extern const char logformat_tcp_json[], logformat_http_json[], logformat_https_json[];

#endif
