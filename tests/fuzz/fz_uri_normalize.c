/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes normalizers and base64: none leaves its room, and most change nothing the second time. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "codec/base64.h"
#include "codec/uri_normalize.h"

static size_t run(int which, struct slice text, char *out)
{
	switch (which) {
	case 0: return uri_strip_fragment(text, out);
	case 1: return uri_merge_slashes(text, out);
	case 2: return uri_strip_dot(text, out);
	case 3: return uri_strip_dotdot(text, false, out);
	case 4: return uri_strip_dotdot(text, true, out);
	case 5: return uri_upper_percent(text, false, out);
	case 6: return uri_upper_percent(text, true, out);
	case 7: return uri_sort_query(text, out);
	case 8: return uri_decode_unreserved(text, false, out);
	case 9: return uri_decode_unreserved(text, true, out);
	default: return uri_encode_fragment(text, out);
	}
}

/* Exactly as much room as is asked for. */
static char *normalize(int which, struct slice text, size_t *len)
{
	size_t room = which == 10 ? text.len * 3 : text.len;
	char *out = malloc(room + (room == 0));

	if (!out)
		abort();
	*len = run(which, text, out);
	if (*len != URI_INVALID && *len > room)
		abort();
	return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = slice_make((const char *)data, size);
	size_t len, again;
	char *out;

	for (int i = 0; i <= 10; i++) {
		char *one = normalize(i, text, &len), *two;

		if (len != URI_INVALID && i != 8 && i != 9) {
			two = normalize(i, slice_make(one, len), &again);
			if (again != len || memcmp(one, two, len) != 0)
				abort();
			free(two);
		}
		free(one);
	}
	out = malloc(size / 4 * 3 + 1);
	if (out && base64_decode(text, out, &len) && len > size / 4 * 3)
		abort();
	free(out);
	return 0;
}
