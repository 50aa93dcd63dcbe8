/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests as parameters of CGI, paths, answers with a Status or a Location. */
#include "../tap.h"
#include "codec/fcgi.h"
#include "http/cgi.h"
#include "http/msg.h"

static struct arena arena;

/* "NAME=value" of each, one a line. */
static void show(const struct cgi_request *r, struct strbuf *text)
{
	struct slice rest, name, value;
	struct strbuf b;

	strbuf_init(&b);
	cgi_add_params(&b, r);
	rest = strbuf_slice(&b);
	while (fcgi_param_take(&rest, &name, &value))
		strbuf_printf(text, "%.*s=%.*s\n", SLICE_FMT(name), SLICE_FMT(value));
	ok(!rest.len && !b.overflow, "parameters are whole");
	strbuf_fini(&b);
}

static void is_params(const struct cgi_request *r, const char *want, const char *what)
{
	struct strbuf text;

	strbuf_init(&text);
	show(r, &text);
	is_str(text.ptr, want, "%s", what);
	strbuf_fini(&text);
}

static void request(struct http_msg *m, const char *method, const char *uri)
{
	http_msg_init(m, &arena);
	m->version = 11;
	m->method_text = slice_of(method);
	m->uri = slice_of(uri);
}

/* What is the same for all requests, made once, is what each would say. */
static void test_fixed(void)
{
	struct http_msg m;
	struct cgi_request r = {
		.head = &m, .docroot = SLICE("/srv"), .script = SLICE("/a"),
		.software = SLICE("S"),
	};
	struct strbuf b;

	request(&m, "GET", "/a");
	strbuf_init(&b);
	cgi_add_fixed(&b, r.docroot, r.software);
	r.fixed = strbuf_slice(&b);
	is_params(&r, "GATEWAY_INTERFACE=CGI/1.1\nDOCUMENT_ROOT=/srv\nSERVER_SOFTWARE=S\n"
		  "SCRIPT_NAME=/a\nSCRIPT_FILENAME=/srv/a\nREQUEST_URI=/a\nREQUEST_METHOD=GET\n"
		  "SERVER_PROTOCOL=HTTP/1.1\nCONTENT_LENGTH=0\n", "what is fixed comes once");
	strbuf_fini(&b);
	ok(cgi_is_fixed(SLICE("DOCUMENT_ROOT")) && cgi_is_fixed(SLICE("SERVER_SOFTWARE")) &&
	   cgi_is_fixed(SLICE("GATEWAY_INTERFACE")) && !cgi_is_fixed(SLICE("SCRIPT_NAME")),
	   "which these are");
}

static void test_params(void)
{
	struct http_msg m;
	struct cgi_request r = {
		.head = &m, .docroot = SLICE("/srv"), .index = SLICE("i.php"),
		.script = SLICE("/a.php"), .path_info = SLICE("/in fo"),
		.software = SLICE("S"), .server = SLICE("::1"), .client = SLICE("10.0.0.1"),
		.server_port = 80, .client_port = 4000,
	};

	request(&m, "GET", "/a.php/in%20fo?q=1");
	http_msg_add_field(&m, SLICE("Host"), SLICE("h:81"));
	http_msg_add_field(&m, SLICE("X-a_b"), SLICE("1"));
	http_msg_add_field(&m, SLICE("x.a-B"), SLICE(""));
	http_msg_add_field(&m, SLICE("Proxy"), SLICE("evil"));
	http_msg_add_field(&m, SLICE("Content-Type"), SLICE("t/p"));
	is_params(&r, "HTTP_HOST=h:81\nHTTP_X_A_B=1\nHTTP_X_A_B=\nCONTENT_TYPE=t/p\n"
		  "GATEWAY_INTERFACE=CGI/1.1\nDOCUMENT_ROOT=/srv\nSCRIPT_NAME=/a.php\n"
		  "PATH_INFO=/in fo\nSCRIPT_FILENAME=/srv/a.php\nPATH_TRANSLATED=/srv/in fo\n"
		  "REQUEST_URI=/a.php/in%20fo?q=1\nREQUEST_METHOD=GET\nQUERY_STRING=q=1\n"
		  "SERVER_NAME=h:81\nSERVER_PORT=80\nSERVER_PROTOCOL=HTTP/1.1\n"
		  "REMOTE_ADDR=10.0.0.1\nREMOTE_PORT=4000\nSERVER_SOFTWARE=S\n"
		  "CONTENT_LENGTH=0\n", "all of a request");
	http_msg_fini(&m);

	request(&m, "POST", "/d/?");
	m.version = 10;
	http_msg_add_field(&m, SLICE("Content-Length"), SLICE("5"));
	r.script = SLICE("/d/");
	r.path_info = slice_none();
	r.client = slice_none();
	r.client_port = r.server_port = 0;
	r.https = true;
	is_params(&r, "CONTENT_LENGTH=5\nGATEWAY_INTERFACE=CGI/1.1\nDOCUMENT_ROOT=/srv\n"
		  "SCRIPT_NAME=/d/i.php\nSCRIPT_FILENAME=/srv/d/i.php\nREQUEST_URI=/d/?\n"
		  "REQUEST_METHOD=POST\nSERVER_NAME=::1\nSERVER_PROTOCOL=HTTP/1.0\nHTTPS=on\n"
		  "SERVER_SOFTWARE=S\n", "an index, and what is not known is not there");
	http_msg_fini(&m);
}

