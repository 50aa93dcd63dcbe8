/* SPDX-License-Identifier: GPL-2.0-or-later */
/* error_capture.c - the last bytes that were no valid request or response */
#include <stdio.h>
#include "base/block.h"
#include "http/msg.h"
#include "mux/endpoint.h"
#include "proxy/bind.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "proxy/walk.h"
#include "stream/error_capture.h"
#include "stream/session.h"
#include "stream/stream.h"
#include "stream/trail.h"
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "stream/sess_dump.h"
#include "sess_priv.h"

/* Widest line of text behind the offset. */
#define TEXT_WIDTH 70

/* One copy. The proxy that it names is of the same generation as the one that has it. */
struct error_capture {
	unsigned refs;               /* under the slot's lock */
	uint64_t wall_us;
	unsigned event;
	struct proxy *other;         /* a request's backend or NULL, a response's frontend; it
				      * is pinned */
	int server_id;               /* -1: none */
	struct addr src;
	unsigned listener;
	const char *state;
	unsigned state_number, conn_flags, stream_flags;
	uint64_t body;               /* bytes of body before */
	size_t at, len, room;
	char bytes[];                /* <len>, and the server's name, of <room> in all */
};

struct error_captures {
	unsigned lock;
	struct error_capture *last[2];     /* request, response */
};

static unsigned event_count; /* atomic */

/* The calling thread's last one, for failures that are kept (stream/trail.h); len 0: taken. */
static __thread struct {
	const struct session *sess;
	uint64_t accept_ns;          /* of <sess>: another one may have its place in memory */
	struct failure_bytes bytes;
} newest;

/* With its generation, whose proxies go now: nothing of them is looked at. */
static void captures_fini(void *data)
{
	struct error_captures *c = data;

	free(c->last[0]);
	free(c->last[1]);
}

static bool captures_inherit(void *data, const void *from)
{
	return true; /* nothing of it is configuration */
}

struct slot error_capture_slot = {
	.of = SLOT_PROXY, .size = sizeof(struct error_captures),
	.fini = captures_fini, .inherit = captures_inherit,
};

static struct error_captures *error_captures_of(const struct proxy *px)
{
	return slot_of(&error_capture_slot, proxy_slots(px));
}

static void captures_lock(struct error_captures *c)
{
	while (__atomic_exchange_n(&c->lock, 1, __ATOMIC_ACQUIRE))
		;
}

static void captures_unlock(struct error_captures *c)
{
	__atomic_store_n(&c->lock, 0, __ATOMIC_RELEASE);
}

/* Lets go of one; the lock is held. Returns what is to be freed. */
static struct error_capture *capture_unref(struct error_capture *c)
{
	return c && --c->refs == 0 ? c : NULL;
}

unsigned error_capture_count(void)
{
	return __atomic_load_n(&event_count, __ATOMIC_RELAXED);
}

/* --- keeping ---------------------------------------------------------------------------------- */

static void note_newest(const struct session *sess, const struct endpoint_bad *bad)
{
	struct failure_bytes *b = &newest.bytes;
	size_t at = bad->at < bad->bytes.len ? bad->at : bad->bytes.len;
	size_t from = at > FAILURE_BYTES / 2 ? at - FAILURE_BYTES / 2 : 0;
	struct slice part = slice_sub(bad->bytes, from, from + FAILURE_BYTES);

	newest.sess = sess;
	newest.accept_ns = sess->accept_ns;
	b->from = (uint32_t)from;
	b->at = (uint16_t)(at - from);
	b->len = (uint16_t)part.len;
	memcpy(b->text, part.ptr, part.len);
}

void error_capture_take(const struct session *sess, struct failure_bytes *out)
{
	out->len = 0;
	if (!newest.bytes.len || newest.sess != sess || newest.accept_ns != sess->accept_ns)
		return;
	*out = newest.bytes;
	newest.bytes.len = 0;
}

/* A copy of the bytes with what is known of the client; NULL: no memory. */
static struct error_capture *capture_new(struct session *sess, const struct server *srv,
					 const struct endpoint_bad *bad)
{
	const char *name = srv ? srv->name : "<NONE>";
	size_t len = bad->bytes.len < block_size() ? bad->bytes.len : block_size();
	size_t room = len + strlen(name) + 1;
	struct error_capture *c = malloc(sizeof(*c) + room);
	unsigned event = __atomic_fetch_add(&event_count, 1, __ATOMIC_RELAXED);

	note_newest(sess, bad);
	if (!c)
		return NULL;
	*c = (struct error_capture){
		.refs = 1, .wall_us = clock_wall_us(), .event = event, .src = *session_src(sess),
		.listener = (unsigned)sess->listener->id, .state = bad->state,
		.state_number = bad->state_number, .conn_flags = bad->conn_flags,
		.at = bad->at < len ? bad->at : len, .len = len, .room = room,
		.server_id = srv ? srv->id : -1,
	};
	memcpy(c->bytes, bad->bytes.ptr, len);
	strcpy(c->bytes + len, name);
	return c;
}

/* NULL does no harm. */
static void capture_free(struct error_capture *c)
{
	if (c && c->other)
		proxy_unpin(c->other);
	free(c);
}

/* Takes the place of what <px> had. */
static void capture_keep(const struct proxy *px, bool response, struct error_capture *c)
{
	struct error_captures *all = error_captures_of(px);
	struct error_capture *old;

	captures_lock(all);
	old = capture_unref(all->last[response]);
	all->last[response] = c;
	captures_unlock(all);
	capture_free(old);
}

void error_capture_request(struct session *sess, const struct endpoint_bad *bad)
{
	struct error_capture *c = bad->bytes.len ? capture_new(sess, NULL, bad) : NULL;

	if (c)
		capture_keep(sess->fe, false, c);
}

