/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fcgi.h - the FastCGI mux, towards servers: one connection, one or many requests at once
 *
 * Purpose: turns requests into records for an application and its records into answers. It is
 *          reached through its row of the table, mux_fcgi in mux/mux.h; here is what it has to know
 *          of the application, which stands in mux_settings.fcgi.
 * Owns   : the connection, until it ends; its owner is then told.
 * Threads: that of the connection.
 * Numbers: requests are 1, 3, 5... of their connection, and never used again. One that was given up
 *          keeps its number, and its place among those at once, until the application ends it.
 * Idle   : without a request it holds no buffer.
 * Source : FastCGI Specification 1.0; codec/fcgi.h, http/cgi.h
 */
#ifndef MUX_FCGI_H
#define MUX_FCGI_H

#include <stdbool.h>
#include "base/slice.h"

struct endpoint;
struct strbuf;

/* An application, as its connections see it. Lives as long as the settings. */
struct fcgi_peer {
	bool keep_conn;         /* it leaves the connection open behind a request */
	bool get_values;        /* ask it for its limits first */
	bool mpxs_conns;        /* several requests at once on one connection, at most: */
	unsigned max_reqs;
	/* Adds the parameters of the request ep->tx_head, as PARAMS has them. False: it cannot be
	 * asked for.
	 */
	bool (*params)(const struct fcgi_peer *peer, struct endpoint *ep, struct strbuf *out);
	/* What the application says on stderr. */
	void (*say)(const struct fcgi_peer *peer, struct slice text);
};

#endif
