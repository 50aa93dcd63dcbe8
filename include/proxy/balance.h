/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* balance.h - which server serves the next request
 *
 * Purpose: the load-balancing algorithms behind one table of operations.
 * Owns   : what the algorithms need per backend (proxy->balance), built by the check phase. It
 *          belongs to the generation; loads and weights belong to the servers' states.
 * Threads: picking is lock-free and per thread group: each group has its own order, so that no
 *          cache line is shared by groups. Changes of weight or state come from any thread
 *          under the backend's lock and are published with atomics.
 * Manual : balance, weight, backup, option allbackups. Hashing: proxy/hash.h.
 *
 * A pick returns a server that may be used and has room; a caller that then loses the race for
 * its last slot (server_slot_take) picks again. Algorithms with <hashes> mean the server that they
 * return: the caller waits in its queue.
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

/* The servers that a request has tried without success, of which another is better. They are only
 * compared: they may be gone. Of more than BALANCE_AVOID_MAX, the last ones are known.
 */
struct balance_avoid {
	const struct server *last;  /* the one that was tried last */
	unsigned count;             /* of all tries noted so far */
	const struct server *tried[BALANCE_AVOID_MAX]; /* of <count>, as far as there is room */
};

struct balance_pick_args {
	struct expr_ctx *expr;      /* of the request, may be NULL */
	const struct balance_avoid *avoid; /* others if possible (redispatch); may be NULL */
};

struct balance;        /* of one backend: private to proxy/ */

struct balance_algorithm {
	const char *name;       /* "roundrobin" */
	const char *syntax;     /* what may stand behind the name; NULL: nothing */
	bool takes_parenthesis, needs_parenthesis; /* "random(2)": may; "hdr(name)": must */
	bool http_only;         /* looks at requests of HTTP: round robin in mode tcp */
	bool for_logs;          /* also of a log backend */
	/* Reads what stands behind <word>, the name with its parenthesis. NULL: nothing stands
	 * there. False: reported.
	 */
	bool (*parse)(struct conf_line *l, struct proxy *px, const char *word);
	bool dynamic_weights;   /* may weights change at run time to anything but 0 % and 100 % */
	bool hashes;            /* a pick stands although the server has no room: wait for it */
	/* Builds per-group data; false: no memory. This and the next two may be NULL. */
	bool (*init)(struct balance *b);
	void (*fini)(struct balance *b);
	/* The server set or a weight has changed: called under the backend's lock. */
	void (*update)(struct balance *b);
	struct server *(*pick)(struct balance *b, const struct balance_pick_args *args);
	/* A request of this thread has taken <ns> on <srv>; may be NULL. */
	void (*observe)(struct balance *b, const struct server *srv, uint64_t ns);
	/* This thread's group now has <count> requests on <srv>; may be NULL. */
	void (*load)(struct balance *b, struct server *srv, unsigned count);
};

/* Returns a server of <be> with room, or NULL: then balance_has_usable() tells whether waiting
 * helps. Borrowed: valid as long as the generation. Nothing is counted: see server_slot_take().
 * With <avoid>: one that was not tried yet, else any but the last one, else that one.
 */
struct server *balance_pick(struct proxy *be, const struct balance_pick_args *args);
/* Notes that <srv> was tried in vain. */
void balance_avoid_add(struct balance_avoid *avoid, const struct server *srv);
/* May weights be changed at run time to anything but 0 % and 100 %? */
bool balance_has_dynamic_weights(const struct proxy *be);
/* Is any server (active or backup) usable at all? */
bool balance_has_usable(const struct proxy *be);
/* Usable active and backup servers. */
unsigned balance_active_count(const struct proxy *be);
unsigned balance_backup_count(const struct proxy *be);
/* Does <srv> take part now? Backup servers do not while others are usable. Any thread. */
bool balance_serves(const struct server *srv);
/* nbsrv: the usable active ones, else the backup ones that may serve. */
unsigned balance_usable_count(const struct proxy *be);
/* Sum of effective weights in use, in units of the user's weights (CSV column weight). */
unsigned balance_total_weight(const struct proxy *be);

/* A request has waited <ns> for <srv>'s answer, or for nothing. On the request's thread. */
void balance_observe(const struct server *srv, uint64_t ns);
/* The next two are called by server.c and queue.c only. */
void balance_update(struct proxy *be);
void balance_load(struct server *srv, unsigned count);

/* Builds <be>'s balancing once its servers are known; false: no memory. balance_free() undoes. */
bool balance_new(struct proxy *be);
void balance_free(struct proxy *be);

/* Another generation serves from now on: loads that change are told to the balancing of <heir>'s
 * server (NULL: there is none).
 */
void balance_put_aside(struct proxy *be, struct server *(*heir)(const struct server *srv));

/* Makes room for a new server in maintenance, which is in the backend's list already; false: no
 * memory. Takes a server in maintenance out, after it was unlinked. From any thread, with the
 * backend's list locked by the caller. An algorithm with static weights takes none.
 */
bool balance_add(struct server *srv);
void balance_remove(struct server *srv);
/* A server that was removed, whose weight no thread can have seen in this turn, will be freed: its
 * place gets a stand-in. Under config_edit_begin(). False: no memory.
 */
bool balance_forget(struct server *srv);

/* By name (the first word of `balance`), or NULL. */
const struct balance_algorithm *balance_find(const char *name);

#endif
