/* SPDX-License-Identifier: GPL-2.0-or-later */
/* otlp.c - messages of the OpenTelemetry protocol, in both of its encodings
 *
 * Each field is written by one call with its number and its JSON name. In Protocol Buffers the
 * length of a message precedes it: one byte is reserved for it, and more are inserted when the
 * message is closed.
 */
#include "codec/otlp.h"
#include <endian.h>
#include <string.h>
#include "base/bug.h"
#include "base/num.h"
#include "codec/json.h"
#include "codec/json_text.h"
#include "codec/protobuf.h"

/* --- fields ----------------------------------------------------------------------------------- */

static inline void put_byte(struct strbuf *out, uint64_t v)
{
	char c = (char)v;

	if (unlikely(out->size - out->len < 2))
		strbuf_add_slow(out, slice_make(&c, 1));
	else
		out->ptr[out->len++] = c;
}

static inline void put_varint(struct strbuf *out, uint64_t v)
{
	char text[PROTOBUF_VARINT_MAX];

	if (likely(v < 0x80))
		put_byte(out, v);
	else
		strbuf_add(out, slice_make(text, (size_t)(protobuf_write_varint(text, v) - text)));
}

static inline void put_tag(struct otlp *o, unsigned field, enum protobuf_wire wire)
{
	put_varint(o->out, field << 3 | (unsigned)wire);
}

static void put_comma(struct strbuf *out)
{
	char last = out->len ? out->ptr[out->len - 1] : '[';

	if (last != '[' && last != '{')
		strbuf_add_char(out, ',');
}

static void put_key(struct otlp *o, const char *name)
{
	put_comma(o->out);
	strbuf_add_char(o->out, '"');
	strbuf_add_str(o->out, name);
	strbuf_add(o->out, SLICE("\":"));
}

static bool is_ascii(struct slice s)
{
	uint64_t any = 0, word;
	size_t i = 0;

	for (; i + 8 <= s.len; i += 8) {
		memcpy(&word, s.ptr + i, 8);
		any |= word;
	}
	for (; i < s.len; i++)
		any |= (unsigned char)s.ptr[i];
	return !(any & 0x8080808080808080);
}

/* A text that has other bytes than ASCII, through the rules of JSON's strings, as UTF-8. */
static void put_other_text(struct strbuf *out, struct slice s)
{
	struct strbuf json;
	char *text;
	long len = -1;

	strbuf_init(&json);
	json_put_string(&json, s);
	text = json.overflow ? NULL : json.ptr;
	/* decoded in its place: it becomes shorter */
	if (text)
		len = json_text_decode(slice_make(text + 1, json.len - 2), text);
	if (len < 0)
		len = 0;
	put_varint(out, (uint64_t)len);
	strbuf_add(out, slice_make(text, (size_t)len));
	strbuf_fini(&json);
}

static void put_text(struct otlp *o, unsigned field, const char *name, struct slice s)
{
	if (o->json) {
		put_key(o, name);
		json_put_string(o->out, s);
		return;
	}
	put_tag(o, field, PROTOBUF_BYTES);
	if (!is_ascii(s)) {
		put_other_text(o->out, s);
		return;
	}
	put_varint(o->out, s.len);
	strbuf_add(o->out, s);
}

/* Ids: bytes, which JSON has as hexadecimal digits. */
static void put_id(struct otlp *o, unsigned field, const char *name, const uint64_t *words,
		   size_t count)
{
	uint64_t big[2] = { htobe64(words[0]), count > 1 ? htobe64(words[1]) : 0 };
	size_t len = count * 8;
	char digits[32];

	if (!o->json) {
		put_tag(o, field, PROTOBUF_BYTES);
		put_varint(o->out, len);
		strbuf_add(o->out, slice_make((const char *)big, len));
		return;
	}
	num_put_hex_bytes(digits, big, len);
	put_key(o, name);
	strbuf_add_char(o->out, '"');
	strbuf_add(o->out, slice_make(digits, 2 * len));
	strbuf_add_char(o->out, '"');
}

static void put_fixed(struct strbuf *out, uint64_t v, unsigned len)
{
	uint64_t little = htole64(v);

	strbuf_add(out, slice_make((const char *)&little, len));
}

/* 64 bits are a text in JSON. */
static void put_fixed64(struct otlp *o, unsigned field, const char *name, uint64_t v)
{
	if (o->json) {
		put_key(o, name);
		strbuf_add_char(o->out, '"');
		strbuf_add_uint(o->out, v);
		strbuf_add_char(o->out, '"');
		return;
	}
	put_tag(o, field, PROTOBUF_64BIT);
	put_fixed(o->out, v, 8);
}

