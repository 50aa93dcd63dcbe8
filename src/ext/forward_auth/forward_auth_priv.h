/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forward_auth_priv.h - the action forward-auth, for the files that read it, ask, and remember */
#ifndef SRC_EXT_FORWARD_AUTH_H
#define SRC_EXT_FORWARD_AUTH_H

#include "base/list.h"
#include "base/tree.h"
#include "http/msg.h"
#include "stream/action.h"

/* A list of names of fields, in lower case. */
struct fa_names {
	struct slice *list;
	unsigned count;
};

/* A field that is set in the question. */
struct fa_field {
	struct fa_field *next;
	struct slice name;
	struct rule_text value;
};

struct fa_action {
	const char *backend_name;
	struct proxy *backend;
	struct rule_text path;        /* constant "" and no format: the request's own target */
	bool has_path;
	struct slice method;
	bool pass_all;                /* all fields of the request but those that frame it */
	struct fa_names pass, copy;
	struct fa_field *fields;
	bool fail_open;
	struct rule_text key;         /* with <cache>: what a grant is remembered by */
	struct fa_cache *cache;       /* or NULL */
};

/* Fields that an answer gives to the request, as they lie in an arena or in a grant. */
struct fa_pair {
	struct slice name, value;
};
struct fa_pairs {
	struct fa_pair *list;
	unsigned count;
};

/* --- forward_auth_ask.c ----------------------------------------------------------------------- */

enum rule_result fa_run(const struct rule *r, struct expr_ctx *ctx, bool *first);

/* --- forward_auth_cache.c: grants that are still good ----------------------------------------- */

/* Belongs to <cfg>. NULL: no memory. */
struct fa_cache *fa_cache_new(struct config *cfg, int64_t ttl_ms, unsigned max);
/* Copies what was granted for <key> to <arena>. False: nothing is remembered. Any thread. */
bool fa_cache_find(struct fa_cache *c, struct slice key, struct arena *arena,
		   struct fa_pairs *out);
/* Remembers it; without memory it does not. The oldest leaves when there is no room. */
void fa_cache_add(struct fa_cache *c, struct slice key, const struct fa_pairs *pairs);
extern struct slot fa_cache_slot;

#endif
