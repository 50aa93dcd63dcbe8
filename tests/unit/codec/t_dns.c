/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DNS: names, questions, and answers of every kind that must not be believed. */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "codec/dns.h"
#include "tap.h"

#define ID "\x12\x34"
#define NAME "\3foo\2ex\0"
#define QA NAME "\0\1\0\1"
#define QSRV NAME "\0\x21\0\1"
#define HEAD(flags, answers, additional) \
	ID flags "\0\1" answers "\0\0" additional
#define OK_HEAD(answers) HEAD("\x81\x80", answers, "\0\0")
#define FOO "\xc0\x0c"
#define A(owner, ip) owner "\0\1\0\1\0\0\0\x3c\0\4" ip
#define CNAME(owner, len, target) owner "\0\5\0\1\0\0\0\x3c\0" len target
#define S(text) { text, sizeof(text) - 1 }

static const struct {
	const char *what;
	struct slice bytes;
	enum dns_status status;
	unsigned count;
} cases[] = {
	{ "one address", S(OK_HEAD("\0\1") QA A(FOO, "\x7f\0\0\1")), DNS_VALID, 1 },
	{ "two", S(OK_HEAD("\0\2") QA A(FOO, "\x7f\0\0\1") A(NAME, "\x7f\0\0\2")), DNS_VALID, 2 },
	{ "other case", S(OK_HEAD("\0\1") "\3FOO\2Ex\0\0\1\0\1" A(FOO, "\x7f\0\0\1")),
	  DNS_VALID, 1 },
	{ "an alias", S(OK_HEAD("\0\2") QA CNAME(FOO, "\3", "\1b\0") A("\1b\0", "\x7f\0\0\1")),
	  DNS_VALID, 1 },
	{ "an alias alone", S(OK_HEAD("\0\1") QA CNAME(FOO, "\3", "\1b\0")), DNS_CNAME_ERROR, 0 },
	{ "an alias of another", S(OK_HEAD("\0\2") QA CNAME(FOO, "\3", "\1b\0")
				   A("\1c\0", "\x7f\0\0\1")), DNS_CNAME_ERROR, 0 },
	{ "an alias with more behind it", S(OK_HEAD("\0\2") QA CNAME(FOO, "\4", "\1b\0x")
					    A("\1b\0", "\x7f\0\0\1")), DNS_INVALID, 0 },
	{ "nothing", S(OK_HEAD("\0\0") QA), DNS_EMPTY, 0 },
	{ "another type", S(OK_HEAD("\0\1") QA FOO "\0\x10\0\1\0\0\0\x3c\0\2\1x"), DNS_EMPTY, 0 },
	{ "another class", S(OK_HEAD("\0\1") QA FOO "\0\1\0\3\0\0\0\x3c\0\4\x7f\0\0\1"),
	  DNS_EMPTY, 0 },
	{ "NXDOMAIN", S(HEAD("\x81\x83", "\0\0", "\0\0") QA), DNS_NX, 0 },
	{ "REFUSED", S(HEAD("\x81\x85", "\0\0", "\0\0") QA), DNS_REFUSED, 0 },
	{ "SERVFAIL", S(HEAD("\x81\x82", "\0\0", "\0\0") QA), DNS_OTHER, 0 },
	{ "truncated", S(HEAD("\x83\x80", "\0\1", "\0\0") QA A(FOO, "\x7f\0\0\1")),
	  DNS_TRUNCATED, 0 },
	{ "a question", S(HEAD("\1\0", "\0\0", "\0\0") QA), DNS_INVALID, 0 },
	{ "another identifier", S("\x12\x35\x81\x80\0\1\0\1\0\0\0\0" QA A(FOO, "\x7f\0\0\1")),
	  DNS_INVALID, 0 },
	{ "another name", S(OK_HEAD("\0\1") "\3bar\2ex\0\0\1\0\1" A(FOO, "\x7f\0\0\1")),
	  DNS_INVALID, 0 },
	{ "another type asked", S(OK_HEAD("\0\1") NAME "\0\x1c\0\1" A(FOO, "\x7f\0\0\1")),
	  DNS_INVALID, 0 },
	{ "an address of another", S(OK_HEAD("\0\1") QA A("\1b\0", "\x7f\0\0\1")), DNS_INVALID, 0 },
	{ "three bytes of address", S(OK_HEAD("\0\1") QA FOO "\0\1\0\1\0\0\0\x3c\0\3\x7f\0\0"),
	  DNS_INVALID, 0 },
	{ "a name that is itself", S(OK_HEAD("\0\1") QA A("\xc0\x18", "\x7f\0\0\1")),
	  DNS_INVALID, 0 },
	{ "a name further on", S(OK_HEAD("\0\1") QA A("\xc0\x20", "\x7f\0\0\1")), DNS_INVALID, 0 },
	{ "a label of 64", S(OK_HEAD("\0\1") QA "\x40" A("\0", "\x7f\0\0\1")), DNS_INVALID, 0 },
	{ "more records than there are", S(OK_HEAD("\xff\xff") QA A(FOO, "\x7f\0\0\1")),
	  DNS_INVALID, 0 },
	{ "no room for the data", S(OK_HEAD("\0\1") QA FOO "\0\1\0\1\0\0\0\x3c\xff\xff\x7f"),
	  DNS_INVALID, 0 },
	{ "half a header", S(ID "\x81\x80\0\1"), DNS_INVALID, 0 },
};

