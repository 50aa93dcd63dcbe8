/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* msg.h - the head of a message, independent of the HTTP version
 *
 * A head is a start line and an ordered list of fields: slices of received blocks, or of the arena
 * if they were edited. Well-known names have a small id, so that finding Host compares no strings.
 * Deleting marks a field; adding and replacing append to the arena. Bodies are not part of this:
 * they are data queues of the endpoints. Trailers are a second field list.
 * Owns   : references on the blocks that its slices point into. The arena belongs to the stream.
 * Threads: the owner's. Fails: edits return false when out of memory; the head is then unchanged.
 */
#ifndef HTTP_MSG_H
#define HTTP_MSG_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/block.h"
#include "base/slice.h"
#include "codec/field_names.h"
#include "codec/h1.h"

struct regex;
struct strbuf;

enum http_method {
	HTTP_METH_OTHER, HTTP_METH_OPTIONS, HTTP_METH_GET, HTTP_METH_HEAD, HTTP_METH_POST,
	HTTP_METH_PUT, HTTP_METH_DELETE, HTTP_METH_TRACE, HTTP_METH_CONNECT, HTTP_METH_PATCH,
};

enum http_body {
	HTTP_BODY_NONE,    /* none by rule (GET without length, response to HEAD, 204, 304) */
	HTTP_BODY_LENGTH,  /* content_length bytes */
	HTTP_BODY_CHUNKED, /* length unknown, delimited by the framing */
	HTTP_BODY_CLOSE,   /* until the connection closes (responses) */
	HTTP_BODY_TUNNEL,  /* CONNECT or 101: bytes both ways */
};

enum http_msg_flags {
	HTTP_MSG_RESPONSE = 1 << 0,
	HTTP_MSG_INTERIM = 1 << 1,       /* a 1xx response other than 101 */
	HTTP_MSG_UPGRADE = 1 << 2,       /* Connection: upgrade with an Upgrade field */
	HTTP_MSG_EXPECT_CONTINUE = 1 << 3,
	HTTP_MSG_CONN_CLOSE = 1 << 4,    /* the peer asked to close after this message */
	HTTP_MSG_CONN_KEEPALIVE = 1 << 5,/* an HTTP/1.0 peer asked to keep the connection */
	HTTP_MSG_ABSOLUTE = 1 << 6,      /* the request target is in absolute form */
	HTTP_MSG_EDITED = 1 << 7,        /* differs from the received head */
	/* we built the absolute form from HTTP/2 parts: HTTP/1 servers get the origin form */
	HTTP_MSG_NORMALIZED = 1 << 8,
	HTTP_MSG_EXTENDED_CONNECT = 1 << 9, /* the upgrade was an extended CONNECT (RFC 8441) */
	/* <lines> has the first <line_count> fields; until HTTP_MSG_EDITED is set */
	HTTP_MSG_LINES = 1 << 10,
	HTTP_MSG_ADDED = 1 << 11,        /* fields were added after the received ones */
	HTTP_MSG_LATE = 1 << 12,         /* <late> is set */
};

/* A field outside of the list, for muxes that support it (struct endpoint_ops: late). It is written
 * by a function while the head is written, as an HTTP/1 line with its line end.
 */
#define HTTP_LATE_MAX 128
struct http_msg;
typedef size_t (*http_late)(const struct http_msg *m, char at[HTTP_LATE_MAX]);

/* The fields about the connection or the framing, one bit each. All other fields are sent as they
 * are.
 */
#define HTTP_HOP_FIELDS \
	(1ull << FIELD_CONNECTION | 1ull << FIELD_UPGRADE | 1ull << FIELD_CONTENT_LENGTH | \
	 1ull << FIELD_TRANSFER_ENCODING)
_Static_assert(FIELD_COUNT <= 64, "a bit for each field");

struct http_fields {
	struct h1_field *list; /* name.ptr NULL: deleted */
	unsigned count, room;
};

struct http_msg {
	unsigned flags;
	uint8_t version;       /* as received: 9, 10, 11, 20, 30 */
	uint8_t method;        /* enum http_method */
	uint8_t body;          /* enum http_body */
	uint16_t status;
	struct slice method_text, uri, version_text, reason;
	uint64_t content_length; /* with HTTP_BODY_LENGTH */
	struct http_fields fields, trailers;
	/* all lines of the fields as in HTTP/1, without the end of the last one; no field about the
	 * connection or the framing except Content-Length, which is correct
	 */
	struct slice lines;
	unsigned line_count;
	http_late late;        /* with HTTP_MSG_LATE: writes the line, returns its length */
	struct arena *arena;   /* borrowed */
	struct block *blocks[4]; /* counted: what the slices point into */
	unsigned block_count;
};

/* Initialises an empty head, whose texts go to <arena>. */
void http_msg_init(struct http_msg *m, struct arena *arena);
/* Drops the block references and empties the head; texts in the arena stay there. */
void http_msg_fini(struct http_msg *m);
/* Drops the block references of a head that is not used any more, without emptying it. */
void http_msg_drop_blocks(struct http_msg *m);
/* Keeps <b> alive as long as the head. False: too many blocks. */
bool http_msg_hold(struct http_msg *m, struct block *b);

/* Returns the size of a head for logs and statistics (%B, %U, bin, bout), independent of its size
 * on the wire: the texts of the start line plus 20 bytes, each name and value, and 1 byte for the
 * end. For trailers: the same without a start line.
 */
size_t http_msg_size(const struct http_msg *m);
size_t http_trailers_size(const struct http_msg *m);

