/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance_priv.h - shared by the balancing algorithms
 *
 * One struct balance per backend and generation. Its entries are the servers in the order of the
 * file. balance_update() alone decides which of them are in use (active ones, or backups when no
 * active one is left), under the lock of the backend's state; entries publish it with atomics.
 */
#ifndef PROXY_BALANCE_PRIV_H
#define PROXY_BALANCE_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include "core/thread.h"
#include "proxy/balance.h"
#include "proxy/server.h"

/* An entry of a backend's balancing: one server. */
struct server_balance {
	struct server *server; /* atomic: replaced by a new server when vacant */
	struct balance *balance;
	unsigned index;
	unsigned weight;   /* atomic: effective weight; 0: not in use */
	unsigned before;   /* atomic: sum of the weights in use before it in the list */
	bool vacant;       /* under the lock: its server was removed; weight 0 */
	unsigned own;      /* its weight if its kind (active, backup) were in use: under the lock */
};

struct balance {
	struct proxy *proxy;
	const struct balance_algorithm *algorithm;
	struct server_balance *entries; /* owned */
	/* atomic: of entries, including vacant ones: each has a server */
	unsigned count;
	unsigned room;                  /* capacity, for which algorithms allocate their data */
	/* atomic; in a generation that is no longer live: returns the live one's server */
	struct server *(*heir)(const struct server *srv);
	unsigned active, backup;        /* atomic: usable servers */
	unsigned in_use;                /* atomic: servers in use now */
	unsigned total_weight;          /* atomic: their sum */
	bool has_tiers;                 /* under the lock: some server is not in the first tier */
	/* atomic: weights are in sixteenths: a server is in slow start */
	bool warming;
	void *data;                     /* for the algorithm */
	void *group[];                  /* for the algorithm: thread_group_count() of them */
};

static inline unsigned balance_entry_weight(const struct server_balance *e)
{
	return __atomic_load_n(&e->weight, __ATOMIC_RELAXED);
}

/* For callers that pick without the lock: return an entry's server, and the number of entries with
 * a server.
 */
static inline struct server *balance_entry_server(const struct server_balance *e)
{
	return __atomic_load_n(&e->server, __ATOMIC_ACQUIRE);
}

static inline unsigned balance_count(const struct balance *b)
{
	return __atomic_load_n(&b->count, __ATOMIC_ACQUIRE);
}

/* Return the load that hash-balance-factor allows for all servers together, 0: no limit; and
 * whether <e> is below its share.
 */
uint64_t balance_load_allowed(const struct balance *b);
bool balance_entry_is_light(const struct server_balance *e, uint64_t allowed);
/* Returns an entry's weight in sixteenths of the user's unit, as used by the wheel and the ring. */
static inline uint32_t balance_fine_weight(const struct balance *b, unsigned weight)
{
	return b->warming ? weight : weight * SERVER_WARM;
}

/* Must <srv> be avoided (NULL: none)? */
bool balance_is_avoided(const struct balance_avoid *avoid, const struct server *srv);
/* Is it in use, with room, and not to be avoided? */
bool balance_entry_fits(const struct server_balance *e, const struct balance_avoid *avoid);
/* Allocates zeroed memory on its own cache lines (free()). NULL: out of memory. */
void *balance_lines_alloc(size_t size);
/* Frees <memory> once no thread can be reading it. */
void balance_retire(void *memory);

/* --- balance_plain.c: random draws by weight, from sums in b->data */
bool balance_sums_init(struct balance *b);
void balance_sums_fini(struct balance *b);
void balance_sums_update(struct balance *b);
/* Returns the number of an entry; if that is not in use, or does not exist, draw again. */
unsigned balance_sums_draw(const struct balance *b);

/* --- balance_map.c: a schedule of turns in b->data, a cursor in each b->group */
bool balance_map_init(struct balance *b);
void balance_map_fini(struct balance *b);
void balance_map_update(struct balance *b);
/* Returns the next server of the schedule with room; NULL: none. */
struct server *balance_map_next(struct balance *b, const struct balance_avoid *avoid);
/* Returns the server of a hash, with or without room; NULL: no server is in use. */
struct server *balance_map_at(struct balance *b, uint32_t hash);

/* --- balance_ring.c: consistent hashing, a ring of points in b->data, a cursor in each b->group */
bool balance_ring_init(struct balance *b);
void balance_ring_fini(struct balance *b);
void balance_ring_update(struct balance *b);
/* Returns the next server of the ring with room; NULL: none. */
struct server *balance_ring_next(struct balance *b, const struct balance_avoid *avoid);
/* Returns the server of a hash, or one that follows on the ring if the first is to be avoided,
 * exceeds the load of hash-balance-factor, or lacks the room that hash-preserve-affinity requires.
 * NULL: no server is in use except those to avoid.
 */
struct server *balance_ring_at(struct balance *b, uint32_t hash, const struct balance_avoid *avoid);

/* For backends with proxy->direct: picks no server. */
extern const struct balance_algorithm balance_none;

/* The algorithms of `balance`, in the order used in messages: the only list. */
#define BALANCE_ALGORITHMS(X) \
	X(roundrobin) X(static_rr) X(leastconn) X(source) X(uri) X(url_param) X(hash) X(hdr) \
	X(rdp_cookie) X(random) X(first) X(sticky) X(peak_ewma) X(log_hash)
#define X(name) extern const struct balance_algorithm balance_##name;
BALANCE_ALGORITHMS(X)
#undef X

/* Returns the <i>-th algorithm; NULL: no more. */
const struct balance_algorithm *balance_at(unsigned i);

/* --- balance_parse.c: see struct balance_algorithm */
bool balance_parse_source(struct conf_line *l, struct proxy *px, const char *word);
bool balance_parse_uri(struct conf_line *l, struct proxy *px, const char *word);
bool balance_parse_url_param(struct conf_line *l, struct proxy *px, const char *word);
bool balance_parse_hdr(struct conf_line *l, struct proxy *px, const char *word);
bool balance_parse_rdp_cookie(struct conf_line *l, struct proxy *px, const char *word);
bool balance_parse_hash(struct conf_line *l, struct proxy *px, const char *word);
bool balance_parse_random(struct conf_line *l, struct proxy *px, const char *word);

#endif