static void test_answers(void)
{
	struct dns_question q = { .name = "foo.ex", .type = DNS_A, .id = 0x1234 };

	for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
		struct dns_answer a;
		struct arena arena;

		arena_init(&arena, 0);
		is_int(dns_answer_parse(cases[i].bytes, &q, &arena, &a), cases[i].status, "%s",
		       cases[i].what);
		is_int(a.count, cases[i].count, "%s: records", cases[i].what);
		/* any part of it is not believed, and read within its bounds */
		for (size_t len = 0; len < cases[i].bytes.len; len++) {
			char *part = malloc(len + 1);

			memcpy(part, cases[i].bytes.ptr, len);
			if (dns_answer_parse(slice_make(part, len), &q, &arena, &a) == DNS_VALID)
				ok(false, "%s: %zu bytes of it", cases[i].what, len);
			free(part);
		}
		arena_fini(&arena);
	}
}

static void test_service(void)
{
	static const char bytes[] = HEAD("\x81\x80", "\0\2", "\0\2") QSRV
		FOO "\0\x21\0\1\0\0\0\x3c\0\x0a\0\1\0\2\0\x50\2h1\0"
		FOO "\0\x21\0\1\0\0\0\x3c\0\x0a\0\1\xff\xff\0\x51\2H2\0"
		A("\2h1\0", "\x0a\0\0\1") "\0\0\x29\x10\0\0\0\0\0\0\0";
	struct dns_question q = { .name = "foo.ex", .type = DNS_SRV, .id = 0x1234 };
	struct dns_answer a;
	struct arena arena;

	arena_init(&arena, 0);
	is_int(dns_answer_parse(slice_make(bytes, sizeof(bytes) - 1), &q, &arena, &a), DNS_VALID,
	       "services");
	is_int(a.count, 3, "two, and an address");
	is_int(a.records->port, 0x50, "port");
	is_int(a.records->next->weight, 65535, "weight");
	is_str(a.records->next->name, "h2", "target, in lower case");
	is_str(a.additional->name, "h1", "whose address it is");
	ok(a.additional->addr.v4 == addr_from_v4("\x0a\0\0\1", 0).v4, "the address");
	arena_fini(&arena);
}

#define TXT(len, strings) FOO "\0\x10\0\1\0\0\0\x3c\0" len strings

/* What a TXT record of these bytes says; NULL: it is refused. */
static const char *text_of(const char *bytes, size_t len)
{
	static char text[256];
	struct dns_question q = { .name = "foo.ex", .type = DNS_TXT, .id = 0x1234 };
	struct dns_answer a;
	struct arena arena;
	bool good;

	arena_init(&arena, 0);
	good = dns_answer_parse(slice_make(bytes, len), &q, &arena, &a) == DNS_VALID;
	if (good)
		snprintf(text, sizeof(text), "%s", a.records->name);
	arena_fini(&arena);
	return good ? text : NULL;
}

