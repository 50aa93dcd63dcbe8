/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slot.c - typed areas that a module reserves inside objects it does not own */
#include "base/slot.h"
#include <string.h>
#include "base/bug.h"

struct slot_layout {
	struct slot *first, **last;
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
}

size_t slot_class_size(enum slot_class of)
{
	return layouts[of].size;
}

/* Finishes the slots of a class up to (excluding) <stop>. */
static void area_fini_until(enum slot_class of, struct slot_area *area, const struct slot *stop)
{
	for (struct slot *s = layouts[of].first; s && s != stop; s = s->next)
		if (s->fini)
			s->fini(slot_of(s, area));
}

bool slot_area_init(enum slot_class of, struct slot_area *area)
{
	memset(area, 0, layouts[of].size);
	for (struct slot *s = layouts[of].first; s; s = s->next) {
		if (s->init && !s->init(slot_of(s, area))) {
			area_fini_until(of, area, s);
			return false;
		}
	}
	return true;
}

void slot_area_fini(enum slot_class of, struct slot_area *area)
{
	area_fini_until(of, area, NULL);
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
