/* SPDX-License-Identifier: GPL-2.0-or-later */
/* head.c - decoded heads of HTTP/2 and HTTP/3 become messages */
#include <string.h>
#include <sys/random.h>
#include "codec/websocket.h"
#include "mux/head.h"

/* Places that are left for fields that rules add. */
#define SPARE_FIELDS 8

/* Copies what <head> points to into the message's arena. Returns the list of fields, or NULL. */
static struct h1_field *keep(struct http_msg *m, struct h2_head *head, unsigned spare)
{
	struct h1_field *list = arena_alloc(m->arena, (head->field_count + spare) * sizeof(*list));
	char *text = arena_alloc(m->arena, head->text_len + 1);

	if (!list || !text)
		return NULL;
	memcpy(text, head->text, head->text_len);
	h2_head_move(head, text);
	memcpy(list, head->fields, head->field_count * sizeof(*list));
	return list;
}

bool mux_head_fields(struct http_msg *m, struct h2_head *head)
{
	struct h1_field *list = keep(m, head, SPARE_FIELDS);

	if (!list)
		return false;
	m->fields = (struct http_fields){
		.list = list, .count = head->field_count, .room = head->field_count + SPARE_FIELDS,
	};
	return true;
}

void mux_head_trailers(struct http_msg *m, struct h2_head *head)
{
	if (!head->field_count)
		return;
	m->trailers.list = keep(m, head, 0);
	if (m->trailers.list)
		m->trailers.count = m->trailers.room = head->field_count;
}

/* The target as an absolute form: how the parts of a head fit together (RFC 9113 8.3.1). A server
 * of HTTP/1 gets its origin form, which means "http" or "https", unless it is another scheme's.
 */
static bool fill_uri(struct http_msg *m, const struct h2_head *head)
{
	bool asterisk = slice_eq(head->path, SLICE("*"));
	struct slice path = asterisk ? SLICE("") : head->path;
	size_t len = head->scheme.len + 3 + head->authority.len + path.len;
	char *text;

	if (slice_is_none(head->path)) {
		m->uri = head->authority;
		return true;
	}
	if (!(head->flags & H2_HEAD_FL_AUTHORITY)) {
		m->uri = head->path;
		return true;
	}
	text = arena_alloc(m->arena, len);
	if (!text)
		return false;
	m->uri = slice_make(text, len);
	m->flags |= head->flags & H2_HEAD_FL_OTHER_SCHEME ? HTTP_MSG_ABSOLUTE
							  : HTTP_MSG_ABSOLUTE | HTTP_MSG_NORMALIZED;
	memcpy(text, head->scheme.ptr, head->scheme.len);
	text += head->scheme.len;
	memcpy(text, "://", 3);
	text += 3;
	memcpy(text, head->authority.ptr, head->authority.len);
	if (path.len)
		memcpy(text + head->authority.len, path.ptr, path.len);
	return true;
}

static void fill_body(struct http_msg *m, const struct h2_head *head, bool ended)
{
	m->content_length = head->content_length;
	if (ended || head->method_id == H1_METHOD_CONNECT)
		m->body = HTTP_BODY_NONE;
	else if (head->flags & H2_HEAD_FL_CONTENT_LENGTH)
		m->body = HTTP_BODY_LENGTH;
	else
		m->body = HTTP_BODY_CHUNKED;
}

/* The key that an HTTP/1 server has to answer, unless the client has brought one. */
static bool put_websocket_key(struct http_msg *m)
{
	uint8_t nonce[WEBSOCKET_NONCE_LEN] = { 0 };
	char key[WEBSOCKET_KEY_LEN];

	if (http_field_find(&m->fields, FIELD_SEC_WEBSOCKET_KEY, SLICE("sec-websocket-key")))
		return true;
	/* no secret: it only tells the answer to this request from another's */
	if (getrandom(nonce, sizeof(nonce), 0) != (ssize_t)sizeof(nonce))
		return false;
	websocket_key(nonce, key);
	return http_msg_add_field(m, SLICE("sec-websocket-key"), slice_make(key, sizeof(key)));
}

bool mux_head_upgrade(struct http_msg *m, const struct h2_head *head)
{
	m->method_text = SLICE("GET");
	m->method = HTTP_METH_GET;
	m->flags |= HTTP_MSG_UPGRADE | HTTP_MSG_EXTENDED_CONNECT;
	if (!http_msg_put_field(m, FIELD_UPGRADE, SLICE("upgrade"), head->protocol) ||
	    !http_msg_put_field(m, FIELD_CONNECTION, SLICE("connection"), SLICE("upgrade")))
		return false;
	return !slice_eq_nocase(head->protocol, SLICE("websocket")) || put_websocket_key(m);
}

bool mux_head_request(struct http_msg *m, struct h2_head *head, bool ended)
{
	if (!mux_head_fields(m, head))
		return false;
	m->flags = 0;
	m->method_text = head->method;
	m->method = head->method_id;
	if (head->flags & H2_HEAD_FL_EXPECT_CONTINUE)
		m->flags |= HTTP_MSG_EXPECT_CONTINUE;
	fill_body(m, head, ended);
	return fill_uri(m, head);
}
