/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_in_priv.h - HTTP/2 reception: frames (h2_frames.c), heads (h2_head.c), DATA (h2_data.c), and
 * how much of it is processed in one turn of the loop (h2_out.c)
 *
 * Threads: the connection's. Heads are decoded into a buffer of the thread, valid until the next
 *          one.
 * Source : RFC 9113 4, 6, 8
 */
#ifndef MUX_H2_IN_PRIV_H
#define MUX_H2_IN_PRIV_H

#include "codec/h2_head.h"
#include "h2_stream_priv.h"

/* Maximum of CONTINUATION frames for one head. */
#define H2_CONTINUATIONS_MAX 64

/* Time that a connection may take of a turn of the loop, since others wait for theirs; the rest of
 * its received bytes is processed in its next turn.
 */
#define H2_TURN_NS 50000
/* Units of work after which the clock is read (and from which on time counts); a cheap frame is one
 * unit.
 */
#define H2_TURN_WORK 32
/* Maximum of frames that bring nothing for a stream, since many of them fit into that time. */
#define H2_TURN_CONTROL 256
/* Units for a head, for waking a stream, and for receiving. What a stream then does, maybe up to a
 * server and to its end, takes time, and so may received data: the clock is read before each.
 */
#define H2_WORK_HEAD 8
#define H2_WORK_WAKE H2_TURN_WORK
#define H2_WORK_RECV H2_TURN_WORK

/* Adds <units> of work. True: enough for this turn, H2C_FL_PAUSE was set. */
bool h2_turn_work(struct h2_conn *h, uint32_t units);

/* Continues with this connection in the next turn. */
void h2_resume_later(struct h2_conn *h);

bool h2_head_thread_init(void);
void h2_head_thread_fini(void);
/* Decodes a block into the thread's buffers, valid until the next such call. */
enum h2_head_status h2_head_read(struct h2_conn *h, struct slice block, enum h2_head_kind kind,
				 unsigned options, struct h2_head *head);
/* Handles a header block after the head of <s>. */
void h2_head_trailers(struct h2_conn *h, struct h2_stream *s, struct slice block, bool end_stream);

/* The header of a frame was read: is it allowed now? False: the connection is lost. */
bool h2_frame_begin(struct h2_conn *h);
/* Handles a frame whose whole payload is here, contiguous. */
void h2_frame_payload(struct h2_conn *h, struct slice payload);

/* --- h2_data.c */

/* The header of a DATA frame was read. False: the connection is lost. */
bool h2_data_begin(struct h2_conn *h);
/* Uses the available bytes of its payload. */
void h2_data_take(struct h2_conn *h);
/* Wakes streams that received something, as long as this turn lasts; continues in the next turn. */
void h2_wake_late(struct h2_conn *h);
/* Wakes the stream's user once the received bytes were processed. */
static inline void h2s_wake_soon(struct h2_stream *s)
{
	if (!list_is_linked(&s->late))
		list_append(&s->conn->late, &s->late);
}

#endif
