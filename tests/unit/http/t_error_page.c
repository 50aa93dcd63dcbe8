/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Error pages: the built-in ones as the reference sends them, and raw responses parsed. */
#include "../tap.h"
#include <stdlib.h>
#include "conf/conf.h"
#include "http/error_page.h"

static struct config cfg;

/* The page as HTTP/1 text, without the Connection field that the mux adds. */
static const char *page_text(struct http_msg *m, struct slice body)
{
	static char text[1024];
	int len;
	unsigned i;

	len = snprintf(text, sizeof(text), "%.*s %u %.*s\r\n", SLICE_FMT(m->version_text),
		       m->status,
		       SLICE_FMT(m->reason));
	for (i = 0; i < m->fields.count; i++)
		len += snprintf(text + len, sizeof(text) - len, "%.*s: %.*s\r\n",
				SLICE_FMT(m->fields.list[i].name),
				SLICE_FMT(m->fields.list[i].value));
	snprintf(text + len, sizeof(text) - len, "\r\n%.*s", SLICE_FMT(body));
	return text;
}

static const char *builtin_text(unsigned status)
{
	struct http_msg m;
	struct slice body = slice_none();

	http_msg_init(&m, &cfg.arena);
	if (!http_error_page(NULL, status, &m, &body))
		return "none";
	return page_text(&m, body);
}

static void test_builtin(void)
{
	static const unsigned statuses[] = {
		200, 400, 401, 403, 404, 405, 407, 408, 410, 413, 414, 421, 422, 425, 429, 431, 500,
		501, 502, 503, 504,
	};
	struct http_msg m;
	struct slice body;
	unsigned i;

	is_str(builtin_text(403), "HTTP/1.1 403 Forbidden\r\ncontent-length: 93\r\n"
	       "cache-control: no-cache\r\ncontent-type: text/html\r\n\r\n"
	       "<html><body><h1>403 Forbidden</h1>\nRequest forbidden by administrative rules.\n"
	       "</body></html>\n", "403");
	is_str(builtin_text(503), "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 107\r\n"
	       "cache-control: no-cache\r\ncontent-type: text/html\r\n\r\n"
	       "<html><body><h1>503 Service Unavailable</h1>\n"
	       "No server is available to handle this request.\n</body></html>\n", "503");
	is_str(builtin_text(400), "HTTP/1.1 400 Bad request\r\ncontent-length: 90\r\n"
	       "cache-control: no-cache\r\ncontent-type: text/html\r\n\r\n"
	       "<html><body><h1>400 Bad request</h1>\nYour browser sent an invalid request.\n"
	       "</body></html>\n", "400");
	is_str(builtin_text(999), builtin_text(500), "an unknown status answers 500");
	for (i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		char length[8];

		http_msg_init(&m, &cfg.arena);
		ok(http_error_page(NULL, statuses[i], &m, &body) && m.status == statuses[i] &&
		   m.content_length == body.len, "page of %u", statuses[i]);
		snprintf(length, sizeof(length), "%zu", body.len);
		ok(slice_eq(m.fields.list[0].value, slice_of(length)), "its length field");
		is_int(!!(m.flags & HTTP_MSG_CONN_CLOSE), statuses[i] == 400 || statuses[i] == 408,
		       "does it close ?");
	}
}

static void test_edit(void)
{
	struct http_msg m, other;
	struct slice body;

	http_msg_init(&m, &cfg.arena);
	http_msg_init(&other, &cfg.arena);
	http_error_page(NULL, 404, &m, &body);
	http_msg_del_field(&m, SLICE("content-type"));
	http_msg_add_field(&m, SLICE("x"), SLICE("y"));
	http_error_page(NULL, 404, &other, &body);
	ok(http_field_find(&other.fields, FIELD_CONTENT_TYPE, slice_none()) &&
	   !http_field_find(&other.fields, 0, SLICE("x")), "editing a head leaves the page alone");
}

static void test_parse(void)
{
	static const struct {
		const char *raw;
		unsigned status, fields, version, body, close;
		const char *error; /* a part of the error; NULL: good */
	} cases[] = {
		{ "HTTP/1.0 400 Bad\r\nX: y\r\n\r\nbody", 400, 1, 10, HTTP_BODY_CLOSE, 0, NULL },
		{ "HTTP/1.0 404 NF\nConnection: close\nA: b\n\nhello", 404, 1, 10,
		  HTTP_BODY_CLOSE, 1, NULL },
		{ "HTTP/1.1 200 Y\r\nContent-Length: 2\r\n\r\nhe", 200, 1, 11,
		  HTTP_BODY_LENGTH, 0, NULL },
		{ "HTTP/1.1 403 No\r\nFoo: Bar\r\n\r\n", 403, 1, 11, HTTP_BODY_CLOSE, 0, NULL },
		{ "HTTP/1.0 400 Bad\r\nX: y\r\n", .error = "unable to parse headers" },
		{ "junk", .error = "unable to parse headers" },
		{ "HTTP/1.0 400 Bad\r\ncontent-length: 10\r\n\r\nbody", .error = "(4 != 10)" },
		{ "HTTP/1.1 400 Bad\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
		  .error = "chunk-encoded payload not supported" },
		{ "HTTP/1.1 100 Continue\r\n\r\n", .error = "1xx" },
	};
	unsigned i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *error = "";
		struct http_page *page = http_page_parse(&cfg, slice_of(cases[i].raw), &error);

		if (cases[i].error) {
			ok(!page && strstr(error, cases[i].error), "case %u is refused: %s", i,
			   error);
			continue;
		}
		if (!ok(page, "case %u is accepted: %s", i, page ? "" : error))
			continue;
		is_int(page->status, cases[i].status, "its status");
		is_int(page->field_count, cases[i].fields, "its fields");
		is_int(page->version, cases[i].version, "its version");
		is_int(page->body_kind, cases[i].body, "its body kind");
		is_int(!!(page->flags & HTTP_MSG_CONN_CLOSE), cases[i].close, "its closing");
	}
}

static void test_special(void)
{
	const char *error = "";
	struct http_page *page = http_page_parse(&cfg, SLICE(""), &error);
	struct slice body = slice_none();
	struct http_msg m;

	http_msg_init(&m, &cfg.arena);
	ok(page && page->silent && !http_page_fill(page, &m, &body), "an empty page sends nothing");
	page = http_page_redirect(&cfg, 303, SLICE("/sorry"));
	ok(page && http_page_fill(page, &m, &body), "a redirection");
	is_str(page_text(&m, body), "HTTP/1.1 303 See Other\r\ncache-control: no-cache\r\n"
	       "content-length: 0\r\nlocation: /sorry\r\n\r\n", "as the reference sends it");
	ok(!http_page_load(&cfg, "/nonexistent/x", &error) &&
	   strcmp(error, "error opening file '/nonexistent/x'") == 0, "a missing file: %s", error);
	page = http_page_load(&cfg, "/dev/null", &error);
	ok(page && page->silent, "/dev/null is silent");
}

int main(void)
{
	arena_init(&cfg.arena, 0);
	test_builtin();
	test_edit();
	test_parse();
	test_special();
	arena_fini(&cfg.arena);
	return done_testing();
}
