/* SPDX-License-Identifier: GPL-2.0-or-later */
/* haterm.c - the service haterm
 *
 * The text after the first '?' of the target is split at "&?,;/" into letters with a value:
 *
 *    s=SIZE    bytes of the body, with k, m or g         0      r=STATUS  200 to 599         200
 *    t=TIME    ms before the answer begins               0      c=0       not to be cached
 *    C=1       close the connection behind the answer           K=1       keep it (the default)
 *    k=1       a body without length: chunked                   R=1       random bytes
 *    X=COUNT   that many more fields                     0
 *
 * Unknown letters and invalid values are ignored.
 *
 * As "use-service haterm direct", small answers without delay and other special options are sent
 * without a stream: each thread keeps the last one, head and body, as a block to be sent again.
 */
#include "ext/haterm.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "conf/conf.h"
#include "stream/service.h"
#include "stream/stream.h"

/* Bytes of the constant texts; a piece of a body is at most this long. */
#define TEXT_SIZE 65536
/* How much of a body is added in one part. */
#define BYTES_A_PART (4 * TEXT_SIZE)
#define DELAY_MAX_MS 3600000
#define FIELDS_MAX 60
#define LINE 50

static char plain[TEXT_SIZE], noise[TEXT_SIZE];

struct term {
	uint64_t left;          /* bytes of the body to come */
	unsigned status, delay_ms, fields;
	bool uncached, close, chunked, random;
};

/* --- the request ------------------------------------------------------------------------------ */

static void take_number(uint64_t value, uint64_t low, uint64_t high, unsigned *to)
{
	if (value >= low && value <= high)
		*to = (unsigned)value;
}

static void take_letter(struct term *t, char letter, struct slice text)
{
	uint64_t value;

	if (num_parse_size(text, &value, NULL) != NUM_OK)
		return;
	switch (letter) {
	case 's':
		t->left = value;
		break;
	case 'r':
		take_number(value, 200, 599, &t->status);
		break;
	case 't':
		take_number(value, 0, DELAY_MAX_MS, &t->delay_ms);
		break;
	case 'c':
		t->uncached = !value;
		break;
	case 'C':
		t->close = value;
		break;
	case 'K':
		t->close = !value;
		break;
	case 'k':
		t->chunked = value;
		break;
	case 'R':
		t->random = value;
		break;
	case 'X':
		take_number(value, 0, FIELDS_MAX, &t->fields);
		break;
	}
}

static bool is_separator(char c)
{
	return c == '&' || c == '?' || c == ',' || c == ';' || c == '/';
}

static void read_target(struct term *t, struct slice query)
{
	size_t from = 0;

	t->status = 200;
	while (from < query.len) {
		size_t to = from;

		while (to < query.len && !is_separator(query.ptr[to]))
			to++;
		if (to - from > 2 && query.ptr[from + 1] == '=')
			take_letter(t, query.ptr[from], slice_sub(query, from + 2, to));
		from = to + 1;
	}
}

/* Is there nothing to it but a body? */
static bool is_plain(const struct term *t)
{
	return t->status == 200 && !t->delay_ms && !t->fields && !t->uncached && !t->close &&
	       !t->chunked && !t->random;
}

static unsigned haterm_delay_ms(struct service_call *c)
{
	struct term *t = c->state;

	read_target(t, http_msg_query(&c->stream->req));
	return t->delay_ms;
}

/* --- the answer ------------------------------------------------------------------------------- */

static bool add_fields(struct service_call *c, unsigned count)
{
	char name[24];

	for (unsigned i = 1; i <= count; i++) {
		snprintf(name, sizeof(name), "x-haterm-%u", i);
		if (!http_msg_add_field(c->head, slice_of(name), slice_make(plain, LINE - 1)))
			return false;
	}
	return true;
}

static bool haterm_start(struct service_call *c)
{
	struct term *t = c->state;
	struct http_msg *m = c->head;
	char *length = arena_alloc(&c->stream->arena, NUM_U64_MAX);

	if (!length || (t->status != 200 && !http_msg_set_status(m, t->status, slice_none())))
		return false;
	if (t->close)
		c->stream->flags |= STRM_CLIENT_CLOSE;
	if (t->status == 204 || t->status == 304)
		t->left = 0;
	if (!t->chunked) {
		m->body = HTTP_BODY_LENGTH;
		m->content_length = t->left;
		if (!http_msg_put_field(m, FIELD_CONTENT_LENGTH, SLICE("content-length"),
					slice_make(length, num_put_u64(length, t->left))))
			return false;
	}
	if (t->uncached && !http_msg_add_field(m, SLICE("cache-control"), SLICE("no-cache")))
		return false;
	if (t->fields && !add_fields(c, t->fields))
		return false;
	if (c->stream->req.method == HTTP_METH_HEAD)
		t->left = 0;
	return true;
}

