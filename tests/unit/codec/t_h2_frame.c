/* SPDX-License-Identifier: GPL-2.0-or-later */
/* HTTP/2 frames: headers, the rules of each type, padding, settings. */
#include "codec/h2_frame.h"
#include "tap.h"

static void test_header(void)
{
	static const char bytes[] = "\x00\x12\x34\x01\x25\xff\x00\x00\x07";
	struct h2_frame f = h2_frame_parse(bytes);
	char out[H2_FRAME_HEADER_LEN];

	is_int(f.length, 0x1234, "length");
	is_int(f.type, H2_FT_HEADERS, "type");
	is_int(f.flags, 0x25, "flags");
	is_int(f.stream, 0x7f000007, "stream, reserved bit cleared");
	ok(h2_frame_put(out, 0x1234, H2_FT_HEADERS, 0x25, 0xff000007) == out + 9, "nine bytes");
	ok(memcmp(out, bytes, 9) == 0, "written as read");
	f = h2_frame_parse("\xff\xff\xff\xfe\x00\x00\x00\x00\x00");
	is_int(f.length, H2_FRAME_SIZE_MAX, "the largest length");
	is_str(h2_frame_type_name(9), "CONTINUATION", "a name");
	is_str(h2_frame_type_name(10), "UNKNOWN", "no name");
	is_str(h2_error_name(11), "ENHANCE_YOUR_CALM", "an error's name");
	is_str(h2_error_name(14), "UNKNOWN", "no error's name");
}

static const struct {
	const char *what;
	struct h2_frame frame;
	int error;
	bool stream_only;
} rules[] = {
	{ "DATA", { 16384, 1, H2_FT_DATA, 0 }, 0, false },
	{ "empty DATA", { 0, 1, H2_FT_DATA, 0 }, 0, false },
	{ "too long DATA", { 16385, 1, H2_FT_DATA, 0 }, H2_ERR_FRAME_SIZE_ERROR, false },
	{ "DATA on stream 0", { 1, 0, H2_FT_DATA, 0 }, H2_ERR_PROTOCOL_ERROR, false },
	{ "HEADERS on stream 0", { 1, 0, H2_FT_HEADERS, 0 }, H2_ERR_PROTOCOL_ERROR, false },
	{ "PRIORITY", { 5, 1, H2_FT_PRIORITY, 0 }, 0, false },
	{ "PRIORITY of 4", { 4, 1, H2_FT_PRIORITY, 0 }, H2_ERR_FRAME_SIZE_ERROR, true },
	{ "PRIORITY on stream 0", { 5, 0, H2_FT_PRIORITY, 0 }, H2_ERR_PROTOCOL_ERROR, false },
	{ "RST_STREAM", { 4, 1, H2_FT_RST_STREAM, 0 }, 0, false },
	{ "RST_STREAM of 5", { 5, 1, H2_FT_RST_STREAM, 0 }, H2_ERR_FRAME_SIZE_ERROR, false },
	{ "RST_STREAM on 0", { 4, 0, H2_FT_RST_STREAM, 0 }, H2_ERR_PROTOCOL_ERROR, false },
	{ "SETTINGS", { 12, 0, H2_FT_SETTINGS, 0 }, 0, false },
	{ "SETTINGS of 7", { 7, 0, H2_FT_SETTINGS, 0 }, H2_ERR_FRAME_SIZE_ERROR, false },
	{ "SETTINGS on 1", { 6, 1, H2_FT_SETTINGS, 0 }, H2_ERR_PROTOCOL_ERROR, false },
	{ "acknowledgement", { 0, 0, H2_FT_SETTINGS, H2_FL_ACK }, 0, false },
	{ "acknowledgement of 6", { 6, 0, H2_FT_SETTINGS, H2_FL_ACK }, H2_ERR_FRAME_SIZE_ERROR,
	  false },
	{ "PING", { 8, 0, H2_FT_PING, 0 }, 0, false },
	{ "PING of 7", { 7, 0, H2_FT_PING, 0 }, H2_ERR_FRAME_SIZE_ERROR, false },
	{ "PING on 1", { 8, 1, H2_FT_PING, 0 }, H2_ERR_PROTOCOL_ERROR, false },
	{ "GOAWAY", { 30, 0, H2_FT_GOAWAY, 0 }, 0, false },
	{ "GOAWAY of 7", { 7, 0, H2_FT_GOAWAY, 0 }, H2_ERR_FRAME_SIZE_ERROR, false },
	{ "GOAWAY on 1", { 8, 1, H2_FT_GOAWAY, 0 }, H2_ERR_PROTOCOL_ERROR, false },
	{ "WINDOW_UPDATE on 0", { 4, 0, H2_FT_WINDOW_UPDATE, 0 }, 0, false },
	{ "WINDOW_UPDATE on 3", { 4, 3, H2_FT_WINDOW_UPDATE, 0 }, 0, false },
	{ "WINDOW_UPDATE of 3", { 3, 3, H2_FT_WINDOW_UPDATE, 0 }, H2_ERR_FRAME_SIZE_ERROR, false },
	{ "CONTINUATION on 0", { 4, 0, H2_FT_CONTINUATION, 0 }, H2_ERR_PROTOCOL_ERROR, false },
	{ "unknown type", { 4, 0, 0x66, 0xff }, 0, false },
	{ "too long unknown type", { 16385, 0, 0x66, 0 }, H2_ERR_FRAME_SIZE_ERROR, false },
};