static void put_double(struct otlp *o, unsigned field, const char *name, double v)
{
	uint64_t bits;

	if (o->json) {
		put_key(o, name);
		strbuf_printf(o->out, "%.17g", v);
		return;
	}
	memcpy(&bits, &v, sizeof(bits));
	put_tag(o, field, PROTOBUF_64BIT);
	put_fixed(o->out, bits, 8);
}

static void put_small(struct otlp *o, unsigned field, const char *name, uint64_t v)
{
	if (o->json) {
		put_key(o, name);
		strbuf_add_uint(o->out, v);
		return;
	}
	put_tag(o, field, PROTOBUF_VARINT);
	put_varint(o->out, v);
}

static void put_fixed32(struct otlp *o, unsigned field, const char *name, uint32_t v)
{
	if (o->json) {
		put_small(o, field, name, v);
		return;
	}
	put_tag(o, field, PROTOBUF_32BIT);
	put_fixed(o->out, v, 4);
}

static void put_true(struct otlp *o, unsigned field, const char *name, bool v)
{
	if (o->json) {
		put_key(o, name);
		strbuf_add_str(o->out, v ? "true" : "false");
		return;
	}
	put_small(o, field, name, v);
}

/* --- messages --------------------------------------------------------------------------------- */

/* A message within another one, or the element of a list (<name> NULL). Returns its begin. */
static size_t open(struct otlp *o, unsigned field, const char *name)
{
	if (o->json) {
		if (name)
			put_key(o, name);
		else
			put_comma(o->out);
		strbuf_add_char(o->out, '{');
		return 0;
	}
	put_tag(o, field, PROTOBUF_BYTES);
	put_byte(o->out, 0);
	return o->out->len;
}

static void close(struct otlp *o, size_t begin)
{
	char length[PROTOBUF_VARINT_MAX];
	struct strbuf *out = o->out;
	size_t len = out->len - begin, more;

	if (o->json) {
		strbuf_add_char(out, '}');
		return;
	}
	if (unlikely(out->overflow))
		return;
	if (likely(len < 0x80)) {
		out->ptr[begin - 1] = (char)len;
		return;
	}
	more = (size_t)(protobuf_write_varint(length, len) - length) - 1;
	if (!strbuf_reserve(out, more))
		return;
	memmove(out->ptr + begin + more, out->ptr + begin, len);
	memcpy(out->ptr + begin - 1, length, more + 1);
	out->len += more;
}

static void list_open(struct otlp *o, const char *name)
{
	if (!o->json)
		return;
	put_key(o, name);
	strbuf_add_char(o->out, '[');
}

static void list_close(struct otlp *o)
{
	if (o->json)
		strbuf_add_char(o->out, ']');
}

struct otlp otlp_begin(struct strbuf *out, enum otlp_signal signal, bool json)
{
	return (struct otlp){ .out = out, .signal = signal, .json = json };
}

/* --- attributes ------------------------------------------------------------------------------- */

/* Returns the begin of the attribute; *value gets that of its value. */
static size_t attr_open(struct otlp *o, struct slice key, size_t *value)
{
	size_t begin = open(o, o->attr_field, NULL);

	put_text(o, 1, "key", key);
	*value = open(o, 2, "value");
	return begin;
}

static void attr_close(struct otlp *o, size_t begin, size_t value)
{
	close(o, value);
	close(o, begin);
}

#define TAG(field, wire) ((char)((field) << 3 | (wire)))

/* In Protocol Buffers lengths are known before, and there are many attributes. Writes all but the
 * <len> bytes of the value's message; returns where these go. NULL: no room.
 */
static inline char *attr_begin(struct otlp *o, struct slice key, size_t len)
{
	size_t value = 1 + protobuf_varint_len(len) + len;
	size_t all = 1 + protobuf_varint_len(key.len) + key.len + value;
	struct strbuf *out = o->out;
	char *to;

	if (unlikely(out->size - out->len < all + 2 * PROTOBUF_VARINT_MAX) &&
	    !strbuf_reserve(out, all + 2 * PROTOBUF_VARINT_MAX))
		return NULL;
	to = out->ptr + out->len;
	*to++ = TAG(o->attr_field, PROTOBUF_BYTES);
	to = protobuf_write_varint(to, all);
	*to++ = TAG(1, PROTOBUF_BYTES);
	to = protobuf_write_varint(to, key.len);
	memcpy(to, key.ptr, key.len);
	to += key.len;
	*to++ = TAG(2, PROTOBUF_BYTES);
	to = protobuf_write_varint(to, len);
	out->len = (size_t)(to - out->ptr) + len;
	return to;
}

