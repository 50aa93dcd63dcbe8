/* SPDX-License-Identifier: GPL-2.0-or-later */
/* logformat_encode.c - items of formats as JSON (RFC 8259) or CBOR (RFC 8949) values
 *
 * A whole format that is encoded is a map of its named items. Aliases are printed as texts first,
 * without quotes, and their flags give the type of such a text. CBOR marks where a client's text
 * was escaped: such texts are pieces, each with its length.
 */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "codec/json_text.h"
#include "expr_priv.h"
#include "logformat_priv.h"

static const char hex_digits[] = "0123456789ABCDEF";

/* --- CBOR --------------------------------------------------------------------------------- */

enum cbor_major { CBOR_UINT = 0, CBOR_NEGATIVE = 1, CBOR_BYTES = 2, CBOR_TEXT = 3 };

#define CBOR_MAP_OPEN 0xbf
#define CBOR_LIST_OPEN 0x9f
#define CBOR_TEXT_OPEN 0x7f
#define CBOR_BYTES_OPEN 0x5f
#define CBOR_BREAK 0xff
#define CBOR_FALSE 0xf4
#define CBOR_TRUE 0xf5
#define CBOR_NULL 0xf6

static bool cbor_bytes(unsigned options, struct strbuf *out, struct slice bytes)
{
	if (options & LOGFORMAT_BINARY)
		return strbuf_add(out, bytes);
	for (size_t i = 0; i < bytes.len; i++) {
		unsigned char c = (unsigned char)bytes.ptr[i];
		char two[2] = { hex_digits[c >> 4], hex_digits[c & 15] };

		if (!strbuf_add(out, slice_make(two, 2)))
			return false;
	}
	return true;
}

static bool cbor_byte(unsigned options, struct strbuf *out, unsigned char byte)
{
	return cbor_bytes(options, out, slice_make((const char *)&byte, 1));
}

/* The head of a value: its major type and its number, in as few bytes as can be. */
static bool cbor_head(unsigned options, struct strbuf *out, enum cbor_major major, uint64_t n)
{
	int size = n < 24 ? 0 : n <= 0xff ? 1 : n <= 0xffff ? 2 : n <= 0xffffffff ? 4 : 8;
	char head[9];

	head[0] = (char)(major << 5 | (size == 0 ? (int)n : size == 1 ? 24 : size == 2 ? 25
				       : size == 4 ? 26 : 27));
	for (int i = 0; i < size; i++)
		head[1 + i] = (char)(n >> (8 * (size - 1 - i)));
	return cbor_bytes(options, out, slice_make(head, (size_t)size + 1));
}

static bool cbor_text(unsigned options, struct strbuf *out, enum cbor_major major,
		      struct slice text)
{
	return cbor_head(options, out, major, text.len) && cbor_bytes(options, out, text);
}

/* How long the piece at the start of <text> is: "#C3", a sign of <signs>, or up to one of these. */
static size_t piece_length(struct slice text, const char *signs)
{
	size_t len = 0;

	if (text.ptr[0] == '#' && text.len >= 3)
		return 3;
	if (strchr(signs, text.ptr[0]))
		return 1;
	while (len < text.len && text.ptr[len] != '#' && !strchr(signs, text.ptr[len]))
		len++;
	return len ? len : 1;
}

static bool cbor_pieces(unsigned options, struct strbuf *out, struct slice text, const char *signs)
{
	bool good = cbor_byte(options, out, CBOR_TEXT_OPEN), bare = true;

	while (good && text.len) {
		size_t len = piece_length(text, signs);

		/* what stands before an escaped byte is a piece, even when that is nothing */
		if (bare && text.ptr[0] == '#')
			good = cbor_head(options, out, CBOR_TEXT, 0);
		good = good && cbor_text(options, out, CBOR_TEXT, slice_sub(text, 0, len));
		bare = text.ptr[0] == '#' || strchr(signs, text.ptr[0]);
		text = slice_sub(text, len, text.len);
	}
	return good && cbor_byte(options, out, CBOR_BREAK);
}

/* --- JSON --------------------------------------------------------------------------------- */

/* The length of the valid UTF-8 sequence of several bytes at <at>; 0: there is none. */
static size_t utf8_length(struct slice s, size_t at)
{
	unsigned char c = (unsigned char)s.ptr[at], second;
	size_t len = c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3
		     : c >= 0xf0 && c < 0xf5 ? 4 : 0;

	if (!len || at + len > s.len)
		return 0;
	for (size_t i = 1; i < len; i++)
		if (((unsigned char)s.ptr[at + i] & 0xc0) != 0x80)
			return 0;
	second = (unsigned char)s.ptr[at + 1];
	/* too long, surrogates, beyond the last code point */
	if ((c == 0xe0 && second < 0xa0) || (c == 0xed && second >= 0xa0) ||
	    (c == 0xf0 && second < 0x90) || (c == 0xf4 && second >= 0x90))
		return 0;
	return len;
}

