/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpack_static.c - the static table (RFC 7541 appendix A), and names by number */
#include "hpack_priv.h"

const struct hpack_static hpack_statics[HPACK_STATIC_COUNT + 1] = {
	[1] = { SLICE(":authority"), SLICE(""), HPACK_AUTHORITY },
	[2] = { SLICE(":method"), SLICE("GET"), HPACK_METHOD },
	[3] = { SLICE(":method"), SLICE("POST"), HPACK_METHOD },
	[4] = { SLICE(":path"), SLICE("/"), HPACK_PATH },
	[5] = { SLICE(":path"), SLICE("/index.html"), HPACK_PATH },
	[6] = { SLICE(":scheme"), SLICE("http"), HPACK_SCHEME },
	[7] = { SLICE(":scheme"), SLICE("https"), HPACK_SCHEME },
	[8] = { SLICE(":status"), SLICE("200"), HPACK_STATUS },
	[9] = { SLICE(":status"), SLICE("204"), HPACK_STATUS },
	[10] = { SLICE(":status"), SLICE("206"), HPACK_STATUS },
	[11] = { SLICE(":status"), SLICE("304"), HPACK_STATUS },
	[12] = { SLICE(":status"), SLICE("400"), HPACK_STATUS },
	[13] = { SLICE(":status"), SLICE("404"), HPACK_STATUS },
	[14] = { SLICE(":status"), SLICE("500"), HPACK_STATUS },
	[15] = { SLICE("accept-charset"), SLICE(""), FIELD_ACCEPT_CHARSET },
	[16] = { SLICE("accept-encoding"), SLICE("gzip, deflate"), FIELD_ACCEPT_ENCODING },
	[17] = { SLICE("accept-language"), SLICE(""), FIELD_ACCEPT_LANGUAGE },
	[18] = { SLICE("accept-ranges"), SLICE(""), FIELD_ACCEPT_RANGES },
	[19] = { SLICE("accept"), SLICE(""), FIELD_ACCEPT },
	[20] = { SLICE("access-control-allow-origin"), SLICE(""), FIELD_OTHER },
	[21] = { SLICE("age"), SLICE(""), FIELD_AGE },
	[22] = { SLICE("allow"), SLICE(""), FIELD_ALLOW },
	[23] = { SLICE("authorization"), SLICE(""), FIELD_AUTHORIZATION },
	[24] = { SLICE("cache-control"), SLICE(""), FIELD_CACHE_CONTROL },
	[25] = { SLICE("content-disposition"), SLICE(""), FIELD_CONTENT_DISPOSITION },
	[26] = { SLICE("content-encoding"), SLICE(""), FIELD_CONTENT_ENCODING },
	[27] = { SLICE("content-language"), SLICE(""), FIELD_CONTENT_LANGUAGE },
	[28] = { SLICE("content-length"), SLICE(""), FIELD_CONTENT_LENGTH },
	[29] = { SLICE("content-location"), SLICE(""), FIELD_CONTENT_LOCATION },
	[30] = { SLICE("content-range"), SLICE(""), FIELD_CONTENT_RANGE },
	[31] = { SLICE("content-type"), SLICE(""), FIELD_CONTENT_TYPE },
	[32] = { SLICE("cookie"), SLICE(""), FIELD_COOKIE },
	[33] = { SLICE("date"), SLICE(""), FIELD_DATE },
	[34] = { SLICE("etag"), SLICE(""), FIELD_ETAG },
	[35] = { SLICE("expect"), SLICE(""), FIELD_EXPECT },
	[36] = { SLICE("expires"), SLICE(""), FIELD_EXPIRES },
	[37] = { SLICE("from"), SLICE(""), FIELD_FROM },
	[38] = { SLICE("host"), SLICE(""), FIELD_HOST },
	[39] = { SLICE("if-match"), SLICE(""), FIELD_IF_MATCH },
	[40] = { SLICE("if-modified-since"), SLICE(""), FIELD_IF_MODIFIED_SINCE },
	[41] = { SLICE("if-none-match"), SLICE(""), FIELD_IF_NONE_MATCH },
	[42] = { SLICE("if-range"), SLICE(""), FIELD_IF_RANGE },
	[43] = { SLICE("if-unmodified-since"), SLICE(""), FIELD_IF_UNMODIFIED_SINCE },
	[44] = { SLICE("last-modified"), SLICE(""), FIELD_LAST_MODIFIED },
	[45] = { SLICE("link"), SLICE(""), FIELD_LINK },
	[46] = { SLICE("location"), SLICE(""), FIELD_LOCATION },
	[47] = { SLICE("max-forwards"), SLICE(""), FIELD_MAX_FORWARDS },
	[48] = { SLICE("proxy-authenticate"), SLICE(""), FIELD_PROXY_AUTHENTICATE },
	[49] = { SLICE("proxy-authorization"), SLICE(""), FIELD_PROXY_AUTHORIZATION },
	[50] = { SLICE("range"), SLICE(""), FIELD_RANGE },
	[51] = { SLICE("referer"), SLICE(""), FIELD_REFERER },
	[52] = { SLICE("refresh"), SLICE(""), FIELD_OTHER },
	[53] = { SLICE("retry-after"), SLICE(""), FIELD_RETRY_AFTER },
	[54] = { SLICE("server"), SLICE(""), FIELD_SERVER },
	[55] = { SLICE("set-cookie"), SLICE(""), FIELD_SET_COOKIE },
	[56] = { SLICE("strict-transport-security"), SLICE(""), FIELD_STRICT_TRANSPORT_SECURITY },
	[57] = { SLICE("transfer-encoding"), SLICE(""), FIELD_TRANSFER_ENCODING },
	[58] = { SLICE("user-agent"), SLICE(""), FIELD_USER_AGENT },
	[59] = { SLICE("vary"), SLICE(""), FIELD_VARY },
	[60] = { SLICE("via"), SLICE(""), FIELD_VIA },
	[61] = { SLICE("www-authenticate"), SLICE(""), FIELD_WWW_AUTHENTICATE },
};

