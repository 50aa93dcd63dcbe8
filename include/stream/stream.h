/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stream.h - one request and its answer, or one TCP connection, between two endpoints
 *
 * Purpose: takes what the front mux received through a table of stages: rules, switching,
 *          balancing, queue, connect, answer, forwarding, log. Each stage says next, wait or end;
 *          what waits has a named timeout and is entered again at its position.
 * Owns   : its two endpoints (members), both heads, an arena for text that dies with it, a slot of
 *          its server.
 * Threads: that of its session.
 * Errors : why a stream ended is a row of stream/end.h, with a cause (what ended the stream) and a
 *          phase (when): the log's termination code.
 */
#ifndef STREAM_STREAM_H
#define STREAM_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/slot.h"
#include "core/timer.h"
#include "expr/vars.h"
#include "http/msg.h"
#include "mux/endpoint.h"
#include "proxy/queue.h"
#include "proxy/server.h"
#include "stream/end.h"
#include "stream/session.h"

struct balance_avoid;
struct filters;
struct pipe;
struct rule;
struct server_addr;
struct service_kind;
struct stream_wait;
struct task;
struct trail_try;

/* X(name, step, character): the stages in their order; the character is the log's second: what the
 * stream waited for when it ended. Tunnels and TCP skip those that are not theirs.
 */
#define STREAM_STAGES(X) \
	X(BEGIN, stage_begin, 'R')                 /* counts, first checks */ \
	X(TCP_CONTENT_FE, stage_tcp_content_fe, 'R') \
	X(MONITOR, stage_monitor, 'R')             /* monitor-uri */ \
	X(BODY_FE, stage_body_fe, 'R')             /* option http-buffer-request */ \
	X(HTTP_REQUEST_FE, stage_http_request_fe, 'R') \
	X(SWITCH, stage_switch, 'R')               /* which backend */ \
	X(TCP_CONTENT_BE, stage_tcp_content_be, 'R') \
	X(BODY_BE, stage_body_be, 'R') \
	X(HTTP_REQUEST_BE, stage_http_request_be, 'R') \
	X(TARPIT, stage_tarpit, 'R') \
	X(UPGRADE, stage_upgrade, 'R')             /* bytes that are to be HTTP from now on */ \
	X(PREPARE, stage_prepare, 'R')             /* forwardfor, framing of the request */ \
	X(FILTER_REQUEST, stage_filter_request, 'R') /* only where there are filters */ \
	X(ASSIGN, stage_assign, 'Q')               /* which server, a slot of it */ \
	X(QUEUE, stage_queue, 'Q') \
	X(CONNECT, stage_connect, 'C')             /* a kept connection or a new one */ \
	X(CONNECTING, stage_connecting, 'C') \
	X(TURN_AROUND, stage_turn_around, 'C')     /* pause before the next try */ \
	X(TCP_RESPONSE, stage_tcp_response, 'D')   /* tcp-response content */ \
	X(SEND, stage_send, 'H')                   /* the request, until an answer is there */ \
	X(RESPONSE, stage_response, 'H')           /* the answer's head */ \
	X(RESPONSE_RULES_BE, stage_response_rules_be, 'H') \
	X(RESPONSE_RULES_FE, stage_response_rules_fe, 'H') \
	X(FILTER_RESPONSE, stage_filter_response, 'H') /* only where there are filters */ \
	X(REPLY, stage_reply, 'D')                 /* send the head: the server's or ours */ \
	X(FORWARD, stage_forward, 'D') \
	X(END, stage_end, '-')

enum stream_stage {
#define X(name, fn, c) STAGE_##name,
	STREAM_STAGES(X)
#undef X
	STAGE_COUNT
};
_Static_assert(STAGE_COUNT < 32, "a bit for each stage");

/* A connection to a server that the stream has left. */
struct stream_left {
	struct addr source;          /* our address */
	struct endpoint_facts facts;
};

enum step { STEP_NEXT, STEP_AGAIN, STEP_WAIT, STEP_END };

