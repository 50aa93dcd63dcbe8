/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes chunked decoding: in one piece, and in pieces whose size is the first byte: the
 * payload and the verdict must be the same. What follows a complete body is parsed as trailers.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "codec/chunk.h"

struct result {
	enum h1_status status;
	uint8_t error;
	size_t used, payload_len;
	char payload[4096];
};

static void decode(const char *text, size_t len, size_t step, struct result *r)
{
	struct chunk_decoder d;
	struct chunk_step got;
	size_t size;

	chunk_decoder_init(&d);
	r->status = H1_MORE;
	r->used = r->payload_len = 0;
	while (r->status == H1_MORE && r->used < len) {
		size = len - r->used < step ? len - r->used : step;
		r->status = chunk_decode(&d, slice_make(text + r->used, size), &got);
		if (got.used > size || got.payload > got.used)
			abort();
		if (r->status == H1_MORE && got.used == 0)
			abort(); /* no progress */
		memcpy(r->payload + r->payload_len, text + r->used + got.used - got.payload,
		       got.payload);
		r->payload_len += got.payload;
		r->used += got.used;
	}
	r->error = d.error;
}

static void parse_trailers(const char *text, size_t len)
{
	struct h1_field fields[8];
	struct chunk_trailers t = { .fields = fields, .capacity = 8 };
	char *copy = malloc(len ? len : 1);

	if (!copy)
		return;
	memcpy(copy, text, len);
	if (chunk_parse_trailers(slice_make(copy, len), &t) == H1_DONE && t.used > len)
		abort();
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct result whole, parts;
	const char *text = (const char *)data + 1;

	if (size < 1 || size > sizeof(whole.payload))
		return 0;
	size--;
	decode(text, size, size, &whole);
	decode(text, size, (size_t)data[0] + 1, &parts);
	if (whole.status != parts.status || whole.used != parts.used ||
	    whole.error != parts.error || whole.payload_len != parts.payload_len ||
	    memcmp(whole.payload, parts.payload, whole.payload_len) != 0)
		abort();
	if (whole.status == H1_DONE)
		parse_trailers(text + whole.used, size - whole.used);
	return 0;
}
