/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slot.c - typed areas that a module reserves inside objects it does not own */
#include "base/slot.h"
#include <stdint.h>
#include <string.h>
#include "base/bug.h"

/* Slots of a class that have an init(), or a fini(): objects come and go with each request, and
 * most slots have neither.
 */
#define CALLED_MAX 64

struct slot_layout {
	struct slot *first, **last;
	struct slot *with_init[CALLED_MAX], *with_fini[CALLED_MAX];
	unsigned init_count, fini_count;
	size_t size;
};

static struct slot_layout layouts[SLOT_CLASSES];

void slot_register(struct slot *s)
{
	struct slot_layout *l = &layouts[s->of];

	BUG_ON(s->of >= SLOT_CLASSES);
	s->offset = l->size;
	s->next = NULL;
	l->size += (s->size + 15) & ~(size_t)15;
	if (!l->last)
		l->last = &l->first;
	*l->last = s;
	l->last = &s->next;
	BUG_ON(l->init_count == CALLED_MAX || l->fini_count == CALLED_MAX);
	if (s->init)
		l->with_init[l->init_count++] = s;
	if (s->fini)
		l->with_fini[l->fini_count++] = s;
}

size_t slot_class_size(enum slot_class of)
{
	return layouts[of].size;
}

/* Finishes the slots of a class that lie before <offset>. */
static void area_fini_until(enum slot_class of, struct slot_area *area, size_t offset)
{
	const struct slot_layout *l = &layouts[of];

	for (unsigned i = 0; i < l->fini_count && l->with_fini[i]->offset < offset; i++)
		l->with_fini[i]->fini(slot_of(l->with_fini[i], area));
}

bool slot_area_init(enum slot_class of, struct slot_area *area)
{
	const struct slot_layout *l = &layouts[of];

	memset(area, 0, l->size);
	for (unsigned i = 0; i < l->init_count; i++) {
		const struct slot *s = l->with_init[i];

		if (!s->init(slot_of(s, area))) {
			area_fini_until(of, area, s->offset);
			return false;
		}
	}
	return true;
}

void slot_area_fini(enum slot_class of, struct slot_area *area)
{
	area_fini_until(of, area, SIZE_MAX);
}

bool slot_area_inherit(enum slot_class of, struct slot_area *to, const struct slot_area *from)
{
	for (struct slot *s = layouts[of].first; s; s = s->next) {
		void *dst = slot_of(s, to);
		const void *src = slot_of(s, from);

		if (!s->inherit)
			memcpy(dst, src, s->size);
		else if (!s->inherit(dst, src))
			return false;
	}
	return true;
}
