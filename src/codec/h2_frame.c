/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_frame.c - frames: what may be said of one from its header, and those of fixed size */
#include "base/bug.h"
#include "codec/h2_frame.h"

/* Which stream a type has to name. */
enum stream_rule { STREAM_ANY, STREAM_NONE, STREAM_ONE };

static const struct frame_rule {
	const char *name;
	uint32_t low, high;  /* of the length */
	uint8_t multiple;    /* the length is a multiple of it; 0: any */
	uint8_t stream;      /* enum stream_rule */
} rules[H2_FT_COUNT] = {
	[H2_FT_DATA] = { "DATA", 0, H2_FRAME_SIZE_MAX, 0, STREAM_ONE },
	[H2_FT_HEADERS] = { "HEADERS", 0, H2_FRAME_SIZE_MAX, 0, STREAM_ONE },
	[H2_FT_PRIORITY] = { "PRIORITY", 5, 5, 0, STREAM_ONE },
	[H2_FT_RST_STREAM] = { "RST_STREAM", 4, 4, 0, STREAM_ONE },
	[H2_FT_SETTINGS] = { "SETTINGS", 0, H2_FRAME_SIZE_MAX, 6, STREAM_NONE },
	[H2_FT_PUSH_PROMISE] = { "PUSH_PROMISE", 4, H2_FRAME_SIZE_MAX, 0, STREAM_ONE },
	[H2_FT_PING] = { "PING", 8, 8, 0, STREAM_NONE },
	[H2_FT_GOAWAY] = { "GOAWAY", 8, H2_FRAME_SIZE_MAX, 0, STREAM_NONE },
	[H2_FT_WINDOW_UPDATE] = { "WINDOW_UPDATE", 4, 4, 0, STREAM_ANY },
	[H2_FT_CONTINUATION] = { "CONTINUATION", 0, H2_FRAME_SIZE_MAX, 0, STREAM_ONE },
};

static const char *const error_names[H2_ERR_COUNT] = {
#define X(symbol, code) [code] = #symbol,
	H2_ERRORS(X)
#undef X
};

const char *h2_frame_type_name(uint8_t type)
{
	return type < H2_FT_COUNT ? rules[type].name : "UNKNOWN";
}

const char *h2_error_name(uint32_t code)
{
	return code < H2_ERR_COUNT ? error_names[code] : "UNKNOWN";
}

uint8_t h2_frame_check(const struct h2_frame *f, uint32_t size_max, bool *connection)
{
	const struct frame_rule *rule = &rules[f->type < H2_FT_COUNT ? f->type : H2_FT_DATA];

	*connection = true;
	if (f->length > size_max)
		return H2_ERR_FRAME_SIZE_ERROR;
	if (f->type >= H2_FT_COUNT)
		return H2_ERR_NO_ERROR;
	if (rule->stream == STREAM_ONE && !f->stream)
		return H2_ERR_PROTOCOL_ERROR;
	if (rule->stream == STREAM_NONE && f->stream)
		return H2_ERR_PROTOCOL_ERROR;
	if (f->type == H2_FT_SETTINGS && f->flags & H2_FL_ACK && f->length)
		return H2_ERR_FRAME_SIZE_ERROR;
	if (f->length >= rule->low && f->length <= rule->high &&
	    (!rule->multiple || f->length % rule->multiple == 0))
		return H2_ERR_NO_ERROR;
	*connection = f->type != H2_FT_PRIORITY;
	return H2_ERR_FRAME_SIZE_ERROR;
}

uint8_t h2_content_parse(const struct h2_frame *f, struct slice start, struct h2_content *out,
			 bool *self)
{
	bool padded = f->type != H2_FT_CONTINUATION && f->flags & H2_FL_PADDED;
	bool priority = f->type == H2_FT_HEADERS && f->flags & H2_FL_PRIORITY;

	*out = (struct h2_content){ .lead = padded };
	if (priority)
		out->lead += 5;
	if (f->type == H2_FT_PUSH_PROMISE)
		out->lead += 4;
	if (self)
		*self = false;
	if (out->lead > f->length)
		return H2_ERR_FRAME_SIZE_ERROR;
	BUG_ON(start.len < out->lead);
	if (padded)
		out->pad = (uint8_t)start.ptr[0];
	if (out->pad > f->length - out->lead)
		return H2_ERR_PROTOCOL_ERROR;
	if (priority && self)
		*self = h2_get_u31(start.ptr + padded) == f->stream;
	return H2_ERR_NO_ERROR;
}

