/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules: what each action makes of a message, which rule decides, what fetches say.
 *
 * The stream engine is replaced by the few functions that rules call. The expected texts are
 * those of the reference program for the same rules and messages.
 */
#include "expr/modules.h"
#include "../tap.h"
#include <stdlib.h>
#include "base/strbuf.h"
#include "codec/h1.h"
#include "conf/conf.h"
#include "http/error_page.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"
#include "stream/route.h"
#include "stream/rule.h"
#include "log/log.h"
#include "stream/stream.h"
#include "traffic/modules.h"
#include "tls/tls.h"

static const struct module *const modules[] = {
	&mod_conf, EXPR_MODULE_LIST &mod_http_error_page, &mod_balance, &mod_proxy,
	&mod_proxy_options, &mod_tls_server,
	&mod_bind, &mod_server, &mod_rule, &mod_route, &mod_reply_act, &mod_http_act, &mod_tcp_act,
	&mod_http_smp, &mod_field_smp, &mod_conn_smp, &mod_proxy_smp, NULL,
};

/* --- what rules ask of the engine --------------------------------------------------------------
 *
 */

static struct addr client;

const struct addr *session_src(struct session *s)
{
	return &client;
}

const struct addr *session_dst(struct session *s)
{
	return NULL;
}

const struct addr *session_conn_src(struct session *s)
{
	return &client;
}

const struct addr *session_conn_dst(struct session *s)
{
	return NULL;
}

bool session_keep_conn_addr(struct session *s, bool dst)
{
	return true;
}

void stream_set_end(struct stream *s, enum stream_end why)
{
	s->end = (uint8_t)why;
}

enum rule_result rule_rewrite_failed(struct stream *s)
{
	return s->rule.lax ? RULE_CONTINUE : RULE_ERROR;
}

/* nothing of these tests keeps anything in a stream's slots, counts, or logs amid a stream */
struct slot_area *stream_slots(struct stream *s)
{
	return NULL;
}

void stream_count_request(const struct stream *s, unsigned which)
{
}

void stream_log_now(struct session *sess, struct stream *s, enum log_step step)
{
}

struct expr_ctx *stream_expr(struct stream *s, unsigned flags)
{
	s->expr = (struct expr_ctx){ .proxy = s->be, .session = s->sess, .stream = s,
				     .arena = &s->arena, .flags = flags };
	return &s->expr;
}

void stream_reply_begin(struct stream *s, unsigned status, struct slice reason)
{
	http_msg_init(&s->res, &s->arena);
	block_queue_clear(&s->local.body);
	s->res.flags = HTTP_MSG_RESPONSE;
	s->res.version = 11;
	s->res.status = status;
	s->res.reason = reason.ptr ? reason : http_reason(status);
}

bool stream_reply_body(struct stream *s, struct slice body, bool copy)
{
	char text[24];

	snprintf(text, sizeof(text), "%zu", body.len);
	return http_msg_set_field(&s->res, SLICE("content-length"), slice_of(text)) &&
		block_queue_add_copy(&s->local.body, body);
}

bool stream_reply_page(struct stream *s, unsigned status)
{
	struct slice body;

	stream_reply_begin(s, status, slice_none());
	return http_page_fill(http_page_find(proxy_slots(s->be), proxy_slots(s->fe), status),
			      &s->res,
			      &body) && block_queue_add_copy(&s->local.body, body);
}

/* --- a configuration and a stream --------------------------------------------------------- */

static struct config *cfg;
static struct diag_list diags;
static struct session session;
static struct stream *stream;
static char request_area[4096], response_area[4096];

#define DEFAULTS "defaults\n mode http\n timeout client 1s\n timeout server 1s\n" \
	" timeout connect 1s\n"

/* Reads the rules of a frontend `f` with a backend `b`; false: refused. */
static bool load(const char *rules)
{
	char text[4096];

	if (cfg)
		config_drop(&cfg);
	diag_list_fini(&diags);
	diag_list_init(&diags);
	cfg = config_new();
	snprintf(text, sizeof(text), DEFAULTS "frontend f\n bind 127.0.0.1:1\n%s\n"
		 " default_backend b\n" DEFAULTS "backend b\n"
		 " server s 127.0.0.1:2\n server s2 127.0.0.1:3\n"
		 "backend c\n", rules);
	return conf_read_text(cfg, "t.cfg", slice_of(text), &diags) && conf_check(cfg, &diags);
}

