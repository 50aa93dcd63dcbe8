/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* resolvers.h - resolves names to addresses at run time
 *
 * Purpose: `resolvers` sections. A *section* queries its name servers; a *resolution* is one name
 *          of a section with its results, shared by all its askers; an *asker* is one user of the
 *          name.
 * Owns   : a generation owns its sections; run-time data is in a refcounted state, which the next
 *          generation's section of the same name takes over. An asker is a member of its owner,
 *          which must call resolution_leave() before it is freed.
 * Threads: sections are immutable after the check phase. Resolutions are used on thread 0 only;
 *          resolvers_ask_once() passes results to any other thread.
 * Errors : texts and statuses; nothing blocks.
 * Manual : configuration 5.3, management 9.3 show resolvers. See doc/internals/dns.md
 */
#ifndef DNS_RESOLVERS_H
#define DNS_RESOLVERS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/addr.h"
#include "base/list.h"
#include "base/slice.h"
#include "codec/dns.h"
#include "core/mailbox.h"

struct config;
struct resolution;
struct resolvers;
struct strbuf;

/* Result of a resolution, in the order of `hold`. */
#define RESOLVE_STATUSES(X) \
	X(VALID, "valid") X(NX, "nx") X(REFUSED, "refused") X(TIMEOUT, "timeout") X(OTHER, "other")
#define X(name, word) RESOLVE_##name,
enum resolve_status { RESOLVE_STATUSES(X) RESOLVE_STATUS_COUNT };
#undef X

/* Finds a section by name. NULL: none. */
struct resolvers *resolvers_find(const struct config *cfg, const char *name);

/* Restricts queries to IPv4, whatever dns-accept-family says. Before <cfg> is read. */
void resolvers_only_ipv4(struct config *cfg);

/* --- life cycle, on thread 0 ------------------------------------------------------------------ */

/* <cfg> becomes the live generation: its sections get a state, that of the section of <prev> (or
 * NULL) with the same name if there is one. A second call does nothing. False: out of memory.
 */
bool resolvers_begin(struct config *cfg, const struct config *prev);
/* <cfg> is no longer the live generation: states that no other generation has taken over become
 * idle.
 */
void resolvers_end(const struct config *cfg);
/* The thread ends, and all askers have left: stops polling and timers. */
void resolvers_stop(void);

/* --- resolutions, on thread 0 ----------------------------------------------------------------- */

/* One result for a name: an address, or the location of a service. */
struct resolve_item {
	struct list link;
	enum dns_type type;
	bool is_obsolete;      /* no longer in answers: removed when all askers were informed */
	struct addr addr;      /* A, AAAA; SRV: address in the additional section, or ADDR_NONE */
	uint16_t port, weight; /* SRV */
	unsigned uses;         /* for the code that distributes addresses, within one round */
	uint64_t seen_ms;
	char name[];           /* SRV: the target; TXT: the text */
};

/* The rounds in which askers are informed of a valid answer. */
enum resolve_round { RESOLVE_TAKE, RESOLVE_LOSE };

struct resolve_asker {
	struct list link;
	struct resolution *resolution;  /* NULL: not asking */
	/* A resolution has ended, see resolution_status(). Called once for an error; for a valid
	 * answer once per round, for all askers of a round before the next round. The asker may
	 * leave, but must not remove another.
	 */
	void (*told)(struct resolve_asker *a, enum resolve_round round);
};

/* Starts to resolve <name> (valid) repeatedly: <a> is informed of each result. <type> is A, AAAA
 * (the family to query first), SRV or TXT. False: out of memory.
 */
bool resolution_join(struct resolve_asker *a, struct resolvers *section, const char *name,
		     enum dns_type type);
/* Leaves the resolution: <a> is not called any more. */
void resolution_leave(struct resolve_asker *a);
/* Queries immediately, unless a query is pending: a server stopped answering. */
void resolution_hurry(struct resolve_asker *a);

