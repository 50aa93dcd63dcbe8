/* SPDX-License-Identifier: GPL-2.0-or-later */
/* logformat_build.c - writing formats, and what alias printers write with (manual 8.2.6, 8.6) */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "base/addr.h"
#include "base/bug.h"
#include "base/word8.h"
#include "expr_priv.h"
#include "logformat_priv.h"

static const char hex_digits[] = "0123456789ABCDEF";

/* Bytes below 128 that must not go out as they are, a bit each. */
struct stops {
	uint64_t bits[2];
};

static void stops_add(struct stops *s, const char *text)
{
	for (; *text; text++)
		s->bits[(unsigned char)*text >> 6 & 1] |= 1ull << (*text & 63);
}

static bool stops_has(const struct stops *s, unsigned char c)
{
	return s->bits[c >> 6 & 1] >> (c & 63) & 1;
}

/* Has one of 8 bytes a reason to be looked at: is it below 32, above 'z', or one of " # \ and ]?
 * Every stop of this file is among those. Exact for the first such byte of a word, and in whether
 * there is one.
 */
static bool word_has_stop(uint64_t x)
{
	const uint64_t ones = 0x0101010101010101ull, tops = ones * 128;
	uint64_t quote = (x & ones * 0xfe) ^ ones * '"', slash = (x & ones * 0xfe) ^ ones * '\\';

	return (((x - ones * 32) & ~x) | (((x & ~tops) + ones * (128 - '{')) | x) |
		((quote - ones) & ~quote) | ((slash - ones) & ~slash)) & tops;
}

/* As word_has_stop(), for 16 bytes, in vectors of the compiler. */
static inline bool block_has_stop(const char *p)
{
	typedef uint8_t vector __attribute__((vector_size(16)));
	vector x, hit;
	uint64_t halves[2];

	memcpy(&x, p, sizeof(x));
	hit = (vector)(x < 32) | (vector)(x > 'z') | (vector)((x & 0xfe) == '"') |
	      (vector)((x & 0xfe) == '\\');
	memcpy(halves, &hit, sizeof(halves));
	return (halves[0] | halves[1]) != 0;
}

/* Is there nothing to be looked at? The end of a text is seen as its last 8 or 16 bytes. */
static bool is_harmless(struct slice text)
{
	size_t i;

	if (text.len < 8)
		return !text.len || !word_has_stop(word8_of_short(text.ptr, text.len));
	if (text.len < 16)
		return !word_has_stop(word8_at(text.ptr)) &&
		       !word_has_stop(word8_at(text.ptr + text.len - 8));
	for (i = 0; i + 16 < text.len; i += 16)
		if (block_has_stop(text.ptr + i))
			return false;
	return !block_has_stop(text.ptr + text.len - 16);
}

/* Where the next byte to be looked at may be, from <i> on; the length at the end. */
static size_t skip_harmless(struct slice text, size_t i)
{
	while (i + 8 <= text.len && !word_has_stop(word8_at(text.ptr + i)))
		i += 8;
	return i;
}

#define CONTROLS 0xffffffffull       /* those below 32 */
#define DELETE (1ull << (127 - 64))

static bool put_code(struct strbuf *out, char prefix, unsigned char c)
{
	char code[3] = { prefix, hex_digits[c >> 4], hex_digits[c & 15] };

	return strbuf_add(out, slice_make(code, 3));
}

/* Text as it is, but for what its destination must not get: line ends in logs and header fields
 * would forge lines. Runs of harmless bytes are copied in one piece.
 */
static bool put_safely(unsigned options, struct strbuf *out, struct slice text)
{
	bool encode = options & (LOGFORMAT_HTTP | LOGFORMAT_PRINTABLE);
	char prefix = options & LOGFORMAT_HTTP ? '%' : '#';
	bool said = options & LOGFORMAT_PRINTABLE && options & LOGFORMAT_SAID;
	struct stops stops = { { encode ? CONTROLS & ~(1ull << '\t') : 0, encode ? DELETE : 0 } };
	size_t start = 0;

	if (options & LOGFORMAT_ESCAPE)
		stops_add(&stops, "\"\\]");
	if (said)
		stops_add(&stops, "#\"");
	for (size_t i = skip_harmless(text, 0); i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];
		bool escape;

		if (likely(c >= 128 || !stops_has(&stops, c))) {
			if (!(i & 7))
				i = skip_harmless(text, i + 1) - 1;
			continue;
		}
		escape = options & LOGFORMAT_ESCAPE && (c == '"' || c == '\\' || c == ']') &&
			 !(c == '"' && said);
		if (!strbuf_add(out, slice_sub(text, start, i)))
			return false;
		if (escape ? !strbuf_add_char(out, '\\') : !put_code(out, prefix, c))
			return false;
		start = escape ? i : i + 1;
	}
	return strbuf_add(out, slice_sub(text, start, text.len));
}

