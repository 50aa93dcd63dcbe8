/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace_priv.h - shared by the trace sources of the muxes */
#ifndef MUX_TRACE_PRIV_H
#define MUX_TRACE_PRIV_H

#include "core/trace.h"
#include "mux/front.h"

struct h1_conn;

/* Verbosities after "quiet". */
extern const struct trace_word mux_trace_verbosities[];
/* What all sources of muxes can be locked on. */
#define MUX_TRACE_LOCKS \
	(TRACE_LOCK_BIT(BACKEND) | TRACE_LOCK_BIT(CONNECTION) | TRACE_LOCK_BIT(FRONTEND) | \
	 TRACE_LOCK_BIT(LISTENER) | TRACE_LOCK_BIT(SERVER) | TRACE_LOCK_BIT(SESSION))

/* Writes the start line received or sent last; from TRACE_ADVANCED on with its fields. */
void mux_trace_head(struct strbuf *out, const struct endpoint *ep, bool is_back,
		    enum trace_verbosity verbosity);
/* Writes the connection and its flags, from TRACE_MINIMAL on. */
void mux_trace_conn(struct strbuf *out, const struct conn *c, enum trace_verbosity verbosity);
/* Adds the facts of an endpoint's stream; <ep> may be NULL. */
void mux_trace_facts(const struct endpoint *ep, struct trace_facts *out);

/* X(NAME, word, explanation) of source h1 */
#define H1_EVENTS(X) \
	X(NEW, "h1c_new", "a connection begins") \
	X(RECV, "h1c_recv", "bytes came") \
	X(SEND, "h1c_send", "bytes went") \
	X(BLOCK, "h1c_blk", "a connection must wait") \
	X(WAKE, "h1c_wake", "a connection has an event") \
	X(END, "h1c_end", "a connection ends") \
	X(ERROR, "h1c_err", "a connection failed") \
	X(RX_DATA, "rx_data", "something of a message came") \
	X(RX_EOI, "rx_eoi", "the end of a message came") \
	X(RX_HEAD, "rx_headers", "a head came") \
	X(RX_BODY, "rx_body", "a piece of a body came") \
	X(RX_TRAILERS, "rx_trailerus", "trailers came") \
	X(TX_DATA, "tx_data", "something of a message is sent") \
	X(TX_EOI, "tx_eoi", "the end of a message is sent") \
	X(TX_HEAD, "tx_headers", "a head is sent") \
	X(TX_BODY, "tx_body", "a piece of a body is sent") \
	X(TX_TRAILERS, "tx_trailerus", "trailers are sent") \
	X(MSG_NEW, "h1s_new", "a message begins") \
	X(MSG_END, "h1s_end", "a message is over") \
	X(MSG_ERROR, "h1s_err", "a message is not valid") \
	X(STREAM_NEW, "strm_new", "a stream begins") \
	X(STREAM_WAKE, "strm_wake", "a stream is woken") \
	X(STREAM_END, "strm_end", "a stream leaves") \
	X(STREAM_ERROR, "strm_err", "a stream fails")

