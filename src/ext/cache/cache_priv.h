/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache_priv.h - sections cache, for the files that read them, decide, keep, and serve
 *
 * A request that rule `cache-use` sees goes one of these ways (what is in brackets are extensions,
 * which a section asks for; without them a cache is that of the reference):
 *
 *   fresh object      it answers: a service in a server's place (cache_give.c)
 *   stale object      [`revalidate`] the request goes on with its validators; "304" makes a new
 *                     head of it, which answers (cache_filter.c, instead())
 *                     [`stale-while-revalidate`] meanwhile it answers all others
 *                     [`stale-if-error`] it answers when servers fail
 *   none              the request goes on. [`collapse-requests`] others for the same wait for
 *                     what it brings, or for it to bring nothing (cache_fill.c)
 *                     [`early-hints`] links of the last answer are sent before (cache_hints.c)
 *
 * Of what answers say, a cache obeys what the reference does; with `rfc9111 on` all of RFC 9111:
 * any status, every field of Vary, no-cache and what is stale on arrival kept to be validated,
 * heuristic freshness, the wishes of requests, invalidation by Location (cache_rfc.c).
 *
 * Owns   : what a generation's sections refer to is counted, for an in-process reload hands the
 *          caches on; objects are counted: the cache, streams and blocks on their way hold them.
 * Threads: objects do not change once they can be found, but for <refreshed_until_ms>,
 *          <failing_until_ms> (atomic).
 *          Everything else of a cache is under the lock of its shard.
 * Units  : ms of the monotonic clock, s of the wall clock where heads have dates.
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
	uint64_t max_object;          /* 0: a 256th of the whole */
	bool process_vary;
	/* extensions; 0, false: not asked for */
	int64_t revalidate_s;         /* what is stale is kept so long, to be validated */
	int64_t stale_revalidate_s, stale_error_s;
	int64_t collapse_ms;          /* to wait for another's answer, at most */
	bool ranges, rfc9111;
	enum cache_hints { CACHE_HINTS_OFF, CACHE_HINTS_ON, CACHE_HINTS_ONLY } hints;
	bool hints_http1;             /* to clients of HTTP/1.1 as well */
	int64_t hints_age_s;
	bool keeps_compressed;        /* there is a filter cache-compressed */
	const char *tag_field;        /* of answers, with words that they can be removed by; NULL */
	struct cache *cache;          /* counted; NULL before the generation starts */
};

struct cache_state;

/* The largest object of the section, bytes. */
static inline uint64_t cache_max_object(const struct cache_conf *c)
{
	return c->max_object ? c->max_object : (uint64_t)c->total_mb << 12;
}

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

enum cache_vary { CACHE_VARY_ENCODING = 1, CACHE_VARY_REFERER = 2, CACHE_VARY_ORIGIN = 4,
		  CACHE_VARY_OTHERS = 8, /* any field: rfc9111 */
		  CACHE_VARY_OURS = 16 /* encoded by us: not for clients that name no coding */ };

/* What answers vary by, of a request or of an answer. */
struct cache_second {
	uint8_t vary;                 /* of an answer: enum cache_vary */
	uint32_t encodings;           /* enum cache_encoding */
	uint64_t referer, origin;     /* hashes; 0: no such field */
	bool ambiguous;               /* of a request: one of these is there twice */
	const struct http_msg *fields; /* of a request: its head, borrowed */
	/* of an answer: names of fields, separated by commas, and the hash of what the request had
	 * in them
	 */
	struct slice others;
	uint64_t others_hash;
};

struct cache_request {
	bool is_get, is_head, is_unsafe; /* methods; unsafe: it may change what is kept */
	bool has_authorization;
	bool no_lookup, no_store;     /* it says so */
	bool has_condition;           /* If-None-Match, If-Modified-Since */
	bool only_if_cached;          /* these: with rfc9111 only */
	int64_t max_age_s, min_fresh_s, max_stale_s; /* -1: not said */
	struct cache_second second;
};

