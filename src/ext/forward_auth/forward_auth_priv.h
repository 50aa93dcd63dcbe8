/* SPDX-License-Identifier: GPL-2.0-or-later */
/* forward_auth_priv.h - the action forward-auth, for the files that parse it, ask, and cache */
#ifndef SRC_EXT_FORWARD_AUTH_H
#define SRC_EXT_FORWARD_AUTH_H

#include "base/list.h"
#include "base/tree.h"
#include "http/msg.h"
#include "stream/action.h"

/* A list of field names in lower case. */
struct fa_names {
	struct slice *list;
	unsigned count;
};

/* A field that is set in the authorization request. */
struct fa_field {
	struct fa_field *next;
	struct slice name;
	struct rule_text value;
};

struct fa_action {
	const char *backend_name;
	struct proxy *backend;
	/* constant "" and no format: the target of the client's request */
	struct rule_text path;
	bool has_path;
	struct slice method;
	bool pass_all;                /* all fields of the request except those for framing */
	struct fa_names pass, copy;
	struct fa_field *fields;
	bool fail_open;
	struct rule_text key;         /* with <cache>: the key of a grant */
	struct fa_cache *cache;       /* or NULL */
};

/* Fields of an answer to be copied to the request, in an arena or in a grant. */
struct fa_pair {
	struct slice name, value;
};
struct fa_pairs {
	struct fa_pair *list;
	unsigned count;
};

/* --- forward_auth_ask.c ----------------------------------------------------------------------- */

enum rule_result fa_run(const struct rule *r, struct expr_ctx *ctx, bool *first);

/* --- forward_auth_cache.c: grants that are still valid ---------------------------------------- */

/* Returns a new cache that belongs to <cfg>. Returns NULL: no memory. */
struct fa_cache *fa_cache_new(struct config *cfg, int64_t ttl_ms, unsigned max);
/* Copies the grant for <key> to <arena>. Returns false: there is none. Any thread. */
bool fa_cache_find(struct fa_cache *c, struct slice key, struct arena *arena,
		   struct fa_pairs *out);
/* Stores a grant, unless there is no memory. Removes the oldest one when the cache is full. */
void fa_cache_add(struct fa_cache *c, struct slice key, const struct fa_pairs *pairs);
extern struct slot fa_cache_slot;

#endif
