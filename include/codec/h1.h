/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* h1.h - parses HTTP/1.x message heads: start line, fields and framing
 *
 * A parser reads one head from contiguous bytes that begin with the head's first byte. It may be
 * called again when more bytes have been appended: it continues at the line where it stopped. The
 * bytes may have moved meanwhile. One pass yields the start line, the fields with their numbers and
 * how the body is delimited. Everything that is lax or ambiguous on the wire is decided here (RFC
 * 9112): no code above parses Content-Length or Transfer-Encoding again.
 *
 * Writes  : the bytes must be writable: field names are converted to lower case, folded lines are
 *           joined (by spaces) and list elements are removed (see Removed) in place. Nothing else
 *           changes.
 * Owns    : nothing. All slices point into the input.
 * Threads : any; the only state is the parser's.
 * Fails   : H1_ERROR with a kind, the offset of the byte and the status to answer to a request.
 * Removed : fields with framing mistakes that are harmless once decided: repeated identical Host
 *           and Content-Length, Content-Length beside Transfer-Encoding, both in 1xx and 204
 *           responses and, when violations are accepted, fields with an invalid name. Also what is
 *           for this hop only: "close" and "keep-alive" in Connection; in requests "h2c" in
 *           Upgrade, an Upgrade field or an "upgrade" token without the other, codings in TE; the
 *           scheme's own port in an absolute form and in Host.
 * Not here: only the caller knows whether a 101 answers a request that asked for it.
 * See     : manual, "option accept-unsafe-violations-in-http-request".
 */
#ifndef CODEC_H1_H
#define CODEC_H1_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/slice.h"
#include "codec/field_names.h"

enum h1_status { H1_MORE, H1_DONE, H1_ERROR };

/* X(symbol, status to answer, "meaning") */
#define H1_ERRORS(X) \
	X(NONE, 0, "no error") \
	X(START_LINE, 400, "malformed start line") \
	X(METHOD, 400, "invalid character in method") \
	X(URI, 400, "invalid request target") \
	X(VERSION, 400, "invalid protocol version") \
	X(STATUS_CODE, 400, "invalid status code") \
	X(REASON, 400, "invalid character in reason phrase") \
	X(BARE_CR, 400, "CR without LF") \
	X(FIELD_NAME, 400, "invalid field name") \
	X(FIELD_VALUE, 400, "invalid character in field value") \
	X(TOO_MANY_FIELDS, 400, "too many fields") \
	X(HOST, 400, "invalid, conflicting or mismatching Host") \
	X(CONTENT_LENGTH, 400, "invalid or conflicting Content-Length") \
	X(TRANSFER_ENCODING, 400, "invalid Transfer-Encoding") \
	X(TRANSFER_CODING, 422, "unsupported transfer coding") \
	X(PAYLOAD, 413, "payload in a request that may not have one") \
	X(WEBSOCKET, 400, "missing WebSocket key") \
	X(CHUNK_SIZE, 400, "invalid chunk size") \
	X(CHUNK_EXTENSION, 400, "invalid or too long chunk extension") \
	X(CHUNK_END, 400, "chunk not followed by CRLF") \
	X(TRAILER, 400, "invalid trailer")

enum h1_error {
#define X(symbol, status, text) H1_ERR_##symbol,
	H1_ERRORS(X)
#undef X
};

/* The well-known methods. Numbered like enum http_method. */
enum h1_method {
	H1_METHOD_OTHER, H1_METHOD_OPTIONS, H1_METHOD_GET, H1_METHOD_HEAD, H1_METHOD_POST,
	H1_METHOD_PUT, H1_METHOD_DELETE, H1_METHOD_TRACE, H1_METHOD_CONNECT, H1_METHOD_PATCH
};

/* The form of a request target (RFC 9112 3.2). */
enum h1_target { H1_TARGET_ORIGIN, H1_TARGET_ABSOLUTE, H1_TARGET_AUTHORITY, H1_TARGET_ASTERISK };

/* How the body ends. */
enum h1_body {
	H1_BODY_NONE,    /* no body */
	H1_BODY_LENGTH,  /* content_length bytes, not 0 */
	H1_BODY_CHUNKED, /* codec/chunk.h */
	H1_BODY_CLOSE,   /* a response up to the end of the connection */
	H1_BODY_TUNNEL   /* no more HTTP: 101, or 2xx to CONNECT (responses only) */
};

/* Options of a parser. */
#define H1_OPT_RESPONSE    0x01 /* a response, else a request */
#define H1_OPT_UNSAFE      0x02 /* option accept-unsafe-violations-in-http-{request,response} */
#define H1_OPT_ANY_PAYLOAD 0x04 /* h1-accept-payload-with-any-method */
#define H1_OPT_TO_HEAD     0x08 /* response to a HEAD request: no body follows */
#define H1_OPT_TO_CONNECT  0x10 /* response to a CONNECT request: 2xx opens a tunnel */

/* Facts about a head. */
#define H1_FL_HOST            0x0001 /* has a Host field (host_index) */
#define H1_FL_CONTENT_LENGTH  0x0002 /* has a Content-Length (even 0) and no Transfer-Encoding */
#define H1_FL_TRANSFER_ENC    0x0004 /* has Transfer-Encoding */
#define H1_FL_CHUNKED         0x0008 /* whose last transfer coding is chunked */
#define H1_FL_INSECURE_TE     0x0010 /* Transfer-Encoding beside Content-Length, or in HTTP/1.0: the
				      * connection should not be reused after this message
				      */
