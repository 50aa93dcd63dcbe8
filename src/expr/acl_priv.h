/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acl_priv.h - ACLs, for conditions */
#ifndef SRC_EXPR_ACL_PRIV_H
#define SRC_EXPR_ACL_PRIV_H

#include "base/bug.h"
#include "base/tree.h"
#include "core/thread.h"
#include "expr_priv.h"

struct acl_source {
	struct acl_source *next;
	struct pattern_set *set;
};

/* One line of an ACL. */
struct acl_test {
	struct acl_test *next;
	struct expr *expr;
	enum pattern_method method;
	struct acl_source *sources;
	const char *keyword; /* as configured, for messages */
	const char *where;   /* the start of messages */
};

struct acl {
	struct acl *next;
	struct tree_node by_name; /* key: hash of the name */
	const char *name; /* NULL: anonymous */
	struct acl_test *tests;
	const char *file;         /* of its first line; NULL: predefined */
	int line;
	unsigned number;          /* unique in the configuration */
	struct acl_counters *counters; /* NULL: not counted */
};

/* State, not configuration: see acl_hits.c. */
struct acl_counters {
	unsigned count;
	struct acl_hits **by_thread; /* atomic */
};

/* Gives the ACL a number and counters. False: out of memory. */
bool acl_hits_number(struct config *cfg, struct acl *a);
/* Creates the array of the calling thread if needed. NULL: out of memory. */
struct acl_hits *acl_hits_make(struct acl_counters *c);

/* Counts an evaluation by the calling thread. */
static inline void acl_hits_count(const struct acl *a, bool held)
{
	struct acl_hits **all, *hits;

	if (!a->counters)
		return;
	all = __atomic_load_n(&a->counters->by_thread, __ATOMIC_ACQUIRE);
	hits = likely(all != NULL) ? all[thread_id] : NULL;
	if (unlikely(!hits))
		hits = acl_hits_make(a->counters);
	if (!hits)
		return;
	hits += a->number;
	__atomic_store_n(&hits->evaluated, hits->evaluated + 1, __ATOMIC_RELAXED);
	if (held)
		__atomic_store_n(&hits->matched, hits->matched + 1, __ATOMIC_RELAXED);
}

struct acl_set {
	struct config *cfg;
	struct acl *first;
	struct tree by_name;
	const struct acl_set *outer;     /* whose ACLs can be used, too; NULL: none */
	struct acl_set *inner, *next;    /* the sets inside this one */
};

/* Parses one test at words l->at to <end> (exclusive). <where>: the start of messages, in the
 * arena. NULL: reported.
 */
struct acl_test *acl_test_parse(struct conf_line *l, int end, const char *where);
/* Finds an ACL of the set, or of those around it. */
struct acl *acl_find(const struct acl_set *set, const char *name);
bool acl_is_predefined(const char *name);
struct acl *acl_find_predefined(struct conf_line *l, struct acl_set *set, const char *name,
				const char *where);
enum expr_result acl_eval(const struct acl *a, struct expr_ctx *ctx);

#endif
