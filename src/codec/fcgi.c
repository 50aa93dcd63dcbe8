/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fcgi.c - records of FastCGI, read and made */
#include "codec/fcgi.h"

#define VERSION 1
#define ROLE_RESPONDER 1
#define FLAG_KEEP_CONN 1
#define REQUEST_END_SIZE 8
#define LENGTH_LONG 128u /* from here on a length has four bytes, with this bit in the first */

static const struct slice max_reqs = SLICE("FCGI_MAX_REQS");
static const struct slice mpxs_conns = SLICE("FCGI_MPXS_CONNS");

/* --- making ----------------------------------------------------------------------------------- */

void fcgi_head_put(const struct fcgi_head *h, unsigned char out[FCGI_HEAD_SIZE])
{
	out[0] = VERSION;
	out[1] = h->type;
	out[2] = (unsigned char)(h->request >> 8);
	out[3] = (unsigned char)h->request;
	out[4] = (unsigned char)(h->length >> 8);
	out[5] = (unsigned char)h->length;
	out[6] = h->padding;
	out[7] = 0;
}

static void add_head(struct strbuf *b, enum fcgi_type type, uint16_t request, uint16_t length)
{
	struct fcgi_head h = { .type = (uint8_t)type, .request = request, .length = length };
	unsigned char bytes[FCGI_HEAD_SIZE];

	fcgi_head_put(&h, bytes);
	strbuf_add(b, slice_make((const char *)bytes, sizeof(bytes)));
}

size_t fcgi_begin(struct strbuf *b, enum fcgi_type type, uint16_t request)
{
	size_t start = b->len;

	add_head(b, type, request, 0);
	return start;
}

bool fcgi_end(struct strbuf *b, size_t start)
{
	size_t length;

	if (b->overflow || b->len < start + FCGI_HEAD_SIZE ||
	    b->len - start - FCGI_HEAD_SIZE > FCGI_CONTENT_MAX) {
		if (b->len > start)
			b->len = start;
		return false;
	}
	length = b->len - start - FCGI_HEAD_SIZE;
	b->ptr[start + 4] = (char)(length >> 8);
	b->ptr[start + 5] = (char)length;
	return true;
}

void fcgi_add_empty(struct strbuf *b, enum fcgi_type type, uint16_t request)
{
	add_head(b, type, request, 0);
}

void fcgi_add_begin_request(struct strbuf *b, uint16_t request, bool keep)
{
	const char content[8] = { 0, ROLE_RESPONDER, keep ? FLAG_KEEP_CONN : 0 };

	add_head(b, FCGI_BEGIN_REQUEST, request, sizeof(content));
	strbuf_add(b, slice_make(content, sizeof(content)));
}

void fcgi_add_get_values(struct strbuf *b)
{
	size_t start = fcgi_begin(b, FCGI_GET_VALUES, FCGI_MANAGEMENT);

	fcgi_add_param(b, max_reqs, slice_none());
	fcgi_add_param(b, mpxs_conns, slice_none());
	fcgi_end(b, start);
}

static char *put_length(char *at, size_t len)
{
	if (len < LENGTH_LONG) {
		*at++ = (char)len;
		return at;
	}
	*at++ = (char)(LENGTH_LONG | len >> 24);
	*at++ = (char)(len >> 16);
	*at++ = (char)(len >> 8);
	*at++ = (char)len;
	return at;
}

char *fcgi_add_param_room(struct strbuf *b, size_t name_len, size_t value_len)
{
	size_t most = name_len + value_len + 8;
	char *at;

	if (most >= b->size - b->len && !strbuf_reserve(b, most))
		return NULL;
	at = put_length(b->ptr + b->len, name_len);
	at = put_length(at, value_len);
	b->len = (size_t)(at - b->ptr) + name_len + value_len;
	b->ptr[b->len] = 0;
	return at;
}

void fcgi_add_param(struct strbuf *b, struct slice name, struct slice value)
{
	char *at = fcgi_add_param_room(b, name.len, value.len);

	if (!at)
		return;
	if (name.len)
		at = mempcpy(at, name.ptr, name.len);
	if (value.len)
		memcpy(at, value.ptr, value.len);
}

/* --- reading ---------------------------------------------------------------------------------- */

static unsigned byte_at(struct slice s, size_t at)
{
	return (unsigned char)s.ptr[at];
}

static unsigned read_16(struct slice s, size_t at)
{
	return byte_at(s, at) << 8 | byte_at(s, at + 1);
}

static uint32_t read_32(struct slice s, size_t at)
{
	return (uint32_t)read_16(s, at) << 16 | read_16(s, at + 2);
}

enum fcgi_result fcgi_head_take(struct slice *in, struct fcgi_head *out)
{
	if (in->len && byte_at(*in, 0) != VERSION)
		return FCGI_INVALID;
	if (in->len < FCGI_HEAD_SIZE)
		return FCGI_MORE;
	*out = (struct fcgi_head){
		.type = (uint8_t)byte_at(*in, 1), .request = (uint16_t)read_16(*in, 2),
		.length = (uint16_t)read_16(*in, 4), .padding = (uint8_t)byte_at(*in, 6),
	};
	*in = slice_sub(*in, FCGI_HEAD_SIZE, in->len);
	return FCGI_TAKEN;
}

static bool length_take(struct slice *in, size_t *out)
{
	size_t size = in->len && byte_at(*in, 0) & LENGTH_LONG ? 4 : 1;

	if (in->len < size)
		return false;
	*out = size == 1 ? byte_at(*in, 0) : read_32(*in, 0) & INT32_MAX;
	*in = slice_sub(*in, size, in->len);
	return true;
}

bool fcgi_param_take(struct slice *in, struct slice *name, struct slice *value)
{
	struct slice rest = *in;
	size_t name_len, value_len;

	if (!length_take(&rest, &name_len) || !length_take(&rest, &value_len) ||
	    name_len > rest.len || value_len > rest.len - name_len)
		return false;
	*name = slice_make(rest.ptr, name_len);
	*value = slice_make(rest.ptr + name_len, value_len);
	*in = slice_sub(rest, name_len + value_len, rest.len);
	return true;
}

bool fcgi_request_end_read(struct slice content, struct fcgi_request_end *out)
{
	if (content.len < REQUEST_END_SIZE)
		return false;
	out->app_status = read_32(content, 0);
	out->protocol_status = (uint8_t)byte_at(content, 4);
	return true;
}

/* A decimal number, or the most that one can be. */
static bool number_read(struct slice s, uint32_t *out)
{
	uint64_t n = 0;

	if (!s.len)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (!ascii_is_digit(s.ptr[i]))
			return false;
		n = n * 10 + (uint64_t)(s.ptr[i] - '0');
		if (n > UINT32_MAX)
			n = UINT32_MAX;
	}
	*out = (uint32_t)n;
	return true;
}

bool fcgi_values_read(struct slice content, struct fcgi_values *out)
{
	struct slice name, value;
	uint32_t number;

	*out = (struct fcgi_values){ 0 };
	while (content.len) {
		if (!fcgi_param_take(&content, &name, &value))
			return false;
		if (slice_eq(name, max_reqs) && number_read(value, &number)) {
			out->has_max_reqs = true;
			out->max_reqs = number ? number : 1;
		} else if (slice_eq(name, mpxs_conns) && number_read(value, &number)) {
			out->has_mpxs_conns = true;
			out->mpxs_conns = number != 0;
		}
	}
	return true;
}