/* The last message about the configuration. */
static const char *last_message(void)
{
	return list_is_empty(&diags.diags) ? "" : list_last(&diags.diags, struct diag,
							    link)->message;
}

static void parse_head(struct http_msg *m, const char *raw, char *area, bool response)
{
	struct h1_field *fields = arena_alloc(&stream->arena, 50 * sizeof(*fields));
	struct h1_head head = { .fields = fields, .field_capacity = 50 };
	struct h1_parser parser;

	snprintf(area, 4096, "%s", raw);
	h1_parser_init(&parser, response ? H1_OPT_RESPONSE : 0);
	http_msg_init(m, &stream->arena);
	if (h1_parse_head(&parser, slice_of(area), &head) != H1_DONE)
		return;
	m->fields = (struct http_fields){ .list = fields, .count = head.field_count, .room = 50 };
	m->flags = response ? HTTP_MSG_RESPONSE : 0;
	m->method = http_method_of(head.method);
	m->method_text = head.method;
	m->uri = head.uri;
	m->version = 11;
	m->version_text = head.version;
	m->status = head.status;
	m->reason = head.reason;
}

static void begin(const char *request)
{
	arena_fini(&stream->arena);
	arena_init(&stream->arena, 0);
	block_queue_clear(&stream->local.body);
	stream->fe = session.fe = proxy_find(cfg, "f", PROXY_FE);
	stream->be = stream->fe;
	stream->sess = &session;
	stream->flags = STRM_HTTP;
	stream->log.level = 255;
	memset(&stream->rule, 0, sizeof(stream->rule));
	parse_head(&stream->req, request, request_area, false);
	http_msg_init(&stream->res, &stream->arena);
}

static void put_fields(struct strbuf *out, const struct http_msg *m)
{
	unsigned i;

	for (i = 0; i < m->fields.count; i++) {
		if (m->fields.list[i].name.ptr)
			strbuf_printf(out, "%.*s: %.*s\n", SLICE_FMT(m->fields.list[i].name),
				      SLICE_FMT(m->fields.list[i].value));
	}
}

/* What came of it: the request as it goes on, or the answer, or a word. */
static const char *outcome(enum rule_result r, const struct rule *which)
{
	static char area[4096];
	struct strbuf out;
	char body[1024];
	size_t len;

	strbuf_init_fixed(&out, area, sizeof(area));
	if (r == RULE_CONTINUE || r == RULE_ACCEPT) {
		strbuf_printf(&out, "%.*s %.*s\n", SLICE_FMT(stream->req.method_text),
			      SLICE_FMT(stream->req.uri));
		put_fields(&out, &stream->req);
	} else if (r == RULE_REPLY || ((r == RULE_DENY || r == RULE_TARPIT) &&
				       rule_deny_reply(which, stream))) {
		strbuf_printf(&out, "%u %.*s\n", stream->res.status, SLICE_FMT(stream->res.reason));
		put_fields(&out, &stream->res);
		len = block_queue_peek(&stream->local.body, 0, body, sizeof(body));
		strbuf_add(&out, slice_make(body, len));
	} else {
		strbuf_printf(&out, "result %d", r);
	}
	return area;
}

static const char *run_request(const char *request)
{
	const struct rule *which = NULL;
	enum rule_result r;

	begin(request);
	r = rules_run(stream->fe, RULES_HTTP_REQUEST, stream_expr(stream, EXPR_DIR_REQUEST), false,
		      &which);
	if (r == RULE_CONTINUE || r == RULE_ACCEPT) {
		enum rule_result next = rules_redirect(stream->fe,
						       stream_expr(stream, EXPR_DIR_REQUEST),
							       &which);

		if (next != RULE_CONTINUE)
			r = next;
	}
	return outcome(r, which);
}

/* --- http-request ------------------------------------------------------------------------- */

