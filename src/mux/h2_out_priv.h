/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_out_priv.h - HTTP/2: what is sent: room for frames, once a turn (h2_out.c), heads and bodies
 * as windows allow (h2_send.c)
 *
 * Threads: the connection's.
 * Errors : without memory for a frame the connection is lost.
 * Source : RFC 9113 5.2, 6.9, 8
 */
#ifndef MUX_H2_OUT_PRIV_H
#define MUX_H2_OUT_PRIV_H

#include "codec/hpack.h"
#include "h2_stream_priv.h"
#include "http/msg.h"

/* Much unsent: streams wait until some of it is gone. */
#define H2_OUT_HIGH (256 * 1024)
/* Only heads come so far: bodies stop at the above. A client that does not take them is not read
 * any more, and a server gets no further requests.
 */
#define H2_OUT_STUCK (2 * H2_OUT_HIGH)
/* What a stream sends when it is its turn. */
#define H2_QUANTUM 16384
/* Unsent answers to control frames above which nothing more is read. */
#define H2_CONTROL_HIGH 16384

/* <flush_one>: what is to be done at the end of the turn for a connection's <flush>. */
bool h2_out_thread_init(void (*flush_one)(struct list *link));
void h2_out_thread_fini(void);

/* Sends when the turn ends. */
void h2_flush_later(struct h2_conn *h);
/* Room for <n> bytes to be sent by <h>; NULL: no memory. Only until the next such call. */
char *h2_out_reserve(struct h2_conn *h, size_t n);
/* Queues the bytes up to <end> of what was reserved. */
void h2_out_commit(struct h2_conn *h, const char *end);
/* A frame that answers the peer's: counted. */
void h2_out_control(struct h2_conn *h, const char *frame, size_t len);
/* Without memory the frames would be out of step: the connection is lost. */
void h2_out_failed(struct h2_conn *h);

/* Sends what can be sent, streams in turn. */
void h2_flush(struct h2_conn *h);
/* Formats what the endpoint has, as windows allow; keeps EP_TX_* up to date. */
void h2s_send(struct h2_stream *s);
/* The stream may go on: its window, or the connection's, has opened. */
void h2s_send_later(struct h2_stream *s);
/* Does its body wait for a window that can never open, as the peer has sent its last frame? Then
 * the stream has failed.
 */
bool h2s_is_stuck(const struct h2_stream *s);

/* h2_flush() of the connection whose <flush> this is. */
void h2_flush_one(struct list *link);

/* Does a field of a head go out as it is? */
typedef bool h2_is_sent_fn(const struct h2_stream *s, const struct http_msg *m,
			    const struct h1_field *f);
/* Writes the fields of a head; <length>: and the Content-Length that is announced, in its place. */
bool h2_put_fields(struct h2_stream *s, struct hpack_writer *w, const struct http_msg *m,
		   h2_is_sent_fn *is_sent, bool length);

#endif
