/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "codec/trace_context.h"
#include "tap.h"

#define T "0af7651916cd43dd8448eb211c80319c"
#define S "b7ad6b7169203331"
#define ZERO "00000000000000000000000000000000"
#define PARENT "00-" T "-" S "-01"

static const struct {
	const char *text;
	bool good, sampled;
} parents[] = {
	{ PARENT, true, true },
	{ "00-" T "-" S "-00", true, false },
	{ "00-" T "-" S "-03", true, true },
	{ "00-" T "-" S "-fe", true, false },
	{ "01-" T "-" S "-01", true, true },
	{ "01-" T "-" S "-01-what-comes", true, true },
	{ "01-" T "-" S "-01.what", false, false },
	{ "00-" T "-" S "-01-", false, false },
	{ "ff-" T "-" S "-01", false, false },
	{ "00-" ZERO "-" S "-01", false, false },
	{ "00-" T "-0000000000000000-01", false, false },
	{ "00-0AF7651916CD43DD8448EB211C80319C-" S "-01", false, false },
	{ "00-" T "-" S "-0", false, false },
	{ "00-" T "-" S "-0g", false, false },
	{ "00-" T "_" S "-01", false, false },
	{ "00-" T "-" S, false, false },
	{ " 0-" T "-" S "-01", false, false },
	{ "", false, false },
};

static const struct {
	const char *text;
	bool good;
	bool has_id;
	enum trace_decision decision;
} b3s[] = {
	{ T "-" S "-1-" S, true, true, TRACE_SAMPLED },
	{ T "-" S "-0", true, true, TRACE_DROPPED },
	{ T "-" S "-d", true, true, TRACE_SAMPLED },
	{ T "-" S, true, true, TRACE_UNDECIDED },
	{ "8448eb211c80319c-" S "-1", true, true, TRACE_SAMPLED },
	{ "0", true, false, TRACE_DROPPED },
	{ "d", true, false, TRACE_SAMPLED },
	{ "2", false, false, TRACE_UNDECIDED },
	{ T "-" S "-", false, false, TRACE_UNDECIDED },
	{ T "-" S "-1-", false, false, TRACE_UNDECIDED },
	{ T "-" S "-1-" S "0", false, false, TRACE_UNDECIDED },
	{ T "-" S "-1x" S, false, false, TRACE_UNDECIDED },
	{ T "-" S "1", false, false, TRACE_UNDECIDED },
	{ ZERO "-" S "-1", false, false, TRACE_UNDECIDED },
	{ T "-", false, false, TRACE_UNDECIDED },
	{ T, false, false, TRACE_UNDECIDED },
	{ "-", false, false, TRACE_UNDECIDED },
	{ "", false, false, TRACE_UNDECIDED },
};

static const struct {
	const char *text;
	bool good;
} states[] = {
	{ "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", true }, { "a=b", true }, { "", true },
	{ " a=b , , c@d/e*-_=!~ ;", true }, { "0a=1", true },
	{ "A=b", false }, { "a", false }, { "a=", false }, { "=b", false }, { "a=b=c", false },
	{ "a=\x7f", false }, { "a=\x01", false }, { "a=b;c=\xc3\xa9", false }, { "@a=b", false },
};

static void fields(const char *id, const char *span, const char *sampled, const char *flags,
		   int want)
{
	struct b3_fields f = { slice_of(id), slice_of(span), slice_of(sampled), slice_of(flags) };
	struct trace_context c;

	is_int(b3_fields_read(&f, &c) ? c.decision : -1, want, "fields %s %s %s %s",
	       id ? id : "-", span ? span : "-", sampled ? sampled : "-", flags ? flags : "-");
}

static void test_states(void)
{
	char many[400] = "";
	unsigned members;

	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		members = 0;
		ok(tracestate_is_good(slice_of(states[i].text), &members) == states[i].good,
		   "tracestate \"%s\"", states[i].text);
	}
	for (int i = 0; i < 32; i++)
		strcat(many, "a=b,");
	members = 0;
	ok(tracestate_is_good(slice_of(many), &members) && members == 32, "32 members");
	ok(!tracestate_is_good(SLICE("a=b"), &members), "not one more, of another field");
}

int main(void)
{
	char out[TRACEPARENT_LEN];
	struct trace_context c;

	for (size_t i = 0; i < sizeof(parents) / sizeof(*parents); i++) {
		bool good = traceparent_read(slice_of(parents[i].text), &c);

		ok(good == parents[i].good &&
		   (!good || (c.decision == TRACE_SAMPLED) == parents[i].sampled),
		   "traceparent \"%s\"", parents[i].text);
	}
	ok(traceparent_read(slice_of(PARENT), &c) && c.id[0] == 0x0af7651916cd43dd &&
	   c.id[1] == 0x8448eb211c80319c && c.span == 0xb7ad6b7169203331, "its ids");
	traceparent_write(out, &c);
	ok(memcmp(out, PARENT, TRACEPARENT_LEN) == 0, "written as it was read");
	for (size_t i = 0; i < sizeof(b3s) / sizeof(*b3s); i++) {
		bool good = b3_read(slice_of(b3s[i].text), &c);

		ok(good == b3s[i].good && (!good || (c.decision == b3s[i].decision &&
						     (c.span != 0) == b3s[i].has_id)),
		   "b3 \"%s\"", b3s[i].text);
	}
	b3_read(SLICE(T "-" S "-1"), &c);
	b3_write(out, &c);
	ok(memcmp(out, T "-" S "-1", B3_LEN) == 0, "b3 written as it was read");
	fields(T, S, "1", NULL, TRACE_SAMPLED);
	fields(T, S, NULL, NULL, TRACE_UNDECIDED);
	fields(T, S, "0", "1", TRACE_SAMPLED);
	fields(NULL, NULL, "false", NULL, TRACE_DROPPED);
	fields(T, NULL, "1", NULL, -1);
	fields(NULL, S, "1", NULL, -1);
	fields(T, S, "yes", NULL, -1);
	fields(T, S, "1", "2", -1);
	fields(T "0", S, "1", NULL, -1);
	fields(NULL, NULL, NULL, NULL, -1);
	test_states();
	return done_testing();
}
