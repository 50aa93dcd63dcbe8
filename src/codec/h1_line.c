/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h1_line.c - lines of an H1 head: the start line and field lines
 *
 * Byte by byte where every byte must be checked against a class, and several at a time (h1_wide.h)
 * in names of letters and dashes and in field values, where only NUL, CR and LF matter. Lines in
 * the usual form are read without backtracking: h1_read_usual_field(), version 1.1.
 */
#include "h1_priv.h"

static inline bool h1_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Consumes CRLF or LF. H1_LINE_MORE: cannot tell yet; H1_LINE_BAD: something else. */
static inline enum h1_line h1_read_eol(struct h1_cursor *c, uint32_t *flags)
{
	if (c->at == c->end)
		return H1_LINE_MORE;
	if (likely(*c->at == '\r')) {
		if (c->end - c->at < 2)
			return H1_LINE_MORE;
		if (c->at[1] != '\n')
			return H1_LINE_BAD;
		c->at += 2;
		return H1_LINE_OK;
	}
	if (*c->at != '\n')
		return H1_LINE_BAD;
	*flags |= H1_FL_BARE_LF;
	c->at++;
	return H1_LINE_OK;
}

/* Moves <c> over the name and its colon. */
static inline enum h1_line h1_read_name(struct h1_cursor *c, struct h1_field *field,
					struct h1_line_state *s)
{
	const char *start = c->at;
	char *at = h1_lower_name((char *)c->at, c->end);
	bool bad = false;
	uint8_t lower;

	for (; at < c->end; at++) {
		lower = h1_token_lower[(uint8_t)*at];
		if (likely(lower != 0)) {
			*at = (char)lower;
			continue;
		}
		if (likely(*at == ':'))
			break;
		if (!s->unsafe || *at == '\r' || *at == '\n') {
			c->at = at;
			s->error = H1_ERR_FIELD_NAME;
			return H1_LINE_BAD;
		}
		bad = true;
	}
	c->at = at;
	if (at == c->end)
		return H1_LINE_MORE;
	if (at == start) {
		s->error = H1_ERR_FIELD_NAME;
		return H1_LINE_BAD;
	}
	field->name = slice_make(start, bad ? 0 : (size_t)(at - start));
	if (bad)
		s->flags |= H1_FL_VIOLATION;
	c->at = at + 1;
	return H1_LINE_OK;
}

/* Moves <c> over the text of a value up to its line end, not included. */
static inline enum h1_line h1_skip_value(struct h1_cursor *c, struct h1_line_state *s)
{
	for (;;) {
		c->at = h1_skip_text(c->at, c->end);
		if (c->at == c->end)
			return H1_LINE_MORE;
		if (*c->at == '\r' || *c->at == '\n')
			return H1_LINE_OK;
		if (*c->at == 0) {
			s->error = H1_ERR_FIELD_VALUE;
			if (!s->unsafe)
				return H1_LINE_BAD;
			s->flags |= H1_FL_VIOLATION;
		}
		c->at++;
	}
}

enum h1_line h1_read_field(struct h1_cursor *c, struct h1_field *field, struct h1_line_state *s)
{
	const char *value, *stop;
	enum h1_line got;

	if (c->at == c->end)
		return H1_LINE_MORE;
	if (*c->at == '\r' || *c->at == '\n') {
		got = h1_read_eol(c, &s->flags);
		s->error = H1_ERR_BARE_CR;
		return got == H1_LINE_OK ? H1_LINE_LAST : got;
	}
	got = h1_read_name(c, field, s);
	if (got != H1_LINE_OK)
		return got;
	while (c->at < c->end && h1_is_blank(*c->at))
		c->at++;
	value = c->at;
	for (;;) {
		got = h1_skip_value(c, s);
		if (got != H1_LINE_OK)
			return got;
		stop = c->at;
		got = h1_read_eol(c, &s->flags);
		if (got == H1_LINE_BAD)
			s->error = H1_ERR_BARE_CR;
		if (got != H1_LINE_OK)
			return got;
		/* a blank at the start of the next line continues this one (RFC 9112 5.2) */
		if (c->at == c->end)
			return H1_LINE_MORE;
		if (likely(!h1_is_blank(*c->at)))
			break;
		s->flags |= H1_FL_FOLDED;
		memset((char *)stop, ' ', (size_t)(c->at - stop));
	}
	while (value < stop && h1_is_blank(*value))
		value++;
	while (stop > value && h1_is_blank(stop[-1]))
		stop--;
	field->value = slice_make(value, (size_t)(stop - value));
	return H1_LINE_OK;
}