enum stream_flags {
	STRM_HTTP = 1 << 0,
	STRM_RUNNING = 1 << 1,       /* a frame of the driver is below on the stack */
	STRM_AGAIN = 1 << 2,         /* something changed meanwhile */
	STRM_SLOT = 1 << 3,          /* holds a slot of <server> */
	STRM_BE_COUNTED = 1 << 4,
	STRM_LOCAL_REPLY = 1 << 5,   /* res is ours: page, return, redirect */
	STRM_HEAD_SENT = 1 << 6,     /* a final response head went to the client */
	STRM_LOGGED = 1 << 7,
	STRM_TUNNEL = 1 << 8,
	STRM_REDISPATCHED = 1 << 9,
	STRM_CONN_TRIED = 1 << 10,   /* at least one connection attempt was made */
	/* head and body of the request are still here: can be sent again */
	STRM_REQ_WHOLE = 1 << 11,
	STRM_TIMED_OUT = 1 << 12,    /* the timer has fired; the stage looks */
	STRM_SERVER_CLOSE = 1 << 13, /* ask the server to close */
	STRM_CLIENT_CLOSE = 1 << 14, /* close the client's connection after this */
	STRM_FILTERED = 1 << 15,     /* <filters> is set */
	STRM_TRACED = 1 << 16,       /* it is traced: stream/tracing.h */
	STRM_FORCED_SERVER = 1 << 17,/* the server was chosen by persistence or a rule */
	STRM_REUSED_CONN = 1 << 18,
	STRM_TARPIT = 1 << 19,
	STRM_SILENT = 1 << 20,       /* end without an answer */
	STRM_INSPECT = 1 << 21,      /* inspect-delay has begun */
	STRM_TOLD = 1 << 22,         /* it is traced, and servers are told so */
	STRM_RECORDED = 1 << 23,     /* it is traced, and recorded however it ends */
	STRM_NO_REUSE = 1 << 25,     /* the next try takes a new connection */
	STRM_ASKED = 1 << 26,        /* another thread was asked for an idle connection */
	STRM_NO_REQUEST_TIME = 1 << 28, /* the log has no %TR: a rule kept or ended the request */
	STRM_LEFT_SERVER = 1 << 29,  /* a connection failed; the next server is counted then */
	STRM_IN_BUDGET = 1 << 30,    /* it is one of those that the retry budget counts */
	STRM_NO_L7_RETRY = 1 << 27,  /* disable-l7-retry: only failed connections are tried again */
	STRM_SENT_EARLY = 1u << 31,  /* the connection's TLS handshake began behind the request */
};

/* Dates in monotonic ns; 0: not reached. */
struct stream_times {
	uint64_t begin;      /* first byte of the request, or accept */
	uint64_t idle_from;  /* end of the previous request on this connection, or accept */
	uint64_t request;    /* head complete */
	uint64_t queued;     /* left the queue */
	uint64_t connected;  /* connection to the server stands */
	uint64_t data;       /* response head (first bytes in TCP) */
	uint64_t close;      /* all sent */
	uint64_t wall_us;    /* date of the log: accept, or begin of the request */
};

enum stream_timeout {
	STREAM_TIMEOUT_CLIENT, STREAM_TIMEOUT_SERVER, STREAM_TIMEOUT_TUNNEL,
	STREAM_TIMEOUT_CONNECT, STREAM_TIMEOUT_QUEUE, STREAM_TIMEOUT_TARPIT, STREAM_TIMEOUTS
};

/* What rules set for one stream. Made when one does, in the stream's arena. */
struct stream_overrides {
	struct addr src, dst;                /* ADDR_NONE: the session's */
	int64_t timeout_ms[STREAM_TIMEOUTS]; /* 0: the proxy's */
	bool has_mark, has_tos;              /* of connections to servers */
	uint32_t mark;
	uint8_t tos;
	uint32_t hold_bytes;                 /* of bodies that wait; 0: a buffer */
	struct http_msg *hints;              /* interim answer being made by early-hint */
	struct answer_field *answer_fields;  /* that rules of the request add to the answer */
};

