/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sniff.c - fetches that look at bytes: those of a side in one piece, and HTTP seen in mode tcp
 *
 * A TCP stream whose rules use HTTP facts has its first bytes parsed as a request. The result is
 * kept with the stream and computed again when more bytes have arrived.
 */
#include "codec/h1.h"
#include "stream/sample.h"

#define FIELDS_MAX 100

struct sniff {
	size_t seen;               /* bytes that were looked at */
	enum h1_status status;
	struct slice bytes;
	struct http_msg msg;
	struct h1_field fields[FIELDS_MAX];
};

static struct slot sniff_slot = { .of = SLOT_STREAM, .size = sizeof(struct sniff *) };
static struct slot *const slots[] = { &sniff_slot, NULL };

const struct module mod_sniff = { .name = "sniffing", .slots = slots };

/* A copy in one piece: a parser that writes into what it reads must not have the bytes themselves,
 * which are still to be forwarded as they came.
 */
static struct slice bytes_copy(struct stream *s, const struct block_queue *q)
{
	char *copy = arena_alloc(&s->arena, q->len + 1);

	return copy ? slice_make(copy, block_queue_peek(q, 0, copy, q->len)) : slice_none();
}

struct slice smp_bytes(struct stream *s, const struct block_queue *q)
{
	if (!q->len)
		return SLICE("");
	if (q->first->len == q->len)
		return slice_make(q->first->ptr, q->len);
	return bytes_copy(s, q);
}

/* Of HTTP/2 the preface is what can be read: a request PRI with no field. */
static void sniff_preface(struct stream *s, struct http_msg *m)
{
	http_msg_init(m, &s->arena);
	m->version = 20;
	m->method_text = SLICE("PRI");
	m->method = (uint8_t)http_method_of(m->method_text);
	m->uri = SLICE("*");
	m->version_text = SLICE("HTTP/2.0");
}

static void sniff_parse(struct stream *s, struct sniff *sn)
{
	struct h1_head head = { .fields = sn->fields, .field_capacity = FIELDS_MAX };
	struct http_msg *m = &sn->msg;
	struct h1_parser parser;

	sn->seen = s->front.rx.len;
	sn->bytes = bytes_copy(s, &s->front.rx);
	sn->status = H1_MORE;
	if (!sn->bytes.len)
		return;
	sn->status = h1_match_preface(sn->bytes);
	if (sn->status == H1_DONE)
		sniff_preface(s, m);
	if (sn->status != H1_ERROR)
		return;
	h1_parser_init(&parser, 0);
	sn->status = h1_parse_head(&parser, sn->bytes, &head);
	if (sn->status != H1_DONE)
		return;
	http_msg_init(m, &s->arena);
	m->fields.list = sn->fields;
	m->fields.count = m->fields.room = head.field_count;
	m->version = (uint8_t)(head.version.len ? head.major * 10 + head.minor : 9);
	m->method = (uint8_t)http_method_of(head.method);
	m->method_text = head.method;
	m->uri = head.uri;
	m->version_text = head.version;
	if (head.target == H1_TARGET_ABSOLUTE)
		m->flags |= HTTP_MSG_ABSOLUTE;
}

const struct http_msg *smp_sniff(struct expr_ctx *ctx, enum expr_result *ret)
{
	struct stream *s = ctx->stream;
	struct sniff **at = slot_of(&sniff_slot, stream_slots(s));

	*ret = EXPR_NONE;
	if (!*at)
		*at = arena_zalloc(&s->arena, sizeof(**at));
	if (!*at)
		return NULL;
	if ((*at)->seen != s->front.rx.len || !(*at)->seen)
		sniff_parse(s, *at);
	if ((*at)->status == H1_DONE)
		return &(*at)->msg;
	if ((*at)->status == H1_MORE && !(ctx->flags & EXPR_FINAL) &&
	    !(s->front.flags & EP_RX_END))
		*ret = EXPR_WAIT;
	return NULL;
}
