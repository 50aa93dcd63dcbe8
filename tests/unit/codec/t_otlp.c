/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>
#include "base/num.h"
#include "codec/otlp.h"
#include "tap.h"

#define VECTOR_SPAN \
	"12790a100102030405060708090a0b0c0d0e0f10120811121314151617181a03613d62220821" \
	"222324252627282a03474554300239010064a7b3b6e00d41020064a7b3b6e00d4a0a0a016b12" \
	"050a0376c3a94a100a016e120b18ffffffffffffffffff014a070a0162120210017a0612026e" \
	"6f1802850101000000"
#define VECTOR_METRICS \
	"12360a0173120468656c703a2b0a253a080a016b12030a017611010000000000000019020000" \
	"00000000002100000000000008401002180112280a0167120468656c702a1d0a1b1101000000" \
	"0000000019020000000000000021000000000000d0bf12690a0168120468656c704a5e0a5a4a" \
	"080a016b12030a0176110100000000000000190200000000000000212d010000000000002900" \
	"00000000000440321801000000000000002c0100000000000000000000000000003a10000000" \
	"000000e03f000000000000f03f1002"
#define JSON_METRICS \
	"{\"name\":\"s\",\"description\":\"help\",\"sum\":{\"dataPoints\":[{\"attribu" \
	"tes\":[{\"key\":\"k\",\"value\":{\"stringValue\":\"v\"}}],\"startTimeUnixNan" \
	"o\":\"1\",\"timeUnixNano\":\"2\",\"asDouble\":3}],\"aggregationTemporality\"" \
	":2,\"isMonotonic\":true}},{\"name\":\"g\",\"description\":\"help\",\"gauge\"" \
	":{\"dataPoints\":[{\"attributes\":[],\"startTimeUnixNano\":\"1\",\"timeUnixN" \
	"ano\":\"2\",\"asDouble\":-0.25}]}},{\"name\":\"h\",\"description\":\"help\"," \
	"\"histogram\":{\"dataPoints\":[{\"attributes\":[{\"key\":\"k\",\"value\":{\"" \
	"stringValue\":\"v\"}}],\"startTimeUnixNano\":\"1\",\"timeUnixNano\":\"2\",\"" \
	"count\":\"301\",\"sum\":2.5,\"bucketCounts\":[\"1\",\"300\",\"0\"],\"explici" \
	"tBounds\":[0.5,1]}],\"aggregationTemporality\":2}}"
#define JSON_SPAN \
	"{\"traceId\":\"0102030405060708090a0b0c0d0e0f10\",\"spanId\":\"1112131415161" \
	"718\",\"traceState\":\"a=b\",\"parentSpanId\":\"2122232425262728\",\"name\":" \
	"\"GET\",\"kind\":2,\"startTimeUnixNano\":\"1000000000000000001\",\"endTimeUn" \
	"ixNano\":\"1000000000000000002\",\"attributes\":[{\"key\":\"k\",\"value\":{" \
	"\"stringValue\":\"v\\u00e9\"}},{\"key\":\"n\",\"value\":{\"intValue\":\"-1\"" \
	"}},{\"key\":\"b\",\"value\":{\"boolValue\":true}}],\"status\":{\"message\":" \
	"\"no\",\"code\":2},\"flags\":1}"

/* Vectors: made with the definitions of opentelemetry-proto 1.27 (SerializeToString). In points of
 * metrics attributes come first here, which means the same: FromString() finds both equal.
 */
static void is_hex(const struct strbuf *b, const char *want, const char *name)
{
	char text[4096];

	num_put_hex_bytes(text, b->ptr, b->len);
	text[2 * b->len] = 0;
	is_str(text, want, "%s", name);
}

static void span(struct strbuf *out, bool json)
{
	struct otlp o = otlp_begin(out, OTLP_TRACES, json);
	struct otlp_span s = {
		.trace = { 0x0102030405060708, 0x090a0b0c0d0e0f10 }, .span = 0x1112131415161718,
		.parent = 0x2122232425262728, .kind = OTLP_SERVER, .name = SLICE("GET"),
		.state = SLICE("a=b"), .start_ns = 1000000000000000001,
		.end_ns = 1000000000000000002,
		.flags = 1, .failed = true, .message = SLICE("no"),
	};

	otlp_span_open(&o, &s);
	otlp_attr_text(&o, SLICE("k"), SLICE("v\xe9"));
	otlp_attr_int(&o, SLICE("n"), -1);
	otlp_attr_bool(&o, SLICE("b"), true);
	otlp_span_close(&o, &s);
}

