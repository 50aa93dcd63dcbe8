/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* run.h - runs health checks and agent checks
 *
 * Purpose: asks servers periodically whether they are in service, and reports to proxy/check.h. An
 *          agent is a second source, which may also set weight, limit and administrative state.
 * Owns   : a running check belongs to its thread; rules belong to the generation.
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

/* Keywords of checks; its check hook completes their rules. */
extern const struct module mod_check;

/* Check phase of a server line: TLS of its checks, and the server that it tracks. */
void check_server(struct server *srv, struct diag_list *d);
/* Make it follow the server that it tracks, and end that. check_track_join(): before the threads
 * run, or after its state was created; one call at a time.
 */
void check_track_join(struct server *srv);
void check_track_leave(struct server *srv);

/* Does the configuration permit starting programs (insecure-fork-wanted)? */
bool checks_may_fork(const struct config *cfg);

/* --- connections of traffic ---------------------------------------------------------------- */

struct endpoint;
enum check_lend {
	CHECK_LEND_NONE,  /* none available, and none could be opened */
	CHECK_LEND_LATER, /* reverse HTTP: all connections are used by other threads; ask again */
	CHECK_LENT,
};
/* Attaches <ep> to an idle connection to <srv> of the calling thread with this <name> (its `sni`;
 * may be empty), or to a new one, for which EP_CONNECTED or EP_ERROR follows. After detaching, the
 * connection is kept for others as after any request. Installed by the stream floor.
 */
typedef enum check_lend check_pool_fn(struct server *srv, struct slice name, struct endpoint *ep);
void check_set_pool_hook(check_pool_fn *fn);

/* --- life ----------------------------------------------------------------------------------- */

/* Sets the name of this node for `http-check send-state`, borrowed; NULL: the host's. */
void checks_set_node(const struct config *cfg, const char *name);
/* Add the checks of a server to the live generation, and remove them. Any worker thread. New checks
 * wait until they are enabled. False: out of memory.
 */
bool checks_add_server(struct server *srv);
void checks_remove_server(struct server *srv);
/* Start and stop the checks of a generation that belong to the calling thread. Checks of servers
 * that were added at run time are started by checks_add_server() only. After checks_stop_thread()
 * the thread no longer uses <cfg>. False: out of memory.
 */
bool checks_start_thread(struct config *cfg);
void checks_stop_thread(const struct config *cfg);

#endif