/* Reads a field line as nearly all are: letters and dashes, a colon and a blank, a value without
 * blanks around it, CRLF, and all of it there. Returns the next line. NULL: h1_read_field() must
 * look at this one; at most letters were made small.
 */
static inline const char *h1_read_usual_field(const char *line, const char *end,
					      struct h1_field *field)
{
	const char *colon = h1_lower_name((char *)line, end), *value, *stop;

	if (unlikely(end - colon < 2 || memcmp(colon, ": ", 2) != 0 || colon == line))
		return NULL;
	value = colon + 2;
	stop = h1_skip_text(value, end);
	if (unlikely(end - stop < 3 || memcmp(stop, "\r\n", 2) != 0 || h1_is_blank(stop[2])))
		return NULL;
	/* (tabs have stopped it) */
	if (unlikely(stop == value || *value == ' ' || stop[-1] == ' '))
		return NULL;
	field->name = slice_make(line, (size_t)(colon - line));
	field->value = slice_make(value, (size_t)(stop - value));
	return stop + 2;
}

/* Stores <field>, which was just read, as the last one of <out>. Returns an enum h1_error. */
static inline uint8_t h1_store_field(struct h1_parser *p, struct h1_head *out,
				     struct h1_field *field)
{
	if (out->field_count == out->field_capacity)
		return H1_ERR_TOO_MANY_FIELDS;
	field->id = field_id_of_lower(field->name.ptr, field->name.len);
	out->field_count++;
	return H1_NOTED_FIELDS >> field->id & 1 ? h1_note_field(p, out) : H1_ERR_NONE;
}

enum h1_line h1_read_fields(struct h1_parser *p, struct slice input, struct h1_head *out)
{
	struct h1_line_state state = { .unsafe = p->options & H1_OPT_UNSAFE };
	const char *line = input.ptr + p->line, *end = input.ptr + input.len, *next, *value;
	struct h1_field *field, spare;
	enum h1_line got;
	uint8_t error;

	for (;;) {
		field = out->field_count < out->field_capacity ? &out->fields[out->field_count] :
								 &spare;
		next = h1_read_usual_field(line, end, field);
		if (unlikely(!next)) {
			struct h1_cursor c = { line, end };

			got = h1_read_field(&c, field, &state);
			next = c.at;
			if (got != H1_LINE_OK)
				break;
			state.flags |= H1_FL_UNTIDY;
		}
		if (likely(field->name.len)) { /* else it is invalid, accepted and dropped */
			value = field->value.ptr;
			error = h1_store_field(p, out, field);
			if (unlikely(error == H1_ERR_TOO_MANY_FIELDS))
				value = line;
			if (unlikely(error))
				return h1_line_bad(p, input, value, error);
		}
		line = next;
	}
	/* even of a cut line: once joined, a folded one cannot be told any more */
	if (unlikely(state.flags & H1_FL_FOLDED))
		state.flags |= H1_FL_UNTIDY;
	out->flags |= state.flags;
	if (got == H1_LINE_BAD)
		return h1_line_bad(p, input, next, state.error);
	p->line = (uint32_t)((got == H1_LINE_LAST ? next : line) - input.ptr);
	return got;
}

/* Is this byte allowed in a request target? The manual's list: 33..126 unchecked. */
static inline bool h1_uri_char(const struct h1_parser *p, struct h1_head *out, char c)
{
	if (likely(h1_char_class[(uint8_t)c] & H1_CC_URI))
		return true;
	if (!(p->options & H1_OPT_UNSAFE) || (uint8_t)c < 128)
		return false;
	out->flags |= H1_FL_VIOLATION;
	return true;
}

/* Reads "name/d.d". In unsafe mode the name may be of other letters and there may be more
 * digits.
 */
static bool h1_read_version(const struct h1_parser *p, struct h1_head *out)
{
	bool unsafe = p->options & H1_OPT_UNSAFE;
	struct slice v = out->version;
	uint16_t number[2] = { 0, 0 };
	size_t at = 0, start;

	if (likely(v.len == 8 && memcmp(v.ptr, "HTTP/", 5) == 0 && ascii_is_digit(v.ptr[5]) &&
		   v.ptr[6] == '.' && ascii_is_digit(v.ptr[7]))) {
		out->major = (uint16_t)(v.ptr[5] - '0');
		out->minor = (uint16_t)(v.ptr[7] - '0');
		return true;
	}
	if (!unsafe)
		return false;
	if ((p->options & H1_OPT_RESPONSE) && slice_eq(v, SLICE("ICY"))) {
		out->flags |= H1_FL_VIOLATION; /* the version of SHOUTcast servers */
		out->major = 1;
		return true;
	}
	while (at < v.len && ((v.ptr[at] >= 'A' && v.ptr[at] <= 'Z')))
		at++;
	if (at == 0 || at == v.len || v.ptr[at] != '/')
		return false;
	for (int i = 0; i < 2; i++) {
		start = ++at;
		while (at < v.len && ascii_is_digit(v.ptr[at]) && at - start < 4) {
			number[i] = (uint16_t)(number[i] * 10 + (v.ptr[at] - '0'));
			at++;
		}
		if (at == start)
			return false;
		if (i == 0 && (at == v.len || v.ptr[at] != '.'))
			return false;
	}
	if (at != v.len)
		return false;
	out->major = number[0];
	out->minor = number[1];
	out->flags |= H1_FL_VIOLATION;
	return true;
}

