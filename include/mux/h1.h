/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* h1.h - the HTTP/1.0 and 1.1 mux: one connection, one message each way at a time
 *
 * Purpose: turns the bytes of a connection into heads, body slices and ends of messages for an
 *          endpoint, and back. Decides about framing, persistence and what is refused (RFC 9112).
 *          Accessed through its row of the table, mux_h1 in mux/mux.h; this header has what else is
 *          public.
 * Owns   : the connection. A front h1_conn lives until its connection ends and then notifies its
 *          owner (the session); a back h1_conn lives while it serves a stream or waits in an idle
 *          list.
 * Threads: that of the connection.
 * Idle   : without a message it holds no buffer.
 */
#ifndef MUX_H1_H
#define MUX_H1_H

#include <stdint.h>

struct mux_settings;

/* Returns how heads of requests are parsed under <settings>: enum h1_option. */
uint8_t h1_front_options(const struct mux_settings *settings);

/* The counters of the mux, X(NAME), in the order of `show stat`. CONNS and STREAMS are gauges. A
 * stream begins with the first byte of its head (clients) or with its request (servers).
 */
#define H1_COUNTS(X) \
	X(CONNS) X(STREAMS) X(CONNS_TOTAL) X(STREAMS_TOTAL) X(BYTES_IN) X(BYTES_OUT) \
	X(SPLICED_IN) X(SPLICED_OUT)
enum h1_counter {
#define X(name) H1_CNT_##name,
	H1_COUNTS(X)
#undef X
	H1_CNT_COUNT
};

#endif
