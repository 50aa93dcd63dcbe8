/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Streams from stage to stage, between a client and a server that are a few functions each: byte by
 * byte, and broken off in every way at every stage that waits.
 */
#include "scene.h"
#include "engine_priv.h"
#include "server_conn_priv.h"
#include "tap.h"

/* --- a server: an idle connection of a mux that does what the test says ---------------------- */

static struct {
	struct mux mux;
	struct server_conn sc;
	struct endpoint *ep;   /* NULL: no stream has it */
	char got[8192];        /* behind the head */
	unsigned heads, taken, left, resumed;
	bool whole;
} server;

static void server_send(struct endpoint *ep)
{
	size_t at = strlen(server.got);

	if (ep->flags & EP_TX_HEAD) {
		server.heads++;
		ep->flags &= ~EP_TX_HEAD;
	}
	at += block_queue_peek(&ep->tx, 0, server.got + at, sizeof(server.got) - at - 1);
	server.got[at] = '\0';
	block_queue_clear(&ep->tx);
	if (ep->flags & EP_TX_END) {
		ep->flags |= EP_TX_DONE;
		server.whole = true;
	}
}

static void server_resume(struct endpoint *ep)
{
	server.resumed++;
}

static void server_detach(struct endpoint *ep)
{
	server.left++;
	server.ep = ep->ops ? NULL : server.ep;
	ep->ops = NULL;
	idle_use_end(&server.sc);
}

static const struct endpoint_ops server_ops = {
	.name = "fake", .send = server_send, .resume = server_resume, .detach = server_detach,
	.conn = client_conn,
};

static bool server_attach(struct mux *m, struct endpoint *ep)
{
	server.taken++;
	server.ep = ep;
	ep->ops = &server_ops;
	ep->flags |= EP_CONNECTED | EP_REUSED;
	return true;
}

static void server_goodbye(struct mux *m)
{
}

static const struct mux_kind server_kind = {
	.name = "fake", .back_attach = server_attach, .back_close = server_goodbye,
};

static struct server *the_server(void)
{
	return server_find(proxy_find(cfg, "b", PROXY_BE), "s");
}

/* One idle connection. */
static void server_waits(void)
{
	struct server *srv = the_server();

	memset(&server, 0, sizeof(server));
	server.mux.kind = &server_kind;
	server.sc = (struct server_conn){
		.mux = &server.mux, .server = srv, .config = cfg,
		.key = server_conn_key(srv, slice_none()),
	};
	list_init(&server.sc.link);
	idle_put(idle_list_get(srv, true), &server.sc);
}

static void server_wakes(uint32_t flags)
{
	if (!server.ep)
		return;
	server.ep->flags |= flags;
	server.ep->user->wake(server.ep);
}

/* The head of its answer, whose body has no announced length. */
static void server_answers(unsigned status, enum http_body body)
{
	struct http_msg *m = server.ep->rx_head;

	m->flags = HTTP_MSG_RESPONSE | (status < 200 && body != HTTP_BODY_TUNNEL ?
					HTTP_MSG_INTERIM : 0);
	m->version = 11;
	m->body = body;
	if (!http_msg_set_status(m, status, slice_none()))
		abort();
	server_wakes(EP_RX_HEAD);
}

/* More of its body. */
static void server_gives(const char *bytes)
{
	if (server.ep)
		block_queue_add_copy(&server.ep->rx, slice_of(bytes));
	server_wakes(0);
}

static void server_adds_trailer(void)
{
	struct http_fields *t = &server.ep->rx_head->trailers;

	if (!http_fields_reserve(t, &stream->arena, 1))
		abort();
	t->list[t->count++] = (struct h1_field){ .name = SLICE("x-t"), .value = SLICE("1") };
}

/* --- a rule that waits ----------------------------------------------------------------------- */

static enum rule_result verdict; /* RULE_WAIT: not yet */

static bool fake_parse(struct conf_line *l, struct rule *r)
{
	return true;
}

static enum rule_result fake_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	return verdict;
}

static const struct rule_action actions[] = {
	{ .words = "fake", .rulesets = RULES_BIT(RULES_HTTP_REQUEST) |
				       RULES_BIT(RULES_HTTP_RESPONSE),
	  .parse = fake_parse, .run = fake_run },
	{ 0 }
};

