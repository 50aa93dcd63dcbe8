/* SPDX-License-Identifier: GPL-2.0-or-later */
/* naming_priv.h - what is known of a server's name at run time */
#ifndef PROXY_NAMING_PRIV_H
#define PROXY_NAMING_PRIV_H

#include "dns/resolvers.h"
#include "proxy/server.h"

/* Thread 0's, but the name. */
struct naming_state {
	struct server *server;         /* of the live generation; NULL: none */
	struct resolve_asker address, service;
	struct resolve_item *item;     /* the service that it has taken: of the resolution */
	struct addr taken;             /* the address that it has taken; ADDR_NONE: none. A command
					* may give the server another one: it has that until
					* the answer has this one no more */
	struct resolve_item *own;      /* its record, as long as the address is asked for */
	char *name;                    /* under the backend's change lock; owned; NULL: none */
};

/* Those of one backend that ask the same: each starts with the first. NULL: no more. */
struct naming_state *naming_group_first(struct resolution *r, const struct proxy *be,
					bool service);
struct naming_state *naming_group_next(struct naming_state *ns, bool service);

/* naming_init.c */
bool naming_add_method(struct naming *n, enum naming_method method);
/* Behind the state files: names that nothing has helped are errors. */
void namings_check(struct config *cfg, struct diag_list *diags);

/* Another name, or none; a copy is kept. False: no memory. */
bool naming_swap_name(struct server *srv, const char *name);
/* Asks for the addresses of the name, no more for those of another one. */
void naming_ask_address(struct naming_state *ns);
void naming_leave_address(struct naming_state *ns);
/* It has this address now, with <port> above 0 on this port; <source> is who says so. */
void naming_apply(struct naming_state *ns, const struct addr *addr, int port, const char *source);
void naming_lose(struct naming_state *ns, const char *why);

/* naming_address.c, naming_service.c: what askers are told. */
void naming_address_told(struct resolve_asker *a, enum resolve_round round);
void naming_service_told(struct resolve_asker *a, enum resolve_round round);

/* naming.c: the generation is, or is no longer, the live one. On thread 0. */
bool namings_begin(struct config *cfg, const struct config *prev);
void namings_end(const struct config *cfg);

#endif