/* A field that the answer will have: in the stream's arena. */
struct answer_field {
	struct answer_field *next;
	struct slice name, value;
};

/* http-request set-log-level silent: no line. */
#define LOG_LEVEL_SILENT 254

/* So many of the rules that applied are remembered: the last ones. */
#define TRAIL_RULES 16
/* In the number of a remembered rule (rule_list.h): it is the backend's. */
#define TRAIL_OF_BACKEND (1u << 31)

struct stream {
	struct endpoint front, back;
	struct list thread_link;       /* in the thread's list, for show sess */
	struct session *sess;
	struct config *config;         /* borrowed: the session holds it, see session_past */
	struct listener_conf *listener;/* same */
	struct proxy *fe, *be;         /* be: fe until one is chosen */
	struct server *server;         /* borrowed of the generation */
	const struct service_kind *service; /* what answers instead of a server, or NULL */
	uint32_t flags;                /* enum stream_flags */
	uint8_t stage;                 /* enum stream_stage */
	uint8_t end;                   /* enum stream_end, the first one said */
	uint8_t end_phase;             /* character of the phase at that time */
	bool early_field;              /* the request's Early-Data is ours */
	struct {
		uint16_t status;       /* of the answer, for log and counters; 0 none */
		uint16_t asked;        /* of the rule whose page has another one; 0: none */
		uint16_t server;       /* of the server's answer, whatever became of it; 0: none */
		int connection;        /* 1 + errno of the last one to a server; 0: none */
		struct server_conn *from; /* while <back> is attached, to a server: borrowed */
		uint16_t interims;     /* 1xx answers that the server has sent */
		uint8_t handshake;     /* of that connection: 0, or why it failed (conn_error.h) */
		uint32_t tls_error;    /* and OpenSSL's number */
		struct stream_left *left; /* what the log tells of one that was left; or NULL */
	} answer;
	struct {
		uint16_t left, count;
		bool is_moved;         /* it was redispatched, and to another server */
		struct balance_avoid *tried; /* those that it was redispatched from; NULL: none */
	} retry;
	struct {
		uint32_t in_session;
		uint32_t in_process;   /* (%rt); in order per thread */
		uint64_t on_thread;    /* its list is in this order */
		struct slice text;     /* unique-id-format, once it was asked for */
	} id;
	struct {
		uint32_t count;        /* how often the driver was entered */
		uint32_t idle_stages;  /* bits of those that are passed over, see settings.c */
		/* while its thread profiles: time in it and between events and their calls; when
		 * the measured call in progress began, 0: none
		 */
		uint64_t cpu_ns, latency_ns, began_ns;
	} run;
	struct http_msg req, res;
	struct timer timer;
	struct {
		uint64_t stage_ms;     /* the stage's own deadline; TIMER_NEVER none */
		uint64_t client_ms, server_ms; /* inactivity deadlines while forwarding */
		uint64_t count_ms;     /* option contstats: when bytes are counted next */
	} due;
	struct stream_counted {      /* bytes that are in the counters */
		uint64_t in, out;      /* from the client; for it, also those of local replies */
		uint64_t req_out;      /* sent to servers */
		uint64_t res_in;       /* from servers */
		uint64_t res_out;      /* sent to the client */
		uint64_t tracked_out;  /* from servers, in stick tables */
	} counted;
	struct stream_times t;
	struct rule_state {            /* where a rule list waits */
		const struct rule *rule;
		void *data;            /* of the action that waits */
		bool in_action;        /* else its condition waits */
		bool lax;              /* strict-mode off: a failed rewrite is no error */
	} rule;
	struct stream_overrides *overrides; /* NULL: no rule has set any */
	struct expr_ctx expr;
	struct {
		struct vars txn, message; /* scopes txn, req then res */
	} vars;
	struct {
		struct pipe *req, *res;
	} pipes;
	struct {                       /* an answer of our own */
		struct block_queue body;
		uint64_t bytes;        /* as they count */
	} local;
	struct block_queue replay;     /* request body kept for another try */
	struct {
		struct queue_waiter waiter;
		struct task *task;     /* made when it must queue */
		uint32_t ahead, be_ahead; /* places in queues (%sq, %bq) */
		int16_t priority_class;
		int32_t priority_offset_ms;
	} queue;
	struct stream_wait *waits;     /* for what is outside: stream/wait.h; NULL: nothing */
	const struct rule *last_rule;  /* which rule decided, for "which rule did this" */
	struct {
		/* the request line as received; none: bad request */
		struct slice method, uri, version;
		unsigned fe_conn, be_conn, srv_conn, act_conn; /* at log time */
		uint32_t number;       /* of the frontend's lines with %lc, from 1; 0: none */
		uint8_t step;          /* enum log_step: when the line being written is (%OG) */
		uint8_t level;         /* rule set-log-level; 255: unset; LOG_LEVEL_SILENT */
	} log;
	struct arena arena;            /* text that dies with the stream */
	struct filters *filters;       /* see filter.h; NULL: none, and no STRM_FILTERED */
	char area[1520] __attribute__((aligned(16))); /* the arena's first piece */
	struct {                       /* the way that it took: stream/trail.h; not all cleared */
		struct trail_try *tries; /* given up for another one, the last one first */
		uint32_t rules;        /* that applied so far */
		uint32_t rules_at_end; /* of them, when the end was said */
		uint8_t stage;         /* enum stream_stage at that time */
		void *trace;           /* with STRM_TRACED: the tracer's, or NULL and */
		uint64_t trace_id;     /* ... what it can be made of */
		uint32_t numbers[TRAIL_RULES]; /* marks of the last rules: a ring */
	} trail;
	/* slots follow */
};

