/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache_give.c - the service that stands in a server's place: an object as an answer */
#include "base/clock.h"
#include "base/num.h"
#include "cache_priv.h"

/* Bytes; they are not copied. */
#define GIVEN_AT_ONCE (256 * 1024)

struct giving {
	const struct cache_part *next;
	uint64_t skip, left;           /* of <next>, and in all */
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

/* The object is held as long as the head is of use. Its lines lie as they are sent, one behind the
 * other: a mux of HTTP/1 copies them in one piece.
 */
static bool add_fields(struct service_call *c, const struct cache_object *o)
{
	uint64_t age_s = (clock_now_ms() - o->stored_ms) / 1000 + o->age_s;
	const struct cache_field *f = cache_fields_of(o), *end = f + o->field_count;
	const char *at = cache_line_of(o, 0);
	struct http_fields *to = &c->head->fields;

	if (!http_fields_reserve(to, c->head->arena, o->field_count + 2U)) /* (age, length) */
		return false;
	for (; f < end; f++) {
		to->list[to->count++] = (struct h1_field){
			.name = slice_make(at, f->name_len), .id = f->id,
			.value = slice_make(at + f->name_len + 2, f->value_len),
		};
		at += f->name_len + 4U + f->value_len;
	}
	return add_number(c, FIELD_AGE, SLICE("age"), age_s);
}

static bool add_length(struct service_call *c, uint64_t len)
{
	c->head->body = HTTP_BODY_LENGTH;
	c->head->content_length = len;
	return add_number(c, FIELD_CONTENT_LENGTH, SLICE("content-length"), len);
}

static bool add_range(struct service_call *c, const char *fmt, uint64_t from, uint64_t to,
		      uint64_t len)
{
	char text[80];
	struct strbuf b;

	strbuf_init_fixed(&b, text, sizeof(text));
	strbuf_printf(&b, fmt, (unsigned long long)from, (unsigned long long)to,
		      (unsigned long long)len);
	return http_msg_set_field(c->head, SLICE("content-range"), strbuf_slice(&b));
}

/* RFC 9110 15.4.5, 15.3.7, 15.5.17. Sets what is sent of the body. */
static bool make_head(struct service_call *c, const struct cache_hit *hit, struct giving *g)
{
	const struct cache_object *o = hit->object;
	const struct http_msg *request = &c->stream->req;
	uint64_t len = o->body->len, from = 0, to = 0;
	enum cache_range range = CACHE_WHOLE;

	if (hit->is_conditional && o->status >= 200 && o->status < 300 &&
	    cache_is_unchanged(request, cache_value_of(o, o->etag), o->modified_s)) {
		c->head->body = HTTP_BODY_NONE;
		return http_msg_set_status(c->head, 304, slice_none()) && add_fields(c, o);
	}
	if (hit->ranges && o->status == 200)
		range = cache_range_of(request, cache_value_of(o, o->etag), o->modified_s, len,
				       &from, &to);
	if (range == CACHE_OUTSIDE)
		return http_msg_set_status(c->head, 416, slice_none()) && add_length(c, 0) &&
		       add_range(c, "bytes */%3$llu", 0, 0, len);
	if (!add_fields(c, o) ||
	    (hit->ranges && o->status == 200 &&
	     !http_msg_set_field(c->head, SLICE("accept-ranges"), SLICE("bytes"))))
		return false;
	if (o->status != 200 && !http_msg_set_status(c->head, o->status, slice_none()))
		return false;
	g->left = len;
	if (o->status == 204) {
		c->head->body = HTTP_BODY_NONE;
		return true;
	}
	if (range != CACHE_PART)
		return add_length(c, len);
	g->left = to - from + 1;
	g->skip = from;
	return http_msg_set_status(c->head, 206, slice_none()) && add_length(c, g->left) &&
	       add_range(c, "bytes %llu-%llu/%llu", from, to, len);
}

static bool giving_start(struct service_call *c)
{
	const struct cache_hit *hit = c->arg;
	struct giving *g = c->state;

	if (!hit->object) /* RFC 9111 5.2.1.7: only-if-cached */
		return http_msg_set_status(c->head, 504, slice_none()) && add_length(c, 0);
	if (!make_head(c, hit, g))
		return false;
	if (!g->left || c->stream->req.method == HTTP_METH_HEAD) {
		g->left = 0;
		return true;
	}
	g->block = block_new_foreign(release_object, hit->object);
	if (!g->block)
		return false;
	cache_object_take(hit->object);
	g->next = &hit->object->body->first;
	return true;
}

static enum service_result giving_fill(struct service_call *c, struct block_queue *to)
{
	struct giving *g = c->state;

	for (size_t given = 0; g->left && given < GIVEN_AT_ONCE;) {
		struct slice s = cache_body_next(&g->next, &g->skip);

		s.len = s.len < g->left ? s.len : (size_t)g->left;
		if (!s.len || !block_queue_add(to, g->block, s.ptr, s.len))
			return SERVICE_ERROR;
		g->left -= s.len;
		given += s.len;
	}
	return g->left ? SERVICE_MORE : SERVICE_DONE;
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
