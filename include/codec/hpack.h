/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hpack.h - header compression of HTTP/2 (RFC 7541)
 *
 * Each connection has one decoder and one encoder. Each has a dynamic table, which needs no memory
 * until its first entry: then HPACK_AREA_FIRST bytes are allocated, which grow with the actual
 * contents up to the size of the table. Well-known names (codec/field_names.h) need no text in it.
 *
 * Decoding is a walk: hpack_read_begin() on a whole header block (HEADERS and its CONTINUATIONs
 * joined), then hpack_read() once per field. The tables of both sides must see every field of every
 * block, so a block is walked to its end even if its message was already refused, or the connection
 * is lost: h2_head.h does that. Texts are constants or lie in the caller's room.
 *
 * Encoding appends to the caller's buffer, field by field. A field either fits in its worst case or
 * is refused before anything has changed, so a block may continue in another buffer at any field
 * (the frames around it may split it anywhere).
 *
 * Owns    : the tables' memory, freed by _fini. Slices of the input are never kept.
 * Threads : one at a time per decoder or encoder. Tables of constants are shared.
 * Fails   : decoding with an enum hpack_error, always a connection error (COMPRESSION_ERROR; out of
 *           memory: INTERNAL_ERROR). Encoding only for lack of room, never of memory: an entry that
 *           cannot be stored is sent as a literal.
 */
#ifndef CODEC_HPACK_H
#define CODEC_HPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/slice.h"
#include "codec/field_names.h"
#include "codec/h1.h"

/* Size of both tables before any SETTINGS (RFC 9113 6.5.2), and the maximum that our encoder uses.
 */
#define HPACK_TABLE_SIZE 4096
/* The largest table: tune.h2.header-table-size. */
#define HPACK_TABLE_SIZE_MAX 65536
/* What an entry counts in addition to its texts (RFC 7541 4.1; also RFC 9113 6.5.2). */
#define HPACK_ENTRY_OVERHEAD 32
/* Bytes of the first allocation of a table. */
#define HPACK_AREA_FIRST 512
/* Entries of the static table; the dynamic table begins with the next index. */
#define HPACK_STATIC_COUNT 61

/* X(symbol, "meaning") */
#define HPACK_ERRORS(X) \
	X(NONE, "no error") \
	X(TRUNCATED, "the block ends within a field") \
	X(INTEGER, "an integer is too large") \
	X(INDEX, "an index is out of the tables") \
	X(HUFFMAN, "invalid Huffman code or padding") \
	X(TABLE_SIZE, "a table size update is too large, misplaced or missing") \
	X(TOO_LARGE, "the head is far too large to be read to its end") \
	X(MEMORY, "out of memory")

enum hpack_error {
#define X(symbol, text) HPACK_ERR_##symbol,
	HPACK_ERRORS(X)
#undef X
};
/* Returns the text of an error. */
const char *hpack_error_text(uint8_t error);

/* The pseudo-fields. Their ids continue those of codec/field_names.h in struct hpack_field. */
#define HPACK_PSEUDO(X) \
	X(AUTHORITY, ":authority") \
	X(METHOD, ":method") \
	X(PATH, ":path") \
	X(SCHEME, ":scheme") \
	X(STATUS, ":status") \
	X(PROTOCOL, ":protocol")

enum hpack_pseudo {
	HPACK_PSEUDO_FIRST = FIELD_COUNT - 1,
#define X(symbol, name) HPACK_##symbol,
	HPACK_PSEUDO(X)
#undef X
	HPACK_NAME_COUNT
};

/* A dynamic table: public only as a member of the structs below. */
struct hpack_table {
	char *area;          /* owned; NULL: nothing was ever stored */
	uint32_t area_size;  /* bytes of area */
	uint32_t text_end;   /* the first free byte of area; texts lie before it */
	/* the first byte of the entries' descriptions, at the end of the area */
	uint32_t records;
	uint32_t base;       /* subtract from an entry's offset to find its text */
	uint32_t size;       /* sum of the entries' sizes, counted as in RFC 7541 4.1 */
	uint32_t size_max;   /* current limit of <size> */
	uint32_t count;      /* entries */
};

/* ---- decoding */

struct hpack_decoder {
	struct hpack_table table;
	uint32_t limit;      /* the largest size_max that the peer may choose */
	bool must_update;    /* the next block must begin with a size update */
};

/* One field as it was sent. <id> is FIELD_*, or HPACK_AUTHORITY etc. for well-known pseudo-fields;
 * FIELD_OTHER for all others, including other names that begin with ':'. Nothing is checked: names
 * may contain any case and any byte.
 */
struct hpack_field {
	struct slice name, value;
	uint8_t id;
	bool never_indexed;  /* the peer asks all hops never to compress this field */
};

/* A walk over a header block. */
struct hpack_reader {
	struct hpack_decoder *decoder;
	const uint8_t *at, *end; /* the rest of the block */
	char *text;          /* where texts are written; advances */
	size_t text_room;    /* bytes left there */
	uint8_t error;       /* enum hpack_error after HPACK_BAD */
	bool begun;          /* private: a field was seen, size updates are no longer allowed */
};

