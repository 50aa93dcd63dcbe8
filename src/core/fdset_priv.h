/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fdset_priv.h - the descriptors of a thread, for pollers that need the list at each call
 *
 * A bitmap. Edges are emulated: a reported event is not polled again until the handler says that
 * there is nothing left (fd_cant_recv, fd_cant_send set fd_entry.interest). An end or an error is
 * reported once, later only together with a wanted event.
 */
#ifndef CORE_FDSET_PRIV_H
#define CORE_FDSET_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include "core/fd.h"

struct fdset {
	uint64_t *bits;
	int words; /* allocated */
	int used;  /* words up to the highest descriptor added so far */
};

/* Adds a descriptor. False: out of memory. */
bool fdset_add(struct fdset *s, int fd);
void fdset_remove(struct fdset *s, int fd);
/* Returns the first descriptor at or after <from>; -1: none. */
int fdset_next(const struct fdset *s, int from);

/* Returns the events wanted for <fd> now. */
static inline unsigned fdset_interest(int fd)
{
	const struct fd_entry *e = &fd_table[fd];

	if (__atomic_load_n(&e->flags, __ATOMIC_RELAXED) & FD_FL_LISTENER)
		return FD_IN;
	return e->interest;
}

/* Passes <events> to the handler of <fd> and stops wanting them. */
void fdset_report(struct fdset *s, int fd, unsigned events);

#endif
