/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compression_choose.c - decides on compression and its algorithm, edits the head
 *
 * Manual: configuration 4.2 compression; RFC 9110 8.8.3 (ETag), 12.5.3 (Accept-Encoding), 12.5.5.
 */
#include <limits.h>
#include "base/num.h"
#include "compression_priv.h"

/* --- settings of both proxies ----------------------------------------------------------------- */

static const struct comp_choice *algos_of(const struct stream *s, enum filter_side side)
{
	const struct comp_choice *own = comp_of(s->be)->algos[side];

	return own ? own : comp_of(s->fe)->algos[side];
}

static const struct comp_type *types_of(const struct stream *s, enum filter_side side)
{
	const struct comp_type *own = comp_of(s->be)->types[side];

	return own ? own : comp_of(s->fe)->types[side];
}

static uint64_t min_size_of(const struct stream *s, enum filter_side side)
{
	uint64_t own = comp_of(s->be)->min_size[side];

	return own ? own : comp_of(s->fe)->min_size[side];
}

static bool says(const struct proxy *px, enum filter_side side)
{
	return comp_of(px)->is_used && comp_of(px)->directions[side];
}

static bool goes(const struct stream *s, enum filter_side side)
{
	return says(s->be, side) || says(s->fe, side);
}

bool comp_offloads(const struct stream *s)
{
	return comp_of(s->be)->offload || comp_of(s->fe)->offload;
}

/* --- what the client takes -------------------------------------------------------------------- */

/* Up to the first blank; all of it, if there is none. */
static struct slice first_word(struct slice text)
{
	size_t i = 0;

	while (i < text.len && text.ptr[i] != ' ' && text.ptr[i] != '\t')
		i++;
	return slice_sub(text, 0, i);
}

/* "gzip;q=0.5": the word, and its quality in thousandths. Of what has no comma where one belongs,
 * "gzip x;q=0.5", the first word counts alone, as the reference has it.
 */
static struct slice take_coding(struct slice text, unsigned *quality)
{
	size_t end = slice_find_char(text, 0, ';');
	struct slice all = slice_trim(end == SIZE_MAX ? text : slice_sub(text, 0, end));
	struct slice word = first_word(all);

	*quality = 1000;
	if (word.len < all.len)
		return word;
	while (end != SIZE_MAX) {
		size_t next = slice_find_char(text, end + 1, ';');
		size_t stop = next == SIZE_MAX ? text.len : next;
		struct slice param = slice_trim(slice_sub(text, end + 1, stop));

		if (slice_starts(param, SLICE("q="))) {
			*quality = num_parse_quality(param);
			break;
		}
		end = next;
	}
	return word;
}

/* Browsers name all that they know with the same quality, the oldest first. Of what deflate does
 * the client's first is taken; Brotli and Zstandard, which a configuration has to ask for, go
 * before that, the first of the lines first (which is the last of the list).
 */
static unsigned rank_of(const struct comp_choice *c)
{
	unsigned rank = UINT_MAX;

	if (c->algo->format != COMPRESS_BR && c->algo->format != COMPRESS_ZSTD)
		return 0;
	while ((c = c->next) != NULL)
		rank--;
	return rank;
}

/* The best of the list for what the client says, by quality, then by rank, then by the client's
 * order. What it does not name may be sent as it is.
 */
static const struct comp_algo *choose(const struct http_msg *req, const struct comp_choice *list)
{
	const struct comp_algo *best = NULL;
	struct slice value, rest = slice_none();
	unsigned best_quality = 0, best_rank = 0, quality, rank;
	const struct comp_choice *c;
	int at = -1;

	while (http_value_next(&req->fields, &at, &rest, FIELD_ACCEPT_ENCODING,
			       SLICE("accept-encoding"), &value)) {
		struct slice word = take_coding(value, &quality);
		bool any = slice_eq(word, SLICE("*"));

		for (c = list; c && !any && !slice_eq_nocase(word, c->algo->token);)
			c = c->next;
		rank = c ? rank_of(c) : 0;
		if (c && (quality > best_quality ||
			  (quality && quality == best_quality && rank > best_rank))) {
			best = c->algo;
			best_quality = quality;
			best_rank = rank;
		}
	}
	for (const struct comp_choice *i = list; i && !best; i = i->next)
		if (i->algo->is_identity)
			best = i->algo;
	return best;
}

/* Browsers that say that they decompress and do not do it well: "Mozilla/4", but Internet Explorer
 * from 7 on, and 6 with the service pack 2 of Windows XP.
 */
static bool is_old_browser(const struct http_msg *req)
{
	const struct h1_field *f = http_field_find(&req->fields, FIELD_USER_AGENT,
						   SLICE("user-agent"));
	size_t at;

	if (!f || !slice_starts(f->value, SLICE("Mozilla/4")))
		return false;
	at = slice_find(f->value, SLICE("MSIE "));
	if (at == SIZE_MAX || at + 5 >= f->value.len)
		return true;
	at += 5;
	if (at + 1 < f->value.len && ascii_is_digit(f->value.ptr[at + 1]))
		return false; /* 10, 11 */
	return f->value.ptr[at] < '6' ||
	       (f->value.ptr[at] == '6' && slice_find(f->value, SLICE("SV1")) == SIZE_MAX);
}

const struct comp_algo *comp_choose(const struct stream *s)
{
	const struct comp_choice *list = algos_of(s, FILTER_RESPONSE);

	if (!list || !goes(s, FILTER_RESPONSE) || is_old_browser(&s->req))
		return NULL;
	return choose(&s->req, list);
}

