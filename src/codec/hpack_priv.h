/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpack_priv.h - shared by the files of HPACK: the tables */
#ifndef CODEC_HPACK_PRIV_H
#define CODEC_HPACK_PRIV_H

#include <string.h>
#include "base/bug.h"
#include "codec/hpack.h"

/* ---- Huffman code: hpack_code.c */

struct hpack_code {
	uint32_t code; /* aligned right */
	uint8_t bits;
};
extern const struct hpack_code hpack_codes[256];

struct hpack_short {
	uint8_t byte, bits;
};
extern const struct hpack_short hpack_shorts[256];

/* Number of existing code lengths above 8 bits: 10 to 15, 19 to 28, 30. */
#define HPACK_LENGTHS 17
struct hpack_length {
	uint32_t end;   /* the first code after this length, aligned left */
	int32_t base;   /* index of the first one's byte, minus the first code */
	uint8_t bits;
};
extern const struct hpack_length hpack_lengths[HPACK_LENGTHS];
extern const uint8_t hpack_long_bytes[];

/* ---- static table: hpack_static.c */

struct hpack_static {
	struct slice name, value;
	uint8_t id;
};
/* Index 1 to HPACK_STATIC_COUNT. */
extern const struct hpack_static hpack_statics[HPACK_STATIC_COUNT + 1];
/* The lowest static index with this name id, 0: none. */
extern const uint8_t hpack_static_of[HPACK_NAME_COUNT];

/* Returns the id of a received name: FIELD_*, HPACK_*, or FIELD_OTHER. */
uint8_t hpack_id_of(struct slice name);
/* Returns the text of an id of either kind. */
struct slice hpack_name_of(uint8_t id);

/* ---- dynamic table: hpack_table.c */

/* An entry; slices are valid until the table changes. */
struct hpack_entry {
	struct slice name, value;
	uint8_t id;
};

void hpack_table_init(struct hpack_table *t, uint32_t size_max);
void hpack_table_fini(struct hpack_table *t);
/* Sets the usable size, evicting entries that no longer fit. */
void hpack_table_resize(struct hpack_table *t, uint32_t size_max);
/* Returns the entry with this age, 0 the newest; must be below t->count. */
struct hpack_entry hpack_table_get(const struct hpack_table *t, uint32_t age);
/* Adds an entry, evicting old ones; one larger than the table empties it. The texts must not lie in
 * the table. False: out of memory, nothing was added.
 */
bool hpack_table_add(struct hpack_table *t, uint8_t id, struct slice name, struct slice value);

/* ---- reading, also for QPACK: hpack_decode.c. False with r->error. */

/* A string literal in the block. */
struct hpack_literal {
	struct slice bytes;
	bool huffman;
};

/* Notes an error; returns false. */
static inline bool hpack_read_bad(struct hpack_reader *r, uint8_t error)
{
	r->error = error;
	return false;
}

/* Slow part of hpack_read_integer(): more than one byte, or none. */
bool hpack_read_long(struct hpack_reader *r, unsigned prefix, unsigned bits, uint64_t *out);
/* Reads an integer (RFC 7541 5.1) of at most <bits> bits, whose first byte has <prefix> bits for
 * it.
 */
static inline bool hpack_read_integer(struct hpack_reader *r, unsigned prefix, unsigned bits,
				      uint64_t *out)
{
	unsigned max = (1u << prefix) - 1;

	if (r->at == r->end || (*r->at & max) == max)
		return hpack_read_long(r, prefix, bits, out);
	*out = *r->at++ & max;
	return true;
}

/* Finds a string whose first byte has <prefix> bits for its length, and above them one for Huffman.
 */
bool hpack_read_literal(struct hpack_reader *r, unsigned prefix, struct hpack_literal *out);
/* Writes its text to the text room. */
bool hpack_put_literal(struct hpack_reader *r, struct hpack_literal l, struct slice *out);
/* As hpack_put_literal(), for a name: a known name is a constant and needs no room. */
bool hpack_put_name(struct hpack_reader *r, struct hpack_literal l, struct hpack_field *out);

#endif
