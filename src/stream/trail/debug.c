/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debug.c - the output of -d for streams: see stream/debug.h */
#include <stdio.h>
#include <string.h>
#include "base/strbuf.h"
#include "front/listen.h"
#include "net/conn.h"
#include "net/conn_facts.h"
#include "proxy/bind.h"
#include "stream/debug.h"
#include "../engine_priv.h"
#include "../filter/filter_priv.h"

/* What was shown of a stream, and is to be said in the lines that follow. */
struct shown {
	int client, server;      /* descriptors; -1: none */
	bool began, asked;       /* its accept; the head of its request */
	bool served;             /* a server is connected, or a service answers */
	bool server_closed;
	bool server_closes_first;/* in a tunnel: one side has ended, and it was this one */
	bool client_closes_first;
};

static bool shown_init(void *data)
{
	struct shown *d = data;

	d->client = d->server = -1;
	return true;
}

static struct slot shown_slot = {
	.of = SLOT_STREAM, .size = sizeof(struct shown), .init = shown_init,
};

/* --- lines ------------------------------------------------------------------------------------ */

/* One event: all of its lines, in one call. */
static void say(struct strbuf *out)
{
	if (!out->overflow)
		fwrite(out->ptr, 1, out->len, stdout);
	fflush(stdout);
	strbuf_fini(out);
}

/* "[client:server]: " of the lines of heads. */
static void put_start(struct strbuf *out, const struct stream *s, const char *event,
		      const struct shown *d)
{
	const struct proxy *px = event[0] == 's' ? s->be : s->fe;

	strbuf_printf(out, "%08x:%s.%s[%04x:%04x]: ", s->id.in_process, px->name, event,
		      (unsigned)d->client, (unsigned)d->server);
}

static void put_fields(struct strbuf *out, const struct stream *s, const char *event,
		       const struct shown *d, const struct http_fields *fields)
{
	for (unsigned i = 0; i < fields->count; i++) {
		const struct h1_field *f = &fields->list[i];

		if (!f->name.ptr)
			continue;
		put_start(out, s, event, d);
		strbuf_printf(out, "%.*s: %.*s\n", SLICE_FMT(f->name), SLICE_FMT(f->value));
	}
}

static void show_accept(struct stream *s, struct shown *d)
{
	const struct conn *c = s->sess->conn;
	const struct addr *src = &s->sess->src;
	struct slice alpn = c ? conn_alpn(c) : slice_none();
	char ip[ADDR_MAX];
	struct strbuf out;

	d->began = true;
	if (c)
		d->client = conn_shown_fd(c);
	strbuf_init(&out);
	strbuf_printf(&out, "%08x:%s.accept(%04x)=%04x from [", s->id.in_process, s->fe->name,
		      (unsigned)listen_descriptor(s->listener), (unsigned)d->client);
	addr_put_ip(src, ip, sizeof(ip));
	if (addr_is_inet(src))
		strbuf_printf(&out, "%s:%u", ip, src->port);
	else
		strbuf_printf(&out, "unix:%d", s->listener->id);
	if (!alpn.len)
		alpn = SLICE("<none>");
	strbuf_printf(&out, "] ALPN=%.*s\n", SLICE_FMT(alpn));
	say(&out);
}

static void show_request(const struct stream *s, struct shown *d)
{
	struct strbuf out;

	d->asked = true;
	strbuf_init(&out);
	put_start(&out, s, "clireq", d);
	strbuf_printf(&out, "%.*s %.*s %.*s\n", SLICE_FMT(s->log.method), SLICE_FMT(s->log.uri),
		      SLICE_FMT(s->log.version));
	put_fields(&out, s, "clihdr", d, &s->req.fields);
	say(&out);
}

static void show_answer(const struct stream *s, const struct shown *d)
{
	struct strbuf out;

	strbuf_init(&out);
	put_start(&out, s, "srvrep", d);
	strbuf_printf(&out, "HTTP/%u.%u %u %.*s\n", s->res.version / 10u, s->res.version % 10u,
		      s->res.status, SLICE_FMT(s->res.reason));
	put_fields(&out, s, "srvhdr", d, &s->res.fields);
	say(&out);
}

