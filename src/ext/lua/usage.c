/* SPDX-License-Identifier: GPL-2.0-or-later */
/* usage.c - counts the cost of script functions, for `show lua` (usage_ctl.c)
 *
 * Each state counts for itself, under its lock.
 */
#include "room_priv.h"
#include "run_priv.h"
#include "state_priv.h"

static void add(uint64_t *to, uint64_t n)
{
	__atomic_store_n(to, *to + n, __ATOMIC_RELAXED);
}

void script_usage_count(const struct script_run *run, bool is_first, bool failed, uint64_t ns,
			uint64_t allocated)
{
	const struct script_function *fn = run->fn;
	unsigned at = fn->shared ? 0 : run->box->thread - 1;
	struct script_usage *u;

	if (!fn->usage || at >= fn->ref_count)
		return;
	u = &fn->usage[at];
	add(&u->calls, is_first);
	add(&u->errors, failed);
	add(&u->ns, ns);
	add(&u->allocated, allocated);
	if (ns > u->longest_ns)
		__atomic_store_n(&u->longest_ns, ns, __ATOMIC_RELAXED);
}
