/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chunked decoding: tables of bodies, each decoded in pieces of every size. */
#include <stdlib.h>
#include "codec/chunk.h"
#include "tap.h"

static char payload[4096];
static size_t payload_len, used;
static struct chunk_decoder decoder;

/* Decodes <text> given in pieces of <step> bytes; collects the payload. */
static enum h1_status decode(const char *text, size_t len, size_t step)
{
	enum h1_status status = H1_MORE;
	struct chunk_step got;
	size_t size;

	chunk_decoder_init(&decoder);
	payload_len = used = 0;
	while (status == H1_MORE && used < len) {
		size = len - used < step ? len - used : step;
		status = chunk_decode(&decoder, slice_make(text + used, size), &got);
		if (got.payload > got.used || got.used > size)
			return H1_ERROR;
		memcpy(payload + payload_len, text + used + got.used - got.payload, got.payload);
		payload_len += got.payload;
		used += got.used;
	}
	return status;
}

static const struct {
	const char *text;
	enum h1_status status;
	const char *payload;
	int error;
} rows[] = {
	{ "5\r\nhello\r\n0\r\n", H1_DONE, "hello", 0 },
	{ "5\r\nhello\r\nA\r\n0123456789\r\n0\r\n\r\n", H1_DONE, "hello0123456789", 0 },
	{ "a\r\n0123456789\r\n000\r\n", H1_DONE, "0123456789", 0 },
	{ "0\r\n", H1_DONE, "", 0 },
	{ "0;last\r\n", H1_DONE, "", 0 },
	{ "5 \r\nhello\r\n0\r\n", H1_DONE, "hello", 0 },
	{ "5\t\r\nhello\r\n0\r\n", H1_DONE, "hello", 0 },
	{ "5;a=b\r\nhello\r\n0\r\n", H1_DONE, "hello", 0 },
	{ "5;\r\nhello\r\n0\r\n", H1_DONE, "hello", 0 },
	{ "5 ;a=\"b\"\r\nhello\r\n0\r\n", H1_DONE, "hello", 0 },
	{ "5;a=\"b;\\\"c\";d\r\nhello\r\n0\r\n", H1_DONE, "hello", 0 },
	{ "5;a=\"b\\\\\"\r\nhello\r\n0\r\n", H1_DONE, "hello", 0 },
	{ "5;a\\\r\nhello\r\n0\r\n", H1_DONE, "hello", 0 },
	{ "5;a=\"b\r\nhello\r\n0\r\n", H1_ERROR, "", H1_ERR_CHUNK_EXTENSION },
	{ "5;a=\"b\\\"\r\nhello\r\n0\r\n", H1_ERROR, "", H1_ERR_CHUNK_EXTENSION },
	{ "5;a=\"b\\\r\n\"\r\nhello\r\n0\r\n", H1_ERROR, "", H1_ERR_CHUNK_EXTENSION },
	{ "00000000000000000005\r\nhello\r\n0\r\n", H1_DONE, "hello", 0 },
	{ "ffffffff\r\nhello", H1_MORE, "hello", 0 },
	{ "5\r\nhel", H1_MORE, "hel", 0 },
	{ "5\r\nhello\r\n", H1_MORE, "hello", 0 },
	{ "5", H1_MORE, "", 0 },
	{ "100000000\r\n", H1_ERROR, "", H1_ERR_CHUNK_SIZE },
	{ "10000000000000000\r\n", H1_ERROR, "", H1_ERR_CHUNK_SIZE },
	{ "fffffffffffffffff\r\n", H1_ERROR, "", H1_ERR_CHUNK_SIZE },
	{ "\r\n", H1_ERROR, "", H1_ERR_CHUNK_SIZE },
	{ "5\nhello", H1_ERROR, "", H1_ERR_CHUNK_SIZE },
	{ "5\rhello", H1_ERROR, "", H1_ERR_CHUNK_SIZE },
	{ " 5\r\n", H1_ERROR, "", H1_ERR_CHUNK_SIZE },
	{ "0x5\r\n", H1_ERROR, "", H1_ERR_CHUNK_SIZE },
	{ "+5\r\n", H1_ERROR, "", H1_ERR_CHUNK_SIZE },
	{ "-5\r\n", H1_ERROR, "", H1_ERR_CHUNK_SIZE },
	{ "5 5\r\n", H1_ERROR, "", H1_ERR_CHUNK_SIZE },
	{ ";a\r\n", H1_ERROR, "", H1_ERR_CHUNK_SIZE },
	{ "5;a\nb\r\n", H1_ERROR, "", H1_ERR_CHUNK_EXTENSION },
	{ "5;a\rb\r\n", H1_ERROR, "", H1_ERR_CHUNK_EXTENSION },
	{ "5;a\1\r\n", H1_ERROR, "", H1_ERR_CHUNK_EXTENSION },
	{ "5\r\nhello\n0\r\n", H1_ERROR, "hello", H1_ERR_CHUNK_END },
	{ "5\r\nhelloX\r\n", H1_ERROR, "hello", H1_ERR_CHUNK_END },
	{ "5\r\nhello\rX", H1_ERROR, "hello", H1_ERR_CHUNK_END },
	{ "5\r\nhello\r\n0\n\r\n", H1_ERROR, "hello", H1_ERR_CHUNK_SIZE },
};