/* Is it the resolution that resolution_join() with these arguments would join? */
bool resolution_is_of(const struct resolution *r, const struct resolvers *section,
		      const char *name, enum dns_type type);

/* Returns its last result. */
enum resolve_status resolution_status(const struct resolution *r);
/* Returns the name server that gave the answer: "section/nameserver". */
void resolution_source(const struct resolution *r, char *out, size_t size);
/* Counts an address that this answer has changed. */
void resolution_count_update(struct resolution *r);
/* Has there been no valid answer for the time that `hold` allows for its status? */
bool resolution_is_lost(const struct resolution *r);
/* Lists of struct resolve_item, and of struct resolve_asker. */
const struct list *resolution_items(const struct resolution *r);
const struct list *resolution_askers(const struct resolution *r);

/* --- single queries, from any thread ---------------------------------------------------------- */

struct resolve_query;
/* Receives the result of a query: *addr is an address, or ADDR_NONE. On the thread that asked. */
typedef void resolve_done_fn(void *ctx, const struct addr *addr);

/* Queries an address of <name>, preferably of type <prefer> (A or AAAA). <done> is called later,
 * never before this function returns, unless resolve_forget() is called first. NULL: out of memory,
 * or not a valid name.
 */
struct resolve_query *resolvers_ask_once(struct resolvers *section, struct slice name,
					 enum dns_type prefer, resolve_done_fn *done, void *ctx);
void resolve_forget(struct resolve_query **q);

/* --- statistics, from any thread -------------------------------------------------------------- */

/* X(name, column of `show stat`, word of `show resolvers`, its description there) */
#define RESOLVE_COUNTERS(X) \
	X(SENT, "sent", "sent", "Sent") \
	X(SEND_ERROR, "send_error", "snd_error", "Send error") \
	X(VALID, "valid", "valid", "Valid") \
	X(UPDATE, "update", "update", "Update") \
	X(CNAME, "cname", "cname", "CNAME") \
	X(CNAME_ERROR, "cname_error", "cname_error", "CNAME error") \
	X(ANY_ERR, "any_err", "any_err", "Any errors") \
	X(NX, "nx", "nx", "NX") \
	X(TIMEOUT, "timeout", "timeout", "Timeout") \
	X(REFUSED, "refused", "refused", "Refused") \
	X(OTHER, "other", "other", "Other") \
	X(INVALID, "invalid", "invalid", "Invalid") \
	X(TOO_BIG, "too_big", "too_big", "Too big") \
	X(TRUNCATED, "truncated", "truncated", "Truncated") \
	X(OUTDATED, "outdated", "outdated", "Outdated")
#define X(name, column, word, text) RESOLVE_CNT_##name,
enum resolve_counter { RESOLVE_COUNTERS(X) RESOLVE_CNT_COUNT };
#undef X

/* The counters of one name server. */
struct resolvers_figures {
	const char *section, *nameserver; /* borrowed from the generation */
	uint64_t value[RESOLVE_CNT_COUNT];
};

/* Is there a section? */
bool resolvers_any(const struct config *cfg);
/* Calls <each> for each name server. */
void resolvers_each(const struct config *cfg,
		    void (*each)(void *ctx, const struct resolvers_figures *f), void *ctx);
/* Return the name of a column, and its description. */
const char *resolvers_column(enum resolve_counter c);
const char *resolvers_column_help(enum resolve_counter c);

enum resolvers_form { RESOLVERS_CSV, RESOLVERS_TYPED, RESOLVERS_DESC, RESOLVERS_JSON };
/* Writes `show stat domain resolvers`. */
void resolvers_put_stat(const struct config *cfg, enum resolvers_form form, struct strbuf *out);
/* Writes `show resolvers`, for one section, or for all (NULL). */
void resolvers_put_text(const struct config *cfg, const char *name, struct strbuf *out);

extern const struct module mod_resolvers;

#endif