const uint8_t hpack_static_of[HPACK_NAME_COUNT] = {
	[HPACK_AUTHORITY] = 1,
	[HPACK_METHOD] = 2,
	[HPACK_PATH] = 4,
	[HPACK_SCHEME] = 6,
	[HPACK_STATUS] = 8,
	[FIELD_ACCEPT_CHARSET] = 15,
	[FIELD_ACCEPT_ENCODING] = 16,
	[FIELD_ACCEPT_LANGUAGE] = 17,
	[FIELD_ACCEPT_RANGES] = 18,
	[FIELD_ACCEPT] = 19,
	[FIELD_AGE] = 21,
	[FIELD_ALLOW] = 22,
	[FIELD_AUTHORIZATION] = 23,
	[FIELD_CACHE_CONTROL] = 24,
	[FIELD_CONTENT_DISPOSITION] = 25,
	[FIELD_CONTENT_ENCODING] = 26,
	[FIELD_CONTENT_LANGUAGE] = 27,
	[FIELD_CONTENT_LENGTH] = 28,
	[FIELD_CONTENT_LOCATION] = 29,
	[FIELD_CONTENT_RANGE] = 30,
	[FIELD_CONTENT_TYPE] = 31,
	[FIELD_COOKIE] = 32,
	[FIELD_DATE] = 33,
	[FIELD_ETAG] = 34,
	[FIELD_EXPECT] = 35,
	[FIELD_EXPIRES] = 36,
	[FIELD_FROM] = 37,
	[FIELD_HOST] = 38,
	[FIELD_IF_MATCH] = 39,
	[FIELD_IF_MODIFIED_SINCE] = 40,
	[FIELD_IF_NONE_MATCH] = 41,
	[FIELD_IF_RANGE] = 42,
	[FIELD_IF_UNMODIFIED_SINCE] = 43,
	[FIELD_LAST_MODIFIED] = 44,
	[FIELD_LINK] = 45,
	[FIELD_LOCATION] = 46,
	[FIELD_MAX_FORWARDS] = 47,
	[FIELD_PROXY_AUTHENTICATE] = 48,
	[FIELD_PROXY_AUTHORIZATION] = 49,
	[FIELD_RANGE] = 50,
	[FIELD_REFERER] = 51,
	[FIELD_RETRY_AFTER] = 53,
	[FIELD_SERVER] = 54,
	[FIELD_SET_COOKIE] = 55,
	[FIELD_STRICT_TRANSPORT_SECURITY] = 56,
	[FIELD_TRANSFER_ENCODING] = 57,
	[FIELD_USER_AGENT] = 58,
	[FIELD_VARY] = 59,
	[FIELD_VIA] = 60,
	[FIELD_WWW_AUTHENTICATE] = 61,
};

static const struct slice pseudo_names[] = {
#define X(symbol, name) [HPACK_##symbol - FIELD_COUNT] = SLICE(name),
	HPACK_PSEUDO(X)
#undef X
};

static const char *const error_texts[] = {
#define X(symbol, text) [HPACK_ERR_##symbol] = text,
	HPACK_ERRORS(X)
#undef X
};

struct slice hpack_name_of(uint8_t id)
{
	return id < FIELD_COUNT ? field_name_of(id) : pseudo_names[id - FIELD_COUNT];
}

uint8_t hpack_id_of(struct slice name)
{
	if (!name.len || name.ptr[0] != ':')
		return field_id_of_lower(name.ptr, name.len);
	for (unsigned i = 0; i < ARRAY_LEN(pseudo_names); i++) {
		if (slice_eq(name, pseudo_names[i]))
			return (uint8_t)(FIELD_COUNT + i);
	}
	return FIELD_OTHER;
}

const char *hpack_error_text(uint8_t error)
{
	return error < ARRAY_LEN(error_texts) ? error_texts[error] : "unknown error";
}
