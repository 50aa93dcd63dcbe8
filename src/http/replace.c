/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replace.c - fields and targets rewritten by regular expressions */
#include "base/block.h"
#include "base/regex.h"
#include "base/strbuf.h"
#include "http/msg.h"

bool http_replace_text(const struct regex *re, struct slice to, struct slice text,
		       struct strbuf *out, bool *good)
{
	struct slice groups[REGEX_GROUPS_MAX];

	if (!regex_match_groups(re, text, 0, groups))
		return false;
	*good &= regex_expand(to, groups, out) && out->len <= block_size();
	return true;
}

/* Replaces in each element of <value>, where those that do not match keep their blanks. */
static bool replace_elements(const struct regex *re, struct slice to, struct slice value,
			     struct strbuf *out, bool *good)
{
	bool changed = false;

	for (;;) {
		size_t len = http_value_len(value);
		struct slice element = slice_sub(value, 0, len);

		if (http_replace_text(re, to, slice_trim(element), out, good))
			changed = true;
		else
			*good &= strbuf_add(out, element);
		if (len >= value.len)
			return changed;
		*good &= strbuf_add_char(out, ',');
		value = slice_sub(value, len + 1, value.len);
	}
}

bool http_msg_replace(struct http_msg *m, uint8_t id, struct slice name, const struct regex *re,
		      struct slice to, bool elements)
{
	struct h1_field *field;
	struct strbuf out;
	bool good = true;
	int at = -1;

	strbuf_init(&out);
	while (good && (field = http_field_next(&m->fields, &at, id, name)) != NULL) {
		strbuf_reset(&out);
		if ((elements ? replace_elements : http_replace_text)(re, to, field->value, &out,
								      &good) && good)
			good = http_msg_set_value(m, field, strbuf_slice(&out)) &&
			       http_msg_target_follows(m, id, field->value);
	}
	strbuf_fini(&out);
	return good;
}