static void test_text(void)
{
#define OF(strings) OK_HEAD("\0\1") NAME "\0\x10\0\1" strings
#define IS(strings, want, what) is_str(text_of(OF(strings), sizeof(OF(strings)) - 1), want, what)
#define REFUSED(strings, what) ok(!text_of(OF(strings), sizeof(OF(strings)) - 1), what)
	IS(TXT("\4", "\3abc"), "abc", "a text");
	IS(TXT("\7", "\3abc\2DE"), "abcDE", "two strings are one text, in the case that they have");
	IS(TXT("\1", "\0"), "", "an empty one");
	IS(TXT("\4", "\3a\0b"), "", "a NUL in it: it is as if it were empty");
	REFUSED(TXT("\0", ""), "no string at all");
	REFUSED(TXT("\3", "\3ab"), "a string beyond the data");
	REFUSED(TXT("\5", "\3abc\1"), "a second one beyond it");
#undef OF
#undef IS
#undef REFUSED
}

/* Every name of many records goes through a chain of jumps: no more than a few are followed. */
static void test_chain(void)
{
	static uint8_t bytes[60000];
	struct dns_question q = { .name = "foo.ex", .type = DNS_A, .id = 0x1234 };
	size_t at = 0, first;
	struct dns_answer a;
	struct arena arena;

	memcpy(bytes, OK_HEAD("\x01\x00") QA, at = sizeof(OK_HEAD("\x01\x00") QA) - 1);
	/* in the data of a text */
	memcpy(bytes + at, FOO "\0\x10\0\1\0\0\0\x3c\x3a\x98", 12);
	first = at += 12;
	memcpy(bytes + at, FOO, 2);
	for (at += 2; at < first + 15000; at += 2) {
		bytes[at] = (uint8_t)(0xc0 | (at - 2) >> 8);
		bytes[at + 1] = (uint8_t)(at - 2);
	}
	while (at + 16 < sizeof(bytes)) {
		bytes[at] = (uint8_t)(0xc0 | (first + 14998) >> 8);
		bytes[at + 1] = (uint8_t)(first + 14998);
		memcpy(bytes + at + 2, "\0\1\0\1\0\0\0\x3c\0\4\x7f\0\0\1", 14);
		at += 16;
	}
	arena_init(&arena, 0);
	is_int(dns_answer_parse(slice_make((char *)bytes, at), &q, &arena, &a), DNS_INVALID,
	       "long chains of jumps are refused");
	arena_fini(&arena);
}

static void test_questions(void)
{
	struct dns_question q = { .name = "Foo.ex", .type = DNS_AAAA, .id = 0x1234,
				  .payload = 512 };
	static const char want[] = ID "\1\0\0\1\0\0\0\0\0\1\3Foo\2ex\0\0\x1c\0\1"
		"\0\0\x29\2\0\0\0\0\0\0\0";
	uint8_t out[DNS_QUERY_MAX];
	size_t len = dns_query_make(&q, out, sizeof(out));

	is_int(len, sizeof(want) - 1, "a question's length");
	ok(len == sizeof(want) - 1 && memcmp(out, want, len) == 0, "and its bytes");
	ok(!dns_query_make(&q, out, 20), "no room");
}

static void test_names(void)
{
	static const char *const good[] = { "a", "foo.example.com", "_http._tcp.x", "1.2.3.4" },
		*const bad[] = { "", ".", "a.", ".a", "a..b", "a b", "a\\.b", "a\x80" };
	char text[300];

	for (unsigned i = 0; i < ARRAY_LEN(good); i++)
		ok(dns_name_is_valid(slice_of(good[i])), "good: %s", good[i]);
	for (unsigned i = 0; i < ARRAY_LEN(bad); i++)
		ok(!dns_name_is_valid(slice_of(bad[i])), "bad: '%s'", bad[i]);
	memset(text, 'a', sizeof(text));
	ok(dns_name_is_valid(slice_make(text, 63)), "a label of 63");
	ok(!dns_name_is_valid(slice_make(text, 64)), "a label of 64");
	for (unsigned i = 1; i < sizeof(text); i += 2)
		text[i] = '.';
	ok(dns_name_is_valid(slice_make(text, 253)), "253 characters");
	ok(!dns_name_is_valid(slice_make(text, 255)), "255 characters");
}

int main(void)
{
	test_names();
	if (dns_is_built_in()) {
		test_questions();
		test_answers();
		test_service();
		test_text();
		test_chain();
	}
	return done_testing();
}
