/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace_priv.h - the trace source of TLS connections */
#ifndef TLS_TRACE_PRIV_H
#define TLS_TRACE_PRIV_H

#include "core/trace.h"

/* X(NAME, word, explanation) */
#define TLS_EVENTS(X) \
	X(NEW, "sslc_new", "a connection begins") X(CLOSE, "sslc_close", "our end is said") \
	X(END, "sslc_end", "a connection ends") X(ERROR, "sslc_err", "OpenSSL failed") \
	X(SEND, "sslc_send", "bytes went") X(RECV, "sslc_recv", "bytes came") \
	X(HANDSHAKE, "sslc_hndshk", "a handshake goes on")

#define X(name, word, help) TLS_EV_##name,
enum { TLS_EVENTS(X) };
#undef X

extern struct trace_source trace_tls; /* its objects: a struct conn */

#define TLS_TRACE(level, c, event, ...) \
	TRACE(&trace_tls, level, TRACE_EV(TLS_EV_##event), c, __VA_ARGS__)

#endif
