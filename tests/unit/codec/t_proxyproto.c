/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PROXY protocol: lines and binary headers, what is refused, and that what is made can be read. */
#include "codec/proxyproto.h"
#include "tap.h"

static struct proxyproto pp;

static const struct {
	const char *text;
	enum proxyproto_status status;
	int error;
	const char *source, *destination; /* NULL: none */
} lines[] = {
	{ "PROXY TCP4 1.2.3.4 5.6.7.8 1000 80\r\n", PROXYPROTO_DONE, 0, "1.2.3.4:1000",
	  "5.6.7.8:80" },
	{ "PROXY TCP6 ::1 fe80::2 0 65535\r\nGET", PROXYPROTO_DONE, 0, "[::1]:0",
	  "[fe80::2]:65535" },
	{ "PROXY UNKNOWN\r\n", PROXYPROTO_DONE, 0, NULL, NULL },
	{ "PROXY UNKNOWN ff:: any thing\r\n", PROXYPROTO_DONE, 0, NULL, NULL },
	{ "PRO", PROXYPROTO_MORE, 0, NULL, NULL },
	{ "", PROXYPROTO_MORE, 0, NULL, NULL },
	{ "PROXY TCP4 1.2.3.4 5.6.7.8 1000 80\r", PROXYPROTO_MORE, 0, NULL, NULL },
	{ "GET / HTTP/1.1\r\n", PROXYPROTO_ERROR, PROXYPROTO_ERR_SIGNATURE, NULL, NULL },
	{ "PROXY  TCP4 1.2.3.4 5.6.7.8 1 2\r\n", PROXYPROTO_ERROR, PROXYPROTO_ERR_PROTOCOL, NULL,
	  NULL },
	{ "PROXY TCP5 1.2.3.4 5.6.7.8 1 2\r\n", PROXYPROTO_ERROR, PROXYPROTO_ERR_PROTOCOL, NULL,
	  NULL },
	{ "PROXY TCP4 1.2.3.4 ::1 1 2\r\n", PROXYPROTO_ERROR, PROXYPROTO_ERR_ADDRESS, NULL, NULL },
	{ "PROXY TCP4 1.2.3.256 1.1.1.1 1 2\r\n", PROXYPROTO_ERROR, PROXYPROTO_ERR_ADDRESS, NULL,
	  NULL },
	{ "PROXY TCP4 1.2.3.4\r\n", PROXYPROTO_ERROR, PROXYPROTO_ERR_ADDRESS, NULL, NULL },
	{ "PROXY TCP4 1.2.3.4  1.1.1.1 1 2\r\n", PROXYPROTO_ERROR, PROXYPROTO_ERR_ADDRESS, NULL,
	  NULL },
	{ "PROXY TCP4 1.2.3.4 1.1.1.1 1 65536\r\n", PROXYPROTO_ERROR, PROXYPROTO_ERR_PORT, NULL,
	  NULL },
	{ "PROXY TCP4 1.2.3.4 1.1.1.1 01 2\r\n", PROXYPROTO_ERROR, PROXYPROTO_ERR_PORT, NULL,
	  NULL },
	{ "PROXY TCP4 1.2.3.4 1.1.1.1 -1 2\r\n", PROXYPROTO_ERROR, PROXYPROTO_ERR_PORT, NULL,
	  NULL },
	{ "PROXY TCP4 1.2.3.4 1.1.1.1 1\r\n", PROXYPROTO_ERROR, PROXYPROTO_ERR_PORT, NULL, NULL },
	{ "PROXY TCP4 1.2.3.4 1.1.1.1 1 2 \r\n", PROXYPROTO_ERROR, PROXYPROTO_ERR_LINE_END, NULL,
	  NULL },
	{ "PROXY TCP4 1.2.3.4 1.1.1.1 1 2\n", PROXYPROTO_ERROR, PROXYPROTO_ERR_LINE_END, NULL,
	  NULL },
	{ "PROXY \r\r\n", PROXYPROTO_ERROR, PROXYPROTO_ERR_LINE_END, NULL, NULL },
	{ "PROXY UNKNOWN 0123456789012345678901234567890123456789012345678901234567890123456789"
	  "0123456789012345678901234567890", PROXYPROTO_ERROR, PROXYPROTO_ERR_TOO_LONG, NULL,
	  NULL },
};