static void capture_stream(struct stream *s, const struct endpoint *ep,
			   const struct endpoint_bad *bad)
{
	bool response = ep == &s->back;
	struct error_capture *c = capture_new(s->sess, stream_server(s), bad);

	if (!c)
		return;
	c->stream_flags = ep->flags;
	c->body = ep->rx_bytes ? ep->rx_bytes - http_msg_size(ep->rx_head) : 0;
	c->other = response ? s->fe : s->server ? s->be : NULL;
	if (c->other)
		proxy_pin(c->other);
	capture_keep(response ? s->be : s->fe, response, c);
}

void error_capture_front_bad(struct endpoint *ep, const struct endpoint_bad *bad)
{
	capture_stream(stream_of_front(ep), ep, bad);
}

void error_capture_back_bad(struct endpoint *ep, const struct endpoint_bad *bad)
{
	capture_stream(stream_of_back(ep), ep, bad);
}

/* A copy for <next>, whose proxies and servers it names; NULL: no memory, or there is none. */
static struct error_capture *capture_copy(const struct config *next, const struct error_capture *c)
{
	struct error_capture *copy = c ? malloc(sizeof(*c) + c->room) : NULL;

	if (!copy)
		return NULL;
	memcpy(copy, c, sizeof(*c) + c->room);
	copy->refs = 1;
	copy->other = c->other ? proxy_heir(next, c->other) : NULL;
	if (copy->other)
		proxy_pin(copy->other);
	return copy;
}

void error_capture_pass_on(struct config *next, const struct proxy *px)
{
	const struct proxy *heir = proxy_heir(next, px);
	struct error_captures *all = error_captures_of(px);
	struct error_capture *c[2];

	if (!heir)
		return;
	captures_lock(all);
	for (int i = 0; i < 2; i++)
		c[i] = capture_copy(next, all->last[i]);
	captures_unlock(all);
	for (int i = 0; i < 2; i++)
		if (c[i])
			capture_keep(heir, i, c[i]);
}

/* --- showing ---------------------------------------------------------------------------------- */

/* How one byte is written; returns the width. */
static unsigned encode_byte(unsigned char c, char out[5])
{
	static const char letters[] = "\tt\nn\rr\x1b" "e\\\\";

	for (unsigned i = 0; i + 1 < sizeof(letters); i += 2)
		if ((unsigned char)letters[i] == c)
			return (unsigned)snprintf(out, 5, "\\%c", letters[i + 1]);
	if (c >= ' ' && c < 0x7f)
		return (unsigned)snprintf(out, 5, "%c", c);
	return (unsigned)snprintf(out, 5, "\\x%02X", c);
}

/* The bytes, a line of theirs per line; longer ones are cut, and go on behind a '+'. */
static void put_bytes(struct strbuf *out, const struct error_capture *c)
{
	unsigned width = 0;
	bool cut = false;
	char text[5];

	for (size_t i = 0; i < c->len; i++) {
		unsigned n = encode_byte((unsigned char)c->bytes[i], text);

		if (width && width + n > TEXT_WIDTH) {
			strbuf_add_char(out, '\n');
			width = 0;
			cut = true;
		}
		if (!width)
			strbuf_printf(out, "  %05zu%c ", i, cut ? '+' : ' ');
		strbuf_add_str(out, text);
		width += n;
		if (c->bytes[i] != '\n')
			continue;
		strbuf_add_char(out, '\n');
		width = 0;
		cut = false;
	}
	if (width)
		strbuf_add_char(out, '\n');
}

static void put_head(struct strbuf *out, const struct proxy *px, bool response,
		     const struct error_capture *c)
{
	const struct proxy *other = c->other;
	char ip[ADDR_IP_MAX];

	strbuf_add_str(out, " \n");
	sess_put_date(out, c->wall_us, 3);
	if (response)
		strbuf_printf(out, " backend %s (#%d): invalid response\n  frontend %s (#%d)",
			      px->name, px->id, other->name, other->id);
	else
		strbuf_printf(out, " frontend %s (#%d): invalid request\n  backend %s (#%d)",
			      px->name, px->id, other ? other->name : "<NONE>",
			      other ? other->id : -1);
	strbuf_printf(out, ", server %s (#%d), event #%u, src ",
		      c->bytes + c->len, c->server_id, c->event);
	if (addr_is_inet(&c->src)) {
		addr_put_ip(&c->src, ip, sizeof(ip));
		strbuf_printf(out, "%s:%u\n", ip, c->src.port);
	} else {
		strbuf_printf(out, "unix:%u\n", c->listener);
	}
}

void error_capture_dump(const struct proxy *px, bool response, const struct proxy *only,
		  struct strbuf *out)
{
	struct error_captures *all = error_captures_of(px);
	struct error_capture *c;

	captures_lock(all);
	c = all->last[response];
	if (c && (!only || only == px || only == c->other))
		c->refs++;
	else
		c = NULL;
	captures_unlock(all);
	if (!c)
		return;
	put_head(out, px, response, c);
	strbuf_printf(out, "  buffer starts at 0 (including 0 out), %zu free,\n"
		      "  len %zu, wraps at %zu, error at position %zu\n"
		      "  H1 connection flags 0x%08x, H1 stream flags 0x%08x\n"
		      "  H1 msg state %s(%u), H1 msg flags 0x%08x\n"
		      "  H1 chunk len 0 bytes, H1 body len %llu bytes :\n  \n",
		      (size_t)block_size() - c->len, c->len, (size_t)block_size(), c->at,
		      c->conn_flags, c->stream_flags, c->state, c->state_number, 0u,
		      (unsigned long long)c->body);
	put_bytes(out, c);
	captures_lock(all);
	c = capture_unref(c);
	captures_unlock(all);
	capture_free(c);
}
