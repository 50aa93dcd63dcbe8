/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes the H1 head parser: requests against a naive second parser, and anything, whole against in
 * pieces. The first byte chooses options and the size of pieces; the rest is the head.
 */
#include <stdint.h>
#include "../unit/codec/h1_naive.h"

static void fail(const char *what)
{
	fprintf(stderr, "fz_h1: %s\n", what);
	abort();
}

/* Slices of fields must lie inside the head. */
static void check_bounds(const struct h1_head *h, const char *base)
{
	for (int i = 0; i < h->field_count; i++) {
		struct slice v = h->fields[i].value, n = h->fields[i].name;

		if (n.ptr < base || n.ptr + n.len > base + h->length || !n.len)
			fail("name out of the head");
		if (v.ptr < base || v.ptr + v.len > base + h->length)
			fail("value out of the head");
	}
}

static void check_naive(const char *text, size_t len, enum h1_status status,
			const struct h1_head *h)
{
	static struct naive n;
	const char *differs;

	if (len >= NAIVE_LIST)
		return; /* lists could be too long */
	naive_parse(&n, text, len);
	if (n.verdict == NAIVE_INCOMPLETE) {
		if (status == H1_DONE)
			fail("complete for one only");
		return;
	}
	if (status == H1_MORE)
		fail("incomplete for one only");
	if ((n.verdict == NAIVE_GOOD) != (status == H1_DONE))
		fail(status == H1_DONE ? "accepted by one only" : "refused by one only");
	differs = status == H1_DONE ? naive_differs(&n, h) : NULL;
	if (differs)
		fail(differs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct h1_field fields[2][NAIVE_FIELDS];
	struct h1_head whole = { .fields = fields[0], .field_capacity = NAIVE_FIELDS };
	struct h1_head parts = { .fields = fields[1], .field_capacity = NAIVE_FIELDS };
	enum h1_status one, many;
	struct h1_parser p, q;
	char *buffers[3];
	const char *text;
	uint8_t options;

	if (size < 1 || size >= NAIVE_TEXT)
		return 0;
	text = (const char *)data + 1;
	options = data[0] & 3;
	size--;
	for (int i = 0; i < 3; i++)
		if (!(buffers[i] = malloc(size ? size : 1)))
			return 0;
	memcpy(buffers[2], text, size);
	h1_parser_init(&p, options);
	one = h1_parse_head(&p, slice_make(buffers[2], size), &whole);
	many = size ? naive_feed(text, size, (size_t)(data[0] >> 2) + 1, options, buffers, &parts,
				 &q) : H1_MORE;
	if (one != many)
		fail("pieces change the result");
	if (one == H1_DONE) {
		if (whole.length != parts.length || whole.flags != parts.flags ||
		    whole.field_count != parts.field_count || whole.body != parts.body)
			fail("pieces change the head");
		for (int i = 0; i < whole.field_count; i++)
			if (!slice_eq(whole.fields[i].value, parts.fields[i].value) ||
			    !slice_eq(whole.fields[i].name, parts.fields[i].name))
				fail("pieces change a field");
		check_bounds(&whole, buffers[2]);
	}
	if (options == 0)
		check_naive(text, size, one, &whole);
	for (int i = 0; i < 3; i++)
		free(buffers[i]);
	return 0;
}