static enum service_result haterm_fill(struct service_call *c, struct block_queue *to)
{
	struct term *t = c->state;
	const char *text = t->random ? noise : plain;

	for (size_t added = 0; t->left && added < BYTES_A_PART;) {
		size_t n = t->left < TEXT_SIZE ? (size_t)t->left : TEXT_SIZE;

		if (!block_queue_add_static(to, slice_make(text, n)))
			return SERVICE_ERROR;
		t->left -= n;
		added += n;
	}
	return t->left ? SERVICE_MORE : SERVICE_DONE;
}

/* --- the answer without a stream -------------------------------------------------------------- */

/* The last one of this thread. */
static __thread struct {
	struct block *block;    /* head and body; NULL: none yet */
	char query[64];         /* what asked for it */
	size_t query_len;
} last;

static void forget_last(void)
{
	block_drop(last.block);
	last.block = NULL;
}

/* Makes the answer to <query>. False: it needs a stream, or there is no memory. */
static bool make_last(struct slice query)
{
	struct term t = { 0 };
	struct block *b;
	struct strbuf text;

	read_target(&t, query);
	if (query.len > sizeof(last.query) || !is_plain(&t) || t.left > TEXT_SIZE)
		return false;
	b = block_new();
	if (!b)
		return false;
	strbuf_init_fixed(&text, b->data, b->size);
	strbuf_printf(&text, "HTTP/1.1 200 OK\r\ncontent-length: %u\r\n\r\n", (unsigned)t.left);
	strbuf_add(&text, slice_make(plain, (size_t)t.left));
	if (text.overflow) {
		block_drop(b);
		return false;
	}
	b->used = (uint32_t)text.len;
	forget_last();
	last.block = b;
	memcpy(last.query, query.ptr, query.len);
	last.query_len = query.len;
	return true;
}

static unsigned haterm_direct(struct slice target, struct block_queue *out)
{
	const char *mark = memchr(target.ptr, '?', target.len);
	struct slice query = slice_make(target.ptr + target.len, 0);

	if (mark)
		query = slice_sub(target, (size_t)(mark + 1 - target.ptr), target.len);
	if (!last.block || !slice_eq(query, slice_make(last.query, last.query_len)))
		if (!make_last(query))
			return 0;
	return block_queue_add(out, last.block, last.block->data, last.block->used) ? 200 : 0;
}

/* Lines of digits, so that what is cut or swapped is seen; and bytes that do not compress. */
static void make_texts(void)
{
	for (size_t i = 0; i < TEXT_SIZE; i++)
		plain[i] = i % LINE == LINE - 1 ? '\n' : i % 10 == 9 ? '.' : (char)('0' + i % 10);
	for (uint64_t i = 0; i < TEXT_SIZE / sizeof(i); i++) {
		uint64_t v = hash_u64(i + 1);

		memcpy(noise + i * sizeof(v), &v, sizeof(v));
	}
}

static bool haterm_parse(struct conf_line *l, const void **arg);

static const struct service_kind services[] = {
	{ .name = "haterm", .shown = "<HATERM>", .state_size = sizeof(struct term),
	  .parse = haterm_parse, .direct = haterm_direct,
	  .after_request = true, .delay_ms = haterm_delay_ms, .start = haterm_start,
	  .fill = haterm_fill, .help = "a dummy server: the request describes the answer" },
	{ 0 }
};

/* [direct]. A configuration that does not use the service pays nothing for it. */
static bool haterm_parse(struct conf_line *l, const void **arg)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const char *word = conf_peek(l);

	if (pthread_once(&once, make_texts) != 0)
		return false;
	if (!word || strcmp(word, "direct") != 0)
		return true;
	l->at++;
	return service_make_direct(l, &services[0]);
}

const struct module mod_haterm = {
	.name = "haterm", .services = services, .thread_fini = forget_last,
};
