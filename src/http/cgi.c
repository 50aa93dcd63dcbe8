/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cgi.c - requests as CGI/1.1 applications see them, and answers as they give them */
#include "http/cgi.h"
#include "base/num.h"
#include "codec/fcgi.h"
#include "http/msg.h"

static const struct slice status_name = SLICE("status");
static const struct slice gateway = SLICE("GATEWAY_INTERFACE"), cgi_version = SLICE("CGI/1.1");
static const struct slice document_root = SLICE("DOCUMENT_ROOT");
static const struct slice server_software = SLICE("SERVER_SOFTWARE");

/* --- names and paths -------------------------------------------------------------------------- */

static inline char char_of_name(char c)
{
	if ((unsigned char)((c | 0x20) - 'a') < 26)
		return (char)(c & ~0x20);
	return ascii_is_digit(c) ? c : '_';
}

void cgi_add_name(struct strbuf *out, struct slice name)
{
	for (size_t i = 0; i < name.len; i++)
		strbuf_add_char(out, char_of_name(name.ptr[i]));
}

bool cgi_add_path(struct strbuf *out, struct slice path)
{
	if (!path.len || path.ptr[0] != '/')
		return false;
	for (size_t i = 0; i < path.len; i++) {
		char c = path.ptr[i];

		if (c == '%') {
			int high, low;

			if (path.len - i < 3)
				return false;
			high = num_hex_digit(path.ptr[i + 1]);
			low = num_hex_digit(path.ptr[i + 2]);
			if (high < 0 || low < 0)
				return false;
			c = (char)(high << 4 | low);
			i += 2;
		}
		strbuf_add_char(out, c);
	}
	return !out->overflow;
}

/* --- parameters ------------------------------------------------------------------------------- */

/* What the adding of parameters needs. */
struct adding {
	const struct cgi_request *rq;
	struct strbuf *out;
	struct slice host;           /* of the head; or none */
	bool has_length;
};

static inline const struct cgi_param *param_set(const struct cgi_request *rq, struct slice name)
{
	for (unsigned i = 0; i < rq->set_count; i++)
		if (slice_eq(rq->set[i].name, name))
			return &rq->set[i];
	return NULL;
}

/* What a parameter has been set to, or would be. */
static struct slice value_of(const struct cgi_request *rq, struct slice name, struct slice value)
{
	const struct cgi_param *set = param_set(rq, name);

	return set ? set->value : value;
}

static void add_field(struct adding *a, const struct h1_field *f)
{
	bool is_plain = f->id == FIELD_CONTENT_LENGTH || f->id == FIELD_CONTENT_TYPE;
	char *at;

	if (f->id == FIELD_HOST && !a->host.ptr)
		a->host = f->value;
	a->has_length |= f->id == FIELD_CONTENT_LENGTH;
	if (slice_eq(f->name, SLICE("proxy")))
		return;
	at = fcgi_add_param_room(a->out, f->name.len + (is_plain ? 0 : 5), f->value.len);
	if (!at)
		return;
	if (!is_plain)
		at = mempcpy(at, "HTTP_", 5);
	for (size_t i = 0; i < f->name.len; i++)
		*at++ = char_of_name(f->name.ptr[i]);
	if (f->value.len)
		memcpy(at, f->value.ptr, f->value.len);
}

/* Adds a parameter that was not set. */
static void add_default(struct adding *a, struct slice name, struct slice value)
{
	if (value.len && !param_set(a->rq, name))
		fcgi_add_param(a->out, name, value);
}

static void add_number(struct adding *a, struct slice name, uint64_t number)
{
	char digits[NUM_U64_MAX];

	add_default(a, name, slice_make(digits, num_put_u64(digits, number)));
}

static void add_joined(struct adding *a, struct slice name, struct slice first, struct slice second)
{
	char *at;

	if (first.len + second.len == 0 || param_set(a->rq, name))
		return;
	at = fcgi_add_param_room(a->out, name.len, first.len + second.len);
	if (!at)
		return;
	at = mempcpy(at, name.ptr, name.len);
	if (first.len)
		at = mempcpy(at, first.ptr, first.len);
	if (second.len)
		memcpy(at, second.ptr, second.len);
}

/* Where the script is, and what comes after it. */
static void add_script(struct adding *a, struct slice docroot)
{
	const struct cgi_request *rq = a->rq;
	struct slice info = value_of(rq, SLICE("PATH_INFO"), rq->path_info);
	struct slice script = rq->script;
	struct strbuf whole;

	strbuf_init(&whole);
	if (script.len && script.ptr[script.len - 1] == '/' && rq->index.len) {
		strbuf_add(&whole, script);
		strbuf_add(&whole, rq->index);
		script = strbuf_slice(&whole);
	}
	add_default(a, SLICE("SCRIPT_NAME"), script);
	add_default(a, SLICE("PATH_INFO"), rq->path_info);
	add_joined(a, SLICE("SCRIPT_FILENAME"), docroot,
		   value_of(rq, SLICE("SCRIPT_NAME"), script));
	if (info.len)
		add_joined(a, SLICE("PATH_TRANSLATED"), docroot, info);
	a->out->overflow |= whole.overflow;
	strbuf_fini(&whole);
}

