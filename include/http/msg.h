/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* msg.h - one message head, whatever HTTP version carried it
 *
 * A head is a start line and an ordered list of fields: slices of received blocks, or of the arena
 * when they were edited. A field has a small id for well-known names, so that finding Host compares
 * no strings. Deleting marks; adding and replacing append to the arena. Bodies are not here: they
 * are data queues of the endpoints. Trailers are a second field list.
 * Owns   : references on the blocks that its slices point into. The arena is the stream's.
 * Threads: the owner's. Fails: edits return false when memory is out; the head is then unchanged.
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
	HTTP_BODY_NONE,    /* none by rule (GET without length, HEAD answers, 204, 304) */
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
	HTTP_MSG_CONN_KEEPALIVE = 1 << 5,/* HTTP/1.0 peer asked to keep */
	HTTP_MSG_ABSOLUTE = 1 << 6,      /* the request target is in absolute form */
	HTTP_MSG_EDITED = 1 << 7,        /* differs from what was received */
	/* the absolute form is ours, made of HTTP/2 parts: HTTP/1 servers get the origin form */
	HTTP_MSG_NORMALIZED = 1 << 8,
	HTTP_MSG_EXTENDED_CONNECT = 1 << 9, /* the upgrade was an extended CONNECT (RFC 8441) */
	/* <lines> are its first fields, <line_count>; until it is HTTP_MSG_EDITED */
	HTTP_MSG_LINES = 1 << 10,
	HTTP_MSG_ADDED = 1 << 11,        /* fields were added behind those that were received */
	HTTP_MSG_LATE = 1 << 12,         /* <late> is set */
};

/* A field that is in no list, for a mux that can (struct endpoint_ops: late): written by a function
 * when the head is, as a line of HTTP/1 with its end.
 */
#define HTTP_LATE_MAX 128
struct http_msg;
typedef size_t (*http_late)(const struct http_msg *m, char at[HTTP_LATE_MAX]);

/* The fields that are about the connection or the framing: a bit each. All others are sent as they
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
	uint8_t version;       /* 9, 10, 11, 20, 30 as received */
	uint8_t method;        /* enum http_method */
	uint8_t body;          /* enum http_body */
	uint16_t status;
	struct slice method_text, uri, version_text, reason;
	uint64_t content_length; /* with HTTP_BODY_LENGTH */
	struct http_fields fields, trailers;
	/* all lines of the fields as HTTP/1 writes them, but for the end of the last, none of them
	 * of the connection or the framing other than Content-Length, which is right
	 */
	struct slice lines;
	unsigned line_count;
	http_late late;        /* with HTTP_MSG_LATE: returns the length of its line */
	struct arena *arena;   /* borrowed */
	struct block *blocks[4]; /* counted: what the slices point into */
	unsigned block_count;
};

/* An empty head, whose texts go to <arena>. */
void http_msg_init(struct http_msg *m, struct arena *arena);
/* Drops the block references and empties the head; text in the arena stays with the arena. */
void http_msg_fini(struct http_msg *m);
/* Drops the block references of a head that is not used any more: it is not emptied. */
void http_msg_drop_blocks(struct http_msg *m);
/* Keeps <b> alive as long as the head; false when too many. */
bool http_msg_hold(struct http_msg *m, struct block *b);

/* The bytes as which a head counts in logs and statistics (%B, %U, bin, bout), whatever it takes on
 * the wire: the texts of the start line and 20 bytes, each name and value, and 1 byte for its end.
 * The same for trailers, without a start line.
 */
size_t http_msg_size(const struct http_msg *m);
size_t http_trailers_size(const struct http_msg *m);

/* The id of a well-known name of any case (codec/field_names.h), 0 if it has none. */
uint8_t http_field_id(struct slice name);
enum http_method http_method_of(struct slice text);
/* The standard reason phrase; a generic one of its class when unknown. */
struct slice http_reason(unsigned status);

/* Finds the next field after index *<at> (start with -1) of this id, or, when it is 0, of this
 * name (any case). Returns NULL at the end; else the field, with *at its index.
 */
struct h1_field *http_field_next(const struct http_fields *f, int *at, uint8_t id,
				 struct slice name);
