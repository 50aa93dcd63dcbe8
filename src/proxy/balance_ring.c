/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance_ring.c - consistent hashing
 *
 * Each server has a point for each sixteenth of a unit of its weight, spread over the 32-bit
 * numbers by a hash that depends on the server alone. A hash belongs to the nearest point:
 *
 *      0 ----s1---s3--------s1-----s2----s3------s2------ 2^32, and round again
 *                     ^ s3     ^ s2
 *
 * So a server that comes or goes moves only its own share. The points are a sorted array, which a
 * change of weights replaces: the points of the servers that changed are left out of the copy, and
 * their new ones merged in.
 */
#include <stdlib.h>
#include "balance_priv.h"
#include "base/bug.h"
#include "base/hash.h"
#include "proxy/proxy.h"
#include "proxy/queue.h"
#include "proxy/server.h"


struct point {
	uint32_t at;
	uint32_t entry;
};

struct ring {
	size_t count;
	unsigned entries;
	struct point *points;  /* sorted; behind this */
	uint32_t *weights;     /* of each entry, as the points have it; behind them */
	uint32_t *seeds;       /* same: hash_server_seed() */
};

/* Where the requests without a key are. */
struct cursor {
	uint64_t at; /* atomic: the lowest point that may be next */
};

/* --- making a ring ---------------------------------------------------------------------------- */

static struct ring *balance_ring_new(size_t points, unsigned entries)
{
	struct ring *r = malloc(sizeof(*r) + points * sizeof(*r->points) +
				2 * (size_t)entries * sizeof(*r->weights));

	if (!r)
		return NULL;
	r->count = 0;
	r->entries = entries;
	r->points = (struct point *)(r + 1);
	r->weights = (uint32_t *)(r->points + points);
	r->seeds = r->weights + entries;
	return r;
}

static int point_compare(const void *one, const void *two)
{
	const struct point *a = one, *b = two;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->entry < b->entry ? -1 : a->entry > b->entry;
}

static bool entry_changed(const struct ring *old, const struct ring *next, uint32_t entry)
{
	return !old || entry >= old->entries || old->weights[entry] != next->weights[entry] ||
	       old->seeds[entry] != next->seeds[entry];
}

/* The points of the servers that changed, sorted; NULL: no memory. */
static struct point *points_make(const struct ring *old, const struct ring *next, unsigned entries,
				 size_t *count)
{
	struct point *list;
	size_t n = 0;

	for (unsigned i = 0; i < entries; i++)
		if (entry_changed(old, next, i))
			n += next->weights[i];
	list = malloc((n ? n : 1) * sizeof(*list));
	*count = n;
	n = 0;
	for (unsigned i = 0; list && i < entries; i++) {
		if (!entry_changed(old, next, i))
			continue;
		for (uint32_t k = 0; k < next->weights[i]; k++)
			list[n++] = (struct point){
				.at = hash_avalanche(next->seeds[i] + k), .entry = i,
			};
	}
	if (list)
		qsort(list, n, sizeof(*list), point_compare);
	return list;
}

/* <next> gets what did not change of <old>, and the <count> points of <list>. */
static void points_merge(struct ring *next, const struct ring *old, const struct point *list,
			 size_t count)
{
	size_t from = 0, end = old ? old->count : 0;

	while (from < end || count) {
		if (from < end && entry_changed(old, next, old->points[from].entry))
			from++;
		else if (from < end &&
			 (!count || point_compare(&old->points[from], list) <= 0))
			next->points[next->count++] = old->points[from++];
		else
			next->points[next->count++] = *list++, count--;
	}
}

/* The ring of the weights as they are now, what is the same copied from <old> (may be NULL). NULL:
 * no memory.
 */
static struct ring *ring_make(const struct balance *b, const struct ring *old)
{
	size_t points = 0, count;
	struct point *list;
	struct ring *r;

	for (unsigned i = 0; i < b->count; i++)
		points += balance_fine_weight(b, balance_entry_weight(&b->entries[i]));
	r = balance_ring_new(points, b->count);
	if (!r)
		return NULL;
	for (unsigned i = 0; i < b->count; i++) {
		r->weights[i] = balance_fine_weight(b, balance_entry_weight(&b->entries[i]));
		r->seeds[i] = hash_server_seed(b->entries[i].server);
	}
	list = points_make(old, r, b->count, &count);
	if (!list) {
		free(r);
		return NULL;
	}
	points_merge(r, old, list, count);
	free(list);
	return r;
}

