/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* part.h - tables that tell sums: what each of several processes has counted of a key
 *
 *     struct table_state (ours) --+-- part of peer b: a table of its own, of the same shape
 *                                 '-- part of peer c
 *
 * Purpose: with `sum`, what a peer counts is not put over what is counted here, but kept beside it;
 *          a reader of a counter or a rate gets the sum of all.
 * Owns   : parts belong to the state that they were made for, and live as long.
 * Threads: parts are made and filled by one thread (the home of the section peers); any thread
 *          reads sums: a lookup in each part.
 * Errors : no memory, or TABLE_PARTS_MAX parts: no part; what that peer counts is not in the sum.
 * Manual : none, `sum` is an extension.
 */
#ifndef TABLE_PART_H
#define TABLE_PART_H

#include <stdbool.h>
#include <stdint.h>
#include "table/table.h"

#define TABLE_PARTS_MAX 64

struct table_part;

/* The part of the peer <name>, taken over or made when there is none. NULL: see above. */
struct table_part *table_part_of(struct table_state *st, const char *name);
/* The peer will not come again under this name: its entries stay until they expire, then the part
 * may be another peer's.
 */
void table_part_leave(struct table_part *p);
/* Where its entries are, borrowed. */
struct table_state *table_part_state(const struct table_part *p);
/* Is the peer there? What it counts of the present moment (conn_cur) is added only then. */
void table_part_set_up(struct table_part *p, bool up);
/* Is this a number that can be added: a counter, a rate? */
bool table_data_adds(enum table_data d);
/* What an entry of <st> that the caller holds is said to have: as table_read(), with what all parts
 * have, and with rates of bytes in bytes, whatever the table's bytes_factor.
 */
bool table_read_sum(struct table_state *st, struct table_entry *e, enum table_data d, unsigned i,
		    uint64_t *out);

#endif