/* Where modules keep what is theirs of a stream (class SLOT_STREAM). */
struct slot_area *stream_slots(struct stream *s);

static inline struct stream *stream_of_front(struct endpoint *ep)
{
	return (struct stream *)ep;
}

static inline struct stream *stream_of_back(struct endpoint *ep)
{
	return (struct stream *)((char *)ep - offsetof(struct stream, back));
}

/* The stream whose back endpoint this is; NULL: the endpoint is no stream's but a check's, for
 * instance.
 */
struct stream *stream_of_endpoint(struct endpoint *ep);
/* What the mux of <ep>, the front or the back of <s>, tells, or what holds for one that carries a
 * single stream. Of a back that was left: what was kept of it. False: there is none.
 */
bool stream_mux_facts(const struct stream *s, const struct endpoint *ep,
		      struct endpoint_facts *out);

/* The overrides, made on first use; NULL: no memory. */
struct stream_overrides *stream_overrides_get(struct stream *s);
/* Whatever the answer will be, it gets this field in the place of any of its name (in lower case),
 * before http-after-response sees it. Both texts live as long as the stream. False: no memory.
 */
bool stream_answer_field(struct stream *s, struct slice name, struct slice value);
/* Addresses of the client and of where it connected to, as rules of this stream see them. */
const struct addr *stream_src(struct stream *s);
const struct addr *stream_dst(struct stream *s);
/* The addresses as the stream, or else the session, of a context has them; NULL: neither. */
const struct addr *context_src(const struct expr_ctx *ctx);
const struct addr *context_dst(const struct expr_ctx *ctx);
/* What the proxy's lines say, in ms; 0: none. `timeout connect` stands for those of queues and
 * tarpits that are not given.
 */
int64_t proxy_timeout_ms(const struct proxy *px, enum stream_timeout which);
/* The timeout in force, in ms; 0: none. */
int64_t stream_timeout_ms(const struct stream *s, enum stream_timeout which);
/* Another backend is chosen: what was set for the one before does not hold. */
void stream_forget_backend_overrides(struct stream *s);

/* The evaluation context, ready for the side: EXPR_DIR_REQUEST or EXPR_DIR_RESPONSE (| EXPR_FINAL).
 */
struct expr_ctx *stream_expr(struct stream *s, unsigned flags);