static bool put_safe(const struct logformat_item *item, struct strbuf *out, struct slice text)
{
	unsigned options = item->options;

	if ((options & LOGFORMAT_BINARY && !(options & LOGFORMAT_HTTP)) || is_harmless(text))
		return strbuf_add(out, text);
	return put_safely(options, out, text);
}

bool logformat_put_encoded(const struct logformat_item *item, struct strbuf *out, struct slice text,
			   const char *also)
{
	struct stops stops = { { CONTROLS | 1ull << '#' | 1ull << '"', DELETE } };
	size_t start = 0;

	if (is_harmless(text))
		return strbuf_add(out, text);
	stops_add(&stops, also);
	for (size_t i = skip_harmless(text, 0); i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if (likely(c < 128 && !stops_has(&stops, c))) {
			if (!(i & 7))
				i = skip_harmless(text, i + 1) - 1;
			continue;
		}
		if (!strbuf_add(out, slice_sub(text, start, i)) || !put_code(out, '#', c))
			return false;
		start = i + 1;
	}
	return strbuf_add(out, slice_sub(text, start, text.len));
}

static bool put_missing(const struct logformat_item *item, struct strbuf *out)
{
	if (item->options & LOGFORMAT_QUOTE)
		return strbuf_add(out, SLICE("\"\""));
	return !(item->options & LOGFORMAT_MANDATORY) || strbuf_add_char(out, '-');
}

bool logformat_put_quote(const struct logformat_item *item, struct strbuf *out)
{
	return !(item->options & LOGFORMAT_QUOTE) || strbuf_add_char(out, '"');
}

bool logformat_put_text(const struct logformat_item *item, struct strbuf *out, struct slice text)
{
	if (!text.len)
		return put_missing(item, out);
	return logformat_put_quote(item, out) && put_safe(item, out, text) &&
	       logformat_put_quote(item, out);
}

bool logformat_put_word(const struct logformat_item *item, struct strbuf *out, struct slice text)
{
	return logformat_put_quote(item, out) && strbuf_add(out, text) &&
	       logformat_put_quote(item, out);
}

bool logformat_put_int(const struct logformat_item *item, struct strbuf *out, int64_t value,
		       bool plus)
{
	return (!plus || strbuf_add_char(out, '+')) && strbuf_add_int(out, value);
}

bool logformat_put_hex(const struct logformat_item *item, struct strbuf *out, uint32_t value,
		       int digits)
{
	char text[8];

	if (!(item->options & LOGFORMAT_HEX))
		return strbuf_add_uint(out, value);
	for (int i = digits - 1; i >= 0; i--, value >>= 4)
		text[i] = hex_digits[value & 15];
	return strbuf_add(out, slice_make(text, (size_t)digits));
}

bool logformat_put_ipv4(const struct logformat_item *item, struct strbuf *out, uint32_t ip)
{
	char text[ADDR_IPV4_MAX];

	if (item->options & LOGFORMAT_HEX)
		return logformat_put_hex(item, out, ntohl(ip), 8);
	return logformat_put_word(item, out, slice_make(text, addr_put_ipv4(ip, text)));
}

bool logformat_put_ipv6(const struct logformat_item *item, struct strbuf *out, const uint8_t ip[16])
{
	char text[INET6_ADDRSTRLEN] = "";

	if (!(item->options & LOGFORMAT_HEX)) {
		inet_ntop(AF_INET6, ip, text, sizeof(text));
		return logformat_put_word(item, out, slice_of(text));
	}
	for (int i = 0; i < 16; i++) {
		text[2 * i] = hex_digits[ip[i] >> 4];
		text[2 * i + 1] = hex_digits[ip[i] & 15];
	}
	return strbuf_add(out, slice_make(text, 32));
}

bool logformat_put_port(const struct logformat_item *item, struct strbuf *out, unsigned port)
{
	return logformat_put_hex(item, out, port, 4);
}

/* --- dates -------------------------------------------------------------------------------- */

/* The last second written, per thread and form: time zones are asked once a second. */
struct date_cache {
	int64_t second;
	size_t len;
	char text[48];
};

