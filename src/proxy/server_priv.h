/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_priv.h - shared by the files about servers */
#ifndef PROXY_SERVER_PRIV_H
#define PROXY_SERVER_PRIV_H

#include <stdbool.h>
#include <stdint.h>

struct diag_list;
struct proxy;
struct server;
struct server_addr;
struct server_state;

/* Call after any change of the servers in use: publishes weights and gives waiters a server.
 * Returns whether the backend has just lost its last server, which must be reported after the
 * change itself.
 */
bool server_publish(struct server *srv);
/* Logs that <be> has lost its last server. */
void server_none_left_tell(const struct proxy *be);

/* Publishes a new address for readers on all threads; under the change lock. */
void server_address_publish(struct server_state *st, const struct server_addr *addr);

/* Ejects <srv> until <until_ms>, which is in <ms>, because of <why>, or brings it back; logged.
 * Does nothing to a server that is already ejected, that would not serve anyway, or that is not
 * ejected.
 */
void server_eject(struct server *srv, uint64_t until_ms, uint64_t ms, const char *why);
void server_bring_back(struct server *srv);

#endif