/* "[client:server]" of the lines of ends. */
static void put_end(struct strbuf *out, const struct stream *s, const char *event,
		    const struct shown *d)
{
	strbuf_printf(out, "%08x:%s.%s[%04x:%04x]\n", s->id.in_process, s->be->name, event,
		      (uint16_t)d->client, (uint16_t)d->server);
}

static void put_server_end(struct strbuf *out, const struct stream *s, struct shown *d)
{
	if (d->served && !d->server_closed)
		put_end(out, s, "srvcls", d);
	d->server_closed = true;
}

static void show_server_end(const struct stream *s, struct shown *d)
{
	struct strbuf out;

	strbuf_init(&out);
	put_server_end(&out, s, d);
	say(&out);
}

static void show_end(const struct stream *s, struct shown *d)
{
	struct strbuf out;

	strbuf_init(&out);
	if (!d->server_closes_first)
		put_server_end(&out, s, d);
	put_end(&out, s, "clicls", d);
	put_server_end(&out, s, d);
	put_end(&out, s, "closed", d);
	say(&out);
}

/* --- looking ---------------------------------------------------------------------------------- */

#define GONE (EP_RX_END | EP_RX_ABORT | EP_RX_BAD | EP_ERROR)

/* Has the final answer, or an interim one that is sent on now, just come? */
static bool answer_has_come(const struct stream *s)
{
	if (!(s->flags & STRM_HTTP) || !(s->back.flags & EP_RX_HEAD))
		return false;
	if (s->stage == STAGE_RESPONSE)
		return !(s->back.flags & EP_RX_BAD);
	return s->stage == STAGE_SEND && s->res.flags & HTTP_MSG_INTERIM &&
	       !(s->front.flags & EP_TX_FULL);
}

/* What a stage is about to take. */
static void look_before(struct stream *s, struct shown *d)
{
	if (s->stage == STAGE_BEGIN && !d->began)
		show_accept(s, d);
	if (s->flags & STRM_HTTP && !d->asked && s->stage > STAGE_TCP_CONTENT_FE &&
	    s->stage <= STAGE_SEND)
		show_request(s, d);
	if (answer_has_come(s))
		show_answer(s, d);
}

/* What came of it: a connection, the end of one side. */
static void look_after(struct stream *s, struct shown *d)
{
	const struct conn *c = s->answer.from && s->back.ops ? s->back.ops->conn(&s->back) : NULL;
	bool is_tunnel = !(s->flags & STRM_HTTP) || s->flags & STRM_TUNNEL;

	if (c && !d->server_closed)
		d->server = conn_shown_fd(c);
	d->served |= s->t.connected || (s->service && s->back.ops);
	if (is_tunnel && !d->client_closes_first && !d->server_closes_first) {
		d->client_closes_first = s->front.flags & GONE;
		d->server_closes_first = !d->client_closes_first && s->back.flags & GONE;
	}
	if (!is_tunnel && s->stage == STAGE_FORWARD && d->served && !d->server_closed &&
	    s->back.flags & GONE && s->front.flags & GONE)
		show_server_end(s, d);
}

static enum step run_shown(struct stream *s, enum step (*run)(struct stream *s))
{
	struct shown *d = slot_of(&shown_slot, stream_slots(s));
	enum step step;

	look_before(s, d);
	step = run(s);
	look_after(s, d);
	if (step == STEP_END)
		show_end(s, d);
	return step;
}

static enum step run_plain(struct stream *s)
{
	return run_shown(s, stream_stages[s->stage].run);
}

static enum step run_filtered(struct stream *s)
{
	return run_shown(s, filter_stages[s->stage].run);
}

void stream_debug_start(void)
{
	static struct stage_step plain[STAGE_COUNT], filtered[STAGE_COUNT];

	slot_register(&shown_slot);
	memcpy(plain, stream_stages, sizeof(plain));
	memcpy(filtered, filter_stages, sizeof(filtered));
	for (unsigned i = 0; i < STAGE_COUNT; i++) {
		plain[i].run = run_plain;
		filtered[i].run = run_filtered;
	}
	stream_set_stages(plain, filtered, filters_instead);
}
