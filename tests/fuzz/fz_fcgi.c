/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes records of FastCGI: what is read lies in the input; a head that is written again is the
 * same; names and values that are written again are read the same, and are never longer.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "codec/fcgi.h"

static void check_inside(struct slice whole, struct slice s)
{
	if (s.len && (s.ptr < whole.ptr || s.ptr + s.len > whole.ptr + whole.len))
		abort();
}

static void check_params(struct slice in)
{
	struct slice rest = in, before = in, name, value, name2, value2, again, part;
	struct strbuf b;

	while (fcgi_param_take(&rest, &name, &value)) {
		check_inside(in, rest);
		check_inside(before, name);
		check_inside(before, value);
		part = slice_sub(before, 0, before.len - rest.len - 1);
		if (fcgi_param_take(&part, &name2, &value2))
			abort();
		strbuf_init(&b);
		fcgi_add_param(&b, name, value);
		again = strbuf_slice(&b);
		if (again.len > before.len - rest.len ||
		    !fcgi_param_take(&again, &name2, &value2) || again.len ||
		    !slice_eq(name, name2) || !slice_eq(value, value2))
			abort();
		strbuf_fini(&b);
		before = rest;
	}
	if (rest.ptr != before.ptr || rest.len != before.len)
		abort();
}

static void check_content(struct slice in)
{
	struct fcgi_request_end end;
	struct fcgi_values values;

	check_params(in);
	if (fcgi_request_end_read(in, &end) != (in.len >= 8))
		abort();
	if (fcgi_values_read(in, &values) && values.has_max_reqs && !values.max_reqs)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = slice_make((const char *)data, size), rest = in, part;
	unsigned char bytes[FCGI_HEAD_SIZE];
	struct fcgi_head h, h2;

	check_content(in);
	while (fcgi_head_take(&rest, &h) == FCGI_TAKEN) {
		check_inside(in, rest);
		fcgi_head_put(&h, bytes);
		if (memcmp(bytes, in.ptr, FCGI_HEAD_SIZE - 1) != 0)
			abort(); /* (the last byte is reserved) */
		part = slice_sub(in, 0, FCGI_HEAD_SIZE - 1);
		if (fcgi_head_take(&part, &h2) != FCGI_MORE)
			abort();
		check_content(slice_sub(rest, 0, h.length));
		in = rest = slice_sub(rest, (size_t)h.length + h.padding, rest.len);
	}
	return 0;
}
