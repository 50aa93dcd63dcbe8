/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fcgi.h - the FastCGI mux, for servers: one connection, one or several requests at a time
 *
 * Purpose: turns requests into records for an application, and its records into responses. Accessed
 *          through its row of the table, mux_fcgi in mux/mux.h. This header has what the mux must
 *          know about the application, which mux_settings.fcgi points to.
 * Owns   : the connection until it ends, then notifies its owner.
 * Threads: that of the connection.
 * Numbers: request ids on a connection are 1, 3, 5..., never reused. An aborted request keeps its
 *          id, and counts as one of those at a time, until the application ends it.
 * Idle   : without a request it holds no buffer.
 * Source : FastCGI Specification 1.0; codec/fcgi.h, http/cgi.h
 */
#ifndef MUX_FCGI_H
#define MUX_FCGI_H

#include <stdbool.h>
#include "base/slice.h"

struct endpoint;
struct strbuf;

/* An application, as its connections see it. Must live as long as the settings. */
struct fcgi_peer {
	bool keep_conn;         /* it leaves the connection open after a request */
	bool get_values;        /* ask it for its limits first */
	bool mpxs_conns;        /* several requests at a time on one connection, at most: */
	unsigned max_reqs;
	/* Adds the parameters of the request ep->tx_head, encoded for PARAMS. False: the request
	 * cannot be expressed.
	 */
	bool (*params)(const struct fcgi_peer *peer, struct endpoint *ep, struct strbuf *out);
	/* Reports text that the application wrote to stderr. */
	void (*say)(const struct fcgi_peer *peer, struct slice text);
};

#endif
