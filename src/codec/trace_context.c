/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace_context.c - traceparent, tracestate and B3: parsers and writers */
#include "codec/trace_context.h"
#include <string.h>
#include "base/num.h"

#define MEMBERS_MAX 32
#define KEY_MAX 256
#define VALUE_MAX 256

/* --- hexadecimal ------------------------------------------------------------------------------ */

/* Lower case only, as both specifications want it. */
static bool read_hex(const char *from, size_t len, uint64_t *out)
{
	for (size_t i = 0; i < len; i++)
		if (from[i] >= 'A' && from[i] <= 'F')
			return false;
	return num_parse_hex(slice_make(from, len), out);
}

void trace_id_write(char *out, const uint64_t id[2])
{
	span_id_write(out, id[0]);
	span_id_write(out + SPAN_ID_HEX, id[1]);
}

/* 32 digits, or the 16 of old B3; not all zero. */
static bool read_trace_id(struct slice text, uint64_t id[2])
{
	id[0] = 0;
	if (text.len == TRACE_ID_HEX) {
		if (!read_hex(text.ptr, 16, &id[0]))
			return false;
	} else if (text.len != 16) {
		return false;
	}
	return read_hex(text.ptr + text.len - 16, 16, &id[1]) && (id[0] || id[1]);
}

static bool read_span_id(struct slice text, uint64_t *id)
{
	return text.len == SPAN_ID_HEX && read_hex(text.ptr, SPAN_ID_HEX, id) && *id;
}

/* --- traceparent ------------------------------------------------------------------------------ */

bool traceparent_read(struct slice text, struct trace_context *out)
{
	struct trace_context c = { .id = { 0 } };
	uint64_t version, flags;
	const char *p = text.ptr;

	if (text.len < TRACEPARENT_LEN || p[2] != '-' || p[35] != '-' || p[52] != '-')
		return false;
	if (!read_hex(p, 2, &version) || version == 0xff || !read_hex(p + 53, 2, &flags))
		return false;
	/* a later version may add parts, each behind a dash */
	if (text.len > TRACEPARENT_LEN && (!version || p[TRACEPARENT_LEN] != '-'))
		return false;
	if (!read_trace_id(slice_make(p + 3, TRACE_ID_HEX), c.id) ||
	    !read_span_id(slice_make(p + 36, SPAN_ID_HEX), &c.span))
		return false;
	/* only these two are known */
	c.flags = (uint8_t)(flags & 3);
	c.decision = flags & 1 ? TRACE_SAMPLED : TRACE_DROPPED;
	*out = c;
	return true;
}

void traceparent_write(char *out, const struct trace_context *c)
{
	uint8_t flags = (uint8_t)((c->flags & 2) | (c->decision == TRACE_SAMPLED));

	memcpy(out, "00-", 3);
	trace_id_write(out + 3, c->id);
	out[35] = '-';
	span_id_write(out + 36, c->span);
	memcpy(out + 52, "-0", 2);
	out[54] = (char)('0' + flags);
}

/* --- tracestate ------------------------------------------------------------------------------- */

static bool is_key_byte(char c)
{
	return (c >= 'a' && c <= 'z') || ascii_is_digit(c) || c == '_' || c == '-' || c == '*' ||
	       c == '/' || c == '@';
}

static bool member_is_good(struct slice m)
{
	size_t key = 0, value;

	while (key < m.len && is_key_byte(m.ptr[key]))
		key++;
	if (!key || key > KEY_MAX || key == m.len || m.ptr[key] != '=' ||
	    !((m.ptr[0] >= 'a' && m.ptr[0] <= 'z') || ascii_is_digit(m.ptr[0])))
		return false;
	value = m.len - key - 1;
	if (!value || value > VALUE_MAX)
		return false;
	for (size_t i = key + 1; i < m.len; i++)
		if (m.ptr[i] < 0x20 || m.ptr[i] > 0x7e || m.ptr[i] == '=' || m.ptr[i] == ',')
			return false;
	return true;
}

bool tracestate_is_good(struct slice text, unsigned *members)
{
	while (text.len) {
		const char *comma = memchr(text.ptr, ',', text.len);
		size_t len = comma ? (size_t)(comma - text.ptr) : text.len;
		struct slice m = slice_trim(slice_make(text.ptr, len));

		if (m.len && (!member_is_good(m) || ++*members > MEMBERS_MAX))
			return false;
		text = slice_make(text.ptr + len + (comma != NULL), text.len - len -
				  (comma != NULL));
	}
	return true;
}

/* --- B3 --------------------------------------------------------------------------------------- */

static bool read_state(char c, uint8_t *decision)
{
	if (c == '0')
		*decision = TRACE_DROPPED;
	else if (c == '1' || c == 'd')
		*decision = TRACE_SAMPLED;
	else
		return false;
	return true;
}

bool b3_read(struct slice text, struct trace_context *out)
{
	struct trace_context c = { .id = { 0 } };
	const char *dash = text.len ? memchr(text.ptr, '-', text.len) : NULL;
	size_t at = dash ? (size_t)(dash - text.ptr) : 0;
	uint64_t parent;

	if (text.len == 1) {
		if (!read_state(text.ptr[0], &c.decision))
			return false;
		*out = c;
		return true;
	}
	if (!dash || !read_trace_id(slice_make(text.ptr, at), c.id) ||
	    text.len < at + 1 + SPAN_ID_HEX ||
	    !read_span_id(slice_make(text.ptr + at + 1, SPAN_ID_HEX), &c.span))
		return false;
	at += 1 + SPAN_ID_HEX;
	if (at < text.len) { /* "-state" */
		if (text.len < at + 2 || text.ptr[at] != '-' ||
		    !read_state(text.ptr[at + 1], &c.decision))
			return false;
		at += 2;
	}
	if (at < text.len && (text.len != at + 1 + SPAN_ID_HEX || text.ptr[at] != '-' ||
			      !read_hex(text.ptr + at + 1, SPAN_ID_HEX, &parent)))
		return false;
	*out = c;
	return true;
}

void b3_write(char *out, const struct trace_context *c)
{
	trace_id_write(out, c->id);
	out[TRACE_ID_HEX] = '-';
	span_id_write(out + TRACE_ID_HEX + 1, c->span);
	out[B3_LEN - 2] = '-';
	out[B3_LEN - 1] = c->decision == TRACE_SAMPLED ? '1' : '0';
}

bool b3_fields_read(const struct b3_fields *f, struct trace_context *out)
{
	struct trace_context c = { .id = { 0 } };
	bool has_id = !slice_is_none(f->trace_id);

	if (has_id != !slice_is_none(f->span_id))
		return false;
	if (has_id && (!read_trace_id(f->trace_id, c.id) || !read_span_id(f->span_id, &c.span)))
		return false;
	if (!slice_is_none(f->sampled)) {
		/* some senders still write words */
		if (slice_eq(f->sampled, SLICE("1")) || slice_eq(f->sampled, SLICE("true")))
			c.decision = TRACE_SAMPLED;
		else if (slice_eq(f->sampled, SLICE("0")) || slice_eq(f->sampled, SLICE("false")))
			c.decision = TRACE_DROPPED;
		else
			return false;
	}
	if (!slice_is_none(f->flags)) {
		if (slice_eq(f->flags, SLICE("1")))
			c.decision = TRACE_SAMPLED; /* debug */
		else if (!slice_eq(f->flags, SLICE("0")))
			return false;
	}
	if (!has_id && !c.decision)
		return false;
	*out = c;
	return true;
}
