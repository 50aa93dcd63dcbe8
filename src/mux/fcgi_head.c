/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fcgi_head.c - the FastCGI mux: heads of answers
 *
 * An application writes the head of an HTTP/1 answer without its first line. It is gathered in a
 * block after such a line until its end is there, and then parsed like one.
 */
#include "base/clock.h"
#include "codec/date.h"
#include "http/cgi.h"
#include "fcgi_priv.h"
#include "h1_priv.h"

static const struct slice first_line = SLICE("HTTP/1.1 200 OK\r\n");

/* The end of the head, from <from> on, which is behind the end of a line; 0: not there. */
static size_t find_end(const char *p, size_t from, size_t len)
{
	const char *end;

	/* (a line that is looked at again ends before <from>) */
	for (; (end = memchr(p + from, '\n', len - from)); from = (size_t)(end - p) + 1)
		if (end[-1] == '\n' || (end[-1] == '\r' && end[-2] == '\n'))
			return (size_t)(end - p) + 1;
	return 0;
}

/* An application need not know what time it is (RFC 9110 6.6.1). */
static bool add_date(struct http_msg *m)
{
	static __thread char text[DATE_IMF_LEN];
	static __thread int64_t text_s = -1;
	int64_t now_s = (int64_t)(clock_wall_us() / 1000000);
	struct slice copy;

	if (now_s != text_s)
		date_put_imf(text, now_s);
	text_s = now_s;
	copy = arena_copy(m->arena, slice_make(text, DATE_IMF_LEN));
	return copy.ptr && http_msg_put_field(m, FIELD_DATE, field_name_of(FIELD_DATE), copy);
}

static void choose_body(struct fcgi_stream *s, struct http_msg *m, const struct h1_head *head)
{
	s->left = UINT64_MAX;
	m->body = HTTP_BODY_CHUNKED;
	if (head->flags & H1_FL_CHUNKED) {
		s->flags |= FCGIS_FL_CHUNKED;
		chunk_decoder_init(&s->chunk);
	}
	if (s->flags & FCGIS_FL_TO_HEAD || m->status == 204 || m->status == 304) {
		m->body = HTTP_BODY_NONE;
		s->flags |= FCGIS_FL_NO_BODY;
	} else if (head->flags & H1_FL_CONTENT_LENGTH) {
		m->body = HTTP_BODY_LENGTH;
		m->content_length = s->left = head->content_length;
	}
}

/* False: no memory, or no answer. */
static bool fill(struct fcgi_stream *s, struct http_msg *m, const struct h1_head *head)
{
	struct h1_field *list;
	uint64_t there;
	size_t size;

	m->fields.room = head->field_count + 8u;
	list = arena_alloc(m->arena, m->fields.room * sizeof(*list));
	if (!list || !http_msg_hold(m, s->head))
		return false;
	memcpy(list, head->fields, head->field_count * sizeof(*list));
	m->fields.list = list;
	m->fields.count = head->field_count;
	m->flags = HTTP_MSG_RESPONSE;
	/* (an application says nothing of versions: it is asked in the client's) */
	m->version = s->flags & FCGIS_FL_OLD ? 10 : 11;
	m->version_text = s->flags & FCGIS_FL_OLD ? SLICE("HTTP/1.0") : SLICE("HTTP/1.1");
	m->status = 200;
	m->reason = SLICE("OK");
	/* counted is what came: with Status, as the line that it makes, but no date of ours */
	size = http_msg_size(m) - m->reason.len;
	there = http_fields_there(&m->fields);
	if (!cgi_answer_finish(m))
		return false;
	s->ep->rx_bytes += size + m->reason.len;
	if (!(there >> FIELD_DATE & 1) && !add_date(m))
		return false;
	/* the coding is taken off here; how the client gets the body is its side's to decide */
	if (there >> FIELD_TRANSFER_ENCODING & 1)
		http_msg_del_field_of(m, FIELD_TRANSFER_ENCODING, slice_none());
	if (there >> FIELD_TE & 1)
		http_msg_del_field_of(m, FIELD_TE, slice_none());
	choose_body(s, m, head);
	return true;
}

/* The line of a field whose name is none for HTTP, and those which continue it? */
static bool is_strange(struct slice line, bool was)
{
	size_t colon = slice_find_char(line, 0, ':');

	if (line.ptr[0] == ' ' || line.ptr[0] == '\t')
		return was;
	return colon != SIZE_MAX && colon && !h1_is_token(slice_sub(line, 0, colon));
}

/* Leaves such lines out, as HAProxy does: applications are less strict than servers. */
static size_t drop_strange(char *p, size_t len)
{
	size_t to = first_line.len, end;
	bool strange = true; /* (a blank at the start continues nothing) */

	for (size_t at = to; at < len; at = end) {
		end = slice_find_char(slice_make(p, len), at, '\n') + 1;
		strange = is_strange(slice_make(p + at, end - at), strange);
		if (strange)
			continue;
		memmove(p + to, p + at, end - at);
		to += end - at;
	}
	return to;
}

static bool read_head(struct fcgi_stream *s, size_t len, struct h1_head *head)
{
	uint8_t options = H1_OPT_RESPONSE;
	struct h1_parser parser;

	if (s->conn->settings->options & MUX_OPT_UNSAFE)
		options |= H1_OPT_UNSAFE;
	h1_parser_init(&parser, options);
	*head = (struct h1_head){ .fields = h1_scratch_fields,
				  .field_capacity = (uint16_t)h1_scratch_count };
	return h1_parse_head(&parser, slice_make(s->head->data, len), head) == H1_DONE;
}

/* All of the head is there. Most have no strange lines, and are read once. */
static void parse(struct fcgi_stream *s, size_t len)
{
	struct endpoint *ep = s->ep;
	struct h1_head head;
	bool good = read_head(s, len, &head);
	size_t kept = good && !(head.flags & H1_FL_UNTIDY) ? len : drop_strange(s->head->data, len);

	if (kept < len)
		good = read_head(s, kept, &head);
	ep->flags |= EP_RX_ANY;
	if (!good || !fill(s, ep->rx_head, &head)) {
		fcgis_fail(s, EP_RX_BAD, "no valid head of an answer");
		return;
	}
	s->flags |= FCGIS_FL_HEAD;
	ep->rx_head_len = (uint32_t)(len - first_line.len);
	ep->flags |= EP_RX_HEAD;
	if (!s->left || s->flags & FCGIS_FL_NO_BODY)
		fcgis_whole(s);
	fcgis_wake(s);
}

size_t fcgi_take_head(struct fcgi_stream *s, struct slice bytes)
{
	size_t before, n, end;

	if (!s->head) {
		s->head = block_new();
		if (!s->head) {
			fcgis_fail(s, EP_RX_BAD, "out of memory");
			return bytes.len;
		}
		memcpy(s->head->data, first_line.ptr, first_line.len);
		s->head->used = (uint32_t)first_line.len;
	}
	before = s->head->used;
	n = bytes.len < block_room(s->head) ? bytes.len : block_room(s->head);
	memcpy(s->head->data + before, bytes.ptr, n);
	s->head->used += (uint32_t)n;
	end = find_end(s->head->data, before, s->head->used);
	if (!end && !block_room(s->head)) {
		fcgis_fail(s, EP_RX_BAD, "head too large");
		return bytes.len;
	}
	if (!end)
		return n;
	s->head->used = (uint32_t)end;
	parse(s, end);
	block_drop(s->head);
	s->head = NULL;
	return end - before;
}
