/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* slot.h - typed areas that a module reserves inside objects of other modules
 *
 * A module that needs data per configuration, proxy, server, listener (bind line), session or
 * stream declares a `struct slot` and names it in its module descriptor. Offsets are laid out once,
 * at start-up; no header of another module grows. Objects are allocated with room for the slots of
 * their class at the end, except sessions: their area is created when a module first asks for it,
 * since most connections never use one and an idle one must stay small. The object's owner returns
 * its area (config_slots(), proxy_slots(), server_slots(), bind_slots(), session_slots(),
 * stream_slots()); slot_of() finds the module's part of it.
 *
 *     static struct slot px_log = { .of = SLOT_PROXY, .size = sizeof(struct log_proxy), ... };
 *     struct log_proxy *lp = slot_of(&px_log, proxy_slots(px));
 *
 * Threads: the layout is immutable after start-up. Areas follow the rules of their object.
 * Errors : an area that cannot be initialised is undone, and its object is not created.
 */
#ifndef BASE_SLOT_H
#define BASE_SLOT_H

#include <stdbool.h>
#include <stddef.h>

enum slot_class {
	SLOT_CONFIG, SLOT_PROXY, SLOT_SERVER, SLOT_BIND, SLOT_SESSION, SLOT_STREAM, SLOT_CLASSES
};

struct slot {
	enum slot_class of;
	size_t size;
	/* All optional. The area is zeroed first. */
	bool (*init)(void *data);                      /* false: out of memory */
	void (*fini)(void *data);
	/* copies from a `defaults` section; NULL: memcpy */
	bool (*inherit)(void *data, const void *from);
	size_t offset;                                 /* set by slot_register() */
	struct slot *next;                             /* set by slot_register() */
};

/* The start of an object's slots, returned by its owner. Aligned on 16 bytes. */
struct slot_area;

/* Lays out <s>. Before the first object of its class is created. */
void slot_register(struct slot *s);
/* Returns the size of the slots of a class in bytes. */
size_t slot_class_size(enum slot_class of);
/* Zeroes and initialises every slot of the area. False: one failed (those already done are undone).
 */
bool slot_area_init(enum slot_class of, struct slot_area *area);
void slot_area_fini(enum slot_class of, struct slot_area *area);
/* Copies inherited data. <to> must be initialised. */
bool slot_area_inherit(enum slot_class of, struct slot_area *to, const struct slot_area *from);

static inline void *slot_of(const struct slot *s, const struct slot_area *area)
{
	return (char *)area + s->offset;
}

#endif
