/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pool_opt.c - the argument of -dM */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/slice.h"
#include "core/pool.h"
#include "pool_priv.h"

static const struct pool_option {
	unsigned flag;
	const char *set, *clear, *help;
} pool_options[] = {
	{ POOL_FAIL, "fail", "no-fail", "make some allocations fail" },
	{ POOL_NO_MERGE, "no-merge", "merge", "one pool per name, even of same sizes" },
	{ POOL_COLD, "cold-first", "hot-first", "reuse the oldest objects first" },
	{ POOL_INTEGRITY, "integrity", "no-integrity", "check that free objects do not change" },
	{ POOL_NO_GLOBAL, "no-global", "global", "threads do not share free objects" },
	{ POOL_NO_CACHE, "no-cache", "cache", "every object comes from the C library" },
	{ POOL_CALLER, "caller", "no-caller", "note the callers that took or freed an object" },
	{ POOL_TAG, "tag", "no-tag", "detect writes past the end of objects" },
	{ POOL_POISON, "poison", "no-poison", "fill new objects with a byte" },
	{ POOL_UAF, "uaf", "no-uaf", "freed objects become unreadable (slow)" },
	{ POOL_BACKUP, "backup", "no-backup", "keep a copy of free objects, and compare" },
};

static char message_text[2048];

static void pool_options_help(void)
{
	size_t len = (size_t)snprintf(message_text, sizeof(message_text),
		"-dM alone fills new objects with the byte 0x50; a number right behind it is "
		"another\n"
		"byte. Then a comma and options, separated by commas ('*' marks what is in "
		"use):\n\n"
		"    set               clear            description\n"
		"  "
		"-----------------+-----------------+-----------------------------------------\n");

	for (size_t i = 0; i < sizeof(pool_options) / sizeof(pool_options[0]); i++) {
		const struct pool_option *o = &pool_options[i];
		bool on = pool_flags & o->flag;

		len += (size_t)snprintf(message_text + len, sizeof(message_text) - len,
			"  %c %-14s |%c %-15s | %s\n", on ? '*' : ' ', o->set,
			on ? ' ' : '*', o->clear, o->help);
	}
	snprintf(message_text + len, sizeof(message_text) - len,
		 "  "
		 "-----------------+-----------------+-----------------------------------------\n");
}

/* Sets or clears what <word> names. */
static bool pool_option_apply(struct slice word)
{
	for (size_t i = 0; i < sizeof(pool_options) / sizeof(pool_options[0]); i++) {
		const struct pool_option *o = &pool_options[i];

		if (slice_eq(word, slice_of(o->set))) {
			pool_flags |= o->flag;
			if (o->flag == POOL_FAIL)
				pool_set_fail_percent(1);
			if (o->flag == POOL_UAF)
				pool_flags |= POOL_NO_CACHE;
			return true;
		}
		if (slice_eq(word, slice_of(o->clear))) {
			pool_flags &= ~o->flag;
			return true;
		}
	}
	return false;
}

bool pool_set_options(const char *text, const char **message)
{
	char *end = NULL;

	*message = message_text;
	if (!*text || ascii_is_digit(*text)) {
		pool_flags |= POOL_POISON;
		if (*text)
			pool_poison = (unsigned char)strtoul(text, &end, 0);
		text = end ? end : text;
		if (*text == ',')
			text++;
	}
	while (*text) {
		struct slice word = slice_make(text, strcspn(text, ","));

		if (slice_eq(word, SLICE("help"))) {
			pool_options_help();
			return false;
		}
		if (!pool_option_apply(word)) {
			snprintf(message_text, sizeof(message_text),
				 "unknown memory debugging option '%.*s' (try 'help')\n",
				 SLICE_FMT(word));
			return false;
		}
		text += word.len;
		text += *text == ',';
	}
	return true;
}
