/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* part.h - tables with sums: the separate counts of several processes for a key
 *
 *     struct table_state (ours) --+-- part of peer b: a table of its own, of the same shape
 *                                 '-- part of peer c
 *
 * Purpose: with `sum`, counts received from a peer do not replace our own, but are kept separately;
 *          a reader of a counter or a rate gets the sum of all.
 * Owns   : parts belong to the table_state that they were created for, and live as long.
 * Threads: parts are created and filled by one thread (the home of the section peers); any thread
 *          reads sums: one lookup per part.
 * Errors : out of memory, or TABLE_PARTS_MAX parts: no part; the counts of that peer are missing in
 *          the sum.
 * Manual : none, `sum` is an extension.
 */
#ifndef TABLE_PART_H
#define TABLE_PART_H

#include <stdbool.h>
#include <stdint.h>
#include "table/table.h"

#define TABLE_PARTS_MAX 64

struct table_part;

/* Returns the part of the peer <name>, reused or created. NULL: see above. */
struct table_part *table_part_of(struct table_state *st, const char *name);
/* The peer will not return under this name: its entries stay until they expire, then the part may
 * be reused for another peer.
 */
void table_part_leave(struct table_part *p);
/* Returns its entries, borrowed. */
struct table_state *table_part_state(const struct table_part *p);
/* Sets whether the peer is connected. Its momentary figures (conn_cur) are added only while it is.
 */
void table_part_set_up(struct table_part *p, bool up);
/* Can this data be added: a counter, a rate? */
bool table_data_adds(enum table_data d);
/* Reads an entry of <st> that the caller holds, like table_read(), plus the values of all parts;
 * rates of bytes are in bytes, whatever the table's bytes_factor.
 */
bool table_read_sum(struct table_state *st, struct table_entry *e, enum table_data d, unsigned i,
		    uint64_t *out);

#endif
