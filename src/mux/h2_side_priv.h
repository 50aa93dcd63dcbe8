/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_side_priv.h - HTTP/2: differences between clients and servers (struct h2_side), and the
 * operations of mux_h2 (h2_kind.c, h2_back.c, h2_endpoint.c, h2_show.c)
 *
 * Threads: the connection's.
 */
#ifndef MUX_H2_SIDE_PRIV_H
#define MUX_H2_SIDE_PRIV_H

#include "base/strbuf.h"
#include "codec/h2_head.h"
#include "codec/hpack.h"
#include "h2_stream_priv.h"
#include "http/msg.h"
#include "mux/endpoint.h"

/* What differs between clients and servers. */
struct h2_side {
	const struct endpoint_ops *stream_ops; /* for the endpoints of its streams */
	bool is_back;
	/* May rx.frame.stream get HEADERS? False: no, and the fault was handled. */
	bool (*headers_are_due)(struct h2_conn *h);
	/* Handles a whole header block for rx.frame.stream. */
	void (*head_block)(struct h2_conn *h, struct slice block, bool end_stream);
	/* Back: tells streams without an id that they will not get one. */
	void (*fail_pending)(struct h2_conn *h);
	/* Back: gives an id to a stream whose head is sent now. */
	void (*number)(struct h2_stream *s);
	/* A final head is about to be sent: notes what it says about the body. */
	void (*note_head)(struct h2_stream *s, const struct http_msg *m);
	/* Writes the fields of the head to send; there is room. False: not possible. */
	bool (*put_head)(struct h2_stream *s, struct hpack_writer *w, const struct http_msg *m);
	/* The peer's SETTINGS have come. May be NULL. */
	void (*settings)(struct h2_conn *h);
	/* The peer will not process streams above <last>. May be NULL. */
	void (*goaway)(struct h2_conn *h, uint32_t last);
	/* Reports an error in received data, for the log. */
	void (*bad)(struct h2_conn *h, enum front_bad_kind kind, const char *text);
	/* The connection ends: its owner must forget it. */
	void (*closed)(struct h2_conn *h);
	/* For `show fd`. */
	void (*describe)(const struct h2_conn *h, struct strbuf *out);
};

/* Those of clients: h2_head.c, h2_send.c. */

bool h2_front_headers_are_due(struct h2_conn *h);
void h2_front_head_block(struct h2_conn *h, struct slice block, bool end_stream);

void h2_front_note_head(struct h2_stream *s, const struct http_msg *m);
bool h2_front_put_head(struct h2_stream *s, struct hpack_writer *w, const struct http_msg *m);

/* Reverse HTTP: see mux_kind.front_reverse(). */
bool h2_front_reverse(struct mux *m, const struct back_owner *o);
/* Sends preface and SETTINGS of a connection that we have opened. */
void h2c_say_hello(struct h2_conn *h);
struct mux *h2_back_new(struct conn *c, struct endpoint *ep, const struct back_owner *o);
bool h2_back_attach(struct mux *m, struct endpoint *ep);
unsigned h2_back_room(const struct mux *m);
bool h2_back_is_ending(const struct mux *m);
/* Sends GOAWAY and closes. */
void h2_back_close(struct mux *m);
bool h2_back_detach_thread(struct mux *m);
bool h2_back_attach_thread(struct mux *m);

void h2_describe(const struct conn *c, struct strbuf *out);
void h2_ep_describe(const struct endpoint *ep, struct strbuf *out);

extern const struct endpoint_ops h2_front_endpoint;

/* Endpoint operations of both sides. */
void h2_ep_send(struct endpoint *ep);
void h2_ep_resume(struct endpoint *ep);
struct conn *h2_ep_conn(struct endpoint *ep);

#endif