const struct module mod_fake = { .name = "fake", .actions = actions };

/* --- a stream -------------------------------------------------------------------------------- */

#define BACKEND " default_backend b\nbackend b\n http-reuse always\n timeout queue 1s\n" \
	" timeout tarpit 1s\n"
#define SERVER " server s 127.0.0.1:1 maxconn 1\n"

static void begin(const char *frontend, const char *backend)
{
	char lines[512];

	snprintf(lines, sizeof(lines), "%s" BACKEND "%s" SERVER, frontend, backend);
	scene_load(lines);
	server_waits();
	scene_stream();
	verdict = RULE_WAIT;
}

static int stage(void)
{
	return is_over() ? STAGE_COUNT : stream->stage;
}

/* What a stream holds is given back when it has ended. */
static void check_nothing_is_held(const char *what)
{
	struct server *srv = the_server();

	ok(is_over() && !session.open_streams && server.taken == server.left && !server.ep &&
	   !idle_list_get(srv, true)->used && server_slot_take(srv), "%s: nothing is held", what);
	server_slot_release(srv);
	idle_leave(&server.sc);
}

/* --- one exchange ---------------------------------------------------------------------------- */

static void test_exchange(void)
{
	static const char body[] = "abcdef";

	begin("", "");
	run();
	is_int(stage(), STAGE_SEND, "the head goes to the server, whose answer is waited for");
	ok(server.heads == 1 && !*server.got && !server.whole, "it has got the head alone");
	for (unsigned i = 0; body[i]; i++) {
		give((char[]){ body[i], '\0' });
		if (strlen(server.got) != i + 1 || stage() != STAGE_SEND)
			break;
	}
	is_str(server.got, body, "each byte goes on when it comes");
	give(NULL);
	ok(server.whole && server.heads == 1, "so does the end");
	ok(!client.heads, "nothing was said to the client yet");
	server_answers(103, HTTP_BODY_NONE);
	ok(client.heads == 1 && client.status == 103 && stage() == STAGE_SEND,
	   "an interim answer goes on, the stage stays");
	is_int(server.resumed, 1, "and the server may go on");
	server_answers(200, HTTP_BODY_CHUNKED);
	ok(client.heads == 2 && client.status == 200 && stage() == STAGE_FORWARD, "then the head");
	for (unsigned i = 0; body[i]; i++) {
		server_gives((char[]){ body[i], '\0' });
		if (strlen(client.got) != i + 1 || stage() != STAGE_FORWARD)
			break;
	}
	is_str(client.got, body, "and each byte of the body");
	ok(!client.whole, "which has no end yet");
	server_adds_trailer();
	server_wakes(0);
	ok(!client.whole && client.trailers == 0, "trailers alone are no end");
	server_wakes(EP_RX_END);
	ok(client.whole && client.trailers == 1, "they are there when the end comes");
	check_nothing_is_held("a whole exchange");
	is_int(client.end, END_NONE, "and it is a normal end");
}

/* --- broken off ------------------------------------------------------------------------------ */

/* Where streams wait. */
enum point {
	IN_BODY,          /* option http-buffer-request: for the rest of the body */
	IN_RULE, IN_TARPIT, IN_QUEUE,
	IN_UPLOAD,        /* a part of the body is at the server */
	IN_ANSWER,        /* the request is at the server as a whole */
	IN_ANSWER_RULE, IN_DOWNLOAD, IN_TUNNEL,
};

/* What happens there. */
enum event { CLIENT_GONE, CLIENT_CUT, CLIENT_SHUT, CLIENT_BAD, SERVER_GONE, SERVER_CUT, SERVER_BAD,
	     TIME_PASSES, KILL };

static const char *const point_names[] = {
	"body", "rule", "tarpit", "queue", "upload", "answer", "rule of the answer", "download",
	"tunnel",
};
static const char *const event_names[] = {
	"the client is gone", "the client cuts its request", "the client half-closes",
	"the client breaks the protocol", "the server is gone", "the server cuts its answer",
	"the server breaks the protocol", "time passes", "an administrator",
};

