/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The H1 head parser: tables of heads and what must come out, each parsed whole and byte by
 * byte.
 */
#include "h1_naive.h"
#include "tap.h"

#define CAPACITY 12

static struct h1_field fields[CAPACITY];
static struct h1_head head = { .fields = fields, .field_capacity = CAPACITY };
static struct h1_parser parser;
static char area[2][8192];
static char *buffers[2] = { area[0], area[1] };

static enum h1_status parse(uint8_t options, const char *text, size_t len, size_t step)
{
	return naive_feed(text, len, step, options, buffers, &head, &parser);
}

struct row {
	const char *text;
	size_t len;
	uint8_t error;   /* enum h1_error, strict */
	uint8_t unsafe;  /* the same with violations accepted */
};
#define R(text, error, unsafe) { text, sizeof(text) - 1, H1_ERR_##error, H1_ERR_##unsafe }
#define BAD(text, error) R(text, error, error)
#define GOOD(text) R(text, NONE, NONE)
#define REQ(field) "POST / HTTP/1.1\r\nHost: a\r\n" field "\r\n\r\n"
#define RSP(field) "HTTP/1.1 200 OK\r\n" field "\r\n\r\n"

static const struct row requests[] = {
	GOOD("GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
	GOOD("GET / HTTP/1.1\nHost: a\n\n"),
	GOOD("\r\n\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
	GOOD("GET  /\t HTTP/1.1\r\n\r\n"),
	GOOD("G!#$%&'*+-.^_`|~0 / HTTP/1.1\r\n\r\n"),
	GOOD("GET / HTTP/1.0\r\n\r\n"),
	GOOD("GET / HTTP/2.0\r\n\r\n"),
	GOOD("GET /\"<>\\^`{|} HTTP/1.1\r\n\r\n"),
	BAD("GET / HTTP/1.1\r\nX: a\rb\r\n\r\n", BARE_CR),
	BAD("GET / HTTP/1.1\r\nX: a\r\r\n\r\n", BARE_CR),
	BAD("GET / HTTP/1.1\r\nX: a\r\n\rx\n", BARE_CR),
	BAD(" GET / HTTP/1.1\r\n\r\n", METHOD),
	BAD("G@T / HTTP/1.1\r\n\r\n", METHOD),
	BAD("GET\r\n\r\n", METHOD),
	BAD("GET / HTTP/1.1 \r\n\r\n", VERSION),
	BAD("GET / http/1.1\r\n\r\n", VERSION),
	BAD("POST /\r\n\r\n", VERSION),
	R("GET / HTTP/1.10\r\n\r\n", VERSION, NONE),
	R("GET / RTSP/1.0\r\n\r\n", VERSION, NONE),
	R("GET /\r\n", VERSION, NONE),
	BAD("PRI * HTTP/2.0\r\n\r\n", METHOD),
	BAD("PRI / HTTP/1.1\r\nHost: x\r\n\r\n", METHOD),
	GOOD("PRIO / HTTP/1.1\r\nHost: x\r\n\r\n"),
	GOOD("pri / HTTP/1.1\r\nHost: x\r\n\r\n"),
	BAD("GET foo HTTP/1.1\r\n\r\n", URI),
	BAD("GET foo:bar HTTP/1.1\r\n\r\n", URI),
	BAD("GET * HTTP/1.1\r\n\r\n", URI),
	BAD("OPTIONS *x HTTP/1.1\r\n\r\n", URI),
	GOOD("OPTIONS * HTTP/1.1\r\n\r\n"),
	BAD("GET /\1 HTTP/1.1\r\n\r\n", URI),
	BAD("GET /\0 HTTP/1.1\r\n\r\n", URI),
	BAD("GET /\x7f HTTP/1.1\r\n\r\n", URI),
	R("GET /\x80 HTTP/1.1\r\n\r\n", URI, NONE),
	R("GET /a#b HTTP/1.1\r\n\r\n", URI, NONE),
	GOOD("GET / HTTP/1.1\r\nHost: a\r\nHost: A\r\n\r\n"),
	BAD("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", HOST),
	BAD("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", HOST),
	BAD("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", HOST),
	BAD("GET / HTTP/1.1\r\nHost: a,b\r\n\r\n", HOST),
	BAD("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", HOST),
	GOOD("GET http://a/ HTTP/1.1\r\nHost: A\r\n\r\n"),
	GOOD("GET http://a:80/ HTTP/1.1\r\nHost: a\r\n\r\n"),
	GOOD("GET http://a/ HTTP/1.1\r\nHost: a:80\r\n\r\n"),
	GOOD("GET https://a:443 HTTP/1.1\r\nHost: a\r\n\r\n"),
	GOOD("GET http://a:/ HTTP/1.1\r\nHost: a\r\n\r\n"),
	GOOD("GET http://u:p@a?x HTTP/1.1\r\nHost: a\r\n\r\n"),
	GOOD("GET http://[::1]:80/ HTTP/1.1\r\nHost: [::1]\r\n\r\n"),
	GOOD("GET foo://a/ HTTP/1.1\r\n\r\n"),
	R("GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", HOST, NONE),
	R("GET http://a:443/ HTTP/1.1\r\nHost: a\r\n\r\n", HOST, NONE),
	R("GET ftp://a:80/ HTTP/1.1\r\nHost: a\r\n\r\n", HOST, NONE),
	R("GET http://a/ HTTP/1.1\r\nHost:\r\n\r\n", HOST, NONE),
	R("GET http:///x HTTP/1.1\r\n\r\n", URI, NONE),
	GOOD("CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n"),
	GOOD("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n"),
	R("CONNECT a:81 HTTP/1.1\r\nHost: a\r\n\r\n", HOST, NONE),
	R("CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n", URI, NONE),
	R("CONNECT a: HTTP/1.1\r\nHost: a\r\n\r\n", URI, NONE),
	BAD("CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n", URI),
	BAD("CONNECT http://a:80/ HTTP/1.1\r\nHost: a\r\n\r\n", URI),
	R("GET / HTTP/1.1\r\n X: a\r\n\r\n", FIELD_NAME, NONE),
	R(REQ("X : a"), FIELD_NAME, NONE),
	R(REQ("X(y: a"), FIELD_NAME, NONE),
	R(REQ("X\x80: a"), FIELD_NAME, NONE),
	R(REQ("X\0: a"), FIELD_NAME, NONE),
	BAD(REQ(": a"), FIELD_NAME),
	BAD(REQ("Xa"), FIELD_NAME),
	R(REQ("X: a\0b"), FIELD_VALUE, NONE),
	GOOD(REQ("X: a\1b\x7f\x80\xff")),
	GOOD(REQ("X:")),
	GOOD(REQ("X: a\r\n b\r\n\tc")),
	GOOD(REQ("Content-Length: 5")),
	GOOD(REQ("Content-Length: 5, 5")),
	GOOD(REQ("Content-Length: 5 ,\t05")),
	GOOD(REQ("Content-Length: 18446744073709551615")),
	GOOD(REQ("Content-Length: 5\r\nContent-Length: 5")),
	BAD(REQ("Content-Length: 5\r\nContent-Length: 6"), CONTENT_LENGTH),
	BAD(REQ("Content-Length: 5,6"), CONTENT_LENGTH),
	BAD(REQ("Content-Length: 5,"), CONTENT_LENGTH),
	BAD(REQ("Content-Length: ,5"), CONTENT_LENGTH),
	BAD(REQ("Content-Length: +5"), CONTENT_LENGTH),
	BAD(REQ("Content-Length: -5"), CONTENT_LENGTH),
	BAD(REQ("Content-Length: 0x5"), CONTENT_LENGTH),
	BAD(REQ("Content-Length: 5 5"), CONTENT_LENGTH),
	BAD(REQ("Content-Length:"), CONTENT_LENGTH),
	BAD(REQ("Content-Length: 18446744073709551616"), CONTENT_LENGTH),
	BAD(REQ("Content-Length: a\r\nTransfer-Encoding: chunked"), CONTENT_LENGTH),
	GOOD(REQ("Transfer-Encoding: chunked")),
	GOOD(REQ("transfer-encoding: CHUNKED")),
	GOOD(REQ("Transfer-Encoding: chunked\r\nContent-Length: 5")),
	BAD(REQ("Transfer-Encoding: gzip, chunked"), TRANSFER_CODING),
	BAD(REQ("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked"), TRANSFER_CODING),
	BAD(REQ("Transfer-Encoding: chunked, gzip"), TRANSFER_ENCODING),
	BAD(REQ("Transfer-Encoding: chunked, chunked"), TRANSFER_ENCODING),
	BAD(REQ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"), TRANSFER_ENCODING),
	BAD(REQ("Transfer-Encoding: gzip"), TRANSFER_ENCODING),
	BAD(REQ("Transfer-Encoding: identity"), TRANSFER_ENCODING),
	BAD(REQ("Transfer-Encoding:"), TRANSFER_ENCODING),
	BAD(REQ("Transfer-Encoding: chunked,"), TRANSFER_ENCODING),
	BAD(REQ("Transfer-Encoding: xchunked"), TRANSFER_ENCODING),
	BAD(REQ("Transfer-Encoding: chunked;a=b"), TRANSFER_ENCODING),
	BAD("GET / HTTP/1.0\r\nContent-Length: 1\r\n\r\n", PAYLOAD),
	BAD("DELETE / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", PAYLOAD),
	GOOD("GET / HTTP/1.0\r\nContent-Length: 0\r\n\r\n"),
	GOOD("GET / HTTP/1.1\r\nContent-Length: 1\r\n\r\n"),
	GOOD("PATCH / HTTP/1.0\r\nContent-Length: 1\r\n\r\n"),
	R(REQ("Connection: upgrade\r\nUpgrade: websocket"), WEBSOCKET, NONE),
	R(REQ("Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: abc"), WEBSOCKET,
	  NONE),
	GOOD(REQ("Connection: upgrade\r\nUpgrade: WebSocket\r\n"
		 "Sec-WebSocket-Key: R2ZUupEWUIm5i5SPrMWZYg==")),
	GOOD(REQ("Upgrade: websocket")),
	R("CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\nContent-Length: 5\r\n\r\n", PAYLOAD,
	  PAYLOAD),
	R("CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\nTransfer-Encoding: chunked\r\n\r\n", PAYLOAD,
	  PAYLOAD),
	GOOD(REQ("1:\r\n2:\r\n3:\r\n4:\r\n5:\r\n6:\r\n7:\r\n8:\r\n9:\r\na:\r\nb:")),
	BAD(REQ("1:\r\n2:\r\n3:\r\n4:\r\n5:\r\n6:\r\n7:\r\n8:\r\n9:\r\na:\r\nb:\r\nc:"),
	    TOO_MANY_FIELDS),
};

static const struct row responses[] = {
	GOOD(RSP("Content-Length: 2")),
	GOOD("HTTP/1.1 200\r\n\r\n"),
	GOOD("HTTP/1.1 200 \r\n\r\n"),
	GOOD("\r\nHTTP/1.1\t200\tOK\n\n"),
	GOOD("HTTP/1.1 200 a\1\x80\r\n\r\n"),
	GOOD("HTTP/1.1 999 x\r\n\r\n"),
	GOOD("HTTP/1.0 200 x\r\n\r\n"),
	BAD("HTTP/1.1 200 a\rb\r\n\r\n", BARE_CR),
	BAD("HTTP/1.1 20 OK\r\n\r\n", STATUS_CODE),
	BAD("HTTP/1.1 099 OK\r\n\r\n", STATUS_CODE),
	BAD("HTTP/1.1 20a OK\r\n\r\n", STATUS_CODE),
	BAD("HTTP/1.1 70000 OK\r\n\r\n", STATUS_CODE),
	BAD("HTTP/1.1  OK\r\n\r\n", STATUS_CODE),
	R("HTTP/1.1 2000 OK\r\n\r\n", STATUS_CODE, NONE),
	R("HTTP/1.10 200 OK\r\n\r\n", VERSION, NONE),
	R("RTSP/1.0 200 OK\r\n\r\n", VERSION, NONE),
	R("ICY 200 OK\r\n\r\n", VERSION, NONE),
	BAD("http/1.1 200 OK\r\n\r\n", VERSION),
	BAD(RSP("Content-Length: 2\r\nContent-Length: 3"), CONTENT_LENGTH),
	BAD(RSP("Transfer-Encoding: gzip"), TRANSFER_ENCODING),
	BAD(RSP("Transfer-Encoding: gzip, chunked"), TRANSFER_CODING),
	R(RSP("Transfer-Encoding: chunked, chunked"), TRANSFER_ENCODING, NONE),
	R(RSP("Transfer-Encoding:"), TRANSFER_ENCODING, NONE),
	R(RSP("Transfer-Encoding: chunked,"), TRANSFER_ENCODING, NONE),
	R(RSP("X y: a"), FIELD_NAME, NONE),
	R(RSP("X: a\0b"), FIELD_VALUE, NONE),
	GOOD(RSP("Host: a\r\nHost: b")),
	R("HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n", WEBSOCKET,
	  NONE),
};

static void check_rows(const struct row *rows, size_t count, uint8_t options)
{
	for (size_t i = 0; i < count; i++) {
		for (int unsafe = 0; unsafe < 2; unsafe++) {
			uint8_t wanted = unsafe ? rows[i].unsafe : rows[i].error;
			uint8_t all = options | (unsafe ? H1_OPT_UNSAFE : 0);
			enum h1_status status = parse(all, rows[i].text, rows[i].len, SIZE_MAX);
			bool good = (status == H1_ERROR) == (wanted != 0) &&
				    status != H1_MORE && parser.error == wanted;

			status = parse(all, rows[i].text, rows[i].len, 1);
			good &= (status == H1_ERROR) == (wanted != 0) && parser.error == wanted;
			ok(good, "%s %zu%s: %s", options ? "response" : "request", i,
			   unsafe ? " unsafe" : "", h1_error_text(wanted));
		}
	}
}

static void check_naive(void)
{
	static struct naive n;

	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		enum h1_status status = parse(0, requests[i].text, requests[i].len, SIZE_MAX);
		const char *differs = NULL;

		naive_parse(&n, requests[i].text, requests[i].len);
		if (n.verdict == NAIVE_INCOMPLETE || requests[i].error == H1_ERR_TOO_MANY_FIELDS)
			continue;
		if (status == H1_DONE && n.verdict == NAIVE_GOOD)
			differs = naive_differs(&n, &head);
		ok((status == H1_DONE) == (n.verdict == NAIVE_GOOD) && !differs,
		   "request %zu: both parsers agree%s%s", i, differs ? ": " : "",
		   differs ? differs : "");
	}
}

/* Body kind and facts. */
static const struct {
	const char *text;
	uint8_t options, body;
	uint32_t set, clear;
	uint64_t length;
} meanings[] = {
	{ "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 0, H1_BODY_NONE, H1_FL_HOST | H1_FL_KEEP_ALIVE,
	  H1_FL_CONTENT_LENGTH | H1_FL_CONN_CLOSE | H1_FL_BARE_LF, 0 },
	{ "GET / HTTP/1.0\r\n\r\n", 0, H1_BODY_NONE, 0, H1_FL_KEEP_ALIVE | H1_FL_HOST, 0 },
	{ "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", 0, H1_BODY_NONE, H1_FL_KEEP_ALIVE |
	  H1_FL_CONN_KEEP_ALIVE, H1_FL_CONN_CLOSE, 0 },
	{ "GET / HTTP/1.1\r\nConnection: foo, CLOSE\r\n\r\n", 0, H1_BODY_NONE, H1_FL_CONN_CLOSE |
	  H1_FL_CONN_OTHER, H1_FL_KEEP_ALIVE, 0 },
	{ REQ("Content-Length: 007"), 0, H1_BODY_LENGTH, H1_FL_CONTENT_LENGTH, 0, 7 },
	{ REQ("Content-Length: 0"), 0, H1_BODY_NONE, H1_FL_CONTENT_LENGTH, 0, 0 },
	{ REQ("Content-Length: 7\r\nTransfer-Encoding: chunked"), 0, H1_BODY_CHUNKED,
	  H1_FL_CHUNKED | H1_FL_INSECURE_TE, H1_FL_CONTENT_LENGTH, 0 },
	{ REQ("Transfer-Encoding: chunked"), 0, H1_BODY_CHUNKED, H1_FL_CHUNKED, H1_FL_INSECURE_TE,
	  0 },
	{ "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 0, H1_BODY_CHUNKED,
	  H1_FL_INSECURE_TE, H1_FL_KEEP_ALIVE, 0 },
	{ REQ("Expect: 100-Continue"), 0, H1_BODY_NONE, H1_FL_EXPECT_CONTINUE, 0, 0 },
	{ "POST / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n", 0, H1_BODY_NONE, 0,
	  H1_FL_EXPECT_CONTINUE, 0 },
	{ REQ("Connection: upgrade\r\nUpgrade: foo"), 0, H1_BODY_NONE, H1_FL_UPGRADE |
	  H1_FL_CONN_UPGRADE, H1_FL_WEBSOCKET, 0 },
	{ REQ("Upgrade: foo"), 0, H1_BODY_NONE, 0, H1_FL_UPGRADE, 0 },
	{ REQ("X: a\n b"), 0, H1_BODY_NONE, H1_FL_FOLDED | H1_FL_BARE_LF, H1_FL_VIOLATION, 0 },
	{ REQ("X y: a"), H1_OPT_UNSAFE, H1_BODY_NONE, H1_FL_VIOLATION, 0, 0 },
	{ RSP("Content-Length: 2"), H1_OPT_RESPONSE, H1_BODY_LENGTH, H1_FL_KEEP_ALIVE, 0, 2 },
	{ RSP("X: a"), H1_OPT_RESPONSE, H1_BODY_CLOSE, 0, H1_FL_KEEP_ALIVE, 0 },
	{ RSP("Transfer-Encoding: chunked"), H1_OPT_RESPONSE, H1_BODY_CHUNKED, 0, 0, 0 },
	{ RSP("Transfer-Encoding:"), H1_OPT_RESPONSE | H1_OPT_UNSAFE, H1_BODY_CLOSE, 0, 0, 0 },
	{ RSP("Content-Length: 2"), H1_OPT_RESPONSE | H1_OPT_TO_HEAD, H1_BODY_NONE,
	  H1_FL_CONTENT_LENGTH | H1_FL_KEEP_ALIVE, 0, 2 },
	{ RSP("Content-Length: 2"), H1_OPT_RESPONSE | H1_OPT_TO_CONNECT, H1_BODY_TUNNEL, 0,
	  H1_FL_KEEP_ALIVE, 2 },
	{ "HTTP/1.1 407 x\r\nContent-Length: 2\r\n\r\n", H1_OPT_RESPONSE | H1_OPT_TO_CONNECT,
	  H1_BODY_LENGTH, 0, 0, 2 },
	{ "HTTP/1.1 204 x\r\nContent-Length: 2\r\n\r\n", H1_OPT_RESPONSE, H1_BODY_NONE,
	  H1_FL_KEEP_ALIVE, H1_FL_CONTENT_LENGTH, 0 },
	{ "HTTP/1.1 304 x\r\nContent-Length: 2\r\n\r\n", H1_OPT_RESPONSE, H1_BODY_NONE,
	  H1_FL_CONTENT_LENGTH, 0, 2 },
	{ "HTTP/1.1 103 x\r\nTransfer-Encoding: chunked\r\n\r\n", H1_OPT_RESPONSE, H1_BODY_NONE, 0,
	  H1_FL_CHUNKED, 0 },
	{ "HTTP/1.1 101 x\r\n\r\n", H1_OPT_RESPONSE, H1_BODY_TUNNEL, 0, 0, 0 },
};

static void check_meanings(void)
{
	for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++) {
		enum h1_status status = parse(meanings[i].options, meanings[i].text,
					      strlen(meanings[i].text), 1 + i % 5);

		ok(status == H1_DONE && head.body == meanings[i].body &&
		   (head.flags & meanings[i].set) == meanings[i].set &&
		   !(head.flags & meanings[i].clear) &&
		   head.content_length == meanings[i].length,
		   "meaning %zu: status %d body %d flags %x length %llu", i, status, head.body,
		   head.flags, (unsigned long long)head.content_length);
	}
}

static void is_slice(struct slice got, const char *wanted, const char *what)
{
	ok(naive_same(got, wanted), "%s: '%.*s'", what, SLICE_FMT(got));
}

static void check_slices(void)
{
	static const char text[] = "GET /x?y HTTP/1.1\r\nHost: h\r\nContent-LENGTH: 05, 5\r\n"
				   "X-Odd:\t a\r\n\tb \r\nHOST: H\r\nTransfer-encoding: chunked"
				   "\r\nCookie: k\r\n\r\nrest";

	is_int(parse(0, text, sizeof(text) - 1, 3), H1_DONE, "done");
	is_int(head.length, sizeof(text) - 1 - 4, "the rest is not used");
	is_slice(head.method, "GET", "method");
	is_slice(head.uri, "/x?y", "uri");
	is_slice(head.version, "HTTP/1.1", "version");
	is_int(head.method_id, H1_METHOD_GET, "method number");
	is_int(head.field_count, 4, "repeated Host and useless Content-Length are removed");
	is_int(head.host_index, 0, "host's place");
	is_slice(head.fields[0].name, "host", "name");
	is_slice(head.fields[0].value, "h", "value");
	is_slice(head.fields[1].name, "x-odd", "unknown name");
	is_slice(head.fields[1].value, "a  \tb", "folded value");
	is_int(head.fields[1].id, FIELD_OTHER, "no number");
	is_int(head.fields[2].id, FIELD_TRANSFER_ENCODING, "number");
	is_int(head.fields[3].id, FIELD_COOKIE, "number");

	is_int(parse(0, REQ("Content-Length: 05, 5"), strlen(REQ("Content-Length: 05, 5")), 1),
	       H1_DONE, "done");
	is_slice(head.fields[1].value, "5", "a list of equal lengths becomes one");
	is_int(parse(1, "HTTP/1.0 404  Not Found\r\n\r\n", 27, 1), H1_DONE, "done");
	is_int(head.status, 404, "status");
	is_slice(head.reason, "Not Found", "reason");
	is_int(parse(0, "GET /", 5, 1), H1_MORE, "cut");
	ok(h1_parser_in_start_line(&parser), "in the start line");
	is_int(parse(0, "GET / HTTP/1.1\r\nX", 17, 1), H1_MORE, "cut");
	ok(!h1_parser_in_start_line(&parser), "behind the start line");
	is_int(parse(0, "\r\n\r", 3, 1), H1_MORE, "only empty lines");
	ok(!h1_parser_has_begun(&parser, SLICE("\r\n\r")), "nothing has begun");
	ok(h1_parser_has_begun(&parser, SLICE("\r\n\r\nG")), "begun");
}

/* What is for one hop only does not go further: the fields that are left, as "name: value;". */
static const struct {
	const char *fields, *left;
	uint8_t options;
} hops[] = {
	{ "Connection: close", "", 0 },
	{ "Connection: a, close ,  b\r\nConnection: c,keep-alive",
	  "connection: a,b;connection: c;", 0 },
	{ "Connection: a,  b", "connection: a,  b;", 0 },
	{ "X: 1\r\nConnection:\r\nY: 2", "x: 1;y: 2;", 0 },
	{ "Connection: Keep-Alive, Upgrade\r\nUpgrade: foo",
	  "connection: Upgrade;upgrade: foo;", 0 },
	{ "Upgrade: foo", "", 0 },
	{ "Connection: upgrade, x", "connection: x;", 0 },
	{ "Connection: upgrade\r\nX: 1\r\nConnection: Upgrade", "x: 1;", 0 },
	{ "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c", "connection: HTTP2-Settings;", 0 },
	{ "Connection: Upgrade\r\nUpgrade: h2c, foo", "connection: Upgrade;upgrade: foo;", 0 },
	{ "TE: trailers, gzip\r\nTE: deflate;q=1", "te: trailers;", 0 },
	{ "Connection: TE, close\r\nTE: Trailers", "connection: TE;te: Trailers;", 0 },
	{ "Keep-Alive: 5\r\nProxy-Connection: close", "keep-alive: 5;proxy-connection: close;", 0 },
	{ "Connection: close, a\r\nUpgrade: foo", "connection: a;upgrade: foo;",
	  H1_OPT_RESPONSE },
};

static void check_hops(void)
{
	char text[512], left[512];

	for (size_t i = 0; i < sizeof(hops) / sizeof(*hops); i++) {
		size_t at = 0;
		enum h1_status status;

		snprintf(text, sizeof(text), "%s\r\nHost: h\r\n%s\r\n\r\n",
			 hops[i].options ? "HTTP/1.1 204 x" : "GET / HTTP/1.1", hops[i].fields);
		status = parse(hops[i].options, text, strlen(text), 1 + i % 3 * 40);
		left[0] = 0;
		for (unsigned f = 1; status == H1_DONE && f < head.field_count; f++)
			at += (size_t)snprintf(left + at, sizeof(left) - at, "%.*s: %.*s;",
					       SLICE_FMT(head.fields[f].name),
					       SLICE_FMT(head.fields[f].value));
		ok(strcmp(left, hops[i].left) == 0, "one hop: '%s' leaves '%s'", hops[i].fields,
		   left);
	}
}

/* How targets are written: line, Host, target afterwards, Host afterwards. */
static const char *const targets[][4] = {
	{ "GET http://a", "a", "http://a/", "a" },
	{ "GET http://a:80/x?y", "a:80", "http://a/x?y", "a" },
	{ "GET http://a:80/x", "a", "http://a/x", "a" },
	{ "GET http://a:/x", "a", "http://a/x", "a" },
	{ "GET http://u@a:80", "a", "http://u@a/", "a" },
	{ "GET https://a:443/x", "a:443", "https://a/x", "a" },
	{ "GET https://a/x", "a:443", "https://a/x", "a:443" },
	{ "GET http://a:443/x", "a:443", "http://a:443/x", "a:443" },
	{ "GET http://[::1]:80/", "[::1]:80", "http://[::1]/", "[::1]" },
	{ "CONNECT a:443", "a:443", "a:443", "a" },
	{ "CONNECT a:81", "a:81", "a:81", "a:81" },
	{ "GET /", "a:80", "/", "a:80" },
};

static void check_targets(void)
{
	char text[512];

	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++) {
		snprintf(text, sizeof(text), "%s HTTP/1.1\r\nHost: %s\r\n\r\n", targets[i][0],
			 targets[i][1]);
		is_int(parse(0, text, strlen(text), 1 + i % 3 * 40), H1_DONE, "done");
		is_slice(head.uri, targets[i][2], targets[i][0]);
		is_slice(head.fields[0].value, targets[i][3], targets[i][1]);
		is_slice(head.version, "HTTP/1.1", "version");
	}
}

