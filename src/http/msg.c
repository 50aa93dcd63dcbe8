/* SPDX-License-Identifier: GPL-2.0-or-later */
/* msg.c - a message head, independent of the HTTP version */
#include "http/msg.h"

#include "base/bug.h"

static const struct slice method_names[] = {
	[HTTP_METH_OTHER] = SLICE(""),
	[HTTP_METH_OPTIONS] = SLICE("OPTIONS"),
	[HTTP_METH_GET] = SLICE("GET"),
	[HTTP_METH_HEAD] = SLICE("HEAD"),
	[HTTP_METH_POST] = SLICE("POST"),
	[HTTP_METH_PUT] = SLICE("PUT"),
	[HTTP_METH_DELETE] = SLICE("DELETE"),
	[HTTP_METH_TRACE] = SLICE("TRACE"),
	[HTTP_METH_CONNECT] = SLICE("CONNECT"),
	[HTTP_METH_PATCH] = SLICE("PATCH"),
};

static const struct http_reason_text {
	uint16_t status;
	struct slice text;
} reasons[] = {
	{ 100, SLICE("Continue") },
	{ 101, SLICE("Switching Protocols") },
	{ 102, SLICE("Processing") },
	{ 103, SLICE("Early Hints") },
	{ 200, SLICE("OK") },
	{ 201, SLICE("Created") },
	{ 202, SLICE("Accepted") },
	{ 203, SLICE("Non-Authoritative Information") },
	{ 204, SLICE("No Content") },
	{ 205, SLICE("Reset Content") },
	{ 206, SLICE("Partial Content") },
	{ 207, SLICE("Multi-Status") },
	{ 210, SLICE("Content Different") },
	{ 226, SLICE("IM Used") },
	{ 300, SLICE("Multiple Choices") },
	{ 301, SLICE("Moved Permanently") },
	{ 302, SLICE("Found") },
	{ 303, SLICE("See Other") },
	{ 304, SLICE("Not Modified") },
	{ 305, SLICE("Use Proxy") },
	{ 307, SLICE("Temporary Redirect") },
	{ 308, SLICE("Permanent Redirect") },
	{ 310, SLICE("Too many Redirects") },
	{ 400, SLICE("Bad Request") },
	{ 401, SLICE("Unauthorized") },
	{ 402, SLICE("Payment Required") },
	{ 403, SLICE("Forbidden") },
	{ 404, SLICE("Not Found") },
	{ 405, SLICE("Method Not Allowed") },
	{ 406, SLICE("Not Acceptable") },
	{ 407, SLICE("Proxy Authentication Required") },
	{ 408, SLICE("Request Time-out") },
	{ 409, SLICE("Conflict") },
	{ 410, SLICE("Gone") },
	{ 411, SLICE("Length Required") },
	{ 412, SLICE("Precondition Failed") },
	{ 413, SLICE("Request Entity Too Large") },
	{ 414, SLICE("Request-URI Too Long") },
	{ 415, SLICE("Unsupported Media Type") },
	{ 416, SLICE("Requested range unsatisfiable") },
	{ 417, SLICE("Expectation failed") },
	{ 418, SLICE("I'm a teapot") },
	{ 421, SLICE("Misdirected Request") },
	{ 422, SLICE("Unprocessable Content") },
	{ 423, SLICE("Locked") },
	{ 424, SLICE("Method failure") },
	{ 425, SLICE("Too Early") },
	{ 426, SLICE("Upgrade Required") },
	{ 428, SLICE("Precondition Required") },
	{ 429, SLICE("Too Many Requests") },
	{ 431, SLICE("Request Header Fields Too Large") },
	{ 449, SLICE("Retry With") },
	{ 450, SLICE("Blocked by Windows Parental Controls") },
	{ 451, SLICE("Unavailable For Legal Reasons") },
	{ 456, SLICE("Unrecoverable Error") },
	{ 499, SLICE("client has closed connection") },
	{ 500, SLICE("Internal Server Error") },
	{ 501, SLICE("Not Implemented") },
	{ 502, SLICE("Bad Gateway or Proxy Error") },
	{ 503, SLICE("Service Unavailable") },
	{ 504, SLICE("Gateway Time-out") },
	{ 505, SLICE("HTTP Version not supported") },
	{ 506, SLICE("Variant also negotiate") },
	{ 507, SLICE("Insufficient storage") },
	{ 508, SLICE("Loop detected") },
	{ 509, SLICE("Bandwidth Limit Exceeded") },
	{ 510, SLICE("Not extended") },
	{ 511, SLICE("Network authentication required") },
	{ 520, SLICE("Web server is returning an unknown error") },
};

/* What a status of an unknown number says, by its class. */
static const struct slice class_reasons[] = {
	SLICE("Other"), SLICE("Informational"), SLICE("Success"), SLICE("Redirection"),
	SLICE("Client Error"), SLICE("Server Error"),
};

enum http_method http_method_of(struct slice text)
{
	unsigned m;

	for (m = HTTP_METH_OPTIONS; m < ARRAY_LEN(method_names); m++) {
		if (slice_eq(text, method_names[m]))
			return m;
	}
	return HTTP_METH_OTHER;
}

struct slice http_reason(unsigned status)
{
	unsigned low = 0, high = ARRAY_LEN(reasons);

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (reasons[middle].status == status)
			return reasons[middle].text;
		if (reasons[middle].status < status)
			low = middle + 1;
		else
			high = middle;
	}
	return class_reasons[status / 100 < ARRAY_LEN(class_reasons) ? status / 100 : 0];
}

void http_msg_init(struct http_msg *m, struct arena *arena)
{
	*m = (struct http_msg){ .arena = arena };
}

static size_t fields_size(const struct http_fields *f)
{
	size_t size = 1;

	for (unsigned i = 0; i < f->count; i++)
		if (f->list[i].name.ptr)
			size += f->list[i].name.len + f->list[i].value.len;
	return size;
}

size_t http_msg_size(const struct http_msg *m)
{
	size_t line = m->flags & HTTP_MSG_RESPONSE ? 3 + m->reason.len
						   : m->method_text.len + m->uri.len;

	return 20 + m->version_text.len + line + fields_size(&m->fields);
}

size_t http_trailers_size(const struct http_msg *m)
{
	return fields_size(&m->trailers);
}

void http_msg_drop_blocks(struct http_msg *m)
{
	while (m->block_count)
		block_drop(m->blocks[--m->block_count]);
}

void http_msg_fini(struct http_msg *m)
{
	http_msg_drop_blocks(m);
	*m = (struct http_msg){ .arena = m->arena };
}

bool http_msg_hold(struct http_msg *m, struct block *b)
{
	unsigned i;

	for (i = 0; i < m->block_count; i++) {
		if (m->blocks[i] == b)
			return true;
	}
	if (m->block_count == ARRAY_LEN(m->blocks))
		return false;
	m->blocks[m->block_count++] = block_take(b);
	return true;
}

bool http_msg_set_method(struct http_msg *m, struct slice method)
{
	enum http_method known = http_method_of(method);
	struct slice text;

	text = known ? method_names[known] : arena_copy(m->arena, method);
	if (!text.ptr)
		return false;
	m->method = known;
	m->method_text = text;
	m->flags |= HTTP_MSG_EDITED;
	return true;
}

bool http_msg_set_status(struct http_msg *m, unsigned status, struct slice reason)
{
	struct slice text;

	text = reason.ptr ? arena_copy(m->arena, reason) : http_reason(status);
	if (!text.ptr)
		return false;
	m->status = status;
	m->reason = text;
	m->flags |= HTTP_MSG_EDITED;
	return true;
}
