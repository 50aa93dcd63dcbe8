/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes HPACK. The input is cut into blocks (a byte of length before each), decoded by our decoder
 * and by a naive one below, with the first byte choosing table size and room: fields, errors and
 * table sizes must be the same. What was decoded is then encoded by ours and must come back.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "codec/hpack.h"

#define ENTRIES 256
#define FIELDS 256
#define TEXT 65536

/* ---- the naive decoder: every entry is its own copy, the code is read bit by bit */

struct pair {
	char *name, *value;
	size_t name_len, value_len;
};

struct naive {
	struct pair entries[ENTRIES]; /* newest first */
	unsigned count;
	size_t size, size_max;
	const uint8_t *at, *end;
	bool bad;
};

/* The longest name or value that is looked at. */
static char *copy_of(const char *s, size_t len)
{
	char *copy = malloc(len + 1);

	if (!copy)
		exit(1);
	memcpy(copy, s, len);
	return copy;
}

static void naive_evict(struct naive *n, size_t size_max)
{
	while (n->count && n->size > size_max) {
		struct pair *p = &n->entries[--n->count];

		n->size -= p->name_len + p->value_len + 32;
		free(p->name);
		free(p->value);
	}
}

static void naive_add(struct naive *n, struct pair p)
{
	size_t size = p.name_len + p.value_len + 32;

	if (size > n->size_max) {
		naive_evict(n, 0);
		return;
	}
	naive_evict(n, n->size_max - size);
	memmove(n->entries + 1, n->entries, n->count * sizeof(p));
	n->entries[0] = (struct pair){ copy_of(p.name, p.name_len), copy_of(p.value, p.value_len),
				       p.name_len, p.value_len };
	n->count++;
	n->size += size;
}

static uint64_t naive_integer(struct naive *n, unsigned bits)
{
	uint64_t max = (1u << bits) - 1, v = *n->at++ & max;

	for (unsigned shift = 0; v >= max; shift += 7) {
		if (n->at == n->end || shift > 28) {
			n->bad = true;
			return 0;
		}
		v += (uint64_t)(*n->at & 127) << shift;
		if (!(*n->at++ & 128))
			break;
	}
	if (v > UINT32_MAX)
		n->bad = true;
	return v;
}

/* The code of each byte, as our encoder writes it alone: its bits before the padding. */
static const char *naive_code(unsigned byte, unsigned *bits)
{
	static char codes[256][4];
	static uint8_t lengths[256];
	char c = (char)byte;

	if (!lengths[byte]) {
		for (unsigned i = 0; i < 256; i++) {
			char twice[9];

			c = (char)i;
			hpack_huffman_encode(slice_make(&c, 1), codes[i]);
			/* its length in bits: that of eight of them, in bytes */
			memset(twice, c, 8);
			lengths[i] = (uint8_t)hpack_huffman_length(slice_make(twice, 8));
		}
	}
	*bits = lengths[byte];
	return codes[byte];
}

static bool same_bits(const uint8_t *in, size_t at, const char *code, unsigned bits)
{
	for (unsigned i = 0; i < bits; i++) {
		if ((in[(at + i) / 8] >> (7 - (at + i) % 8) & 1) !=
		    ((uint8_t)code[i / 8] >> (7 - i % 8) & 1))
			return false;
	}
	return true;
}

/* SIZE_MAX: invalid. */
static size_t naive_huffman(const uint8_t *in, size_t len, char *out)
{
	size_t at = 0, count = 0;

	while (at < len * 8) {
		unsigned byte, bits = 0;

		for (byte = 0; byte < 256; byte++) {
			const char *code = naive_code(byte, &bits);

			if (bits <= len * 8 - at && same_bits(in, at, code, bits))
				break;
		}
		if (byte == 256)
			break;
		out[count++] = (char)byte;
		at += bits;
	}
	if (len * 8 - at > 7 || !same_bits(in, at, "\xff", (unsigned)(len * 8 - at)))
		return SIZE_MAX;
	return count;
}

/* Returns a heap copy. */
static char *naive_string(struct naive *n, size_t *len)
{
	bool coded;
	uint64_t size;
	char *out;

	n->bad |= n->at == n->end;
	coded = !n->bad && *n->at & 128;
	size = n->bad ? 0 : naive_integer(n, 7);
	if (n->bad || size > (size_t)(n->end - n->at)) {
		n->bad = true;
		return copy_of("", *len = 0);
	}
	out = malloc(size * 2 + 1);
	if (!out)
		exit(1);
	*len = size;
	if (coded)
		*len = naive_huffman(n->at, size, out);
	else
		memcpy(out, n->at, size);
	if (*len == SIZE_MAX) {
		n->bad = true;
		*len = 0;
	}
	n->at += size;
	return out;
}

/* The pair of an index, as slices of static texts (from ours) or entries. */
static struct pair naive_at(struct naive *n, uint64_t index)
{
	static char text[4096];
	struct hpack_decoder d;
	struct hpack_reader r;
	struct hpack_field f;
	char byte = (char)(0x80 | index);

	if (index > 61) {
		if (index - 62 < n->count)
			return n->entries[index - 62];
		n->bad = true;
	}
	if (!index || n->bad) {
		n->bad = true;
		return (struct pair){ 0 };
	}
	hpack_decoder_init(&d, 4096);
	hpack_read_begin(&r, &d, slice_make(&byte, 1), text, sizeof(text));
	if (hpack_read(&r, &f) != HPACK_FIELD)
		abort();
	return (struct pair){ (char *)f.name.ptr, (char *)f.value.ptr, f.name.len, f.value.len };
}

