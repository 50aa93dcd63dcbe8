/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache_filter.c - a stream and its cache: looking up, storing and delivering objects
 *
 *	cache-use    looks at the request; a hit: the service below answers in a server's place
 *	cache-store  looks at the answer; it may be kept: its head is copied
 *	data, end    the body is copied as it passes; whole, the object goes into the cache
 */
#include <string.h>
#include "base/clock.h"
#include "base/num.h"
#include "proxy/counters.h"
#include "stream/action.h"
#include "tls/tls.h"
#include "cache_priv.h"

/* One that asks the server about a stale object is taken for lost after this. */
#define REFRESH_MS 60000

/* The first filter of this cache that knows the request, or, if none does, the first. */
static struct filter *filter_for(const struct stream *s, const struct cache_conf *c)
{
	struct filter *any = NULL;

	for (struct filter *f = filters_of_stream(s); f; f = f->next) {
		if (f->kind != cache_filter_kinds || cache_filter_data(f)->conf != c)
			continue;
		if (!slice_is_none(((struct cache_state *)f->state)->key))
			return f;
		any = any ? any : f;
	}
	return any;
}

const struct cache_conf *cache_that_answers(const struct stream *s)
{
	for (struct filter *f = filters_of_stream(s); f; f = f->next)
		if (f->kind == cache_filter_kinds && ((struct cache_state *)f->state)->answers)
			return cache_filter_data(f)->conf;
	return NULL;
}

/* --- keys ------------------------------------------------------------------------------------- */

/* The host in lower case; whatever form the request has. Without a host it is nothing of one. */
struct slice cache_request_key(struct stream *s)
{
	const struct http_msg *m = &s->req;
	const struct h1_field *f = http_field_find(&m->fields, FIELD_HOST, slice_none());
	struct slice host = http_msg_authority(m), path = http_msg_pathq(m);
	bool secure = s->sess->conn && tls_is_on(s->sess->conn);
	char *area, *at;

	if (!host.len && f)
		host = f->value;
	if (slice_starts_nocase(m->uri, SLICE("http")) && !(m->flags & HTTP_MSG_NORMALIZED))
		secure = slice_starts_nocase(m->uri, SLICE("https:"));
	area = arena_alloc(&s->arena, host.len + path.len + 8);
	if (!area || !path.len || !host.len)
		return slice_none();
	at = mempcpy(area, secure ? "https://" : "http://", secure ? 8 : 7);
	for (size_t i = 0; i < host.len; i++)
		*at++ = ascii_lower(host.ptr[i]);
	at = mempcpy(at, path.ptr, path.len);
	return slice_make(area, (size_t)(at - area));
}

/* By the proxy whose rule it is. */
static void count(const struct stream *s, const struct proxy *px, unsigned which)
{
	if (px == s->fe)
		counter_add(&s->fe->state->fe, which, 1);
	if (px->caps & PROXY_BE)
		counter_add(&px->state->be, which, 1);
}

/* --- what becomes of a request that others wait for ------------------------------------------- */

static void fill_end(struct cache_state *st, enum cache_fill_result r)
{
	struct cache_fill *f = st->fill;

	st->fill = NULL;
	if (f)
		cache_fill_end(f, r);
}

/* No request asks the server about <stale> any more. */
static void refresh_end(struct cache_state *st)
{
	if (st->is_refreshing)
		__atomic_store_n(&st->stale->refreshed_until_ms, 0, __ATOMIC_RELAXED);
	st->is_refreshing = false;
}