static void test_span(void)
{
	struct strbuf b;

	strbuf_init(&b);
	span(&b, false);
	is_hex(&b, VECTOR_SPAN, "a span");
	strbuf_reset(&b);
	span(&b, true);
	span(&b, true);
	is_int((long long)b.len, 2 * (long long)strlen(JSON_SPAN) + 1, "two of them in JSON");
	ok(strncmp(b.ptr, JSON_SPAN "," JSON_SPAN, b.len) == 0, "with a comma between");
	strbuf_fini(&b);
}

/* Lengths of two bytes and of three move what stands behind them. */
static void test_lengths(void)
{
	static char text[20000];
	struct strbuf b, head, tail;
	struct otlp o;

	memset(text, 'x', sizeof(text));
	strbuf_init(&b);
	strbuf_init(&head);
	strbuf_init(&tail);
	for (size_t len = 100; len <= sizeof(text); len *= 2) {
		strbuf_reset(&b);
		o = otlp_resource_begin(&b, false);
		otlp_attr_text(&o, SLICE("k"), slice_make(text, len));
		ok(b.len > len && memcmp(b.ptr + b.len - len, text, len) == 0 && !b.overflow,
		   "a text of %zu bytes", len);
	}
	otlp_envelope(OTLP_TRACES, false, strbuf_slice(&b), SLICE("1"), 10, &head, &tail);
	is_int((long long)tail.len, 0, "nothing behind Protocol Buffers");
	ok((unsigned char)head.ptr[0] == 0x0a, "the envelope's tag");
	strbuf_reset(&head);
	otlp_envelope(OTLP_LOGS, true, SLICE("{}"), SLICE("1"), 10, &head, &tail);
	is_str(head.ptr, "{\"resourceLogs\":[{\"resource\":{\"attributes\":[{}]},\"scopeLogs\":[{"
	       "\"scope\":{\"name\":\"haproxy\",\"version\":\"1\"},\"logRecords\":[",
	       "JSON's head");
	is_str(tail.ptr, "]}]}]}", "and its tail");
	strbuf_fini(&b);
	strbuf_fini(&head);
	strbuf_fini(&tail);
}

static void metrics(struct strbuf *out, bool json)
{
	struct otlp o = otlp_begin(out, OTLP_METRICS, json);
	const double bounds[] = { 0.5, 1 };
	const uint64_t counts[] = { 1, 300, 0 };
	const struct otlp_histogram h = { .count = 301, .sum = 2.5, .bounds = bounds,
					  .counts = counts, .bound_count = 2 };

	otlp_metric_open(&o, OTLP_SUM, SLICE("s"), SLICE("help"));
	otlp_point_open(&o, OTLP_SUM);
	otlp_attr_text(&o, SLICE("k"), SLICE("v"));
	otlp_point_close(&o, 1, 2, 3);
	otlp_metric_close(&o, OTLP_SUM);
	otlp_metric_open(&o, OTLP_GAUGE, SLICE("g"), SLICE("help"));
	otlp_point_open(&o, OTLP_GAUGE);
	otlp_point_close(&o, 1, 2, -0.25);
	otlp_metric_close(&o, OTLP_GAUGE);
	otlp_metric_open(&o, OTLP_HISTOGRAM, SLICE("h"), SLICE("help"));
	otlp_point_open(&o, OTLP_HISTOGRAM);
	otlp_attr_text(&o, SLICE("k"), SLICE("v"));
	otlp_point_close_histogram(&o, 1, 2, &h);
	otlp_metric_close(&o, OTLP_HISTOGRAM);
}

static void test_metrics(void)
{
	struct strbuf b;

	strbuf_init(&b);
	metrics(&b, false);
	is_hex(&b, VECTOR_METRICS, "metrics");
	strbuf_reset(&b);
	metrics(&b, true);
	is_str(b.ptr, JSON_METRICS, "in JSON");
	strbuf_fini(&b);
}