void balance_ring_fini(struct balance *b)
{
	for (unsigned g = 0; g < thread_group_count(); g++) {
		free(b->group[g]);
		b->group[g] = NULL;
	}
	free(b->data);
	b->data = NULL;
}

bool balance_ring_init(struct balance *b)
{
	b->data = balance_ring_new(0, b->count);
	for (unsigned g = 0; b->data && g < thread_group_count(); g++) {
		b->group[g] = balance_lines_alloc(sizeof(struct cursor));
		if (!b->group[g]) {
			balance_ring_fini(b);
			return false;
		}
	}
	for (unsigned i = 0; b->data && i < b->count; i++)
		((struct ring *)b->data)->weights[i] = ((struct ring *)b->data)->seeds[i] = 0;
	return b->data != NULL;
}

/* Without memory the old ring stays: a server that left is passed over. */
void balance_ring_update(struct balance *b)
{
	struct ring *old = b->data, *next = ring_make(b, old);

	if (!next)
		return;
	__atomic_store_n((struct ring **)&b->data, next, __ATOMIC_RELEASE);
	balance_retire(old);
}

static const struct ring *ring_of(const struct balance *b)
{
	return __atomic_load_n((struct ring *const *)&b->data, __ATOMIC_ACQUIRE);
}

/* --- looking up ------------------------------------------------------------------------------- */

/* The first point at <at> or above; r->count: none. */
static size_t ring_above(const struct ring *r, uint64_t at)
{
	size_t low = 0, high = r->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (r->points[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The nearest point; of two at the same distance the one below. */
static size_t ring_nearest(const struct ring *r, uint32_t hash)
{
	size_t above = ring_above(r, hash) % r->count;
	size_t below = (above ? above : r->count) - 1;

	return hash - r->points[below].at <= r->points[above].at - hash ? below : above;
}

/* Is the server good enough to stop at? */
static bool entry_suits(const struct server_balance *e, const struct balance_avoid *avoid,
			uint64_t allowed)
{
	const struct server *srv = balance_entry_server(e);

	if (!balance_entry_weight(e) || balance_is_avoided(avoid, srv))
		return false;
	switch (e->balance->proxy->balancing.hash.affinity) {
	case HASH_AFFINITY_MAXCONN:
		if (!server_has_room(srv))
			return false;
		break;
	case HASH_AFFINITY_MAXQUEUE:
		if (srv->limits.maxqueue && !server_has_room(srv) &&
		    queue_length_server(srv) >= srv->limits.maxqueue)
			return false;
		break;
	default:
		break;
	}
	return balance_entry_is_light(e, allowed);
}

struct server *balance_ring_at(struct balance *b, uint32_t hash, const struct balance_avoid *avoid)
{
	const struct ring *r = ring_of(b);
	const struct server_balance *e, *before = NULL, *first = NULL;
	uint64_t allowed = balance_load_allowed(b);
	size_t at, n;

	if (!r->count)
		return NULL;
	at = ring_nearest(r, hash);
	for (n = 0; n < r->count; n++) {
		e = &b->entries[r->points[(at + n) % r->count].entry];
		if (e == before)
			continue;
		if (entry_suits(e, avoid, allowed))
			return balance_entry_server(e);
		if (!first && !balance_is_avoided(avoid, balance_entry_server(e)))
			first = e;
		before = e;
	}
	/* no server suits: the requests wait for the first one */
	return first ? balance_entry_server(first) : NULL;
}

struct server *balance_ring_next(struct balance *b, const struct balance_avoid *avoid)
{
	const struct ring *r = ring_of(b);
	struct cursor *c = b->group[thread_group];
	uint64_t old = __atomic_load_n(&c->at, __ATOMIC_RELAXED);
	const struct server_balance *e;
	size_t at;

	SHARED_WRITE(group);
	for (size_t n = 0; n < r->count; n++) {
		do
			at = ring_above(r, old) % r->count;
		while (!__atomic_compare_exchange_n(&c->at, &old, (uint64_t)r->points[at].at + 1,
						    true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
		e = &b->entries[r->points[at].entry];
		if (balance_entry_fits(e, avoid))
			return balance_entry_server(e);
		old = (uint64_t)r->points[at].at + 1;
	}
	return NULL;
}
