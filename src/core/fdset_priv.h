/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fdset_priv.h - which descriptors a thread polls, for the mechanisms that need the list each time
 *
 * A bitmap. Edges are emulated: what was reported is not looked at again until the handler said
 * that there was none left (fd_cant_recv, fd_cant_send set fd_entry.interest). An end or an error
 * is reported once, then only along with something wanted.
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

/* False: no memory. */
bool fdset_add(struct fdset *s, int fd);
void fdset_remove(struct fdset *s, int fd);
/* The first descriptor at or after <from>, -1: none. */
int fdset_next(const struct fdset *s, int from);

/* What is wanted of <fd> now. */
static inline unsigned fdset_interest(int fd)
{
	const struct fd_entry *e = &fd_table[fd];

	if (__atomic_load_n(&e->flags, __ATOMIC_RELAXED) & FD_FL_LISTENER)
		return FD_IN;
	return e->interest;
}

/* Hands <events> to the handler of <fd> and stops to want them. */
void fdset_report(struct fdset *s, int fd, unsigned events);

#endif
