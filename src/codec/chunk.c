/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chunk.c - the chunked transfer coding (RFC 9112 7.1)
 *
 * The decoder is a machine fed byte by byte on size lines, and by whole runs in data:
 *
 *     SIZE --digits--> SIZE --blank--> BLANK --';'--> EXTENSION --CR--> LF --LF--> DATA or done
 *     EXTENSION --'"'--> QUOTED --'"'--> EXTENSION, QUOTED --'\'--> ESCAPED --any--> QUOTED
 *     DATA --all given--> DATA_CR --CR--> DATA_LF --LF--> SIZE
 */
#include "codec/chunk.h"
#include "h1_priv.h"

enum chunk_state {
	CHUNK_SIZE, CHUNK_BLANK, CHUNK_EXTENSION, CHUNK_QUOTED, CHUNK_ESCAPED, CHUNK_LF,
	CHUNK_DATA, CHUNK_DATA_CR, CHUNK_DATA_LF, CHUNK_DONE, CHUNK_FAILED
};

/* What a byte did. */
enum chunk_move { MOVE_NEXT, MOVE_DATA, MOVE_DONE, MOVE_BAD };

static enum chunk_move chunk_fail(struct chunk_decoder *d, uint8_t error)
{
	d->state = CHUNK_FAILED;
	d->error = error;
	return MOVE_BAD;
}