/* Of the span's attributes so far, with the quick calls or with the others. */
static void attributes(struct strbuf *b, bool json, bool quick, int n)
{
	struct otlp o = otlp_begin(b, OTLP_TRACES, json);
	struct otlp_span s = { .name = SLICE("x") };
	char text[100];

	memset(text, 'a' + n % 26, sizeof(text));
	if (n & 1)
		text[n % 80] = '\xc3', text[n % 80 + 1] = '\xa9';
	otlp_span_open(&o, &s);
	for (int i = 0; i <= 80; i++) {
		struct slice value = slice_make(text, (size_t)i);

		if (quick)
			otlp_attr_text_quick(&o, SLICE("a.key"), value);
		else
			otlp_attr_text(&o, SLICE("a.key"), value);
	}
	for (int i = 0; i < 2; i++) {
		if (quick)
			otlp_attr_bool_quick(&o, SLICE("b"), i);
		else
			otlp_attr_bool(&o, SLICE("b"), i);
	}
	for (int64_t i = -1; i < 1 << 23; i += i / 16 + 1) {
		if (quick)
			otlp_attr_int_quick(&o, SLICE("n"), i);
		else
			otlp_attr_int(&o, SLICE("n"), i);
	}
	otlp_span_close(&o, &s);
}

/* A span with a state is written field by field: but for that field, the bytes are the same. */
static void test_quick_span(void)
{
	static const char *const names[] = { "GET", "", "G\xc3\xa9",
					     "123456789012345678901234567890123" };
	int differ = 0;

	for (int n = 0; n < 16; n++) {
		struct otlp_span s = { .trace = { 1, 2 }, .span = 3, .parent = n & 1 ? 4 : 0,
				       .kind = n & 2 ? OTLP_SERVER : OTLP_CLIENT, .start_ns = 5,
				       .end_ns = 6, .name = slice_of(names[n / 4]) };
		const size_t at = 2 + 18 + 10, more = 3;
		struct strbuf a, b;
		struct otlp o;

		strbuf_init(&a);
		strbuf_init(&b);
		o = otlp_begin(&a, OTLP_TRACES, false);
		otlp_span_open(&o, &s);
		otlp_span_close(&o, &s);
		s.state = SLICE("x");
		o = otlp_begin(&b, OTLP_TRACES, false);
		otlp_span_open(&o, &s);
		otlp_span_close(&o, &s);
		differ += b.len != a.len + more || (size_t)(unsigned char)a.ptr[1] != a.len - 2 ||
			  memcmp(a.ptr + 2, b.ptr + 2, at - 2) != 0 ||
			  memcmp(a.ptr + at, b.ptr + at + more, a.len - at) != 0;
		strbuf_fini(&a);
		strbuf_fini(&b);
	}
	is_int(differ, 0, "spans in one go are the same bytes");
}

static void test_quick(void)
{
	int differ = 0;

	for (int n = 0; n < 160; n++) {
		struct strbuf a, b;

		strbuf_init(&a);
		strbuf_init(&b);
		attributes(&a, n & 2, false, n);
		attributes(&b, n & 2, true, n);
		differ += !slice_eq(strbuf_slice(&a), strbuf_slice(&b));
		strbuf_fini(&a);
		strbuf_fini(&b);
	}
	is_int(differ, 0, "quick attributes are the same bytes");
	for (size_t room = 1; room < 400; room++) {
		char *area = malloc(room);
		struct strbuf b;

		strbuf_init_fixed(&b, area, room);
		attributes(&b, false, true, 2);
		differ += !b.overflow || b.len > room;
		free(area);
	}
	is_int(differ, 0, "without room it is an overflow");
}

static void test_answers(void)
{
	is_int((long long)otlp_rejected(OTLP_TRACES, false, slice_none()), 0, "no answer");
	is_int((long long)otlp_rejected(OTLP_TRACES, false, SLICE("\x0a\x02\x08\x07")), 7,
	       "7 are rejected");
	is_int((long long)otlp_rejected(OTLP_TRACES, false, SLICE("\x0a\x63")), 0, "cut");
	is_int((long long)otlp_rejected(OTLP_LOGS, true,
					SLICE("{\"partialSuccess\":{\"rejectedLogRecords\":"
					      "\"3\"}}")), 3, "a text in JSON");
	is_int((long long)otlp_rejected(OTLP_METRICS, true,
					SLICE("{\"partialSuccess\":{\"rejectedDataPoints\":4}}")),
	       4, "or a number");
}

int main(void)
{
	test_span();
	test_metrics();
	test_lengths();
	test_quick_span();
	test_quick();
	test_answers();
	return done_testing();
}