struct cache_answer {
	int64_t fresh_ms;             /* how long it may be given to others; 0: not at all */
	int64_t age_s;                /* how old it is already */
	bool never_stale;             /* it forbids to be given when it is stale */
	bool for_authorized;          /* it is for requests with Authorization too */
	bool may_be_validated;        /* rfc9111: it may be kept without being fresh */
	bool may_hint;                /* nothing of it is secret: its links may be told others */
	int64_t stale_revalidate_s, stale_error_s; /* RFC 5861; -1: not said */
	struct cache_second second;
	bool vary_is_unknown;         /* by something else, or by everything */
};

void cache_look_at_request(const struct http_msg *m, const struct cache_conf *c,
			   struct cache_request *out);
/* Texts of <out> are in the message's arena. */
void cache_look_at_answer(const struct http_msg *m, const struct cache_request *rq,
			  const struct cache_conf *c, int64_t now_s, struct cache_answer *out);
/* Seconds; what is no number is 0. */
int64_t cache_seconds_of(struct slice text);
/* The codings of an answer's body. */
uint32_t cache_encodings_of(const struct http_msg *m);
/* May an answer that varied so be given to this request? */
bool cache_second_fits(const struct cache_second *answer, const struct cache_second *request);
/* Does the client have it already: 304? <etag>, <modified_s>: of the object; none, 0. */
bool cache_is_unchanged(const struct http_msg *request, struct slice etag, int64_t modified_s);
/* An entity-tag without its mark of weakness. */
struct slice cache_tag(struct slice tag);
/* A range of bytes that a request asks for (RFC 9110 14). */
enum cache_range { CACHE_WHOLE, CACHE_PART, CACHE_OUTSIDE };
/* CACHE_PART: of the <len> bytes of an object, <*from> to <*to>, which is inside. CACHE_OUTSIDE:
 * there are no such bytes. CACHE_WHOLE: none is asked for, more than one, in other units, or the
 * object is not the one of If-Range.
 */
enum cache_range cache_range_of(const struct http_msg *request, struct slice etag,
				int64_t modified_s, uint64_t len, uint64_t *from, uint64_t *to);
/* The first element of a field Link, without blanks around it; it leaves <rest>. */
struct slice cache_link_next(struct slice *rest);
/* Is it something that a client may begin with before it has the answer: its `rel` has a word like
 * preload or preconnect?
 */
bool cache_link_is_hint(struct slice link);
/* Fields that are of a connection, or made anew: they are not kept. */
bool cache_keeps_field(const struct http_msg *m, const struct h1_field *f);

/* --- cache_object.c: what is kept of an answer ------------------------------------------------ */

struct cache_part {
	struct cache_part *next;
	uint32_t len, room;
	char data[];
};

/* Counted by the heads that it belongs to. */
struct cache_body {
	unsigned refs;                /* atomic */
	struct cache_part *last;      /* NULL: the first one */
	uint64_t len;                 /* bytes */
	uint64_t room;                /* bytes of memory besides this struct */
	struct cache_part first;      /* the others are owned */
};

/* In the object's text: "name: value\r\n", as it is sent, behind the one before. */
struct cache_field {
	uint32_t value_len;
	uint16_t name_len;
	uint8_t id;                   /* of the name */
};

#define CACHE_NO_FIELD UINT16_MAX
#define CACHE_HINTS_STATUS 103

/* In one piece of memory with its struct cache_second, if it varies, its fields and its text: key,
 * the lines of its fields, and names that it varies by. A million of them are no rarity: its
 * members are as small as they can be.
 */
