/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Message heads: fields are found, edited and deleted; targets are cut and put together. */
#include "../tap.h"
#include "http/msg.h"

static struct arena arena;

static bool same(struct slice s, const char *text)
{
	return text ? s.ptr && slice_eq(s, slice_of(text)) : s.ptr == NULL;
}

static void test_fields(void)
{
	struct http_msg m;
	struct h1_field *f;
	int at = -1, i;
	char name[16];

	http_msg_init(&m, &arena);
	ok(http_msg_add_field(&m, SLICE("Host"), SLICE("a")), "add a known field");
	ok(m.fields.list[0].id == FIELD_HOST && same(m.fields.list[0].name, "host"),
	   "it has its number and its lower-case name");
	ok(http_msg_add_field(&m, SLICE("X-Foo"), SLICE("1")), "add an unknown field");
	ok(same(m.fields.list[1].name, "x-foo") && m.fields.list[1].id == 0, "in lower case");
	http_msg_add_field(&m, SLICE("x-foo"), SLICE(""));
	http_msg_add_field(&m, SLICE("x-bar"), SLICE("2"));
	is_int(m.flags & (HTTP_MSG_EDITED | HTTP_MSG_ADDED), HTTP_MSG_ADDED,
	       "what was received is as it was, fields were added");

	ok(http_field_find(&m.fields, FIELD_HOST, slice_none()) == &m.fields.list[0], "by number");
	ok(!http_field_find(&m.fields, FIELD_COOKIE, slice_none()), "absent number");
	f = http_field_next(&m.fields, &at, 0, SLICE("X-FOO"));
	ok(f && at == 1, "first by name of any case");
	f = http_field_next(&m.fields, &at, 0, SLICE("X-FOO"));
	ok(f && at == 2, "second by name");
	ok(!http_field_next(&m.fields, &at, 0, SLICE("X-FOO")), "no third");

	is_int(http_msg_del_field(&m, SLICE("X-Foo")), 2, "two fields deleted");
	ok(m.flags & HTTP_MSG_EDITED, "the message is marked as edited");
	ok(!http_field_find(&m.fields, 0, SLICE("x-foo")), "and gone");
	ok(http_msg_set_field(&m, SLICE("HOST"), SLICE("b")), "set replaces");
	f = http_field_find(&m.fields, FIELD_HOST, slice_none());
	ok(f && same(f->value, "b"), "the new value is found");
	at = f - m.fields.list;
	ok(!http_field_next(&m.fields, &at, FIELD_HOST, slice_none()), "there is only one");
	ok(http_msg_set_value(&m, f, SLICE("c")) && same(f->value, "c"), "value replaced in place");
	ok(http_msg_set_field(&m, f->name, f->value), "set from the field itself");
	f = http_field_find(&m.fields, FIELD_HOST, slice_none());
	ok(f && same(f->value, "c"), "keeps the value");

	for (i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		http_msg_add_field(&m, slice_of(name), slice_of(name));
	}
	f = http_field_find(&m.fields, 0, SLICE("n137"));
	ok(f && same(f->value, "n137"), "200 more fields fit");
	http_msg_fini(&m);
}

static void test_values(void)
{
	static const struct {
		const char *fields[3];
		const char *elements; /* joined by '|' */
	} cases[] = {
		{ { "a" }, "a|" },
		{ { "a,b" }, "a|b|" },
		{ { " a , b\t,c " }, "a|b|c|" },
		{ { "a", "b,c" }, "a|b|c|" },
		{ { "" }, "|" },
		{ { "a,,b" }, "a||b|" },
		{ { "a,", "b" }, "a||b|" },
		{ { "\"x,y\",z" }, "\"x,y\"|z|" },
		{ { "\"x\\\",y\",z" }, "\"x\\\",y\"|z|" },
		{ { "\"open,b" }, "\"open,b|" },
	};
	unsigned i, j;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct slice rest = slice_none(), value;
		char joined[100] = "";
		struct http_msg m;
		int at = -1;

		http_msg_init(&m, &arena);
		for (j = 0; j < 3 && cases[i].fields[j]; j++) {
			http_msg_add_field(&m, SLICE("x-a"), slice_of(cases[i].fields[j]));
			http_msg_add_field(&m, SLICE("x-b"), SLICE("other"));
		}
		while (http_value_next(&m.fields, &at, &rest, 0, SLICE("x-a"), &value))
			snprintf(joined + strlen(joined), sizeof(joined) - strlen(joined), "%.*s|",
				 SLICE_FMT(value));
		is_str(joined, cases[i].elements, "elements of case %u", i);
		http_msg_fini(&m);
	}
}

