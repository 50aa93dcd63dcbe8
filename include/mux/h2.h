/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* h2.h - the HTTP/2 mux, towards clients: one connection, many messages at once
 *
 * Purpose: turns a connection's frames into heads, body slices and ends of messages, each for the
 *          endpoint of its own stream, and back (RFC 9113, RFC 8441). Answers PING and SETTINGS,
 *          keeps the windows, ends with GOAWAY.
 * Owns   : the connection, until it ends; its owner (the session) is then told. A stream here lives
 *          as long as its endpoint is attached.
 * Threads: that of the connection.
 * Sending: what the streams say in one turn of the loop is gathered and leaves in one system call
 *          when the turn ends. EP_TX_DONE is set when the connection took all; its queue is bounded.
 * Idle   : without a stream it holds no buffer.
 * Bounds : streams at once, frames a turn, answers to control frames, bytes of a head, windows. What
 *          a well-behaved peer never does is counted (glitches) and may end the connection.
 * Config : tune.h2.*, option disable-h2-upgrade, bind's proto and alpn. See: doc/internals/h2.md
 */
#ifndef MUX_H2_H
#define MUX_H2_H

#include <stdbool.h>
#include <stdint.h>
#include "mux/front.h"

struct config;
struct h2_conn;

/* What the global section says, in its order; 0 where that means no limit. */
struct h2_tunes {
	int fe_glitches, fe_window, fe_streams, fe_frames_at_once, fe_rst_at_once;
	int fe_total_streams;
	int be_glitches, be_window, be_streams, be_frames_at_once;
	int table_size, window, streams, frame_size;
	int kill_cpu_percent;      /* tune.glitches.kill.cpu-usage */
	unsigned log_errors;       /* enum h2_log_errors */
	uint64_t fe_rxbuf, be_rxbuf;
};

enum h2_log_errors { H2_LOG_STREAM, H2_LOG_CONNECTION, H2_LOG_NONE };

/* The values of a generation that has started. */
const struct h2_tunes *h2_tunes_of(const struct config *cfg);

/* Takes over <c> (accepted, transport ready). <in>: bytes received already, from offset <at>
 * (borrowed, may be NULL). NULL: no memory, <c> still the caller's. <tunes> live as long as the
 * settings.
 */
struct h2_conn *h2_front_new(struct conn *c, const struct front_user *user, void *owner,
			     const struct mux_settings *settings, const struct h2_tunes *tunes,
			     struct block *in, uint32_t at);
/* Reads at once what may be there already. May destroy the h2_conn. */
void h2_front_start(struct h2_conn *h);
/* Ends it, as when the process stops: at once if idle, else when its streams have ended. */
void h2_front_stop(struct h2_conn *h);

/* Its settings from now on: the connection goes on with another generation. Borrowed. */
void h2_set_settings(struct h2_conn *h, const struct mux_settings *settings,
		     const struct h2_tunes *tunes);

/* Facts for fetches. */
struct h2_conn_facts {
	unsigned streams;          /* that exist now */
	unsigned streams_limit;    /* that the peer may have at once: fc_settings_streams_limit */
	unsigned glitches;
};
struct h2_conn_facts h2_conn_facts(const struct h2_conn *h);

#endif
