/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* balance.h - chooses the server for the next request
 *
 * Purpose: the load-balancing algorithms behind one table of operations.
 * Owns   : the per-backend data of the algorithms (proxy->balance), built by the check phase. It
 *          belongs to the generation; loads and weights belong to the states of the servers.
 * Threads: picking is lock-free and per thread group: each group has its own order, so that groups
 *          share no cache line. Any thread may change weights or states, under the backend's lock;
 *          changes are published with atomics.
 * Manual : balance, weight, backup, option allbackups. Hashing: proxy/hash.h.
 *
 * A pick returns a server that may be used and has room. A caller that then loses the race for the
 * last slot (server_slot_take()) picks again. With algorithms that have <hashes>, the returned
 * server is the only right one: the caller waits in its queue.
 */
#ifndef PROXY_BALANCE_H
#define PROXY_BALANCE_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct expr_ctx;
struct conf_line;
struct proxy;
struct server;

#define BALANCE_AVOID_MAX 16

/* The servers that a request has tried without success; others are preferred. They are only
 * compared, since they may have been freed. Only the last BALANCE_AVOID_MAX are remembered.
 */
struct balance_avoid {
	const struct server *last;  /* the last one that was tried */
	unsigned count;             /* of all tries noted so far */
	/* ring of <count> entries, as far as there is room */
	const struct server *tried[BALANCE_AVOID_MAX];
};

struct balance_pick_args {
	struct expr_ctx *expr;      /* of the request, may be NULL */
	const struct balance_avoid *avoid; /* prefer others (redispatch); may be NULL */
};

struct balance;        /* of one backend: private to proxy/ */

struct balance_algorithm {
	const char *name;       /* "roundrobin" */
	const char *syntax;     /* arguments after the name; NULL: none */
	bool takes_parenthesis, needs_parenthesis; /* "random(2)": may; "hdr(name)": must */
	bool http_only;         /* inspects HTTP requests: round robin in mode tcp */
	bool for_logs;          /* also available in log backends */
	/* Parses the words after <word>, the name with its parenthesis. NULL: no words are allowed.
	 * False: reported.
	 */
	bool (*parse)(struct conf_line *l, struct proxy *px, const char *word);
	/* may weights change at run time to other values than 0 % and 100 %? */
	bool dynamic_weights;
	bool hashes;            /* a pick holds even if the server has no room: wait for it */
	/* Builds the per-group data; false: out of memory. This and the next two may be NULL. */
	bool (*init)(struct balance *b);
	void (*fini)(struct balance *b);
	/* The servers or a weight have changed. Called under the backend's lock. */
	void (*update)(struct balance *b);
	struct server *(*pick)(struct balance *b, const struct balance_pick_args *args);
	/* A request of this thread took <ns> on <srv>; may be NULL. */
	void (*observe)(struct balance *b, const struct server *srv, uint64_t ns);
	/* This thread's group now has <count> requests on <srv>; may be NULL. */
	void (*load)(struct balance *b, struct server *srv, unsigned count);
};

/* Returns a server of <be> with room. NULL: balance_has_usable() tells whether waiting helps.
 * Borrowed: valid as long as the generation. Counts nothing: see server_slot_take(). With <avoid>:
 * returns a server that was not tried yet, else any but the last one, else the last one.
 */
struct server *balance_pick(struct proxy *be, const struct balance_pick_args *args);
/* Adds <srv> to the servers that were tried without success. */
void balance_avoid_add(struct balance_avoid *avoid, const struct server *srv);
/* May weights be changed at run time to other values than 0 % and 100 %? */
bool balance_has_dynamic_weights(const struct proxy *be);
/* Is any server, active or backup, usable? */
bool balance_has_usable(const struct proxy *be);
/* Return the number of usable active and backup servers. */
unsigned balance_active_count(const struct proxy *be);
unsigned balance_backup_count(const struct proxy *be);
/* Does <srv> take part now? Backup servers do not while others are usable. Any thread. */
bool balance_serves(const struct server *srv);
/* nbsrv: the usable active ones, else the backup ones that may serve. */
unsigned balance_usable_count(const struct proxy *be);
/* Returns the sum of the effective weights in use, in units of the user's weights (CSV column
 * weight).
 */
unsigned balance_total_weight(const struct proxy *be);

/* Reports that a request waited <ns> for the response of <srv>, or in vain. On the request's
 * thread.
 */
void balance_observe(const struct server *srv, uint64_t ns);
/* For server.c and queue.c only. */
void balance_update(struct proxy *be);
void balance_load(struct server *srv, unsigned count);

/* Builds the balancing of <be> once its servers are known; false: out of memory. balance_free() is
 * the counterpart.
 */
bool balance_new(struct proxy *be);
void balance_free(struct proxy *be);

/* Another generation serves from now on: changes of loads are passed to the balancing of the server
 * that <heir> returns (NULL: there is none).
 */
void balance_put_aside(struct proxy *be, struct server *(*heir)(const struct server *srv));

/* balance_add() makes room for a new server in maintenance that is already in the backend's list;
 * false: out of memory. balance_remove() removes a server in maintenance after it was unlinked. Any
 * thread, with the backend's list locked by the caller. Algorithms with static weights accept no
 * new server.
 */
bool balance_add(struct server *srv);
void balance_remove(struct server *srv);
/* Replaces the entry of a removed server that is about to be freed by a stand-in. No thread can
 * have seen its weight in this turn. Under config_edit_begin(). False: out of memory.
 */
bool balance_forget(struct server *srv);

/* Finds an algorithm by name (the first word of `balance`). NULL: none. */
const struct balance_algorithm *balance_find(const char *name);

#endif
