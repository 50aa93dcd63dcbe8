/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Targets, cookies, dates and the table of field names. */
#include "codec/cookie.h"
#include "codec/date.h"
#include "codec/field_names.h"
#include "codec/uri.h"
#include "tap.h"

/* The pieces of a URI between bars; "-" is one that is not there. */
static const char *pieces(const char *text, bool authority)
{
	static char out[512];
	struct uri u;
	size_t len = 0;

	if (!uri_parse(slice_of(text), authority, &u))
		return "malformed";
	const struct slice all[] = { u.scheme, u.user, u.host, u.port_text, u.path, u.query,
				     u.fragment };
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		len += (size_t)snprintf(out + len, sizeof(out) - len, "%s%.*s", i ? "|" : "",
					all[i].ptr ? (int)all[i].len : 1,
					all[i].ptr ? all[i].ptr : "-");
	return out;
}

static const struct {
	const char *text, *wanted;
	bool authority;
} uris[] = {
	{ "/", "-|-|-|-|/|-|-", false },
	{ "/a/b?c=d#e", "-|-|-|-|/a/b|c=d|e", false },
	{ "/?", "-|-|-|-|/||-", false },
	{ "/#?x", "-|-|-|-|/|-|?x", false },
	{ "//x", "-|-|-|-|//x|-|-", false },
	{ "*", "-|-|-|-|*|-|-", false },
	{ "http://a", "http|-|a|-|-|-|-", false },
	{ "http://a/", "http|-|a|-|/|-|-", false },
	{ "http://a:/", "http|-|a||/|-|-", false },
	{ "hTTp://u:p@a:80?q", "hTTp|u:p|a|80|-|q|-", false },
	{ "http://u@v@w/", "http|u@v|w|-|/|-|-", false },
	{ "http://[::1]:80/", "http|-|[::1]|80|/|-|-", false },
	{ "a:80", "-|-|a|80|-|-|-", true },
	{ "a", "-|-|a|-|-|-|-", true },
	{ "", "malformed", false }, { "a", "malformed", false }, { "*x", "malformed", false },
	{ "http://", "malformed", false }, { "http:///x", "malformed", false },
	{ "http://a:65536/", "malformed", false }, { "http://a:x/", "malformed", false },
	{ "http://[::1/", "malformed", false }, { "http://[::1]x/", "malformed", false },
	{ "/a b", "malformed", false }, { "/\1", "malformed", false },
	{ "1http://a", "malformed", false }, { "/x", "malformed", true },
};

static void check_uris(void)
{
	struct slice value, query = SLICE("a=1&b&c==2&a=3");
	char out[16];

	for (size_t i = 0; i < sizeof(uris) / sizeof(*uris); i++)
		is_str(pieces(uris[i].text, uris[i].authority), uris[i].wanted, "uri '%s'",
		       uris[i].text);
	ok(uri_query_find(query, SLICE("a"), '&', &value) && slice_eq(value, SLICE("1")), "a");
	ok(uri_query_find(query, SLICE("b"), '&', &value) && slice_is_none(value), "b");
	ok(uri_query_find(query, SLICE("c"), '&', &value) && slice_eq(value, SLICE("=2")), "c");
	ok(!uri_query_find(query, SLICE("d"), '&', &value), "no d");
	is_int(uri_decode(SLICE("%41+%7a"), false, out), 3, "decoded");
	is_mem(out, "A+z", 3, "decoded");
	is_int(uri_decode(SLICE("%41+"), true, out), 2, "decoded form");
	is_mem(out, "A ", 2, "decoded form");
	ok(uri_decode(SLICE("%4"), true, out) == SIZE_MAX &&
	   uri_decode(SLICE("%4g"), true, out) == SIZE_MAX, "bad escapes");
	is_int(uri_default_port(SLICE("HTTPS")), 443, "default port");
}