static void test_rules(void)
{
	bool connection;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		is_int(h2_frame_check(&rules[i].frame, 16384, &connection), rules[i].error, "%s",
		       rules[i].what);
		if (rules[i].error)
			ok(connection != rules[i].stream_only, "and what it concerns");
	}
}

static void test_content(void)
{
	struct h2_frame f = { .type = H2_FT_DATA, .stream = 1, .length = 5 };
	struct h2_content c;
	bool self;

	is_int(h2_content_parse(&f, slice_none(), &c, &self), 0, "no padding");
	is_int(c.lead + c.pad, 0, "nothing around");
	f.flags = H2_FL_PADDED;
	is_int(h2_content_parse(&f, SLICE("\x04"), &c, &self), 0, "all but its length is padding");
	ok(c.lead == 1 && c.pad == 4, "one before, four behind");
	is_int(h2_content_parse(&f, SLICE("\x05"), &c, &self), H2_ERR_PROTOCOL_ERROR, "one more");
	f.length = 0;
	is_int(h2_content_parse(&f, slice_none(), &c, &self), H2_ERR_FRAME_SIZE_ERROR, "no length");
	f = (struct h2_frame){ 6, 1, H2_FT_HEADERS, H2_FL_PADDED | H2_FL_PRIORITY };
	is_int(h2_content_parse(&f, SLICE("\x00\x80\x00\x00\x01\x10"), &c, &self), 0, "priority");
	ok(c.lead == 6 && c.pad == 0 && self, "six before, depends on itself");
	is_int(h2_content_parse(&f, SLICE("\x00\x80\x00\x00\x03\x10"), &c, &self), 0, "priority");
	ok(!self, "depends on another");
	f.length = 5;
	is_int(h2_content_parse(&f, SLICE("\x00\x00\x00\x00\x00"), &c, NULL),
	       H2_ERR_FRAME_SIZE_ERROR, "too short for its priority");
	f = (struct h2_frame){ 5, 1, H2_FT_CONTINUATION, 0xff };
	is_int(h2_content_parse(&f, SLICE("abcde"), &c, &self), 0, "a CONTINUATION has none");
	is_int(c.lead + c.pad, 0, "nothing around");
}

