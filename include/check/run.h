/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* run.h - health checks and agents that run
 *
 * Purpose: asks servers at intervals whether they serve, and reports to proxy/check.h. An agent is
 *          a second opinion, which may also set weight, limit and administrative state.
 * Owns   : a running check belongs to its thread; rules to the generation.
 * Threads: each check belongs to one thread from checks_start_thread() to checks_stop_thread().
 * Errors : a check that cannot run (no memory, no descriptor) reports CHECK_SOCKERR.
 * Manual : configuration 5.2 (check, agent-check), 4.2 (http-check, tcp-check, option httpchk).
 *          See doc/internals/checks.md.
 */
#ifndef CHECK_RUN_H
#define CHECK_RUN_H

#include <stdbool.h>
#include "base/module.h"
#include "base/slice.h"

struct config;
struct diag_list;
struct server;

/* The words of checks; its check hook completes their rules. */
extern const struct module mod_check;

/* The check phase of what one server's line says: TLS of its checks, the server that it tracks. */
void check_server(struct server *srv, struct diag_list *d);
/* Makes it follow the server that it tracks, and ends that. The first before the threads run, or
 * with its state made; one call at a time.
 */
void check_track_join(struct server *srv);
void check_track_leave(struct server *srv);

/* Does the configuration allow to start programs (insecure-fork-wanted)? */
bool checks_may_fork(const struct config *cfg);

/* --- connections of the traffic ------------------------------------------------------------ */

struct endpoint;
enum check_lend {
	CHECK_LEND_NONE,  /* there is none, and none could be opened */
	CHECK_LEND_LATER, /* reverse HTTP: those that there are serve other threads; ask again */
	CHECK_LENT,
};
/* Attaches <ep> to an idle connection to <srv> of the calling thread, of this <name> (its `sni`;
 * may be empty), or to a new one, which EP_CONNECTED follows or EP_ERROR. Detached, it is kept for
 * others as after any request. The stream floor installs it.
 */
typedef enum check_lend check_pool_fn(struct server *srv, struct slice name, struct endpoint *ep);
void check_set_pool_hook(check_pool_fn *fn);

/* --- life ----------------------------------------------------------------------------------- */

/* The name of this node in `http-check send-state`, borrowed; NULL: the host's. */
void checks_set_node(const struct config *cfg, const char *name);
/* Checks of a server that was added to the live generation, and of one that is removed from it;
 * from any worker thread. Those of the former wait until they are enabled. False: no memory.
 */
bool checks_add_server(struct server *srv);
void checks_remove_server(struct server *srv);
/* Begins and ends the checks of a generation that belong to the calling thread. Those of servers
 * that were added at run time begin with checks_add_server() only. After checks_stop_thread()
 * nothing of the thread looks at <cfg>. False: no memory.
 */
bool checks_start_thread(struct config *cfg);
void checks_stop_thread(const struct config *cfg);

#endif
