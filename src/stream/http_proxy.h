/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http_proxy.h - settings of HTTP proxies other than rules
 *
 * Owned by the configuration, immutable after the check phase.
 * Manual: configuration 4.2 monitor-uri, monitor fail, http-error, http-send-name-header.
 */
#ifndef STREAM_HTTP_PROXY_H
#define STREAM_HTTP_PROXY_H

#include "stream/reply.h"

struct monitor_fail {
	struct monitor_fail *next;
	const struct condition *condition;
};

struct http_proxy {
	struct slice monitor_uri;  /* none: not monitored */
	struct monitor_fail *fails, **fails_tail;
	struct slice name_header;  /* lower case; none: servers do not get their names */
	/* of http-error; NULL: none. Shared with proxies that inherit it */
	const struct reply_pages *pages;
};

extern struct slot http_proxy_slot;

static inline const struct http_proxy *http_proxy_of(const struct proxy *px)
{
	return slot_of(&http_proxy_slot, proxy_slots(px));
}

/* Returns the response that `http-error` defines for this status, to be built per use; NULL: none.
 */
const struct reply *http_proxy_reply(const struct proxy *px, unsigned status);
/* Sets the field with the server's name, if the backend wants one. */
void http_proxy_name_server(struct stream *s);

#endif