static const struct {
	const char *rules, *request, *expected;
} requests[] = {
	{ "http-request set-header X-S \"%[src]|%[hdr(nope)]|%[path]\"",
	  "GET /p?q HTTP/1.1\r\nhost: a\r\n\r\n", "GET /p?q\nhost: a\nx-s: 127.0.0.1||/p\n" },
	{ "http-request set-header X-S \"%[str('a\\nb')]\"",
	  "GET / HTTP/1.1\r\n\r\n", "GET /\nx-s: a%0Ab\n" },
	{ "http-request set-header x-m v\nhttp-request add-header X-M w\n"
	  "http-request add-header x-m \"z,y , x\"",
	  "GET / HTTP/1.1\r\nx-m: old\r\n\r\n", "GET /\nx-m: v\nx-m: w\nx-m: z,y , x\n" },
	{ "http-request del-header x-d", "GET / HTTP/1.1\r\nX-D: 1\r\nx-da: 1\r\nx-d: 2\r\n\r\n",
	  "GET /\nx-da: 1\n" },
	{ "http-request del-header x-e -m beg\nhttp-request del-header x-e -m end\n"
	  "http-request del-header x-f -m sub\nhttp-request del-header ^x-g[0-9]$ -m reg",
	  "GET / HTTP/1.1\r\nx-e1: 1\r\n1x-e: 1\r\n1x-e2: 1\r\n1x-f2: 1\r\nX-G1: 1\r\n"
	  "X-G11: 1\r\n\r\n",
	  "GET /\n1x-e2: 1\nx-g11: 1\n" },
	{ "http-request replace-header X-R b c\\0d\\1\n"
	  "http-request replace-header X-R2 (b)(c)? <\\1\\2\\3>%[path]",
	  "GET / HTTP/1.1\r\nx-r: abba\r\nx-r: xyz\r\nx-r2: abcd\r\nx-r2: abd\r\n\r\n",
	  "GET /\nx-r: cbd\nx-r: xyz\nx-r2: <bc>/\nx-r2: <b>/\n" },
	{ "http-request replace-value X-V ^b$ c\nhttp-request replace-value X-W .* <\\0>",
	  "GET / HTTP/1.1\r\nx-v: a, x ,  b , d\r\nx-w: a,b ,  b\r\nx-w: \r\n\r\n",
	  "GET /\nx-v: a, x ,c, d\nx-w: <a>,<b>,<b>\nx-w: <>\n" },
	{ "http-request set-method FOO", "GET /m HTTP/1.1\r\n\r\n", "FOO /m\n" },
	{ "http-request set-path /n", "GET http://h/a?q HTTP/1.1\r\nhost: h\r\n\r\n",
	  "GET http://h/n?q\nhost: h\n" },
	{ "http-request set-pathq /n?z", "GET /a?q HTTP/1.1\r\n\r\n", "GET /n?z\n" },
	{ "http-request set-query w=1", "GET /a HTTP/1.1\r\n\r\n", "GET /a?w=1\n" },
	{ "http-request set-uri http://o/p", "GET /a HTTP/1.1\r\nhost: h\r\n\r\n",
	  "GET http://o/p\nhost: o\n" },
	{ "http-request set-header Host n", "GET http://h/a HTTP/1.1\r\nhost: h\r\n\r\n",
	  "GET http://n/a\nhost: n\n" },
	{ "http-request replace-path (.*)/(.*) /foo\\2\\1", "GET /rep/a/b?q/z HTTP/1.1\r\n\r\n",
	  "GET /foob/rep/a?q/z\n" },
	{ "http-request replace-pathq (.*)\\?(.*) \\2?\\1", "GET /requ?a HTTP/1.1\r\n\r\n",
	  "GET a?/requ\n" },
	{ "http-request replace-uri (.*) http://u\\1", "GET /reuri?q HTTP/1.1\r\nhost: a\r\n\r\n",
	  "GET http://u/reuri?q\nhost: u\n" },
	/* stricter than the reference, which would send a blank inside the target */
	{ "http-request set-path \"/a b\"", "GET / HTTP/1.1\r\n\r\n", "result 8" },
	{ "http-request strict-mode off\nhttp-request set-path \"/a b\"", "GET / HTTP/1.1\r\n\r\n",
	  "GET /\n" },
	{ "http-request allow if { path /ok }\nhttp-request deny", "GET /ok HTTP/1.1\r\n\r\n",
	  "GET /ok\n" },
	{ "http-request reject", "GET / HTTP/1.1\r\n\r\n", "result 5" },
	{ "http-request deny if { path_beg /a } { hdr(host) -i A.B }\n",
	  "GET /ab HTTP/1.1\r\nhost: a.b\r\n\r\n",
	  "403 Forbidden\ncontent-length: 93\ncache-control: no-cache\ncontent-type: text/html\n"
	  "<html><body><h1>403 Forbidden</h1>\nRequest forbidden by administrative rules.\n"
	  "</body></html>\n" },
	{ "http-request deny hdr a b", "GET / HTTP/1.1\r\n\r\n",
	  "403 Forbidden\na: b\ncontent-length: 0\n" },
	{ "http-request deny content-type a/b string c", "GET / HTTP/1.1\r\n\r\n",
	  "403 Forbidden\ncontent-length: 1\ncontent-type: a/b\nc" },
	{ "http-request deny status 405", "GET / HTTP/1.1\r\n\r\n",
	  "405 Method Not Allowed\ncontent-length: 0\n" },
	{ "http-request tarpit", "GET / HTTP/1.1\r\n\r\n",
	  "500 Internal Server Error\ncontent-length: 97\ncache-control: no-cache\n"
	  "content-type: text/html\n<html><body><h1>500 Internal Server Error</h1>\n"
	  "An internal server error occurred.\n</body></html>\n" },
	{ "http-request return content-type text/plain lf-string \"p=%[path]\" "
	  "hdr X-Foo \"%[path]\"",
	  "GET /rs HTTP/1.1\r\n\r\n",
	  "200 OK\nx-foo: /rs\ncontent-length: 5\ncontent-type: text/plain\np=/rs" },
	{ "http-request return status 204", "GET / HTTP/1.1\r\n\r\n",
	  "204 No Content\ncontent-length: 0\n" },
	{ "http-request redirect location /x%[path]", "GET /rl?q HTTP/1.1\r\n\r\n",
	  "302 Found\ncontent-length: 0\nlocation: /x/rl\ncache-control: no-cache\n" },
	{ "http-request redirect location /x?a=1 keep-query", "GET /r?q=2 HTTP/1.1\r\n\r\n",
	  "302 Found\ncontent-length: 0\nlocation: /x?a=1&q=2\ncache-control: no-cache\n" },
	{ "http-request redirect prefix /pfx%[src]", "GET /rp?q=1 HTTP/1.1\r\n\r\n",
	  "302 Found\ncontent-length: 0\nlocation: /pfx127.0.0.1/rp?q=1\n"
	  "cache-control: no-cache\n" },
	{ "http-request redirect prefix http://h drop-query append-slash code 301",
	  "GET /rp?q HTTP/1.1\r\n\r\n",
	  "301 Moved Permanently\ncontent-length: 0\nlocation: http://h/rp/\n" },
	{ "http-request redirect prefix http://h append-slash", "GET /rp6?q HTTP/1.1\r\n\r\n",
	  "302 Found\ncontent-length: 0\nlocation: http://h/rp6?q/\ncache-control: no-cache\n" },
	{ "http-request redirect prefix / set-cookie A=b code 303", "GET /r HTTP/1.1\r\n\r\n",
	  "303 See Other\ncontent-length: 0\nlocation: /r\ncache-control: no-cache\n"
	  "set-cookie: A=b; path=/;\n" },
	{ "http-request redirect prefix / clear-cookie A= code 307", "GET /r HTTP/1.1\r\n\r\n",
	  "307 Temporary Redirect\ncontent-length: 0\nlocation: /r\ncache-control: no-cache\n"
	  "set-cookie: A=; path=/; Max-Age=0;\n" },
	{ "http-request redirect scheme https", "GET /rs?q HTTP/1.1\r\nhost: a\r\n\r\n",
	  "302 Found\ncontent-length: 0\nlocation: https://a/rs?q\ncache-control: no-cache\n" },
	{ "redirect prefix /y%[src]", "GET /rz HTTP/1.1\r\n\r\n",
	  "302 Found\ncontent-length: 0\nlocation: /y%[src]/rz\ncache-control: no-cache\n" },
	{ "acl service_down nbsrv(b) -lt 2\nredirect prefix http://backup if !service_down",
	  "GET /p HTTP/1.1\r\n\r\n",
	  "302 Found\ncontent-length: 0\nlocation: http://backup/p\ncache-control: no-cache\n" },
};