void otlp_attr_text(struct otlp *o, struct slice key, struct slice value)
{
	size_t inner, begin;

	if (likely(!o->json && is_ascii(value))) {
		char *to = attr_begin(o, key, 1 + protobuf_varint_len(value.len) + value.len);

		if (!to)
			return;
		*to++ = TAG(1, PROTOBUF_BYTES);
		to = protobuf_write_varint(to, value.len);
		if (value.len)
			memcpy(to, value.ptr, value.len);
		return;
	}
	begin = attr_open(o, key, &inner);
	put_text(o, 1, "stringValue", value);
	attr_close(o, begin, inner);
}

void otlp_attr_int(struct otlp *o, struct slice key, int64_t value)
{
	size_t inner, begin;

	if (likely(!o->json)) {
		bool is_small = (uint64_t)value < 0x80;
		char *to = attr_begin(o, key, is_small ? 2
					      : 1 + protobuf_varint_len((uint64_t)value));

		if (!to)
			return;
		*to++ = TAG(3, PROTOBUF_VARINT);
		protobuf_write_varint(to, (uint64_t)value);
		return;
	}
	begin = attr_open(o, key, &inner);
	put_key(o, "intValue");
	strbuf_add_char(o->out, '"');
	strbuf_add_int(o->out, value);
	strbuf_add_char(o->out, '"');
	attr_close(o, begin, inner);
}

bool otlp_copy_ascii(char *to, struct slice s)
{
	uint64_t any = 0, word = 0;
	size_t i = 0;

	/* the last word overlaps the one before it */
	if (likely(s.len >= 8)) {
		for (; i < s.len; i += 8) {
			i = i + 8 <= s.len ? i : s.len - 8;
			memcpy(&word, s.ptr + i, 8);
			memcpy(to + i, &word, 8);
			any |= word;
		}
		return !(any & 0x8080808080808080);
	}
	for (; i < s.len; i++) {
		to[i] = s.ptr[i];
		any |= (unsigned char)s.ptr[i];
	}
	return !(any & 0x80);
}

void otlp_attr_bool(struct otlp *o, struct slice key, bool value)
{
	size_t inner, begin = attr_open(o, key, &inner);

	put_true(o, 2, "boolValue", value);
	attr_close(o, begin, inner);
}

static void attrs_open(struct otlp *o, uint8_t field)
{
	o->attr_field = field;
	list_open(o, "attributes");
}

struct otlp otlp_resource_begin(struct strbuf *out, bool json)
{
	return (struct otlp){ .out = out, .json = json, .attr_field = 1 };
}

/* --- spans ------------------------------------------------------------------------------------ */

/* An id, or a date: <tag> stands before it, and behind that <len>, of those that have one. */
static inline char *put_word(char *to, char tag, char len, uint64_t word)
{
	*to++ = tag;
	if (len)
		*to++ = len;
	memcpy(to, &word, 8);
	return to + 8;
}

/* What begins a span in Protocol Buffers, in one go. False: something is longer than usual. */
#define SPAN_NAME_MAX 32
static bool span_open_quick(struct otlp *o, const struct otlp_span *s)
{
	const size_t room = 2 + 18 + 10 + 10 + 2 + SPAN_NAME_MAX + 2 + 9 + 9;
	struct strbuf *out = o->out;
	uint64_t second = htobe64(s->trace[1]);
	char *to;

	if (o->json || s->state.len || s->name.len > SPAN_NAME_MAX || out->overflow ||
	    (out->size - out->len <= room && !strbuf_reserve(out, room)))
		return false;
	to = out->ptr + out->len;
	*to++ = TAG(2, PROTOBUF_BYTES);
	*to++ = 0;
	o->begin = out->len + 2;
	to = put_word(to, TAG(1, PROTOBUF_BYTES), 16, htobe64(s->trace[0]));
	memcpy(to, &second, 8);
	to = put_word(to + 8, TAG(2, PROTOBUF_BYTES), 8, htobe64(s->span));
	if (s->parent)
		to = put_word(to, TAG(4, PROTOBUF_BYTES), 8, htobe64(s->parent));
	*to++ = TAG(5, PROTOBUF_BYTES);
	*to++ = (char)s->name.len;
	if (!otlp_copy_ascii(to, s->name))
		return false;
	to += s->name.len;
	*to++ = TAG(6, PROTOBUF_VARINT);
	*to++ = (char)s->kind;
	to = put_word(to, TAG(7, PROTOBUF_64BIT), 0, htole64(s->start_ns));
	to = put_word(to, TAG(8, PROTOBUF_64BIT), 0, htole64(s->end_ns));
	out->len = (size_t)(to - out->ptr);
	o->attr_field = 9;
	return true;
}

