/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place.c - the list of places that were reached: only grows, by its head */
#include "base/place.h"
#include <stddef.h>

static struct place *first;
static bool is_on;

static void make_known(struct place *p)
{
	struct place *head = __atomic_load_n(&first, __ATOMIC_RELAXED);

	do
		p->next = head;
	while (!__atomic_compare_exchange_n(&first, &head, p, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED));
}

void place_count(struct place *p, const char *function, const char *text)
{
	if (p->type == PLACE_CNT && !places_are_on())
		return;
	if (!__atomic_load_n(&p->known, __ATOMIC_RELAXED) &&
	    !__atomic_exchange_n(&p->known, true, __ATOMIC_RELAXED)) {
		p->function = function;
		p->text = text;
		make_known(p);
	}
	__atomic_fetch_add(&p->count, 1, __ATOMIC_RELAXED);
}

void places_switch(bool on)
{
	__atomic_store_n(&is_on, on, __ATOMIC_RELAXED);
}

bool places_are_on(void)
{
	return __atomic_load_n(&is_on, __ATOMIC_RELAXED);
}

struct place *place_next(const struct place *after)
{
	return after ? after->next : __atomic_load_n(&first, __ATOMIC_ACQUIRE);
}
