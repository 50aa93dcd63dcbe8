/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes targets and URLs: putting the pieces together again must give the input. */
#include <stdint.h>
#include <stdlib.h>
#include "codec/uri.h"

static void add(char *out, size_t *len, const char *mark, struct slice s)
{
	if (slice_is_none(s))
		return;
	memcpy(out + *len, mark, strlen(mark));
	*len += strlen(mark);
	if (s.len)
		memcpy(out + *len, s.ptr, s.len);
	*len += s.len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = slice_make((const char *)data, size), name, value, query;
	char out[2048];
	struct uri u;
	size_t len = 0;

	if (size > 1000 || !uri_parse(text, false, &u)) {
		if (size <= 1000)
			uri_parse(text, true, &u);
		return 0;
	}
	add(out, &len, "", u.scheme);
	if (u.form == URI_ABSOLUTE) {
		add(out, &len, "://", slice_make("", 0));
		if (!slice_is_none(u.user)) {
			add(out, &len, "", u.user);
			out[len++] = '@';
		}
		add(out, &len, "", u.host);
		add(out, &len, ":", u.port_text);
	}
	add(out, &len, "", u.path);
	add(out, &len, "?", u.query);
	add(out, &len, "#", u.fragment);
	if (len != size || memcmp(out, data, len) != 0)
		abort();
	len = uri_decode(text, true, out);
	if (len != SIZE_MAX && len > size)
		abort();
	query = u.query;
	while (uri_query_next(&query, '&', &name, &value))
		if (name.len > u.query.len || value.len > u.query.len)
			abort();
	return 0;
}
