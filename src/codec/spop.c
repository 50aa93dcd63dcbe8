/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spop.c - frames of the Stream Processing Offload Protocol */
#include "codec/spop.h"
#include "base/num.h"
#include "codec/varint.h"

#define HEAD_MIN 7 /* type, flags, two numbers of a byte */
#define OUR_VERSION 2

/* What a DISCONNECT says. */
static const char *error_text(unsigned number)
{
	switch (number) {
#define X(name, number, text) case number: return text;
	SPOP_ERRORS(X)
#undef X
	}
	return "unknown status";
}

/* --- making ----------------------------------------------------------------------------------- */

static void add_varint(struct strbuf *b, uint64_t v)
{
	unsigned char bytes[VARINT_MAX];

	strbuf_add(b, slice_make((const char *)bytes, varint_put(v, bytes)));
}

size_t spop_begin(struct strbuf *b, enum spop_type type, uint64_t stream, uint64_t frame)
{
	static const char flags[4] = { 0, 0, 0, SPOP_FIN };
	size_t start = b->len;

	strbuf_add(b, slice_make("\0\0\0\0", SPOP_LENGTH_SIZE));
	strbuf_add_char(b, (char)type);
	strbuf_add(b, slice_make(flags, sizeof(flags)));
	add_varint(b, stream);
	add_varint(b, frame);
	return start;
}

size_t spop_end(struct strbuf *b, size_t start)
{
	size_t size;

	if (b->len < start + SPOP_LENGTH_SIZE)
		return 0; /* (no memory) */
	size = b->len - start - SPOP_LENGTH_SIZE;
	for (int i = 0; i < SPOP_LENGTH_SIZE; i++)
		b->ptr[start + (size_t)i] = (char)(size >> (24 - 8 * i));
	return size;
}

void spop_add_text(struct strbuf *b, struct slice text)
{
	add_varint(b, text.len);
	strbuf_add(b, text);
}

void spop_add_value(struct strbuf *b, const struct spop_value *v)
{
	strbuf_add_char(b, (char)(v->type | (v->type == SPOP_BOOL && v->boolean ? 0x10 : 0)));
	switch (v->type) {
	case SPOP_NULL: case SPOP_BOOL:
		break;
	case SPOP_INT32: case SPOP_UINT32: case SPOP_INT64: case SPOP_UINT64:
		add_varint(b, (uint64_t)v->integer);
		break;
	case SPOP_IPV4: case SPOP_IPV6:
		strbuf_add(b, v->bytes);
		break;
	case SPOP_STRING: case SPOP_BINARY:
		spop_add_text(b, v->bytes);
		break;
	}
}

static void add_pair(struct strbuf *b, struct slice name, const struct spop_value *v)
{
	spop_add_text(b, name);
	spop_add_value(b, v);
}

static void add_text_pair(struct strbuf *b, struct slice name, struct slice text)
{
	add_pair(b, name, &(struct spop_value){ .type = SPOP_STRING, .bytes = text });
}

static void add_number_pair(struct strbuf *b, struct slice name, int64_t number)
{
	add_pair(b, name, &(struct spop_value){ .type = SPOP_UINT32, .integer = number });
}

void spop_add_hello(struct strbuf *b, size_t max_size, bool pipelining, struct slice engine_id,
		    bool is_check)
{
	size_t start = spop_begin(b, SPOP_HELLO, 0, 0);

	add_text_pair(b, SLICE("supported-versions"), SLICE("2.0"));
	add_number_pair(b, SLICE("max-frame-size"), (int64_t)max_size);
	add_text_pair(b, SLICE("capabilities"), pipelining ? SLICE("pipelining") : SLICE(""));
	if (is_check)
		add_pair(b, SLICE("healthcheck"),
			 &(struct spop_value){ .type = SPOP_BOOL, .boolean = true });
	else
		add_text_pair(b, SLICE("engine-id"), engine_id);
	spop_end(b, start);
}