static void check_cookies(void)
{
	struct slice list = SLICE("a=1; b = \"x;y\" ;c; =d;;a=2"), rest = list, value, cut;
	static const char *const names[] = { "a", "b", "c", "", "a" };
	struct cookie c;

	for (int i = 0; i < 5; i++)
		ok(cookie_next(&rest, &c) && slice_eq(c.name, slice_of(names[i])), "cookie %d", i);
	ok(!cookie_next(&rest, &c), "no more");
	ok(cookie_find(list, SLICE("a"), &value) && slice_eq(value, SLICE("1")), "first a");
	ok(cookie_find(list, SLICE("b"), &value) && slice_eq(value, SLICE("\"x;y\"")), "quoted");
	ok(!cookie_find(list, SLICE("c"), &value) && !cookie_find(list, SLICE("A"), &value),
	   "without value, other case");
	rest = list = SLICE("a=1; b=2; c=3");
	cookie_next(&rest, &c);
	cut = cookie_extent(list, &c);
	ok(cut.ptr == list.ptr && cut.len == 5, "cut the first");
	cookie_next(&rest, &c);
	cookie_next(&rest, &c);
	cut = cookie_extent(list, &c);
	ok(cut.ptr == list.ptr + 8 && cut.len == 5, "cut the last");
	ok(cookie_parse_set(SLICE(" id = v ; Path=/x; HttpOnly"), &c, &rest) &&
	   slice_eq(c.name, SLICE("id")) && slice_eq(c.value, SLICE("v")), "set-cookie");
	ok(cookie_attribute_find(rest, SLICE("path"), &value) && slice_eq(value, SLICE("/x")),
	   "attribute");
	ok(cookie_attribute_find(rest, SLICE("httponly"), &value) && slice_is_none(value), "flag");
	ok(!cookie_parse_set(SLICE("novalue"), &c, &rest), "no value");
}

static void check_dates(void)
{
	static const struct { int64_t seconds; const char *text; } dates[] = {
		{ 784111777, "Sun, 06 Nov 1994 08:49:37 GMT" },
		{ 0, "Thu, 01 Jan 1970 00:00:00 GMT" },
		{ 951782400, "Tue, 29 Feb 2000 00:00:00 GMT" },
		{ -1, "Wed, 31 Dec 1969 23:59:59 GMT" },
		{ 4107542400, "Mon, 01 Mar 2100 00:00:00 GMT" },
		{ 253402300799, "Fri, 31 Dec 9999 23:59:59 GMT" },
	};
	static const char *const bad[] = { "", "Sun, 31 Feb 1994 08:49:37 GMT",
		"Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC",
		"Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT" };
	char out[DATE_IMF_LEN + 1] = "";
	int64_t got;

	for (size_t i = 0; i < sizeof(dates) / sizeof(*dates); i++) {
		date_put_imf(out, dates[i].seconds);
		is_str(out, dates[i].text, "date");
		ok(date_parse(slice_of(out), &got) && got == dates[i].seconds, "read back");
	}
	ok(date_parse(SLICE("Sunday, 06-Nov-94 08:49:37 GMT"), &got) && got == 784111777, "850");
	ok(date_parse(SLICE("Sun Nov  6 08:49:37 1994"), &got) && got == 784111777, "asctime");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(!date_parse(slice_of(bad[i]), &got), "bad date '%s'", bad[i]);
}

static void check_names(void)
{
	for (int id = 1; id < FIELD_COUNT; id++) {
		struct slice name = field_name_of((uint8_t)id);
		char upper[64];

		for (size_t i = 0; i < name.len; i++)
			upper[i] = ascii_upper(name.ptr[i]);
		ok(field_id_of_lower(name.ptr, name.len) == id &&
		   field_id_of(slice_make(upper, name.len)) == id, "%.*s", SLICE_FMT(name));
	}
	ok(!field_id_of(SLICE("x-unknown")) && !field_id_of(SLICE("")) &&
	   !field_id_of(SLICE("x")) &&
	   !field_id_of(SLICE("hoxt")), "unknown names");
	ok(slice_is_none(field_name_of(0)) && slice_is_none(field_name_of(255)), "no name");
}

int main(void)
{
	check_uris();
	check_cookies();
	check_dates();
	check_names();
	return done_testing();
}
