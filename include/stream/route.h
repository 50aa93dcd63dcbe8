/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* route.h - routes: backends declare which requests of a frontend they want
 *
 * Purpose: turns `route` lines of backends into rules of the frontends, at the place of their
 *          `use-routes` line.
 * Owns   : routes belong to the configuration.
 * Threads: that of the check phase.
 * Fails  : these are alerts: an unknown frontend, a frontend without `use-routes`, a route that is
 *          never reached.
 * Manual : configuration route (an extension).
 */
#ifndef STREAM_ROUTE_H
#define STREAM_ROUTE_H

struct config;
struct diag_list;

/* Inserts the routes at their places. Must run before the rules of proxies are checked. */
void routes_check(struct config *cfg, struct diag_list *diags);

extern const struct module mod_route;

#endif
