/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/num.h"
#include "codec/otlp.h"
#include "tap.h"

#define VECTOR_SPAN \
	"12790a100102030405060708090a0b0c0d0e0f10120811121314151617181a03613d62220821" \
	"222324252627282a03474554300239010064a7b3b6e00d41020064a7b3b6e00d4a0a0a016b12" \
	"050a0376c3a94a100a016e120b18ffffffffffffffffff014a070a0162120210017a0612026e" \
	"6f1802850101000000"
#define JSON_SPAN \
	"{\"traceId\":\"0102030405060708090a0b0c0d0e0f10\",\"spanId\":\"1112131415161" \
	"718\",\"traceState\":\"a=b\",\"parentSpanId\":\"2122232425262728\",\"name\":" \
	"\"GET\",\"kind\":2,\"startTimeUnixNano\":\"1000000000000000001\",\"endTimeUn" \
	"ixNano\":\"1000000000000000002\",\"attributes\":[{\"key\":\"k\",\"value\":{" \
	"\"stringValue\":\"v\\u00e9\"}},{\"key\":\"n\",\"value\":{\"intValue\":\"-1\"" \
	"}},{\"key\":\"b\",\"value\":{\"boolValue\":true}}],\"status\":{\"message\":" \
	"\"no\",\"code\":2},\"flags\":1}"

/* Vectors: made with the definitions of opentelemetry-proto 1.27 (SerializeToString), but for the
 * order of fields, which is that of their numbers in both.
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
	test_lengths();
	test_answers();
	return done_testing();
}
