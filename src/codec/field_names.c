/* SPDX-License-Identifier: GPL-2.0-or-later */
/* field_names.c - the field names that the program knows by number
 *
 * A perfect hash of length and three letters: no two names of the table collide. Its rows were
 * found by a search program; the unit test proves that every name is found and none collides.
 */
#include "codec/field_names.h"

static const struct slice field_names[FIELD_COUNT] = {
#define X(symbol, name) [FIELD_##symbol] = { name, sizeof(name) - 1 },
	FIELD_NAMES(X)
#undef X
};

static const uint8_t field_hash[256] = {
	[0] = FIELD_PROXY_AUTHENTICATE,
	[1] = FIELD_RANGE,
	[2] = FIELD_COOKIE,
	[4] = FIELD_LOCATION,
	[9] = FIELD_ACCEPT_ENCODING,
	[11] = FIELD_X_FORWARDED_FOR,
	[14] = FIELD_VARY,
	[17] = FIELD_TE,
	[18] = FIELD_VIA,
	[22] = FIELD_DATE,
	[24] = FIELD_STRICT_TRANSPORT_SECURITY,
	[26] = FIELD_TRANSFER_ENCODING,
	[29] = FIELD_CONTENT_TYPE,
	[32] = FIELD_CONTENT_RANGE,
	[33] = FIELD_CONTENT_LANGUAGE,
	[34] = FIELD_SET_COOKIE,
	[36] = FIELD_ORIGIN,
	[40] = FIELD_ETAG,
	[42] = FIELD_FORWARDED,
	[46] = FIELD_CONTENT_ENCODING,
	[52] = FIELD_CONTENT_MD5,
	[62] = FIELD_UPGRADE,
	[67] = FIELD_ACCEPT_RANGES,
	[77] = FIELD_AUTHORIZATION,
	[81] = FIELD_MAX_FORWARDS,
	[84] = FIELD_RETRY_AFTER,
	[85] = FIELD_CACHE_CONTROL,
	[90] = FIELD_PROXY_CONNECTION,
	[93] = FIELD_PROXY_AUTHORIZATION,
	[96] = FIELD_CONNECTION,
	[100] = FIELD_IF_RANGE,
	[110] = FIELD_WWW_AUTHENTICATE,
	[112] = FIELD_ACCEPT,
	[123] = FIELD_CONTENT_LOCATION,
	[128] = FIELD_REFERER,
	[129] = FIELD_CONTENT_DISPOSITION,
	[130] = FIELD_IF_MATCH,
	[131] = FIELD_FROM,
	[134] = FIELD_ACCEPT_CHARSET,
	[135] = FIELD_IF_MODIFIED_SINCE,
	[138] = FIELD_IF_UNMODIFIED_SINCE,
	[140] = FIELD_KEEP_ALIVE,
	[145] = FIELD_ALT_SVC,
	[146] = FIELD_ALLOW,
	[149] = FIELD_IF_NONE_MATCH,
	[159] = FIELD_SERVER,
	[166] = FIELD_TRAILER,
	[170] = FIELD_LAST_MODIFIED,
	[177] = FIELD_EXPIRES,
	[179] = FIELD_PRAGMA,
	[180] = FIELD_EXPECT,
	[204] = FIELD_USER_AGENT,
	[210] = FIELD_SEC_WEBSOCKET_ACCEPT,
	[211] = FIELD_AGE,
	[212] = FIELD_LINK,
	[229] = FIELD_X_FORWARDED_PROTO,
	[239] = FIELD_HOST,
	[245] = FIELD_HTTP2_SETTINGS,
	[250] = FIELD_CONTENT_LENGTH,
	[252] = FIELD_ACCEPT_LANGUAGE,
	[255] = FIELD_SEC_WEBSOCKET_KEY,
};

static inline uint8_t field_hash_of(size_t len, uint8_t first, uint8_t middle, uint8_t last)
{
	return (uint8_t)(len * 3 + first * 17 + last * 10 + middle);
}

/* Two bytes at least: names are short, and calling memcmp() takes longer than it does. */
static inline bool same_bytes(const char *a, const char *b, size_t len)
{
	size_t at = 0;

	if (len >= 8) {
		for (; at + 8 < len; at += 8)
			if (memcmp(a + at, b + at, 8) != 0)
				return false;
		return memcmp(a + len - 8, b + len - 8, 8) == 0;
	}
	if (len >= 4)
		return memcmp(a, b, 4) == 0 && memcmp(a + len - 4, b + len - 4, 4) == 0;
	return memcmp(a, b, 2) == 0 && a[len - 1] == b[len - 1];
}

uint8_t field_id_of_lower(const char *name, size_t len)
{
	uint8_t id;

	if (len < 2)
		return FIELD_OTHER;
	id = field_hash[field_hash_of(len, (uint8_t)name[0], (uint8_t)name[len / 2],
				      (uint8_t)name[len - 1])];
	if (field_names[id].len != len || !same_bytes(field_names[id].ptr, name, len))
		return FIELD_OTHER;
	return id;
}

uint8_t field_id_of(struct slice name)
{
	uint8_t id;

	if (name.len < 2)
		return FIELD_OTHER;
	id = field_hash[field_hash_of(name.len, (uint8_t)ascii_lower(name.ptr[0]),
				      (uint8_t)ascii_lower(name.ptr[name.len / 2]),
				      (uint8_t)ascii_lower(name.ptr[name.len - 1]))];
	return slice_eq_nocase(field_names[id], name) ? id : FIELD_OTHER;
}

struct slice field_name_of(uint8_t id)
{
	return id < FIELD_COUNT ? field_names[id] : slice_none();
}
