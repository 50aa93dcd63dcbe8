/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes cookies: pieces stay inside, and a list without one of its cookies holds all the
 * others.
 */
#include <stdint.h>
#include <stdlib.h>
#include "codec/cookie.h"

static unsigned count(struct slice list)
{
	struct cookie c;
	unsigned n = 0;

	while (cookie_next(&list, &c)) {
		if (!c.whole.len || c.name.len + c.value.len > c.whole.len)
			abort();
		n++;
	}
	return n;
}

/* Removes <c> from <list> and checks that one less is there. */
static void check_removal(struct slice list, const struct cookie *c)
{
	struct slice extent = cookie_extent(list, c);
	size_t before = (size_t)(extent.ptr - list.ptr);
	char out[1024];

	if (extent.ptr < list.ptr || extent.ptr + extent.len > list.ptr + list.len ||
	    extent.len < c->whole.len)
		abort();
	memcpy(out, list.ptr, before);
	memcpy(out + before, extent.ptr + extent.len, list.len - before - extent.len);
	if (count(slice_make(out, list.len - extent.len)) + 1 != count(list))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice list = slice_make((const char *)data, size), rest = list, value;
	struct cookie c;

	if (size > 1000)
		return 0;
	while (cookie_next(&rest, &c))
		check_removal(list, &c);
	if (cookie_parse_set(list, &c, &rest))
		cookie_attribute_find(rest, SLICE("path"), &value);
	return 0;
}