static void check_decode(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t len = strlen(rows[i].text), bad = 0;

		for (size_t step = 1; step <= len; step++) {
			enum h1_status status = decode(rows[i].text, len, step);

			if (status != rows[i].status || decoder.error != rows[i].error ||
			    payload_len != strlen(rows[i].payload) ||
			    memcmp(payload, rows[i].payload, payload_len) != 0)
				bad = step;
		}
		is_int(bad, 0, "body %zu in pieces of any size", i);
	}
	is_int(decode("5\r\nhello\r\n0\r\nX: y\r\n\r\n", 22, 100), H1_DONE, "trailers follow");
	is_int(used, 13, "the trailers are not used");
}

static void check_limits(void)
{
	char *text = calloc(1, 2 * CHUNK_EXTENSION_MAX);

	if (!text)
		return;
	memset(text, 'a', 2 * CHUNK_EXTENSION_MAX);
	memcpy(text, "5;", 2);
	is_int(decode(text, 2 * CHUNK_EXTENSION_MAX, 1000), H1_ERROR, "endless extension");
	is_int(decoder.error, H1_ERR_CHUNK_EXTENSION, "is refused as such");
	memset(text, '0', 2 * CHUNK_EXTENSION_MAX);
	is_int(decode(text, 2 * CHUNK_EXTENSION_MAX, 1000), H1_ERROR, "endless zeros");
	free(text);
}

static struct h1_field fields[2];
static struct chunk_trailers trailers = { .fields = fields, .capacity = 2 };

static enum h1_status parse_trailers(const char *text)
{
	static char copy[256];

	snprintf(copy, sizeof(copy), "%s", text);
	return chunk_parse_trailers(slice_make(copy, strlen(copy)), &trailers);
}

static void check_trailers(void)
{
	is_int(parse_trailers("\r\n"), H1_DONE, "no trailer");
	is_int(trailers.used, 2, "an empty line");
	is_int(trailers.count, 0, "no field");
	is_int(parse_trailers("X-A: b\r\nContent-Length: 7\r\nHost: z\r\nC:d\n\r\nrest"), H1_DONE,
	       "two trailers and two forbidden fields");
	is_int(trailers.count, 2, "the forbidden ones are skipped");
	ok(slice_eq(fields[0].name, SLICE("x-a")) && slice_eq(fields[0].value, SLICE("b")) &&
	   slice_eq(fields[1].name, SLICE("c")) && slice_eq(fields[1].value, SLICE("d")), "fields");
	is_int(parse_trailers("Content-Length: 7,8\r\n\r\n"), H1_ERROR, "forbidden and wrong");
	is_int(parse_trailers("Transfer-Encoding: chunked\r\n\r\n"), H1_ERROR, "a coding");
	is_int(parse_trailers("Host: a/b\r\n\r\n"), H1_ERROR, "forbidden and wrong");
	is_int(parse_trailers("X: a\r\n"), H1_MORE, "no end");
	is_int(parse_trailers("X: a\r\n\r"), H1_MORE, "no end");
	is_int(parse_trailers("X a\r\n\r\n"), H1_ERROR, "no colon");
	is_int(parse_trailers("X: a\rb\r\n\r\n"), H1_ERROR, "bare CR");
	is_int(parse_trailers("1:\r\n2:\r\n3:\r\n\r\n"), H1_ERROR, "too many");
	is_int(trailers.error, H1_ERR_TOO_MANY_FIELDS, "is said");
}

static void check_encode(void)
{
	static const struct { uint64_t size; const char *text; } sizes[] = {
		{ 0, "0\r\n" }, { 1, "1\r\n" }, { 15, "F\r\n" }, { 16, "10\r\n" },
		{ 0x4000, "4000\r\n" }, { UINT64_MAX, "FFFFFFFFFFFFFFFF\r\n" },
	};
	char out[CHUNK_SIZE_LINE_MAX];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		size_t len = chunk_put_size(out, sizes[i].size);

		ok(len == strlen(sizes[i].text) && memcmp(out, sizes[i].text, len) == 0,
		   "size line %s", sizes[i].text[0] ? "as wanted" : "");
	}
}

int main(void)
{
	check_decode();
	check_limits();
	check_trailers();
	check_encode();
	return done_testing();
}
