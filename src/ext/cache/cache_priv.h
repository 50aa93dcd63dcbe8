/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache_priv.h - sections cache, for the files that read them, decide, keep, and serve */
#ifndef SRC_EXT_CACHE_H
#define SRC_EXT_CACHE_H

#include "base/list.h"
#include "base/slot.h"
#include "base/tree.h"
#include "conf/conf.h"
#include "http/msg.h"
#include "stream/filter.h"
#include "stream/rule.h"
#include "stream/service.h"

/* --- sections --------------------------------------------------------------------------------- */

struct cache_conf {
	struct cache_conf *next;
	const char *name, *file;
	int line;
	int64_t total_mb, max_age_s, max_secondary;
	uint64_t max_object;          /* 0: a 256th of the whole */
	bool process_vary;
	struct cache *cache;          /* counted; NULL before the generation starts */
};

struct cache_conf *cache_conf_find(const struct config *cfg, const char *name);
extern struct slot cache_config_slot; /* struct cache_conf *: the last one, then those before */

/* --- cache_decide.c: what RFC 9111 says of heads ---------------------------------------------- */

/* Encodings of contents, by their bits; those that have no bit are not kept. */
enum cache_encoding {
	CACHE_GZIP = 1 << 0, CACHE_DEFLATE = 1 << 1, CACHE_BR = 1 << 2, CACHE_COMPRESS = 1 << 3,
	CACHE_ZSTD = 1 << 4, CACHE_EXI = 1 << 5, CACHE_PACK200 = 1 << 6,
	CACHE_UNKNOWN = 1 << 7,
	CACHE_NOT_PLAIN = 1 << 8,     /* of requests: identity is refused */
	CACHE_ANY = 1 << 9,           /* of requests: all are welcome */
};

enum cache_vary { CACHE_VARY_ENCODING = 1, CACHE_VARY_REFERER = 2, CACHE_VARY_ORIGIN = 4 };

/* What answers vary by, of a request or of an answer. */
struct cache_second {
	uint8_t vary;                 /* of an answer: enum cache_vary */
	uint32_t encodings;           /* enum cache_encoding */
	uint64_t referer, origin;     /* hashes; 0: no such field */
	bool ambiguous;               /* of a request: one of these is there twice */
};

struct cache_request {
	bool is_get, is_head, is_unsafe; /* methods; unsafe: it may change what is kept */
	bool has_authorization;
	bool no_lookup, no_store;     /* it says so */
	struct cache_second second;
};

struct cache_answer {
	int64_t fresh_ms;             /* how long it may be given to others; 0: not at all */
	int64_t age_s;                /* how old it is already */
	struct cache_second second;
	bool vary_is_unknown;         /* by something else, or by everything */
};

void cache_look_at_request(const struct http_msg *m, struct cache_request *out);
/* <max_age_s>: the section's. */
void cache_look_at_answer(const struct http_msg *m, const struct cache_request *rq,
			  int64_t max_age_s, int64_t now_s, struct cache_answer *out);
/* May an answer that varied so be given to this request? */
bool cache_second_fits(const struct cache_second *answer, const struct cache_second *request);
/* Does the client have it already: 304? <etag>, <modified_s>: of the object; none, 0. */
bool cache_is_unchanged(const struct http_msg *request, struct slice etag, int64_t modified_s);
/* Fields that are of a connection, or made anew: they are not kept. */
bool cache_keeps_field(const struct http_msg *m, const struct h1_field *f);

/* --- cache_store.c: objects ------------------------------------------------------------------- */

struct cache;

struct cache_part {
	struct cache_part *next;
	size_t len, room;
	char data[];
};

struct cache_field {
	struct slice name, value;     /* in the object's text */
};

struct cache_object {
	struct tree_node node;        /* by hash */
	struct list lru;
	unsigned refs;                /* atomic */
	bool is_in;                   /* under its shard's lock: it can be found */
	struct slice key;             /* in <text> */
	struct cache_second second;
	uint64_t stored_ms, end_ms;
	int64_t age_s;                /* when it was stored */
	struct slice etag;            /* of <fields>; none */
	int64_t modified_s;           /* Last-Modified, else Date, else when it was stored */
	struct cache_field *fields;   /* owned */
	unsigned field_count;
	char *text;                   /* owned: key, names, values */
	size_t head_size;             /* bytes of that */
	struct cache_part *first, *last; /* owned */
	uint64_t len;                 /* bytes of the body */
};

/* <bytes> in all. NULL: no memory. Counted: once. */
struct cache *cache_new(const char *name, uint64_t bytes);
struct cache *cache_take(struct cache *c);
void cache_drop(struct cache **c);
uint64_t cache_size(const struct cache *c);
uint64_t cache_used(const struct cache *c);

/* A copy of the head <m> without a body, held once, in no cache. NULL: no memory. */
struct cache_object *cache_object_new(struct cache *c, struct slice key, const struct http_msg *m);
/* False: no memory. */
bool cache_object_add(struct cache_object *o, const char *bytes, size_t len);
struct cache_object *cache_object_take(struct cache_object *o);
void cache_object_drop(struct cache_object *o);
/* The one that fits, held; NULL: none. */
struct cache_object *cache_find(struct cache *c, struct slice key,
				const struct cache_second *request);
/* The object is whole: others can find it; one that stood for the same is replaced. Not more than
 * <max_secondary> of one key that vary.
 */
void cache_add(struct cache *c, struct cache_object *o, unsigned max_secondary);
/* Forgets all objects of a key. */
void cache_remove(struct cache *c, struct slice key);
/* Where a walk is; starts zeroed. */
struct cache_cursor {
	unsigned shard, nth;          /* nth: of those with the same hash */
	uint64_t hash;
};
/* The next object, held; NULL: that was all. */
struct cache_object *cache_walk(struct cache *c, struct cache_cursor *at);

/* --- cache_filter.c --------------------------------------------------------------------------- */

extern const struct filter_kind cache_filter_kinds[];
extern const struct service_kind cache_services[];
/* http-request cache-use, http-response cache-store */
struct cache_rule {
	const char *name;
	struct cache_conf *conf;
	const struct filter_conf *filter; /* of the rule's proxy */
};
enum rule_result cache_use_run(const struct rule *r, struct expr_ctx *ctx, bool *first);
enum rule_result cache_store_run(const struct rule *r, struct expr_ctx *ctx, bool *first);
/* What a line `filter cache`, or a rule, means to the filter. */
struct cache_filter {
	const char *name;
	struct cache_conf *conf;
	bool is_explicit;
};
/* The cache whose object answers this stream; NULL: none does. */
const struct cache_conf *cache_that_answers(const struct stream *s);

#endif