struct cache_object {
	struct tree_node node;        /* by hash */
	struct list lru;
	unsigned refs;                /* atomic */
	bool is_in;                   /* under its shard's lock: it can be found */
	bool varies;
	bool never_stale, for_authorized; /* as of struct cache_answer */
	uint16_t status;
	uint16_t field_count;
	uint16_t etag, last_modified; /* the numbers of these fields; CACHE_NO_FIELD */
	uint16_t tags;                /* the field of tags-from; the same */
	uint32_t key_len;
	uint32_t head_size;           /* bytes of memory but for the body's */
	uint32_t stale_s, error_s;    /* behind its end it may be given stale: while another asks
				       * the server; when servers fail */
	uint32_t kept_s;              /* so long it can be found, stale or not */
	uint32_t age_s;               /* when it was stored */
	uint32_t serial;              /* of its shard: the order in which they came */
	uint64_t stored_ms, end_ms;   /* end: it is stale from then on */
	uint64_t refreshed_until_ms;  /* atomic: a request asks the server until then; 0: none */
	uint64_t failing_until_ms;    /* atomic: servers have failed to say what became of it */
	int64_t modified_s;           /* Last-Modified, else Date, else when it was stored */
	struct cache_body *body;      /* counted */
};

extern const struct cache_second cache_no_second;

static inline const struct cache_second *cache_second_of(const struct cache_object *o)
{
	return o->varies ? (const struct cache_second *)(const void *)(o + 1) : &cache_no_second;
}

/* Is it an object with links, which stands beside that of the answer? */
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

/* Where the line of a field begins. */
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

/* The value of a field; slice_none(): CACHE_NO_FIELD. */
static inline struct slice cache_value_of(const struct cache_object *o, unsigned i)
{
	const struct cache_field *f = cache_fields_of(o) + i;

	return i == CACHE_NO_FIELD ? slice_none()
		: slice_make(cache_line_of(o, i) + f->name_len + 2, f->value_len);
}

/* A copy of the head <m>, held once, in no cache, with a body of its own, or with <body>, which it
 * counts; it becomes stale as <a> says, counted from now. NULL: no memory.
 */
struct cache_object *cache_object_new(struct slice key, const struct http_msg *m,
				      struct cache_body *body, const struct cache_answer *a,
				      const struct cache_conf *c);
/* All of <in>, which stays there; false: no memory, or more than <max_len>. */
bool cache_object_keep(struct cache_object *o, const struct block_queue *in, uint64_t max_len);
/* The body is whole: memory that it does not need goes. */
void cache_object_shrink(struct cache_object *o);
struct cache_object *cache_object_take(struct cache_object *o);
void cache_object_drop(struct cache_object *o);
/* Bytes of memory, the body's too. */
uint64_t cache_object_size(const struct cache_object *o);
/* Is <word> one of its tags? */
bool cache_object_has_tag(const struct cache_object *o, struct slice word);
/* The bytes from <*skip> of the part at <*at> on, which becomes the next one, with <*skip> 0.
 * slice_none(): that was all.
 */
struct slice cache_body_next(const struct cache_part **at, uint64_t *skip);

/* --- cache_rfc.c: what the reference declines of RFC 9111 ------------------------------------- */

/* Notes one more field that the answer varies by. False: no memory, or "*". */
bool cache_vary_note(const struct http_msg *m, struct slice name, struct cache_second *out);
/* Of the request's values of these fields. */
uint64_t cache_vary_hash(const struct http_msg *request, struct slice others);
/* A copy of the request's fields, which other rules may edit, in its arena; NULL: no memory. It is
 * given back by http_msg_fini().
 */
struct http_msg *cache_fields_copy(const struct http_msg *request);
/* A wish of a request that is a number; false: it is none of them. */
bool cache_wish_take(struct cache_request *rq, struct slice name, struct slice value);
/* May <o>, fresh as it is, be given to this request, by its limits of age? */
bool cache_is_fresh_for(const struct cache_object *o, const struct cache_request *rq);
/* Freshness in seconds of an answer that does not tell, from Last-Modified; 0: none. */
int64_t cache_heuristic_s(const struct http_msg *m, bool is_public, int64_t now_s);
/* The age by Date, seconds; 0: none. */
int64_t cache_apparent_age_s(const struct http_msg *m, int64_t now_s);
/* The unsafe request for <key> has succeeded: what its answer names is forgotten too. */
void cache_forget_named(struct cache *c, struct slice key, const struct http_msg *answer);

/* --- cache_store.c: objects are found by key -------------------------------------------------- */

struct cache;

