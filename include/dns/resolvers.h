/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* resolvers.h - names become addresses at run time
 *
 * Purpose: `resolvers` sections. A *section* asks its name servers; a *resolution* is one name of a
 *          section with what is known of it, shared by all askers; an *asker* is one user of the
 *          name.
 * Owns   : a generation owns its sections; what happens at run time hangs off a refcounted state
 *          that the next generation's section of the same name takes over. An asker is a member of
 *          its owner, which calls resolution_leave() before it dies.
 * Threads: sections are immutable after the check phase. Everything about resolutions happens on
 *          thread 0, from where resolvers_ask_once() brings an answer to any other.
 * Errors : texts and statuses; nothing ever waits.
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

/* How a resolution ended; the order is that of `hold`. */
#define RESOLVE_STATUSES(X) \
	X(VALID, "valid") X(NX, "nx") X(REFUSED, "refused") X(TIMEOUT, "timeout") X(OTHER, "other")
#define X(name, word) RESOLVE_##name,
enum resolve_status { RESOLVE_STATUSES(X) RESOLVE_STATUS_COUNT };
#undef X

/* The section of this name; NULL: none. */
struct resolvers *resolvers_find(const struct config *cfg, const char *name);

/* Only IPv4, whatever dns-accept-family says: before <cfg> is read. */
void resolvers_only_ipv4(struct config *cfg);

/* --- life, on thread 0
 * ----------------------------------------------------
 */

/* <cfg> becomes the live generation: its sections get their state, those of <prev> (or NULL) if
 * they are of the same name. A second time: nothing. False: no memory.
 */
bool resolvers_begin(struct config *cfg, const struct config *prev);
/* <cfg> is not the live generation any more: what no other has taken over is idle. */
void resolvers_end(const struct config *cfg);
/* The thread ends, and all have left: nothing is polled or timed any more. */
void resolvers_stop(void);

/* --- resolutions, on thread 0
 * ----------------------------------------------------
 */

/* What is known under a name: an address, or where a service is. */
struct resolve_item {
	struct list link;
	enum dns_type type;
	bool is_obsolete;      /* not in answers any more: it goes when all askers were told */
	struct addr addr;      /* A, AAAA; SRV: what the answer told besides, or ADDR_NONE */
	uint16_t port, weight; /* SRV */
	unsigned uses;         /* for the code that shares addresses out, within one round */
	uint64_t seen_ms;
	char name[];           /* SRV: the target; TXT: the text */
};

/* The rounds in which askers are told of a valid answer. */
enum resolve_round { RESOLVE_TAKE, RESOLVE_LOSE };

struct resolve_asker {
	struct list link;
	struct resolution *resolution;  /* NULL: not asking */
	/* A resolution has ended, see resolution_status(): once with an error; with a valid
	 * answer once a round, all askers of a round before the next. It may leave, but no other.
	 */
	void (*told)(struct resolve_asker *a, enum resolve_round round);
};

/* Asks for <name> (valid) again and again: <a> is told of each result. <type> is A, AAAA (the
 * family that is asked for first), SRV or TXT. False: no memory.
 */
bool resolution_join(struct resolve_asker *a, struct resolvers *section, const char *name,
		     enum dns_type type);
/* It is not told of anything any more. */
void resolution_leave(struct resolve_asker *a);
/* Asks immediately if it is not under way: a server does not answer any more. */
void resolution_hurry(struct resolve_asker *a);

/* Is it what resolution_join() with these would join? */
bool resolution_is_of(const struct resolution *r, const struct resolvers *section,
		      const char *name, enum dns_type type);

/* How it ended last. */
enum resolve_status resolution_status(const struct resolution *r);
/* The name server that gave the answer: "section/nameserver". */
void resolution_source(const struct resolution *r, char *out, size_t size);
/* Counts an address that was changed by this answer. */
void resolution_count_update(struct resolution *r);
/* Was there no valid answer for as long as `hold` says about its status? */
bool resolution_is_lost(const struct resolution *r);
/* Members: struct resolve_item. */
const struct list *resolution_items(const struct resolution *r);
const struct list *resolution_askers(const struct resolution *r);

/* --- one answer, from any thread
 * ----------------------------------------------------
 */

struct resolve_query;
/* <q> is over: *addr is an address, or ADDR_NONE. On the thread that asked. */
typedef void resolve_done_fn(void *ctx, const struct addr *addr);

/* Asks for an address of <name>, preferably of <prefer> (A or AAAA). <done> is called later, never
 * before this function returns, unless resolve_forget() was called before. NULL: no memory, or not
 * a name.
 */
struct resolve_query *resolvers_ask_once(struct resolvers *section, struct slice name,
					 enum dns_type prefer, resolve_done_fn *done, void *ctx);
void resolve_forget(struct resolve_query **q);

/* --- statistics, from any thread
 * ----------------------------------------------------
 */

/* X(name, column of `show stat`, word of `show resolvers`, what it is in their words) */
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

/* The figures of one name server. */
struct resolvers_figures {
	const char *section, *nameserver; /* borrowed from the generation */
	uint64_t value[RESOLVE_CNT_COUNT];
};

/* Is there a section? */
bool resolvers_any(const struct config *cfg);
/* Calls <each> for every name server. */
void resolvers_each(const struct config *cfg,
		    void (*each)(void *ctx, const struct resolvers_figures *f), void *ctx);
/* The column's name, and what it is. */
const char *resolvers_column(enum resolve_counter c);
const char *resolvers_column_help(enum resolve_counter c);

enum resolvers_form { RESOLVERS_CSV, RESOLVERS_TYPED, RESOLVERS_DESC, RESOLVERS_JSON };
/* `show stat domain resolvers`. */
void resolvers_put_stat(const struct config *cfg, enum resolvers_form form, struct strbuf *out);
/* `show resolvers`, of one section, or of all with NULL. */
void resolvers_put_text(const struct config *cfg, const char *name, struct strbuf *out);

extern const struct module mod_resolvers;

#endif
