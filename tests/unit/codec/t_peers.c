/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Peers protocol: integers, hellos, and messages as a reference process sent them. */
#include "base/strbuf.h"
#include "codec/peers.h"
#include "tap.h"

#define BYTES(text) slice_make(text, sizeof(text) - 1)

static void test_ints(void)
{
	static const struct { uint64_t value; size_t len; } ints[] = {
		{ 0, 1 }, { 239, 1 }, { 240, 2 }, { 255, 2 }, { 2287, 2 }, { 2288, 3 },
		{ 264431, 3 }, { 264432, 4 }, { 33818863, 4 }, { 33818864, 5 },
		{ 4328786159, 5 }, { 4328786160, 6 }, { UINT64_MAX - 1, 10 }, { UINT64_MAX, 10 },
	};
	struct strbuf b;
	struct slice in;
	uint64_t v;

	strbuf_init(&b);
	for (size_t i = 0; i < sizeof(ints) / sizeof(ints[0]); i++) {
		bool cut = true;

		strbuf_reset(&b);
		ok(peers_put_int(&b, ints[i].value), "an integer is made");
		is_int(b.len, ints[i].len, "of this many bytes");
		in = strbuf_slice(&b);
		ok(peers_int(&in, &v) == PEERS_DONE && v == ints[i].value && !in.len,
		   "and read again");
		for (size_t n = 0; n < b.len; n++) {
			in = slice_make(b.ptr, n);
			cut = cut && peers_int(&in, &v) == PEERS_MORE && in.len == n;
		}
		ok(cut, "a part of it wants more");
	}
	strbuf_fini(&b);
	in = BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
	ok(peers_int(&in, &v) == PEERS_ERROR && in.len == 10, "one of more than 64 bits");
	in = BYTES("\xff\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80");
	ok(peers_int(&in, &v) == PEERS_ERROR, "one that does not end");
}

static void test_hello(void)
{
	static const char text[] = "HAProxyS 2.1\na\nb 3908 1\n";
	static const struct { const char *text; int answer; } bad[] = {
		{ "HAProxyX", 501 }, { "GET / HTTP/1.1\r\n", 501 },
		{ "HAProxyS 3.0\na\nb 1 1\n", 502 },
		{ "HAProxyS 2.\na\nb 1 1\n", 502 }, { "HAProxyS 2\na\nb 1 1\n", 502 },
		{ "HAProxyS 2.1\na\nb\n", 501 }, { "HAProxyS 2.1\na\nb x 1\n", 501 },
		{ "HAProxyS 2.1\na\nb 1\n", 501 },
	};
	struct peers_hello h;
	enum peers_answer a = 0;
	struct strbuf b;
	size_t len;
	bool cut = true;

	ok(peers_hello_read(slice_of(text), &h, &a) == PEERS_DONE && h.minor == 1 &&
	   h.pid == 3908 && h.relative == 1 && h.length == strlen(text), "a hello");
	ok(slice_eq(h.to, slice_of("a")) && slice_eq(h.from, slice_of("b")), "its names");
	for (size_t n = 0; n < strlen(text); n++)
		cut = cut && peers_hello_read(slice_make(text, n), &h, &a) == PEERS_MORE;
	ok(cut, "a part of it wants more");
	strbuf_init(&b);
	h = (struct peers_hello){ .minor = PEERS_MINOR, .to = slice_of("a"), .from = slice_of("b"),
				  .pid = 3908, .relative = 1 };
	ok(peers_hello_put(&b, &h) && slice_eq(strbuf_slice(&b), slice_of(text)),
	   "a hello is made");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ok(peers_hello_read(slice_of(bad[i].text), &h, &a) == PEERS_ERROR, "a bad hello");
		is_int(a, bad[i].answer, "is answered so");
	}
	strbuf_reset(&b);
	strbuf_add_str(&b, "HAProxyS 2.1\n");
	while (b.len < PEERS_HELLO_MAX)
		strbuf_add_char(&b, 'x');
	ok(peers_hello_read(strbuf_slice(&b), &h, &a) == PEERS_ERROR, "a hello without end");
	strbuf_reset(&b);
	ok(peers_answer_put(&b, PEERS_ANSWER_NOT_ME) &&
	   slice_eq(strbuf_slice(&b), slice_of("503\n")), "an answer is made");
	ok(peers_answer_read(strbuf_slice(&b), &a, &len) == PEERS_DONE && len == 4 && a == 503,
	   "and read");
	ok(peers_answer_read(slice_of("20"), &a, &len) == PEERS_MORE, "a part of an answer");
	ok(peers_answer_read(slice_of("299\n"), &a, &len) == PEERS_ERROR, "an unknown answer");
	ok(peers_answer_read(slice_of("2000"), &a, &len) == PEERS_ERROR, "no answer");
	strbuf_fini(&b);
}

