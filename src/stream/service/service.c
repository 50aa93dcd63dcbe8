/* SPDX-License-Identifier: GPL-2.0-or-later */
/* service.c - the back endpoint that has a function behind it instead of a server */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "base/module.h"
#include "stream/filter.h"
#include "stream/service.h"
#include "stream/stream.h"
#include "../trace_priv.h"

#define SERVICES_MAX 32
/* No part is asked for while this much of the answer waits to be taken. */
#define SERVICE_AHEAD (32 * 1024)
/* As SERVICE_AHEAD, where parts cost no copy. */
#define SERVICE_FILL_AHEAD (256 * 1024)

static const struct service_kind *kinds[SERVICES_MAX];
static unsigned kind_count;
/* Those that a request may ask for by a setting: looked at for each. */
static const struct service_kind *choosers[SERVICES_MAX];
static unsigned chooser_count;
static service_script_fn *find_script;

/* --- registry -------------------------------------------------------------------------------- */

static int kind_compare(const void *a, const void *b)
{
	const struct service_kind *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

bool services_register(const struct module *const *modules)
{
	kind_count = 0;
	for (; *modules; modules++) {
		const struct service_kind *k = (*modules)->services;

		for (; k && k->name; k++) {
			if (kind_count == SERVICES_MAX)
				return false;
			kinds[kind_count++] = k;
		}
	}
	qsort(kinds, kind_count, sizeof(*kinds), kind_compare);
	chooser_count = 0;
	for (unsigned i = 0; i < kind_count; i++)
		if (kinds[i]->chosen)
			choosers[chooser_count++] = kinds[i];
	return true;
}

void services_set_scripts(service_script_fn *find)
{
	find_script = find;
}

const struct service_kind *service_find(const struct config *cfg, const char *name)
{
	for (unsigned i = 0; i < kind_count; i++)
		if (strcmp(kinds[i]->name, name) == 0)
			return kinds[i];
	return find_script ? find_script(cfg, name) : NULL;
}

enum rule_result service_choose(struct stream *s, struct proxy *px)
{
	enum rule_result r = RULE_CONTINUE;
	const void *arg = NULL;
	unsigned i = 0;

	for (; i < chooser_count && r == RULE_CONTINUE; i++)
		r = choosers[i]->chosen(s, px, &arg);
	if (r == RULE_CONTINUE)
		return r;
	s->service = choosers[i - 1]; /* the log names it although it refused */
	s->t.queued = s->t.connected = clock_now_ns();
	if (r == RULE_SERVICE && !service_attach(s, px, choosers[i - 1], arg))
		return RULE_ERROR;
	return r;
}

bool service_may_be_chosen(const struct proxy *px)
{
	for (unsigned i = 0; i < chooser_count; i++)
		if (!choosers[i]->may_be_chosen || choosers[i]->may_be_chosen(px))
			return true;
	return false;
}

void services_dump(FILE *out)
{
	for (unsigned i = 0; i < kind_count; i++)
		if (!kinds[i]->chosen)
			fprintf(out, "%s\n", kinds[i]->name);
}

/* --- the answer ------------------------------------------------------------------------------ */

static enum service_result call_part(struct service_call *c)
{
	enum service_result r;

	strbuf_reset(&c->text);
	r = c->kind->part(c, &c->text);
	c->ep->rx_bytes += c->text.len;
	return block_queue_add_copy(&c->ep->rx, strbuf_slice(&c->text)) ? r : SERVICE_ERROR;
}

static enum service_result call_fill(struct service_call *c)
{
	size_t before = c->ep->rx.len;
	enum service_result r = c->kind->fill(c, &c->ep->rx);

	c->ep->rx_bytes += c->ep->rx.len - before;
	return r;
}

static void body_stream(struct endpoint *ep);

/* Adds parts of the body, one at least, until enough of it waits or it is complete. */
static void call_produce(struct service_call *c)
{
	struct endpoint *ep = c->ep;
	uint32_t before = ep->rx.len;
	enum service_result r;

	APPLET_TRACE(DEVELOPER, c, PROC, "asked for a part");
	r = c->kind->fill ? call_fill(c) : call_part(c);
	if (ep->rx.len > before)
		APPLET_TRACE(DATA, c, RECEIVE, "gives %u bytes", ep->rx.len - before);
	c->waiting = r == SERVICE_WAIT;
	if (r == SERVICE_MORE)
		turn_hook_add(&c->hook);
	if (r == SERVICE_MORE || c->waiting)
		return;
	c->done = true;
	if (c->kind->streams_body)
		body_stream(ep); /* what was not read goes */
	if (r == SERVICE_DONE)
		APPLET_TRACE(STATE, c, PROC, "the answer is whole");
	else
		APPLET_TRACE(ERROR, c, ERROR, "the answer breaks off");
	ep->flags |= r == SERVICE_DONE ? EP_RX_END : EP_RX_ABORT | EP_ERROR;
}

static void call_head(struct service_call *c);

/* The stream is told last: it may end the call. */
static void call_continue(struct turn_hook *h)
{
	struct service_call *c = container_of(h, struct service_call, hook);
	size_t ahead = c->kind->fill ? SERVICE_FILL_AHEAD : SERVICE_AHEAD;
	struct endpoint *ep = c->ep;

	if (ep->flags & EP_RX_BLOCKED || ep->rx.len > ahead) {
		APPLET_TRACE(STATE, c, BLOCK, "waits for room");
		return; /* resume() comes */
	}
	if (c->headless)
		call_head(c);
	else
		call_produce(c);
	ep->user->wake(ep);
}

/* Sets status and fields of the answer. False: none. Filters see how it is framed among the fields,
 * as for an answer of a server; muxes know without.
 */
static enum service_result call_make_head(struct service_call *c)
{
	enum service_result r = SERVICE_ERROR;

	if (c->kind->begin)
		r = c->kind->begin(c);
	else if (c->kind->start(c))
		r = SERVICE_DONE;
	if (r != SERVICE_DONE)
		return r;
	return likely(!(c->stream->flags & STRM_FILTERED)) ||
	       c->head->body != HTTP_BODY_CHUNKED || filter_set_chunked(c->head)
	       ? SERVICE_DONE : SERVICE_ERROR;
}

static void call_head(struct service_call *c)
{
	enum service_result r = call_make_head(c);
	struct endpoint *ep = c->ep;

	c->waiting = r == SERVICE_WAIT;
	if (r == SERVICE_MORE)
		turn_hook_add(&c->hook);
	c->headless = r == SERVICE_MORE || c->waiting;
	if (c->headless)
		return;
	if (r == SERVICE_ERROR) {
		c->done = true;
		if (c->kind->streams_body)
			body_stream(ep);
		APPLET_TRACE(ERROR, c, ERROR, "no answer: %u", c->status);
		ep->flags |= EP_RX_BAD;
		ep->status = c->status;
		return;
	}
	APPLET_TRACE(USER, c, START, "the answer begins: %u", c->head->status);
	ep->rx_bytes += http_msg_size(c->head);
	ep->flags |= EP_RX_HEAD;
	call_produce(c);
}

static void call_start(struct service_call *c)
{
	c->started = true;
	if (c->kind->is_raw) {
		turn_hook_add(&c->hook);
		return;
	}
	c->head->flags = HTTP_MSG_RESPONSE;
	c->head->version = 11;
	c->head->body = HTTP_BODY_CHUNKED;
	c->status = 500;
	c->headless = true;
	if (http_msg_set_status(c->head, 200, slice_none()))
		call_head(c);
	else
		c->ep->flags |= EP_ERROR | EP_RX_ABORT;
}

static void call_delay_over(struct timer *t)
{
	struct service_call *c = container_of(t, struct service_call, timer);

	call_start(c);
	c->ep->user->wake(c->ep);
}

/* Of the request all is here that the service wants to see: begins, now or later. True: now. */
static bool call_begin(struct service_call *c)
{
	unsigned ms = c->kind->delay_ms ? c->kind->delay_ms(c) : 0;

	c->due = true;
	if (ms) {
		/* from now, not from the begin of the turn: never earlier than asked */
		timer_set(&c->timer, clock_read_ns() / NS_PER_MS + ms + 1);
		return false;
	}
	call_start(c);
	return true;
}

void service_continue(struct service_call *c)
{
	if (!c->waiting)
		return;
	c->waiting = false;
	APPLET_TRACE(STATE, c, WAKE, "goes on");
	turn_hook_add(&c->hook);
}

/* --- the endpoint ---------------------------------------------------------------------------- */

/* Takes what there is room for, for a service that reads on. */
static void body_stream(struct endpoint *ep)
{
	struct service_call *c = ep->mux;

	if (c->done) {
		block_queue_clear(&ep->tx);
	} else if (c->body.len < c->kind->body_max) {
		block_queue_move_len(&c->body, &ep->tx, c->kind->body_max - c->body.len);
		service_continue(c);
	}
	if (!ep->tx.len && ep->flags & EP_TX_END) {
		ep->flags |= EP_TX_DONE;
		c->body_is_whole = true;
		service_continue(c);
	}
}

void service_read(struct service_call *c)
{
	if (c->ep->tx.len) {
		body_stream(c->ep);
	}
}

/* Takes the request's body: what the service wants of it, and lets the rest go. */
static void service_send(struct endpoint *ep)
{
	struct service_call *c = ep->mux;
	size_t room = c->kind->body_max - c->body.len;

	if (ep->tx.len)
		APPLET_TRACE(DATA, c, SEND, "gets %u bytes", ep->tx.len);
	if (c->kind->streams_body) {
		body_stream(ep);
		return;
	}
	c->body_is_cut |= ep->tx.len > room;
	if (room)
		block_queue_move_len(&c->body, &ep->tx, room);
	block_queue_clear(&ep->tx);
	if (ep->flags & EP_TX_END)
		ep->flags |= EP_TX_DONE;
	if (!c->due && (ep->flags & EP_TX_END || (c->body_is_cut && !c->kind->after_request)) &&
	    call_begin(c))
		ep->user->wake(ep);
}

static void service_resume(struct endpoint *ep)
{
	struct service_call *c = ep->mux;

	if (!c->started || c->done || c->waiting)
		return;
	APPLET_TRACE(STATE, c, WAKE, "there is room");
	turn_hook_add(&c->hook);
}

static void service_detach(struct endpoint *ep)
{
	struct service_call *c = ep->mux;

	APPLET_TRACE(STATE, c, RELEASE, "the stream leaves");
	turn_hook_cancel(&c->hook);
	timer_cancel(&c->timer);
	if (c->kind->end && c->started)
		c->kind->end(c);
	APPLET_TRACE(USER, c, FREE, "the call ends");
	block_queue_clear(&c->body);
	strbuf_fini(&c->text);
	ep->ops = NULL;
	ep->mux = NULL;
}

static struct conn *service_conn(struct endpoint *ep)
{
	return NULL;
}

static const struct endpoint_ops service_ops = {
	.name = "service", .send = service_send, .resume = service_resume,
	.detach = service_detach, .conn = service_conn,
};

bool service_attach(struct stream *s, struct proxy *px, const struct service_kind *kind,
		    const void *arg)
{
	struct service_call *c = arena_zalloc(&s->arena, sizeof(*c));

	if (c && kind->state_size)
		c->state = arena_zalloc(&s->arena, kind->state_size);
	if (!c || (kind->state_size && !c->state))
		return false;
	c->kind = kind;
	c->arg = arg;
	c->stream = s;
	c->proxy = px;
	c->ep = &s->back;
	http_msg_init(&s->res, &s->arena);
	c->head = s->back.rx_head = &s->res;
	strbuf_init(&c->text);
	turn_hook_init(&c->hook, call_continue);
	timer_init(&c->timer, call_delay_over);
	s->back.ops = &service_ops;
	s->back.mux = c;
	s->back.flags = EP_CONNECTED;
	s->service = kind;
	s->t.queued = s->t.connected = clock_now_ns();
	APPLET_TRACE(USER, c, NEW, "a service is to answer");
	if (kind->streams_body || (!kind->body_max && !kind->after_request))
		call_begin(c);
	return true;
}
