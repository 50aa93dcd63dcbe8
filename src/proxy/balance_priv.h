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
#include "proxy/server.h"

/* An entry of a backend's balancing: one server. */
struct server_balance {
	struct server *server; /* atomic: another one when it was vacant */
	struct balance *balance;
	unsigned index;
	unsigned weight;   /* atomic: effective weight; 0: not in use */
	unsigned before;   /* atomic: weights of those in use before it in the list */
	bool vacant;       /* under the lock: its server was removed; weight 0 */
	unsigned own;      /* same, as if its kind (active, backup) were in use: under the lock */
};

struct balance {
	struct proxy *proxy;
	const struct balance_algorithm *algorithm;
	struct server_balance *entries; /* owned */
	unsigned count;                 /* atomic: of entries, vacant ones too: each has a server */
	unsigned room;                  /* for so many: what algorithms make their data for */
	/* atomic; of a generation that is not live any more: the server of the live one */
	struct server *(*heir)(const struct server *srv);
	unsigned active, backup;        /* atomic: usable servers */
	unsigned in_use;                /* atomic: those that serve now */
	unsigned total_weight;          /* atomic: of those */
	bool has_tiers;                 /* under the lock: a server is not of the first tier */
	bool warming;                   /* atomic: weights in sixteenths: a server starts slowly */
	void *data;                     /* the algorithm's */
	void *group[];                  /* the algorithm's: thread_group_count() of them */
};

static inline unsigned balance_entry_weight(const struct server_balance *e)
{
	return __atomic_load_n(&e->weight, __ATOMIC_RELAXED);
}

/* For callers that pick without the lock: an entry's server, and the number of entries that have
 * one.
 */
static inline struct server *balance_entry_server(const struct server_balance *e)
{
	return __atomic_load_n(&e->server, __ATOMIC_ACQUIRE);
}

static inline unsigned balance_count(const struct balance *b)
{
	return __atomic_load_n(&b->count, __ATOMIC_ACQUIRE);
}

/* What hash-balance-factor allows to all servers together; 0: no bound. Then: is <e> below its
 * share?
 */
uint64_t balance_load_allowed(const struct balance *b);
bool balance_entry_is_light(const struct server_balance *e, uint64_t allowed);
/* A weight of an entry in sixteenths of the user's unit, as the wheel and the ring count. */
static inline uint32_t balance_fine_weight(const struct balance *b, unsigned weight)
{
	return b->warming ? weight : weight * SERVER_WARM;
}

/* Is it one of those to avoid (NULL: none)? */
bool balance_is_avoided(const struct balance_avoid *avoid, const struct server *srv);
/* In use, with room, and not to be avoided. */
bool balance_entry_fits(const struct server_balance *e, const struct balance_avoid *avoid);
/* Zeroed memory on its own cache lines (free()); NULL: no memory. */
void *balance_lines_alloc(size_t size);
/* free(<memory>) once no thread can be reading it any more. */
void balance_retire(void *memory);

/* --- balance_plain.c: draws by weight, from sums in b->data */
bool balance_sums_init(struct balance *b);
void balance_sums_fini(struct balance *b);
void balance_sums_update(struct balance *b);
/* The number of an entry; one that is not in use, or does not exist, means: draw again. */
unsigned balance_sums_draw(const struct balance *b);

/* --- balance_map.c: a schedule of turns in b->data, a cursor in each b->group */
bool balance_map_init(struct balance *b);
void balance_map_fini(struct balance *b);
void balance_map_update(struct balance *b);
/* The next of the schedule with room; NULL: none. */
struct server *balance_map_next(struct balance *b, const struct balance_avoid *avoid);
/* The server of a hash, with room or without; NULL: no server is in use. */
struct server *balance_map_at(struct balance *b, uint32_t hash);

/* --- balance_ring.c: consistent hashing, a ring of points in b->data, a cursor in each b->group */
bool balance_ring_init(struct balance *b);
void balance_ring_fini(struct balance *b);
void balance_ring_update(struct balance *b);
/* The next of the ring with room; NULL: none. */
struct server *balance_ring_next(struct balance *b, const struct balance_avoid *avoid);
/* The server of a hash, or one that follows on the ring when that is to be avoided, above the load
 * that hash-balance-factor allows, or without the room that hash-preserve-affinity asks for. NULL:
 * no server is in use but those to avoid.
 */
struct server *balance_ring_at(struct balance *b, uint32_t hash, const struct balance_avoid *avoid);

/* Of backends that have proxy->direct: no server is picked. */
extern const struct balance_algorithm balance_none;

/* The algorithms that `balance` names, in the order of messages: the one list. */
#define BALANCE_ALGORITHMS(X) \
	X(roundrobin) X(static_rr) X(leastconn) X(source) X(uri) X(url_param) X(hash) X(hdr) \
	X(rdp_cookie) X(random) X(first) X(sticky) X(peak_ewma) X(log_hash)
#define X(name) extern const struct balance_algorithm balance_##name;
BALANCE_ALGORITHMS(X)
#undef X

/* The <i>th of them; NULL: there are not so many. */
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
