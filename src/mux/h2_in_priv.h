/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_in_priv.h - HTTP/2: what comes: frames (h2_frames.c), heads (h2_head.c), DATA (h2_data.c), and
 * how much of it is used in one turn of the loop (h2_out.c)
 *
 * Threads: the connection's. Heads are read into room of the thread, for the next one.
 * Source : RFC 9113 4, 6, 8
 */
#ifndef MUX_H2_IN_PRIV_H
#define MUX_H2_IN_PRIV_H

#include "codec/h2_head.h"
#include "h2_stream_priv.h"

/* CONTINUATION frames that one head may take. */
#define H2_CONTINUATIONS_MAX 64

/* What a connection may take of a turn of the loop, as others wait for theirs; the rest of what it
 * received is used in its next one.
 */
#define H2_TURN_NS 50000
/* Units of work after which the clock is looked at, and from which on it runs; a frame that costs
 * little is one.
 */
#define H2_TURN_WORK 32
/* Frames that bring nothing for a stream, of which many fit in that time: so many are enough. */
#define H2_TURN_CONTROL 256
/* A head, waking a stream, and receiving. What a stream does then, maybe the way to a server and
 * its end, is what takes time, and so may be what comes: the clock is looked at before each.
 */
#define H2_WORK_HEAD 8
#define H2_WORK_WAKE H2_TURN_WORK
#define H2_WORK_RECV H2_TURN_WORK

/* <units> of work were done. True: that is enough for this turn, H2C_FL_PAUSE was set. */
bool h2_turn_work(struct h2_conn *h, uint32_t units);

/* Goes on with this connection in the next turn. */
void h2_resume_later(struct h2_conn *h);

bool h2_head_thread_init(void);
void h2_head_thread_fini(void);
/* Decodes a block into the thread's buffers, for the next such call. */
enum h2_head_status h2_head_read(struct h2_conn *h, struct slice block, enum h2_head_kind kind,
				 unsigned options, struct h2_head *head);
/* A header block behind the head of <s>. */
void h2_head_trailers(struct h2_conn *h, struct h2_stream *s, struct slice block, bool end_stream);

/* A frame's header was read: may it come now? False: the connection is lost. */
bool h2_frame_begin(struct h2_conn *h);
/* Its whole payload is here, contiguous. */
void h2_frame_payload(struct h2_conn *h, struct slice payload);

/* --- h2_data.c */

/* The header of a DATA frame was read. False: the connection is lost. */
bool h2_data_begin(struct h2_conn *h);
/* Uses the bytes of its payload that are there. */
void h2_data_take(struct h2_conn *h);
/* Wakes the streams that got something, as far as this turn lasts; then goes on in the next. */
void h2_wake_late(struct h2_conn *h);
/* The stream's user will be told, once what was received is used. */
static inline void h2s_wake_soon(struct h2_stream *s)
{
	if (!list_is_linked(&s->late))
		list_append(&s->conn->late, &s->late);
}

#endif