#define H1_FL_CONN_CLOSE      0x0020 /* Connection: close */
#define H1_FL_CONN_KEEP_ALIVE 0x0040 /* Connection: keep-alive */
#define H1_FL_CONN_UPGRADE    0x0080 /* Connection: upgrade */
#define H1_FL_CONN_OTHER      0x0100 /* Connection has other tokens */
#define H1_FL_UPGRADE         0x0200 /* has Upgrade and Connection: upgrade */
#define H1_FL_WEBSOCKET       0x0400 /* the Upgrade lists websocket */
#define H1_FL_EXPECT_CONTINUE 0x0800 /* Expect: 100-continue (HTTP/1.1 or later) */
/* the sender will keep the connection after this message: computed from version, Connection and
 * body
 */
#define H1_FL_KEEP_ALIVE      0x1000
#define H1_FL_BARE_LF         0x2000 /* a line ended with LF only */
#define H1_FL_VIOLATION       0x4000 /* accepted only because of H1_OPT_UNSAFE (show errors) */
#define H1_FL_FOLDED          0x8000 /* a field was folded over several lines */
#define H1_FL_CODING         0x10000 /* a transfer coding other than chunked (always refused) */
#define H1_FL_WS_KEY         0x20000 /* has a plausible Sec-WebSocket-Key */
#define H1_FL_WS_ACCEPT      0x40000 /* has Sec-WebSocket-Accept */
/* the lines of the fields are not exactly the fields in order, with ": " and CRLF; or some are
 * about the framing or the connection, other than a plain Content-Length
 */
#define H1_FL_UNTIDY         0x80000

struct h1_field {
	struct slice name;  /* lower case, not empty */
	struct slice value; /* without surrounding blanks, may be empty */
	uint8_t id;         /* FIELD_* */
};

struct h1_head {
	/* set by the caller: where fields go. tune.http.maxhdr N means a capacity of N - 1 */
	struct h1_field *fields;
	uint16_t field_capacity;

	/* results, valid after H1_DONE */
	uint16_t field_count;
	int16_t host_index;        /* index of the Host field in fields, -1: none */
	uint16_t status;           /* responses */
	uint16_t major, minor;     /* as written; 1.2 and above behave as 1.1 */
	uint8_t method_id;         /* enum h1_method */
	uint8_t target;            /* enum h1_target */
	uint8_t body;              /* enum h1_body */
	uint32_t flags;            /* H1_FL_* */
	uint64_t content_length;   /* with H1_FL_CONTENT_LENGTH, else 0 */
	size_t length;             /* bytes of the head, including the final empty line */
	struct slice method, uri;  /* requests */
	struct slice version;      /* "HTTP/1.1"; empty for HTTP/0.9 */
	struct slice reason;       /* responses, may be empty */
};

struct h1_parser {
	uint8_t options;      /* H1_OPT_* */
	uint8_t phase;        /* private */
	uint8_t error;        /* enum h1_error after H1_ERROR */
	uint16_t dropped;     /* private */
	uint32_t line;        /* private: offset of the first unparsed line */
	uint32_t error_offset; /* of the refused byte */
	const char *base;     /* private: address of the input at the last call */
};

/* Prepares <p> for parsing a head. */
static inline void h1_parser_init(struct h1_parser *p, uint8_t options)
{
	*p = (struct h1_parser){ .options = options };
}

/* Parses the head at the start of <input>. The bytes of earlier calls must be unchanged, at the
 * same address or not. The caller sets <out>->fields and field_capacity, and must pass the same
 * <out> in all calls. H1_MORE: valid so far, call again with more bytes. H1_DONE: <out> is
 * complete, out->length bytes were used. H1_ERROR: p->error. Empty lines before the start line are
 * skipped and count in the length. Inputs are limited to 4 GB.
 */
enum h1_status h1_parse_head(struct h1_parser *p, struct slice input, struct h1_head *out);

/* Returns the offset of the violation in <head>, the bytes of a head with H1_FL_VIOLATION: a byte
 * of the target, the status or a name. The length of <head>: something is missing, or wrong as a
 * whole.
 */
size_t h1_violation_at(struct slice head, bool is_response);

/* Has the parser met a start line yet? Distinguishes a stray CRLF on an idle connection from a
 * request.
 */
bool h1_parser_has_begun(const struct h1_parser *p, struct slice input);
/* Is it still in the request line? If no more bytes fit: 414 then, else 431. */
bool h1_parser_in_start_line(const struct h1_parser *p);

/* Return the text of an error, and the status that answers such a request. */
const char *h1_error_text(uint8_t error);
int h1_error_status(uint8_t error);

/* Does <input> start with the HTTP/2 client preface (RFC 9113 3.4)? H1_ERROR: no, H1_MORE: too
 * short.
 */
enum h1_status h1_match_preface(struct slice input);

/* Returns the method of a name (case matters). */
uint8_t h1_method_of(struct slice name);

/* Is it a method that requests must not have? The HTTP/2 preface begins with it (RFC 9113 11.6). */
static inline bool h1_method_is_reserved(uint8_t id, struct slice name)
{
	return id == H1_METHOD_OTHER && slice_eq(name, SLICE("PRI"));
}

/* Is <s> a token (RFC 9110 5.6.2): not empty, and token characters only? */
bool h1_is_token(struct slice s);

/* Iterates over a comma-separated list: sets <element> to the next non-empty element without
 * blanks, and moves <list> past it. False at the end. Commas inside quotes do not separate.
 */
bool h1_list_next(struct slice *list, struct slice *element);

#endif
