/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* server_event.h - reports events of servers to higher floors
 *
 * Owns   : an event and what it points to are valid during the call.
 * Threads: the hook is called by the thread that made the change, without locks. Concurrent changes
 *          of one server by several threads may be reported in either order.
 * Errors : none. Manual: the Lua API's server events.
 */
#ifndef PROXY_SERVER_EVENT_H
#define PROXY_SERVER_EVENT_H

#include "proxy/server.h"

enum server_event_kind {
	SERVER_EVENT_ADD, SERVER_EVENT_DEL, SERVER_EVENT_UP, SERVER_EVENT_DOWN,
	SERVER_EVENT_STATE, SERVER_EVENT_ADMIN, SERVER_EVENT_CHECK, SERVER_EVENT_ADDRESS,
	SERVER_EVENTS
};

struct server_event {
	enum server_event_kind kind;
	const struct server *srv;
	bool by_admin;               /* STATE: caused by administrative flags */
	bool by_check, by_agent;     /* STATE: caused by a check; CHECK: of the agent */
	const char *cause;           /* STATE, ADMIN: the reason; may be "" */
	unsigned old, now;           /* STATE: enum server_oper; ADMIN: enum server_admin */
	unsigned requeued;           /* requests that were sent back to the backend's queue */
};

/* Installs the hook of the process, at start-up. */
typedef void server_event_fn(const struct server_event *e);
void server_set_event_hook(server_event_fn *fn);
/* Reports an event; does nothing without a hook. Any thread. */
void server_event_tell(const struct server_event *e);

#endif