static void test_requests(void)
{
	unsigned i;

	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		if (!ok(load(requests[i].rules), "accepted: %s", requests[i].rules)) {
			printf("# %s\n", last_message());
			continue;
		}
		is_str(run_request(requests[i].request), requests[i].expected, "and does its work");
	}
}

/* --- fetches ------------------------------------------------------------------------------ */

#define FETCH_REQUEST "GET /a?a=1;b&b=%20x&B&c HTTP/1.1\r\nhost: H:80\r\na: 1, 2\r\n" \
	"a: x,\"y,z\"\r\n" \
	"A: \r\ncookie: k=v; j=w;k=5\r\ncookie: k=3; q\r\nx: 10.0.0.1, 22\r\n\r\n"

static const struct {
	const char *expr, *expected;
} fetches[] = {
	{ "req.hdr(a)", "" }, { "req.hdr(a,1)", "1" }, { "req.hdr(a,-2)", "\"y,z\"" },
	{ "req.fhdr(a)", "" }, { "req.fhdr(a,1)", "1, 2" }, { "req.fhdr(a,-2)", "x,\"y,z\"" },
	{ "req.hdr_cnt(a)", "5" }, { "req.fhdr_cnt(a)", "3" }, { "req.hdr_cnt(none)", "0" },
	{ "req.hdr(a,9)", "" }, { "req.hdr_names", "host,a,a,a,cookie,cookie,x" },
	{ "req.hdr_names(;)", "host;a;a;a;cookie;cookie;x" }, { "hdr_ip(x,1)", "10.0.0.1" },
	{ "hdr_ip(x)", "" }, { "req.hdr_val(x)", "22" }, { "req.hdr_val(x,1)", "10" },
	{ "url_param(a)", "1" }, { "url_param(b)", "%20x" }, { "url_param(B,,i)", "%20x" },
	{ "url_param", "1" }, { "urlp(a,;)", "" }, { "urlp_val(a)", "1" }, { "method", "GET" },
	{ "req.ver", "1.1" }, { "base", "H:80/a" }, { "baseq", "H:80/a?a=1;b&b=%20x&B&c" },
	{ "path", "/a" }, { "pathq", "/a?a=1;b&b=%20x&B&c" }, { "query", "a=1;b&b=%20x&B&c" },
	{ "query(with_qm)", "?a=1;b&b=%20x&B&c" }, { "hdr(host),lower", "h:80" },
	{ "req.cook(k)", "3" }, { "req.cook", "v" }, { "req.cook_cnt(k)", "3" },
	{ "req.cook_val(k)", "3" }, { "cook(none)", "" }, { "fe_name", "f" }, { "fe_defbe", "b" },
	{ "nbsrv(b)", "2" }, { "be_conn(b)", "0" }, { "connslots(b)", "-1" }, { "src",
										"127.0.0.1" },
	{ "srv_is_up(b/s)", "1" }, { "srv_weight(b/s)", "1" }, { "fe_conn", "0" }, { "queue(b)",
										     "0" },
	{ "src,ipmask(8)", "127.0.0.0" }, { "path,field(2,/)", "a" }, { "url_ip", "" },
};

