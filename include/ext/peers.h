/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* peers.h - sections peers: processes that share their stick tables
 *
 *     peers NAME                              the same lines for all members
 *         peer A 192.0.2.1:10000              address of each; the local peer is the one that
 *         peer B 192.0.2.2:10000              `localpeer` names
 *         table t type ip size 1m ...         a table of the section: NAME/t
 *         peer-template NAME:10000 resolvers R    one peer per address (an extension)
 *     backend x
 *         stick-table type ip size 1m ... peers NAME
 *
 * Purpose: changes in a shared table are sent to all peers of its section, and what they send is
 *          stored in it. A process that has just started asks one of the others for all entries.
 * Work   : a section works on one thread, its home. A thread that changes an entry notes it
 *          (table/feed.h) and continues; the home numbers it and keeps it in the table's log until
 *          it was sent to each connected peer. A peer that is too slow for the log, or was
 *          disconnected, gets all entries with a higher number than it has acknowledged, by a walk
 *          over the table.
 * Owns   : a section of the process (struct peers) lives as long as the process, across reloads:
 *          connections and numbers are kept, and generations only tell it what to do.
 * Threads: generations begin and end on thread 0, which sends orders to the homes. Counters for
 *          `show info` are atomic.
 * Errors : an unreachable peer is retried; one that violates the protocol is told so and
 *          disconnected. Both are logged to the section's `log` targets, once each. An entry that
 *          finds no room in a full table with `nopurge` is not stored.
 * Names  : peers of a template are named by their addresses, "192.0.2.7:10000": all members have
 *          the same lines, and know each other from DNS answers. Names are resolved on thread 0. A
 *          peer that disappears from the answers is removed when its link ends.
 * Manual : configuration 11.2; the protocol is that of codec/peers.h.
 */
#ifndef EXT_PEERS_H
#define EXT_PEERS_H

#include <stdbool.h>
#include "base/module.h"

struct config;

/* Return ActivePeers, links in progress or up, and ConnectedPeers, links that are up. Any thread.
 */
unsigned peers_active(void);
unsigned peers_connected(void);
/* Has a section been read? Then its local peer is already determined. */
bool peers_are_declared(const struct config *cfg);
/* Returns how many sockets its complete and enabled sections listen on. */
unsigned peers_count_listeners(const struct config *cfg);
/* Returns the number of their peers, this process included. */
unsigned peers_count(const struct config *cfg);
/* Call when the process was started to replace one that may teach its entries (-sf, -st): it is
 * waited for. Before the threads run.
 */
void peers_await_old_process(void);
/* The process stops softly: the sections of <cfg> close their sockets and links, and teach the
 * process that has taken over the address of the local peer, if any. The stop waits for this as for
 * other work (listen_work_began()). On thread 0.
 */
void peers_stop(const struct config *cfg);

extern const struct module mod_peers, mod_peers_ctl;

#endif
