/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_elastic.c - tune.streams-elasticity: streams of clients' connections by the load
 *
 * With a target of <percent>, all client connections that the process may have share maxconn *
 * (percent - 100) / 100 streams beyond the one that each has. A new connection gets the same share
 * of the remaining ones as it would get of all in an idle process, or its equal part, if that is
 * more: many while there are few connections, and one each at the end.
 */
#include "base/bug.h"
#include "h2_tune_priv.h"
#include "mux/mux.h"

static mux_load_fn *load;
static int64_t taken; /* atomic: streams beyond the first of each connection */

void mux_set_load(mux_load_fn *fn)
{
	load = fn;
}

/* Of <total>, to one of the connections of which <open> are there. */
static int64_t share(int64_t total, int64_t max, int64_t open, int64_t most)
{
	int64_t left = total - __atomic_load_n(&taken, __ATOMIC_RELAXED);
	int64_t others = most - open + 1, part, equal;

	if (left <= 0 || max <= 1)
		return 0;
	part = left * (max - 1) / total;
	equal = others > 1 ? (left + others - 1) / others : left;
	if (part < equal)
		part = equal;
	return part < max - 1 ? part : max - 1;
}

uint32_t h2_elastic_take(const struct h2_tunes *t)
{
	unsigned open, most;
	int64_t extra;

	if (!t->elasticity || !t->fe.streams || !load)
		return (uint32_t)t->fe.streams;
	load(&open, &most);
	extra = share((int64_t)most * (t->elasticity - 100) / 100, t->fe.streams, open, most);
	__atomic_add_fetch(&taken, extra, __ATOMIC_RELAXED);
	return (uint32_t)(1 + extra);
}

void h2_elastic_give(uint32_t streams)
{
	__atomic_sub_fetch(&taken, (int64_t)streams - 1, __ATOMIC_RELAXED);
}
