/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory_profile_dump.c - the table of memory_profile.h for people */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "base/memory_profile.h"
#include "core/symbol.h"
#include "memory_profile_priv.h"

struct memory_list {
	struct memory_place *places; /* owned */
	unsigned count, room, at;
	bool begun;
};

/* --- gathering -------------------------------------------------------------------------------- */

/* Where the function begins that <at> is in; <at> itself where that is unknown. */
static const void *function_of(const void *at)
{
	Dl_info info;

	return dladdr(at, &info) && info.dli_saddr ? info.dli_saddr : at;
}

static bool list_add(struct memory_list *list, const struct memory_place *place)
{
	unsigned room = list->room ? 2 * list->room : 256;
	struct memory_place *more;

	if (list->count == list->room) {
		more = realloc(list->places, room * sizeof(*more));
		if (!more)
			return false;
		list->places = more;
		list->room = room;
	}
	list->places[list->count++] = *place;
	return true;
}

static int compare_bytes(const void *a, const void *b)
{
	const struct memory_place *l = a, *r = b;
	uint64_t left = l->alloc_bytes + l->free_bytes, right = r->alloc_bytes + r->free_bytes;

	return left > right ? -1 : left < right;
}

static int compare_address(const void *a, const void *b)
{
	const struct memory_place *l = a, *r = b;

	if (l->at != r->at)
		return l->at < r->at ? -1 : 1;
	return l->method < r->method ? -1 : l->method > r->method;
}

/* Adds up what has the same address and method; sorted by them. */
static void list_aggregate(struct memory_list *list)
{
	unsigned kept = 0;

	for (unsigned i = 1; i < list->count; i++) {
		struct memory_place *to = &list->places[kept];
		const struct memory_place *from = &list->places[i];

		if (compare_address(to, from) != 0) {
			list->places[++kept] = *from;
			continue;
		}
		to->allocs += from->allocs;
		to->frees += from->frees;
		to->alloc_bytes += from->alloc_bytes;
		to->free_bytes += from->free_bytes;
	}
	if (list->count)
		list->count = kept + 1;
}

struct memory_list *memory_list_new(enum memory_sorting order, bool aggregate)
{
	struct memory_list *list = calloc(1, sizeof(*list));
	struct memory_place place;

	for (unsigned i = 0; list && memory_profile_get(i, &place); i++) {
		if (!place.allocs && !place.frees)
			continue;
		if (aggregate && place.method != MEMORY_POOL)
			place.at = function_of(place.at);
		if (!list_add(list, &place)) {
			memory_list_free(list);
			return NULL;
		}
	}
	if (!list || !list->count)
		return list;
	qsort(list->places, list->count, sizeof(*list->places), compare_address);
	if (aggregate)
		list_aggregate(list);
	if (order == MEMORY_BY_BYTES)
		qsort(list->places, list->count, sizeof(*list->places), compare_bytes);
	return list;
}

void memory_list_free(struct memory_list *list)
{
	if (list)
		free(list->places);
	free(list);
}

/* --- printing --------------------------------------------------------------------------------- */

static void print_head(struct strbuf *out)
{
	uint64_t start, stop, now = clock_read_ns();

	memory_profile_get_period(&start, &stop);
	strbuf_printf(out, "Memory activity over %.3f sec till %.3f sec ago:\n",
		      start ? (double)((stop ? stop : now) - start) / 1e9 : 0.0,
		      stop ? (double)(now - stop) / 1e9 : 0.0);
	strbuf_add_str(out, "      allocs      frees    alloc_bytes     free_bytes"
		       "         growth  place\n");
}

static void print_figures(struct strbuf *out, const struct memory_place *p)
{
	strbuf_printf(out, "  %10llu %10llu %14llu %14llu %14lld  ", (unsigned long long)p->allocs,
		      (unsigned long long)p->frees, (unsigned long long)p->alloc_bytes,
		      (unsigned long long)p->free_bytes,
		      (long long)(p->alloc_bytes - p->free_bytes));
}

/* "function+0x1c", or where in which file, as addr2line takes it. */
static void print_address(struct strbuf *out, const void *at)
{
	const char *name;
	Dl_info info;

	if (!dladdr(at, &info) || info.dli_sname || !info.dli_fname) {
		symbol_add_name(out, at);
		return;
	}
	name = strrchr(info.dli_fname, '/');
	strbuf_printf(out, "%s+%#tx", name ? name + 1 : info.dli_fname,
		      (const char *)at - (const char *)info.dli_fbase);
}

static void print_name(struct strbuf *out, const struct memory_place *p)
{
	static const char *const methods[] = {
		[MEMORY_MALLOC] = "malloc", [MEMORY_CALLOC] = "calloc",
		[MEMORY_REALLOC] = "realloc", [MEMORY_FREE] = "free", [MEMORY_ALIGNED] = "memalign",
	};

	if (p->method == MEMORY_POOL) {
		strbuf_printf(out, "pool %s", (const char *)p->at);
	} else if (!p->at) {
		strbuf_add_str(out, "other");
	} else {
		print_address(out, p->at);
		strbuf_printf(out, " %s", methods[p->method] ? methods[p->method] : "");
	}
}

static void print_place(struct strbuf *out, const struct memory_place *p)
{
	print_figures(out, p);
	print_name(out, p);
	strbuf_add_char(out, '\n');
}

/* Names of functions, files and pools have nothing that JSON would mistake. */
static void print_json(struct strbuf *out, const struct memory_place *p, bool first)
{
	strbuf_printf(out, "%s{\"place\":\"", first ? "" : ",");
	print_name(out, p);
	strbuf_printf(out, "\",\"allocs\":%llu,\"frees\":%llu,\"alloc_bytes\":%llu,"
		      "\"free_bytes\":%llu}", (unsigned long long)p->allocs,
		      (unsigned long long)p->frees, (unsigned long long)p->alloc_bytes,
		      (unsigned long long)p->free_bytes);
}

static void print_total(struct strbuf *out, const struct memory_list *list)
{
	struct memory_place sum = { 0 };

	for (unsigned i = 0; i < list->count; i++) {
		sum.allocs += list->places[i].allocs;
		sum.frees += list->places[i].frees;
		sum.alloc_bytes += list->places[i].alloc_bytes;
		sum.free_bytes += list->places[i].free_bytes;
	}
	print_figures(out, &sum);
	strbuf_printf(out, "total of %u places\n", list->count);
}

bool memory_list_print(struct memory_list *list, struct strbuf *out, size_t soft, long max,
		       bool json)
{
	unsigned end = max > 0 && max < (long)list->count ? (unsigned)max : list->count;

	if (!list->begun && json)
		strbuf_add_str(out, "\"memory\":[");
	else if (!list->begun)
		print_head(out);
	list->begun = true;
	for (; list->at < end; list->at++) {
		if (out->len >= soft)
			return true;
		if (json)
			print_json(out, &list->places[list->at], list->at == 0);
		else
			print_place(out, &list->places[list->at]);
	}
	if (json)
		strbuf_add_char(out, ']');
	else
		print_total(out, list);
	return false;
}
