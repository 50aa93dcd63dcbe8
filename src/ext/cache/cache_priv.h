/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache_priv.h - sections `cache`, for the files that parse them, decide, store, and serve
 *
 * A request that the rule `cache-use` handles goes one of these ways (brackets: extensions, which a
 * section has to enable; without them a cache behaves as the reference's):
 *
 *   fresh object      it is the answer: a service instead of a server (cache_give.c)
 *   stale object      [`revalidate`] the request is sent with its validators; on "304" it gets a
 *                     new head and is the answer (cache_filter.c, instead())
 *                     [`stale-while-revalidate`] meanwhile it is the answer to all others
 *                     [`stale-if-error`] it is the answer when servers fail
 *   none              the request is sent. [`collapse-requests`] others for the same object wait
 *                     until it is stored or known not to be (cache_fill.c)
 *                     [`early-hints`] links of the last answer are sent first (cache_hints.c)
 *
 * A cache obeys the same fields of answers as the reference; with `rfc9111 on` it obeys all of RFC
 * 9111: any status, every field of Vary, no-cache and answers stale on arrival stored for
 * validation, heuristic freshness, request directives, invalidation by Location (cache_rfc.c).
 *
 * Owns   : references from a generation's sections are counted, because an in-process reload passes
 *          the caches on; objects are counted: the cache, streams and blocks being sent hold them.
 * Threads: objects are immutable once they can be found, except <refreshed_until_ms> and
 *          <failing_until_ms> (atomic). Everything else of a cache is under its shard's lock.
 * Units  : ms of the monotonic clock; s of the wall clock where heads have dates.
 * Manual : configuration 6; RFC 9111, RFC 5861 (stale), RFC 9110 14 (ranges).
 */
#ifndef SRC_EXT_CACHE_H
#define SRC_EXT_CACHE_H

#include "base/clock.h"
#include "base/list.h"
#include "base/slot.h"
#include "base/tree.h"
#include "conf/conf.h"
#include "http/msg.h"
#include "stream/action.h"
#include "stream/filter.h"
#include "stream/rule.h"
#include "stream/service.h"

/* --- sections --------------------------------------------------------------------------------- */

struct cache_conf {
	struct cache_conf *next;
	const char *name, *file;
	int line;
	int64_t total_mb, max_age_s, max_secondary;
	uint64_t max_object;          /* 0: a 256th of the total */
	bool process_vary;
	/* extensions; 0, false: disabled */
	int64_t revalidate_s;         /* how long stale objects are kept for validation */
	int64_t stale_revalidate_s, stale_error_s;
	int64_t collapse_ms;          /* longest wait for another request's answer */
	bool ranges, rfc9111;
	enum cache_hints { CACHE_HINTS_OFF, CACHE_HINTS_ON, CACHE_HINTS_ONLY } hints;
	bool hints_http1;             /* to HTTP/1.1 clients, too */
	int64_t hints_age_s;
	bool keeps_compressed;        /* there is a filter cache-compressed */
	const char *tag_field;        /* a field of answers, with words to remove them by; NULL */
	struct cache *cache;          /* counted; NULL before the generation starts */
};

struct cache_state;

/* Returns the largest object size of the section, bytes. */
static inline uint64_t cache_max_object(const struct cache_conf *c)
{
	return c->max_object ? c->max_object : (uint64_t)c->total_mb << 12;
}

struct cache_conf *cache_conf_find(const struct config *cfg, const char *name);
extern struct slot cache_config_slot; /* struct cache_conf *: the last one, then those before */

/* --- cache_decide.c: RFC 9111 applied to heads ----------------------------------------------- */

/* Content codings, as bits; answers with codings that have no bit are not stored. */
enum cache_encoding {
	CACHE_GZIP = 1 << 0, CACHE_DEFLATE = 1 << 1, CACHE_BR = 1 << 2, CACHE_COMPRESS = 1 << 3,
	CACHE_ZSTD = 1 << 4, CACHE_EXI = 1 << 5, CACHE_PACK200 = 1 << 6,
	CACHE_UNKNOWN = 1 << 7,
	CACHE_NOT_PLAIN = 1 << 8,     /* of requests: identity is refused */
	CACHE_ANY = 1 << 9,           /* of requests: all are accepted */
};

enum cache_vary { CACHE_VARY_ENCODING = 1, CACHE_VARY_REFERER = 2, CACHE_VARY_ORIGIN = 4,
		  CACHE_VARY_OTHERS = 8, /* any field: rfc9111 */
		  CACHE_VARY_OURS = 16 /* encoded by us: not for clients that name no coding */ };

/* The secondary key of a request or of an answer. */
struct cache_second {
	uint8_t vary;                 /* of an answer: enum cache_vary */
	uint32_t encodings;           /* enum cache_encoding */
	uint64_t referer, origin;     /* hashes; 0: no such field */
	bool ambiguous;               /* of a request: one of these fields occurs twice */
	const struct http_msg *fields; /* of a request: its head, borrowed */
	/* of an answer: field names, separated by commas, and the hash of the request's values of
	 * them
	 */
	struct slice others;
	uint64_t others_hash;
};

struct cache_request {
	bool is_get, is_head, is_unsafe; /* methods; unsafe: it may change stored objects */
	bool has_authorization;
	bool no_lookup, no_store;     /* it has such a directive */
	bool has_condition;           /* If-None-Match, If-Modified-Since */
	bool only_if_cached;          /* these: only with rfc9111 */
	int64_t max_age_s, min_fresh_s, max_stale_s; /* -1: none */
	struct cache_second second;
};

struct cache_answer {
	int64_t fresh_ms;             /* how long it may be given to others; 0: not at all */
	int64_t age_s;                /* its age on arrival */
	bool never_stale;             /* it must not be given when stale */
	bool for_authorized;          /* also for requests with Authorization */
	bool may_be_validated;        /* rfc9111: may be stored without being fresh */
	bool may_hint;                /* nothing in it is secret: its links may be sent to others */
	int64_t stale_revalidate_s, stale_error_s; /* RFC 5861; -1: none */
	struct cache_second second;
	bool vary_is_unknown;         /* it varies by something else, or by everything */
};

void cache_look_at_request(const struct http_msg *m, const struct cache_conf *c,
			   struct cache_request *out);
/* Texts of <out> are in the message's arena. */
void cache_look_at_answer(const struct http_msg *m, const struct cache_request *rq,
			  const struct cache_conf *c, int64_t now_s, struct cache_answer *out);
/* Returns seconds; 0 if it is not a number. */
int64_t cache_seconds_of(struct slice text);
/* Returns the codings of an answer's body. */
uint32_t cache_encodings_of(const struct http_msg *m);
/* Returns true if an answer with this secondary key may be given to this request. */
bool cache_second_fits(const struct cache_second *answer, const struct cache_second *request);
/* Returns true if the client already has the object: 304. <etag>, <modified_s>: the object's; none,
 * 0.
 */
bool cache_is_unchanged(const struct http_msg *request, struct slice etag, int64_t modified_s);
/* Returns an entity-tag without its weakness mark. */
struct slice cache_tag(struct slice tag);
/* A range of bytes that a request asks for (RFC 9110 14). */
enum cache_range { CACHE_WHOLE, CACHE_PART, CACHE_OUTSIDE };
/* Finds the byte range that a request wants. CACHE_PART: of the <len> bytes of an object, <*from>
 * to <*to>, which lie inside. CACHE_OUTSIDE: there are no such bytes. CACHE_WHOLE: the request has
 * no range, more than one, other units, or If-Range names another object.
 */
enum cache_range cache_range_of(const struct http_msg *request, struct slice etag,
				int64_t modified_s, uint64_t len, uint64_t *from, uint64_t *to);
/* Returns the first element of a Link field, without blanks around it, and removes it from <rest>.
 */
struct slice cache_link_next(struct slice *rest);
/* Returns true if a client can use the link before it has the answer: `rel` has a word like preload
 * or preconnect.
 */
bool cache_link_is_hint(struct slice link);
/* Returns false for fields that belong to a connection or are made again: they are not stored. */
bool cache_keeps_field(const struct http_msg *m, const struct h1_field *f);

/* --- cache_object.c: stored answers ---------------------------------------------------------- */

struct cache_part {
	struct cache_part *next;
	uint32_t len, room;
	char data[];
};

/* Counted by the heads that use it. */
struct cache_body {
	unsigned refs;                /* atomic */
	struct cache_part *last;      /* NULL: the first one */
	uint64_t len;                 /* bytes */
	uint64_t room;                /* bytes of memory besides this struct */
	struct cache_part first;      /* the others are owned */
};

/* In the object's text: "name: value\r\n", as it is sent, after the previous one. */
struct cache_field {
	uint32_t value_len;
	uint16_t name_len;
	uint8_t id;                   /* of the name */
};

#define CACHE_NO_FIELD UINT16_MAX
#define CACHE_HINTS_STATUS 103

/* One allocation with its struct cache_second, if it varies, its fields and its text: key, lines of
 * the fields, names that it varies by. There may be millions of objects: the members are as small
 * as possible.
 */
struct cache_object {
	struct tree_node node;        /* by hash */
	struct list lru;
	unsigned refs;                /* atomic */
	bool is_in;                   /* can be found; under its shard's lock */
	bool varies;
	bool never_stale, for_authorized; /* from struct cache_answer */
	uint16_t status;
	uint16_t field_count;
	uint16_t etag, last_modified; /* the indexes of these fields; CACHE_NO_FIELD */
	uint16_t tags;                /* the field of tags-from; likewise */
	uint32_t key_len;
	uint32_t head_size;           /* bytes of memory without the body */
	/* how long after <end_ms> it may be given stale: while another request revalidates it; when
	 * servers fail
	 */
	uint32_t stale_s, error_s;
	uint32_t kept_s;              /* how long it can be found, stale or not */
	uint32_t age_s;               /* when it was stored */
	uint32_t serial;              /* in its shard: the order of arrival */
	uint64_t stored_ms, end_ms;   /* end: it is stale from this time on */
	uint64_t refreshed_until_ms;  /* atomic: a request revalidates it until then; 0: none */
	uint64_t failing_until_ms;    /* atomic: until then servers count as failing */
	int64_t modified_s;           /* Last-Modified, else Date, else when it was stored */
	struct cache_body *body;      /* counted */
};

extern const struct cache_second cache_no_second;

static inline const struct cache_second *cache_second_of(const struct cache_object *o)
{
	return o->varies ? (const struct cache_second *)(const void *)(o + 1) : &cache_no_second;
}

/* Returns true for an object that holds links, stored beside the answer's object. */
static inline bool cache_is_hints(const struct cache_object *o)
{
	return o->status == CACHE_HINTS_STATUS;
}

static inline struct cache_field *cache_fields_of(const struct cache_object *o)
{
	return (struct cache_field *)((uintptr_t)(o + 1) +
				      (o->varies ? sizeof(struct cache_second) : 0));
}

static inline char *cache_text_of(const struct cache_object *o)
{
	return (char *)(cache_fields_of(o) + o->field_count);
}

static inline struct slice cache_key_of(const struct cache_object *o)
{
	return slice_make(cache_text_of(o), o->key_len);
}

/* Returns the start of a field's line. */
static inline const char *cache_line_of(const struct cache_object *o, unsigned i)
{
	const struct cache_field *f = cache_fields_of(o);
	const char *at = cache_text_of(o) + o->key_len;

	for (const struct cache_field *end = f + i; f < end; f++)
		at += f->name_len + 4U + f->value_len;
	return at;
}

static inline struct slice cache_name_of(const struct cache_object *o, unsigned i)
{
	return slice_make(cache_line_of(o, i), cache_fields_of(o)[i].name_len);
}

/* Returns the value of a field; slice_none() for CACHE_NO_FIELD. */
static inline struct slice cache_value_of(const struct cache_object *o, unsigned i)
{
	const struct cache_field *f = cache_fields_of(o) + i;

	return i == CACHE_NO_FIELD ? slice_none()
		: slice_make(cache_line_of(o, i) + f->name_len + 2, f->value_len);
}

/* Returns a copy of the head <m>, held once, in no cache, with a body of its own or with <body>,
 * which it counts. It becomes stale as <a> says, counted from now. Returns NULL: no memory.
 */
struct cache_object *cache_object_new(struct slice key, const struct http_msg *m,
				      struct cache_body *body, const struct cache_answer *a,
				      const struct cache_conf *c);
/* Appends all of <in> to the body, leaving <in> as it is. Returns false: no memory, or more than
 * <max_len>.
 */
bool cache_object_keep(struct cache_object *o, const struct block_queue *in, uint64_t max_len);
/* Called when the body is complete: frees unused memory. */
void cache_object_shrink(struct cache_object *o);
struct cache_object *cache_object_take(struct cache_object *o);
void cache_object_drop(struct cache_object *o);
/* Returns the bytes of memory, including the body's. */
uint64_t cache_object_size(const struct cache_object *o);
/* Returns true if <word> is one of its tags. */
bool cache_object_has_tag(const struct cache_object *o, struct slice word);
/* Returns the bytes of the part at <*at> from <*skip> on, and moves on to the next part, with
 * <*skip> 0. Returns slice_none() at the end.
 */
struct slice cache_body_next(const struct cache_part **at, uint64_t *skip);

/* --- cache_rfc.c: parts of RFC 9111 that the reference omits --------------------------------- */

/* Notes one more field that the answer varies by. Returns false: no memory, or "*". */
bool cache_vary_note(const struct http_msg *m, struct slice name, struct cache_second *out);
/* Returns a hash of the request's values of these fields. */
uint64_t cache_vary_hash(const struct http_msg *request, struct slice others);
/* Returns a copy, in the request's arena, of its fields, which later rules may edit; NULL: no
 * memory. Freed by http_msg_fini().
 */
struct http_msg *cache_fields_copy(const struct http_msg *request);
/* Reads a request directive into <rq>. Returns false: not one of those known here. */
bool cache_wish_take(struct cache_request *rq, struct slice name, struct slice value);
/* Returns true if the age limits of this request allow <o>, which is fresh. */
bool cache_is_fresh_for(const struct cache_object *o, const struct cache_request *rq);
/* Returns the heuristic freshness of an answer without explicit freshness, in seconds, from
 * Last-Modified; 0: none.
 */
int64_t cache_heuristic_s(const struct http_msg *m, bool is_public, int64_t now_s);
/* Returns the apparent age from Date, seconds; 0: none. */
int64_t cache_apparent_age_s(const struct http_msg *m, int64_t now_s);
/* Called when an unsafe request for <key> has succeeded: removes the objects its answer names, too.
 */
void cache_forget_named(struct cache *c, struct slice key, const struct http_msg *answer);

/* --- cache_store.c: finding objects by key --------------------------------------------------- */

struct cache;

/* Returns a new cache of <bytes> in total, counted once. Returns NULL: no memory. */
struct cache *cache_new(const char *name, uint64_t bytes);
struct cache *cache_take(struct cache *c);
void cache_drop(struct cache **c);
uint64_t cache_size(const struct cache *c);
uint64_t cache_used(const struct cache *c);

/* Returns the object that fits, held, which may be stale; NULL: none. */
struct cache_object *cache_find(struct cache *c, struct slice key,
				const struct cache_second *request);
/* Does the same for links; ignores those that are too old. */
struct cache_object *cache_find_hints(struct cache *c, struct slice key,
				      const struct cache_second *request);
/* Called when the object is complete: makes it visible to others, replacing one with the same keys.
 * Keeps at most <max_secondary> varying objects of one key.
 */
void cache_add(struct cache *c, struct cache_object *o, unsigned max_secondary);
/* Remove all objects of a key; this object, if it is still there. Return the number removed. */
unsigned cache_remove(struct cache *c, struct slice key);
unsigned cache_remove_object(struct cache *c, struct cache_object *o);
/* A position in a walk: after this object, which may be gone; starts zeroed. */
struct cache_cursor {
	unsigned shard;
	uint32_t serial;
	bool begun;                   /* there is an object of this shard */
	uint64_t hash;
};
/* Returns the next object, held; NULL at the end. An object that stays there for the whole walk is
 * returned once, whatever is added or removed meanwhile.
 */
struct cache_object *cache_walk(struct cache *c, struct cache_cursor *at);

/* --- cache_purge.c: removing objects --------------------------------------------------------- */

enum cache_purge_by { CACHE_PURGE_ALL, CACHE_PURGE_URL, CACHE_PURGE_PREFIX, CACHE_PURGE_TAG };

struct cache_purge {
	enum cache_purge_by by;
	struct slice text;            /* a URL, its prefix, a word; borrowed */
	struct cache_cursor cursor;   /* starts zeroed, as do the other members */
	uint64_t count;               /* number of objects removed */
};

/* Parses "url", "prefix", "tag". Returns false: something else. */
bool cache_purge_by(const char *word, enum cache_purge_by *out);
/* Examines some more objects and removes those that match. Returns true at the end. */
bool cache_purge_step(struct cache *c, struct cache_purge *p);

/* --- cache_fill.c: one request for many ------------------------------------------------------- */

/* A fetch that other requests wait for. */
struct cache_fill;
struct cache_fills;

enum cache_join {
	CACHE_LEADS,   /* no other stream fetches it: the caller does, and calls cache_fill_end() */
	/* another stream does: this one is woken when that is over, or in <wait_ms> */
	CACHE_JOINED,
	/* it was not stored last time, or no memory: each request goes to the server */
	CACHE_PASSES,
};
enum cache_fill_result {
	CACHE_FILLED,   /* the answer is in the cache */
	CACHE_NOT_KEPT, /* the answer is not stored: no stream waits for the next ones */
	CACHE_GIVEN_UP, /* there was no answer: one of the waiters may try */
};

struct cache_waiter;

/* One per cache. Returns NULL: no memory. */
struct cache_fills *cache_fills_new(void);
void cache_fills_free(struct cache_fills *all);
/* Called when <s> has missed <key>, which hashes to <hash>. CACHE_LEADS: *fill belongs to the
 * caller. CACHE_JOINED: *waiter belongs to the stream, which returns RULE_WAIT until
 * cache_waiter_is_over(); it is set to NULL when the stream ends before that. <waiter> must live as
 * long as the stream.
 */
enum cache_join cache_fill_join(struct cache_fills *all, struct stream *s, struct slice key,
				uint64_t hash, int64_t wait_ms, struct cache_fill **fill,
				struct cache_waiter **waiter);
/* Any thread. */
void cache_fill_end(struct cache_fill *fill, enum cache_fill_result r);
bool cache_waiter_is_over(const struct cache_waiter *w);
/* Returns true if the wait ended because of <wait_ms>. */
bool cache_waiter_is_late(const struct cache_waiter *w);
/* Frees the waiter. Only when it is over. */
void cache_waiter_free(struct cache_waiter *w);
/* Returns the fills of a cache. */
struct cache_fills *cache_fills_of(struct cache *c);
uint64_t cache_hash(const struct cache *c, struct slice key);

/* --- cache_hints.c: links sent before the answer --------------------------------------------- */

/* Called for an answer from a server with the head <m>: its links replace the stored ones. <rq>,
 * <a>: what was found in request and answer.
 */
void cache_hints_look(const struct cache_conf *c, struct slice key, const struct http_msg *m,
		      const struct cache_request *rq, const struct cache_answer *a);
/* Called when the request with the key st->key goes to a server: sends a 103 if there are links,
 * once.
 */
void cache_hints_send(struct stream *s, struct cache_state *st, const struct cache_conf *c);

/* --- cache_give.c ----------------------------------------------------------------------------- */

/* The argument of the service of a hit; in the stream's arena. */
struct cache_hit {
	struct cache_object *object;  /* held by the filter's state; NULL: none, answers 504 */
	bool ranges, is_conditional;  /* the request may get a part, or none, of it */
};

extern const struct service_kind cache_services[];

/* --- the state of the filter in a stream ----------------------------------------------------- */

struct cache_state {
	struct slice key;              /* in the arena; slice_none(): cache-use did not run */
	struct cache_request request;
	struct cache_hit hit;          /* its object, held, is the answer */
	struct cache_object *stale;    /* held: used until the server has answered */
	struct cache_object *hints;    /* held: its links were sent */
	struct cache_object *storing;  /* held: the object being filled */
	struct cache_fill *fill;       /* others wait for the answer of this request */
	struct cache_waiter *waiter;   /* this request waits */
	struct proxy *proxy;           /* the one whose rule cache-use ran */
	uint64_t max_len;
	bool answers;                  /* the hit is, or was, the answer */
	bool asks;                     /* the request carries the validators of <stale> */
	struct slice tags, since;      /* the client's own conditions; slice_none(): none */
	bool is_refreshing;            /* others are given <stale> meanwhile */
	struct http_msg *asked;        /* rfc9111: the request's fields at cache-use; or NULL */
};

/* The configuration of the filter, from a line `filter cache` or a rule. */
struct cache_filter {
	const char *name;
	struct cache_conf *conf;
	bool is_explicit;
};

static inline const struct cache_filter *cache_filter_data(const struct filter *f)
{
	return f->conf->data;
}

static inline int64_t cache_wall_s(void)
{
	return (int64_t)(clock_wall_us() / 1000000);
}

/* --- cache_stale.c ---------------------------------------------------------------------------- */

/* Called when the head <m> of the request is sent: adds the validators of the stale object. */
void cache_ask(struct cache_state *st, struct http_msg *m);
/* For struct filter_kind: answers with the stale object if it is current or servers fail. */
const struct service_kind *cache_instead(struct filter *f, unsigned status, bool is_servers,
					 const void **arg);

/* --- cache_filter.c --------------------------------------------------------------------------- */

extern const struct filter_kind cache_filter_kinds[];
/* Compressed answers cannot be stored for others: checks that no such filter of <px> stands before
 * <mine>, a cache filter. Returns false: reported.
 */
bool cache_order_is_good(const struct proxy *px, const struct filter_conf *mine,
			 struct diag_list *diags);
/* http-request cache-use, cache-purge, http-response cache-store */
struct cache_rule {
	const char *name;
	struct cache_conf *conf;
	const struct filter_conf *filter; /* of the rule's proxy */
	enum cache_purge_by purge_by;     /* of cache-purge; ALL: the URL of the request */
	struct rule_text purge_text;
};
enum rule_result cache_use_run(const struct rule *r, struct expr_ctx *ctx, bool *first);
enum rule_result cache_purge_run(const struct rule *r, struct expr_ctx *ctx, bool *first);
enum rule_result cache_store_run(const struct rule *r, struct expr_ctx *ctx, bool *first);
/* Returns "https://host/path?query" of the request, in the stream's arena; slice_none(): none. */
struct slice cache_request_key(struct stream *s);
/* Makes <o>, held, the answer. */
void cache_hit(struct stream *s, struct cache_state *st, struct cache_object *o, bool ranges);
/* Returns true if an answer with the head <m> is stored. */
bool cache_may_store(const struct cache_conf *c, const struct http_msg *m,
		     const struct cache_answer *a);
/* Returns the cache whose object answers this stream; NULL: none. */
const struct cache_conf *cache_that_answers(const struct stream *s);

#endif