static void test_set(void)
{
	static const struct cgi_param set[] = {
		{ SLICE("DOCUMENT_ROOT"), SLICE("/dr") }, { SLICE("SCRIPT_NAME"), SLICE("/sn") },
		{ SLICE("PATH_INFO"), SLICE("/pi") }, { SLICE("CONTENT_LENGTH"), SLICE("99") },
		{ SLICE("A"), SLICE("") },
	};
	struct http_msg m;
	struct cgi_request r = {
		.head = &m, .docroot = SLICE("/srv"), .script = SLICE("/"), .body_len = 3,
		.set = set, .set_count = 5,
	};

	request(&m, "GET", "/");
	m.version = 20;
	is_params(&r, "DOCUMENT_ROOT=/dr\nSCRIPT_NAME=/sn\nPATH_INFO=/pi\nCONTENT_LENGTH=99\nA=\n"
		  "GATEWAY_INTERFACE=CGI/1.1\nSCRIPT_FILENAME=/dr/sn\nPATH_TRANSLATED=/dr/pi\n"
		  "REQUEST_URI=/\nREQUEST_METHOD=GET\nSERVER_PROTOCOL=HTTP/2.0\n"
		  "CONTENT_LENGTH=3\n", "what is set replaces, the true length is the last");
	http_msg_fini(&m);
}

static void test_names_and_paths(void)
{
	static const struct {
		const char *path, *want;
	} cases[] = {
		{ "/", "/" }, { "/a%2eb%2F+//x", "/a.b/+//x" }, { "/%41%", NULL },
		{ "/%4", NULL }, { "/%4g", NULL }, { "*", NULL }, { "", NULL },
	};
	struct strbuf b;

	strbuf_init(&b);
	cgi_add_name(&b, SLICE("aZ09-_.!\xe9@[`{"));
	is_str(b.ptr, "AZ09_________", "a name");
	strbuf_fini(&b);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		strbuf_init(&b);
		if (cgi_add_path(&b, slice_of(cases[i].path)))
			is_str(b.ptr, cases[i].want, "the path %s", cases[i].path);
		else
			ok(!cases[i].want, "the path '%s' is refused", cases[i].path);
		strbuf_fini(&b);
	}
	strbuf_init(&b);
	ok(cgi_add_path(&b, SLICE("/a%00b")) && b.len == 4 && !b.ptr[2], "a path with a NUL");
	strbuf_fini(&b);
}

static void test_answers(void)
{
	static const struct {
		const char *status, *second, *location;
		unsigned want;
		const char *reason;
	} cases[] = {
		{ NULL, NULL, NULL, 200, "OK" }, { "404", NULL, NULL, 404, "Not Found" },
		{ "404 Nope here", NULL, NULL, 404, "Nope here" },
		{ "404\tNope", NULL, NULL, 404, "Nope" }, { "404, 405", NULL, NULL, 404, ", 405" },
		{ "404;x", NULL, NULL, 404, ";x" }, { "404.5 x", NULL, NULL, 0, NULL },
		{ "201 A", "202 B", NULL, 202, "B" },
		{ "", NULL, NULL, 200, "OK" }, { NULL, NULL, "/b", 302, "Found" },
		{ "201 C", NULL, "/b", 201, "C" }, { "99", NULL, NULL, 0, NULL },
		{ "1000 a", NULL, NULL, 0, NULL }, { "404x", NULL, NULL, 0, NULL },
		{ "abc", NULL, NULL, 0, NULL }, { "100", NULL, NULL, 0, NULL },
		{ "101 Up", NULL, NULL, 0, NULL }, { "20", NULL, NULL, 0, NULL },
	};
	struct http_msg m;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		http_msg_init(&m, &arena);
		m.flags = HTTP_MSG_RESPONSE;
		http_msg_set_status(&m, 200, slice_none());
		if (cases[i].status)
			http_msg_add_field(&m, SLICE("Status"), slice_of(cases[i].status));
		if (cases[i].second)
			http_msg_add_field(&m, SLICE("Status"), slice_of(cases[i].second));
		if (cases[i].location)
			http_msg_add_field(&m, SLICE("Location"), slice_of(cases[i].location));
		if (cgi_answer_finish(&m)) {
			is_int(m.status, cases[i].want, "the status of answer %zu", i);
			ok(slice_eq(m.reason, slice_of(cases[i].reason)), "its reason");
			ok(!http_field_find(&m.fields, 0, SLICE("status")), "Status is gone");
		} else {
			ok(!cases[i].want, "answer %zu is refused", i);
		}
		http_msg_fini(&m);
	}
}

int main(void)
{
	arena_init(&arena, 4096);
	test_params();
	test_fixed();
	test_set();
	test_names_and_paths();
	test_answers();
	arena_fini(&arena);
	return done_testing();
}
