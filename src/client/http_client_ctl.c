/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http_client_ctl.c - edge file: the command httpclient
 *
 * The answer is shown as it arrives: output that the session has not sent yet blocks the server.
 */
#include <stdlib.h>
#include <string.h>
#include "base/block.h"
#include "ctl/ctl.h"
#include "proxy/proxy.h"
#include "http_client_priv.h"

/* So much waits for the session, bytes. */
#define WAITING_MAX 65536

struct asked {
	struct ctl_session *session;
	struct http_call *call;  /* NULL: it has ended */
	struct strbuf out;       /* what came */
	size_t taken;            /* of it, by the session */
	bool is_held;            /* data() has left something */
};

static void asked_head(struct http_call *c, const struct http_msg *m)
{
	struct asked *a = c->ctx;

	if (m->flags & HTTP_MSG_INTERIM)
		return;
	strbuf_printf(&a->out, "%.*s %u %.*s\n", SLICE_FMT(m->version_text), m->status,
		      SLICE_FMT(m->reason));
	for (unsigned i = 0; i < m->fields.count; i++) {
		const struct h1_field *f = &m->fields.list[i];

		if (f->name.ptr)
			strbuf_printf(&a->out, "%.*s: %.*s\r\n", SLICE_FMT(f->name),
				      SLICE_FMT(f->value));
	}
	strbuf_printf(&a->out, "\r\n");
	ctl_session_resume(a->session);
}

static void asked_data(struct http_call *c, struct block_queue *from)
{
	struct asked *a = c->ctx;

	a->is_held = a->out.len - a->taken > WAITING_MAX;
	if (a->is_held)
		return;
	for (const struct piece *i = from->first; i; i = i->next)
		strbuf_add(&a->out, slice_make(i->ptr, i->len));
	block_queue_clear(from);
	ctl_session_resume(a->session);
}

static void asked_end(struct http_call *c, bool whole, enum stream_end why)
{
	struct asked *a = c->ctx;

	a->call = NULL;
	ctl_session_resume(a->session);
}

static const struct http_call_kind asked_kind = {
	.name = "CLI", .head = asked_head, .data = asked_data, .end = asked_end,
};

static enum ctl_step answer(struct ctl_request *rq)
{
	struct asked *a = rq->state;
	size_t left = a->out.len - a->taken, len = left < CTL_OUT_SOFT ? left : CTL_OUT_SOFT;

	strbuf_add(rq->out, slice_make(a->out.ptr + a->taken, len));
	a->taken += len;
	if (len < left)
		return CTL_MORE;
	strbuf_reset(&a->out);
	a->taken = 0;
	if (a->call && a->is_held)
		http_call_read(a->call); /* (it may end in there) */
	if (a->out.len)
		return CTL_MORE;
	return a->call ? CTL_WAIT : CTL_DONE;
}

static enum ctl_step ask(struct ctl_request *rq)
{
	int at = rq->at;
	const char *why;
	struct asked *a;

	if (rq->state)
		return answer(rq);
	if (rq->count - at < 2) {
		ctl_error(rq, "Can't start the HTTP client: not enough parameters.");
		return CTL_DONE;
	}
	if (strcmp(rq->words[at], "--htx") == 0) {
		ctl_error(rq, "Can't start the HTTP client: this program has no HTX to show.");
		return CTL_DONE;
	}
	a = rq->state = calloc(1, sizeof(*a));
	if (!a) {
		ctl_error(rq, "Out of memory.");
		return CTL_DONE;
	}
	a->session = rq->session;
	strbuf_init(&a->out);
	a->call = http_call_new(proxies_current(), &asked_kind, a, slice_of(rq->words[at]),
				slice_of(rq->words[at + 1]), &why);
	if (!a->call) {
		ctl_error(rq, "Can't start the HTTP client: %s.", why);
		return CTL_DONE;
	}
	http_call_start(a->call);
	return CTL_WAIT;
}

static void release(struct ctl_request *rq)
{
	struct asked *a = rq->state;

	if (!a)
		return;
	if (a->call)
		http_call_cancel(a->call);
	strbuf_fini(&a->out);
	free(a);
}

/* All modules below know the backends: they are hidden from users from now on. */
static bool hide(struct config *cfg, struct diag_list *diags)
{
	const struct http_client_conf *c = http_client_conf_of(cfg);

	if (c->clear)
		proxy_hide(c->clear, "<HTTPCLIENT>");
	if (c->tls)
		proxy_hide(c->tls, "<HTTPCLIENT>");
	return true;
}

static const struct ctl_command commands[] = {
	{ .words = "httpclient", .level = CTL_ADMIN, .flags = CTL_EXPERT | CTL_PATIENT,
	  .syntax = "<method> <URI>", .run = ask, .release = release,
	  .help = "send a request to a URL, and show the response" },
	{ 0 }
};

static struct slot *const slots[] = { &http_client_slot, NULL };

const struct module mod_http_client_ctl = {
	.name = "http-client", .commands = commands, .start = hide, .slots = slots,
};