void otlp_span_open(struct otlp *o, const struct otlp_span *s)
{
	if (likely(span_open_quick(o, s)))
		return;
	o->begin = open(o, 2, NULL);
	put_id(o, 1, "traceId", s->trace, 2);
	put_id(o, 2, "spanId", &s->span, 1);
	if (s->state.len)
		put_text(o, 3, "traceState", s->state);
	if (s->parent)
		put_id(o, 4, "parentSpanId", &s->parent, 1);
	put_text(o, 5, "name", s->name);
	put_small(o, 6, "kind", s->kind);
	put_fixed64(o, 7, "startTimeUnixNano", s->start_ns);
	put_fixed64(o, 8, "endTimeUnixNano", s->end_ns);
	attrs_open(o, 9);
}

void otlp_span_close(struct otlp *o, const struct otlp_span *s)
{
	size_t status;

	list_close(o);
	if (s->failed) {
		status = open(o, 15, "status");
		if (s->message.len)
			put_text(o, 2, "message", s->message);
		put_small(o, 3, "code", 2);
		close(o, status);
	}
	put_fixed32(o, 16, "flags", s->flags);
	close(o, o->begin);
}

/* --- records of logs -------------------------------------------------------------------------- */

void otlp_record_open(struct otlp *o, const struct otlp_record *r)
{
	size_t body;

	o->begin = open(o, 2, NULL);
	put_fixed64(o, 1, "timeUnixNano", r->time_ns);
	put_small(o, 2, "severityNumber", r->severity);
	put_text(o, 3, "severityText", r->severity_text);
	body = open(o, 5, "body");
	put_text(o, 1, "stringValue", r->body);
	close(o, body);
	attrs_open(o, 6);
}

void otlp_record_close(struct otlp *o, const struct otlp_record *r)
{
	list_close(o);
	if (r->span) {
		put_fixed32(o, 8, "flags", r->flags);
		put_id(o, 9, "traceId", r->trace, 2);
		put_id(o, 10, "spanId", &r->span, 1);
	}
	put_fixed64(o, 11, "observedTimeUnixNano", r->time_ns);
	close(o, o->begin);
}

/* --- metrics ---------------------------------------------------------------------------------- */

static const struct {
	uint8_t field, attr_field;
	const char *name;
} metric_kinds[] = {
	[OTLP_GAUGE] = { 5, 7, "gauge" },
	[OTLP_SUM] = { 7, 7, "sum" },
	[OTLP_HISTOGRAM] = { 9, 9, "histogram" },
};

void otlp_metric_open(struct otlp *o, enum otlp_metric_kind kind, struct slice name,
		      struct slice help)
{
	o->begin = open(o, 2, NULL);
	put_text(o, 1, "name", name);
	put_text(o, 2, "description", help);
	o->inner = open(o, metric_kinds[kind].field, metric_kinds[kind].name);
	list_open(o, "dataPoints");
}

void otlp_metric_close(struct otlp *o, enum otlp_metric_kind kind)
{
	list_close(o);
	if (kind != OTLP_GAUGE)
		put_small(o, 2, "aggregationTemporality", 2); /* cumulative */
	if (kind == OTLP_SUM)
		put_true(o, 3, "isMonotonic", true);
	close(o, o->inner);
	close(o, o->begin);
}


void otlp_point_open(struct otlp *o, enum otlp_metric_kind kind)
{
	o->point = open(o, 1, NULL);
	attrs_open(o, metric_kinds[kind].attr_field);
}

void otlp_point_close(struct otlp *o, uint64_t start_ns, uint64_t now_ns, double value)
{
	list_close(o);
	put_fixed64(o, 2, "startTimeUnixNano", start_ns);
	put_fixed64(o, 3, "timeUnixNano", now_ns);
	put_double(o, 4, "asDouble", value);
	close(o, o->point);
}

/* Packed in Protocol Buffers. */
static void put_list(struct otlp *o, unsigned field, const char *name, unsigned count)
{
	if (!o->json) {
		put_tag(o, field, PROTOBUF_BYTES);
		put_varint(o->out, count * 8);
	} else {
		list_open(o, name);
	}
}