/* Reads one field into <out>, whose texts are on the heap. False: the end, or n->bad. */
static bool naive_read(struct naive *n, bool *begun, size_t limit, struct pair *out)
{
	uint8_t first;
	uint64_t index;
	struct pair known;

	while (n->at < n->end && (*n->at & 0xe0) == 0x20) {
		size_t size = naive_integer(n, 5);

		n->bad |= *begun || size > limit;
		if (n->bad)
			return false;
		n->size_max = size;
		naive_evict(n, size);
	}
	*begun = true;
	if (n->at == n->end)
		return false;
	first = *n->at;
	index = naive_integer(n, first & 0x80 ? 7 : first & 0x40 ? 6 : 4);
	if (n->bad)
		return false;
	if (index || first & 0x80) {
		known = naive_at(n, index);
		if (n->bad)
			return false;
		*out = (struct pair){ copy_of(known.name, known.name_len),
				      copy_of(known.value, known.value_len), known.name_len,
				      known.value_len };
		if (first & 0x80)
			return true;
		free(out->value);
	} else {
		out->name = naive_string(n, &out->name_len);
	}
	out->value = NULL;
	if (!n->bad)
		out->value = naive_string(n, &out->value_len);
	if (n->bad) {
		free(out->name);
		free(out->value);
		return false;
	}
	if ((first & 0xc0) == 0x40)
		naive_add(n, *out);
	return true;
}

/* ---- both */

static bool is(struct slice s, const char *text, size_t len)
{
	return s.len == len && (!len || memcmp(s.ptr, text, len) == 0);
}

#define check(good) ((good) ? (void)0 : (fprintf(stderr, "line %d\n", __LINE__), abort()))

/* Encodes fields and decodes them again. */
struct circle {
	struct hpack_encoder encoder;
	struct hpack_decoder decoder;
	char out[TEXT], text[TEXT];
	struct hpack_writer writer;
};

static void circle_add(struct circle *c, const struct pair *p)
{
	struct slice name = slice_make(p->name, p->name_len);

	hpack_write_field(&c->encoder, &c->writer, field_id_of_lower(p->name, p->name_len), name,
			  slice_make(p->value, p->value_len));
}

static void circle_check(struct circle *c, const struct pair *pairs, unsigned count)
{
	struct hpack_reader r;
	struct hpack_field f;
	unsigned i = 0;

	hpack_read_begin(&r, &c->decoder, slice_make(c->out, (size_t)(c->writer.at - c->out)),
			 c->text, sizeof(c->text));
	while (hpack_read(&r, &f) == HPACK_FIELD) {
		check(i < count && is(f.name, pairs[i].name, pairs[i].name_len) &&
		      is(f.value, pairs[i].value, pairs[i].value_len));
		i++;
	}
	check(i == count && !r.error && c->decoder.table.size == c->encoder.table.size);
}

static void free_pairs(struct pair *pairs, unsigned count)
{
	while (count--) {
		free(pairs[count].name);
		free(pairs[count].value);
	}
}

/* One block through all of them; false when it was bad. */
static bool run_block(struct naive *n, struct hpack_decoder *d, struct circle *c, size_t room)
{
	static struct pair pairs[FIELDS];
	static char text[TEXT];
	struct hpack_reader r;
	struct hpack_field f;
	enum hpack_status status;
	unsigned count = 0;
	bool begun = false;

	hpack_read_begin(&r, d, slice_make((const char *)n->at, (size_t)(n->end - n->at)), text,
			 room);
	c->writer = (struct hpack_writer){ c->out, c->out + sizeof(c->out) };
	check(hpack_write_begin(&c->encoder, &c->writer));
	while (naive_read(n, &begun, d->limit, &pairs[count])) {
		size_t left = r.text_room;

		status = hpack_read(&r, &f);
		if (status == HPACK_BAD) {
			check(r.error == HPACK_ERR_TOO_LARGE &&
			      pairs[count].name_len + pairs[count].value_len > left);
			free_pairs(pairs, count + 1);
			return false;
		}
		check(status == HPACK_FIELD);
		check(is(f.name, pairs[count].name, pairs[count].name_len) &&
		      is(f.value, pairs[count].value, pairs[count].value_len));
		check(!f.id || f.id >= FIELD_COUNT ||
		      f.id == field_id_of_lower(f.name.ptr, f.name.len));
		circle_add(c, &pairs[count++]);
	}
	status = hpack_read(&r, &f);
	check(status == (n->bad ? HPACK_BAD : HPACK_END));
	check(d->table.size == n->size && d->table.count == n->count);
	circle_check(c, pairs, count);
	free_pairs(pairs, count);
	return !n->bad;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct circle c;
	struct hpack_decoder d;
	struct naive n = { .size_max = 4096 };
	size_t room;

	if (size < 2 || size > 8192)
		return 0;
	room = data[0] & 1 ? TEXT : 4096u + data[0];
	hpack_decoder_init(&d, 4096);
	hpack_decoder_init(&c.decoder, 4096);
	hpack_encoder_init(&c.encoder, data[0] & 2 ? HPACK_OPT_HUFFMAN : 0);
	hpack_encoder_resize(&c.encoder, (uint32_t)data[0] * 16);
	for (data++, size--; size; ) {
		size_t len = data[0] < size ? data[0] : size - 1;

		n.at = data + 1;
		n.end = n.at + len;
		if (!run_block(&n, &d, &c, room))
			break;
		data += len + 1;
		size -= len + 1;
	}
	naive_evict(&n, 0);
	hpack_decoder_fini(&d);
	hpack_decoder_fini(&c.decoder);
	hpack_encoder_fini(&c.encoder);
	return 0;
}