/* Returns the id of a well-known name, in any case (codec/field_names.h); 0: it has none. */
uint8_t http_field_id(struct slice name);
enum http_method http_method_of(struct slice text);
/* Returns the standard reason phrase; for an unknown status, a generic one of its class. */
struct slice http_reason(unsigned status);

/* Finds the next field after index *<at> (-1 to start) with this id or, if it is 0, with this name
 * (any case). Returns the field, and its index in *at; NULL at the end.
 */
struct h1_field *http_field_next(const struct http_fields *f, int *at, uint8_t id,
				 struct slice name);
/* Returns the first such field, or NULL. */
struct h1_field *http_field_find(const struct http_fields *f, uint8_t id, struct slice name);
/* Returns the length of the first comma-separated value of <s>; commas inside quotes do not count.
 */
size_t http_value_len(struct slice s);
/* Iterates over the comma-separated elements of all fields of this name, respecting quoted strings.
 * Surrounding blanks are removed; empty elements are included. Start with *at = -1 and *rest =
 * slice_none(). False at the end.
 */
bool http_value_next(const struct http_fields *f, int *at, struct slice *rest, uint8_t id,
		     struct slice name, struct slice *value);

/* Edits. Texts are copied into the arena, names in lower case as everywhere in the program. Bytes
 * are not checked: a caller that takes text from outside must refuse control characters first.
 * False: out of memory, nothing changed.
 */
bool http_msg_add_field(struct http_msg *m, struct slice name, struct slice value);
/* Adds a field without copying: <name> must be lower case, <id> its number, and both texts must
 * outlive the head.
 */
bool http_msg_put_field(struct http_msg *m, uint8_t id, struct slice name, struct slice value);
/* Deletes all fields of that name; returns how many. */
unsigned http_msg_del_field(struct http_msg *m, struct slice name);
/* As http_msg_del_field(), <id> being the number of that name. */
unsigned http_msg_del_field_of(struct http_msg *m, uint8_t id, struct slice name);
/* Deletes one field found by http_field_next(). */
void http_msg_drop_field(struct http_msg *m, struct h1_field *field);
/* Replaces the value of one field; copied. */
bool http_msg_set_value(struct http_msg *m, struct h1_field *field, struct slice value);
/* Replaces values in all fields of that name (<id> is its number): the whole value, or with
 * <elements> each comma-separated element without surrounding blanks, becomes <to>, with its \N
 * expanded, if <re> matches. What does not match keeps its blanks. An absolute target follows Host.
 * False: out of memory, or larger than a buffer.
 */
bool http_msg_replace(struct http_msg *m, uint8_t id, struct slice name, const struct regex *re,
		      struct slice to, bool elements);
/* As http_msg_replace(), for one text: the result is appended to <out>. False: no match. *good
 * becomes false if it does not fit.
 */
bool http_replace_text(const struct regex *re, struct slice to, struct slice text,
		       struct strbuf *out, bool *good);
/* Deletes all fields of that name and adds one at the end. */
bool http_msg_set_field(struct http_msg *m, struct slice name, struct slice value);
/* Makes room for <more> fields at the end of a list (trailers too). */
bool http_fields_reserve(struct http_fields *f, struct arena *arena, unsigned more);
/* Returns the ids of the well-known fields that are present, one bit each. */
static inline uint64_t http_fields_there(const struct http_fields *f)
{
	uint64_t there = 0;

	for (unsigned i = 0; i < f->count; i++)
		there |= 1ULL << f->list[i].id;
	return there;
}
_Static_assert(FIELD_COUNT <= 64, "a bit for each field");
/* Replaces the whole target. With an absolute form, each Host field gets the same host, in its
 * place.
 */
bool http_msg_set_uri(struct http_msg *m, struct slice uri);
/* A rule has set field <id> to this value: if it is a request's Host, it becomes the host of an
 * absolute form, too. False: out of memory.
 */
bool http_msg_target_follows(struct http_msg *m, uint8_t id, struct slice value);
bool http_msg_set_method(struct http_msg *m, struct slice method);
/* Replaces only the path (up to '?'), in any form of target. The scheme and authority of an
 * absolute form stay, unless nothing follows them: then Host gives the authority. An asterisk or
 * authority form is replaced by the path.
 */
bool http_msg_set_path(struct http_msg *m, struct slice path);
/* Replaces the path and the query. */
bool http_msg_set_pathq(struct http_msg *m, struct slice pathq);
/* Replaces only what follows the first '?', which is added if it is missing and <query> is not
 * empty.
 */
bool http_msg_set_query(struct http_msg *m, struct slice query);
/* Sets the status. <reason> slice_none(): the standard reason. */
bool http_msg_set_status(struct http_msg *m, unsigned status, struct slice reason);

/* Parts of the target; slice_none() if absent. Manual 7.3.6 path, pathq, query. A path begins with
 * '/': asterisk and authority forms have none.
 */
struct slice http_msg_path(const struct http_msg *m);   /* without the query */
struct slice http_msg_pathq(const struct http_msg *m);  /* "?q" when only the path is absent */
struct slice http_msg_query(const struct http_msg *m);  /* without '?', which ends the path */
struct slice http_msg_authority(const struct http_msg *m); /* of an absolute form, or of CONNECT */
/* Returns the protocol that a message with HTTP_MSG_UPGRADE switches to, or asks for: the first of
 * its Upgrade. slice_none(): no such field.
 */
struct slice http_msg_upgrade(const struct http_msg *m);

#endif
