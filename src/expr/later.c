/* SPDX-License-Identifier: GPL-2.0-or-later */
/* later.c - fetches and converters that wait for a part of the program that is not there yet
 *
 * Their error says what they wait for, instead of "unknown". They are in no table, so that dumps
 * and the manual do not show them. A row is removed when its words are implemented; a known word is
 * found first in any case.
 */
#include <string.h>
#include "expr_priv.h"

static const struct {
	const char *name; /* "sc_*": whatever begins so */
	const char *feature;
} later[] = {
	{ "internal.htx*", "HAProxy's own storage of messages (HTX), which is not there" },
	{ "lua.*", "Lua" },
	{ "quic_*", "QUIC" },
	{ "res.cache_*", "the cache" },
	{ "wt6", "a description of this hash, and none is public" },
};

const char *expr_later_feature(struct slice name)
{
	for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++) {
		size_t len = strcspn(later[i].name, "*");

		if (name.len < len || memcmp(name.ptr, later[i].name, len) != 0)
			continue;
		if (later[i].name[len] || name.len == len)
			return later[i].feature;
	}
	return NULL;
}
