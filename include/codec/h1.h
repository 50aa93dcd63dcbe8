/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* h1.h - HTTP/1.x message heads: from bytes to a start line, fields and framing
 *
 * A parser reads one head from contiguous bytes which begin with the head's first byte. It may be
 * called again when more bytes came after the same ones: it goes on at the line where it stopped.
 * The bytes may have moved meanwhile. One pass gives the start line, the fields with their small
 * numbers and how the body is delimited; all that is lax or ambiguous on the wire is decided here
 * (RFC 9112), so no code above looks at Content-Length or Transfer-Encoding text again.
 *
 * Writes  : the bytes must be writable: field names are put in lower case, folded lines joined
 *           (by spaces) and list elements taken out (Removed, below) in place. Nothing else
 *           changes.
 * Owns    : nothing. All slices point into the input.
 * Threads : any; no state but the parser's.
 * Fails   : H1_ERROR with a kind, the offset of the byte and the status to answer to a request.
 * Removed : fields which carry only framing mistakes that are harmless once decided: repeated
 *           identical Host and Content-Length, Content-Length beside Transfer-Encoding, both of
 *           them in 1xx and 204 responses, and, when violations are accepted, fields with an
 *           invalid name. Also what is for this hop only: "close" and "keep-alive" in Connection;
 *           in requests "h2c" in Upgrade, an Upgrade field or an "upgrade" token without the other,
 *           codings in TE; the scheme's own port in an absolute form and in Host.
 * Not here: whether a 101 answers a request that asked for it is known to the caller only.
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

/* The well-known methods. Same numbers as enum http_method. */
enum h1_method {
	H1_METHOD_OTHER, H1_METHOD_OPTIONS, H1_METHOD_GET, H1_METHOD_HEAD, H1_METHOD_POST,
	H1_METHOD_PUT, H1_METHOD_DELETE, H1_METHOD_TRACE, H1_METHOD_CONNECT, H1_METHOD_PATCH
};

/* What kind of request target (RFC 9112 3.2). */
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
#define H1_FL_CHUNKED         0x0008 /* whose last coding is chunked */
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
#define H1_FL_KEEP_ALIVE      0x1000 /* the sender will keep the connection after this message,
				      * computed from version, Connection and body
				      */
#define H1_FL_BARE_LF         0x2000 /* some line ended with LF alone */
#define H1_FL_VIOLATION       0x4000 /* accepted only because of H1_OPT_UNSAFE (show errors) */
#define H1_FL_FOLDED          0x8000 /* some field was folded over several lines */
#define H1_FL_CODING         0x10000 /* a transfer coding other than chunked (always refused) */
#define H1_FL_WS_KEY         0x20000 /* has a plausible Sec-WebSocket-Key */
#define H1_FL_WS_ACCEPT      0x40000 /* has Sec-WebSocket-Accept */
#define H1_FL_UNTIDY         0x80000 /* the lines of the fields are not, one behind the other, all
				      * the fields with ": " and CRLF between; or some are of the
				      * framing or the connection, but for a plain Content-Length
				      */

struct h1_field {
	struct slice name;  /* lower case, not empty */
	struct slice value; /* without blanks around, maybe empty */
	uint8_t id;         /* FIELD_* */
};

struct h1_head {
	/* given by the caller: where fields go. tune.http.maxhdr N means a capacity of N - 1 */
	struct h1_field *fields;
	uint16_t field_capacity;

	/* results, valid after H1_DONE */
	uint16_t field_count;
	int16_t host_index;        /* of the Host field in fields, -1: none */
	uint16_t status;           /* responses */
	uint16_t major, minor;     /* as written; 1.2 and above behave as 1.1 */
	uint8_t method_id;         /* enum h1_method */
	uint8_t target;            /* enum h1_target */
	uint8_t body;              /* enum h1_body */
	uint32_t flags;            /* H1_FL_* */
	uint64_t content_length;   /* with H1_FL_CONTENT_LENGTH, else 0 */
	size_t length;             /* bytes of the head, its final empty line included */
	struct slice method, uri;  /* requests */
	struct slice version;      /* "HTTP/1.1"; empty for HTTP/0.9 */
	struct slice reason;       /* responses, maybe empty */
};

struct h1_parser {
	uint8_t options;      /* H1_OPT_* */
	uint8_t phase;        /* private */
	uint8_t error;        /* enum h1_error after H1_ERROR */
	uint16_t dropped;     /* private */
	uint32_t line;        /* private: offset of the first line not parsed yet */
	uint32_t error_offset; /* of the byte that was refused */
	const char *base;     /* private: where the input was at the last call */
};

/* Prepares <p> for a head. */
static inline void h1_parser_init(struct h1_parser *p, uint8_t options)
{
	*p = (struct h1_parser){ .options = options };
}

/* Parses the head at the start of <input>, of which all earlier bytes must be the same as in the
 * calls before (at the same place or not). <out>->fields and field_capacity are set by the caller;
 * <out> must stay the same one between calls. H1_MORE: nothing is wrong so far, call again with
 * more bytes; H1_DONE: <out> is complete and out->length bytes were used; H1_ERROR: p->error.
 * Empty lines before the start line are skipped and count in the length. Inputs end at 4 GB.
 */
enum h1_status h1_parse_head(struct h1_parser *p, struct slice input, struct h1_head *out);

/* Where <head>, the bytes of one with H1_FL_VIOLATION, has what should not be: a byte of a target,
 * of a status or of a name; its end: what it lacks, or says as a whole.
 */
size_t h1_violation_at(struct slice head, bool is_response);

/* Has the parser met a start line yet? Tells an idle connection's stray CRLF from a request. */
bool h1_parser_has_begun(const struct h1_parser *p, struct slice input);
/* Is it still in the request line? When no more bytes fit: 414 then, 431 otherwise. */
bool h1_parser_in_start_line(const struct h1_parser *p);

/* The meaning of an error for humans, and the status which answers a request. */
const char *h1_error_text(uint8_t error);
int h1_error_status(uint8_t error);

/* Does <input> start with the HTTP/2 client preface (RFC 9113 3.4)? H1_ERROR: it cannot. */
enum h1_status h1_match_preface(struct slice input);

/* The method of a name (case matters). */
uint8_t h1_method_of(struct slice name);

/* Is it a method that no request may have? HTTP/2's preface begins with it (RFC 9113 11.6). */
static inline bool h1_method_is_reserved(uint8_t id, struct slice name)
{
	return id == H1_METHOD_OTHER && slice_eq(name, SLICE("PRI"));
}

/* Is every byte a token character (RFC 9110 5.6.2), and is there one? */
bool h1_is_token(struct slice s);

/* Walks a comma-separated list: gives the next non-empty element without its blanks in <element>
 * and moves <list> past it; false at the end. Commas inside quotes do not separate.
 */
bool h1_list_next(struct slice *list, struct slice *element);

#endif