static bool is_address(const struct addr *a, const char *text)
{
	char out[ADDR_MAX];

	if (!text)
		return a->family == ADDR_NONE;
	addr_put(a, out, sizeof(out));
	return strcmp(out, text) == 0;
}

static void check_lines(void)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		enum proxyproto_status status = proxyproto_parse(slice_of(lines[i].text), &pp);

		ok(status == lines[i].status && pp.error == lines[i].error &&
		   (status != PROXYPROTO_DONE || (is_address(&pp.source, lines[i].source) &&
						  is_address(&pp.destination,
							     lines[i].destination))),
		   "line %zu: %s", i, proxyproto_error_text(pp.error));
	}
}

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
#define B(bytes, status, error) { SIGNATURE bytes, sizeof(SIGNATURE bytes) - 1, \
	PROXYPROTO_##status, PROXYPROTO_ERR_##error }

static const struct {
	const char *bytes;
	size_t len;
	enum proxyproto_status status;
	int error;
} binaries[] = {
	B("\x21\x11\0\x0c" "\1\2\3\4\5\6\7\10\0\1\0\2", DONE, NONE),
	B("\x21\x11\0\x0c" "\1\2\3\4\5\6\7\10\0\1\0", MORE, NONE),
	B("\x20\0\0\0", DONE, NONE),
	B("\x20\0\0\2xx", DONE, NONE),
	B("\x21\0\0\0", DONE, NONE),
	B("\x21\0\0\3\4\0\0", DONE, NONE),
	B("\x21\0\0\3\4\0\1", ERROR, TLV),
	B("\x21\0\0\2\4\0", ERROR, TLV),
	B("\x21\0\0\3\3\0\0", ERROR, TLV),
	B("\x21\0\0\7\3\0\4abcd", ERROR, CRC),
	B("\x31\x11\0\0", ERROR, VERSION),
	B("\x22\x11\0\0", ERROR, COMMAND),
	B("\x21\x11\0\x0b" "12345678901", ERROR, LENGTH),
	B("\x21\x21\0\x23" "12345678901234567890123456789012345", ERROR, LENGTH),
	B("\x21\x31\0\1x", ERROR, LENGTH),
	B("\x21\x41\0\1x", ERROR, ADDRESS),
	B("", MORE, NONE),
};

static void check_binaries(void)
{
	for (size_t i = 0; i < sizeof(binaries) / sizeof(*binaries); i++) {
		struct slice input = slice_make(binaries[i].bytes, binaries[i].len);
		enum proxyproto_status status = proxyproto_parse(input, &pp);
		size_t early = 0;

		ok(status == binaries[i].status && pp.error == binaries[i].error,
		   "header %zu: %s", i, proxyproto_error_text(pp.error));
		/* no shorter input may be complete */
		for (size_t len = 0; status == PROXYPROTO_DONE && len < pp.length; len++) {
			struct proxyproto cut;

			if (proxyproto_parse(slice_make(input.ptr, len), &cut) != PROXYPROTO_MORE)
				early = len + 1;
		}
		is_int(early, 0, "header %zu: cut ones are incomplete", i);
	}
	proxyproto_parse(slice_make(binaries[0].bytes, binaries[0].len), &pp);
	ok(is_address(&pp.source, "1.2.3.4:1") && is_address(&pp.destination, "5.6.7.8:2"),
	   "addresses");
	proxyproto_parse(slice_make(binaries[2].bytes, binaries[2].len), &pp);
	ok(pp.local, "local");
}

static void check_unix(void)
{
	char text[16 + 216] = SIGNATURE "\x21\x31\0\xd8" "/source";

	strcpy(text + 16 + 108, "/destination");
	is_int(proxyproto_parse(slice_make(text, sizeof(text)), &pp), PROXYPROTO_DONE, "unix");
	ok(pp.source.family == ADDR_UNIX && slice_eq(pp.source_path, SLICE("/source")) &&
	   slice_eq(pp.destination_path, SLICE("/destination")), "paths");
	memset(text + 16, 'a', 216);
	proxyproto_parse(slice_make(text, sizeof(text)), &pp);
	is_int(pp.source_path.len, 108, "a path without NUL");
}