static const struct date_cache *date_of(enum logformat_date form, int64_t second)
{
	static __thread struct date_cache caches[3];
	struct date_cache *c = &caches[form];
	static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul",
					      "Aug", "Sep", "Oct", "Nov", "Dec" };
	struct tm tm;
	int len;

	if (c->len && c->second == second)
		return c;
	if (!(form == LOGFORMAT_DATE_GMT ? gmtime_r(&second, &tm) : localtime_r(&second, &tm)))
		return NULL;
	len = snprintf(c->text, sizeof(c->text), "%02d/%s/%04d:%02d:%02d:%02d", tm.tm_mday,
		       months[tm.tm_mon % 12], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
	if (form != LOGFORMAT_DATE_LOCAL_MS && len > 0 && len < 40) {
		long offset = form == LOGFORMAT_DATE_GMT ? 0 : tm.tm_gmtoff / 60;
		long minutes = offset < 0 ? -offset : offset;

		len += snprintf(c->text + len, sizeof(c->text) - (size_t)len, " %c%02ld%02ld",
				offset < 0 ? '-' : '+', minutes / 60 % 100, minutes % 60);
	}
	c->len = (size_t)len;
	c->second = second;
	return c;
}

bool logformat_put_date(const struct logformat_item *item, struct strbuf *out,
			enum logformat_date form, uint64_t wall_us)
{
	const struct date_cache *c = date_of(form, (int64_t)(wall_us / 1000000));
	unsigned ms = (unsigned)(wall_us / 1000 % 1000);
	char fraction[4] = { '.', (char)('0' + ms / 100), (char)('0' + ms / 10 % 10),
			     (char)('0' + ms % 10) };

	if (!c || !strbuf_add(out, slice_make(c->text, c->len)))
		return false;
	return form != LOGFORMAT_DATE_LOCAL_MS || strbuf_add(out, slice_make(fraction, 4));
}

/* --- building ----------------------------------------------------------------------------- */

static bool put_expression(const struct logformat_item *item, struct expr_ctx *ctx,
			   struct strbuf *out)
{
	struct slice text = slice_none();
	struct sample s;

	if (expr_eval_now(item->expr, ctx, &s) == EXPR_FOUND) {
		enum sample_type as = item->options & LOGFORMAT_BINARY &&
				      (s.type == SMP_BIN || s.type == SMP_STR) ? SMP_BIN : SMP_STR;

		if (sample_cast(&s, as, ctx->arena))
			text = s.text;
	}
	return logformat_put_text(item, out, text);
}

bool logformat_put_alias(const struct logformat_item *item, struct expr_ctx *ctx,
			 struct strbuf *out)
{
	const struct expr_alias *alias = item->alias;

	if (alias->absent && !ctx->stream && *alias->absent)
		return logformat_put_word(item, out, slice_of(alias->absent));
	if ((alias->absent && !ctx->stream) || (alias->flags & ALIAS_SESSION && !ctx->session))
		return logformat_put_text(item, out, slice_none());
	return alias->print(ctx, item, out);
}

bool logformat_build(const struct logformat *f, struct expr_ctx *ctx, struct strbuf *out)
{
	size_t parted = out->len; /* behind the last separator */

	if (f->constant.ptr)
		return strbuf_add(out, f->constant);
	if (f->encoding)
		return logformat_encode(f, ctx, out);
	for (unsigned i = 0; i < f->count; i++) {
		const struct logformat_item *item = &f->items[i];
		bool ok = true;

		if (item->options & (LOGFORMAT_JSON | LOGFORMAT_CBOR) &&
		    (item->alias || item->expr))
			ok = logformat_encode_item(item, ctx, out);
		else if (item->alias)
			ok = logformat_put_alias(item, ctx, out);
		else if (item->expr)
			ok = put_expression(item, ctx, out);
		else if (!(item->options & LOGFORMAT_SEPARATOR) || out->len > parted)
			ok = item->text.len == 1 ? strbuf_add_char(out, item->text.ptr[0]) :
			     strbuf_add(out, item->text);
		if (!ok)
			return false;
		if (item->options & LOGFORMAT_SEPARATOR)
			parted = out->len;
	}
	return true;
}

static __thread struct strbuf scratch;

struct slice logformat_make(const struct logformat *f, struct expr_ctx *ctx, size_t max)
{
	if (f->constant.ptr)
		return slice_sub(f->constant, 0, max);
	if (!scratch.ptr)
		strbuf_init(&scratch);
	strbuf_reset(&scratch);
	if (!logformat_build(f, ctx, &scratch) || !scratch.len)
		return scratch.overflow ? slice_none() : SLICE("");
	return arena_copy(ctx->arena,
			  slice_make(scratch.ptr, scratch.len < max ? scratch.len : max));
}

void logformat_trim_thread(void)
{
	strbuf_fini(&scratch);
	logformat_encode_trim();
}
