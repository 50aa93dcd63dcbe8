/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h1.c - the driver of the H1 head parser
 *
 * A head is read line by line, in one pass:
 *
 *     PHASE_EMPTY --> PHASE_START --> PHASE_FIELDS --> PHASE_DONE
 *     (skip CRLFs)    (start line)    (each field)     (framing decided)
 *
 * Only whole lines advance the parser: an incomplete line is read again from its start when more
 * bytes have arrived. So no state within a line is kept, and the usual case, a head that arrives in
 * one piece, costs nothing extra.
 */
#include "h1_priv.h"

enum h1_phase { PHASE_EMPTY, PHASE_START, PHASE_FIELDS, PHASE_DONE, PHASE_FAILED };

static inline void h1_move_slice(struct slice *s, const char *from, const char *to)
{
	if (s->ptr)
		s->ptr = to + (s->ptr - from);
}

/* The input is elsewhere than at the last call. */
static void h1_move_head(struct h1_parser *p, struct h1_head *out, const char *to)
{
	const char *from = p->base;

	h1_move_slice(&out->method, from, to);
	h1_move_slice(&out->uri, from, to);
	h1_move_slice(&out->version, from, to);
	h1_move_slice(&out->reason, from, to);
	for (uint16_t i = 0; i < out->field_count; i++) {
		h1_move_slice(&out->fields[i].name, from, to);
		h1_move_slice(&out->fields[i].value, from, to);
	}
}

static enum h1_status h1_fail(struct h1_parser *p, struct slice input, const char *at,
			      uint8_t error)
{
	h1_line_bad(p, input, at, error);
	p->phase = PHASE_FAILED;
	return H1_ERROR;
}

static void h1_head_clear(struct h1_head *out)
{
	struct h1_head clean = { .fields = out->fields, .field_capacity = out->field_capacity,
				 .host_index = -1 };

	*out = clean;
}

/* Empty lines before a start line are tolerated (RFC 9112 2.2). */
static enum h1_status h1_skip_empty(struct h1_parser *p, struct slice input)
{
	size_t at = p->line;

	while (at < input.len) {
		if (input.ptr[at] == '\n') {
			at++;
		} else if (input.ptr[at] == '\r') {
			if (at + 1 == input.len)
				break;
			if (input.ptr[at + 1] != '\n')
				return h1_fail(p, input, input.ptr + at, H1_ERR_BARE_CR);
			at += 2;
		} else {
			break;
		}
		p->line = (uint32_t)at;
	}
	if (at == input.len || input.ptr[at] == '\r')
		return H1_MORE;
	p->phase = PHASE_START;
	return H1_DONE;
}

static enum h1_status h1_finish(struct h1_parser *p, struct slice input, struct h1_head *out,
				const char *at)
{
	uint8_t error;

	out->length = (size_t)(at - input.ptr);
	error = h1_decide(p, out);
	if (error)
		return h1_fail(p, input, at, error);
	p->phase = PHASE_DONE;
	return H1_DONE;
}

static enum h1_status h1_parse_start(struct h1_parser *p, struct slice input, struct h1_head *out)
{
	bool response = p->options & H1_OPT_RESPONSE;
	enum h1_line got;
	uint8_t error;

	got = response ? h1_read_status_line(p, input, out) : h1_read_request_line(p, input, out);
	if (got == H1_LINE_MORE)
		return H1_MORE;
	if (got == H1_LINE_BAD)
		return h1_fail(p, input, input.ptr + p->error_offset, p->error);
	if (!response) {
		error = h1_check_target(p, out);
		if (error)
			return h1_fail(p, input, out->uri.ptr, error);
	}
	p->phase = PHASE_FIELDS;
	if (got == H1_LINE_LAST) /* HTTP/0.9 has no fields */
		return h1_finish(p, input, out, input.ptr + p->line);
	return H1_DONE;
}

static enum h1_status h1_parse_fields(struct h1_parser *p, struct slice input, struct h1_head *out)
{
	enum h1_line got = h1_read_fields(p, input, out);

	if (got == H1_LINE_MORE)
		return H1_MORE;
	if (got == H1_LINE_BAD)
		return h1_fail(p, input, input.ptr + p->error_offset, p->error);
	return h1_finish(p, input, out, input.ptr + p->line);
}

enum h1_status h1_parse_head(struct h1_parser *p, struct slice input, struct h1_head *out)
{
	enum h1_status status;

	BUG_ON(p->phase == PHASE_DONE);
	if (input.len > UINT32_MAX)
		input.len = UINT32_MAX;
	if (p->phase == PHASE_FAILED)
		return H1_ERROR;
	if (!p->base)
		h1_head_clear(out);
	else if (p->base != input.ptr)
		h1_move_head(p, out, input.ptr);
	p->base = input.ptr;

	if (p->phase == PHASE_EMPTY) {
		status = h1_skip_empty(p, input);
		if (status != H1_DONE)
			return status;
	}
	if (p->phase == PHASE_START) {
		status = h1_parse_start(p, input, out);
		if (status != H1_DONE || p->phase == PHASE_DONE)
			return status;
	}
	return h1_parse_fields(p, input, out);
}

bool h1_parser_has_begun(const struct h1_parser *p, struct slice input)
{
	size_t at = p->line;

	if (p->phase != PHASE_EMPTY)
		return true;
	while (at < input.len && (input.ptr[at] == '\r' || input.ptr[at] == '\n'))
		at++;
	return at < input.len;
}

bool h1_parser_in_start_line(const struct h1_parser *p)
{
	return p->phase == PHASE_EMPTY || p->phase == PHASE_START;
}

static const struct {
	int status;
	const char *text;
} h1_errors[] = {
#define X(symbol, code, meaning) [H1_ERR_##symbol] = { code, meaning },
	H1_ERRORS(X)
#undef X
};

const char *h1_error_text(uint8_t error)
{
	return error < ARRAY_LEN(h1_errors) ? h1_errors[error].text : "unknown error";
}

int h1_error_status(uint8_t error)
{
	return error < ARRAY_LEN(h1_errors) ? h1_errors[error].status : 400;
}

enum h1_status h1_match_preface(struct slice input)
{
	struct slice preface = SLICE("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
	size_t len = input.len < preface.len ? input.len : preface.len;

	if (len && memcmp(input.ptr, preface.ptr, len) != 0)
		return H1_ERROR;
	return len == preface.len ? H1_DONE : H1_MORE;
}

bool h1_is_token(struct slice s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!(h1_char_class[(uint8_t)s.ptr[i]] & H1_CC_TOKEN))
			return false;
	return s.len != 0;
}