/* Takes it upon this request to ask, for so long at most. False: another request does. */
static bool refresh_begin(struct cache_state *st)
{
	uint64_t now_ms = clock_now_ms(), until_ms;

	until_ms = __atomic_load_n(&st->stale->refreshed_until_ms, __ATOMIC_RELAXED);
	st->is_refreshing = until_ms <= now_ms &&
		__atomic_compare_exchange_n(&st->stale->refreshed_until_ms, &until_ms,
					    now_ms + REFRESH_MS, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
	return st->is_refreshing;
}

/* --- http-request cache-use ------------------------------------------------------------------- */

/* <o>, held, becomes the answer. */
void cache_hit(struct stream *s, struct cache_state *st, struct cache_object *o, bool ranges)
{
	count(s, st->proxy, CNT_CACHE_HITS);
	st->hit = (struct cache_hit){ .object = o, .ranges = ranges,
				      .is_conditional = st->request.has_condition };
	st->answers = true;
}

/* May <o>, which is stale, be given all the same? If the server must be asked meanwhile, this
 * request asks, and is not given <o>.
 */
static bool is_good_enough(struct cache_state *st, const struct cache_object *o)
{
	uint64_t now_ms = clock_now_ms();

	if (st->request.max_age_s >= 0 || st->request.min_fresh_s >= 0)
		return false; /* it wishes something fresh */
	if (now_ms < o->end_ms + o->error_s * 1000ULL &&
	    now_ms < __atomic_load_n(&o->failing_until_ms, __ATOMIC_RELAXED))
		return true;
	return now_ms < o->end_ms + o->stale_s * 1000ULL &&
	       !(st->request.is_get && !st->request.only_if_cached && refresh_begin(st));
}

/* Looks for what may be given immediately; notes what is stale. False: nothing. */
static bool look_up(struct stream *s, struct cache_state *st, const struct cache_conf *c)
{
	struct cache_object *o = cache_find(c->cache, st->key, &st->request.second);

	if (o && st->request.has_authorization && !o->for_authorized) {
		cache_object_drop(o);
		o = NULL;
	}
	cache_object_drop(st->stale);
	st->stale = o && !cache_is_fresh_for(o, &st->request) ? o : NULL;
	if (!o || (st->stale && !is_good_enough(st, o)))
		return false;
	st->stale = NULL;
	cache_hit(s, st, o, c->ranges);
	return true;
}

/* Does another fetch it? True: waits for that. */
static bool join(struct stream *s, struct cache_state *st, const struct cache_conf *c)
{
	const struct cache_request *rq = &st->request;

	if (!c->collapse_ms || !rq->is_get || rq->no_store || st->is_refreshing)
		return false;
	return cache_fill_join(cache_fills_of(c->cache), s, st->key, cache_hash(c->cache, st->key),
			       c->collapse_ms, &st->fill, &st->waiter) == CACHE_JOINED;
}

/* The wait is over: once more. True: goes on waiting, for the next one. */
static bool look_again(struct stream *s, struct cache_state *st, const struct cache_conf *c)
{
	bool late = cache_waiter_is_late(st->waiter);

	cache_waiter_free(st->waiter);
	st->waiter = NULL;
	return !look_up(s, st, c) && !late && join(s, st, c);
}

static bool may_look_up(const struct cache_state *st, const struct cache_conf *c)
{
	const struct cache_request *rq = &st->request;

	return !slice_is_none(st->key) && !rq->no_lookup &&
	       (c->rfc9111 || !rq->has_authorization) && (rq->is_get || rq->is_head);
}

/* It is not to be fetched; a cache of links alone has nothing to say about that. */
static bool is_refused(const struct cache_state *st, const struct cache_conf *c)
{
	return st->request.only_if_cached && c->hints != CACHE_HINTS_ONLY;
}

/* Looks, and waits if need be. True: waits. */
static bool use(struct stream *s, struct cache_state *st, const struct cache_conf *c,
		struct proxy *px)
{
	bool may;

	if (st->waiter)
		return !cache_waiter_is_over(st->waiter) || look_again(s, st, c);
	cache_look_at_request(&s->req, c, &st->request);
	st->key = cache_request_key(s);
	st->proxy = px;
	may = may_look_up(st, c);
	if (may && c->hints != CACHE_HINTS_ONLY) {
		count(s, px, CNT_CACHE_LOOKUPS);
		if (look_up(s, st, c))
			return false;
	}
	if (c->rfc9111) /* what the answer varies by is what was asked here */
		st->request.second.fields = st->asked = cache_fields_copy(&s->req);
	if (!may || is_refused(st, c))
		return false;
	if (c->hints != CACHE_HINTS_OFF && (st->asked || !c->rfc9111))
		cache_hints_send(s, st, c);
	return c->hints != CACHE_HINTS_ONLY && join(s, st, c);
}

/* It is not to be fetched: 504. What is stale is of no use either. */
static enum rule_result refuse(struct stream *s, struct cache_state *st, struct proxy *px)
{
	cache_object_drop(st->stale);
	st->stale = NULL;
	st->request.no_store = true;
	return service_attach(s, px, cache_services, &st->hit) ? RULE_SERVICE : RULE_ERROR;
}

enum rule_result cache_use_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct cache_rule *rule = r->data;
	struct stream *s = ctx->stream;
	struct filter *f = filter_for(s, rule->conf);
	struct cache_state *st = f ? f->state : NULL;

	if (!st || st->hit.object || st->fill || s->req.version < 11)
		return RULE_CONTINUE;
	if (use(s, st, rule->conf, r->proxy))
		return RULE_WAIT;
	if (!st->answers && is_refused(st, rule->conf))
		return refuse(s, st, r->proxy);
	if (!st->answers)
		return RULE_CONTINUE;
	return service_attach(s, r->proxy, cache_services, &st->hit) ? RULE_SERVICE : RULE_ERROR;
}