/* X(NAME, word, explanation) of source h2 */
#define H2_EVENTS(X) \
	X(NEW, "h2c_new", "a connection begins") \
	X(RECV, "h2c_recv", "bytes came") \
	X(SEND, "h2c_send", "bytes went") \
	X(WINDOW, "h2c_fctl", "a connection's window is closed") \
	X(BLOCK, "h2c_blk", "a connection's socket takes no more") \
	X(WAKE, "h2c_wake", "a connection has an event") \
	X(END, "h2c_end", "a connection ends") \
	X(ERROR, "h2c_err", "a connection failed") \
	X(RX_FRAME_HEAD, "rx_fhdr", "the head of a frame came") \
	X(RX_FRAME, "rx_frame", "a frame came") \
	X(RX_EOI, "rx_eoi", "the end of a message came") \
	X(RX_PREFACE, "rx_preface", "the preface came") \
	X(RX_DATA, "rx_data", "DATA came") \
	X(RX_HEAD, "rx_hdr", "HEADERS came") \
	X(RX_PRIORITY, "rx_prio", "PRIORITY came") \
	X(RX_RESET, "rx_rst", "RST_STREAM came") \
	X(RX_SETTINGS, "rx_settings", "SETTINGS came") \
	X(RX_PUSH, "rx_push", "PUSH_PROMISE came") \
	X(RX_PING, "rx_ping", "PING came") \
	X(RX_GOAWAY, "rx_goaway", "GOAWAY came") \
	X(RX_WINDOW, "rx_wu", "WINDOW_UPDATE came") \
	X(RX_CONTINUATION, "rx_cont", "CONTINUATION came") \
	X(TX_FRAME, "tx_frame", "a frame is sent") \
	X(TX_EOI, "tx_eoi", "the end of a message is sent") \
	X(TX_PREFACE, "tx_preface", "the preface is sent") \
	X(TX_DATA, "tx_data", "DATA is sent") \
	X(TX_HEAD, "tx_hdr", "HEADERS is sent") \
	X(TX_PRIORITY, "tx_prio", "PRIORITY is sent: never") \
	X(TX_RESET, "tx_rst", "RST_STREAM is sent") \
	X(TX_SETTINGS, "tx_settings", "SETTINGS is sent") \
	X(TX_PUSH, "tx_push", "PUSH_PROMISE is sent: never") \
	X(TX_PING, "tx_ping", "PING is sent") \
	X(TX_GOAWAY, "tx_goaway", "GOAWAY is sent") \
	X(TX_WINDOW, "tx_wu", "WINDOW_UPDATE is sent") \
	X(TX_CONTINUATION, "tx_cont", "CONTINUATION is sent") \
	X(STREAM_NEW, "h2s_new", "a stream of the connection begins") \
	X(STREAM_RECV, "h2s_recv", "bytes came for a stream of the connection") \
	X(STREAM_SEND, "h2s_send", "a stream of the connection sends") \
	X(STREAM_WINDOW, "h2s_fctl", "the window of a stream is closed") \
	X(STREAM_BLOCK, "h2s_blk", "a stream of the connection waits for its turn") \
	X(STREAM_WAKE, "h2s_wake", "a stream of the connection changes its state") \
	X(STREAM_END, "h2s_end", "a stream of the connection ends") \
	X(STREAM_ERROR, "h2s_err", "a stream of the connection failed") \
	X(USER_NEW, "strm_new", "a request, or the answer to one, is handed up") \
	X(USER_RECV, "strm_recv", "bytes are handed up") \
	X(USER_SEND, "strm_send", "a stream gives something to send") \
	X(USER_FULL, "strm_full", "a stream takes no more bytes") \
	X(USER_WAKE, "strm_wake", "a stream is woken") \
	X(USER_SHUT, "strm_shut", "a stream leaves before its end") \
	X(USER_END, "strm_end", "a stream leaves") \
	X(USER_ERROR, "strm_err", "a stream is told of a failure") \
	X(PROTO_ERROR, "proto_err", "the peer broke the protocol")

/* X(NAME, word, explanation) of source pt */
#define PASS_EVENTS(X) \
	X(NEW, "pt_conn_new", "a connection begins") \
	X(WAKE, "pt_conn_wake", "a connection has an event") \
	X(END, "pt_conn_end", "a connection ends") \
	X(ERROR, "pt_conn_err", "a connection failed") \
	X(STREAM_NEW, "strm_new", "a stream begins") \
	X(STREAM_END, "strm_end", "a stream leaves") \
	X(RX, "pt_rx_data", "bytes came") \
	X(TX, "pt_tx_data", "bytes went")

#define X(name, word, help) H1_EV_##name,
enum { H1_EVENTS(X) };
#undef X
#define X(name, word, help) H2_EV_##name,
enum { H2_EVENTS(X) };
#undef X
#define X(name, word, help) PASS_EV_##name,
enum { PASS_EVENTS(X) };
#undef X

/* Objects: a struct h1_conn; a struct h2_trace; a struct pass. */
extern struct trace_source trace_h1, trace_h2, trace_pass;

#define H1_TRACE(level, h, events, ...) TRACE(&trace_h1, level, events, h, __VA_ARGS__)
#define H1_EV(name) TRACE_EV(H1_EV_##name)
#define H2_EV(name) TRACE_EV(H2_EV_##name)
#define PASS_EV(name) TRACE_EV(PASS_EV_##name)

/* Return the name of a state: "HEAD". */
const char *h1_rx_name(unsigned state);
const char *h1_tx_name(unsigned state);
/* Returns the event of a frame of this type. */
uint64_t h2_trace_frame(uint8_t type);

struct h2_conn;
struct h2_stream;

/* The objects at a place of the HTTP/2 mux; either may be NULL. */
struct h2_trace {
	const struct h2_conn *conn;
	const struct h2_stream *stream;
};

#define H2C_TRACE(level, h, events, ...) \
	TRACE(&trace_h2, level, events, (&(const struct h2_trace){ (h), NULL }), __VA_ARGS__)
#define H2S_TRACE(level, s, events, ...) \
	TRACE(&trace_h2, level, events, (&(const struct h2_trace){ (s)->conn, (s) }), __VA_ARGS__)

#endif
