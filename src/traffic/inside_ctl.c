/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inside_ctl.c - edge file: the command that sends a request through a backend */
#include <stdlib.h>
#include <string.h>
#include "base/block.h"
#include "ctl/ctl.h"
#include "proxy/proxy.h"
#include "stream/inside.h"

/* So much of an answer is shown. */
#define SHOWN_MAX 4096

struct probe {
	struct ctl_session *session;
	struct inside *inside;   /* NULL: it has ended */
	struct strbuf out;
	char *body;              /* of the request; NULL: none */
};

static enum inside_result probe_part(struct inside *x, struct block_queue *to)
{
	const struct probe *p = x->ctx;

	return block_queue_add_copy(to, slice_of(p->body)) ? INSIDE_DONE : INSIDE_ERROR;
}

static void probe_head(struct inside *x, const struct http_msg *m)
{
	struct probe *p = x->ctx;

	strbuf_printf(&p->out, "%u %.*s\n", m->status, SLICE_FMT(m->reason));
	for (unsigned i = 0; i < m->fields.count; i++) {
		const struct h1_field *f = &m->fields.list[i];

		if (f->name.ptr)
			strbuf_printf(&p->out, "%.*s: %.*s\n", SLICE_FMT(f->name),
				      SLICE_FMT(f->value));
	}
	strbuf_add_char(&p->out, '\n');
}

static void probe_data(struct inside *x, struct block_queue *from)
{
	struct probe *p = x->ctx;

	for (const struct piece *i = from->first; i; i = i->next)
		if (p->out.len + i->len < SHOWN_MAX)
			strbuf_add(&p->out, slice_make(i->ptr, i->len));
	block_queue_clear(from);
}

static void probe_end(struct inside *x, bool whole, enum stream_end why)
{
	struct probe *p = x->ctx;

	p->inside = NULL;
	strbuf_printf(&p->out, "\n%s: %s\n", whole ? "whole" : "cut", stream_ends[why].name);
	ctl_session_resume(p->session);
}

static const struct inside_kind get = {
	.name = "PROBE", .head = probe_head, .data = probe_data, .end = probe_end,
};
static const struct inside_kind post = {
	.name = "PROBE", .part = probe_part, .head = probe_head, .data = probe_data,
	.end = probe_end,
};

static enum ctl_step no_memory(struct ctl_request *rq)
{
	ctl_error(rq, "Out of memory.");
	return CTL_DONE;
}

/* False: no memory. */
static bool probe_begin(struct probe *p, struct proxy *be, const char *path)
{
	p->inside = inside_new(be, p->body ? &post : &get, p,
			       p->body ? SLICE("POST") : SLICE("GET"), slice_of(path));
	if (!p->inside ||
	    !http_msg_add_field(p->inside->request, SLICE("host"), slice_of(be->name)))
		return false;
	inside_start(p->inside);
	return true;
}

static enum ctl_step probe_answer(struct ctl_request *rq)
{
	struct probe *p = rq->state;

	if (p->inside)
		return CTL_WAIT;
	strbuf_add(rq->out, strbuf_slice(&p->out));
	return CTL_DONE;
}

static enum ctl_step request(struct ctl_request *rq)
{
	char *const *words = rq->words + rq->at;
	struct proxy *be;
	struct probe *p;

	if (rq->state)
		return probe_answer(rq);
	if (rq->count - rq->at < 2 || *words[1] != '/') {
		ctl_error(rq, "A backend and a path are expected.");
		return CTL_DONE;
	}
	be = proxy_find(proxies_current(), words[0], PROXY_BE);
	if (!be || be->mode != PROXY_MODE_HTTP) {
		ctl_error(rq, "No such backend in mode http.");
		return CTL_DONE;
	}
	p = rq->state = calloc(1, sizeof(*p));
	if (!p)
		return no_memory(rq);
	p->session = rq->session;
	strbuf_init(&p->out);
	if (rq->count - rq->at > 2)
		p->body = strdup(words[2]);
	return probe_begin(p, be, words[1]) ? CTL_WAIT : no_memory(rq);
}

static void request_release(struct ctl_request *rq)
{
	struct probe *p = rq->state;

	if (!p)
		return;
	if (p->inside)
		inside_cancel(p->inside);
	strbuf_fini(&p->out);
	free(p->body);
	free(p);
}

static const struct ctl_command commands[] = {
	{ .words = "debug dev request", .level = CTL_ADMIN, .flags = CTL_EXPERT | CTL_HIDDEN,
	  .syntax = "<backend> <path> [body]", .run = request, .release = request_release,
	  .help = "send a request through a backend, and show the answer" },
	{ 0 }
};

const struct module mod_inside_ctl = { .name = "inside_ctl", .commands = commands };
