/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* peers.h - sections peers: processes that share their stick tables
 *
 *     peers NAME                              the same lines for all of them
 *         peer A 192.0.2.1:10000              where each is met; the one that is called
 *         peer B 192.0.2.2:10000              as `localpeer` says is this process
 *         table t type ip size 1m ...         a table of the section: NAME/t
 *         peer-template NAME:10000 resolvers R    a peer for each address (an extension)
 *     backend x
 *         stick-table type ip size 1m ... peers NAME
 *
 * Purpose: what changes here in a shared table is sent to all peers of its section, and what they
 *          send is put into it. A process that has just started asks one of the others for all
 *          entries.
 * Work   : a section works on one thread, its home. A thread that changes an entry notes it
 *          (table/feed.h) and goes on; the home numbers it and keeps it in the table's log until
 *          each peer that is connected was sent it. A peer that is too slow for the log, or was
 *          away, gets what has a higher number than it has acknowledged: the table is walked.
 * Owns   : a section of this process (struct peers) lives as long as that, whatever is reloaded:
 *          connections and numbers stay, generations only tell it what to do.
 * Threads: generations begin and end on thread 0, which sends orders to the homes. Counters of
 *          `show info` are atomic.
 * Errors : a peer that cannot be reached is tried again; one that breaks the protocol is told so
 *          and left. Both are logged by the targets of the section's `log` lines, each once. An
 *          entry that finds no room in a full table with `nopurge` is not learned.
 * Names  : peers of a template are called by their addresses, "192.0.2.7:10000": all members have
 *          the same lines, and know each other by what the name servers say. Their names are
 *          resolved on thread 0. One that is not told of any more is left when its link ends.
 * Manual : configuration 11.2; the protocol is that of codec/peers.h.
 */
#ifndef EXT_PEERS_H
#define EXT_PEERS_H

#include <stdbool.h>
#include "base/module.h"

struct config;

/* ActivePeers, ConnectedPeers: links that are under way or up, and those that are up. Any thread.
 */
unsigned peers_active(void);
unsigned peers_connected(void);
/* Has a section been read already? Its local peer is decided then. */
bool peers_are_declared(const struct config *cfg);
/* How many sockets its sections listen on, as far as they are whole and enabled. */
unsigned peers_count_listeners(const struct config *cfg);
/* How many peers they have, this process included. */
unsigned peers_count(const struct config *cfg);
/* A process was started to replace one that may have something to teach (-sf, -st): it is waited
 * for. Before the threads.
 */
void peers_await_old_process(void);
/* The process stops softly: the sections of <cfg> give up their sockets and links, and teach the
 * process that has taken over the address of the local peer, if there is one. The end of that is
 * waited for as for other work (listen_work_began()). On thread 0.
 */
void peers_stop(const struct config *cfg);

extern const struct module mod_peers, mod_peers_ctl;

#endif
