/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rule_hits.c - counts how often each rule was evaluated, and applied
 *
 * Each thread counts in its own array per proxy, allocated when it first runs a rule of the proxy:
 * nothing is shared while a request is handled. Readers add the arrays up. Rules are numbered in
 * the proxy: those of the rulesets one after the other, then redirects, then use_backend and
 * use-server. The backends of a use_backends rule have the numbers after their rule's.
 */
#include <stdlib.h>
#include "core/thread.h"
#include "rule_priv.h"
#include "stream/split.h"

struct rule_hits *rule_hits_mine(const struct rule_proxy *rp)
{
	struct rule_hits ***place = (struct rule_hits ***)&rp->hits, **all, **none = NULL;
	struct rule_hits *mine;

	all = __atomic_load_n(place, __ATOMIC_ACQUIRE);
	if (!all) {
		all = calloc(thread_count(), sizeof(*all));
		if (!all)
			return NULL;
		if (!__atomic_compare_exchange_n(place, &none, all, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE)) {
			free(all);
			all = none;
		}
	}
	mine = all[thread_id];
	if (!mine) {
		mine = calloc(rp->numbered, sizeof(*mine));
		__atomic_store_n(&all[thread_id], mine, __ATOMIC_RELEASE);
	}
	return mine;
}

struct rule_hits rule_hits_sum(const struct rule_proxy *rp, unsigned number)
{
	struct rule_hits **all = __atomic_load_n(&rp->hits, __ATOMIC_ACQUIRE), sum = { 0 };

	for (unsigned i = 0; all && i < thread_count(); i++) {
		const struct rule_hits *one = __atomic_load_n(&all[i], __ATOMIC_ACQUIRE);

		if (!one)
			continue;
		sum.evaluated += __atomic_load_n(&one[number].evaluated, __ATOMIC_RELAXED);
		sum.matched += __atomic_load_n(&one[number].matched, __ATOMIC_RELAXED);
	}
	return sum;
}

void rule_hits_fini(struct rule_proxy *rp)
{
	for (unsigned i = 0; rp->hits && i < thread_count(); i++)
		free(rp->hits[i]);
	free(rp->hits);
}

void rule_hits_number(struct rule_proxy *rp)
{
	struct redirect_rule *rr;
	struct switch_rule *sr;

	rp->numbered = 0;
	for (int set = 0; set < RULES_COUNT; set++) {
		rp->first_number[set] = rp->numbered;
		rp->numbered += rp->count[set];
	}
	list_for_each(rr, &rp->redirects, link)
		rr->number = rp->numbered++;
	list_for_each(sr, &rp->backends, link) {
		sr->number = rp->numbered++;
		rp->numbered += sr->split ? sr->split->count : 0;
	}
	list_for_each(sr, &rp->servers, link)
		sr->number = rp->numbered++;
}