/* What the reference program says of each target, and makes of it. */
static const struct {
	const char *uri, *path, *pathq, *query, *authority;
	const char *set_path, *set_pathq, *set_query, *set_empty_query;
} targets[] = {
	{ "/a/b?x=1", "/a/b", "/a/b?x=1", "x=1", NULL,
	  "/n?x=1", "/n", "/a/b?w=1", "/a/b?" },
	{ "/", "/", "/", NULL, NULL, "/n", "/n", "/?w=1", "/" },
	{ "*", NULL, NULL, NULL, NULL, "/n", "/n", "*?w=1", "*" },
	{ "http://h/", "/", "/", NULL, "h",
	  "http://h/n", "http://h/n", "http://h/?w=1", "http://h/" },
	{ "http://h", NULL, NULL, NULL, "h",
	  "/n", "/n", "http://h?w=1", "http://h" },
	{ "http://h?q=1", NULL, "?q=1", "q=1", "h",
	  "http://h/n?q=1", "http://h/n", "http://h?w=1", "http://h?" },
	{ "https://u@h:81/p/q?z?y", "/p/q", "/p/q?z?y", "z?y", "u@h:81",
	  "https://u@h:81/n?z?y", "https://u@h:81/n", "https://u@h:81/p/q?w=1",
	  "https://u@h:81/p/q?" },
	{ "/a?", "/a", "/a?", "", NULL, "/n?", "/n", "/a?w=1", "/a?" },
	{ "/a#f?b", "/a#f", "/a#f?b", "b", NULL, "/n?b", "/n", "/a#f?w=1", "/a#f?" },
	{ "//h/p", "//h/p", "//h/p", NULL, NULL, "/n", "/n", "//h/p?w=1", "//h/p" },
	{ "/p?u=http://x/y", "/p", "/p?u=http://x/y", "u=http://x/y", NULL,
	  "/n?u=http://x/y", "/n", "/p?w=1", "/p?" },
	{ "new?u=http://x/y", NULL, NULL, "u=http://x/y", NULL,
	  "/n?u=http://x/y", "/n", "new?w=1", "new?" },
};

static void test_targets(void)
{
	unsigned i;

	for (i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		const char *uri = targets[i].uri;
		struct http_msg m, base;

		http_msg_init(&base, &arena);
		base.uri = slice_of(uri);
		m = base;
		ok(same(http_msg_path(&m), targets[i].path), "path of %s", uri);
		ok(same(http_msg_pathq(&m), targets[i].pathq), "pathq of %s", uri);
		ok(same(http_msg_query(&m), targets[i].query), "query of %s", uri);
		ok(same(http_msg_authority(&m), targets[i].authority), "authority of %s", uri);
		http_msg_set_path(&m, SLICE("/n"));
		ok(same(m.uri, targets[i].set_path), "set-path on %s", uri);
		m = base;
		http_msg_set_pathq(&m, SLICE("/n"));
		ok(same(m.uri, targets[i].set_pathq), "set-pathq on %s", uri);
		m = base;
		http_msg_set_query(&m, SLICE("w=1"));
		ok(same(m.uri, targets[i].set_query), "set-query on %s", uri);
		m = base;
		http_msg_set_query(&m, SLICE(""));
		ok(same(m.uri, targets[i].set_empty_query), "empty set-query on %s", uri);
	}
}

static void test_start_line(void)
{
	struct http_msg m;
	struct h1_field *f;

	http_msg_init(&m, &arena);
	m.uri = SLICE("h:443");
	m.method = HTTP_METH_CONNECT;
	ok(same(http_msg_authority(&m), "h:443"), "authority of CONNECT");

	http_msg_add_field(&m, SLICE("host"), SLICE("h"));
	ok(http_msg_set_uri(&m, SLICE("http://u@o:8/p")), "an absolute target");
	f = http_field_find(&m.fields, FIELD_HOST, slice_none());
	ok(f && same(f->value, "o:8"), "sets Host too, without the user");
	ok(m.flags & HTTP_MSG_ABSOLUTE, "and is marked so");
	ok(http_msg_set_uri(&m, SLICE("/q")) && !(m.flags & HTTP_MSG_ABSOLUTE),
	   "back to origin form");
	f = http_field_find(&m.fields, FIELD_HOST, slice_none());
	ok(f && same(f->value, "o:8"), "which keeps Host");

	ok(http_msg_set_method(&m, SLICE("PUT")), "a known method");
	is_int(m.method, HTTP_METH_PUT, "has its number");
	ok(http_msg_set_method(&m, SLICE("put")), "an unknown one");
	ok(m.method == HTTP_METH_OTHER && same(m.method_text, "put"), "keeps its text");
	ok(http_msg_set_status(&m, 404, slice_none()) && same(m.reason, "Not Found"),
	   "the standard reason");
	ok(http_msg_set_status(&m, 404, SLICE("No")) && same(m.reason, "No"), "or a given one");
	ok(same(http_reason(299), "Success") && same(http_reason(599), "Server Error") &&
	   same(http_reason(999), "Other"), "reasons of unknown statuses");
	http_msg_fini(&m);
}

static void test_blocks(void)
{
	struct block *b[5];
	struct http_msg m;
	int i;

	http_msg_init(&m, &arena);
	for (i = 0; i < 5; i++)
		b[i] = block_new_sized(16);
	ok(http_msg_hold(&m, b[0]) && http_msg_hold(&m, b[0]), "a block is held");
	is_int(b[0]->refs, 2, "once");
	ok(http_msg_hold(&m, b[1]) && http_msg_hold(&m, b[2]) && http_msg_hold(&m, b[3]),
	   "four blocks are held");
	ok(!http_msg_hold(&m, b[4]), "not five");
	http_msg_fini(&m);
	is_int(b[0]->refs + b[3]->refs, 2, "all are dropped");
	for (i = 0; i < 5; i++)
		block_drop(b[i]);
}

int main(void)
{
	arena_init(&arena, 0);
	test_fields();
	test_values();
	test_targets();
	test_start_line();
	test_blocks();
	arena_fini(&arena);
	return done_testing();
}