enum hpack_status { HPACK_FIELD, HPACK_END, HPACK_BAD };

/* <limit>: the SETTINGS_HEADER_TABLE_SIZE that we announce. If it is larger than the default it
 * applies immediately, otherwise with hpack_decoder_limit(), after the peer's acknowledgement.
 */
void hpack_decoder_init(struct hpack_decoder *d, uint32_t limit);
/* Frees the table. */
void hpack_decoder_fini(struct hpack_decoder *d);
/* The peer acknowledged that its table may have <limit> bytes. If that is less than before, its
 * next block must begin with an update (RFC 7541 4.2).
 */
void hpack_decoder_limit(struct hpack_decoder *d, uint32_t limit);
/* Returns the heap memory in use, in bytes. */
static inline size_t hpack_table_memory(const struct hpack_table *t)
{
	return t->area_size;
}

/* Starts a walk over <block>. Texts go to the <room> bytes at <text>; more give
 * HPACK_ERR_TOO_LARGE.
 */
void hpack_read_begin(struct hpack_reader *r, struct hpack_decoder *d, struct slice block,
		      char *text, size_t room);

/* Reads the next field. Its slices point to constants or into the text room, to bytes that this
 * call has added there (and moved r->text past), so they live as long as the room.
 * HPACK_FIELD: <out> is filled.
 * HPACK_END  : the block is complete.
 * HPACK_BAD  : r->error; the tables are out of sync, the connection is lost.
 */
enum hpack_status hpack_read(struct hpack_reader *r, struct hpack_field *out);

/* ---- encoding */

#define HPACK_OPT_HUFFMAN 0x01 /* literals are sent in Huffman code when that is shorter */

/* Slots of the encoder's memory of stored entries: one per known name, some for others. */
#define HPACK_SLOTS (HPACK_NAME_COUNT + 16)

struct hpack_memory; /* private: for each slot, the newest entry and how often it did not match */

struct hpack_encoder {
	struct hpack_table table;
	struct hpack_memory *memory; /* owned; NULL until the first entry */
	uint32_t inserted;   /* private: entries ever stored */
	uint32_t update_low; /* private: smallest size that the next block must announce */
	uint8_t options;     /* HPACK_OPT_* */
	bool update;         /* private: the next block announces the table's size */
};

/* The caller's buffer for an encoder. */
struct hpack_writer {
	char *at, *end;
};

/* Returns the maximum size of an encoded field: the room that the write functions require. */
static inline size_t hpack_field_bound(size_t name_len, size_t value_len)
{
	return name_len + value_len + 16;
}
/* The maximum number of bytes that hpack_write_begin() writes. */
#define HPACK_BEGIN_BOUND 12

/* <options>: HPACK_OPT_*. */
void hpack_encoder_init(struct hpack_encoder *e, uint8_t options);
/* Frees the table and the memory of stored entries. */
void hpack_encoder_fini(struct hpack_encoder *e);
/* The peer's SETTINGS_HEADER_TABLE_SIZE has changed. A smaller one takes effect immediately, and
 * the next block announces it; a larger one is used up to HPACK_TABLE_SIZE.
 */
void hpack_encoder_resize(struct hpack_encoder *e, uint32_t size);

/* Begins a block: writes pending size updates, usually none. False: no room. */
bool hpack_write_begin(struct hpack_encoder *e, struct hpack_writer *w);
/* Adds a field. <name> is in lower case and <id> its FIELD_* number (names of known ids are not
 * looked at). A value that was sent before under the same name usually costs one or two bytes.
 * Values of cookies, credentials and the like are never stored in a table. False: less than
 * hpack_field_bound() bytes of room, nothing was done.
 */
bool hpack_write_field(struct hpack_encoder *e, struct hpack_writer *w, uint8_t id,
		       struct slice name, struct slice value);
/* Adds a pseudo-field, before all fields. Result as for hpack_write_field(). */
bool hpack_write_pseudo(struct hpack_encoder *e, struct hpack_writer *w, enum hpack_pseudo id,
			struct slice value);
/* Adds ":status" with 100 to 999. Result as for hpack_write_field(). */
bool hpack_write_status(struct hpack_encoder *e, struct hpack_writer *w, unsigned status);

/* ---- Huffman code (RFC 7541 5.2, appendix B) */

/* Decodes <in> into <room> bytes at <out>; returns the length. SIZE_MAX: invalid (a code of EOS, or
 * a padding of 8 bits or more, or not all ones). SIZE_MAX - 1: valid so far, but no room. <in>.len
 * * 8 / 5 bytes are always enough.
 */
size_t hpack_huffman_decode(struct slice in, char *out, size_t room);
#define HPACK_HUFFMAN_BAD SIZE_MAX
#define HPACK_HUFFMAN_NO_ROOM (SIZE_MAX - 1)
/* Returns the length of the code of <in>, in bytes. */
size_t hpack_huffman_length(struct slice in);
/* Writes the code of <in>, hpack_huffman_length() bytes; returns this length. */
size_t hpack_huffman_encode(struct slice in, char *out);

#endif
