/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rule_list.h - the compiled rules of a proxy, and counters of how often they matched
 *
 * Purpose: lets readers of whole lists (show rules, --explain) walk the rules in order.
 * Owns   : the lists belong to the configuration; the counters belong to the threads.
 * Threads: immutable after the check phase. Each counter is written by one thread and read by any.
 * Manual : management 9.3 show rules (an extension).
 */
#ifndef STREAM_RULE_LIST_H
#define STREAM_RULE_LIST_H

#include "base/slot.h"
#include "proxy/proxy.h"
#include "stream/rule.h"

struct acl_set;
struct condition;
struct logformat;
struct redirect;
struct split;

/* The order in which kinds of rules are evaluated, independent of their order in the file. */
enum rule_order {
	ORDER_NONE, ORDER_QUIC_INITIAL, ORDER_TCP_CONNECTION, ORDER_TCP_SESSION, ORDER_TCP_CONTENT,
	ORDER_MONITOR_FAIL, ORDER_HTTP_REQUEST, ORDER_REDIRECT, ORDER_USE_BACKEND, ORDER_USE_SERVER,
	ORDER_TCP_RESPONSE, ORDER_HTTP_RESPONSE, /* for responses: an order of their own */
};

/* use_backend or use-server: a name, fixed or computed, and a condition; use_backends: several. */
struct switch_rule {
	struct list link;
	const struct condition *condition;
	const char *word;                /* "use_backend" */
	const char *name;                /* as written */
	struct split *split;             /* use_backends; or NULL */
	const struct logformat *format;  /* computed at run time, or NULL */
	void *target;                    /* struct proxy or server, resolved in the check phase */
	const char *file;
	int line;
	bool is_place;                   /* use-routes: removed by the check phase */
	/* within its proxy: see rule_hits.c; those of the targets of a split follow */
	unsigned number;
};

struct redirect_rule {
	struct list link;
	unsigned number;
	struct rule rule;                /* allows logs to name it */
	const struct redirect *redirect;
};

struct rule_proxy {
	struct list rules[RULES_COUNT];  /* the rules of this section */
	struct list backends, servers;   /* struct switch_rule */
	struct list forces;              /* struct switch_rule: force-be-switch, conditions only */
	struct list redirects;           /* struct redirect_rule */
	const struct rule_proxy *from;   /* its defaults section, whose rules come first, or NULL */
	/* built by the check phase: rules of the defaults section, then its own */
	const struct rule **all[RULES_COUNT];
	unsigned count[RULES_COUNT];
	/* its own; while a ruleset is read, those of that use; NULL until the first use */
	struct acl_set *acls;
	const struct rule_use *use;      /* while a ruleset is read */
	int64_t inspect_ms[2];           /* request, response; 0 none */
	unsigned orders;                 /* bit n: enum rule_order n was seen, for warnings */
	/* defaults with rules, check phase: capabilities of the sections that use it */
	unsigned heir_caps;
	/* regular expressions of its rules: freed with the proxy */
	struct rule_regex *regexes;
	unsigned first_number[RULES_COUNT], numbered;
	struct rule_hits **hits;         /* by thread; state, atomic: see rule_hits.c */
};

/* --- figures */
struct rule_hits {
	uint64_t evaluated, matched; /* written by one thread, read by any */
};
/* Returns the sum over all threads. */
struct rule_hits rule_hits_sum(const struct rule_proxy *rp, unsigned number);
/* A regular expression, allocated outside of the arena. */
struct rule_regex {
	struct rule_regex *next;
	struct regex *regex;
};

extern struct slot rule_proxy_slot;

static inline struct rule_proxy *rule_proxy_of(const struct proxy *px)
{
	return slot_of(&rule_proxy_slot, proxy_slots(px));
}

#endif