void otlp_point_close_histogram(struct otlp *o, uint64_t start_ns, uint64_t now_ns,
				const struct otlp_histogram *h)
{
	list_close(o);
	put_fixed64(o, 2, "startTimeUnixNano", start_ns);
	put_fixed64(o, 3, "timeUnixNano", now_ns);
	put_fixed64(o, 4, "count", h->count);
	put_double(o, 5, "sum", h->sum);
	put_list(o, 6, "bucketCounts", h->bound_count + 1);
	for (unsigned i = 0; i <= h->bound_count; i++) {
		if (o->json)
			strbuf_printf(o->out, "%s\"%llu\"", i ? "," : "",
				      (unsigned long long)h->counts[i]);
		else
			put_fixed(o->out, h->counts[i], 8);
	}
	list_close(o);
	put_list(o, 7, "explicitBounds", h->bound_count);
	for (unsigned i = 0; i < h->bound_count; i++) {
		uint64_t bits;

		memcpy(&bits, &h->bounds[i], sizeof(bits));
		if (o->json)
			strbuf_printf(o->out, "%s%.17g", i ? "," : "", h->bounds[i]);
		else
			put_fixed(o->out, bits, 8);
	}
	list_close(o);
	close(o, o->point);
}

/* --- what is around them ---------------------------------------------------------------------- */

static const struct {
	struct slice path;
	const char *outer, *scope, *inner, *rejected;
} signals[OTLP_SIGNALS] = {
	[OTLP_TRACES] = { SLICE("/v1/traces"), "resourceSpans", "scopeSpans", "spans",
			  "$.partialSuccess.rejectedSpans" },
	[OTLP_METRICS] = { SLICE("/v1/metrics"), "resourceMetrics", "scopeMetrics", "metrics",
			   "$.partialSuccess.rejectedDataPoints" },
	[OTLP_LOGS] = { SLICE("/v1/logs"), "resourceLogs", "scopeLogs", "logRecords",
			"$.partialSuccess.rejectedLogRecords" },
};

struct slice otlp_path(enum otlp_signal signal)
{
	return signals[signal].path;
}

struct slice otlp_content_type(bool json)
{
	return json ? SLICE("application/json") : SLICE("application/x-protobuf");
}

static void put_scope(struct otlp *o, struct slice version)
{
	size_t scope = open(o, 1, "scope");

	put_text(o, 1, "name", SLICE("haproxy"));
	put_text(o, 2, "version", version);
	close(o, scope);
}

static void json_envelope(enum otlp_signal signal, struct slice resource, struct slice version,
			  struct strbuf *head, struct strbuf *tail)
{
	struct otlp o = otlp_begin(head, signal, true);

	strbuf_printf(head, "{\"%s\":[{\"resource\":{\"attributes\":[", signals[signal].outer);
	strbuf_add(head, resource);
	strbuf_printf(head, "]},\"%s\":[{", signals[signal].scope);
	put_scope(&o, version);
	put_key(&o, signals[signal].inner);
	strbuf_add_char(head, '[');
	strbuf_add_str(tail, "]}]}]}");
}

void otlp_envelope(enum otlp_signal signal, bool json, struct slice resource,
		   struct slice scope_version, size_t len, struct strbuf *head,
		   struct strbuf *tail)
{
	struct otlp o = otlp_begin(head, signal, false);
	struct strbuf scope;
	size_t inner, outer;

	if (json) {
		json_envelope(signal, resource, scope_version, head, tail);
		return;
	}
	strbuf_init(&scope);
	o.out = &scope;
	put_scope(&o, scope_version);
	inner = scope.len + len;
	outer = 1 + protobuf_varint_len(resource.len) + resource.len + 1 +
		protobuf_varint_len(inner) + inner;
	o.out = head;
	put_tag(&o, 1, PROTOBUF_BYTES);
	put_varint(head, outer);
	put_tag(&o, 1, PROTOBUF_BYTES);
	put_varint(head, resource.len);
	strbuf_add(head, resource);
	put_tag(&o, 2, PROTOBUF_BYTES);
	put_varint(head, inner);
	strbuf_add(head, strbuf_slice(&scope));
	head->overflow |= scope.overflow;
	strbuf_fini(&scope);
}

uint64_t otlp_rejected(enum otlp_signal signal, bool json, struct slice answer)
{
	static const uint64_t path[] = { 1, 1 };
	enum protobuf_wire wire;
	struct slice value;
	uint64_t n = 0;
	int64_t number;

	if (!answer.len)
		return 0;
	if (json) {
		if (json_find(answer, slice_of(signals[signal].rejected), &value) == JSON_NONE)
			return 0;
		return num_parse_u64(value, &n) ? n : 0;
	}
	if (!protobuf_find(answer, path, 2, &wire, &value) ||
	    !protobuf_number(PROTOBUF_INT, wire, value, &number) || number < 0)
		return 0;
	return (uint64_t)number;
}
