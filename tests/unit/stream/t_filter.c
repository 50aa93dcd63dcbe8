/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters: fake ones that wait, hold, change and answer, on the way of streams between a client
 * made of a few functions and a service.
 */
#include "base/strbuf.h"
#include "scene.h"
#include "tap.h"

/* --- fake filters ------------------------------------------------------------------------------
 * Each writes what it is called for, "A.head.q", into a log, and does what a test has told a filter
 * of its name to do there.
 */

static char trail[4096];

static void note(const char *name, const char *what, enum filter_side side)
{
	size_t at = strlen(trail);

	snprintf(trail + at, sizeof(trail) - at, "%s%s.%s%s", at ? " " : "", name, what,
		 side == FILTER_REQUEST ? ".q" : side == FILTER_RESPONSE ? ".s" : "");
}

#define NO_SIDE FILTER_SIDES

/* What the filter <name> returns from <callback> of <side>. */
static struct order {
	const char *name, *callback;
	enum filter_side side;
	enum filter_result result;
} orders[8];
static unsigned order_count;

static void order(const char *name, const char *callback, enum filter_side side,
		  enum filter_result result)
{
	orders[order_count++] = (struct order){ name, callback, side, result };
}

static enum filter_result ordered(const struct filter *f, const char *callback,
				  enum filter_side side)
{
	for (unsigned i = 0; i < order_count; i++)
		if (strcmp(orders[i].name, f->conf->name) == 0 && orders[i].side == side &&
		    strcmp(orders[i].callback, callback) == 0)
			return orders[i].result;
	return FILTER_NEXT;
}

/* How many bytes a filter of this name passes each time; SIZE_MAX: all. */
static size_t portion[256];
static bool doubles[256];      /* it passes each byte twice */
static bool is_blind;          /* filters watch no bytes */
static bool sets_length;
static bool refuses;           /* attach() refuses filters called "N" */
static unsigned timeouts;

static unsigned initial(const struct filter *f)
{
	return (unsigned char)f->conf->name[0];
}

static bool fake_attach(struct filter *f)
{
	if (refuses && f->conf->name[0] == 'N')
		return false;
	note(f->conf->name, "attach", NO_SIDE);
	return true;
}

static void fake_detach(struct filter *f)
{
	note(f->conf->name, "detach", NO_SIDE);
}

static void fake_timeout(struct filter *f)
{
	timeouts++;
}

static enum filter_result fake_begin(struct filter *f, enum filter_side side)
{
	note(f->conf->name, "begin", side);
	if (!is_blind)
		filter_watch(f, side);
	return ordered(f, "begin", side);
}

static void fake_finish(struct filter *f, enum filter_side side)
{
	note(f->conf->name, "finish", side);
}

static enum filter_result fake_before(struct filter *f, enum filter_point point)
{
	enum filter_side side = filter_point_side(point);

	return point == FILTER_POINT_HTTP_REQUEST_FE || point == FILTER_POINT_HTTP_RESPONSE
		? ordered(f, "before", side) : FILTER_NEXT;
}

/* What answers instead. */
static enum filter_result answer(struct filter *f, enum filter_result r)
{
	if (r != FILTER_REPLY)
		return r;
	stream_reply_begin(f->stream, 418, slice_none());
	stream_reply_body(f->stream, SLICE("no"), false);
	return r;
}

static enum filter_result fake_head(struct filter *f, enum filter_side side, struct http_msg *m)
{
	note(f->conf->name, "head", side);
	if (doubles[initial(f)] && !filter_set_chunked(m))
		return FILTER_ERROR;
	if (sets_length && !filter_set_length(m, 7))
		return FILTER_ERROR;
	return answer(f, ordered(f, "head", side));
}

static void pass_twice(struct block_queue *in, struct block_queue *out, size_t n)
{
	char c;

	for (; n; n--) {
		block_queue_peek(in, 0, &c, 1);
		block_queue_add_copy(out, slice_make(&c, 1));
		block_queue_add_copy(out, slice_make(&c, 1));
		block_queue_skip(in, 1);
	}
}

static enum filter_result fake_data(struct filter *f, enum filter_side side,
				    struct block_queue *in, struct block_queue *out, bool end)
{
	size_t n = portion[initial(f)] < in->len ? portion[initial(f)] : in->len;

	note(f->conf->name, end ? "last" : "data", side);
	if (doubles[initial(f)])
		pass_twice(in, out, n);
	else if (!block_queue_move_len(out, in, n))
		return FILTER_ERROR;
	return answer(f, ordered(f, "data", side));
}

static enum filter_result fake_end(struct filter *f, enum filter_side side)
{
	note(f->conf->name, "end", side);
	return ordered(f, "end", side);
}

