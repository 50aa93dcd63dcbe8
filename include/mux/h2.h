/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* h2.h - the HTTP/2 mux, both sides: one connection, many messages at a time
 *
 * Purpose: turns the frames of a connection into heads, body slices and ends of messages, each for
 *          the endpoint of its stream, and back (RFC 9113, RFC 8441). Answers PING and SETTINGS,
 *          manages the windows, ends with GOAWAY. Accessed through its row of the table, mux_h2 in
 *          mux/mux.h; this header has its settings and counters.
 * Owns   : the connection until it ends, then notifies its owner. A stream of the mux lives as long
 *          as its endpoint is attached.
 * Threads: that of the connection.
 * Sending: what the streams send in one turn of the loop is gathered and leaves in one system call
 *          at the end of the turn. EP_TX_DONE is set when the connection has taken everything; its
 *          queue is bounded.
 * Idle   : without a stream it holds no buffer.
 * Bounds : limits for concurrent streams, frames per turn, responses to control frames, bytes of a
 *          head, windows. What a well-behaved peer never does is counted (glitches) and may end the
 *          connection.
 * Config : tune.h2.*, option disable-h2-upgrade, bind's proto and alpn. See: doc/internals/h2.md
 */
#ifndef MUX_H2_H
#define MUX_H2_H

#include <stdbool.h>
#include <stdint.h>

struct config;

/* Settings of the global section for one side, in its order; 0 where 0 means no limit. */
struct h2_limits {
	int glitches, window, streams, frames_at_once, rst_at_once, total_streams;
	uint64_t rxbuf;
};

struct h2_tunes {
	struct h2_limits fe, be;   /* for clients and for servers */
	int table_size, window, streams, frame_size;
	int h1_fe_glitches, h1_be_glitches; /* tune.h1.*.glitches-threshold; 0: no limit */
	int elasticity;            /* tune.streams-elasticity: percent; 0: none */
	int kill_cpu_percent;      /* tune.glitches.kill.cpu-usage */
	bool no_websockets;        /* clients are not offered RFC 8441 */
	unsigned log_errors;       /* enum h2_log_errors */
};

/* The counters of the mux, X(NAME), in the order of `show stat`. CONNS and STREAMS are gauges. */
#define H2_COUNTS(X) \
	X(HEADERS) X(DATA) X(SETTINGS) X(RESETS) X(GOAWAYS) X(CONN_ERRORS) X(STREAM_ERRORS) \
	X(RESETS_SENT) X(GOAWAYS_SENT) X(CONNS) X(STREAMS) X(CONNS_TOTAL) X(STREAMS_TOTAL)
enum h2_counter {
#define X(name) H2_CNT_##name,
	H2_COUNTS(X)
#undef X
	H2_CNT_COUNT
};

enum h2_log_errors { H2_LOG_STREAM, H2_LOG_CONNECTION, H2_LOG_NONE };

/* Returns the values of a generation that has started. */
const struct h2_tunes *h2_tunes_of(const struct config *cfg);

#endif
