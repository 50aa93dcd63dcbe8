/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache_filter.c - a stream and its cache: what it asks for, what it keeps, what it is given
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

struct cache_state {
	struct slice key;              /* in the arena; slice_none(): cache-use did not run */
	struct cache_request request;
	struct cache_object *hit;      /* held: it answers */
	struct cache_object *storing;  /* held: what is copied */
	unsigned max_secondary;
	uint64_t max_len;
	bool answers;                  /* the hit is, or was, the answer */
};

static const struct cache_filter *filter_data(const struct filter *f)
{
	return f->conf->data;
}

/* The first filter of this cache that knows the request, or, if none does, the first. */
static struct filter *filter_for(const struct stream *s, const struct cache_conf *c)
{
	struct filter *any = NULL;

	for (struct filter *f = filters_of_stream(s); f; f = f->next) {
		if (f->kind != cache_filter_kinds || filter_data(f)->conf != c)
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
			return filter_data(f)->conf;
	return NULL;
}

/* --- keys ------------------------------------------------------------------------------------- */

/* "https://host/path?query", the host in lower case: whatever form the request has. */
static struct slice key_of(struct stream *s)
{
	const struct http_msg *m = &s->req;
	const struct h1_field *f = http_field_find(&m->fields, FIELD_HOST, slice_none());
	struct slice host = http_msg_authority(m), path = http_msg_pathq(m);
	bool secure = s->sess->conn && tls_is_on(s->sess->conn);
	struct strbuf b;
	size_t room;
	char *area;

	if (!host.len && f)
		host = f->value;
	if (slice_starts_nocase(m->uri, SLICE("http")) && !(m->flags & HTTP_MSG_NORMALIZED))
		secure = slice_starts_nocase(m->uri, SLICE("https:"));
	room = host.len + path.len + 16;
	area = arena_alloc(&s->arena, room);
	if (!area || !path.len)
		return slice_none();
	strbuf_init_fixed(&b, area, room);
	strbuf_add_str(&b, secure ? "https://" : "http://");
	for (size_t i = 0; i < host.len; i++)
		strbuf_add_char(&b, host.ptr[i] >= 'A' && host.ptr[i] <= 'Z'
				? (char)(host.ptr[i] - 'A' + 'a') : host.ptr[i]);
	strbuf_add(&b, path);
	return strbuf_slice(&b);
}

/* By the proxy whose rule it is. */
static void count(const struct stream *s, const struct rule *r, unsigned which)
{
	if (r->proxy == s->fe)
		counter_add(&s->fe->state->fe, which, 1);
	if (r->proxy->caps & PROXY_BE)
		counter_add(&r->proxy->state->be, which, 1);
}

/* --- http-request cache-use ------------------------------------------------------------------- */

enum rule_result cache_use_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct cache_rule *rule = r->data;
	struct stream *s = ctx->stream;
	struct filter *f = filter_for(s, rule->conf);
	struct cache_state *st = f ? f->state : NULL;
	struct cache_request *rq;

	if (!st || st->hit || s->req.version < 11)
		return RULE_CONTINUE;
	rq = &st->request;
	cache_look_at_request(&s->req, rq);
	st->key = key_of(s);
	if (slice_is_none(st->key) || rq->no_lookup || rq->has_authorization ||
	    !(rq->is_get || rq->is_head))
		return RULE_CONTINUE;
	count(s, r, CNT_CACHE_LOOKUPS);
	st->hit = cache_find(rule->conf->cache, st->key, &rq->second);
	if (!st->hit)
		return RULE_CONTINUE;
	count(s, r, CNT_CACHE_HITS);
	st->answers = true;
	return service_attach(s, r->proxy, cache_services, st) ? RULE_SERVICE : RULE_ERROR;
}

/* --- http-response cache-store ---------------------------------------------------------------- */

static uint64_t max_object(const struct cache_conf *c)
{
	return c->max_object ? c->max_object : (uint64_t)c->total_mb << 12;
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
	uint64_t max = max_object(c);

	if (!st || st->storing || slice_is_none(asked->key) || !asked->request.is_get ||
	    asked->request.no_store || cache_that_answers(s))
		return RULE_CONTINUE;
	cache_look_at_answer(&s->res, &asked->request, c->max_age_s,
			     (int64_t)(clock_wall_us() / 1000000), &a);
	if (!a.fresh_ms || a.vary_is_unknown || (a.second.vary && !c->process_vary) ||
	    (s->res.body == HTTP_BODY_LENGTH &&
	     s->res.content_length + http_msg_size(&s->res) > max))
		return RULE_CONTINUE;
	st->storing = cache_object_new(c->cache, asked->key, &s->res);
	if (!st->storing)
		return RULE_CONTINUE;
	st->storing->second = a.second;
	st->storing->age_s = a.age_s;
	st->storing->stored_ms = clock_now_ms();
	st->storing->end_ms = st->storing->stored_ms + (uint64_t)a.fresh_ms;
	st->max_len = max > st->storing->head_size ? max - st->storing->head_size : 0;
	st->max_secondary = (unsigned)c->max_secondary;
	filter_watch(mine, FILTER_RESPONSE);
	return RULE_CONTINUE;
}

/* --- the filter ------------------------------------------------------------------------------- */