static bool fake_parse(struct conf_line *l, struct filter_conf *conf)
{
	conf->name = conf_next(l);
	return conf->name || conf_error(l, 0, NULL, "no name");
}

static const struct filter_kind kinds[] = {
	{ .name = "fake", .group = "FAKE", .id = "fake filter", .state_size = 8,
	  .parse = fake_parse,
	  .attach = fake_attach, .detach = fake_detach, .timeout = fake_timeout,
	  .begin = fake_begin, .finish = fake_finish, .before = fake_before, .head = fake_head,
	  .data = fake_data, .end = fake_end },
	{ 0 }
};

/* --- a service that answers what a test gives it ---------------------------------------------- */

static struct service_call *call;
static char asked[4096];       /* the request's body */
static const char *parts[8];   /* of the answer's; NULL: it is whole */
static unsigned part_count, part_at;

static enum rule_result fake_chosen(struct stream *s, struct proxy *px, const void **arg)
{
	return px == s->fe ? RULE_SERVICE : RULE_CONTINUE;
}

static bool fake_start(struct service_call *c)
{
	size_t n = block_queue_peek(&c->body, 0, asked, sizeof(asked) - 1);

	call = c;
	asked[n] = '\0';
	return true;
}

static enum service_result fake_part(struct service_call *c, struct strbuf *out)
{
	if (part_at == part_count)
		return SERVICE_WAIT;
	if (!parts[part_at])
		return SERVICE_DONE;
	strbuf_add_str(out, parts[part_at++]);
	return SERVICE_MORE;
}

static const struct service_kind services[] = {
	{ .name = "fake", .body_max = 4000, .after_request = true, .chosen = fake_chosen,
	  .start = fake_start, .part = fake_part },
	{ 0 }
};

const struct module mod_fake = { .name = "fake", .filters = kinds, .services = services };

/* A request whose head is there. */
static void begin(const char *lines)
{
	trail[0] = asked[0] = '\0';
	memset(portion, 0xff, sizeof(portion));
	memset(doubles, 0, sizeof(doubles));
	order_count = part_count = part_at = timeouts = 0;
	is_blind = sets_length = refuses = false;
	call = NULL;
	scene_load(lines);
	scene_stream();
}

/* One end of a turn of the loop. */
static void turn(void)
{
	struct list todo;

	list_init(&todo);
	list_splice(&todo, &worker_self->hooks);
	while (!list_is_empty(&todo)) {
		struct turn_hook *h = list_first(&todo, struct turn_hook, link);

		list_remove(&h->link);
		h->run(h);
	}
}

/* More of the answer's body; NULL: that was all. */
static void answer_part(const char *bytes)
{
	parts[part_count++] = bytes;
	if (call && !is_over())
		service_continue(call);
	for (int i = 0; i < 4; i++)
		turn();
}

/* Ends what a test has left. */
static void finish(void)
{
	if (!is_over())
		stream_kill(stream, END_KILLED);
	ok(is_over(), "the stream ends");
}

static bool trail_has(const char *words)
{
	if (strstr(trail, words))
		return true;
	printf("# %s\n", trail);
	return false;
}

/* --- tests ------------------------------------------------------------------------------------ */

#define AB " filter fake A\n filter fake B\n"

static void test_order(void)
{
	begin(AB);
	run();
	is_str(trail, "A.attach B.attach A.begin.q B.begin.q A.head.q B.head.q A.data.q B.data.q "
	       "A.begin.s B.begin.s", "up to the body");
	trail[0] = '\0';
	give("hello");
	give(NULL);
	is_str(trail, "A.data.q B.data.q A.last.q B.last.q A.end.q B.end.q A.head.s B.head.s "
	       "A.data.s B.data.s", "the body, then the answer's head");
	is_str(asked, "hello", "the service has got all");
	trail[0] = '\0';
	answer_part("world");
	answer_part(NULL);
	is_str(client.got, "world", "and the client");
	is_str(trail, "A.data.s B.data.s A.last.s B.last.s A.end.s B.end.s A.finish.s B.finish.s "
	       "A.finish.q B.finish.q A.detach B.detach", "to the end");
	finish();
}

static void test_one_byte_at_a_time(void)
{
	static const char *const bytes[] = { "a", "b", "c", "d", NULL };

	begin(AB);
	for (unsigned i = 0; i < 5; i++)
		give(bytes[i]);
	is_str(asked, "abcd", "a request byte by byte");
	for (unsigned i = 0; i < 5; i++)
		answer_part(bytes[i]);
	is_str(client.got, "abcd", "an answer too");
	ok(client.whole, "whole");
	finish();
}

