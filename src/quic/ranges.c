/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ranges.c - QUIC: sets of numbers, as ranges: packets received, bytes acknowledged or lost */
#include <stdlib.h>
#include <string.h>
#include "ranges_priv.h"

void quic_ranges_free(struct quic_ranges *r)
{
	free(r->list);
	*r = (struct quic_ranges){ 0 };
}

/* The first range that ends at <n> or behind it. */
static uint32_t find(const struct quic_ranges *r, uint64_t n)
{
	uint32_t low = 0, high = r->count;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (r->list[mid].to < n)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Makes room for one more at <at>. */
static bool insert(struct quic_ranges *r, uint32_t at, struct quic_range what)
{
	if (r->count == r->room) {
		uint32_t room = r->room ? r->room * 2 : 4;
		struct quic_range *list = realloc(r->list, room * sizeof(*list));

		if (!list)
			return false;
		r->list = list;
		r->room = room;
	}
	memmove(r->list + at + 1, r->list + at, (r->count - at) * sizeof(*r->list));
	r->list[at] = what;
	r->count++;
	return true;
}

static void drop(struct quic_ranges *r, uint32_t at, uint32_t n)
{
	if (!n)
		return;
	memmove(r->list + at, r->list + at + n, (r->count - at - n) * sizeof(*r->list));
	r->count -= n;
}

bool quic_ranges_add(struct quic_ranges *r, uint64_t from, uint64_t to)
{
	uint32_t at = find(r, from), end = at;

	if (from >= to)
		return true;
	while (end < r->count && r->list[end].from <= to)
		end++;
	if (end == at)
		return insert(r, at, (struct quic_range){ from, to });
	if (r->list[at].from < from)
		from = r->list[at].from;
	if (r->list[end - 1].to > to)
		to = r->list[end - 1].to;
	r->list[at] = (struct quic_range){ from, to };
	drop(r, at + 1, end - at - 1);
	return true;
}

bool quic_ranges_remove(struct quic_ranges *r, uint64_t from, uint64_t to)
{
	uint32_t at = find(r, from);

	while (from < to && at < r->count && r->list[at].from < to) {
		struct quic_range *e = &r->list[at];

		if (e->from < from && e->to > to) {
			struct quic_range behind = { to, e->to };

			e->to = from;
			return insert(r, at + 1, behind);
		}
		if (e->from < from) {
			if (e->to > from)
				e->to = from;
			at++;
		} else if (e->to > to) {
			e->from = to;
			return true;
		} else {
			drop(r, at, 1);
		}
	}
	return true;
}

bool quic_ranges_has(const struct quic_ranges *r, uint64_t n)
{
	uint32_t at = find(r, n + 1);

	return at < r->count && r->list[at].from <= n;
}