/* After the target: ends an HTTP/0.9 request line. */
static enum h1_line h1_read_simple_request(struct h1_parser *p, struct slice input,
					   struct h1_cursor *c, struct h1_head *out)
{
	const char *at = c->at;
	enum h1_line got = h1_read_eol(c, &out->flags);

	if (got == H1_LINE_MORE)
		return got;
	if (got == H1_LINE_BAD)
		return h1_line_bad(p, input, at, H1_ERR_BARE_CR);
	if (!(p->options & H1_OPT_UNSAFE) || out->method_id != H1_METHOD_GET)
		return h1_line_bad(p, input, at, H1_ERR_VERSION);
	out->flags |= H1_FL_VIOLATION;
	out->version = slice_make(at, 0);
	out->major = 0;
	out->minor = 9;
	p->line = (uint32_t)(c->at - input.ptr);
	return H1_LINE_LAST;
}

/* Is what follows "HTTP/1.1" and then <last>? Most start lines have it. */
static inline bool h1_read_usual_version(struct h1_head *out, const char *at, const char *end,
					 struct slice last)
{
	if (end - at < (ptrdiff_t)(8 + last.len) || memcmp(at, "HTTP/1.1", 8) != 0 ||
	    memcmp(at + 8, last.ptr, last.len) != 0)
		return false;
	out->version = slice_make(at, 8);
	out->major = out->minor = 1;
	return true;
}

/* Reads the rest of a request line, from the version on. */
static enum h1_line h1_read_other_version(struct h1_parser *p, struct slice input,
					  const char *start, struct h1_head *out)
{
	struct h1_cursor c = { start, input.ptr + input.len };
	enum h1_line got;

	while (c.at < c.end && (h1_char_class[(uint8_t)*c.at] & H1_CC_URI))
		c.at++;
	if (c.at == c.end)
		return H1_LINE_MORE;
	out->version = slice_make(start, (size_t)(c.at - start));
	if (start == c.at && (*c.at == '\r' || *c.at == '\n'))
		return h1_read_simple_request(p, input, &c, out);
	start = c.at;
	got = h1_read_eol(&c, &out->flags);
	if (got == H1_LINE_MORE)
		return got;
	if (got == H1_LINE_BAD || !h1_read_version(p, out))
		return h1_line_bad(p, input, start, H1_ERR_VERSION);
	p->line = (uint32_t)(c.at - input.ptr);
	return H1_LINE_OK;
}

enum h1_line h1_read_request_line(struct h1_parser *p, struct slice input, struct h1_head *out)
{
	const char *at = input.ptr + p->line, *end = input.ptr + input.len, *start = at;

	while (at < end && (h1_char_class[(uint8_t)*at] & H1_CC_TOKEN))
		at++;
	if (at == end)
		return H1_LINE_MORE;
	if (at == start || !h1_is_blank(*at))
		return h1_line_bad(p, input, at, H1_ERR_METHOD);
	out->method = slice_make(start, (size_t)(at - start));
	out->method_id = h1_method_of(out->method);
	if (h1_method_is_reserved(out->method_id, out->method))
		return h1_line_bad(p, input, start, H1_ERR_METHOD);
	while (at < end && h1_is_blank(*at))
		at++;
	start = at;
	while (at < end && h1_uri_char(p, out, *at))
		at++;
	if (at == end)
		return H1_LINE_MORE;
	if (at == start)
		return h1_line_bad(p, input, at, H1_ERR_URI);
	out->uri = slice_make(start, (size_t)(at - start));
	if (*at == '\r' || *at == '\n')
		return h1_read_simple_request(p, input, &(struct h1_cursor){ at, end }, out);
	if (!h1_is_blank(*at))
		return h1_line_bad(p, input, at, H1_ERR_URI);
	while (at < end && h1_is_blank(*at))
		at++;
	if (unlikely(!h1_read_usual_version(out, at, end, SLICE("\r\n"))))
		return h1_read_other_version(p, input, at, out);
	p->line = (uint32_t)(at + 10 - input.ptr);
	return H1_LINE_OK;
}