/* --- http-response cache-store ---------------------------------------------------------------- */

bool cache_may_store(const struct cache_conf *c, const struct http_msg *m,
		      const struct cache_answer *a)
{
	unsigned ours = c->keeps_compressed ? CACHE_VARY_ENCODING | CACHE_VARY_OURS : 0;
	unsigned vary = a->second.vary & ~ours;

	return (a->fresh_ms || (a->may_be_validated && c->revalidate_s)) &&
	       !a->vary_is_unknown && (!vary || c->process_vary || c->rfc9111) &&
	       !(m->body == HTTP_BODY_LENGTH &&
		 m->content_length + http_msg_size(m) > cache_max_object(c));
}

enum rule_result cache_store_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct cache_rule *rule = r->data;
	struct cache_conf *c = rule->conf;
	struct stream *s = ctx->stream;
	struct filter *mine = filter_of_stream(s, rule->filter), *f = filter_for(s, c);
	const struct cache_state *asked = f ? f->state : NULL;
	struct cache_state *st = mine ? mine->state : NULL;
	struct cache_answer a;
	uint64_t max = cache_max_object(c);

	if (!st || st->storing || slice_is_none(asked->key) || !asked->request.is_get ||
	    asked->request.no_store || (c->rfc9111 && !asked->asked) ||
	    cache_that_answers(s))
		return RULE_CONTINUE;
	cache_look_at_answer(&s->res, &asked->request, c, cache_wall_s(), &a);
	if (c->hints != CACHE_HINTS_OFF)
		cache_hints_look(c, asked->key, &s->res, &asked->request, &a);
	if (c->hints == CACHE_HINTS_ONLY || !cache_may_store(c, &s->res, &a))
		return RULE_CONTINUE;
	st->storing = cache_object_new(asked->key, &s->res, NULL, &a, c);
	if (!st->storing)
		return RULE_CONTINUE;
	st->max_len = max > st->storing->head_size ? max - st->storing->head_size : 0;
	filter_watch(mine, FILTER_RESPONSE);
	return RULE_CONTINUE;
}

/* --- the filter ------------------------------------------------------------------------------- */

static void give_up(struct cache_state *st)
{
	cache_object_drop(st->storing);
	st->storing = NULL;
}

/* Does a filter of the same cache keep the answer? */
static bool is_stored(const struct filter *f)
{
	const struct filter *other;

	for (other = filters_of_stream(f->stream); other; other = other->next)
		if (other->kind == cache_filter_kinds &&
		    cache_filter_data(other)->conf == cache_filter_data(f)->conf &&
		    ((const struct cache_state *)other->state)->storing)
			return true;
	return false;
}

/* Of the filter that cache-use ran in, which need not be the one that stores. */
static void fetched(const struct filter *f, enum cache_fill_result r)
{
	struct filter *asked = filter_for(f->stream, cache_filter_data(f)->conf);

	if (asked)
		fill_end(asked->state, r);
}

/* Another try, or another answer: that of before is not kept. */
static enum filter_result cache_begin(struct filter *f, enum filter_side side)
{
	if (side == FILTER_RESPONSE)
		give_up(f->state);
	return FILTER_NEXT;
}

/* The head of the answer is there: do streams that wait for it go on waiting? */
static void fill_look(struct cache_state *st, const struct filter *f, unsigned status)
{
	if (st->answers)
		fill_end(st, CACHE_FILLED);
	else if (!is_stored(f))
		fill_end(st, status < 500 ? CACHE_NOT_KEPT : CACHE_GIVEN_UP);
}

/* An unsafe request that succeeded may have changed what is kept: RFC 9111 4.4. (An object that is
 * given in a server's place passes here as well.)
 */
static enum filter_result cache_head(struct filter *f, enum filter_side side, struct http_msg *m)
{
	const struct cache_conf *c = cache_filter_data(f)->conf;
	struct cache_state *st = f->state;

