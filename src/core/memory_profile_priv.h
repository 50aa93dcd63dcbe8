/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory_profile_priv.h - the figures of memory_profile.h as `show profiling memory` prints them
 *
 * A list is a sorted copy of the table, printed in steps. Its owner's thread only.
 */
#ifndef CORE_MEMORY_PROFILE_PRIV_H
#define CORE_MEMORY_PROFILE_PRIV_H

#include "base/strbuf.h"

enum memory_sorting { MEMORY_BY_BYTES, MEMORY_BY_ADDRESS };

struct memory_list;

/* The places that have figures; <aggregate>: those of one function are one. NULL: no memory. */
struct memory_list *memory_list_new(enum memory_sorting order, bool aggregate);
void memory_list_free(struct memory_list *list);
/* Prints on, at most <max> lines in all (<= 0: all), until <out> holds <soft> bytes. True: there is
 * more. <json>: as a member "memory" of an object.
 */
bool memory_list_print(struct memory_list *list, struct strbuf *out, size_t soft, long max,
		       bool json);

#endif