/* <bytes> in all. NULL: no memory. Counted: once. */
struct cache *cache_new(const char *name, uint64_t bytes);
struct cache *cache_take(struct cache *c);
void cache_drop(struct cache **c);
uint64_t cache_size(const struct cache *c);
uint64_t cache_used(const struct cache *c);

/* The one that fits, held, which may be stale; NULL: none. */
struct cache_object *cache_find(struct cache *c, struct slice key,
				const struct cache_second *request);
/* The same of links; none that are too old. */
struct cache_object *cache_find_hints(struct cache *c, struct slice key,
				      const struct cache_second *request);
/* The object is whole: others can find it; one that stood for the same is replaced. Not more than
 * <max_secondary> of one key that vary.
 */
void cache_add(struct cache *c, struct cache_object *o, unsigned max_secondary);
/* Forgets all objects of a key; this one, if it is there still. Return how many. */
unsigned cache_remove(struct cache *c, struct slice key);
unsigned cache_remove_object(struct cache *c, struct cache_object *o);
/* Where a walk is: behind this object, which may be gone; starts zeroed. */
struct cache_cursor {
	unsigned shard;
	uint32_t serial;
	bool begun;                   /* there is an object of this shard */
	uint64_t hash;
};
/* The next object, held; NULL: that was all. Each that stays there all the while is met once,
 * whatever comes and goes beside it.
 */
struct cache_object *cache_walk(struct cache *c, struct cache_cursor *at);

/* --- cache_purge.c: removing what is kept ----------------------------------------------------- */

enum cache_purge_by { CACHE_PURGE_ALL, CACHE_PURGE_URL, CACHE_PURGE_PREFIX, CACHE_PURGE_TAG };

struct cache_purge {
	enum cache_purge_by by;
	struct slice text;            /* an address, what it begins with, a word; borrowed */
	struct cache_cursor cursor;   /* starts zeroed, as the others do */
	uint64_t count;               /* of those that were removed */
};

/* "url", "prefix", "tag". False: something else. */
bool cache_purge_by(const char *word, enum cache_purge_by *out);
/* Looks at some more objects, and removes those that are meant. True: these were the last ones. */
bool cache_purge_step(struct cache *c, struct cache_purge *p);

/* --- cache_fill.c: one request for many ------------------------------------------------------- */

/* What one request fetches for others. */
struct cache_fill;
struct cache_fills;

enum cache_join {
	CACHE_LEADS,   /* no stream fetches it: the caller does, and calls cache_fill_end() */
	CACHE_JOINED,  /* another does: the stream is woken when that is over, or in <wait_ms> */
	CACHE_PASSES,  /* it was seen not to be kept; or no memory: each asks the server */
};
enum cache_fill_result {
	CACHE_FILLED,   /* it is in the cache */
	CACHE_NOT_KEPT, /* it is an answer that is not kept: no stream waits for the next ones */
	CACHE_GIVEN_UP, /* there was no answer: one of the waiters may try */
};

struct cache_waiter;

/* One for each cache. NULL: no memory. */
struct cache_fills *cache_fills_new(void);
void cache_fills_free(struct cache_fills *all);
/* <s> has missed <key>, which hashes to <hash>. CACHE_LEADS: *fill is the caller's. CACHE_JOINED:
 * *waiter is the stream's, which returns RULE_WAIT until cache_waiter_is_over(); it is NULL again
 * when the stream ends before that. <waiter> lives as long as the stream.
 */
enum cache_join cache_fill_join(struct cache_fills *all, struct stream *s, struct slice key,
				uint64_t hash, int64_t wait_ms, struct cache_fill **fill,
				struct cache_waiter **waiter);
/* On any thread. */
void cache_fill_end(struct cache_fill *fill, enum cache_fill_result r);
bool cache_waiter_is_over(const struct cache_waiter *w);
/* Was it over because of <wait_ms>? */
bool cache_waiter_is_late(const struct cache_waiter *w);
/* The stream does not look at it any more. Only when it is over. */
void cache_waiter_free(struct cache_waiter *w);
/* Of a cache. */
struct cache_fills *cache_fills_of(struct cache *c);
uint64_t cache_hash(const struct cache *c, struct slice key);