/* The first such field, or NULL. */
struct h1_field *http_field_find(const struct http_fields *f, uint8_t id, struct slice name);
/* The length of the first comma-separated value of <s>; commas inside quotes do not count. */
size_t http_value_len(struct slice s);
/* Iterates over the comma-separated elements of all fields of this name (quoted strings are
 * respected), without the blanks around them; empty elements are given too. *at = -1 and *rest =
 * slice_none() to start. False at the end.
 */
bool http_value_next(const struct http_fields *f, int *at, struct slice *rest, uint8_t id,
		     struct slice name, struct slice *value);

/* Edits. Texts are copied into the arena, names in lower case as everywhere inside the program.
 * They say nothing against any byte: a caller that takes text from outside refuses control
 * characters first. False: no memory, nothing changed.
 */
bool http_msg_add_field(struct http_msg *m, struct slice name, struct slice value);
/* Adds a field without copying: <name> is lower case, <id> its number, and both texts outlive the
 * head.
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
/* In the fields of that name (<id> is its number) the value, or with <elements> each of its
 * comma-separated elements, without the blanks around it, becomes <to> with its \N if <re> matches.
 * What does not match stays with its blanks. An absolute target follows Host. False: no memory, or
 * more than a buffer.
 */
bool http_msg_replace(struct http_msg *m, uint8_t id, struct slice name, const struct regex *re,
		      struct slice to, bool elements);
/* As http_msg_replace(), for one text: what it becomes is written behind what <out> holds. False:
 * no match; *good becomes false when it does not fit.
 */
bool http_replace_text(const struct regex *re, struct slice to, struct slice text,
		       struct strbuf *out, bool *good);
/* Deletes all fields of that name and adds one at the end. */
bool http_msg_set_field(struct http_msg *m, struct slice name, struct slice value);
/* Makes room for <more> fields at the end of a list (trailers too). */
bool http_fields_reserve(struct http_fields *f, struct arena *arena, unsigned more);
/* The numbers of the well-known fields that are there, a bit each. */
static inline uint64_t http_fields_there(const struct http_fields *f)
{
	uint64_t there = 0;

	for (unsigned i = 0; i < f->count; i++)
		there |= 1ULL << f->list[i].id;
	return there;
}
_Static_assert(FIELD_COUNT <= 64, "a bit for each field");
/* The whole target. An absolute form also gives each Host that there is the same host; it stays
 * where it stands.
 */
bool http_msg_set_uri(struct http_msg *m, struct slice uri);
/* A rule gave field <id> this value: that of a request's Host is also the host of an absolute form.
 * False: no memory.
 */
bool http_msg_target_follows(struct http_msg *m, uint8_t id, struct slice value);
bool http_msg_set_method(struct http_msg *m, struct slice method);
/* Only the path (up to '?'), in any form of target: the scheme and authority of an absolute form
 * stay, unless nothing follows them: Host tells the authority. An asterisk or authority form is
 * replaced by the path.
 */
bool http_msg_set_path(struct http_msg *m, struct slice path);
/* The path and the query. */
bool http_msg_set_pathq(struct http_msg *m, struct slice pathq);
/* Only what follows the first '?', which is added when missing and <query> is not empty. */
bool http_msg_set_query(struct http_msg *m, struct slice query);
/* An absent (slice_none) <reason> gives the standard one. */
bool http_msg_set_status(struct http_msg *m, unsigned status, struct slice reason);

/* Target pieces; slice_none() when absent. Manual 7.3.6 path, pathq, query. A path begins with '/':
 * asterisk and authority forms have none.
 */
struct slice http_msg_path(const struct http_msg *m);   /* without the query */
struct slice http_msg_pathq(const struct http_msg *m);  /* "?q" when only the path is absent */
struct slice http_msg_query(const struct http_msg *m);  /* without '?', which ends the path */
struct slice http_msg_authority(const struct http_msg *m); /* of an absolute form, or of CONNECT */
/* The protocol that a message with HTTP_MSG_UPGRADE goes over to, or asks for: the first of its
 * Upgrade. None if there is no such field.
 */
struct slice http_msg_upgrade(const struct http_msg *m);

#endif
