/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_priv.h - what the files about servers share */
#ifndef PROXY_SERVER_PRIV_H
#define PROXY_SERVER_PRIV_H

#include <stdbool.h>
#include <stdint.h>

struct diag_list;
struct proxy;
struct server;
struct server_addr;
struct server_state;

/* What follows any change of the servers in use: weights are published, waiters find a server.
 * Returns whether the backend has just lost its last server: to be told behind the change itself.
 */
bool server_publish(struct server *srv);
/* Tells in the logs that <be> has lost its last server. */
void server_none_left_tell(const struct proxy *be);

/* Writes a new address for readers of all threads; under the change lock. */
void server_address_publish(struct server_state *st, const struct server_addr *addr);

/* Ejects <srv> until <until_ms>, which is in <ms>, for what <why> says, or brings it back; told in
 * the logs. Nothing is done to a server that is ejected already, that would not serve anyway, or
 * that is not ejected.
 */
void server_eject(struct server *srv, uint64_t until_ms, uint64_t ms, const char *why);
void server_bring_back(struct server *srv);

#endif
