/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* slot.h - typed areas that a module reserves inside objects it does not own
 *
 * A module that needs settings or state per configuration, proxy, server, listener (bind line),
 * session, stream or thread declares a `struct slot` and names it in its module descriptor. Offsets
 * are laid out once, at start-up; each such object is allocated with room for the slots of its
 * class behind it. Nobody's header grows. The accessor takes the object's slot area.
 *
 *     static struct slot px_log = { .of = SLOT_PROXY, .size = sizeof(struct log_proxy), ... };
 *     struct log_proxy *lp = slot_of(&px_log, area);
 *
 * Threads: layout is immutable after start-up. Areas follow the rule of their object.
 */
#ifndef BASE_SLOT_H
#define BASE_SLOT_H

#include <stdbool.h>
#include <stddef.h>

enum slot_class { SLOT_CONFIG, SLOT_PROXY, SLOT_SERVER, SLOT_BIND, SLOT_STREAM, SLOT_CLASSES };

struct slot {
	enum slot_class of;
	size_t size;
	/* All optional. The area is zeroed first. */
	bool (*init)(void *data);                      /* false: no memory */
	void (*fini)(void *data);
	/* copy from a `defaults` section; NULL: memcpy */
	bool (*inherit)(void *data, const void *from);
	size_t offset;                                 /* set by slot_register() */
	struct slot *next;                             /* same */
};

/* The start of an object's slots; cast from the object by its owner. Aligned on 16 bytes. */
struct slot_area;

/* Lays out <s>. Before the first object of its class is made. */
void slot_register(struct slot *s);
/* Bytes that the slots of a class need. */
size_t slot_class_size(enum slot_class of);
/* Zeroes and initialises every slot of the area; false when one failed (those done are undone). */
bool slot_area_init(enum slot_class of, struct slot_area *area);
void slot_area_fini(enum slot_class of, struct slot_area *area);
/* Copies what is inherited. <to> was initialised. */
bool slot_area_inherit(enum slot_class of, struct slot_area *to, const struct slot_area *from);

static inline void *slot_of(const struct slot *s, const struct slot_area *area)
{
	return (char *)area + s->offset;
}

#endif
