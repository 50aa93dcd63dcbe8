/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance_priv.h - what the algorithms share
 *
 * One struct balance per backend and generation. Its entries are the servers in order of the
 * file. Which of them are in use (active ones, or backups when no active one is left) is
 * decided in one place, balance_update(), under the lock of the backend's state; entries
 * publish it with atomics.
 */
#ifndef PROXY_BALANCE_PRIV_H
#define PROXY_BALANCE_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include "core/thread.h"
#include "proxy/balance.h"

/* An entry of a backend's balancing: one server. */
struct server_balance {
	struct server *server;
	struct balance *balance;
	unsigned index;
	unsigned weight;   /* atomic: effective weight; 0: not in use */
};

struct balance {
	struct proxy *proxy;
	const struct balance_algorithm *algorithm;
	struct server_balance *entries; /* owned */
	unsigned count;
	bool aside;                     /* atomic: of a generation that is not live any more */
	unsigned active, backup;        /* atomic: usable servers */
	unsigned in_use;                /* atomic: those that serve now */
	unsigned total_weight;          /* atomic: of those */
	bool warming;                   /* weights are in sixteenths: a server starts slowly */
	void *data;                     /* the algorithm's */
	void *group[GROUPS_MAX];        /* the algorithm's, per thread group */
};

static inline unsigned balance_entry_weight(const struct server_balance *e)
{
	return __atomic_load_n(&e->weight, __ATOMIC_RELAXED);
}

/* In use, with room, and not to be avoided. */
bool balance_entry_fits(const struct server_balance *e, const struct server *avoid);
/* Zeroed memory on its own cache lines (free()); NULL: no memory. */
void *balance_lines_alloc(size_t size);
/* free(<memory>) once no thread can be reading it any more. */
void balance_retire(void *memory);

extern const struct balance_algorithm balance_roundrobin;
extern const struct balance_algorithm balance_leastconn;
extern const struct balance_algorithm balance_static_rr;
extern const struct balance_algorithm balance_random;
extern const struct balance_algorithm balance_first;

#endif
