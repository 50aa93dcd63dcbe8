/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fetch.c - one small document by HTTP, for what TLS needs of others (OCSP answers) */
#include "fetch.h"
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/clock.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "codec/chunk.h"
#include "codec/h1.h"
#include "core/background.h"
#include "core/timer.h"
#include "net/conn.h"
#include "net/dial.h"

#define FIELDS_MAX 50

/* begin --> (RESOLVING) --> ASKING --> done */
enum fetch_state { FETCH_IDLE, FETCH_RESOLVING, FETCH_ASKING };

static struct {
	enum fetch_state state;
	void (*done)(unsigned status, struct slice body);
	struct strbuf request, answer;
	struct block_queue out;      /* what of the request was not sent */
	struct timer timer;          /* of all of it */
	struct dial dial;
	struct conn *conn;           /* NULL: there is none yet */
	struct addr to;              /* ADDR_NONE: not known */
	char host[256];              /* as the background resolves it */
	bool given_up;               /* while the name was looked for */
} me;

bool fetch_is_busy(void)
{
	return me.state != FETCH_IDLE;
}

static void close_all(void)
{
	timer_cancel(&me.timer);
	dial_cancel(&me.dial);
	conn_close(&me.conn);
	block_queue_clear(&me.out);
	strbuf_fini(&me.request);
	strbuf_fini(&me.answer);
}

static void finish(unsigned status, struct slice body)
{
	void (*done)(unsigned status, struct slice body) = me.done;
	struct strbuf answer = me.answer; /* the body lies in it */

	strbuf_init(&me.answer);
	close_all();
	me.state = FETCH_IDLE;
	done(status, body);
	strbuf_fini(&answer);
}

/* Nothing came, or nothing that is HTTP. */
static void fail(void)
{
	finish(0, slice_none());
}

static void timed_out(struct timer *t)
{
	if (me.state == FETCH_RESOLVING)
		me.given_up = true;
	else
		fail();
}

/* --- the answer ------------------------------------------------------------------------------- */

/* How long the body is that these bytes are the chunks of, so far; trailers do not matter. With
 * <join> they become the body, in place.
 */
static enum h1_status unchunk(char *p, size_t len, bool join, size_t *body)
{
	enum h1_status r = H1_MORE;
	struct chunk_decoder d;
	struct chunk_step step;
	size_t at = 0;

	*body = 0;
	chunk_decoder_init(&d);
	while (r == H1_MORE && at < len) {
		r = chunk_decode(&d, slice_make(p + at, len - at), &step);
		at += step.used;
		if (r != H1_ERROR && join)
			memmove(p + *body, p + at - step.payload, step.payload);
		*body += step.payload;
	}
	return r;
}

/* Is all of the body there, when its head says how long it is? */
static enum h1_status body_status(const struct h1_head *head, size_t *len)
{
	char *p = me.answer.ptr + head->length;
	size_t left = me.answer.len - head->length;
	enum h1_status r;

	switch (head->body) {
	case H1_BODY_LENGTH:
		*len = head->content_length;
		return left < head->content_length ? H1_MORE : H1_DONE;
	case H1_BODY_CHUNKED: /* (some do although nobody may ask them for it) */
		r = unchunk(p, left, false, len);
		return r == H1_DONE ? unchunk(p, left, true, len) : r;
	case H1_BODY_CLOSE:
		*len = left;
		return H1_MORE;
	default:
		*len = 0;
		return H1_DONE;
	}
}

/* Looks at what has come. True: it was all, and done was called. <end>: no more will come. */
static bool answer_is_whole(bool end)
{
	struct h1_field fields[FIELDS_MAX];
	struct h1_head head = { .fields = fields, .field_capacity = FIELDS_MAX };
	struct h1_parser parser;
	enum h1_status r;
	size_t len = 0;

	h1_parser_init(&parser, H1_OPT_RESPONSE);
	r = h1_parse_head(&parser, strbuf_slice(&me.answer), &head);
	if (r == H1_DONE)
		r = body_status(&head, &len);
	if (r == H1_MORE && !end)
		return false;
	if (r == H1_DONE || (r == H1_MORE && head.length && head.body == H1_BODY_CLOSE))
		finish(head.status, slice_make(me.answer.ptr + head.length, len));
	else
		fail();
	return true;
}

static void receive(void)
{
	struct block *b;
	enum io r;
	size_t got;
	bool good;

	while (me.conn && me.conn->flags & CONN_CAN_RECV) {
		b = block_new();
		r = b ? conn_recv_block(me.conn, b, &got) : IO_ERR;
		good = r != IO_ERR && me.answer.len + got <= FETCH_MAX &&
		       (!got || strbuf_add(&me.answer, slice_make(b->data, got)));
		block_drop(b);
		if (!good)
			fail();
		else if (r != IO_AGAIN)
			answer_is_whole(r == IO_EOF);
	}
}

