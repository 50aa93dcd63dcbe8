/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory_profile_priv.h - prints the figures of memory_profile.h for `show profiling memory`
 *
 * A list is a sorted copy of the table, printed in steps. Its owner's thread only.
 */
#ifndef CORE_MEMORY_PROFILE_PRIV_H
#define CORE_MEMORY_PROFILE_PRIV_H

#include "base/strbuf.h"

enum memory_sorting { MEMORY_BY_BYTES, MEMORY_BY_ADDRESS };

struct memory_list;

/* Lists the places that have figures; <aggregate>: places of one function are merged. NULL: out of
 * memory.
 */
struct memory_list *memory_list_new(enum memory_sorting order, bool aggregate);
void memory_list_free(struct memory_list *list);
/* Continues printing, at most <max> lines in all (<= 0: all), until <out> has <soft> bytes. True:
 * there is more. <json>: as a member "memory" of an object.
 */
bool memory_list_print(struct memory_list *list, struct strbuf *out, size_t soft, long max,
		       bool json);

#endif
