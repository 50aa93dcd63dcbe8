/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h3_trace.h - the trace source of HTTP/3 */
#ifndef H3_H3_TRACE_H
#define H3_H3_TRACE_H

#include "core/trace.h"

/* X(NAME, word, explanation) */
#define H3_EVENTS(X) \
	X(RX_FRAME, "rx_frame", "a frame came") X(RX_DATA, "rx_data", "a DATA frame came") \
	X(RX_HEADERS, "rx_hdr", "a HEADERS frame came") \
	X(RX_SETTINGS, "rx_settings", "a SETTINGS frame came") \
	X(TX_FRAME, "tx_frame", "a frame is sent") X(TX_DATA, "tx_data", "a DATA frame is sent") \
	X(TX_HEADERS, "tx_hdr", "a HEADERS frame is sent") \
	X(TX_SETTINGS, "tx_settings", "a SETTINGS frame is sent") \
	X(STREAM_NEW, "h3s_new", "a stream begins") X(STREAM_END, "h3s_end", "a stream ends") \
	X(CONN_NEW, "h3c_new", "a connection begins") X(CONN_END, "h3c_end", "a connection ends") \
	X(STREAM_SEND, "strm_send", "a message has something to send")

#define X(name, word, help) H3_EV_##name,
enum { H3_EVENTS(X) };
#undef X

struct h3_conn;
struct h3_stream;
/* The objects of a trace point: a connection, and one of its streams or NULL. */
struct h3_traced {
	const struct h3_conn *conn;
	const struct h3_stream *stream;
};

extern struct trace_source trace_h3; /* its objects: a struct h3_traced */

#define H3_EV(name) TRACE_EV(H3_EV_##name)
#define H3C_TRACE(level, h, events, ...) \
	TRACE(&trace_h3, level, events, (&(const struct h3_traced){ h, NULL }), __VA_ARGS__)
#define H3S_TRACE(level, s, events, ...) \
	TRACE(&trace_h3, level, events, (&(const struct h3_traced){ (s)->conn, s }), __VA_ARGS__)

#endif