static struct peers_msg msg(struct slice in)
{
	struct peers_msg m = { 0 };

	ok(peers_msg_read(in, 16384, &m) == PEERS_DONE && m.length == in.len, "a message");
	return m;
}

/* Made again, update <u> with <n> values is the bytes <wanted>. */
static void remade(const struct peers_table *t, const struct peers_update *u,
		   const struct peers_value *v, size_t n, struct slice wanted)
{
	struct peers_maker m;
	struct strbuf b;
	char small[16];

	strbuf_init(&b);
	peers_update_open(&m, &b, t, u);
	for (size_t i = 0; i < n; i++)
		peers_value_put(&m, &v[i]);
	ok(peers_update_close(&m) && slice_eq(strbuf_slice(&b), wanted), "made again");
	strbuf_fini(&b);
	strbuf_init_fixed(&b, small, sizeof(small));
	strbuf_add_char(&b, 'x');
	peers_update_open(&m, &b, t, u);
	for (size_t i = 0; i < n; i++)
		peers_value_put(&m, &v[i]);
	ok(!peers_update_close(&m) && slice_eq(strbuf_slice(&b), slice_of("x")),
	   "without room: nothing");
}

static void test_addresses(void)
{
	static const char define[] = "\x0a\x82\x11\x02\x02t1\x04\x04\xfd\xf1\xfe\x00"
		"\xf0\xb5\x12\x03\xf0\xe2\x03";
	static const char update[] = "\x0a\x85\x14\x00\x00\x00\x01\x00\x00\x94\x0b\x0a\x01\x02\x03"
		"\x07\xfc\x03\xf6\x74\x05\x00\x00";
	struct peers_msg m = msg(BYTES(define));
	struct peers_value v[4], more;
	struct peers_update u, at;
	struct peers_table t;
	struct strbuf b;
	bool good = true;

	ok(m.class == PEERS_TABLE && m.type == PEERS_DEFINE && peers_define_read(m.body, &t),
	   "a definition");
	ok(t.id == 2 && slice_eq(t.name, slice_of("t1")) && t.type == PEERS_KEY_IPV4 &&
	   t.key_len == 4 && t.data == 0x8000d && t.expire_ms == 40000 && t.period_ms[3] == 10000,
	   "what it says");
	strbuf_init(&b);
	ok(peers_define_put(&b, &t) && slice_eq(strbuf_slice(&b), BYTES(define)), "made again");
	strbuf_fini(&b);
	m = msg(BYTES(update));
	ok(peers_update_read(&t, m.type, m.body, &u) && u.number == 1 && u.left_ms == 37899 &&
	   slice_eq(u.key, BYTES("\x0a\x01\x02\x03")), "a timed update");
	at = u;
	for (int i = 0; i < 4; i++)
		good = good && peers_value_read(&t, &at, &v[i]) == PEERS_DONE;
	ok(good && peers_value_read(&t, &at, &more) == PEERS_MORE && !at.values.len, "its values");
	ok(v[0].data == 0 && v[0].number == 7 && v[1].data == 2 && v[1].number == 300 &&
	   v[2].data == 3 && v[2].age_ms == 2102 && v[2].current == 5 && v[2].previous == 0 &&
	   v[3].data == 19 && v[3].word == 0, "are these");
	remade(&t, &u, v, 4, BYTES(update));
	good = true;
	for (size_t n = 0; n < m.body.len; n++) {
		enum peers_status r = PEERS_ERROR;

		if (peers_update_read(&t, m.type, slice_make(m.body.ptr, n), &at))
			while ((r = peers_value_read(&t, &at, &more)) == PEERS_DONE)
				;
		good = good && r == PEERS_ERROR;
	}
	ok(good, "an update that is cut is refused");
}

