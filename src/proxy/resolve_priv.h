/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolve_priv.h - run-time data about a server's name */
#ifndef PROXY_RESOLVE_PRIV_H
#define PROXY_RESOLVE_PRIV_H

#include "dns/resolvers.h"
#include "proxy/server.h"

/* For thread 0, except the name. */
struct resolve_state {
	struct server *server;         /* of the live generation; NULL: none */
	struct resolve_asker address, service;
	struct resolve_item *item;     /* the service entry it has taken: in the resolution */
	/* the address it has taken; ADDR_NONE: none. A command may give the server another one,
	 * which it keeps until the answer no longer has this one
	 */
	struct addr taken;
	struct resolve_item *own;      /* its own entry, while its address is resolved */
	char *name;                    /* under the backend's change lock; owned; NULL: none */
};

/* Iterate over the states of one backend that ask the same; NULL: no more. */
struct resolve_state *resolve_group_first(struct resolution *r, const struct proxy *be,
					bool service);
struct resolve_state *resolve_group_next(struct resolve_state *ns, bool service);

/* resolve_init.c */
bool resolve_add_method(struct resolve *n, enum resolve_method method);
/* After the state files: names for which no method succeeded are errors. */
void resolve_all_check(struct config *cfg, struct diag_list *diags);

/* Sets another name, or none; copied. False: out of memory. */
bool resolve_swap_name(struct server *srv, const char *name);
/* Start resolving the addresses of the name, and stop. */
void resolve_ask_address(struct resolve_state *ns);
void resolve_leave_address(struct resolve_state *ns);
/* Sets the address and, if <port> is above 0, the port; <source> names the origin of the address.
 */
void resolve_apply(struct resolve_state *ns, const struct addr *addr, int port, const char *source);
void resolve_lose(struct resolve_state *ns, const char *why);

/* resolve_address.c, resolve_service.c: callbacks of askers. */
void resolve_address_told(struct resolve_asker *a, enum resolve_round round);
void resolve_service_told(struct resolve_asker *a, enum resolve_round round);

/* resolve.c: the generation becomes, or is no longer, the live one. On thread 0. */
bool resolve_all_begin(struct config *cfg, const struct config *prev);
void resolve_all_end(const struct config *cfg);

#endif