char *h2_put_rst_stream(char *p, uint32_t stream, uint32_t code)
{
	p = h2_frame_put(p, 4, H2_FT_RST_STREAM, 0, stream);
	h2_put_u32(p, code);
	return p + 4;
}

char *h2_put_window_update(char *p, uint32_t stream, uint32_t increment)
{
	BUG_ON(increment == 0 || increment > H2_WINDOW_MAX);
	p = h2_frame_put(p, 4, H2_FT_WINDOW_UPDATE, 0, stream);
	h2_put_u32(p, increment);
	return p + 4;
}

char *h2_put_ping(char *p, const char *data, bool ack)
{
	p = h2_frame_put(p, 8, H2_FT_PING, ack ? H2_FL_ACK : 0, 0);
	memcpy(p, data, 8);
	return p + 8;
}

char *h2_put_goaway(char *p, uint32_t last_stream, uint32_t code)
{
	p = h2_frame_put(p, 8, H2_FT_GOAWAY, 0, 0);
	h2_put_u32(p, last_stream);
	h2_put_u32(p + 4, code);
	return p + 8;
}

/* ---- settings */

static const struct setting_rule {
	uint16_t number;
	uint8_t error;       /* outside of low to high */
	uint32_t initial, low, high;
	size_t offset;
} settings[] = {
#define X(member, symbol, number, def, low, high, error) \
	{ number, H2_ERR_##error, def, low, high, offsetof(struct h2_settings, member) },
	H2_SETTINGS(X)
#undef X
};

static uint32_t *setting_value(struct h2_settings *s, const struct setting_rule *rule)
{
	return (uint32_t *)(void *)((char *)s + rule->offset);
}

void h2_settings_init(struct h2_settings *s)
{
	for (unsigned i = 0; i < ARRAY_LEN(settings); i++)
		*setting_value(s, &settings[i]) = settings[i].initial;
}

static uint8_t setting_take(struct h2_settings *s, const struct setting_rule *rule, uint32_t value,
			    bool from_server)
{
	if (value < rule->low || value > rule->high)
		return rule->error;
	if (rule->number == H2_SET_ENABLE_PUSH && from_server && value)
		return H2_ERR_PROTOCOL_ERROR;
	if (rule->number == H2_SET_ENABLE_CONNECT_PROTOCOL && s->enable_connect_protocol && !value)
		return H2_ERR_PROTOCOL_ERROR;
	*setting_value(s, rule) = value;
	return H2_ERR_NO_ERROR;
}

uint8_t h2_settings_parse(struct h2_settings *s, struct slice payload, bool from_server)
{
	uint8_t error;

	for (; payload.len >= H2_SETTING_LEN; payload = slice_sub(payload, H2_SETTING_LEN,
								   payload.len)) {
		for (unsigned i = 0; i < ARRAY_LEN(settings); i++) {
			if (settings[i].number != h2_get_u16(payload.ptr))
				continue;
			error = setting_take(s, &settings[i], h2_get_u32(payload.ptr + 2),
					     from_server);
			if (error)
				return error;
		}
	}
	return payload.len ? H2_ERR_FRAME_SIZE_ERROR : H2_ERR_NO_ERROR;
}

char *h2_settings_put(char *p, const struct h2_settings *s)
{
	char *at = p + H2_FRAME_HEADER_LEN;

	for (unsigned i = 0; i < ARRAY_LEN(settings); i++) {
		uint32_t value = *setting_value((struct h2_settings *)s, &settings[i]);

		if (value == settings[i].initial)
			continue;
		*at++ = (char)(settings[i].number >> 8);
		*at++ = (char)settings[i].number;
		h2_put_u32(at, value);
		at += 4;
	}
	h2_frame_put(p, (uint32_t)(at - p) - H2_FRAME_HEADER_LEN, H2_FT_SETTINGS, 0, 0);
	return at;
}
