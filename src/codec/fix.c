/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fix.c - see fix.h */
#include "base/num.h"
#include "codec/fix.h"

#define SOH '\1'
/* The shortest message: "8=FIX.4.4|9=5|35=A|10=123|" */
#define SHORTEST 26

struct field {
	uint64_t tag;
	struct slice value;
	size_t start; /* of its tag, from the beginning of the message */
};

/* The field at *at, which moves past it. */
static enum fix_verdict next_field(struct slice in, size_t *at, struct field *out)
{
	size_t equal = slice_find_char(in, *at, '='), end = slice_find_char(in, *at, SOH);

	if (equal == SIZE_MAX || end == SIZE_MAX)
		return FIX_INCOMPLETE;
	if (!num_parse_u64(slice_sub(in, *at, equal), &out->tag))
		return FIX_INVALID;
	out->start = *at;
	out->value = slice_sub(in, equal + 1, end);
	*at = end + 1;
	return FIX_VALID;
}

struct slice fix_find(struct slice in, uint64_t tag)
{
	struct field f;
	size_t at = 0;

	while (next_field(in, &at, &f) == FIX_VALID) {
		if (f.tag == tag)
			return f.value;
		if (f.tag == FIX_TAG_CHECK_SUM)
			break;
	}
	return slice_none();
}

static bool is_known_version(struct slice version)
{
	return slice_eq(version, SLICE("FIXT.1.1")) ||
	       (version.len == 7 && slice_starts(version, SLICE("FIX.4.")) &&
		version.ptr[6] >= '0' && version.ptr[6] <= '4');
}

static bool is_right_sum(struct slice in, const struct field *sum)
{
	uint64_t said;
	uint8_t found = 0;

	for (size_t i = 0; i < sum->start; i++)
		found = (uint8_t)(found + (uint8_t)in.ptr[i]);
	return sum->value.len == 3 && num_parse_u64(sum->value, &said) && said == found;
}

enum fix_verdict fix_check(struct slice in)
{
	static const unsigned first_tags[] = {
		FIX_TAG_BEGIN_STRING, FIX_TAG_BODY_LENGTH, FIX_TAG_MSG_TYPE,
	};
	uint64_t body_len = 0;
	size_t at = 0, body = 0;
	struct field f;

	if (in.len < SHORTEST)
		return FIX_INCOMPLETE;
	for (unsigned n = 0;; n++) {
		enum fix_verdict verdict = next_field(in, &at, &f);

		if (verdict != FIX_VALID)
			return verdict;
		if (!f.value.len || (n < 3 && f.tag != first_tags[n]))
			return FIX_INVALID;
		if (n == 0 && !is_known_version(f.value))
			return FIX_INVALID;
		if (n == 1 && !num_parse_u64(f.value, &body_len))
			return FIX_INVALID;
		if (n == 1)
			body = at;
		if (f.tag == FIX_TAG_CHECK_SUM)
			break;
	}
	return f.start - body == body_len && is_right_sum(in, &f) ? FIX_VALID : FIX_INVALID;
}