static bool json_unicode(struct strbuf *out, unsigned char c)
{
	char text[6] = { '\\', 'u', '0', '0', hex_digits[c >> 4], hex_digits[c & 15] };

	return strbuf_add(out, slice_make(text, 6));
}

/* One byte that stands alone. */
static bool json_byte(struct strbuf *out, unsigned char c)
{
	static const char special[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	const char *hit = c ? strchr(special, c) : NULL;

	if (hit)
		return strbuf_add_char(out, '\\') && strbuf_add_char(out, letters[hit - special]);
	if (c < 32 || c > 126)
		return json_unicode(out, c);
	return strbuf_add_char(out, (char)c);
}

static bool json_string(unsigned options, struct strbuf *out, struct slice text)
{
	bool good = strbuf_add_char(out, '"');

	for (size_t i = 0; good && i < text.len;) {
		size_t plain = json_plain_len(text, i), len;

		if (plain) {
			good = strbuf_add(out, slice_sub(text, i, i + plain));
			i += plain;
			continue;
		}
		len = options & LOGFORMAT_UTF8 ? utf8_length(text, i) : 0;

		if (len == 2 && (unsigned char)text.ptr[i] == 0xc2 &&
		    (unsigned char)text.ptr[i + 1] < 0xa0)
			good = json_unicode(out, (unsigned char)text.ptr[i + 1]);
		else if (len)
			good = strbuf_add(out, slice_sub(text, i, i + len));
		else
			good = json_byte(out, (unsigned char)text.ptr[i]);
		i += len ? len : 1;
	}
	return good && strbuf_add_char(out, '"');
}

/* --- values ------------------------------------------------------------------------------- */

static bool put_null(unsigned options, struct strbuf *out)
{
	return options & LOGFORMAT_JSON ? strbuf_add(out, SLICE("null"))
					: cbor_byte(options, out, CBOR_NULL);
}

static bool put_integer(unsigned options, struct strbuf *out, int64_t n)
{
	if (options & LOGFORMAT_JSON)
		return strbuf_add_int(out, n);
	return n < 0 ? cbor_head(options, out, CBOR_NEGATIVE, (uint64_t)(-1 - n))
		     : cbor_head(options, out, CBOR_UINT, (uint64_t)n);
}

static bool put_boolean(unsigned options, struct strbuf *out, bool b)
{
	if (options & LOGFORMAT_JSON)
		return strbuf_add_str(out, b ? "true" : "false");
	return cbor_byte(options, out, b ? CBOR_TRUE : CBOR_FALSE);
}

/* What is missing: JSON has an empty text for it. */
static bool put_string(unsigned options, struct strbuf *out, struct slice text)
{
	if (options & LOGFORMAT_JSON)
		return json_string(options, out, text);
	return text.len ? cbor_text(options, out, CBOR_TEXT, text) : put_null(options, out);
}

static bool put_binary(unsigned options, struct strbuf *out, struct slice bytes)
{
	size_t end;

	if (options & LOGFORMAT_JSON) {
		end = slice_find_char(bytes, 0, '\0');
		return json_string(options, out, slice_sub(bytes, 0, end < bytes.len ? end
									     : bytes.len));
	}
	return cbor_byte(options, out, CBOR_BYTES_OPEN) &&
	       cbor_text(options, out, CBOR_BYTES, bytes) && cbor_byte(options, out, CBOR_BREAK);
}

/* Is it a number as it would be written, of a size that all fit in? */
static bool is_number(struct slice text)
{
	size_t i = text.len && text.ptr[0] == '-', from = i;

	while (i < text.len && ascii_is_digit(text.ptr[i]))
		i++;
	return i == text.len && i > from && i - from <= 18 &&
	       (text.ptr[from] != '0' || text.len == 1);
}

/* The number at the start of a text, 0 if there is none. */
static int64_t number_of(struct slice text)
{
	char digits[24];

	slice_copy(text, digits, sizeof(digits));
	return strtoll(digits, NULL, 10);
}

/* --- expressions -------------------------------------------------------------------------- */

/* Makes the sample one of a type that is wanted. False: it cannot be. */
static bool sample_force(struct sample *s, enum sample_type type, struct arena *arena)
{
	if (type == SMP_STR && s->type == SMP_BIN) {
		s->type = SMP_STR;
		return true;
	}
	if (type != SMP_INT && type != SMP_BOOL)
		return sample_cast(s, type, arena);
	if (s->type == SMP_STR || s->type == SMP_BIN)
		s->integer = number_of(s->text);
	else if (s->type == SMP_BOOL)
		s->integer = s->boolean;
	else if (s->type != SMP_INT && !sample_cast(s, SMP_INT, arena))
		return false;
	s->type = SMP_INT;
	if (type == SMP_BOOL) {
		s->boolean = s->integer != 0;
		s->type = SMP_BOOL;
	}
	return true;
}

static bool put_sample(const struct logformat_item *item, struct expr_ctx *ctx,
		       struct strbuf *out)
{
	struct sample s;

	if (expr_eval_now(item->expr, ctx, &s) != EXPR_FOUND ||
	    (item->type != SMP_ANY && !sample_force(&s, item->type, ctx->arena)))
		return put_string(item->options, out, slice_none());
	switch (s.type) {
	case SMP_INT:
		return put_integer(item->options, out, s.integer);
	case SMP_BOOL:
		return put_boolean(item->options, out, s.boolean);
	case SMP_BIN:
		return put_binary(item->options, out, s.text);
	default:
		if (!sample_cast(&s, SMP_STR, ctx->arena))
			s.text = slice_none();
		return put_string(item->options, out, s.text);
	}
}

/* --- aliases ------------------------------------------------------------------------------ */

static __thread struct strbuf text;

void logformat_encode_trim(void)
{
	strbuf_fini(&text);
}

static bool put_number(const struct logformat_item *item, struct strbuf *out, struct slice digits)
{
	bool is_hex = item->options & LOGFORMAT_HEX && item->alias->flags & ALIAS_HEX;
	bool is_text = is_hex || item->type == SMP_STR || !digits.len ||
		       (digits.len == 1 && !ascii_is_digit(digits.ptr[0]));

	if (digits.len == 1 && !ascii_is_digit(digits.ptr[0]))
		digits = slice_none();
	if (is_text)
		return put_string(item->options, out, digits);
	if (item->type == SMP_BOOL)
		return put_boolean(item->options, out, number_of(digits) != 0);
	if (item->options & LOGFORMAT_JSON && is_number(digits))
		return strbuf_add(out, digits);
	return put_integer(item->options, out, number_of(digits));
}

/* "a" "b": each between its quotes, which occur nowhere else. */
static bool put_list(const struct logformat_item *item, struct strbuf *out, struct slice words)
{
	bool json = item->options & LOGFORMAT_JSON, first = true;
	bool good = json ? strbuf_add_char(out, '[')
			 : cbor_byte(item->options, out, CBOR_LIST_OPEN);
	size_t at = 0, open, close;

	while (good && (open = slice_find_char(words, at, '"')) < words.len &&
	       (close = slice_find_char(words, open + 1, '"')) < words.len) {
		struct slice word = slice_sub(words, open + 1, close);

		if (!word.len)
			word = SLICE("-");
		if (json)
			good = (first || strbuf_add(out, SLICE(", "))) &&
			       json_string(item->options, out, word);
		else
			good = cbor_pieces(item->options, out, word, "{|}");
		first = false;
		at = close + 1;
	}
	return good && (json ? strbuf_add_char(out, ']')
			     : cbor_byte(item->options, out, CBOR_BREAK));
}

/* How an alias is printed before it is encoded. */
static struct logformat_item plain_item(const struct logformat_item *item)
{
	struct logformat_item plain = *item;

	plain.options &= LOGFORMAT_HEX;
	if (item->alias->flags & ALIAS_LIST)
		plain.options |= LOGFORMAT_QUOTE;
	return plain;
}

static bool put_alias(const struct logformat_item *item, const struct logformat_item *plain,
		      struct expr_ctx *ctx, struct strbuf *out)
{
	unsigned flags = item->alias->flags;
	struct slice value;

	if (!text.ptr)
		strbuf_init(&text);
	strbuf_reset(&text);
	if (!logformat_put_alias(plain, ctx, &text))
		return false;
	value = strbuf_slice(&text);
	if (flags & ALIAS_CAPTURES && !value.len)
		return put_null(item->options, out);
	if (flags & ALIAS_LIST)
		return put_list(item, out, value);
	if (slice_eq(value, SLICE("-")))
		value = slice_none();
	if (flags & ALIAS_NUMBER)
		return put_number(item, out, value);
	if (flags & ALIAS_PIECES && item->options & LOGFORMAT_CBOR &&
	    !(item->options & LOGFORMAT_JSON) && value.len)
		return cbor_pieces(item->options, out, value, flags & ALIAS_CAPTURES ? "{|}" : "");
	return put_string(item->options, out, value);
}

/* Is what stands in <out> from <at> on a value as it is, or, behind the quote, with one more? */
static bool finish_in_place(const struct logformat_item *item, struct strbuf *out, size_t at)
{
	struct slice value = slice_make(out->ptr + at, out->len - at);

	if (item->alias->flags & ALIAS_NUMBER)
		return is_number(value);
	return !slice_eq(value, SLICE("-")) && json_plain_len(value, 0) == value.len &&
	       strbuf_add_char(out, '"');
}

/* Most values are the same in JSON as they are printed: these are written to their place at once.
 * What is not is taken back, and encoded from a copy.
 */
static bool put_json_alias(const struct logformat_item *item, const struct logformat_item *plain,
			   struct expr_ctx *ctx, struct strbuf *out)
{
	unsigned flags = item->alias->flags;
	bool is_number = flags & ALIAS_NUMBER;
	size_t begin = out->len, at;

	if (flags & (ALIAS_LIST | ALIAS_CAPTURES) ||
	    (is_number && (item->type != SMP_ANY || item->options & LOGFORMAT_HEX)))
		return put_alias(item, plain, ctx, out);
	if (!is_number && !strbuf_add_char(out, '"'))
		return false;
	at = out->len;
	if (likely(logformat_put_alias(plain, ctx, out) && finish_in_place(item, out, at)))
		return true;
	out->len = begin;
	return put_alias(item, plain, ctx, out);
}

bool logformat_encode_item(const struct logformat_item *item, struct expr_ctx *ctx,
			   struct strbuf *out)
{
	struct logformat_item plain;

	if (!item->alias)
		return put_sample(item, ctx, out);
	plain = plain_item(item);
	return put_alias(item, &plain, ctx, out);
}

/* --- maps --------------------------------------------------------------------------------- */

static bool is_in_map(const struct logformat_item *item)
{
	return item->name.len && (item->alias || item->expr);
}

static bool prepare_item(struct logformat *f, unsigned i, struct strbuf *key, struct arena *arena)
{
	strbuf_reset(key);
	if (!strbuf_add(key, SLICE(", ")) || !json_string(f->encoding, key, f->items[i].name) ||
	    !strbuf_add(key, SLICE(": ")))
		return false;
	f->keys[i] = arena_copy(arena, strbuf_slice(key));
	if (f->items[i].alias)
		f->plain[i] = plain_item(&f->items[i]);
	return f->keys[i].ptr != NULL;
}

bool logformat_encode_prepare(struct logformat *f, struct arena *arena)
{
	struct strbuf key;
	bool good = true;

	if (!(f->encoding & LOGFORMAT_JSON))
		return true;
	f->keys = arena_zalloc(arena, f->count * sizeof(*f->keys) + 1);
	f->plain = arena_zalloc(arena, f->count * sizeof(*f->plain) + 1);
	if (!f->keys || !f->plain)
		return false;
	strbuf_init(&key);
	for (unsigned i = 0; good && i < f->count; i++) {
		f->items[i].options |= f->encoding;
		if (is_in_map(&f->items[i]))
			good = prepare_item(f, i, &key, arena);
	}
	strbuf_fini(&key);
	return good;
}

static bool encode_json(const struct logformat *f, struct expr_ctx *ctx, struct strbuf *out)
{
	bool first = true;

	if (!strbuf_add_char(out, '{'))
		return false;
	for (unsigned i = 0; i < f->count; i++) {
		const struct logformat_item *item = &f->items[i];
		struct slice key = f->keys[i];

		if (!key.len)
			continue;
		if (first)
			key = slice_sub(key, 2, key.len);
		if (!strbuf_add(out, key) ||
		    !(item->alias ? put_json_alias(item, &f->plain[i], ctx, out)
				  : put_sample(item, ctx, out)))
			return false;
		first = false;
	}
	return strbuf_add_char(out, '}');
}

static bool encode_cbor(const struct logformat *f, struct expr_ctx *ctx, struct strbuf *out)
{
	bool good = cbor_byte(f->encoding, out, CBOR_MAP_OPEN);

	for (unsigned i = 0; good && i < f->count; i++) {
		struct logformat_item item = f->items[i];

		if (!is_in_map(&item))
			continue;
		item.options |= f->encoding;
		good = cbor_text(f->encoding, out, CBOR_TEXT, item.name) &&
		       logformat_encode_item(&item, ctx, out);
	}
	return good && cbor_byte(f->encoding, out, CBOR_BREAK);
}

bool logformat_encode(const struct logformat *f, struct expr_ctx *ctx, struct strbuf *out)
{
	return f->encoding & LOGFORMAT_JSON ? encode_json(f, ctx, out) : encode_cbor(f, ctx, out);
}
