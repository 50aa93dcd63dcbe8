/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* route.h - routes: backends say which requests of a frontend they want
 *
 * Purpose: turns `route` lines of backends into rules of frontends, where these say `use-routes`.
 * Owns   : routes belong to the configuration.
 * Threads: the check phase's.
 * Fails  : unknown frontends, frontends without a place for routes and routes that are never
 *          reached are alerts.
 * Manual : configuration route (an extension).
 */
#ifndef STREAM_ROUTE_H
#define STREAM_ROUTE_H

struct config;
struct diag_list;

/* Puts the routes in their places. Before the rules of proxies are checked. */
void routes_check(struct config *cfg, struct diag_list *diags);

extern const struct module mod_route;

#endif
