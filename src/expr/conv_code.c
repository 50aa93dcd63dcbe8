/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conv_code.c - converters that encode, decode and hash */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include "base/num.h"
#include "expr/modules.h"
#include "expr_priv.h"

static bool set_text(struct sample *s, enum sample_type type, const char *text, size_t len)
{
	s->type = type;
	s->text = slice_make(text, len);
	s->flags |= SMP_CONST;
	return text != NULL;
}

static bool convert_hex(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	static const char digits[] = "0123456789ABCDEF";
	char *out = arena_alloc(ctx->arena, s->text.len * 2 + 1);

	for (size_t i = 0; out && i < s->text.len; i++) {
		unsigned char c = (unsigned char)s->text.ptr[i];

		out[2 * i] = digits[c >> 4];
		out[2 * i + 1] = digits[c & 15];
	}
	return set_text(s, SMP_STR, out, s->text.len * 2);
}

static bool convert_base2(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	char *out = arena_alloc(ctx->arena, s->text.len * 8 + 1);

	for (size_t i = 0; out && i < s->text.len * 8; i++)
		out[i] = (unsigned char)s->text.ptr[i / 8] >> (7 - i % 8) & 1 ? '1' : '0';
	return set_text(s, SMP_STR, out, s->text.len * 8);
}

/* Bit 32 of a mask of control characters. */
#define CTL_DEL (1ull << 32)
#define CTL_ALL 0x1ffffffffull
#define CTL_ALL_BUT_TAB 0x1fffffdffull
#define CTL_HTTP 0x2401ull

/* has_ctl([<mask>]): the mask becomes a number. */
static bool check_has_ctl(struct conf_line *l, struct expr_arg *args, const char **error)
{
	const char *text = args[0].type == ARG_STR ? args[0].name.ptr : "";
	uint64_t mask = CTL_ALL_BUT_TAB;
	char *end = NULL;

	args[0].type = ARG_INT;
	if (strcmp(text, "any") == 0) {
		mask = CTL_ALL;
	} else if (strcmp(text, "http") == 0) {
		mask = CTL_HTTP;
	} else if (*text) {
		bool hex = text[0] == '0' && ascii_lower(text[1]) == 'x';

		mask = strtoull(text, &end, hex ? 16 : 10);
	}
	args[0].integer = (int64_t)mask;
	if (end && *end)
		*error = arena_printf(&l->cfg->arena, "cannot parse value '%s', problem at "
				      "position %d; expecting an integer value (decimal or hex "
				      "with '0x' prefix)", text, (int)(end - text));
	else if (mask & ~CTL_ALL)
		*error = arena_printf(&l->cfg->arena, "unsupported excess bits 0x%llx in argument "
				      "value %s", (unsigned long long)(mask & ~CTL_ALL), text);
	else
		return true;
	return false;
}

static bool convert_has_ctl(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	uint64_t mask = (uint64_t)args[0].integer;
	bool found = false;

	for (size_t i = 0; !found && i < s->text.len; i++) {
		unsigned char c = (unsigned char)s->text.ptr[i];

		found = c < 32 ? mask >> c & 1 : c == 127 && mask & CTL_DEL;
	}
	s->type = SMP_BOOL;
	s->boolean = found;
	return true;
}

static bool convert_hex2i(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	uint64_t value = 0;

	for (size_t i = 0; i < s->text.len; i++) {
		int digit = num_hex_digit(s->text.ptr[i]);

		if (digit < 0)
			return false;
		value = value << 4 | (unsigned)digit;
	}
	s->type = SMP_INT;
	s->integer = (int64_t)value;
	return true;
}

static bool convert_htonl(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	uint32_t value = htonl((uint32_t)s->integer);
	struct slice copy = arena_copy(ctx->arena, slice_make((const char *)&value, sizeof(value)));

	return set_text(s, SMP_BIN, copy.ptr, copy.len);
}

/* --- base64, RFC 4648 --------------------------------------------------------------------- */

static const char base64_digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char base64_url_digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static struct slice encode_base64(struct arena *arena, struct slice bytes, const char *digits,
				  bool pad)
{
	const unsigned char *in = (const unsigned char *)bytes.ptr;
	char *out = arena_alloc(arena, bytes.len / 3 * 4 + 5);
	size_t n = 0;

	for (size_t i = 0; out && i < bytes.len; i += 3) {
		size_t left = bytes.len - i;
		uint32_t v = (uint32_t)in[i] << 16;

		v |= left > 1 ? (uint32_t)in[i + 1] << 8 : 0;
		v |= left > 2 ? in[i + 2] : 0;
		out[n++] = digits[v >> 18];
		out[n++] = digits[v >> 12 & 63];
		if (left > 1)
			out[n++] = digits[v >> 6 & 63];
		else if (pad)
			out[n++] = '=';
		if (left > 2)
			out[n++] = digits[v & 63];
		else if (pad)
			out[n++] = '=';
	}
	return slice_make(out, n);
}

struct slice expr_base64_encode(struct arena *arena, struct slice bytes)
{
	return encode_base64(arena, bytes, base64_digits, true);
}