/* Three digits, or up to five whose value fits in 16 bits when violations are accepted. */
static const char *h1_read_code(const struct h1_parser *p, struct h1_head *out, const char *at,
				const char *end)
{
	const char *start = at;
	uint32_t code = 0;

	while (at < end && ascii_is_digit(*at) && at - start < 5)
		code = code * 10 + (uint32_t)(*at++ - '0');
	if (at == end)
		return at;
	if (at - start > 3 && (p->options & H1_OPT_UNSAFE))
		out->flags |= H1_FL_VIOLATION;
	else if (at - start != 3)
		return NULL;
	if (code < 100 || code > 65535)
		return NULL;
	out->status = (uint16_t)code;
	return at;
}

enum h1_line h1_read_status_line(struct h1_parser *p, struct slice input, struct h1_head *out)
{
	struct h1_cursor c = { input.ptr + p->line, input.ptr + input.len };
	struct h1_line_state s = { 0 };
	const char *start = c.at, *at;
	enum h1_line got;

	if (likely(h1_read_usual_version(out, c.at, c.end, SLICE(" ")))) {
		c.at += 8;
	} else {
		while (c.at < c.end && (h1_char_class[(uint8_t)*c.at] & H1_CC_URI))
			c.at++;
		if (c.at == c.end)
			return H1_LINE_MORE;
		out->version = slice_make(start, (size_t)(c.at - start));
		if (!h1_is_blank(*c.at) || !h1_read_version(p, out))
			return h1_line_bad(p, input, c.at, H1_ERR_VERSION);
	}
	while (c.at < c.end && h1_is_blank(*c.at))
		c.at++;
	at = h1_read_code(p, out, c.at, c.end);
	if (!at)
		return h1_line_bad(p, input, c.at, H1_ERR_STATUS_CODE);
	if (at == c.end)
		return H1_LINE_MORE;
	c.at = at;
	if (!h1_is_blank(*at) && *at != '\r' && *at != '\n')
		return h1_line_bad(p, input, at, H1_ERR_STATUS_CODE);
	while (c.at < c.end && h1_is_blank(*c.at))
		c.at++;
	start = c.at;
	got = h1_skip_value(&c, &s);
	if (got == H1_LINE_BAD)
		return h1_line_bad(p, input, c.at, H1_ERR_REASON);
	if (got == H1_LINE_MORE)
		return got;
	out->reason = slice_make(start, (size_t)(c.at - start));
	at = c.at;
	got = h1_read_eol(&c, &out->flags);
	if (got == H1_LINE_BAD)
		return h1_line_bad(p, input, at, H1_ERR_BARE_CR);
	if (got == H1_LINE_OK)
		p->line = (uint32_t)(c.at - input.ptr);
	return got;
}

/* --- violations that were accepted ------------------------------------------------------------ */

static size_t violation_in_target(struct slice line)
{
	size_t at = slice_find_char(line, 0, ' ');

	for (; at < line.len; at++)
		if (line.ptr[at] == '#' || (uint8_t)line.ptr[at] >= 128)
			return at;
	return line.len;
}

/* A fourth digit. */
static size_t violation_in_status(struct slice line)
{
	size_t start = slice_find_char(line, 0, ' ') + 1, at = start;

	while (at < line.len && ascii_is_digit(line.ptr[at]) && at < start + 3)
		at++;
	return at == start + 3 && at < line.len && ascii_is_digit(line.ptr[at]) ? at : line.len;
}

static size_t violation_in_name(struct slice line)
{
	for (size_t at = 0; at < line.len && line.ptr[at] != ':'; at++)
		if (!h1_token_lower[(uint8_t)line.ptr[at]])
			return at;
	return line.len;
}

size_t h1_violation_at(struct slice head, bool is_response)
{
	bool is_first = true;

	for (size_t start = 0, end; start < head.len; start = end + 1) {
		struct slice line;
		size_t at;

		end = slice_find_char(head, start, '\n');
		line = slice_sub(head, start, end);
		if (line.len && line.ptr[line.len - 1] == '\r')
			line.len--;
		if (!line.len || line.ptr[0] == ' ' || line.ptr[0] == '\t')
			continue; /* empty, or folded */
		at = !is_first ? violation_in_name(line) :
		     is_response ? violation_in_status(line) : violation_in_target(line);
		is_first = false;
		if (at < line.len)
			return start + at;
	}
	return head.len;
}
