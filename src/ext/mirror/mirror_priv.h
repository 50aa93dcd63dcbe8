/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mirror_priv.h - the action mirror, for the files that parse it, copy requests, and show it */
#ifndef SRC_EXT_MIRROR_H
#define SRC_EXT_MIRROR_H

#include "core/counter.h"
#include "stream/action.h"
#include "stream/filter.h"

/* X(name, column of `show mirror`) */
#define MIRROR_COUNTS(X) \
	X(SEEN, "requests") X(RUNNING, "running") X(STARTED, "copied") X(ANSWERED, "answered") \
	X(ERRORS, "errors") X(CUT, "cut") X(BUSY, "dropped_busy") X(SLOW, "dropped_slow") \
	X(MEMORY, "dropped_memory")
#define X(name, column) MIRROR_##name,
enum mirror_count { MIRROR_COUNTS(X) MIRROR_COUNT };
#undef X

/* A mirror rule, in its generation's arena. */
struct mirror_rule {
	struct mirror_rule *next;     /* of the generation, in the order of the file */
	const struct rule *rule;
	const char *backend_name;
	struct proxy *backend;
	const struct filter_conf *filter;
	uint64_t sample;              /* fraction of requests, of 2^32 */
	int64_t max;                  /* concurrent copies */
	uint64_t buffer;              /* bytes of a body that may be buffered */
	struct counter_set counts;
};

struct mirror_rules {
	struct mirror_rule *first, **last;
};

/* --- mirror_copy.c */

extern const struct filter_kind mirror_filter;
enum rule_result mirror_run(const struct rule *r, struct expr_ctx *ctx, bool *first);

#endif