/* Waits in <callback> of <side> until it is told not to: nothing goes on meanwhile. */
static void wait_in(const char *callback, enum filter_side side, const char *next)
{
	begin(AB);
	order("A", callback, side, FILTER_WAIT);
	give("hello");
	give(NULL);
	answer_part("world");
	answer_part(NULL);
	ok(!strstr(trail, next), "%s of side %d waits: no %s", callback, side, next);
	ok(!is_over() && !client.whole, "neither the end");
	if (side == FILTER_RESPONSE && strcmp(callback, "end") != 0)
		ok(!client.heads, "nor the head");
	is_str(filter_waiting(stream), "fake filter", "it is known who waits");
	order_count = 0;
	run();
	for (int i = 0; i < 4; i++)
		turn();
	ok(trail_has(next), "then it goes on");
	is_str(asked, "hello", "with all of the request");
	is_str(client.got, "world", "and of the answer");
	finish();
}

static void test_waits(void)
{
	wait_in("begin", FILTER_REQUEST, "A.head.q");
	wait_in("before", FILTER_REQUEST, "A.head.q");
	wait_in("head", FILTER_REQUEST, "A.last.q");
	wait_in("end", FILTER_REQUEST, "B.end.q");
	wait_in("begin", FILTER_RESPONSE, "A.head.s");
	wait_in("before", FILTER_RESPONSE, "A.head.s");
	wait_in("head", FILTER_RESPONSE, "A.last.s");
	wait_in("end", FILTER_RESPONSE, "B.end.s");
}

static void test_client_leaves(void)
{
	begin(AB);
	order("B", "head", FILTER_REQUEST, FILTER_WAIT);
	run();
	stream->front.flags |= EP_ERROR;
	run();
	ok(is_over(), "who waits for a client that has left does not wait longer");
	ok(trail_has("A.detach B.detach"), "and is told");
}

static void test_holds(void)
{
	begin(AB);
	run();
	portion['A'] = 2;
	portion['B'] = 0;
	give("hello");
	is_int((long long)filters_held(stream, FILTER_REQUEST), 5, "all is held");
	is_int(stream->filters->first->in[FILTER_REQUEST].len, 3, "by the first one");
	is_int(stream->filters->first->next->in[FILTER_REQUEST].len, 2, "and by the second");
	give(NULL);
	ok(!call, "the end does not pass what is held");
	portion['B'] = SIZE_MAX;
	run();
	run();
	is_str(asked, "hello", "all has passed in its order");
	ok(call != NULL, "and then the end");
	finish();
}

/* What is held stops the source, above a bound. */
static void test_flow_control(void)
{
	static char much[64 * 1024];

	memset(much, 'x', sizeof(much) - 1);
	begin(AB);
	run();
	portion['A'] = 0;
	for (int i = 0; i < 9; i++)
		give(much);
	ok(stream->front.flags & EP_RX_BLOCKED, "the client is stopped");
	ok(filters_held(stream, FILTER_REQUEST) > ENDPOINT_TX_HIGH, "by what a filter holds");
	portion['A'] = SIZE_MAX;
	run();
	ok(!(stream->front.flags & EP_RX_BLOCKED), "until that is gone");
	is_int(client.resumed, 1, "and goes on");
	finish();
}

static void test_wakes(void)
{
	struct filter *f;

	begin(AB);
	run();
	portion['A'] = 1;
	give("abc");
	f = stream->filters->first;
	filter_wake(f);
	filter_wake(f);
	turn();
	is_int(f->in[FILTER_REQUEST].len, 1, "woken once at the end of the turn");
	filter_wake_ms(f, 50);
	filter_wake_ms(f, 20);
	filter_wake_ms(f, 90);
	is_int((long long)(stream->filters->timer.expire_ms - clock_now_ms()), 20,
	       "the earliest date counts");
	stream->filters->timer.expire_ms = TIMER_NEVER;
	stream->filters->timer.fire(&stream->filters->timer);
	is_int(f->in[FILTER_REQUEST].len, 0, "woken by the timer");
	is_int(timeouts, 2, "of which both are told");
	finish();
}

static void test_changes(void)
{
	begin(AB);
	doubles['A'] = true;
	give("ab");
	give(NULL);
	is_str(asked, "aabb", "bytes are added to a request");
	answer_part("xyz");
	answer_part(NULL);
	is_str(client.got, "xxyyzz", "and to an answer");
	is_int(client.body, HTTP_BODY_CHUNKED, "whose length is not known");
	finish();
	begin(AB);
	sets_length = true;
	give(NULL);
	is_int(client.body, HTTP_BODY_LENGTH, "it can be said");
	is_int((long long)client.length, 7, "what it is");
	finish();
}