static void go_to(enum point p)
{
	static const struct { const char *frontend, *backend; enum stream_stage stage; } ways[] = {
		[IN_BODY] = { " option http-buffer-request\n", "", STAGE_BODY_FE },
		[IN_RULE] = { " http-request fake\n", "", STAGE_HTTP_REQUEST_FE },
		[IN_TARPIT] = { " http-request fake\n", "", STAGE_TARPIT },
		[IN_QUEUE] = { "", "", STAGE_QUEUE },
		[IN_UPLOAD] = { "", "", STAGE_SEND },
		[IN_ANSWER] = { "", "", STAGE_SEND },
		[IN_ANSWER_RULE] = { "", " http-response fake\n", STAGE_RESPONSE_RULES_BE },
		[IN_DOWNLOAD] = { "", "", STAGE_FORWARD },
		[IN_TUNNEL] = { "", "", STAGE_FORWARD },
	};

	begin(ways[p].frontend, ways[p].backend);
	if (p == IN_TARPIT)
		verdict = RULE_TARPIT;
	if (p == IN_QUEUE)
		server_slot_take(the_server());
	run();
	give("some");
	if (p >= IN_ANSWER)
		give(NULL);
	if (p > IN_ANSWER)
		server_answers(p == IN_TUNNEL ? 101 : 200,
			       p == IN_TUNNEL ? HTTP_BODY_TUNNEL : HTTP_BODY_CHUNKED);
	if (p >= IN_DOWNLOAD)
		server_gives("some");
	if (stage() != (int)ways[p].stage)
		printf("# %s: in stage %d\n", point_names[p], stage());
	ok(stage() == (int)ways[p].stage, "a stream waits: %s", point_names[p]);
}

static void happen(enum event e)
{
	static const uint32_t flags[] = {
		[CLIENT_GONE] = EP_ERROR, [CLIENT_CUT] = EP_RX_ABORT, [CLIENT_SHUT] = EP_PEER_SHUT,
		[CLIENT_BAD] = EP_RX_BAD, [SERVER_GONE] = EP_ERROR, [SERVER_CUT] = EP_RX_ABORT,
		[SERVER_BAD] = EP_RX_BAD,
	};

	switch (e) {
	case TIME_PASSES:
		clock_thread_now_ns += 3600 * NS_PER_SEC;
		if (stream->timer.expire_ms != TIMER_NEVER)
			stream->timer.fire(&stream->timer);
		break;
	case KILL:
		stream_kill(stream, END_KILLED);
		break;
	case SERVER_GONE:
	case SERVER_CUT:
	case SERVER_BAD:
		server_wakes(flags[e]);
		break;
	default:
		stream->front.flags |= flags[e];
		stream->front.status = e == CLIENT_BAD ? 413 : 0;
		run();
	}
}

/* What comes of it: why the stream ends, and the status that the client has got. Where nothing
 * stands it goes on.
 */