/* --- the request ------------------------------------------------------------------------------ */

static void ready(struct conn *c)
{
	if (c->flags & CONN_ERROR || conn_send(c, &me.out, false) == IO_ERR)
		fail();
	else
		receive();
}

static const struct conn_ops ops = { .name = "fetch", .ready = ready };

static void dialled(struct dial *d, struct conn *c, enum dial_result r)
{
	me.conn = c;
	if (c)
		ready(c);
	else
		fail();
}

static void connect_now(void)
{
	struct sockaddr_storage to;
	struct dial_want want = { .to = &to, .to_len = addr_to_sockaddr(&me.to, &to) };

	me.state = FETCH_ASKING;
	if (!want.to_len || dial_start(&me.dial, &want, 0, &ops, NULL) != DIAL_DONE)
		timer_set(&me.timer, clock_now_ms()); /* (it fails in a turn of its own) */
}

/* In the background. */
static void resolve(void *ctx)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL;
	uint16_t port = me.to.port;

	if (getaddrinfo(me.host, NULL, &hints, &list) == 0 && list)
		me.to = addr_from_sockaddr(list->ai_addr, list->ai_addrlen);
	me.to.port = port;
	freeaddrinfo(list);
}

static void resolved(void *ctx)
{
	if (me.given_up || !addr_is_inet(&me.to))
		fail();
	else
		connect_now();
}

/* --- the URL ---------------------------------------------------------------------------------- */

/* "http://host[:port]/path". False: not of this kind. */
static bool cut(const char *url, struct slice *host, uint16_t *port, const char **path)
{
	const char *end, *colon;
	uint64_t number = 80;

	if (strncasecmp(url, "http://", 7) != 0)
		return false;
	url += 7;
	end = url + strcspn(url, "/?#");
	colon = *url == '[' ? memchr(url, ']', (size_t)(end - url)) : url;
	if (!colon)
		return false;
	colon = memchr(colon, ':', (size_t)(end - colon));
	*host = slice_make(url, (size_t)((colon ? colon : end) - url));
	if (colon && !num_parse_u64(slice_make(colon + 1, (size_t)(end - colon - 1)), &number))
		return false;
	*port = (uint16_t)number;
	*path = *end ? end : "/";
	return host->len && host->len < sizeof(me.host) && number && number < 65536;
}

/* No control character or space may stand in a request line. */
static bool is_plain(const char *url)
{
	for (; *url; url++)
		if (*url <= ' ' || *url == 0x7f)
			return false;
	return true;
}

bool fetch_start(const char *url, const struct addr *proxy,
		 void (*done)(unsigned status, struct slice body))
{
	struct slice host;
	const char *path;
	uint16_t port;

	if (fetch_is_busy() || !is_plain(url) || !cut(url, &host, &port, &path))
		return false;
	strbuf_init(&me.request);
	strbuf_init(&me.answer);
	block_queue_init(&me.out);
	me.given_up = false;
	me.done = done;
	if (!strbuf_printf(&me.request, "GET %s HTTP/1.0\r\nHost: %.*s\r\n"
			   "Accept: application/ocsp-response\r\n\r\n",
			   addr_is_inet(proxy) ? url : path, (int)host.len, host.ptr) ||
	    !block_queue_add_static(&me.out, strbuf_slice(&me.request))) {
		strbuf_fini(&me.request);
		return false;
	}
	dial_init(&me.dial, dialled);
	timer_init(&me.timer, timed_out);
	timer_set(&me.timer, clock_now_ms() + FETCH_MS);
	snprintf(me.host, sizeof(me.host), "%.*s", (int)host.len, host.ptr);
	if (*host.ptr == '[')
		host = slice_sub(host, 1, host.len - 1);
	me.to = *proxy;
	if (!addr_is_inet(proxy) && addr_parse_ip(host, 0, &me.to))
		me.to.port = port;
	if (addr_is_inet(&me.to)) {
		connect_now();
		return true;
	}
	me.to = (struct addr){ .port = port };
	me.state = FETCH_RESOLVING;
	if (background_run(resolve, resolved, NULL))
		return true;
	close_all();
	me.state = FETCH_IDLE;
	return false;
}

void fetch_stop(void)
{
	/* (a name that is still looked for has no loop any more to come back to) */
	if (fetch_is_busy())
		close_all();
	me.state = FETCH_IDLE;
}