static void test_lengths(void)
{
	struct arena arena;
	struct http_msg m;

	arena_init(&arena, 0);
	http_msg_init(&m, &arena);
	http_msg_add_field(&m, SLICE("content-length"), SLICE("12"));
	ok(filter_set_chunked(&m), "chunked");
	ok(!http_field_find(&m.fields, FIELD_CONTENT_LENGTH, SLICE("content-length")),
	   "a length is said no more");
	ok(http_field_find(&m.fields, FIELD_TRANSFER_ENCODING, SLICE("transfer-encoding")) &&
	   m.body == HTTP_BODY_CHUNKED, "chunks are");
	ok(filter_set_length(&m, 34), "a length");
	ok(slice_eq(http_field_find(&m.fields, FIELD_CONTENT_LENGTH,
				    SLICE("content-length"))->value, SLICE("34")), "is said");
	ok(!http_field_find(&m.fields, FIELD_TRANSFER_ENCODING, SLICE("transfer-encoding")),
	   "chunks no more");
	http_msg_fini(&m);
	arena_fini(&arena);
}

static void test_answers(void)
{
	begin(AB);
	order("A", "head", FILTER_REQUEST, FILTER_REPLY);
	give("hello");
	is_int(client.status, 418, "a filter answers a request");
	is_str(client.got, "no", "with a body");
	ok(!strstr(trail, "B.head.q"), "the next one does not see it");
	finish();
	begin(AB);
	order("A", "data", FILTER_REQUEST, FILTER_REPLY);
	give("hello");
	is_int(client.status, 418, "also when it has looked at the body");
	finish();
	begin(AB);
	order("B", "head", FILTER_RESPONSE, FILTER_REPLY);
	give(NULL);
	answer_part("world");
	is_int(client.status, 418, "or at the answer");
	is_str(client.got, "no", "of which nothing is sent");
	finish();
}

static void test_errors(void)
{
	begin(AB);
	order("A", "head", FILTER_REQUEST, FILTER_ERROR);
	give("hello");
	is_int(client.status, 400, "a request is refused");
	finish();
	begin(AB);
	order("A", "data", FILTER_REQUEST, FILTER_ERROR);
	give("hello");
	is_int(client.status, 400, "for its body");
	finish();
	begin(AB);
	order("A", "end", FILTER_REQUEST, FILTER_ERROR);
	give(NULL);
	is_int(client.status, 400, "or at its end");
	finish();
	begin(AB);
	order("A", "head", FILTER_RESPONSE, FILTER_ERROR);
	give(NULL);
	is_int(client.heads, 0, "an answer is cut off");
	ok(is_over(), "with its stream");
	begin(AB);
	give(NULL);
	answer_part("wor");
	order("A", "data", FILTER_RESPONSE, FILTER_ERROR);
	answer_part("ld");
	answer_part(NULL);
	ok(is_over() && !client.whole, "also amid its body");
}

static void test_unwatched(void)
{
	struct filter *f;

	begin(AB);
	is_blind = true;
	give("hello");
	give(NULL);
	is_str(asked, "hello", "bytes pass filters that watch none");
	ok(!strstr(trail, ".data") && !strstr(trail, ".end"), "which see none");
	ok(!filters_see(stream, FILTER_REQUEST), "they could be spliced");
	finish();
	begin(AB);
	portion['A'] = 1;
	give("hello");
	f = stream->filters->first;
	ok(filters_see(stream, FILTER_REQUEST), "those that are held could not");
	filter_unwatch(f, FILTER_REQUEST);
	give(" you");
	is_int((long long)filters_held(stream, FILTER_REQUEST), 0, "what was held passes");
	give(NULL);
	is_str(asked, "hello you", "in its order");
	finish();
}

static void test_not_attached(void)
{
	begin(" filter fake N\n filter fake A\n");
	refuses = true;
	run();
	ok(!strstr(trail, "N."), "what does not attach is not called");
	ok(trail_has("A.head.q"), "the others are");
	ok(!filter_of_stream(stream, filter_confs(session.fe)), "nor found");
	ok(filter_of_stream(stream, filter_confs(session.fe)->next) != NULL, "the others are");
	finish();
	ok(!strstr(trail, "N."), "not even at the end");
	ok(filter_conf_find(session.fe, kinds, "A") == filter_confs(session.fe)->next,
	   "a line is found by its name");
	ok(!filter_conf_find(session.fe, kinds, "B"), "another is not");
}

static void test_none(void)
{
	begin("");
	give("hello");
	give(NULL);
	ok(!stream->filters && !(stream->flags & STRM_FILTERED), "a stream without filters");
	is_str(asked, "hello", "works");
	finish();
}

int main(void)
{
	scene_init();
	test_order();
	test_one_byte_at_a_time();
	test_waits();
	test_client_leaves();
	test_holds();
	test_flow_control();
	test_wakes();
	test_changes();
	test_lengths();
	test_answers();
	test_errors();
	test_unwatched();
	test_not_attached();
	test_none();
	config_drop(&cfg);
	diag_list_fini(&diags);
	return done_testing();
}
