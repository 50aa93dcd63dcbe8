/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* list.h - intrusive doubly linked circular lists
 *
 * A head and its members have the same type. A member that is in no list is "self-linked" after
 * list_init(), so that a second list_remove() is harmless. Not locked.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *next, *prev;
};

#define LIST_HEAD(name) { &(name), &(name) }

static inline void list_init(struct list *l)
{
	l->next = l->prev = l;
}

static inline bool list_is_empty(const struct list *l)
{
	return l->next == l;
}

/* Is this member in a list? It must have been initialised. */
static inline bool list_is_linked(const struct list *l)
{
	return l->next != l;
}

static inline void list_insert_before(struct list *at, struct list *l)
{
	l->next = at;
	l->prev = at->prev;
	at->prev->next = l;
	at->prev = l;
}

static inline void list_append(struct list *head, struct list *l)
{
	list_insert_before(head, l);
}

static inline void list_prepend(struct list *head, struct list *l)
{
	list_insert_before(head->next, l);
}

static inline void list_remove(struct list *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	list_init(l);
}

/* Moves all members of <from> to the end of <to>; <from> becomes empty. */
static inline void list_splice(struct list *to, struct list *from)
{
	if (list_is_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	list_init(from);
}

#define list_entry(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))
#define list_first(head, type, member) list_entry((head)->next, type, member)
#define list_last(head, type, member) list_entry((head)->prev, type, member)

/* Returns the link of a member. An "element" that is really the head is not accessed through its
 * type, whose alignment it may not have.
 */
#define list_link(it, member) \
	((struct list *)((char *)(it) + offsetof(__typeof__(*(it)), member)))

/* The body must not remove <it>. */
#define list_for_each(it, head, member) \
	for (it = list_entry((head)->next, __typeof__(*it), member); \
	     list_link(it, member) != (head); \
	     it = list_entry(list_link(it, member)->next, __typeof__(*it), member))

/* The body may remove or free <it>, not <tmp>. */
#define list_for_each_safe(it, tmp, head, member) \
	for (it = list_entry((head)->next, __typeof__(*it), member), \
	    tmp = list_entry(list_link(it, member)->next, __typeof__(*it), member); \
	     list_link(it, member) != (head); \
	     it = tmp, tmp = list_entry(list_link(tmp, member)->next, __typeof__(*it), member))

#endif