static bool convert_base64(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	struct slice out = expr_base64_encode(ctx->arena, s->text);

	return set_text(s, SMP_STR, out.ptr, out.len);
}

static bool convert_ub64enc(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	struct slice out = encode_base64(ctx->arena, s->text, base64_url_digits, false);

	return set_text(s, SMP_STR, out.ptr, out.len);
}

/* Digits only, bits left over being dropped. */
static struct slice decode_base64(struct arena *arena, struct slice in, const char *digits)
{
	char *out = arena_alloc(arena, in.len * 3 / 4 + 1);
	uint32_t bits = 0;
	unsigned count = 0;
	size_t n = 0;

	for (size_t i = 0; out && i < in.len; i++) {
		const char *digit = in.ptr[i] ? strchr(digits, in.ptr[i]) : NULL;

		if (!digit)
			return slice_none();
		bits = bits << 6 | (uint32_t)(digit - digits);
		count += 6;
		if (count >= 8) {
			count -= 8;
			out[n++] = (char)(bits >> count);
		}
	}
	return slice_make(out, n);
}

struct slice expr_base64_unpad(struct slice text)
{
	if (text.len % 4)
		return text;
	for (int i = 0; i < 2 && text.len && text.ptr[text.len - 1] == '='; i++)
		text.len--;
	return text;
}

struct slice expr_base64_decode(struct arena *arena, struct slice in, bool url)
{
	if (url)
		return in.len % 4 != 1 ? decode_base64(arena, in, base64_url_digits) :
		       slice_none();
	if (in.len % 4)
		return slice_none();
	return decode_base64(arena, expr_base64_unpad(in), base64_digits);
}

static bool convert_b64dec(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	struct slice out = expr_base64_decode(ctx->arena, s->text, false);

	return set_text(s, SMP_BIN, out.ptr, out.len);
}

static bool convert_ub64dec(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	struct slice out = expr_base64_decode(ctx->arena, expr_base64_unpad(s->text), true);

	return set_text(s, SMP_BIN, out.ptr, out.len);
}

/* --- URLs --------------------------------------------------------------------------------- */

static bool check_url_enc(struct conf_line *l, struct expr_arg *args, const char **error)
{
	if (args[0].type != ARG_STR || !args[0].name.len || slice_eq(args[0].name, SLICE("query")))
		return true;
	*error = "Unexpected encode type. Allowed value is 'query'";
	return false;
}

static bool is_unreserved(char c)
{
	return ascii_is_digit(c) || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z') ||
	       (c && strchr("-._~", c));
}

static bool convert_url_enc(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	static const char digits[] = "0123456789ABCDEF";
	char *out = arena_alloc(ctx->arena, s->text.len * 3 + 1);
	size_t n = 0;

	for (size_t i = 0; out && i < s->text.len; i++) {
		unsigned char c = (unsigned char)s->text.ptr[i];

		if (is_unreserved((char)c)) {
			out[n++] = (char)c;
			continue;
		}
		out[n++] = '%';
		out[n++] = digits[c >> 4];
		out[n++] = digits[c & 15];
	}
	return set_text(s, SMP_STR, out, n);
}

/* '+' is a blank in a query, which begins at the first '?', or everywhere in a form. A '%' without
 * two digits, or for a NUL, leaves nothing.
 */
static bool convert_url_dec(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	char *out = arena_alloc(ctx->arena, s->text.len + 1);
	bool form = args[0].type == ARG_INT && args[0].integer;
	size_t n = 0;

	for (size_t i = 0; out && i < s->text.len; i++) {
		char c = s->text.ptr[i];

		if (c == '%') {
			int high = i + 2 < s->text.len ? num_hex_digit(s->text.ptr[i + 1]) : -1;
			int low = high < 0 ? -1 : num_hex_digit(s->text.ptr[i + 2]);

			if (low < 0 || !(high | low))
				return false;
			c = (char)(high << 4 | low);
			i += 2;
		} else if (c == '+' && form) {
			c = ' ';
		} else if (c == '?') {
			form = true;
		}
		out[n++] = c;
	}
	return set_text(s, SMP_STR, out, n);
}

/* --- bytes as numbers --------------------------------------------------------------------- */

/* (<separator>,<chunk size>[,<truncate>]) */
static bool check_chunks(struct conf_line *l, struct expr_arg *args, const char **error)
{
	int64_t size = args[1].type == ARG_INT ? args[1].integer : 0;

	if (!args[0].name.len || size > 0)
		return true;
	*error = arena_printf(&l->cfg->arena, "chunk_size needs to be positive (%lld)",
			      (long long)size);
	return false;
}

static bool check_be2dec(struct conf_line *l, struct expr_arg *args, const char **error)
{
	int64_t size = args[1].type == ARG_INT ? args[1].integer : 0;

	if (size >= 1 && size <= 8)
		return true;
	*error = arena_printf(&l->cfg->arena, "chunk_size out of [1..8] range (%lld)",
			      (long long)size);
	return false;
}