/* A rule's number with this is its mark in the trail of a stream. */
static inline uint32_t stream_rule_side(const struct stream *s, const struct proxy *px)
{
	return px == s->fe ? 0 : TRAIL_OF_BACKEND;
}

/* Remembers that a rule applied. */
static inline void stream_note_rule(struct stream *s, uint32_t mark)
{
	s->trail.numbers[s->trail.rules++ % TRAIL_RULES] = mark;
}

/* Notes why the stream ends; the first end wins. END_NONE is not to be said. */
void stream_set_end(struct stream *s, enum stream_end why);

/* What ended the stream; CAUSE_NONE: the end is normal, or has not come. */
static inline enum stream_cause stream_cause(const struct stream *s)
{
	return (enum stream_cause)stream_ends[s->end].cause;
}

/* Counts 1 of what frontends and backends have in common: for the frontend, for its listener where
 * that has figures of its own, and for the backend once there is one.
 */
void stream_count_request(const struct stream *s, unsigned which);

/* Ends all streams of <srv>, of every thread, soon, as an administrator does. From any thread that
 * works. False: no memory.
 */
bool streams_shutdown_server(struct server *srv);
/* As streams_shutdown_server(), for all backup servers of <be>. */
bool streams_shutdown_backups(struct proxy *be);

/* --- for actions, fetches and commands --------------------------------------------------------
 * On the stream's thread.
 */

/* A stream of <sess>, its front endpoint not attached yet. NULL: no memory. */
struct stream *stream_new(struct session *sess, bool http);
/* Frees a stream that never ran and has no endpoint. */
void stream_abandon(struct stream *s);
/* The server as logs, fetches and rules see it: NULL as well where the backend's `dispatch` or
 * `option transparent` stands in its place.
 */
static inline struct server *stream_server(const struct stream *s)
{
	return s->server && !s->server->is_direct ? s->server : NULL;
}
/* Its CPU time so far, the call in progress included, of the time in which its thread profiled. */
uint64_t stream_cpu_ns(const struct stream *s);
/* Ends it immediately, from outside its stages, on its thread: its client is cut off. Frees it. */
void stream_kill(struct stream *s, enum stream_end why);
/* The serial of the newest stream of the calling thread. */
uint64_t stream_last_serial(void);
/* Sets a deadline for the current stage, in ms from now; 0: none. */
void stream_wait_ms(struct stream *s, int64_t ms);
/* Has the current stage's deadline passed? */
bool stream_is_late(const struct stream *s);
/* What unique-id-format makes, built on first use; slice_none(): no format. */
struct slice stream_unique_id(struct stream *s);
/* Answers 100 to a client that waits before it sends its body, once. */
void stream_send_continue(struct stream *s);
/* Sends an answer that is not the final one (1xx). */
void stream_send_interim(struct stream *s, struct http_msg *m);
/* Bytes of the answer so far, the server's or our own, as logs and statistics count them. */
uint64_t stream_bytes_out(const struct stream *s);
/* The calling thread's streams, in the order of their serials. */
extern __thread struct list stream_list_of_thread;
/* Where a connection of <s> to its server goes (server_want.c). False: nowhere. */
bool server_target(struct stream *s, struct server_addr *to);

/* --- local answers: for actions ---------------------------------------------------------------
 * An action builds the answer in s->res and returns RULE_REPLY; the engine sends it through the
 * http-after-response rules. Texts are copied unless they are of the configuration.
 */

/* Starts an answer: status and reason (slice_none(): the standard one). */
void stream_reply_begin(struct stream *s, unsigned status, struct slice reason);
/* Adds the body; sets content-length. <copy> false: the bytes outlive the stream. False: no memory.
 */
bool stream_reply_body(struct stream *s, struct slice body, bool copy);
/* The error page in force for <status> (backend's, else frontend's). False: silent: close. */
bool stream_reply_page(struct stream *s, unsigned status);
/* Does the client take us for its proxy? Then 407 is what it understands. */
bool stream_is_for_proxy(const struct stream *s);

#endif