static int chunk_digit(char c)
{
	if (ascii_is_digit(c))
		return c - '0';
	c = ascii_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static enum chunk_move chunk_on_size(struct chunk_decoder *d, char c)
{
	int digit = chunk_digit(c);

	if (digit >= 0) {
		if (d->left >> (CHUNK_SIZE_BITS - 4) || d->digits == 255)
			return chunk_fail(d, H1_ERR_CHUNK_SIZE);
		d->left = d->left << 4 | (uint64_t)digit;
		d->digits++;
		return MOVE_NEXT;
	}
	if (!d->digits)
		return chunk_fail(d, H1_ERR_CHUNK_SIZE);
	if (c == '\r')
		d->state = CHUNK_LF;
	else if (c == ';')
		d->state = CHUNK_EXTENSION;
	else if (c == ' ' || c == '\t')
		d->state = CHUNK_BLANK;
	else
		return chunk_fail(d, H1_ERR_CHUNK_SIZE);
	return MOVE_NEXT;
}

static enum chunk_move chunk_on_blank(struct chunk_decoder *d, char c)
{
	if (c == '\r')
		d->state = CHUNK_LF;
	else if (c == ';')
		d->state = CHUNK_EXTENSION;
	else if ((c != ' ' && c != '\t') || ++d->extension > CHUNK_EXTENSION_MAX)
		return chunk_fail(d, H1_ERR_CHUNK_SIZE);
	return MOVE_NEXT;
}

/* An extension ends with its line, but not within quotes: a proxy that takes these across the end
 * of the line would see the chunk begin elsewhere.
 */
static enum chunk_move chunk_on_extension(struct chunk_decoder *d, char c)
{
	if (c == '\r' && d->state == CHUNK_EXTENSION) {
		d->state = CHUNK_LF;
		return MOVE_NEXT;
	}
	if (((uint8_t)c < ' ' && c != '\t') || c == 127 || ++d->extension > CHUNK_EXTENSION_MAX)
		return chunk_fail(d, H1_ERR_CHUNK_EXTENSION);
	if (d->state == CHUNK_ESCAPED)
		d->state = CHUNK_QUOTED;
	else if (c == '"')
		d->state = d->state == CHUNK_QUOTED ? CHUNK_EXTENSION : CHUNK_QUOTED;
	else if (c == '\\' && d->state == CHUNK_QUOTED)
		d->state = CHUNK_ESCAPED;
	return MOVE_NEXT;
}

static enum chunk_move chunk_on_lf(struct chunk_decoder *d, char c)
{
	if (c != '\n')
		return chunk_fail(d, d->extension ? H1_ERR_CHUNK_EXTENSION : H1_ERR_CHUNK_SIZE);
	d->extension = 0;
	d->digits = 0;
	d->state = d->left ? CHUNK_DATA : CHUNK_DONE;
	return d->left ? MOVE_DATA : MOVE_DONE;
}

static enum chunk_move chunk_on_byte(struct chunk_decoder *d, char c)
{
	switch (d->state) {
	case CHUNK_SIZE:
		return chunk_on_size(d, c);
	case CHUNK_BLANK:
		return chunk_on_blank(d, c);
	case CHUNK_EXTENSION:
	case CHUNK_QUOTED:
	case CHUNK_ESCAPED:
		return chunk_on_extension(d, c);
	case CHUNK_LF:
		return chunk_on_lf(d, c);
	case CHUNK_DATA_CR:
		if (c != '\r')
			return chunk_fail(d, H1_ERR_CHUNK_END);
		d->state = CHUNK_DATA_LF;
		return MOVE_NEXT;
	case CHUNK_DATA_LF:
		if (c != '\n')
			return chunk_fail(d, H1_ERR_CHUNK_END);
		d->state = CHUNK_SIZE;
		return MOVE_NEXT;
	}
	return MOVE_BAD;
}

enum h1_status chunk_decode(struct chunk_decoder *d, struct slice input, struct chunk_step *step)
{
	enum chunk_move move = d->state == CHUNK_DATA ? MOVE_DATA : MOVE_NEXT;
	size_t at = 0, run;

	*step = (struct chunk_step){ 0 };
	if (d->state == CHUNK_DONE)
		return H1_DONE;
	while (move == MOVE_NEXT && at < input.len) {
		move = chunk_on_byte(d, input.ptr[at]);
		if (move != MOVE_BAD)
			at++;
	}
	step->used = at;
	if (move == MOVE_BAD || d->state == CHUNK_FAILED)
		return H1_ERROR;
	if (move == MOVE_DONE)
		return H1_DONE;
	if (move == MOVE_DATA) {
		run = input.len - at;
		if (run >= d->left) {
			run = (size_t)d->left;
			d->state = CHUNK_DATA_CR;
		}
		d->left -= run;
		step->used += run;
		step->payload = run;
	}
	return H1_MORE;
}

/* Fields which frame or route the message have no say once the body has passed. */
static bool chunk_is_forbidden(uint8_t id)
{
	switch (id) {
	case FIELD_HOST:
	case FIELD_CONTENT_LENGTH:
	case FIELD_TRANSFER_ENCODING:
	case FIELD_CONNECTION:
	case FIELD_KEEP_ALIVE:
	case FIELD_PROXY_CONNECTION:
	case FIELD_UPGRADE:
	case FIELD_TE:
	case FIELD_TRAILER:
	case FIELD_EXPECT:
	case FIELD_AUTHORIZATION:
	case FIELD_COOKIE:
	case FIELD_SET_COOKIE:
		return true;
	}
	return false;
}

/* They are not passed on, but a client that sends a wrong one is not to be trusted with another
 * request. No client has a reason to send a coding here.
 */
static bool chunk_is_sane(const struct h1_field *field)
{
	if (field->id == FIELD_TRANSFER_ENCODING)
		return false;
	if (field->id == FIELD_HOST)
		return h1_is_host(field->value);
	if (field->id == FIELD_CONTENT_LENGTH)
		return h1_is_length(field->value);
	return true;
}

enum h1_status chunk_parse_trailers(struct slice input, struct chunk_trailers *out)
{
	struct h1_cursor c = { input.ptr, input.ptr + input.len };
	struct h1_line_state state = { 0 };
	struct h1_field field;
	enum h1_line got;

	out->count = 0;
	out->error = H1_ERR_NONE;
	out->used = 0;
	for (;;) {
		got = h1_read_field(&c, &field, &state);
		if (got != H1_LINE_OK)
			break;
		field.id = field_id_of_lower(field.name.ptr, field.name.len);
		if (chunk_is_forbidden(field.id)) {
			if (chunk_is_sane(&field))
				continue;
			got = H1_LINE_BAD;
			break;
		}
		if (out->count == out->capacity) {
			out->error = H1_ERR_TOO_MANY_FIELDS;
			return H1_ERROR;
		}
		out->fields[out->count++] = field;
	}
	if (got == H1_LINE_MORE)
		return H1_MORE;
	out->used = (size_t)(c.at - input.ptr);
	if (got == H1_LINE_LAST)
		return H1_DONE;
	out->error = H1_ERR_TRAILER;
	return H1_ERROR;
}

size_t chunk_put_size(char *out, uint64_t size)
{
	int digits = size ? (67 - __builtin_clzll(size)) / 4 : 1;

	for (int i = digits; i-- > 0; size >>= 4)
		out[i] = "0123456789ABCDEF"[size & 15];
	out[digits] = '\r';
	out[digits + 1] = '\n';
	return (size_t)digits + 2;
}