/* The one that the client asks for, or where it came to. */
static struct slice server_name(const struct adding *a)
{
	return a->host.len ? a->host : a->rq->server;
}

static struct slice protocol_of(const struct http_msg *m)
{
	if (m->version >= 20)
		return m->version >= 30 ? SLICE("HTTP/3.0") : SLICE("HTTP/2.0");
	return m->version <= 10 ? SLICE("HTTP/1.0") : SLICE("HTTP/1.1");
}

static void add_defaults(struct adding *a)
{
	const struct cgi_request *rq = a->rq;
	const struct http_msg *m = rq->head;

	if (rq->fixed.len) {
		strbuf_add(a->out, rq->fixed);
	} else {
		add_default(a, gateway, cgi_version);
		add_default(a, document_root, rq->docroot);
	}
	add_script(a, value_of(rq, document_root, rq->docroot));
	add_default(a, SLICE("REQUEST_URI"),
		    m->flags & HTTP_MSG_NORMALIZED ? http_msg_pathq(m) : m->uri);
	add_default(a, SLICE("REQUEST_METHOD"), m->method_text);
	add_default(a, SLICE("QUERY_STRING"), http_msg_query(m));
	add_default(a, SLICE("SERVER_NAME"), server_name(a));
	if (rq->server_port)
		add_number(a, SLICE("SERVER_PORT"), rq->server_port);
	add_default(a, SLICE("SERVER_PROTOCOL"), protocol_of(m));
	add_default(a, SLICE("REMOTE_ADDR"), rq->client);
	if (rq->client_port)
		add_number(a, SLICE("REMOTE_PORT"), rq->client_port);
	if (rq->https)
		add_default(a, SLICE("HTTPS"), SLICE("on"));
	if (!rq->fixed.len)
		add_default(a, server_software, rq->software);
}

bool cgi_is_fixed(struct slice name)
{
	return slice_eq(name, gateway) || slice_eq(name, document_root) ||
	       slice_eq(name, server_software);
}

void cgi_add_fixed(struct strbuf *b, struct slice docroot, struct slice software)
{
	fcgi_add_param(b, gateway, cgi_version);
	if (docroot.len)
		fcgi_add_param(b, document_root, docroot);
	if (software.len)
		fcgi_add_param(b, server_software, software);
}

void cgi_add_params(struct strbuf *b, const struct cgi_request *r)
{
	struct adding a = { .rq = r, .out = b };
	const struct http_fields *fields = &r->head->fields;
	char digits[NUM_U64_MAX];

	for (unsigned i = 0; i < fields->count; i++)
		if (fields->list[i].name.ptr)
			add_field(&a, &fields->list[i]);
	for (unsigned i = 0; i < r->set_count; i++)
		fcgi_add_param(b, r->set[i].name, r->set[i].value);
	add_defaults(&a);
	/* the true length comes last: it must not depend on what a line has set */
	if (!a.has_length) {
		size_t len = num_put_u64(digits, r->body_len);

		fcgi_add_param(b, SLICE("CONTENT_LENGTH"), slice_make(digits, len));
	}
}

/* --- answers ---------------------------------------------------------------------------------- */

/* "404 Not Found", "404". As with HAProxy, the number may end otherwise than with a blank. */
static bool status_read(struct slice s, unsigned *status, struct slice *reason)
{
	if (s.len < 3 || (s.len > 3 && !memchr(" \t,;", s.ptr[3], 4)))
		return false;
	*status = 0;
	for (size_t i = 0; i < 3; i++) {
		if (!ascii_is_digit(s.ptr[i]))
			return false;
		*status = *status * 10 + (unsigned)(s.ptr[i] - '0');
	}
	*reason = slice_trim(slice_sub(s, 3, s.len));
	if (!reason->len)
		*reason = slice_none();
	return *status >= 200;
}

bool cgi_answer_finish(struct http_msg *answer)
{
	struct slice text = slice_none(), reason = slice_none();
	uint64_t there = http_fields_there(&answer->fields);
	struct h1_field *f;
	unsigned status;
	int at = -1;

	/* (no name of the table is Status) */
	while (there & 1 && (f = http_field_next(&answer->fields, &at, 0, status_name))) {
		text = f->value; /* (the last one counts) */
		http_msg_drop_field(answer, f);
	}
	if (text.len)
		return status_read(text, &status, &reason) &&
		       http_msg_set_status(answer, status, reason);
	if (there >> FIELD_LOCATION & 1)
		return http_msg_set_status(answer, 302, slice_none());
	return true;
}