static void test_arrays(void)
{
	static const char define[] = "\x0a\x82\x17\x01\x03/tt\x06\x15\xf0\x91\x83o\xf0\xa6\x17"
		"\x16\x02\x17\x03\x18\x02\xf8\xa6\x02";
	static const char update[] = "\x0a\x80\x18\x00\x00\x00\x07\x02kk\x04\xbc\x00\x00\x04"
		"\x00\x00\x0b\x04\x00\xfb\xc8\xf6\xfe\x7e\x00\x00";
	struct peers_msg m = msg(BYTES(define));
	struct peers_value v[9];
	struct peers_update u, at;
	struct peers_table t;
	bool good = true;

	ok(peers_define_read(m.body, &t) && t.type == PEERS_KEY_STRING && t.key_len == 21 &&
	   t.cells[22] == 2 && t.cells[23] == 3 && t.cells[24] == 2 && t.period_ms[24] == 7000,
	   "arrays are defined");
	m = msg(BYTES(update));
	ok(peers_update_read(&t, m.type, m.body, &u) && u.number == 7 &&
	   slice_eq(u.key, slice_of("kk")), "an update of a string");
	at = u;
	for (int i = 0; i < 9; i++)
		good = good && peers_value_read(&t, &at, &v[i]) == PEERS_DONE;
	ok(good && peers_value_read(&t, &at, &v[0]) == PEERS_MORE, "has nine values");
	at = u;
	peers_value_read(&t, &at, &v[0]);
	ok(v[4].data == 23 && v[4].cell == 0 && v[4].number == 4 && v[7].data == 24 &&
	   v[7].cell == 0 && v[7].age_ms == 11 && v[7].current == 4 && v[8].cell == 1,
	   "that are these");
	remade(&t, &u, v, 9, BYTES(update));
	ok(!peers_define_read(BYTES("\x01\x01t\x02\x04\xf0\x91\x83o\x00"), &t),
	   "an array without length");
	ok(!peers_define_read(BYTES("\x01\x01t\x02\x04\x04\x00\x03\x05"), &t),
	   "a period of what is not there");
	ok(peers_define_read(BYTES("\x01\x01t\x02\x04\x04\x00\x40\x05"), &t) && t.data == 4,
	   "what is not known is passed");
	ok(!peers_define_read(BYTES("\x01\x09t\x02\x04"), &t), "a name that is cut");
}

static void test_words(void)
{
	static const char full[] = "\x0a\x80\x0e\x00\x00\x00\x03\x00\x00\x00\x00\x02\x04"
		"\x01\x02s2";
	static const char known[] = "\x0a\x80\x0b\x00\x00\x00\x04\x00\x00\x00\x01\x02\x01\x01";
	static const char define[] = "\x0a\x82\x0b\x03\x02" "b1\x02\x04\xf1\xf1\xfe\x00\x00";
	struct peers_msg m = msg(BYTES(define));
	struct peers_value v[2];
	struct peers_update u, at;
	struct peers_table t;

	ok(peers_define_read(m.body, &t) && t.data == 0x80001 && !t.expire_ms,
	   "a table with texts");
	m = msg(BYTES(full));
	ok(peers_update_read(&t, m.type, m.body, &u) && u.key.len == 4, "an update of a number");
	at = u;
	ok(peers_value_read(&t, &at, &v[0]) == PEERS_DONE &&
	   peers_value_read(&t, &at, &v[1]) == PEERS_DONE && v[1].word == 1 &&
	   slice_eq(v[1].text, slice_of("s2")), "a text and its number");
	remade(&t, &u, v, 2, BYTES(full));
	m = msg(BYTES(known));
	ok(peers_update_read(&t, m.type, m.body, &at) &&
	   peers_value_read(&t, &at, &v[0]) == PEERS_DONE &&
	   peers_value_read(&t, &at, &v[1]) == PEERS_DONE && v[1].word == 1 &&
	   slice_is_none(v[1].text), "then the number alone");
}

static void test_messages(void)
{
	struct peers_msg m;
	struct strbuf b;
	uint32_t id, number;

	ok(peers_msg_read(BYTES("\x00"), 100, &m) == PEERS_MORE, "half a message");
	ok(peers_msg_read(BYTES("\x00\x04\x0a"), 100, &m) == PEERS_DONE && m.length == 2 &&
	   m.type == PEERS_HEARTBEAT, "one without a body");
	ok(peers_msg_read(BYTES("\x0a\x84\x05\x02"), 100, &m) == PEERS_MORE, "a part of a body");
	ok(peers_msg_read(BYTES("\x0a\x84\xf0\x01"), 100, &m) == PEERS_ERROR, "a body too long");
	m = msg(BYTES("\x0a\x84\x05\x02\x00\x00\x01\x04"));
	ok(peers_ack_read(m.body, &id, &number) && id == 2 && number == 260, "an ack");
	ok(!peers_ack_read(slice_make(m.body.ptr, 4), &id, &number), "a short ack");
	strbuf_init(&b);
	ok(peers_ack_put(&b, 2, 260) && slice_eq(strbuf_slice(&b),
	   BYTES("\x0a\x84\x05\x02\x00\x00\x01\x04")), "an ack is made");
	strbuf_reset(&b);
	ok(peers_switch_put(&b, 300) && slice_eq(strbuf_slice(&b), BYTES("\x0a\x83\x02\xfc\x03")),
	   "a switch is made");
	m = msg(strbuf_slice(&b));
	ok(peers_switch_read(m.body, &id) && id == 300, "and read");
	strbuf_reset(&b);
	ok(peers_msg_put(&b, PEERS_CONTROL, PEERS_RESYNC_CONFIRM) &&
	   slice_eq(strbuf_slice(&b), BYTES("\x00\x03")), "a message without a body is made");
	strbuf_fini(&b);
}

int main(void)
{
	test_ints();
	test_hello();
	test_addresses();
	test_arrays();
	test_words();
	test_messages();
	return done_testing();
}
