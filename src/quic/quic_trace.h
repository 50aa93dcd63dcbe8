/* SPDX-License-Identifier: GPL-2.0-or-later */
/* quic_trace.h - the trace source of QUIC */
#ifndef QUIC_QUIC_TRACE_H
#define QUIC_QUIC_TRACE_H

#include "core/trace.h"

/* X(NAME, word, explanation) */
#define QUIC_EVENTS(X) \
	X(NEW, "new_conn", "a connection begins") \
	X(READ_SECRET, "read_secs", "keys to read are known") \
	X(WRITE_SECRET, "write_secs", "keys to write are known") \
	X(RX_PACKET, "rx_pkt", "a packet came") X(TX_PACKET, "tx_pkt", "a packet leaves") \
	X(FRAME, "parse_frm", "a frame came") X(ACK, "parse_ack_frm", "an ACK came") \
	X(RTT, "rtt_updt", "a round trip was measured") X(LOSS, "pktloss", "a packet is lost") \
	X(TIMER, "ptimer", "a timer is due") X(PARAMS, "transport_params", "parameters came") \
	X(IDLE, "idle_timer", "nothing came for too long") \
	X(CLOSE, "conn_close", "a connection is closed") \
	X(FREED, "conn_freed", "a connection is freed")

#define X(name, word, help) QUIC_TRACE_##name,
enum { QUIC_EVENTS(X) };
#undef X

extern struct trace_source trace_quic; /* its objects: a struct quic_conn */

#define QUIC_TRACE(level, q, event, ...) \
	TRACE(&trace_quic, level, TRACE_EV(QUIC_TRACE_##event), q, __VA_ARGS__)

#endif
