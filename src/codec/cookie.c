/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cookie.c - Cookie and Set-Cookie fields (RFC 6265) */
#include "codec/cookie.h"

static bool cookie_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The end of the element that starts at <from>: its separator or the end of the text. */
static size_t cookie_element_end(struct slice text, size_t from, bool commas)
{
	bool quoted = false;
	size_t at = from;

	for (; at < text.len; at++) {
		if (text.ptr[at] == '\\' && quoted && at + 1 < text.len)
			at++;
		else if (text.ptr[at] == '"')
			quoted = !quoted;
		else if (!quoted && (text.ptr[at] == ';' || (commas && text.ptr[at] == ',')))
			break;
	}
	return at;
}

/* Cuts "name = value". */
static void cookie_cut(struct slice pair, struct cookie *out)
{
	size_t equal;

	pair = slice_trim(pair);
	out->whole = pair;
	equal = slice_find_char(pair, 0, '=');
	out->name = slice_trim(slice_sub(pair, 0, equal == SIZE_MAX ? pair.len : equal));
	out->value = slice_none();
	if (equal != SIZE_MAX)
		out->value = slice_trim(slice_make(pair.ptr + equal + 1, pair.len - equal - 1));
}

bool cookie_next(struct slice *list, struct cookie *out)
{
	struct slice pair;
	size_t end;

	while (list->len) {
		end = cookie_element_end(*list, 0, true);
		pair = slice_trim(slice_make(list->ptr, end));
		if (end < list->len)
			end++;
		list->ptr += end;
		list->len -= end;
		if (!pair.len)
			continue;
		cookie_cut(pair, out);
		return true;
	}
	return false;
}

bool cookie_find(struct slice list, struct slice name, struct slice *value)
{
	struct cookie c;

	while (cookie_next(&list, &c)) {
		if (!slice_is_none(c.value) && slice_eq(c.name, name)) {
			*value = c.value;
			return true;
		}
	}
	return false;
}

struct slice cookie_extent(struct slice list, const struct cookie *c)
{
	size_t start = (size_t)(c->whole.ptr - list.ptr);
	size_t end = start + c->whole.len;

	/* the separator behind goes with it, else the one before */
	while (end < list.len && cookie_is_blank(list.ptr[end]))
		end++;
	if (end < list.len) {
		end++;
		while (end < list.len && cookie_is_blank(list.ptr[end]))
			end++;
	} else {
		while (start > 0 && cookie_is_blank(list.ptr[start - 1]))
			start--;
		if (start > 0)
			start--;
	}
	return slice_make(list.ptr + start, end - start);
}

bool cookie_parse_set(struct slice text, struct cookie *out, struct slice *attributes)
{
	size_t end = cookie_element_end(text, 0, false);

	cookie_cut(slice_make(text.ptr, end), out);
	*attributes = end < text.len ? slice_make(text.ptr + end + 1, text.len - end - 1)
				     : slice_none();
	return out->name.len && !slice_is_none(out->value);
}

bool cookie_attribute_find(struct slice attributes, struct slice name, struct slice *value)
{
	struct cookie c;
	size_t end;

	while (attributes.len) {
		end = cookie_element_end(attributes, 0, false);
		cookie_cut(slice_make(attributes.ptr, end), &c);
		if (slice_eq_nocase(c.name, name)) {
			*value = c.value;
			return true;
		}
		if (end < attributes.len)
			end++;
		attributes.ptr += end;
		attributes.len -= end;
	}
	return false;
}