static const struct outcome {
	enum stream_end end;
	unsigned status;
} outcomes[IN_TUNNEL + 1][KILL + 1] = {
	[IN_BODY] = {
		[CLIENT_GONE] = { END_ASSIGN_CLIENT_LEFT, 400 },
		[CLIENT_CUT] = { END_ASSIGN_CLIENT_LEFT, 400 },
		[CLIENT_BAD] = { END_BODY_BAD, 413 }, [TIME_PASSES] = { END_BODY_TIMEOUT, 408 },
		[KILL] = { END_KILLED, 0 },
	},
	[IN_RULE] = {
		[CLIENT_GONE] = { END_RULE_CLIENT_LEFT, 400 }, [KILL] = { END_KILLED, 0 },
	},
	[IN_TARPIT] = {
		[CLIENT_GONE] = { END_RULE_TARPIT, 403 }, [CLIENT_SHUT] = { END_RULE_TARPIT, 403 },
		[TIME_PASSES] = { END_RULE_TARPIT, 403 }, [KILL] = { END_KILLED, 0 },
	},
	[IN_QUEUE] = {
		[CLIENT_GONE] = { END_QUEUE_CLIENT_LEFT, 0 },
		[CLIENT_CUT] = { END_QUEUE_CLIENT_LEFT, 0 },
		[CLIENT_SHUT] = { END_QUEUE_CLIENT_LEFT, 0 },
		[TIME_PASSES] = { END_QUEUE_TIMEOUT, 503 }, [KILL] = { END_KILLED, 0 },
	},
	[IN_UPLOAD] = {
		[CLIENT_GONE] = { END_CLIENT_GONE, 400 }, [CLIENT_CUT] = { END_CLIENT_LEFT, 400 },
		[CLIENT_SHUT] = { END_CLIENT_LEFT, 400 }, [CLIENT_BAD] = { END_UPLOAD_BAD, 413 },
		[SERVER_GONE] = { END_RESPONSE_CUT, 502 },
		[SERVER_CUT] = { END_RESPONSE_CUT, 502 }, [SERVER_BAD] = { END_RESPONSE_BAD, 502 },
		[TIME_PASSES] = { END_UPLOAD_TIMEOUT, 400 }, [KILL] = { END_KILLED, 0 },
	},
	[IN_ANSWER] = {
		[CLIENT_GONE] = { END_CLIENT_GONE, 400 }, [CLIENT_CUT] = { END_CLIENT_LEFT, 400 },
		[CLIENT_SHUT] = { END_CLIENT_LEFT, 400 }, [CLIENT_BAD] = { END_UPLOAD_BAD, 413 },
		[SERVER_GONE] = { END_RESPONSE_CUT, 502 },
		[SERVER_CUT] = { END_RESPONSE_CUT, 502 }, [SERVER_BAD] = { END_RESPONSE_BAD, 502 },
		[TIME_PASSES] = { END_RESPONSE_TIMEOUT, 504 }, [KILL] = { END_KILLED, 0 },
	},
	[IN_ANSWER_RULE] = {
		[CLIENT_GONE] = { END_RULES_CLIENT_GONE, 0 }, [KILL] = { END_KILLED, 0 },
	},
	[IN_DOWNLOAD] = {
		[CLIENT_GONE] = { END_DATA_CLIENT_GONE, 200 }, [CLIENT_CUT] = { END_DATA_CUT, 200 },
		[CLIENT_BAD] = { END_DATA_BAD, 200 },
		[SERVER_GONE] = { END_RESPONSE_DATA_CUT, 200 },
		[SERVER_CUT] = { END_RESPONSE_DATA_CUT, 200 },
		[SERVER_BAD] = { END_RESPONSE_DATA_BAD, 200 },
		[TIME_PASSES] = { END_RESPONSE_DATA_TIMEOUT, 200 }, [KILL] = { END_KILLED, 200 },
	},
	[IN_TUNNEL] = {
		[CLIENT_GONE] = { END_DATA_CLIENT_GONE, 101 }, [CLIENT_CUT] = { END_DATA_CUT, 101 },
		[CLIENT_BAD] = { END_DATA_BAD, 101 },
		[SERVER_GONE] = { END_RESPONSE_DATA_CUT, 101 },
		[SERVER_CUT] = { END_RESPONSE_DATA_CUT, 101 },
		[SERVER_BAD] = { END_RESPONSE_DATA_BAD, 101 },
		[TIME_PASSES] = { END_DATA_TIMEOUT, 101 }, [KILL] = { END_KILLED, 101 },
	},
};

static void test_broken_off(enum point p, enum event e)
{
	const struct outcome *o = &outcomes[p][e];
	char name[100];

	snprintf(name, sizeof(name), "%s: %s", point_names[p], event_names[e]);
	go_to(p);
	happen(e);
	if (o->end) {
		is_str(is_over() ? stream_ends[client.end].name : "none", stream_ends[o->end].name,
		       name);
		is_int(client.status, o->status, name);
	} else {
		ok(!is_over(), "%s: it goes on", name);
	}
	if (p == IN_QUEUE)
		server_slot_release(the_server());
	if (!is_over())
		stream_kill(stream, END_KILLED);
	check_nothing_is_held(name);
}

/* --- going on -------------------------------------------------------------------------------- */

static void end_well(const char *name)
{
	give(NULL);
	if (!client.heads)
		server_answers(200, HTTP_BODY_CHUNKED);
	server_wakes(EP_RX_END);
	is_str(server.got, "some", name);
	ok(client.whole && client.status == 200 && is_over() && client.end == END_NONE,
	   "%s: it ends well", name);
	check_nothing_is_held(name);
}