static void test_fetches(void)
{
	unsigned i;

	for (i = 0; i < sizeof(fetches) / sizeof(fetches[0]); i++) {
		struct h1_field *f;
		char rule[256];

		snprintf(rule, sizeof(rule), "http-request set-header out %%[%s]", fetches[i].expr);
		if (!ok(load(rule), "accepted: %s", rule)) {
			printf("# %s\n", last_message());
			continue;
		}
		run_request(FETCH_REQUEST);
		f = http_field_find(&stream->req.fields, 0, SLICE("out"));
		snprintf(rule, sizeof(rule), "%.*s", f ? (int)f->value.len : 4,
			 f && f->value.ptr ? f->value.ptr : "none");
		is_str(rule, fetches[i].expected, "value of %s", fetches[i].expr);
	}
}

/* --- conditions over several occurrences -------------------------------------------------- */

static void test_conditions(void)
{
	ok(load("http-request deny if { hdr(a) x }"), "a condition on any value");
	ok(strncmp(run_request(FETCH_REQUEST), "403", 3) == 0, "the third value matches");
	ok(load("http-request deny if { hdr(a,1) x }"), "a condition on the first value");
	ok(strncmp(run_request(FETCH_REQUEST), "GET", 3) == 0, "which does not match");
	ok(load("http-request deny if { req.cook(k) v }"), "a condition on any cookie");
	ok(strncmp(run_request(FETCH_REQUEST), "403", 3) == 0, "the first matches");
	ok(load("http-request deny if { url_param(b) %20x }"), "a condition on a parameter");
	ok(strncmp(run_request(FETCH_REQUEST), "403", 3) == 0, "matches");
	ok(load("http-request deny if METH_GET HTTP_1.1 HTTP { method POST GET } { url_beg /a? }"),
	   "predefined conditions");
	ok(strncmp(run_request(FETCH_REQUEST), "403", 3) == 0, "hold");
	ok(load("http-request deny if { path_reg ^/b } or { hdr_sub(host) -i h:8 } "
		"{ url_len gt 3 }"),
	   "derived criteria");
	ok(strncmp(run_request(FETCH_REQUEST), "403", 3) == 0, "hold");
	ok(load("http-request deny unless { src 127.0.0.0/8 }"), "unless");
	ok(strncmp(run_request(FETCH_REQUEST), "GET", 3) == 0, "does not hold");
	ok(load("http-request deny if { src 10.0.0.0/8 }"), "a condition on a network");
	ok(strncmp(run_request(FETCH_REQUEST), "GET", 3) == 0, "which does not match");
}

