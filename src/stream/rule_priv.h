/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rule_priv.h - shared by the files about rules */
#ifndef STREAM_RULE_PRIV_H
#define STREAM_RULE_PRIV_H

#include "stream/action.h"
#include "stream/rule_list.h"

/* --- rule_hits.c */

/* Returns the counters of the calling thread, by number; NULL: out of memory. Requires at least one
 * rule.
 */
struct rule_hits *rule_hits_mine(const struct rule_proxy *rp);
void rule_hits_fini(struct rule_proxy *rp);
/* Numbers the rules of a proxy. Check phase. */
void rule_hits_number(struct rule_proxy *rp);

/* Increments a counter of the calling thread. */
static inline void rule_hit(uint64_t *count)
{
	__atomic_store_n(count, *count + 1, __ATOMIC_RELAXED);
}

/* Returns the name of the file being read, as a text that lives as long as the configuration; NULL:
 * out of memory.
 */
const char *rule_file(struct conf_line *l);
/* Warns if rules of a kind that runs later were seen before. */
void rule_warn_order(struct conf_line *l, enum rule_order order);

/* Finds the action that the next words name, and moves past them. NULL: unknown or refused,
 * reported.
 */
const struct rule_action *rule_action_take(struct conf_line *l, enum ruleset set);

/* Parses one rule of a set, from the action's name. */
bool rule_parse_line(struct conf_line *l, enum ruleset set);

/* --- switching, redirections -------------------------------------------------------------- */

/* Check phase: warns about a condition on bytes in a proxy of mode http. <c> may be NULL. */
void rule_warn_bytes(const struct proxy *px, const struct condition *c, const char *file, int line,
		     struct diag_list *diags);
bool switch_backend_parse(struct conf_line *l);
bool switch_split_parse(struct conf_line *l);
bool switch_server_parse(struct conf_line *l);
bool switch_force_parse(struct conf_line *l);
void switch_check(struct proxy *px, struct diag_list *diags);

bool redirect_line_parse(struct conf_line *l);

#endif