static void test_goes_on(void)
{
	go_to(IN_BODY);
	end_well("the body came");
	go_to(IN_RULE);
	verdict = RULE_CONTINUE;
	run();
	end_well("the rule has what it waited for");
	go_to(IN_QUEUE);
	server_slot_release(the_server());
	run();
	end_well("the queue grants a slot");
	go_to(IN_ANSWER_RULE);
	server_gives("x");
	is_str(client.got, "", "what comes meanwhile is kept");
	verdict = RULE_CONTINUE;
	run();
	is_str(client.got, "x", "and goes on behind the head");
	end_well("the rule of the answer goes on");
}

/* An answer before the request is whole. */
static void test_early_answer(void)
{
	go_to(IN_UPLOAD);
	server_answers(200, HTTP_BODY_CHUNKED);
	server_gives("early");
	ok(client.heads == 1 && strcmp(client.got, "early") == 0, "it goes on immediately");
	give("more");
	is_str(server.got, "somemore", "so does what comes of the request");
	server_wakes(EP_RX_END);
	ok(client.whole && is_over(), "the end of the answer is the end of the stream");
	check_nothing_is_held("an early answer");
}

/* Each side may close its half of a tunnel. */
static void test_half_closed(void)
{
	go_to(IN_TUNNEL);
	server.whole = false;
	give(NULL);
	ok(server.whole && !client.whole && !is_over(), "the client closes its half");
	server_gives("more");
	is_str(client.got, "somemore", "the other one still carries bytes");
	server_wakes(EP_RX_END);
	ok(client.whole && is_over() && client.end == END_NONE, "until it is closed as well");
	check_nothing_is_held("a tunnel");
	go_to(IN_TUNNEL);
	server.whole = false;
	server_wakes(EP_RX_END);
	ok(client.whole && !server.whole && !is_over(), "the server closes its half");
	give("more");
	is_str(server.got, "somemore", "the other one still carries bytes");
	give(NULL);
	ok(server.whole && is_over() && client.end == END_NONE, "until it is closed as well");
	check_nothing_is_held("a tunnel");
}

/* A side that takes nothing stops the other one. */
static void test_slow_sides(void)
{
	go_to(IN_DOWNLOAD);
	stream->front.flags |= EP_TX_FULL;
	run();
	ok(server.ep->flags & EP_RX_BLOCKED, "a slow client stops the server");
	server.resumed = 0;
	stream->front.flags &= ~EP_TX_FULL;
	run();
	ok(!(server.ep->flags & EP_RX_BLOCKED) && server.resumed == 1, "until it has read");
	end_well("a slow client");
	go_to(IN_UPLOAD);
	server_wakes(EP_TX_FULL);
	ok(stream->front.flags & EP_RX_BLOCKED, "a slow server stops the client");
	server.ep->flags &= ~EP_TX_FULL;
	server_wakes(0);
	ok(!(stream->front.flags & EP_RX_BLOCKED) && client.resumed, "until it has read");
	end_well("a slow server");
}

/* Once the answer is taken nothing leads back to a server; an end is never far. */
static void test_moves(void)
{
	uint32_t servers = 1u << STAGE_ASSIGN | 1u << STAGE_QUEUE | 1u << STAGE_CONNECT |
			   1u << STAGE_CONNECTING | 1u << STAGE_TURN_AROUND | 1u << STAGE_SEND;
	unsigned back = 0, endless = 0;

	for (unsigned i = 0; i < STAGE_COUNT; i++) {
		back += i > STAGE_RESPONSE && stream_moves[i] & servers;
		endless += !(stream_moves[i] >> STAGE_END & 1);
	}
	is_int(back, 0, "no stage behind RESPONSE leads to a server");
	is_int(endless, 0, "each stage may lead to END");
}

int main(void)
{
	server_conn_register();
	scene_init();
	if (!server_conn_init() || !server_conn_thread_init())
		abort();
	test_exchange();
	for (unsigned p = IN_BODY; p <= IN_TUNNEL; p++)
		for (unsigned e = CLIENT_GONE; e <= KILL; e++)
			test_broken_off((enum point)p, (enum event)e);
	test_goes_on();
	test_early_answer();
	test_half_closed();
	test_slow_sides();
	config_drop(&cfg);
	diag_list_fini(&diags);
	test_moves();
	return done_testing();
}
