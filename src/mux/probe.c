/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probe.c - the mux of a connection whose protocol is not known yet: transfers no data */
#include <stdlib.h>
#include "base/strbuf.h"
#include "mux/mux.h"
#include "net/conn.h"
#include "probe_priv.h"

struct probe {
	struct conn *conn;
	struct endpoint *ep;
	struct back_owner owner;
};

static void probe_failed(struct probe *p)
{
	p->ep->flags |= EP_ERROR;
	p->ep->user->wake(p->ep);
}

static const struct conn_ops probe_conn_ops;

/* Called for each event until another mux is there. */
static void probe_ready(struct conn *c)
{
	struct probe *p = c->owner;

	if (c->flags & CONN_ERROR) {
		probe_failed(p);
		return;
	}
	if (c->flags & (CONN_CONNECTING | CONN_HANDSHAKE))
		return;
	if (!mux_back_begin(c, p->ep, mux_of_alpn(conn_alpn(c)), &p->owner)) {
		probe_failed(p);
		return;
	}
	free(p);
	c->ops->ready(c);
}

static void probe_describe(const struct conn *c, struct strbuf *out)
{
	const struct probe *p = c->owner;

	p->owner.user->describe(p->owner.owner, out);
	strbuf_printf(out, " mux=PROBE ctx=%p", (const void *)p);
}

static const struct conn_ops probe_conn_ops = {
	.name = "probe", .ready = probe_ready, .describe = probe_describe,
};

static void probe_send(struct endpoint *ep)
{
}

static void probe_detach(struct endpoint *ep)
{
	struct probe *p = ep->mux;

	ep->ops = NULL;
	ep->mux = NULL;
	p->owner.user->closed(p->owner.owner);
	conn_close(&p->conn);
	free(p);
}

static struct conn *probe_conn(struct endpoint *ep)
{
	return ((struct probe *)ep->mux)->conn;
}

static const struct endpoint_ops probe_endpoint = {
	.name = "PROBE", .send = probe_send, .resume = probe_send, .detach = probe_detach,
	.conn = probe_conn, .framed = true,
};

bool probe_attach(struct conn *c, struct endpoint *ep, const struct back_owner *o)
{
	struct probe *p = malloc(sizeof(*p));

	if (!p)
		return false;
	*p = (struct probe){ .conn = c, .ep = ep, .owner = *o };
	c->ops = &probe_conn_ops;
	c->owner = p;
	ep->ops = &probe_endpoint;
	ep->mux = p;
	return true;
}