static void check_helpers(void)
{
	struct slice list = SLICE(" a, ,\tb c ,\"x,y\" , d"), element;
	const char *wanted[] = { "a", "b c", "\"x,y\"", "d" };

	for (int i = 0; i < 4; i++) {
		ok(h1_list_next(&list, &element), "element %d", i);
		is_slice(element, wanted[i], "element");
	}
	ok(!h1_list_next(&list, &element), "end of the list");
	is_int(h1_match_preface(SLICE("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nxx")), H1_DONE, "preface");
	is_int(h1_match_preface(SLICE("PRI * H")), H1_MORE, "start of a preface");
	is_int(h1_match_preface(SLICE("PUT")), H1_ERROR, "no preface");
	is_int(h1_error_status(H1_ERR_TRANSFER_CODING), 422, "status of an error");
	ok(h1_is_token(SLICE("a-b")) && !h1_is_token(SLICE("a b")) && !h1_is_token(SLICE("")),
	   "tokens");
}

int main(void)
{
	check_rows(requests, sizeof(requests) / sizeof(*requests), 0);
	check_rows(responses, sizeof(responses) / sizeof(*responses), H1_OPT_RESPONSE);
	check_naive();
	check_meanings();
	check_slices();
	check_hops();
	check_targets();
	check_helpers();
	return done_testing();
}