static void check_make_v1(const struct addr *v4, const struct addr *v6)
{
	char out[PROXYPROTO_V1_MAX + 1];

	is_int(proxyproto_make_v1(out, sizeof(out), v4, v4), 34, "line");
	is_str(out, "PROXY TCP4 1.2.3.4 1.2.3.4 80 80\r\n", "v4");
	proxyproto_make_v1(out, sizeof(out), v4, v6);
	is_str(out, "PROXY TCP6 ::ffff:1.2.3.4 ::1 80 443\r\n", "mixed");
	proxyproto_make_v1(out, sizeof(out), NULL, v6);
	is_str(out, "PROXY UNKNOWN\r\n", "unknown");
	is_int(proxyproto_make_v1(out, 20, v4, v4), 0, "no room");
}

static void check_make_v2(const struct addr *v4, const struct addr *v6)
{
	struct proxyproto_writer w;
	struct slice value, inner;
	uint8_t out[256], client;
	uint32_t verify;
	size_t len;

	proxyproto_v2_begin(&w, out, sizeof(out), v4, v6);
	proxyproto_v2_tlv(&w, PROXYPROTO_TLV_AUTHORITY, SLICE("a.example"));
	proxyproto_v2_ssl_begin(&w, PROXYPROTO_CLIENT_SSL, 7);
	proxyproto_v2_tlv(&w, PROXYPROTO_TLV_SSL_VERSION, SLICE("TLSv1.3"));
	proxyproto_v2_ssl_end(&w);
	proxyproto_v2_crc32c(&w);
	proxyproto_v2_tlv(&w, PROXYPROTO_TLV_UNIQUE_ID, SLICE("id"));
	len = proxyproto_v2_end(&w);
	is_int(len, 16 + 36 + 12 + 8 + 10 + 7 + 5, "length");
	is_int(proxyproto_parse(slice_make((char *)out, len), &pp), PROXYPROTO_DONE, "reads back");
	is_int(pp.length, len, "same length");
	ok(is_address(&pp.source, "[::ffff:1.2.3.4]:80") &&
	   is_address(&pp.destination, "[::1]:443"),
	   "addresses");
	value = proxyproto_tlv_find(pp.tlvs, PROXYPROTO_TLV_AUTHORITY);
	ok(slice_eq(value, SLICE("a.example")), "authority");
	ok(slice_eq(proxyproto_tlv_find(pp.tlvs, PROXYPROTO_TLV_UNIQUE_ID), SLICE("id")), "id");
	ok(slice_is_none(proxyproto_tlv_find(pp.tlvs, PROXYPROTO_TLV_ALPN)), "no ALPN");
	value = proxyproto_tlv_find(pp.tlvs, PROXYPROTO_TLV_SSL);
	ok(proxyproto_ssl_open(value, &client, &verify, &inner) && client == 1 && verify == 7 &&
	   slice_eq(proxyproto_tlv_find(inner, PROXYPROTO_TLV_SSL_VERSION), SLICE("TLSv1.3")),
	   "ssl");
	out[len - 1] ^= 1;
	is_int(proxyproto_parse(slice_make((char *)out, len), &pp), PROXYPROTO_ERROR, "altered");
	is_int(pp.error, PROXYPROTO_ERR_CRC, "the checksum tells");
	for (size_t room = 0; room < len; room++) {
		proxyproto_v2_begin(&w, out, room, v4, v6);
		proxyproto_v2_tlv(&w, 1, SLICE("0123456789012345678901234567890123456789"));
		if (proxyproto_v2_end(&w))
			ok(false, "fits in %zu", room);
	}
	proxyproto_v2_begin(&w, out, sizeof(out), NULL, NULL);
	is_int(proxyproto_v2_end(&w), 16, "local");
	is_int(out[12], 0x20, "local");
}

int main(void)
{
	struct addr v4, v6;

	addr_parse_ip(SLICE("1.2.3.4"), 0, &v4);
	addr_parse_ip(SLICE("::1"), 0, &v6);
	v4.port = 80;
	v6.port = 443;
	check_lines();
	check_binaries();
	check_unix();
	check_make_v1(&v4, &v6);
	check_make_v2(&v4, &v6);
	return done_testing();
}