bool comp_has_use(const struct stream *s)
{
	return s->req.version >= 11 && s->req.method != HTTP_METH_HEAD;
}

/* --- what fits -------------------------------------------------------------------------------- */

static struct slice value_of(const struct http_msg *m, uint8_t id, struct slice name)
{
	const struct h1_field *f = http_field_find(&m->fields, id, name);

	return f ? f->value : slice_none();
}

static bool type_fits(struct slice type, const struct comp_type *list)
{
	const struct comp_type *t = list;

	while (t && (!type.ptr || !slice_starts_nocase(type, t->text)))
		t = t->next;
	return !list || t;
}

/* None, or one that is well formed. */
static bool etag_fits(const struct http_msg *m)
{
	struct h1_field *f;
	int at = -1;

	f = http_field_next(&m->fields, &at, FIELD_ETAG, SLICE("etag"));
	if (!f)
		return true;
	if (!slice_starts(f->value, SLICE("W/\"")) &&
	    (f->value.len < 2 || f->value.ptr[0] != '"' || f->value.ptr[f->value.len - 1] != '"'))
		return false;
	return !http_field_next(&m->fields, &at, FIELD_ETAG, SLICE("etag"));
}

bool comp_may_be_transformed(const struct http_msg *m)
{
	struct slice value, rest = slice_none();
	int at = -1;

	while (http_value_next(&m->fields, &at, &rest, FIELD_CACHE_CONTROL, SLICE("cache-control"),
			       &value))
		if (slice_eq_nocase(value, SLICE("no-transform")))
			return false;
	return true;
}

/* There is a body, of which it is known where it ends, and it is large enough. <here>: all of it,
 * if it has come; else UINT64_MAX.
 */
static bool body_fits(const struct http_msg *m, uint64_t min_size, uint64_t here)
{
	if (m->body == HTTP_BODY_LENGTH)
		return m->content_length && m->content_length >= min_size;
	return m->body == HTTP_BODY_CHUNKED && here >= min_size;
}

static bool is_encoded(const struct http_msg *m)
{
	return value_of(m, FIELD_CONTENT_ENCODING, SLICE("content-encoding")).ptr;
}

const struct comp_algo *comp_choose_request(const struct stream *s)
{
	const struct comp_choice *list = algos_of(s, FILTER_REQUEST);
	const struct endpoint *front = &s->front;
	const struct http_msg *m = &s->req;

	if (!list || !goes(s, FILTER_REQUEST) || m->version < 11 || is_encoded(m) ||
	    !body_fits(m, min_size_of(s, FILTER_REQUEST),
		       front->flags & EP_RX_END ? front->rx.len : UINT64_MAX) ||
	    !type_fits(value_of(m, FIELD_CONTENT_TYPE, SLICE("content-type")),
		       types_of(s, FILTER_REQUEST)) ||
	    !etag_fits(m))
		return NULL;
	return list->algo;
}

bool comp_answer_fits(const struct stream *s)
{
	const struct http_msg *m = &s->res;
	struct slice type = value_of(m, FIELD_CONTENT_TYPE, SLICE("content-type"));
	const struct endpoint *back = &s->back;

	return m->version >= 11 && m->status >= 200 && m->status <= 203 && !is_encoded(m) &&
	       body_fits(m, min_size_of(s, FILTER_RESPONSE),
			 !s->service && back->flags & EP_RX_END ? back->rx.len : UINT64_MAX) &&
	       comp_may_be_transformed(m) && etag_fits(m) &&
	       !(type.ptr && slice_starts_nocase(type, SLICE("multipart"))) &&
	       type_fits(type, types_of(s, FILTER_RESPONSE));
}

/* --- heads ------------------------------------------------------------------------------------ */

/* Caches must keep what is sent apart by Accept-Encoding. */
static bool edit_vary(struct http_msg *m)
{
	struct slice value, rest = slice_none(), name = SLICE("vary");
	struct h1_field *f, *last = NULL;
	char *text;
	int at = -1;

	while (http_value_next(&m->fields, &at, &rest, FIELD_VARY, name, &value))
		if (slice_eq_nocase(value, SLICE("accept-encoding")))
			return true;
	at = -1;
	while ((f = http_field_next(&m->fields, &at, FIELD_VARY, name)) != NULL)
		last = f;
	if (!last)
		return http_msg_add_field(m, name, SLICE("Accept-Encoding"));
	if (!last->value.len)
		return http_msg_set_value(m, last, SLICE("Accept-Encoding"));
	text = arena_printf(m->arena, "%.*s,Accept-Encoding", SLICE_FMT(last->value));
	return text && http_msg_set_value(m, last, slice_of(text));
}

bool comp_edit_etag(struct http_msg *m)
{
	struct h1_field *f = http_field_find(&m->fields, FIELD_ETAG, SLICE("etag"));
	char *text;

	if (!f || !f->value.len || f->value.ptr[0] != '"')
		return true;
	text = arena_printf(m->arena, "W/%.*s", SLICE_FMT(f->value));
	return text && http_msg_set_value(m, f, slice_of(text));
}

bool comp_edit_head(struct http_msg *m, const struct comp_algo *algo)
{
	return (m->body == HTTP_BODY_CHUNKED || filter_set_chunked(m)) && edit_vary(m) &&
	       comp_edit_etag(m) &&
	       (algo->is_identity ||
		http_msg_add_field(m, SLICE("content-encoding"), algo->token));
}