static const struct { const char *what, *bytes; bool server; int error; } settings[] = {
	{ "push off", "\x00\x02\x00\x00\x00\x00", false, 0 },
	{ "push on", "\x00\x02\x00\x00\x00\x01", false, 0 },
	{ "push on by a server", "\x00\x02\x00\x00\x00\x01", true, H2_ERR_PROTOCOL_ERROR },
	{ "push 2", "\x00\x02\x00\x00\x00\x02", false, H2_ERR_PROTOCOL_ERROR },
	{ "window too large", "\x00\x04\x80\x00\x00\x00", false, H2_ERR_FLOW_CONTROL_ERROR },
	{ "largest window", "\x00\x04\x7f\xff\xff\xff", false, 0 },
	{ "frames too small", "\x00\x05\x00\x00\x3f\xff", false, H2_ERR_PROTOCOL_ERROR },
	{ "smallest frames", "\x00\x05\x00\x00\x40\x00", false, 0 },
	{ "largest frames", "\x00\x05\x00\xff\xff\xff", false, 0 },
	{ "frames too large", "\x00\x05\x01\x00\x00\x00", false, H2_ERR_PROTOCOL_ERROR },
	{ "unknown setting", "\x00\x99\xff\xff\xff\xff", false, 0 },
	{ "extended CONNECT 2", "\x00\x08\x00\x00\x00\x02", true, H2_ERR_PROTOCOL_ERROR },
};

static void test_settings(void)
{
	struct h2_settings s, back;
	char out[H2_SETTINGS_LEN_MAX], *end;

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		h2_settings_init(&s);
		is_int(h2_settings_parse(&s, slice_make(settings[i].bytes, 6), settings[i].server),
		       settings[i].error, "%s", settings[i].what);
	}
	h2_settings_init(&s);
	end = h2_settings_put(out, &s);
	is_int(end - out, H2_FRAME_HEADER_LEN, "defaults are not sent");
	s = (struct h2_settings){ 1, 0, 2, 3, 20000, 4, 1 };
	end = h2_settings_put(out, &s);
	is_int(end - out, H2_SETTINGS_LEN_MAX, "all are");
	is_int(h2_frame_parse(out).length, 42, "length");
	h2_settings_init(&back);
	is_int(h2_settings_parse(&back, slice_make(out + 9, 42), true), 0, "read back");
	ok(memcmp(&s, &back, sizeof(s)) == 0, "the same");
	is_int(h2_settings_parse(&back, slice_make(out + 9, 41), true), H2_ERR_FRAME_SIZE_ERROR,
	       "a piece of a setting");
	is_int(h2_settings_parse(&back, SLICE("\x00\x08\x00\x00\x00\x00"), true),
	       H2_ERR_PROTOCOL_ERROR, "extended CONNECT taken back");
}

static void test_put(void)
{
	char out[32];

	ok(h2_put_goaway(out, 5, 11) == out + H2_GOAWAY_LEN &&
	   memcmp(out, "\0\0\10\7\0\0\0\0\0\0\0\0\5\0\0\0\13", 17) == 0, "GOAWAY");
	ok(h2_put_rst_stream(out, 5, 8) == out + H2_RST_STREAM_LEN &&
	   memcmp(out, "\0\0\4\3\0\0\0\0\5\0\0\0\10", 13) == 0, "RST_STREAM");
	ok(h2_put_window_update(out, 5, 256) == out + H2_WINDOW_UPDATE_LEN &&
	   memcmp(out, "\0\0\4\10\0\0\0\0\5\0\0\1\0", 13) == 0, "WINDOW_UPDATE");
	ok(h2_put_ping(out, "abcdefgh", true) == out + H2_PING_LEN &&
	   memcmp(out, "\0\0\10\6\1\0\0\0\0abcdefgh", 17) == 0, "PING");
	ok(h2_put_settings_ack(out) == out + 9 && memcmp(out, "\0\0\0\4\1\0\0\0\0", 9) == 0,
	   "acknowledgement");
}

int main(void)
{
	test_header();
	test_rules();
	test_content();
	test_settings();
	test_put();
	return done_testing();
}
