/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache_compressed.c - edge file: filter cache-compressed: what compression made is kept, too
 *
 *	filter cache static
 *	filter compression
 *	filter cache-compressed static
 *
 * An answer being stored, or a hit, has passed compression: an object with the same dates, the
 * compressed body and the fields that describe it is stored, too. From then on a client that
 * accepts its coding gets it, by reference. It is another answer of the same key, varying by
 * Accept-Encoding.
 */
#include <string.h>
#include "ext/cache.h"
#include "cache_priv.h"

struct compressed_state {
	struct cache_object *storing; /* held; or NULL */
	uint64_t max_len;
};

/* What answers, or is kept, without being encoded. NULL: nothing. */
static const struct cache_object *plain_of(const struct filter *f)
{
	const struct cache_conf *c = cache_filter_data(f)->conf;

	for (struct filter *o = filters_of_stream(f->stream); o; o = o->next) {
		const struct cache_state *st = o->state;
		const struct cache_object *plain;

		if (o->kind != cache_filter_kinds || cache_filter_data(o)->conf != c)
			continue;
		plain = st->storing ? st->storing : st->answers ? st->hit.object : NULL;
		if (plain && plain->status == 200 && !cache_second_of(plain)->encodings)
			return plain;
	}
	return NULL;
}

/* The head of <plain> with what <m> says of the coding. False: no memory. */
static bool merge(const struct cache_object *plain, const struct http_msg *m, struct http_msg *out)
{
	static const uint8_t ids[] = { FIELD_CONTENT_ENCODING, FIELD_VARY, FIELD_ETAG };

	for (unsigned i = 0; i < plain->field_count; i++)
		if (!memchr(ids, cache_fields_of(plain)[i].id, sizeof(ids)) &&
		    !http_msg_add_field(out, cache_name_of(plain, i), cache_value_of(plain, i)))
			return false;
	for (unsigned i = 0; i < m->fields.count; i++) {
		const struct h1_field *f = &m->fields.list[i];

		if (f->name.ptr && memchr(ids, http_field_id(f->name), sizeof(ids)) &&
		    !http_msg_add_field(out, f->name, f->value))
			return false;
	}
	return http_msg_set_status(out, plain->status, slice_none());
}

/* It lives as long as <plain>, and is as good for others. */
static void take_dates(struct cache_object *o, const struct cache_object *plain)
{
	o->stored_ms = plain->stored_ms;
	o->end_ms = plain->end_ms;
	o->stale_s = plain->stale_s;
	o->error_s = plain->error_s;
	o->kept_s = plain->kept_s;
	o->age_s = plain->age_s;
	o->modified_s = plain->modified_s;
}

static struct cache_object *begin_object(struct filter *f, const struct cache_object *plain,
					 const struct http_msg *m)
{
	const struct cache_conf *c = cache_filter_data(f)->conf;
	struct cache_answer a = { .never_stale = plain->never_stale, .age_s = plain->age_s,
				  .for_authorized = plain->for_authorized,
				  .second = *cache_second_of(plain) };
	struct cache_object *o = NULL;
	struct http_msg head;

	a.second.encodings = cache_encodings_of(m);
	a.second.vary |= CACHE_VARY_ENCODING | CACHE_VARY_OURS;
	if (!a.second.encodings || a.second.encodings & CACHE_UNKNOWN)
		return NULL;
	http_msg_init(&head, &f->stream->arena);
	if (merge(plain, m, &head))
		o = cache_object_new(cache_key_of(plain), &head, NULL, &a, c);
	http_msg_fini(&head);
	if (o)
		take_dates(o, plain);
	return o;
}

static void give_up(struct compressed_state *st)
{
	cache_object_drop(st->storing);
	st->storing = NULL;
}

static enum filter_result compressed_begin(struct filter *f, enum filter_side side)
{
	if (side == FILTER_RESPONSE)
		give_up(f->state);
	return FILTER_NEXT;
}

static enum filter_result compressed_head(struct filter *f, enum filter_side side,
					  struct http_msg *m)
{
	struct compressed_state *st = f->state;
	const struct cache_object *plain;
	uint64_t max;

	if (side != FILTER_RESPONSE || m->status != 200 ||
	    f->stream->req.method != HTTP_METH_GET)
		return FILTER_NEXT;
	plain = plain_of(f);
	st->storing = plain ? begin_object(f, plain, m) : NULL;
	if (!st->storing)
		return FILTER_NEXT;
	max = cache_max_object(cache_filter_data(f)->conf);
	st->max_len = max > st->storing->head_size ? max - st->storing->head_size : 0;
	filter_watch(f, side);
	return FILTER_NEXT;
}

static enum filter_result compressed_data(struct filter *f, enum filter_side side,
					  struct block_queue *in, struct block_queue *out, bool end)
{
	struct compressed_state *st = f->state;

	if (st->storing && !cache_object_keep(st->storing, in, st->max_len))
		give_up(st);
	block_queue_move(out, in);
	if (!st->storing)
		filter_unwatch(f, side);
	return FILTER_NEXT;
}

static enum filter_result compressed_end(struct filter *f, enum filter_side side)
{
	const struct cache_conf *c = cache_filter_data(f)->conf;
	struct compressed_state *st = f->state;

	if (side != FILTER_RESPONSE || !st->storing)
		return FILTER_NEXT;
	cache_object_shrink(st->storing);
	cache_add(c->cache, st->storing, (unsigned)c->max_secondary);
	give_up(st);
	return FILTER_NEXT;
}

static void compressed_detach(struct filter *f)
{
	give_up(f->state);
}

/* --- configuration ---------------------------------------------------------------------------- */

/* "filter cache-compressed NAME" */
static bool compressed_parse(struct conf_line *l, struct filter_conf *conf)
{
	struct cache_filter *cf = arena_zalloc(&l->cfg->arena, sizeof(*cf));

	if (!cf)
		return conf_error(l, 0, NULL, "out of memory.");
	cf->name = conf_next(l);
	if (!cf->name)
		return conf_error(l, 0, NULL, "'filter' : cache-compressed : expects a <name> "
				  "argument");
	conf->data = cf;
	return true;
}

/* Compression must stand in front. */
static bool compressed_check(struct config *cfg, struct filter_conf *conf, struct diag_list *diags)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };
	struct cache_filter *cf = conf->data;
	const struct filter_conf *f = filter_confs(conf->proxy);

	if (cf->conf)
		return true;
	cf->conf = cache_conf_find(cfg, cf->name);
	while (f && f != conf && !slice_starts(slice_of(f->kind->name), SLICE("comp")))
		f = f->next;
	if (cf->conf && f && f != conf) {
		cf->conf->keeps_compressed = true;
		return true;
	}
	diag_add(diags, DIAG_ALERT, &nowhere, "filter cache, filter compression, filter "
		 "cache-compressed: in this order.",
		 "config: %s '%s': filter 'cache-compressed %s': %s.",
		 proxy_kind_name(conf->proxy), conf->proxy->name, cf->name, cf->conf
		 ? "no compression stands before it" : "unable to find the cache");
	return false;
}

static const struct filter_kind kinds[] = {
	{ .name = "cache-compressed", .group = "CACHE", .id = "cache-compressed filter",
	  .state_size = sizeof(struct compressed_state), .parse = compressed_parse,
	  .check = compressed_check, .begin = compressed_begin, .head = compressed_head,
	  .data = compressed_data, .end = compressed_end, .detach = compressed_detach,
	  .syntax = "<name>", .help = "keeps in a cache what compression made (an extension)" },
	{ 0 }
};

const struct module mod_cache_compressed = { .name = "cache-compressed", .filters = kinds };
