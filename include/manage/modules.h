/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* modules.h - statistics and run-time management of proxies and servers: module descriptors
 *
 * Purpose: the descriptors of the folder: statistics, state files, commands on proxies and servers,
 *          adding and removing servers.
 * Owns   : constants.
 * Threads: any.
 * Manual : management 9.
 */
#ifndef MANAGE_MODULES_H
#define MANAGE_MODULES_H

#include "base/module.h"

extern const struct module mod_stats_file;    /* stats-file: counters kept across restarts */
extern const struct module mod_stats_shared;  /* shm-stats-file: counters shared by processes */
extern const struct module mod_state_file;    /* server-state-file: states kept across restarts */
extern const struct module mod_proxy_ctl;     /* show backend, enable frontend, ... */
extern const struct module mod_server_ctl;    /* set server, show servers, ... */
extern const struct module mod_server_dynamic_ctl; /* add server, del server */
extern const struct module mod_backend_dynamic_ctl; /* add backend, del backend */
extern const struct module mod_stats_history; /* stats history: the last day, for pages */
extern const struct module mod_stats_ctl;     /* show stat */
extern const struct module mod_latency_ctl;   /* show latencies */

#endif