/* How much of <len> is written, in chunks of <size>. */
static size_t chunks_len(const struct expr_arg *args, size_t len, size_t size)
{
	return args[2].type == ARG_INT && args[2].integer ? len - len % size : len;
}

static bool finish_text(struct expr_ctx *ctx, struct sample *s, struct strbuf *out)
{
	struct slice copy = out->overflow ? slice_none() :
			    arena_copy(ctx->arena, slice_make(out->ptr ? out->ptr : "", out->len));

	strbuf_fini(out);
	return set_text(s, SMP_STR, copy.ptr, copy.len);
}

static bool convert_chunks_dec(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	bool little = ctx->data != NULL;
	size_t size = (size_t)args[1].integer;
	size_t len = chunks_len(args, s->text.len, size);
	struct strbuf out;

	strbuf_init(&out);
	for (size_t i = 0; i < len; i += size) {
		size_t count = len - i < size ? len - i : size;
		uint64_t v = 0;

		for (size_t k = 0; k < count; k++)
			v = v << 8 | (unsigned char)s->text.ptr[i + (little ? count - 1 - k : k)];
		if (i)
			strbuf_add(&out, args[0].text);
		strbuf_add_uint(&out, v);
	}
	return finish_text(ctx, s, &out);
}

static bool convert_be2hex(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *s)
{
	static const char digits[] = "0123456789ABCDEF";
	bool apart = args[1].type == ARG_INT && args[1].integer > 0;
	size_t size = apart ? (size_t)args[1].integer : s->text.len + 1;
	size_t len = chunks_len(args, s->text.len, size);
	struct strbuf out;

	strbuf_init(&out);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s->text.ptr[i];

		if (apart && i && i % size == 0)
			strbuf_add(&out, args[0].text);
		strbuf_add_char(&out, digits[c >> 4]);
		strbuf_add_char(&out, digits[c & 15]);
	}
	return finish_text(ctx, s, &out);
}

#define BIN(n, o, f, h) { .name = n, .in = SMP_BIN, .out = o, .convert = f, .help = h }
#define STR(n, o, f, h) { .name = n, .in = SMP_STR, .out = o, .convert = f, .help = h }

static const struct expr_converter converters[] = {
	BIN("base2", SMP_STR, convert_base2, "bytes as binary digits"),
	{ .name = "has_ctl", .args = { ARG_STR }, .in = SMP_BIN, .out = SMP_BOOL,
	  .convert = convert_has_ctl, .check = check_has_ctl, .syntax = "[(<mask>|any|http)]",
	  .help = "does it hold control characters?" },
	BIN("hex", SMP_STR, convert_hex, "bytes as hexadecimal digits"),
	STR("hex2i", SMP_INT, convert_hex2i, "the integer of hexadecimal digits"),
	{ .name = "htonl", .in = SMP_INT, .out = SMP_BIN, .convert = convert_htonl,
	  .help = "32 bits in network order" },
	BIN("base64", SMP_STR, convert_base64, "bytes in base64"),
	STR("b64dec", SMP_BIN, convert_b64dec, "the bytes that base64 stands for"),
	BIN("ub64enc", SMP_STR, convert_ub64enc, "bytes in base64 for URLs, without padding"),
	STR("ub64dec", SMP_BIN, convert_ub64dec, "the bytes that base64 for URLs stands for"),
	{ .name = "url_enc", .args = { ARG_STR }, .in = SMP_STR, .out = SMP_STR,
	  .convert = convert_url_enc, .check = check_url_enc, .syntax = "[(query)]",
	  .help = "all but unreserved characters as %XX" },
	{ .name = "url_dec", .args = { ARG_INT }, .in = SMP_STR, .out = SMP_STR,
	  .convert = convert_url_dec, .syntax = "[(<in form>)]", .help = "%XX as characters" },
	{ .name = "be2dec", .args_min = 1, .args = { ARG_STR, ARG_INT, ARG_INT }, .in = SMP_BIN,
	  .out = SMP_STR, .convert = convert_chunks_dec, .check = check_be2dec,
	  .syntax = "(<separator>,<chunk size>[,<truncate>])",
	  .help = "chunks of bytes as decimal numbers, the highest byte first" },
	{ .name = "le2dec", .args_min = 1, .args = { ARG_STR, ARG_INT, ARG_INT }, .in = SMP_BIN,
	  .out = SMP_STR, .convert = convert_chunks_dec, .check = check_be2dec, .data = "little",
	  .syntax = "(<separator>,<chunk size>[,<truncate>])",
	  .help = "chunks of bytes as decimal numbers, the lowest byte first" },
	{ .name = "be2hex", .args = { ARG_STR, ARG_INT, ARG_INT }, .in = SMP_BIN, .out = SMP_STR,
	  .convert = convert_be2hex, .check = check_chunks,
	  .syntax = "([<separator>[,<chunk size>[,<truncate>]]])",
	  .help = "bytes as hexadecimal digits, in chunks" },
	{ 0 }
};

const struct module mod_conv_code = { .name = "conv_code", .converters = converters };
