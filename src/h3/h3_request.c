/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h3_request.c - the HTTP/3 mux: encoding of requests to servers (RFC 9114 4.3) */
#include "base/addr.h"
#include "codec/qpack.h"
#include "http/msg.h"
#include "net/conn.h"
#include "h3_priv.h"

/* The pieces of a request that become pseudo-fields. */
struct target {
	struct slice scheme, authority, path;
};

/* An absolute form names all. Otherwise nothing is known of the scheme but that QUIC has TLS, and
 * Host says the rest. With that scheme there must be an authority (RFC 9114 4.3.1): for a client of
 * HTTP/1.0 that names none it is the server's address, in <room>.
 */
static struct target target_of(const struct h3_stream *s, const struct http_msg *m,
			       char room[ADDR_MAX])
{
	struct target t = { SLICE("https"), slice_none(), http_msg_pathq(m) };
	const struct h1_field *host = http_field_find(&m->fields, FIELD_HOST, slice_none());

	if (m->flags & HTTP_MSG_ABSOLUTE)
		t.authority = http_msg_authority(m);
	else if (host)
		t.authority = host->value;
	if (!t.authority.len) {
		struct addr server = conn_address(s->conn->conn, true);

		t.authority = slice_make(room, addr_put(&server, room, ADDR_MAX));
	}
	if (slice_eq(m->uri, SLICE("*")) || (m->flags & HTTP_MSG_ABSOLUTE && !t.path.len &&
					     m->method == HTTP_METH_OPTIONS))
		t.path = SLICE("*");
	else if (!t.path.len)
		t.path = SLICE("/");
	return t;
}

size_t h3_request_bound(const struct h3_stream *s, const struct http_msg *m)
{
	char room[ADDR_MAX];
	struct target t = target_of(s, m, room);

	return 4 * hpack_field_bound(10, 0) + m->method_text.len + t.scheme.len + t.authority.len +
	       t.path.len;
}

bool h3_request_put(struct h3_stream *s, struct hpack_writer *w, const struct http_msg *m)
{
	char room[ADDR_MAX];
	struct target t = target_of(s, m, room);

	return qpack_write_pseudo(w, HPACK_METHOD, m->method_text) &&
	       qpack_write_pseudo(w, HPACK_SCHEME, t.scheme) &&
	       qpack_write_pseudo(w, HPACK_AUTHORITY, t.authority) &&
	       qpack_write_pseudo(w, HPACK_PATH, t.path);
}

bool h3_request_sends(const struct http_msg *m, const struct h1_field *f)
{
	switch (f->id) {
	case FIELD_HOST: /* it is ":authority" */
	case FIELD_HTTP2_SETTINGS:
		return false;
	case FIELD_TE:
		return slice_eq_nocase(f->value, SLICE("trailers"));
	case FIELD_CONTENT_LENGTH:
		return m->body == HTTP_BODY_NONE && slice_eq(f->value, SLICE("0"));
	}
	return true;
}

bool h3_request_is_refused(const struct http_msg *m)
{
	return m->method == HTTP_METH_CONNECT || m->flags & HTTP_MSG_EXTENDED_CONNECT ||
	       slice_eq_nocase(http_msg_upgrade(m), SLICE("websocket"));
}
