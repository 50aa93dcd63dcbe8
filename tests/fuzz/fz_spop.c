/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes frames of SPOP: what is read lies in the input; a frame does not depend on how its bytes
 * arrive; a value that is written again is read the same; numbers are written as short as can be.
 */
#include <stdint.h>
#include <stdlib.h>
#include "codec/spop.h"
#include "codec/varint.h"

#define FRAME_MAX 4096

static void check_inside(struct slice whole, struct slice s)
{
	if (s.len && (s.ptr < whole.ptr || s.ptr + s.len > whole.ptr + whole.len))
		abort();
}

static void check_number(struct slice in)
{
	unsigned char bytes[VARINT_MAX];
	struct slice rest = in, again;
	uint64_t v, w;
	size_t n;

	if (varint_take(&rest, &v) != VARINT_TAKEN)
		return;
	check_inside(in, rest);
	n = varint_put(v, bytes);
	again = slice_make((const char *)bytes, n);
	if (n > in.len - rest.len || varint_take(&again, &w) != VARINT_TAKEN || w != v || again.len)
		abort();
}

static void check_value(struct slice in)
{
	struct slice rest = in, again;
	struct spop_value v, w;
	struct strbuf b;

	if (!spop_value_take(&rest, &v))
		return;
	check_inside(in, rest);
	check_inside(in, v.bytes);
	strbuf_init(&b);
	spop_add_value(&b, &v);
	again = strbuf_slice(&b);
	if (!spop_value_take(&again, &w) || again.len || w.type != v.type ||
	    w.boolean != v.boolean || w.integer != v.integer || !slice_eq(w.bytes, v.bytes))
		abort();
	strbuf_fini(&b);
}

static void check_payload(struct slice in)
{
	struct spop_action action;
	struct spop_hello hello;
	struct slice rest = in, message;

	while (rest.len && spop_action_take(&rest, &action)) {
		check_inside(in, rest);
		check_inside(in, action.name);
		if (!action.is_unset)
			check_inside(in, action.value.bytes);
		if (action.scope > 4)
			abort();
	}
	if (spop_hello_read(in, FRAME_MAX, &hello) == SPOP_ERR_NONE &&
	    (hello.max_size < SPOP_FRAME_MIN || hello.max_size > FRAME_MAX))
		abort();
	spop_disconnect_read(in, &message);
	if (message.len)
		check_inside(in, message);
	check_value(in);
	check_number(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = slice_make((const char *)data, size), rest = in, part;
	struct spop_frame f, g;

	check_payload(in);
	while (spop_frame_take(&rest, FRAME_MAX, &f) == SPOP_TAKEN) {
		check_inside(in, rest);
		check_inside(in, f.payload);
		check_payload(f.payload);
		/* without its last byte it is not there yet */
		part = slice_sub(in, 0, (size_t)(rest.ptr - in.ptr) - 1);
		if (spop_frame_take(&part, FRAME_MAX, &g) != SPOP_MORE)
			abort();
		in = rest;
	}
	return 0;
}