	if (side == FILTER_REQUEST) {
		cache_ask(st, m);
		return FILTER_NEXT;
	}
	fill_look(st, f, m->status);
	if (!slice_is_none(st->key) && st->request.is_unsafe &&
	    m->status >= 200 && m->status < 400) {
		cache_remove(c->cache, st->key);
		if (c->rfc9111)
			cache_forget_named(c->cache, st->key, m);
	}
	return FILTER_NEXT;
}

static enum filter_result cache_data(struct filter *f, enum filter_side side,
				     struct block_queue *in, struct block_queue *out, bool end)
{
	struct cache_state *st = f->state;

	if (st->storing && !cache_object_keep(st->storing, in, st->max_len))
		give_up(st);
	block_queue_move(out, in);
	if (st->storing)
		return FILTER_NEXT;
	fetched(f, CACHE_NOT_KEPT); /* it is too large */
	filter_unwatch(f, side);
	return FILTER_NEXT;
}

static enum filter_result cache_end(struct filter *f, enum filter_side side)
{
	const struct cache_conf *c = cache_filter_data(f)->conf;
	struct cache_state *st = f->state;
	enum cache_fill_result r;

	if (side != FILTER_RESPONSE || !st->storing)
		return FILTER_NEXT;
	cache_object_shrink(st->storing);
	cache_add(c->cache, st->storing, (unsigned)c->max_secondary);
	/* no stream waits for what must be validated each time */
	r = st->storing->end_ms > st->storing->stored_ms ? CACHE_FILLED : CACHE_NOT_KEPT;
	give_up(st);
	fetched(f, r);
	return FILTER_NEXT;
}

static void cache_detach(struct filter *f)
{
	struct cache_state *st = f->state;

	give_up(st);
	fill_end(st, CACHE_GIVEN_UP); /* no answer, or half of one */
	refresh_end(st);
	if (st->waiter)
		cache_waiter_free(st->waiter);
	st->waiter = NULL;
	cache_object_drop(st->stale);
	cache_object_drop(st->hit.object);
	cache_object_drop(st->hints);
	st->stale = st->hit.object = st->hints = NULL;
	if (st->asked)
		http_msg_fini(st->asked);
	st->asked = NULL;
}

/* "filter cache NAME" */
static bool cache_parse(struct conf_line *l, struct filter_conf *conf)
{
	struct cache_filter *cf = arena_zalloc(&l->cfg->arena, sizeof(*cf));
	const char *name = conf_next(l);

	if (!cf)
		return conf_error(l, 0, NULL, "out of memory.");
	if (!name)
		return conf_error(l, 0, NULL, "'filter' : cache : expects a <name> argument");
	for (const struct filter_conf *f = filter_confs(conf->proxy); f; f = f->next) {
		const struct cache_filter *other = f->kind == cache_filter_kinds ? f->data : NULL;

		if (f != conf && other && strcmp(other->name, name) == 0)
			return conf_error(l, l->at - 1, NULL, "'filter' : %s: multiple explicit "
					  "declarations of the cache filter '%s'",
					  conf->proxy->name, name);
	}
	cf->name = name;
	cf->is_explicit = true;
	conf->data = cf;
	return true;
}

static bool cache_filter_check(struct config *cfg, struct filter_conf *conf,
			       struct diag_list *diags)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };
	struct cache_filter *cf = conf->data;

	if (!cf || cf->conf)
		return true;
	cf->conf = cache_conf_find(cfg, cf->name);
	if (!cf->conf)
		diag_add(diags, DIAG_ALERT, &nowhere, NULL, "config: %s '%s': unable to find the "
			 "cache '%s' referenced by the filter 'cache'.",
			 proxy_kind_name(conf->proxy), conf->proxy->name, cf->name);
	return cf->conf != NULL && cache_order_is_good(conf->proxy, conf, diags);
}

const struct filter_kind cache_filter_kinds[] = {
	{ .name = "cache", .group = "CACHE", .id = "cache filter",
	  .state_size = sizeof(struct cache_state), .parse = cache_parse,
	  .check = cache_filter_check, .begin = cache_begin, .head = cache_head,
	  .data = cache_data, .end = cache_end, .detach = cache_detach,
	  .instead = cache_instead, .syntax = "<name>",
	  .help = "where answers are taken for a cache" },
	{ 0 }
};