/* --- responses ---------------------------------------------------------------------------- */

static const char *run_response(const char *raw)
{
	static char area[1024];
	const struct rule *which = NULL;
	struct strbuf out;
	enum rule_result r;

	begin("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
	parse_head(&stream->res, raw, response_area, true);
	r = rules_run(stream->fe, RULES_HTTP_RESPONSE, stream_expr(stream, EXPR_DIR_RESPONSE), true,
		      &which);
	if (r != RULE_CONTINUE)
		return outcome(r, which);
	rules_run(stream->fe, RULES_HTTP_AFTER, stream_expr(stream, EXPR_DIR_RESPONSE), true,
		  &which);
	strbuf_init_fixed(&out, area, sizeof(area));
	strbuf_printf(&out, "%u %.*s\n", stream->res.status, SLICE_FMT(stream->res.reason));
	put_fields(&out, &stream->res);
	return area;
}

static void test_responses(void)
{
	ok(load("http-response set-status 299 if { status 200 }\n"
		"http-response set-header X-RS %[status]\n"
		"http-response add-header X-RS2 \"%[res.hdr(x-rs)]%[res.ver]\"\n"
		"http-response set-status 418 reason \"x y\" if { res.hdr(x-teapot) 1 }\n"
		"http-response return content-type a/b string hi hdr b \"%[res.hdr(b)]\""
		" if { res.hdr(x-deny) 3 }\n"
		"http-response deny if { res.hdr(x-deny) 1 }\n"
		"http-after-response set-header X-After \"%[txn.status]%[status]\""),
			"response rules");
	is_str(run_response("HTTP/1.1 200 OK\r\nA: b\r\n\r\n"),
	       "299 Success\na: b\nx-rs: 299\nx-rs2: 2991.1\nx-after: 299299\n", "edits");
	is_str(run_response("HTTP/1.1 200 OK\r\nx-teapot: 1\r\n\r\n"), "418 x y\nx-teapot: 1\n"
	       "x-rs: 299\nx-rs2: 2991.1\nx-after: 418418\n", "a reason");
	is_str(run_response("HTTP/1.1 200 OK\r\nx-deny: 3\r\nb: old\r\n\r\n"), "200 OK\nb: old\n"
	       "content-length: 2\ncontent-type: a/b\nhi", "an answer made of the response");
	ok(strncmp(run_response("HTTP/1.1 200 OK\r\nx-deny: 1\r\n\r\n"), "502 Bad Gateway\n",
		   16) == 0,
	   "a denied response is 502");
}

/* --- waiting and switching ---------------------------------------------------------------- */

static void test_wait(void)
{
	const struct rule *which = NULL;
	struct expr_ctx *ctx;

	ok(load("tcp-request inspect-delay 5s\ntcp-request content set-log-level silent\n"
		"tcp-request content reject if { req.len gt 0 }\n"
		"tcp-request content accept if WAIT_END\n"
		), "content rules");
	is_int(rules_inspect_delay_ms(proxy_find(cfg, "f", PROXY_FE), false), 5000, "the delay");
	begin("");
	stream->flags = 0;
	ctx = stream_expr(stream, EXPR_DIR_REQUEST);
	is_int(rules_run(stream->fe, RULES_TCP_CONTENT, ctx, false, &which), RULE_WAIT,
	       "no byte: wait");
	is_int(stream->log.level, 254, "rules before were run");
	stream->log.level = 255;
	is_int(rules_run(stream->fe, RULES_TCP_CONTENT, ctx, false, &which), RULE_WAIT, "again");
	is_int(stream->log.level, 255, "they are not run again");
	block_queue_add_copy(&stream->front.rx, SLICE("x"));
	is_int(rules_run(stream->fe, RULES_TCP_CONTENT, ctx, false, &which), RULE_REJECT,
	       "a byte came");
	ok(which && stream->last_rule == which && which->line == 10, "the rule is known");
	block_queue_clear(&stream->front.rx);
	is_int(rules_run(stream->fe, RULES_TCP_CONTENT, ctx, true, &which), RULE_ACCEPT,
	       "at the end of the delay the last one accepts");
}

static const char *switched(const char *request)
{
	struct proxy *be = NULL;

	begin(request);
	if (rules_backend(stream->fe, stream_expr(stream, EXPR_DIR_REQUEST | EXPR_FINAL), &be) !=
	    EXPR_FOUND)
		return "none";
	return be->name;
}

static void test_switch(void)
{
	ok(load("use_backend c if { path /c }\nuse_backend %[hdr(to)] if { hdr(to) -m found }"),
	   "use_backend rules");
	is_str(switched("GET /c HTTP/1.1\r\n\r\n"), "c", "by a condition");
	is_str(switched("GET / HTTP/1.1\r\n\r\n"), "b", "the default");
	is_str(switched("GET / HTTP/1.1\r\nto: c\r\n\r\n"), "c", "a computed name");
	is_str(switched("GET / HTTP/1.1\r\nto: f\r\n\r\n"), "b", "one that is no backend");
}

/* Rules of a named defaults section come first. */
static void test_defaults(void)
{
	ok(load("defaults d\n mode http\n timeout client 1s\n timeout server 1s\n"
		" timeout connect 1s\n acl a path /a\n http-request set-header o d if a\n"
		"frontend g from d\n bind 127.0.0.1:4\n acl a path /a /b\n"
		" http-request set-header o g%[hdr(o)] if a\n"),
	   "rules in a defaults section");
	begin("GET /a HTTP/1.1\r\n\r\n");
	stream->fe = stream->be = session.fe = proxy_find(cfg, "g", PROXY_FE);
	if (!ok(stream->fe != NULL, "the frontend is there")) {
		printf("# %s\n", last_message());
		return;
	}
	rules_run(stream->fe, RULES_HTTP_REQUEST, stream_expr(stream, EXPR_DIR_REQUEST), true,
		  &(const struct rule *){ NULL });
	is_str(outcome(RULE_CONTINUE, NULL), "GET /a\no: gd\n", "run before the frontend's");
	ok(!load("defaults d\n mode http\n timeout client 1s\n timeout server 1s\n"
		 " timeout connect 1s\n acl a path /a\n"
		 "frontend g from d\n bind 127.0.0.1:4\n http-request deny if a\n"),
	   "ACLs of a defaults section are for its own rules");
}

/* --- refused ------------------------------------------------------------------------------ */

static const struct {
	const char *rule, *message; /* a part of the message */
} refused[] = {
	{ "http-request", "but got '' (missing argument)." },
	{ "http-request foo", "but got 'foo'" },
	{ "http-request accept", "but got 'accept'" },
	{ "http-request deny foo",
	  "'http-request deny' expects either 'if' or 'unless' followed by a "
	  "condition but found 'foo'." },
	{ "http-request deny if nope", "no such ACL : 'nope'" },
	{ "http-request deny status 199",
	  "while parsing 'http-request deny' rule : Unexpected status "
	  "code '199'." },
	{ "http-request deny deny_status", "'status' expects <status_code> as argument." },
	{ "http-request deny deny_status 450", "status code '450' not handled by default with "
	  "'default-errorfiles' argument" },
	{ "http-request return status 600", "Unexpected status code '600'." },
	{ "http-request return string abc",
	  "a content type must be defined when non-empty payload is "
	  "configured." },
	{ "http-request return hdr a", "'hdr' expects <name> and <value> as arguments." },
	{ "http-request return string a content-type b lf-string c",
	  "unexpected 'lf-string' argument, 'string' already defined." },
	{ "http-request return file /nonex content-type x", "error opening file '/nonex'." },
	{ "http-request redirect",
	  "redirection type expected ('prefix', 'location', or 'scheme')." },
	{ "http-request redirect foo", "(was 'foo')." },
	{ "http-request redirect location", "missing argument for 'location'." },
	{ "http-request redirect location /x code 300", "'code': unsupported HTTP code '300'" },
	{ "http-response redirect prefix /a", "response only supports redirect type 'location'." },
	{ "http-request set-header x", "expects exactly 2 arguments." },
	{ "http-request set-header x y z", "but found 'z'." },
	{ "http-request set-header x %[foo]", "unknown fetch method 'foo'" },
	{ "http-request set-header a:b z", "forbidden character" },
	{ "http-request del-header", "expects at least 1 argument." },
	{ "http-request del-header x -m", "-m flag expects exactly 1 argument." },
	{ "http-request del-header x -m foo", "-m with unsupported matching method 'foo'." },
	{ "http-request replace-header x y", "expects exactly 3 arguments." },
	{ "http-request replace-header x ( y", "regex '(' is invalid" },
	{ "http-request set-path a b", "expects exactly 1 argument <format>." },
	{ "http-response set-status 99", "expects an integer status code between 100 and 999." },
	{ "http-response set-path a", "but got 'set-path'" },
	{ "http-request set-log-level foo",
	  "expects exactly 1 argument (log level name or 'silent')." },
	{ "http-request silent-drop rst-ttl 999", "valid rst-ttl values are [1-255]" },
	{ "http-request strict-mode foo",
	  "Unexpected value 'foo'. Only 'on' and 'off' are supported." },
	{ "http-after-response set-header a %[path]", "needs 'HTTP request headers'" },
	{ "tcp-request", "missing argument for 'tcp-request' in frontend 'f'" },
	{ "tcp-request foo", "in frontend 'f' (got 'foo')" },
	{ "tcp-request connection foo", "but got 'foo'" },
	{ "tcp-request content deny", "but got 'deny'" },
	{ "tcp-request inspect-delay", "inspect-delay" },
	{ "tcp-response content accept",
	  "tcp-response content is only allowed in 'backend' sections" },
	{ "use_backend", "'use_backend' expects a backend name." },
	{ "use_backend b c",
	  "unexpected keyword 'c' after switching rule, only 'if' and 'unless' are "
	  "allowed." },
	{ "use_backend nope", "unable to find required use_backend: 'nope'." },
	{ "http-request deny if { nbsrv(nope) 1 }", "unable to find backend 'nope'" },
	{ "redirect", "redirection type expected" },
};

static void test_refused(void)
{
	unsigned i;

	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct diag *d;
		bool found = false;

		ok(!load(refused[i].rule), "refused: %s", refused[i].rule);
		list_for_each(d, &diags.diags, link)
			found |= strstr(d->message, refused[i].message) != NULL;
		if (!ok(found, "and says why"))
			printf("# %s\n", last_message());
	}
}

static bool set_up(void)
{
	unsigned i, j;

	for (i = 0; modules[i]; i++) {
		for (j = 0; modules[i]->slots && modules[i]->slots[j]; j++)
			slot_register(modules[i]->slots[j]);
	}
	for (i = 0; modules[i]; i++) {
		if (modules[i]->init && !modules[i]->init())
			return false;
	}
	client = addr_from_v4("\x7f\0\0\1", 1234);
	diag_list_init(&diags);
	stream = calloc(1, sizeof(*stream) + 4096);
	return stream && conf_register(modules) && expr_register(modules) &&
		rules_register(modules);
}

int main(void)
{
	if (!ok(set_up(), "modules are registered"))
		return done_testing();
	test_requests();
	test_fetches();
	test_conditions();
	test_responses();
	test_wait();
	test_switch();
	test_defaults();
	test_refused();
	arena_fini(&stream->arena);
	block_queue_clear(&stream->local.body);
	free(stream);
	config_drop(&cfg);
	diag_list_fini(&diags);
	return done_testing();
}
