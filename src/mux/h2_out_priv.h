/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_out_priv.h - HTTP/2 sending: buffered frames, once per turn (h2_out.c), heads and bodies as
 * windows allow (h2_send.c)
 *
 * Threads: the connection's.
 * Errors : out of memory for a frame, the connection is lost.
 * Source : RFC 9113 5.2, 6.9, 8
 */
#ifndef MUX_H2_OUT_PRIV_H
#define MUX_H2_OUT_PRIV_H

#include "codec/hpack.h"
#include "h2_stream_priv.h"
#include "http/msg.h"

/* Limit of unsent bytes above which streams wait. */
#define H2_OUT_HIGH (256 * 1024)
/* Limit for heads; bodies stop at the limit above. A client that does not read them is not read
 * from any more, and a server gets no further requests.
 */
#define H2_OUT_STUCK (2 * H2_OUT_HIGH)
/* How much a stream sends in its turn. */
#define H2_QUANTUM 16384
/* Limit of unsent responses to control frames, above which nothing more is read. */
#define H2_CONTROL_HIGH 16384

/* <flush_one>: called at the end of the turn for a connection's <flush>. */
bool h2_out_thread_init(void (*flush_one)(struct list *link));
void h2_out_thread_fini(void);

/* Sends at the end of the turn. */
void h2_flush_later(struct h2_conn *h);
/* Reserves <n> bytes of output of <h>; NULL: out of memory. Valid until the next such call. */
char *h2_out_reserve(struct h2_conn *h, size_t n);
/* Queues the reserved bytes up to <end>. */
void h2_out_commit(struct h2_conn *h, const char *end);
/* Queues and counts a frame that answers one of the peer. */
void h2_out_control(struct h2_conn *h, const char *frame, size_t len);
/* Out of memory: frames would get out of step, so the connection is lost. */
void h2_out_failed(struct h2_conn *h);

/* Sends what can be sent, streams in turn. */
void h2_flush(struct h2_conn *h);
/* Formats the endpoint's data as windows allow; maintains EP_TX_*. */
void h2s_send(struct h2_stream *s);
/* The stream may continue: its window, or the connection's, has opened. */
void h2s_send_later(struct h2_stream *s);
/* Does its body wait for a window that can never open, because the peer has sent its last frame?
 * Then the stream has failed.
 */
bool h2s_is_stuck(const struct h2_stream *s);

/* Calls h2_flush() for the connection whose <flush> this is. */
void h2_flush_one(struct list *link);

/* Is a field of a head sent as it is? */
typedef bool h2_is_sent_fn(const struct h2_stream *s, const struct http_msg *m,
			    const struct h1_field *f);
/* Writes the fields of a head; <length>: including the announced Content-Length, in its place. */
bool h2_put_fields(struct h2_stream *s, struct hpack_writer *w, const struct http_msg *m,
		   h2_is_sent_fn *is_sent, bool length);

#endif
