/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ranges_priv.h - QUIC: sets of numbers (ranges.c): packets received, bytes acknowledged or lost
 *
 * Owns   : its list; a zeroed struct quic_ranges is the empty set.
 * Threads: pure.
 */
#ifndef QUIC_RANGES_PRIV_H
#define QUIC_RANGES_PRIV_H

#include <stdbool.h>
#include <stdint.h>

struct quic_range {
	uint64_t from, to;             /* exclusive */
};

struct quic_ranges {
	struct quic_range *list;       /* owned, ascending, with gaps between them */
	uint32_t count, room;
};

/* Adds [from, to). Returns false: no memory. */
bool quic_ranges_add(struct quic_ranges *r, uint64_t from, uint64_t to);
/* Removes [from, to). Returns false: no memory, it may remain. */
bool quic_ranges_remove(struct quic_ranges *r, uint64_t from, uint64_t to);
bool quic_ranges_has(const struct quic_ranges *r, uint64_t n);
void quic_ranges_free(struct quic_ranges *r);

#endif
