/* SPDX-License-Identifier: GPL-2.0-or-later */
/* call_queue.c - calls until they are delivered, a queue for each thread
 *
 *	call_add --> waiting --> under way --> 2xx: delivered
 *	                ^            |-------> other: refused
 *	                +-- later ---+-------> too often: given up
 */
#include <stdlib.h>
#include <string.h>
#include "base/block.h"
#include "base/clock.h"
#include "base/list.h"
#include "core/counter.h"
#include "core/timer.h"
#include "client/http_client.h"
#include "proxy/proxy.h"
#include "call_priv.h"

#define KEPT 1000
#define AT_ONCE 8
#define TRIES 10
#define LATEST_MS 60000
#define ANSWER_MS 10000

struct post {
	struct list link;
	struct http_call *call;       /* NULL: it waits */
	uint64_t due_ms;
	unsigned tries;
	uint16_t status;              /* of the last try */
	size_t method_len, url_len, body_len;
	unsigned field_count;
	char bytes[];                 /* method, url, body, then lengths, names and values */
};

static __thread struct list posts;    /* the oldest first */
static __thread unsigned kept, under_way;
static __thread struct timer timer;
static __thread bool is_ready;
static struct counter_set counts;

static void count(enum call_count which, int64_t n)
{
	counter_add(&counts, which, n);
}

uint64_t call_figure(enum call_count which)
{
	return counter_read(&counts, which);
}

static void post_free(struct post *p)
{
	list_remove(&p->link);
	kept--;
	count(CALL_WAITING, -1);
	free(p);
}

/* --- one try ---------------------------------------------------------------------------------- */

static void look(void);

static enum inside_result post_part(struct http_call *c, struct block_queue *to)
{
	const struct post *p = c->ctx;
	struct slice body = slice_make(p->bytes + p->method_len + p->url_len, p->body_len);

	return block_queue_add_copy(to, body) ? INSIDE_DONE : INSIDE_ERROR;
}

static void post_head(struct http_call *c, const struct http_msg *m)
{
	if (!(m->flags & HTTP_MSG_INTERIM))
		((struct post *)c->ctx)->status = m->status;
}

/* Later, or never again. */
static void put_off(struct post *p)
{
	uint64_t wait_ms = p->tries < 7 ? (uint64_t)500 << p->tries : LATEST_MS;

	if (p->tries < TRIES) {
		p->due_ms = clock_now_ms() + wait_ms;
		if (p->due_ms < timer.expire_ms)
			timer_set(&timer, p->due_ms);
		return;
	}
	count(CALL_GIVEN_UP, 1);
	post_free(p);
}

static void post_end(struct http_call *c, bool whole, enum stream_end why)
{
	struct post *p = c->ctx;
	bool answered = whole && p->status >= 200;

	p->call = NULL;
	under_way--;
	if (answered && p->status < 300) {
		count(CALL_DELIVERED, 1);
		post_free(p);
	} else if (answered && p->status < 500 && p->status != 408 && p->status != 429) {
		count(CALL_REFUSED, 1);
		post_free(p);
	} else {
		put_off(p);
	}
	look();
}

static const struct http_call_kind post_kind = {
	.name = "CALL", .part = post_part, .head = post_head, .end = post_end,
};

static bool add_fields(struct http_call *c, const struct post *p)
{
	const char *at = p->bytes + p->method_len + p->url_len + p->body_len;

	for (unsigned i = 0; i < p->field_count; i++) {
		struct slice name, value;
		size_t lens[2];

		memcpy(lens, at, sizeof(lens));
		name = slice_make(at + sizeof(lens), lens[0]);
		value = slice_make(name.ptr + lens[0], lens[1]);
		if (!http_msg_add_field(c->request, name, value))
			return false;
		at = value.ptr + value.len;
	}
	return true;
}

static void begin(struct post *p)
{
	const char *why;
	struct http_call *c = http_call_new(proxies_current(), &post_kind, p,
					    slice_make(p->bytes, p->method_len),
					    slice_make(p->bytes + p->method_len, p->url_len), &why);

	p->tries++;
	p->status = 0;
	count(CALL_TRIES, 1);
	if (c && http_call_set_timeout(c, ANSWER_MS) && add_fields(c, p) &&
	    (!p->body_len || http_call_has_body(c, p->body_len))) {
		p->call = c;
		under_way++;
		http_call_start(c);
		return;
	}
	if (c)
		http_call_cancel(c);
	if (c || strcmp(why, "out of memory") == 0) {
		put_off(p);
		return;
	}
	/* what is no URL will not become one */
	count(CALL_REFUSED, 1);
	post_free(p);
}

/* --- the queue -------------------------------------------------------------------------------- */

/* Begins what is due, and sleeps until something is. */
static void look(void)
{
	uint64_t now_ms = clock_now_ms(), next_ms = 0;
	struct post *p, *next;

	list_for_each_safe(p, next, &posts, link) {
		if (p->call)
			continue;
		if (p->due_ms > now_ms)
			next_ms = !next_ms || p->due_ms < next_ms ? p->due_ms : next_ms;
		else if (under_way < AT_ONCE)
			begin(p);
	}
	if (next_ms)
		timer_set(&timer, next_ms);
}

static void timer_fired(struct timer *t)
{
	look();
}

/* The oldest that is not under way leaves. */
static void make_room(void)
{
	struct post *p;

	if (kept < KEPT)
		return;
	list_for_each(p, &posts, link) {
		if (p->call)
			continue;
		count(CALL_DROPPED, 1);
		post_free(p);
		return;
	}
}

static char *put(char *to, struct slice s)
{
	memcpy(to, s.ptr, s.len);
	return to + s.len;
}

void call_add(const struct call_wish *w)
{
	size_t fields_len = 0;
	struct post *p;
	char *to;

	for (unsigned i = 0; i < w->field_count; i++)
		fields_len += w->fields[i].name.len + w->fields[i].value.len + 2 * sizeof(size_t);
	p = is_ready ? calloc(1, sizeof(*p) + w->method.len + w->url.len + w->body.len + fields_len)
		     : NULL;
	count(CALL_MADE, 1);
	if (!p) {
		count(CALL_DROPPED, 1);
		return;
	}
	p->method_len = w->method.len;
	p->url_len = w->url.len;
	p->body_len = w->body.len;
	p->field_count = w->field_count;
	to = put(put(p->bytes, w->method), w->url);
	if (w->body.len)
		to = put(to, w->body);
	for (unsigned i = 0; i < w->field_count; i++) {
		size_t lens[2] = { w->fields[i].name.len, w->fields[i].value.len };

		to = mempcpy(to, lens, sizeof(lens));
		to = put(put(to, w->fields[i].name), w->fields[i].value);
	}
	make_room();
	list_append(&posts, &p->link);
	kept++;
	count(CALL_WAITING, 1);
	/* (what was due before and found a place is under way: the others need no look) */
	if (under_way < AT_ONCE)
		begin(p);
}

/* --- life ------------------------------------------------------------------------------------- */

bool call_queue_init(void)
{
	return counter_set_init(&counts, CALL_COUNT);
}

bool call_queue_thread_init(void)
{
	list_init(&posts);
	timer_init(&timer, timer_fired);
	is_ready = true;
	return true;
}

void call_queue_thread_fini(void)
{
	struct post *p, *next;

	is_ready = false;
	timer_cancel(&timer);
	list_for_each_safe(p, next, &posts, link) {
		if (p->call)
			http_call_cancel(p->call);
		post_free(p);
	}
}

void call_queue_fini(void)
{
	counter_set_fini(&counts);
}