/* --- cache_hints.c: links that are told before the answer ------------------------------------- */

/* An answer from a server, with the head <m>: its links take the place of those that there were.
 * <rq>, <a>: what was seen of both.
 */
void cache_hints_look(const struct cache_conf *c, struct slice key, const struct http_msg *m,
		      const struct cache_request *rq, const struct cache_answer *a);
/* The request that st->key is of goes to a server: 103 if there is something to tell, once. */
void cache_hints_send(struct stream *s, struct cache_state *st, const struct cache_conf *c);

/* --- cache_give.c ----------------------------------------------------------------------------- */

/* What the service of a hit is called with; in the stream's arena. */
struct cache_hit {
	struct cache_object *object;  /* held by the filter's state; NULL: 504, for there is none */
	bool ranges, is_conditional;  /* the request may want a part, or none, of it */
};

extern const struct service_kind cache_services[];

/* --- what a stream has of a cache: the state of a filter -------------------------------------- */

struct cache_state {
	struct slice key;              /* in the arena; slice_none(): cache-use did not run */
	struct cache_request request;
	struct cache_hit hit;          /* its object: held; it answers */
	struct cache_object *stale;    /* held: what there is until the server has answered */
	struct cache_object *hints;    /* held: its links were sent */
	struct cache_object *storing;  /* held: what is copied */
	struct cache_fill *fill;       /* others wait for what this request brings */
	struct cache_waiter *waiter;   /* this one waits */
	struct proxy *proxy;           /* whose rule cache-use was */
	uint64_t max_len;
	bool answers;                  /* the hit is, or was, the answer */
	bool asks;                     /* the request bears validators of <stale> */
	struct slice tags, since;      /* the client's conditions besides; slice_none(): none */
	bool is_refreshing;            /* others are given <stale> meanwhile */
	struct http_msg *asked;        /* rfc9111: the request's fields at cache-use; or NULL */
};

/* What a line `filter cache`, or a rule, means to the filter. */
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

/* The head <m> of the request leaves: with the validators of what is stale. */
void cache_ask(struct cache_state *st, struct http_msg *m);
/* Of struct filter_kind: what is stale answers, if it is current, or servers fail. */
const struct service_kind *cache_instead(struct filter *f, unsigned status, bool is_servers,
					 const void **arg);

/* --- cache_filter.c --------------------------------------------------------------------------- */

extern const struct filter_kind cache_filter_kinds[];
/* What is compressed cannot be kept for others: no such filter of <px> stands before <mine>, one of
 * a cache. False: reported.
 */
bool cache_order_is_good(const struct proxy *px, const struct filter_conf *mine,
			 struct diag_list *diags);
/* http-request cache-use, cache-purge, http-response cache-store */
struct cache_rule {
	const char *name;
	struct cache_conf *conf;
	const struct filter_conf *filter; /* of the rule's proxy */
	enum cache_purge_by purge_by;     /* of cache-purge; ALL: what the request asks for */
	struct rule_text purge_text;
};
enum rule_result cache_use_run(const struct rule *r, struct expr_ctx *ctx, bool *first);
enum rule_result cache_purge_run(const struct rule *r, struct expr_ctx *ctx, bool *first);
enum rule_result cache_store_run(const struct rule *r, struct expr_ctx *ctx, bool *first);
/* "https://host/path?query" of the request, in the stream's arena; slice_none(): it has none. */
struct slice cache_request_key(struct stream *s);
/* <o>, held, becomes the answer. */
void cache_hit(struct stream *s, struct cache_state *st, struct cache_object *o, bool ranges);
/* Is an answer with the head <m> kept? */
bool cache_may_store(const struct cache_conf *c, const struct http_msg *m,
		     const struct cache_answer *a);
/* The cache whose object answers this stream; NULL: none does. */
const struct cache_conf *cache_that_answers(const struct stream *s);

#endif
