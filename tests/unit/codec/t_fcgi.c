/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of FastCGI byte by byte, lengths at their bounds, what an application may lie about. */
#include "codec/fcgi.h"
#include "tap.h"

#define S(text) slice_make(text, sizeof(text) - 1)

static void test_made(void)
{
	static const char want[] =
		"\1\1\1\2\0\10\0\0" "\0\1\1\0\0\0\0\0"
		"\1\1\0\1\0\10\0\0" "\0\1\0\0\0\0\0\0"
		"\1\11\0\0\0\40\0\0" "\15\0FCGI_MAX_REQS" "\17\0FCGI_MPXS_CONNS"
		"\1\4\0\7\0\5\0\0" "\1\2Aab"
		"\1\4\0\7\0\0\0\0" "\1\2\0\7\0\0\0\0";
	struct strbuf b;
	size_t start;

	strbuf_init(&b);
	fcgi_add_begin_request(&b, 0x102, true);
	fcgi_add_begin_request(&b, 1, false);
	fcgi_add_get_values(&b);
	start = fcgi_begin(&b, FCGI_PARAMS, 7);
	fcgi_add_param(&b, S("A"), S("ab"));
	ok(fcgi_end(&b, start), "a record of parameters");
	fcgi_add_empty(&b, FCGI_PARAMS, 7);
	fcgi_add_empty(&b, FCGI_ABORT_REQUEST, 7);
	is_int(b.len, sizeof(want) - 1, "the length of all");
	is_mem(b.ptr, want, sizeof(want) - 1, "their bytes");
	strbuf_fini(&b);
}

static void test_params(void)
{
	static const struct {
		size_t name, value, head;
	} cases[] = {
		{ 0, 0, 2 }, { 127, 127, 2 }, { 128, 127, 5 }, { 127, 128, 5 }, { 300, 65000, 8 },
	};
	static char text[65000];
	struct slice s, cut, name, value;
	struct strbuf b;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		strbuf_init(&b);
		fcgi_add_param(&b, slice_make(text, cases[i].name),
			       slice_make(text, cases[i].value));
		is_int(b.len, cases[i].head + cases[i].name + cases[i].value, "a length of %zu",
		       cases[i].value);
		s = strbuf_slice(&b);
		for (size_t n = 0; n < s.len; n++) {
			cut = slice_sub(s, 0, n);
			if (fcgi_param_take(&cut, &name, &value) || cut.len != n)
				ok(false, "cut after %zu bytes", n);
		}
		ok(fcgi_param_take(&s, &name, &value) && !s.len && name.len == cases[i].name &&
		   value.len == cases[i].value, "is read again");
		strbuf_fini(&b);
	}
	s = S("\xff\xff\xff\xff\xff\xff\xff\xff" "ab");
	ok(!fcgi_param_take(&s, &name, &value), "lengths of 2 GB each");
	s = S("\x01\xff\xff\xff\xff" "ab");
	ok(!fcgi_param_take(&s, &name, &value), "a value of 2 GB");
}

static void test_too_long(void)
{
	static char text[FCGI_CONTENT_MAX];
	struct strbuf b;
	size_t start;

	strbuf_init(&b);
	fcgi_add_empty(&b, FCGI_STDIN, 1);
	start = fcgi_begin(&b, FCGI_STDIN, 1);
	strbuf_add(&b, slice_make(text, sizeof(text)));
	ok(fcgi_end(&b, start), "a record of 65535 bytes");
	is_mem(b.ptr + start, "\1\5\0\1\xff\xff\0\0", 8, "its head");
	start = fcgi_begin(&b, FCGI_STDIN, 1);
	strbuf_add(&b, slice_make(text, sizeof(text)));
	strbuf_add_char(&b, 'x');
	ok(!fcgi_end(&b, start) && b.len == start, "one of 65536 is taken back");
	strbuf_fini(&b);
}

static void test_heads(void)
{
	struct slice s = S("\1\6\x12\x34\1\2\3\xff" "rest"), cut;
	struct fcgi_head h;

	for (size_t n = 0; n < FCGI_HEAD_SIZE; n++) {
		cut = slice_sub(s, 0, n);
		is_int(fcgi_head_take(&cut, &h), FCGI_MORE, "%zu bytes of a head", n);
	}
	is_int(fcgi_head_take(&s, &h), FCGI_TAKEN, "a head");
	ok(h.type == FCGI_STDOUT && h.request == 0x1234 && h.length == 0x102 && h.padding == 3,
	   "is read");
	is_int(s.len, 4, "what follows is left");
	s = S("\2");
	is_int(fcgi_head_take(&s, &h), FCGI_INVALID, "another version, from its first byte");
}

static void test_ends(void)
{
	struct fcgi_request_end end;

	ok(fcgi_request_end_read(S("\xff\0\0\1\2\0\0\0"), &end), "an end");
	ok(end.app_status == 0xff000001 && end.protocol_status == FCGI_OVERLOADED, "is read");
	ok(!fcgi_request_end_read(S("\0\0\0\0\0\0\0"), &end), "a byte too short");
	ok(fcgi_request_end_read(S("\0\0\0\0\0\0\0\0+"), &end), "longer");
}

static void test_values(void)
{
	struct fcgi_values v;

	ok(fcgi_values_read(S("\15\2FCGI_MAX_REQS12" "\17\1FCGI_MPXS_CONNS1" "\1\1XY"), &v),
	   "values");
	ok(v.has_max_reqs && v.max_reqs == 12 && v.has_mpxs_conns && v.mpxs_conns, "are read");
	ok(fcgi_values_read(slice_none(), &v) && !v.has_max_reqs && !v.has_mpxs_conns, "none");
	ok(fcgi_values_read(S("\15\1FCGI_MAX_REQS0"), &v) && v.max_reqs == 1, "none at once is 1");
	ok(fcgi_values_read(S("\15\0FCGI_MAX_REQS"), &v) && !v.has_max_reqs, "an empty number");
	ok(fcgi_values_read(S("\15\3FCGI_MAX_REQS-10"), &v) && !v.has_max_reqs, "a negative one");
	ok(fcgi_values_read(S("\15\12FCGI_MAX_REQS4294967297"), &v) && v.max_reqs == UINT32_MAX,
	   "a number of 33 bits");
	ok(fcgi_values_read(S("\17\1FCGI_MPXS_CONNSx" "\15\1FCGI_MAX_REQS7"), &v) &&
	   !v.has_mpxs_conns && v.max_reqs == 7, "no number, and one behind it");
	ok(!fcgi_values_read(S("\17\2FCGI_MPXS_CONNS1"), &v), "cut");
}

int main(void)
{
	test_made();
	test_params();
	test_too_long();
	test_heads();
	test_ends();
	test_values();
	return done_testing();
}
