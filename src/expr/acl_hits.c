/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acl_hits.c - counts how often each named ACL was evaluated, and true
 *
 * Each thread counts in its own array per configuration, allocated when it evaluates the first ACL
 * of it; readers add the arrays up.
 */
#include <stdlib.h>
#include "acl_priv.h"
#include "core/thread.h"

static void arrays_free(struct acl_counters *c)
{
	for (unsigned i = 0; c->by_thread && i < thread_count(); i++)
		free(c->by_thread[i]);
	free(c->by_thread);
	c->by_thread = NULL;
}

static void hits_free(void *ptr)
{
	arrays_free(ptr);
	free(ptr);
}

bool acl_hits_number(struct config *cfg, struct acl *a)
{
	struct expr_config *ec = expr_config_of(cfg);

	if (!ec->acls) {
		ec->acls = calloc(1, sizeof(*ec->acls));
		if (!ec->acls || !expr_config_own(cfg, ec->acls, hits_free)) {
			free(ec->acls);
			ec->acls = NULL;
			return false;
		}
	}
	arrays_free(ec->acls); /* of an ACL that was evaluated already: too short from now on */
	a->counters = ec->acls;
	a->number = ec->acls->count++;
	return true;
}

struct acl_hits *acl_hits_make(struct acl_counters *c)
{
	struct acl_hits **all = __atomic_load_n(&c->by_thread, __ATOMIC_ACQUIRE), **none = NULL;
	struct acl_hits *mine;

	if (!all) {
		all = calloc(thread_count(), sizeof(*all));
		if (!all)
			return NULL;
		if (!__atomic_compare_exchange_n(&c->by_thread, &none, all, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			free(all);
			all = none;
		}
	}
	mine = all[thread_id];
	if (!mine) {
		mine = calloc(c->count, sizeof(*mine));
		__atomic_store_n(&all[thread_id], mine, __ATOMIC_RELEASE);
	}
	return mine;
}

static struct acl_hits hits_sum(const struct acl *a)
{
	struct acl_hits **all = __atomic_load_n(&a->counters->by_thread, __ATOMIC_ACQUIRE);
	struct acl_hits sum = { 0 };

	for (unsigned i = 0; all && i < thread_count(); i++) {
		const struct acl_hits *one = __atomic_load_n(&all[i], __ATOMIC_ACQUIRE);

		if (!one)
			continue;
		sum.evaluated += __atomic_load_n(&one[a->number].evaluated, __ATOMIC_RELAXED);
		sum.matched += __atomic_load_n(&one[a->number].matched, __ATOMIC_RELAXED);
	}
	return sum;
}

void acl_set_each(const struct acl_set *set, acl_each_fn *fn, void *data)
{
	for (const struct acl *a = set ? set->first : NULL; a; a = a->next) {
		struct acl_hits hits;

		if (!a->counters)
			continue;
		hits = hits_sum(a);
		fn(data, a->name, a->file, a->line, &hits);
	}
	for (const struct acl_set *in = set ? set->inner : NULL; in; in = in->next)
		acl_set_each(in, fn, data);
}
