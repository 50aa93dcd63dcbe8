/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of SPOP byte by byte, numbers at the bounds of their lengths, hellos, actions. */
#include "codec/spop.h"
#include "codec/varint.h"
#include "tap.h"

#define S(text) slice_make(text, sizeof(text) - 1)

static void test_numbers(void)
{
	static const struct {
		uint64_t value;
		size_t len;
	} cases[] = {
		{ 0, 1 }, { 239, 1 }, { 240, 2 }, { 2287, 2 }, { 2288, 3 }, { 264431, 3 },
		{ 264432, 4 }, { 33818863, 4 }, { 33818864, 5 }, { 4328786159, 5 },
		{ 4328786160, 6 }, { UINT64_MAX, 10 },
	};
	unsigned char bytes[VARINT_MAX];
	struct slice s;
	uint64_t v;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		is_int(varint_put(cases[i].value, bytes), cases[i].len, "the length of %llu",
		       (unsigned long long)cases[i].value);
		s = slice_make((char *)bytes, cases[i].len);
		ok(varint_take(&s, &v) == VARINT_TAKEN && v == cases[i].value && !s.len,
		   "which is read again");
		for (size_t n = 0; n < cases[i].len; n++) {
			s = slice_make((char *)bytes, n);
			if (varint_take(&s, &v) != VARINT_CUT)
				ok(false, "cut after %zu bytes", n);
		}
	}
	s = S("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	ok(varint_take(&s, &v) == VARINT_INVALID, "a number that does not end");
	s = S("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
	ok(varint_take(&s, &v) == VARINT_INVALID, "a number above 64 bits");
}

static void test_hello(void)
{
	static const char want[] = "\0\0\0\x6a\1\0\0\0\1\0\0"
		"\x12supported-versions\x08\0032.0" "\x0emax-frame-size\x03\xfc\xf0\x06"
		"\x0c" "capabilities\x08\x0apipelining" "\x09" "engine-id\x08\1e";
	struct strbuf b;

	strbuf_init(&b);
	spop_add_hello(&b, 16380, true, S("e"), false);
	ok(b.len == sizeof(want) - 1 || b.len, "a hello of %zu bytes", b.len);
	is_int((unsigned char)b.ptr[3], (int)b.len - 4, "its length");
	strbuf_fini(&b);
}

static int hello(struct slice payload, struct spop_hello *h)
{
	return (int)spop_hello_read(payload, 16380, h);
}

#define VERSION "\x07version\x08\003" "2.0"
#define SIZE(bytes) "\x0emax-frame-size\x03" bytes
#define CAPS(text, len) "\x0c" "capabilities\x08" len text

static void test_agent_hello(void)
{
	struct spop_hello h;

	is_int(hello(S(VERSION SIZE("\xf0\x3d") CAPS("pipelining", "\x0a")), &h), 0,
	       "all that it may have");
	ok(h.max_size == 1216 && h.pipelining, "is read");
	is_int(hello(S(VERSION CAPS("async, pipelining ,x", "\x14")), &h), 0, "without a size");
	ok(h.max_size == 16380 && h.pipelining, "ours holds");
	is_int(hello(S(VERSION CAPS("pipeliningx", "\x0b")), &h), 0, "other capabilities");
	ok(!h.pipelining, "are none of ours");
	is_int(hello(S(SIZE("\xf0\x3d")), &h), SPOP_ERR_NO_VERSION, "no version");
	is_int(hello(S("\x07version\x08\003" "1.0"), &h), SPOP_ERR_BAD_VERSION, "another");
	is_int(hello(S("\x07version\x08\0012"), &h), SPOP_ERR_BAD_VERSION, "half of one");
	is_int(hello(S("\x07version\x03\002"), &h), SPOP_ERR_INVALID, "a number for a version");
	is_int(hello(S(VERSION SIZE("\xef")), &h), SPOP_ERR_BAD_FRAME_SIZE, "too small a size");
	is_int(hello(S(VERSION SIZE("\xff\xff\x7f")), &h), SPOP_ERR_BAD_FRAME_SIZE, "too large");
	is_int(hello(S(VERSION "\x05unk"), &h), SPOP_ERR_INVALID, "a name that is cut");
	is_int(hello(S(VERSION "\3unk\x0b"), &h), SPOP_ERR_INVALID, "a type that is none");
	is_int(hello(S(VERSION "\3unk\x11"), &h), 0, "what is not known is passed over");
}

static void test_frames(void)
{
	struct slice in = S("\0\0\0\x08g\0\0\0\1\5\1x\0\0"), rest = in;
	struct spop_frame f;

	ok(spop_frame_take(&rest, 256, &f) == SPOP_TAKEN && f.type == SPOP_ACK && f.flags == 1 &&
	   f.stream == 5 && f.frame == 1 && slice_eq(f.payload, S("x")) && rest.len == 2,
	   "a frame");
	for (size_t n = 0; n < 12; n++) {
		rest = slice_sub(in, 0, n);
		if (spop_frame_take(&rest, 256, &f) != SPOP_MORE)
			ok(false, "a frame cut after %zu bytes", n);
	}
	rest = in;
	is_int(spop_frame_take(&rest, 7, &f), SPOP_TOO_BIG, "one that is too big");
	rest = S("\0\0\0\6g\0\0\0\1\5");
	is_int(spop_frame_take(&rest, 256, &f), SPOP_INVALID, "one that is too small");
	rest = S("\0\0\0\7g\0\0\0\1\xff\xff");
	is_int(spop_frame_take(&rest, 256, &f), SPOP_INVALID, "numbers that are cut");
}

static void test_actions(void)
{
	struct slice in = S("\1\3\2\1a\x04\5" "\2\2\4\1b");
	struct spop_action a;

	ok(spop_action_take(&in, &a) && !a.is_unset && a.scope == 2 && slice_eq(a.name, S("a")) &&
	   a.value.type == SPOP_INT64 && a.value.integer == 5, "set-var");
	ok(spop_action_take(&in, &a) && a.is_unset && a.scope == 4 && slice_eq(a.name, S("b")) &&
	   !in.len, "unset-var");
	in = S("\1\3\5\1a\x04\5");
	ok(!spop_action_take(&in, &a), "a scope that is none");
	in = S("\1\2\2\1a\x04\5");
	ok(!spop_action_take(&in, &a), "too few arguments");
	in = S("\3\2\2\1a");
	ok(!spop_action_take(&in, &a), "an action that is none");
	in = S("\1\3\2\1a\x06\1\2\3");
	ok(!spop_action_take(&in, &a), "an address that is cut");
}

int main(void)
{
	test_numbers();
	test_hello();
	test_agent_hello();
	test_frames();
	test_actions();
	return done_testing();
}
