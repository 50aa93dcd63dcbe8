/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes HTTP/2 frames and heads: the input is a sequence of frames after one byte of options.
 * What is accepted must be free of all that could be read in two ways in HTTP/1.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "codec/h2_frame.h"
#include "codec/h2_head.h"

#define LIST_MAX 4096

static char text[H2_HEAD_TEXT_ROOM(LIST_MAX)];

static void check(bool good)
{
	if (!good)
		abort();
}

static bool is_line_safe(struct slice s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] == '\r' || s.ptr[i] == '\n' || s.ptr[i] == 0)
			return false;
	}
	return true;
}

/* Visible ASCII without blanks: a word of a request line. */
static bool is_word(struct slice s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] <= ' ' || s.ptr[i] >= 127)
			return false;
	}
	return true;
}

static void check_field(const struct h1_field *f)
{
	check(f->name.len && is_line_safe(f->value) && is_word(f->name));
	check(!memchr(f->name.ptr, ':', f->name.len));
	check(f->id == field_id_of(f->name));
	for (size_t i = 0; i < f->name.len; i++)
		check(ascii_lower(f->name.ptr[i]) == f->name.ptr[i]);
	check(f->id != FIELD_CONNECTION && f->id != FIELD_TRANSFER_ENCODING &&
	      f->id != FIELD_UPGRADE && f->id != FIELD_KEEP_ALIVE);
}

static void check_head(const struct h2_head *head, unsigned kind)
{
	unsigned hosts = 0, lengths = 0, cookies = 0;

	check(is_word(head->method) && is_word(head->path) && is_word(head->authority) &&
	      is_word(head->scheme) && is_word(head->protocol));
	for (unsigned i = 0; i < head->field_count; i++) {
		check_field(&head->fields[i]);
		hosts += head->fields[i].id == FIELD_HOST;
		lengths += head->fields[i].id == FIELD_CONTENT_LENGTH;
		cookies += head->fields[i].id == FIELD_COOKIE;
	}
	check(lengths <= 1 && lengths == !!(head->flags & H2_HEAD_FL_CONTENT_LENGTH));
	if (kind == H2_HEAD_REQUEST) {
		check(head->method.len > 0 && hosts <= 1 && cookies <= 1);
		check(hosts == !!(head->flags & H2_HEAD_FL_HOST));
		check(head->method_id == H1_METHOD_CONNECT || head->path.len > 0);
		check(!hosts || head->fields[head->host_index].id == FIELD_HOST);
	}
	if (kind == H2_HEAD_RESPONSE)
		check(head->status >= 100 && head->status <= 999 && head->status != 101);
}

static bool run_block(struct hpack_decoder *d, struct slice block, unsigned options)
{
	static struct h1_field fields[H2_HEAD_FIELD_ROOM(32)];
	static char there[sizeof(text)];
	struct h2_head head = { .fields = fields, .field_capacity = 32, .list_max = LIST_MAX,
				.text_max = LIST_MAX, .text = text };
	unsigned kind = (options >> 5) % 3;
	enum h2_head_status status = h2_head_decode(d, block, kind, options & 0x1f, &head);

	if (status == H2_HEAD_OK) {
		check(head.text_len <= sizeof(text) && !head.error);
		check(head.field_count <= head.field_capacity);
		memcpy(there, text, head.text_len);
		h2_head_move(&head, there);
		memset(text, 0, sizeof(text));
		check_head(&head, kind);
	}
	check(status != H2_HEAD_REFUSED || head.error || options & H2_HEAD_OPT_DISCARD);
	return status != H2_HEAD_BROKEN;
}

/* Returns false when the connection would be closed. */
static bool run_frame(const struct h2_frame *f, struct slice payload, struct hpack_decoder *d,
		      unsigned options)
{
	struct h2_settings s, back;
	char out[H2_SETTINGS_LEN_MAX], *end;
	struct h2_content c;
	bool connection, self;

	if (h2_frame_check(f, H2_FRAME_SIZE_MIN, &connection))
		return !connection;
	if (f->type == H2_FT_SETTINGS) {
		h2_settings_init(&s);
		if (h2_settings_parse(&s, payload, options & 1))
			return false;
		end = h2_settings_put(out, &s);
		h2_settings_init(&back);
		check(!h2_settings_parse(&back, slice_make(out + 9, (size_t)(end - out - 9)),
					 false));
		check(memcmp(&s, &back, sizeof(s)) == 0);
	}
	if (f->type > H2_FT_HEADERS && f->type != H2_FT_PUSH_PROMISE)
		return true;
	if (h2_content_parse(f, slice_sub(payload, 0, H2_CONTENT_LEAD_MAX), &c, &self))
		return false;
	check((uint64_t)c.lead + c.pad <= f->length);
	if (f->type != H2_FT_HEADERS)
		return true;
	return run_block(d, slice_sub(payload, c.lead, payload.len - c.pad), options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = slice_make((const char *)data, size);
	struct hpack_decoder d;
	unsigned options;
	struct h2_frame f;

	if (size < 1)
		return 0;
	options = data[0];
	in = slice_sub(in, 1, in.len);
	hpack_decoder_init(&d, HPACK_TABLE_SIZE);
	while (in.len >= H2_FRAME_HEADER_LEN) {
		char *copy;
		bool go_on;

		f = h2_frame_parse(in.ptr);
		if (f.length > in.len - H2_FRAME_HEADER_LEN)
			break;
		copy = malloc(f.length + 1);
		if (!copy)
			break;
		memcpy(copy, in.ptr + H2_FRAME_HEADER_LEN, f.length);
		go_on = run_frame(&f, slice_make(copy, f.length), &d, options);
		free(copy);
		if (!go_on)
			break;
		in = slice_sub(in, H2_FRAME_HEADER_LEN + f.length, in.len);
	}
	hpack_decoder_fini(&d);
	return 0;
}