void spop_add_disconnect(struct strbuf *b, enum spop_error why)
{
	size_t start = spop_begin(b, SPOP_DISCONNECT, 0, 0);

	add_number_pair(b, SLICE("status-code"), why);
	add_text_pair(b, SLICE("message"), slice_of(error_text(why)));
	spop_end(b, start);
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool take_bytes(struct slice *in, size_t n, struct slice *out)
{
	if (in->len < n)
		return false;
	*out = slice_sub(*in, 0, n);
	*in = slice_sub(*in, n, in->len);
	return true;
}

static bool take_byte(struct slice *in, uint8_t *out)
{
	struct slice byte;

	if (!take_bytes(in, 1, &byte))
		return false;
	*out = (uint8_t)byte.ptr[0];
	return true;
}

static bool take_number(struct slice *in, uint64_t *out)
{
	return varint_take(in, out) == VARINT_TAKEN;
}

static uint32_t read_uint32(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;

	return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

enum spop_result spop_frame_take(struct slice *in, size_t max, struct spop_frame *out)
{
	struct slice frame, flags;
	uint32_t size;
	uint8_t type;

	if (in->len < SPOP_LENGTH_SIZE)
		return SPOP_MORE;
	size = read_uint32(in->ptr);
	if (size > max)
		return SPOP_TOO_BIG;
	if (size < HEAD_MIN)
		return SPOP_INVALID;
	if (in->len < SPOP_LENGTH_SIZE + (size_t)size)
		return SPOP_MORE;
	frame = slice_sub(*in, SPOP_LENGTH_SIZE, SPOP_LENGTH_SIZE + (size_t)size);
	if (!take_byte(&frame, &type) || !take_bytes(&frame, 4, &flags) ||
	    !take_number(&frame, &out->stream) || !take_number(&frame, &out->frame))
		return SPOP_INVALID;
	out->type = (enum spop_type)type;
	out->flags = read_uint32(flags.ptr);
	out->payload = frame;
	*in = slice_sub(*in, SPOP_LENGTH_SIZE + (size_t)size, in->len);
	return SPOP_TAKEN;
}

static bool take_text(struct slice *in, struct slice *out)
{
	uint64_t len;

	return take_number(in, &len) && len <= in->len && take_bytes(in, (size_t)len, out);
}

bool spop_value_take(struct slice *in, struct spop_value *out)
{
	uint64_t number;
	uint8_t type;

	if (!take_byte(in, &type))
		return false;
	*out = (struct spop_value){ .type = (enum spop_value_type)(type & 15) };
	switch (out->type) {
	case SPOP_NULL:
		return true;
	case SPOP_BOOL:
		out->boolean = (type & 0xf0) == 0x10; /* (the other flags are for nothing yet) */
		return true;
	case SPOP_INT32: case SPOP_UINT32: case SPOP_INT64: case SPOP_UINT64:
		if (!take_number(in, &number))
			return false;
		out->integer = (int64_t)number;
		return true;
	case SPOP_IPV4:
		return take_bytes(in, 4, &out->bytes);
	case SPOP_IPV6:
		return take_bytes(in, 16, &out->bytes);
	case SPOP_STRING: case SPOP_BINARY:
		return take_text(in, &out->bytes);
	}
	return true; /* types that are not used yet: without a value, as NULL */
}

/* Is a word in a list with commas, blanks aside? */
static bool list_has(struct slice list, struct slice word)
{
	while (list.len) {
		size_t comma = slice_find_char(list, 0, ',');
		size_t end = comma == SIZE_MAX ? list.len : comma;

		if (slice_eq(slice_trim(slice_sub(list, 0, end)), word))
			return true;
		list = end < list.len ? slice_sub(list, end + 1, list.len) : slice_none();
	}
	return false;
}

/* "2.0": is it one of ours? */
static bool version_fits(struct slice text)
{
	text = slice_trim(text);
	return text.len >= 3 && text.ptr[0] == '0' + OUR_VERSION && text.ptr[1] == '.' &&
	       ascii_is_digit(text.ptr[2]);
}

enum spop_error spop_hello_read(struct slice in, size_t max_size, struct spop_hello *out)
{
	bool has_version = false;
	struct spop_value v;
	struct slice name;

	*out = (struct spop_hello){ .max_size = max_size };
	while (in.len) {
		if (!take_text(&in, &name) || !spop_value_take(&in, &v) || v.type > SPOP_BINARY)
			return SPOP_ERR_INVALID;
		if (slice_eq(name, SLICE("version"))) {
			if (v.type != SPOP_STRING)
				return SPOP_ERR_INVALID;
			if (!version_fits(v.bytes))
				return SPOP_ERR_BAD_VERSION;
			has_version = true;
		} else if (slice_eq(name, SLICE("max-frame-size"))) {
			if (v.type < SPOP_INT32 || v.type > SPOP_UINT64)
				return SPOP_ERR_INVALID;
			if (v.integer < SPOP_FRAME_MIN || (uint64_t)v.integer > max_size)
				return SPOP_ERR_BAD_FRAME_SIZE;
			out->max_size = (size_t)v.integer;
			out->says_size = true;
		} else if (slice_eq(name, SLICE("capabilities"))) {
			if (v.type != SPOP_STRING)
				return SPOP_ERR_INVALID;
			out->pipelining = list_has(v.bytes, SLICE("pipelining"));
			out->says_capabilities = true;
		}
	}
	return has_version ? SPOP_ERR_NONE : SPOP_ERR_NO_VERSION;
}

unsigned spop_disconnect_read(struct slice in, struct slice *message)
{
	unsigned status = SPOP_ERR_INVALID;
	struct spop_value v;
	struct slice name;

	*message = SLICE("");
	while (in.len && take_text(&in, &name) && spop_value_take(&in, &v)) {
		if (slice_eq(name, SLICE("status-code")) && v.type >= SPOP_INT32 &&
		    v.type <= SPOP_UINT64)
			status = (unsigned)v.integer;
		else if (slice_eq(name, SLICE("message")) && v.type == SPOP_STRING)
			*message = v.bytes;
	}
	return status;
}

bool spop_action_take(struct slice *in, struct spop_action *out)
{
	uint8_t type, args;

	if (!take_byte(in, &type) || !take_byte(in, &args) || !take_byte(in, &out->scope) ||
	    out->scope > 4 || !take_text(in, &out->name))
		return false;
	out->is_unset = type == 2;
	if (type == 1)
		return args == 3 && spop_value_take(in, &out->value);
	return type == 2 && args == 2;
}