static void give_up(struct cache_state *st)
{
	cache_object_drop(st->storing);
	st->storing = NULL;
}

/* Another try, or another answer: that of before is not kept. */
static enum filter_result cache_begin(struct filter *f, enum filter_side side)
{
	if (side == FILTER_RESPONSE)
		give_up(f->state);
	return FILTER_NEXT;
}

/* An unsafe request that succeeded may have changed what is kept: RFC 9111 4.4. */
static enum filter_result cache_head(struct filter *f, enum filter_side side, struct http_msg *m)
{
	const struct cache_state *st = f->state;

	if (side == FILTER_RESPONSE && !slice_is_none(st->key) && st->request.is_unsafe &&
	    m->status >= 200 && m->status < 400)
		cache_remove(filter_data(f)->conf->cache, st->key);
	return FILTER_NEXT;
}

static enum filter_result cache_data(struct filter *f, enum filter_side side,
				     struct block_queue *in, struct block_queue *out, bool end)
{
	struct cache_state *st = f->state;

	for (const struct piece *p = in->first; p && st->storing; p = p->next)
		if (st->storing->len + p->len > st->max_len ||
		    !cache_object_add(st->storing, p->ptr, p->len))
			give_up(st);
	block_queue_move(out, in);
	if (!st->storing)
		filter_unwatch(f, side);
	return FILTER_NEXT;
}

static enum filter_result cache_end(struct filter *f, enum filter_side side)
{
	struct cache_state *st = f->state;

	if (side != FILTER_RESPONSE || !st->storing)
		return FILTER_NEXT;
	cache_add(filter_data(f)->conf->cache, st->storing, st->max_secondary);
	give_up(st);
	return FILTER_NEXT;
}

static void cache_detach(struct filter *f)
{
	struct cache_state *st = f->state;

	give_up(st);
	cache_object_drop(st->hit);
	st->hit = NULL;
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
	return cf->conf != NULL;
}

const struct filter_kind cache_filter_kinds[] = {
	{ .name = "cache", .group = "CACHE", .id = "cache filter",
	  .state_size = sizeof(struct cache_state), .parse = cache_parse,
	  .check = cache_filter_check, .begin = cache_begin, .head = cache_head,
	  .data = cache_data, .end = cache_end, .detach = cache_detach, .syntax = "<name>",
	  .help = "where answers are taken for a cache" },
	{ 0 }
};

/* --- the service: an object as an answer ------------------------------------------------------ */

struct giving {
	struct cache_object *object;   /* held */
	const struct cache_part *next;
	struct block *block;           /* stands for the object in what is sent */
};

static void release_object(void *ctx)
{
	cache_object_drop(ctx);
}

static bool add_number(struct service_call *c, uint8_t id, struct slice name, uint64_t value)
{
	char *text = arena_alloc(&c->stream->arena, NUM_U64_MAX);

	return text && http_msg_put_field(c->head, id, name,
					  slice_make(text, num_put_u64(text, value)));
}

static bool make_head(struct service_call *c, const struct cache_object *o, bool unchanged)
{
	uint64_t age_s = (clock_now_ms() - o->stored_ms) / 1000 + (uint64_t)o->age_s;

	if (unchanged && !http_msg_set_status(c->head, 304, slice_none()))
		return false;
	for (unsigned i = 0; i < o->field_count; i++)
		if (!http_msg_add_field(c->head, o->fields[i].name, o->fields[i].value))
			return false;
	c->head->body = unchanged ? HTTP_BODY_NONE : HTTP_BODY_LENGTH;
	c->head->content_length = unchanged ? 0 : o->len;
	if (!unchanged && !add_number(c, FIELD_CONTENT_LENGTH, SLICE("content-length"), o->len))
		return false;
	return add_number(c, FIELD_AGE, SLICE("age"), age_s);
}

static bool giving_start(struct service_call *c)
{
	const struct cache_state *st = c->arg;
	struct cache_object *o = st->hit;
	struct giving *g = c->state;
	bool unchanged = cache_is_unchanged(&c->stream->req, o->etag, o->modified_s);

	if (!make_head(c, o, unchanged))
		return false;
	if (unchanged || c->stream->req.method == HTTP_METH_HEAD)
		return true;
	g->block = block_new_foreign(release_object, o);
	if (!g->block)
		return false;
	g->object = cache_object_take(o);
	g->next = o->first;
	return true;
}

static enum service_result giving_fill(struct service_call *c, struct block_queue *to)
{
	struct giving *g = c->state;

	for (unsigned i = 0; g->next && i < 4; i++, g->next = g->next->next)
		if (!block_queue_add(to, g->block, g->next->data, g->next->len))
			return SERVICE_ERROR;
	return g->next ? SERVICE_MORE : SERVICE_DONE;
}

static void giving_end(struct service_call *c)
{
	struct giving *g = c->state;

	block_drop(g->block); /* the last piece that is sent frees it, and drops the object */
	g->block = NULL;
}

const struct service_kind cache_services[] = {
	{ .name = "cache", .shown = "<CACHE>", .state_size = sizeof(struct giving),
	  .start = giving_start, .fill = giving_fill, .end = giving_end,
	  .help = "answers that are kept: use cache-use" },
	{ 0 }
};
