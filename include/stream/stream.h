/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stream.h - one request and its answer, or one TCP connection, between two endpoints
 *
 * Purpose: takes what the front mux received through a table of stages: rules, switching,
 *          balancing, queue, connect, response, forwarding, log. Each stage returns next, wait or
 *          end. A stage that waits has a named timeout and is entered again where it stopped.
 * Owns   : its two endpoints (members), both heads, an arena for text that is freed with it, a slot
 *          of its server.
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

/* X(name, step, character): the stages in order. The character is the second of the termination
 * state: what the stream waited for when it ended. Tunnels and TCP skip stages that do not apply.
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
	X(UPGRADE, stage_upgrade, 'R')             /* bytes that become HTTP from now on */ \
	X(PREPARE, stage_prepare, 'R')             /* forwardfor, framing of the request */ \
	X(FILTER_REQUEST, stage_filter_request, 'R') /* only where there are filters */ \
	X(ASSIGN, stage_assign, 'Q')               /* which server, and a slot of it */ \
	X(QUEUE, stage_queue, 'Q') \
	X(CONNECT, stage_connect, 'C')             /* an idle connection or a new one */ \
	X(CONNECTING, stage_connecting, 'C') \
	X(TURN_AROUND, stage_turn_around, 'C')     /* pause before the next try */ \
	X(TCP_RESPONSE, stage_tcp_response, 'D')   /* tcp-response content */ \
	X(SEND, stage_send, 'H')                   /* the request, until a response comes */ \
	X(RESPONSE, stage_response, 'H')           /* the answer's head */ \
	X(RESPONSE_RULES_BE, stage_response_rules_be, 'H') \
	X(RESPONSE_RULES_FE, stage_response_rules_fe, 'H') \
	X(FILTER_RESPONSE, stage_filter_response, 'H') /* only where there are filters */ \
	X(REPLY, stage_reply, 'D')                 /* send the head: the server's or our own */ \
	X(FORWARD, stage_forward, 'D') \
	X(END, stage_end, '-')

enum stream_stage {
#define X(name, fn, c) STAGE_##name,
	STREAM_STAGES(X)
#undef X
	STAGE_COUNT
};
_Static_assert(STAGE_COUNT < 32, "a bit for each stage");

/* A connection to a server that the stream has left; for logs. */
struct stream_left {
	struct addr source;          /* our address */
	struct endpoint_facts facts;
};

enum step { STEP_NEXT, STEP_AGAIN, STEP_WAIT, STEP_END };

enum stream_flags {
	STRM_HTTP = 1 << 0,
	STRM_RUNNING = 1 << 1,       /* a frame of the driver is below on the stack */
	STRM_AGAIN = 1 << 2,         /* something changed meanwhile: run once more */
	STRM_SLOT = 1 << 3,          /* holds a slot of <server> */
	STRM_BE_COUNTED = 1 << 4,
	STRM_LOCAL_REPLY = 1 << 5,   /* res is our own: page, return, redirect */
	STRM_HEAD_SENT = 1 << 6,     /* a final response head went to the client */
	STRM_LOGGED = 1 << 7,
	STRM_TUNNEL = 1 << 8,
	STRM_REDISPATCHED = 1 << 9,
	STRM_CONN_TRIED = 1 << 10,   /* at least one connection attempt was made */
	/* head and body of the request are still here: can be sent again */
	STRM_REQ_WHOLE = 1 << 11,
	STRM_TIMED_OUT = 1 << 12,    /* the timer has fired; the stage checks its deadline */
	STRM_SERVER_CLOSE = 1 << 13, /* ask the server to close */
	STRM_CLIENT_CLOSE = 1 << 14, /* close the client's connection after this */
	STRM_FILTERED = 1 << 15,     /* <filters> is set */
	STRM_TRACED = 1 << 16,       /* is traced: stream/tracing.h */
	STRM_FORCED_SERVER = 1 << 17,/* the server was chosen by persistence or a rule */
	STRM_REUSED_CONN = 1 << 18,
	STRM_TARPIT = 1 << 19,
	STRM_SILENT = 1 << 20,       /* end without a response */
	STRM_INSPECT = 1 << 21,      /* inspect-delay has begun */
	STRM_TOLD = 1 << 22,         /* is traced, and servers are told so */
	STRM_RECORDED = 1 << 23,     /* is traced, and recorded however it ends */
	STRM_NO_REUSE = 1 << 25,     /* the next try takes a new connection */
	STRM_ASKED = 1 << 26,        /* another thread was asked for an idle connection */
	STRM_NO_REQUEST_TIME = 1 << 28, /* the log has no %TR: a rule held or ended the request */
	/* a connection failed; counted when the next server is chosen */
	STRM_LEFT_SERVER = 1 << 29,
	STRM_IN_BUDGET = 1 << 30,    /* counted by the retry budget */
	STRM_NO_L7_RETRY = 1 << 27,  /* disable-l7-retry: retry failed connections only */
	/* the connection's TLS handshake began after the request was sent */
	STRM_SENT_EARLY = 1u << 31,
};

/* Dates in monotonic ns; 0: not reached. */
struct stream_times {
	uint64_t begin;      /* first byte of the request, or accept */
	uint64_t idle_from;  /* end of the previous request on this connection, or accept */
	uint64_t request;    /* head complete */
	uint64_t queued;     /* left the queue */
	uint64_t connected;  /* connection to the server is established */
	uint64_t data;       /* response head (first bytes in TCP) */
	uint64_t close;      /* everything was sent */
	uint64_t wall_us;    /* date of the log: accept, or start of the request */
};

enum stream_timeout {
	STREAM_TIMEOUT_CLIENT, STREAM_TIMEOUT_SERVER, STREAM_TIMEOUT_TUNNEL,
	STREAM_TIMEOUT_CONNECT, STREAM_TIMEOUT_QUEUE, STREAM_TIMEOUT_TARPIT, STREAM_TIMEOUTS
};

/* Settings made by rules for one stream. Created on first use, in the stream's arena. */
struct stream_overrides {
	struct addr src, dst;                /* ADDR_NONE: the session's */
	int64_t timeout_ms[STREAM_TIMEOUTS]; /* 0: the proxy's */
	bool has_mark, has_tos;              /* for connections to servers */
	uint32_t mark;
	uint8_t tos;
	uint32_t hold_bytes;                 /* for bodies that wait; 0: one buffer */
	struct http_msg *hints;              /* interim response being built by early-hint */
	struct answer_field *answer_fields;  /* fields that request rules add to the response */
};

/* A field that the response will have. In the stream's arena. */
struct answer_field {
	struct answer_field *next;
	struct slice name, value;
};

/* http-request set-log-level silent: no log line. */
#define LOG_LEVEL_SILENT 254

/* How many of the rules that applied are remembered: the last ones. */
#define TRAIL_RULES 16
/* Set in the number of a remembered rule (rule_list.h) if it is the backend's. */
#define TRAIL_OF_BACKEND (1u << 31)

struct stream {
	struct endpoint front, back;
	struct list thread_link;       /* in the thread's list, for show sess */
	struct session *sess;
	struct config *config;         /* borrowed: the session holds it, see session_past */
	struct listener_conf *listener;/* borrowed likewise */
	struct proxy *fe, *be;         /* be: fe until one is chosen */
	struct server *server;         /* borrowed from the generation */
	/* the service that answers instead of a server, or NULL */
	const struct service_kind *service;
	uint32_t flags;                /* enum stream_flags */
	uint8_t stage;                 /* enum stream_stage */
	uint8_t end;                   /* enum stream_end, the first one set */
	uint8_t end_phase;             /* character of the phase at that time */
	bool early_field;              /* the request's Early-Data field is ours */
	struct {
		uint16_t status;       /* of the response, for log and counters; 0 none */
		/* wanted by the rule, if its page has another one; 0: none */
		uint16_t asked;
		/* of the server's response, even if it was replaced; 0: none */
		uint16_t server;
		int connection;        /* 1 + errno of the last connection to a server; 0: none */
		struct server_conn *from; /* while <back> is attached, to a server: borrowed */
		uint16_t interims;     /* 1xx answers that the server has sent */
		uint8_t handshake;     /* of that connection: 0, or why it failed (conn_error.h) */
		uint32_t tls_error;    /* and its OpenSSL error code */
		struct stream_left *left; /* for logs: the connection that was left; or NULL */
	} answer;
	struct {
		uint16_t left, count;
		bool is_moved;         /* it was redispatched to another server */
		struct balance_avoid *tried; /* servers it was redispatched from; NULL: none */
	} retry;
	struct {
		uint32_t in_session;
		uint32_t in_process;   /* (%rt); increasing per thread */
		uint64_t on_thread;    /* the thread's list is in this order */
		struct slice text;     /* unique-id-format, once computed */
	} id;
	struct {
		uint32_t count;        /* how often the driver was entered */
		uint32_t idle_stages;  /* bits of the stages to skip, see settings.c */
		/* while its thread profiles: time spent in calls, and between events and their
		 * calls; when the measured call in progress began, 0: none
		 */
		uint64_t cpu_ns, latency_ns, began_ns;
	} run;
	struct http_msg req, res;
	struct timer timer;
	struct {
		uint64_t stage_ms;     /* the stage's own deadline; TIMER_NEVER: none */
		uint64_t client_ms, server_ms; /* inactivity deadlines while forwarding */
		uint64_t count_ms;     /* option contstats: when bytes are counted next */
	} due;
	struct stream_counted {      /* bytes already added to the counters */
		uint64_t in, out;      /* from the client; to it, including local replies */
		uint64_t req_out;      /* sent to servers */
		uint64_t res_in;       /* from servers */
		uint64_t res_out;      /* sent to the client */
		uint64_t tracked_out;  /* from servers, in stick tables */
	} counted;
	struct stream_times t;
	struct rule_state {            /* where a rule list waits */
		const struct rule *rule;
		void *data;            /* for the action that waits */
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
	struct {                       /* a response of our own */
		struct block_queue body;
		uint64_t bytes;        /* as counted */
	} local;
	struct block_queue replay;     /* request body kept for a retry */
	struct {
		struct queue_waiter waiter;
		struct task *task;     /* created when the stream must queue */
		uint32_t ahead, be_ahead; /* places in queues (%sq, %bq) */
		int16_t priority_class;
		int32_t priority_offset_ms;
	} queue;
	struct stream_wait *waits;     /* waits for outside events: stream/wait.h; NULL: none */
	const struct rule *last_rule;  /* the rule that decided, for "which rule did this" */
	struct {
		/* the request line as received; none: bad request */
		struct slice method, uri, version;
		unsigned fe_conn, be_conn, srv_conn, act_conn; /* at log time */
		uint32_t number;       /* of the frontend's lines with %lc, from 1; 0: none */
		uint8_t step;          /* enum log_step: the step of the line being written (%OG) */
		uint8_t level;         /* rule set-log-level; 255: unset; LOG_LEVEL_SILENT */
	} log;
	struct arena arena;            /* text that is freed with the stream */
	struct filters *filters;       /* see filter.h; NULL: none, and STRM_FILTERED is not set */
	char area[1520] __attribute__((aligned(16))); /* the arena's first piece */
	struct {                       /* the way it took: stream/trail.h; not all of it cleared */
		struct trail_try *tries; /* tries that were given up, the last one first */
		uint32_t rules;        /* how many applied so far */
		uint32_t rules_at_end; /* how many had applied when the end was set */
		uint8_t stage;         /* enum stream_stage at that time */
		void *trace;           /* with STRM_TRACED: the tracer's, or NULL and ... */
		uint64_t trace_id;     /* ... the id from which it can be made */
		uint32_t numbers[TRAIL_RULES]; /* marks of the last rules: a ring */
	} trail;
	/* slots follow */
};

/* Returns the area in which modules keep their data about a stream (class SLOT_STREAM). */
struct slot_area *stream_slots(struct stream *s);

static inline struct stream *stream_of_front(struct endpoint *ep)
{
	return (struct stream *)ep;
}

static inline struct stream *stream_of_back(struct endpoint *ep)
{
	return (struct stream *)((char *)ep - offsetof(struct stream, back));
}

/* Returns the stream whose back endpoint this is. NULL: it belongs to something else, a check for
 * instance.
 */
struct stream *stream_of_endpoint(struct endpoint *ep);
/* Fills <out> with the facts of the mux of <ep>, the front or the back endpoint of <s>; for a mux
 * that carries a single stream, with defaults. For a back endpoint that was left, with the facts
 * saved from it. False: there are none.
 */
bool stream_mux_facts(const struct stream *s, const struct endpoint *ep,
		      struct endpoint_facts *out);

/* Returns the overrides, created on first use. NULL: out of memory. */
struct stream_overrides *stream_overrides_get(struct stream *s);
/* Sets a field of the response, whatever response it will be, in place of any field of that name
 * (in lower case), before http-after-response rules see it. Both texts must live as long as the
 * stream. False: out of memory.
 */
bool stream_answer_field(struct stream *s, struct slice name, struct slice value);
/* Return the addresses of the client, and of where it connected to, as rules of this stream see
 * them.
 */
const struct addr *stream_src(struct stream *s);
const struct addr *stream_dst(struct stream *s);
/* Return the addresses as the stream of a context has them, or else its session. NULL: neither. */
const struct addr *context_src(const struct expr_ctx *ctx);
const struct addr *context_dst(const struct expr_ctx *ctx);
/* Returns the proxy's configured timeout in ms; 0: none. `timeout connect` is used for queue and
 * tarpit timeouts that are not set.
 */
int64_t proxy_timeout_ms(const struct proxy *px, enum stream_timeout which);
/* Returns the timeout in force, in ms; 0: none. */
int64_t stream_timeout_ms(const struct stream *s, enum stream_timeout which);
/* Another backend is chosen: resets the timeouts that rules have set for the previous one. */
void stream_forget_backend_overrides(struct stream *s);

/* Returns the evaluation context, prepared for a side: EXPR_DIR_REQUEST or EXPR_DIR_RESPONSE (|
 * EXPR_FINAL).
 */
struct expr_ctx *stream_expr(struct stream *s, unsigned flags);

/* Returns the bit that turns the number of a rule of <px> into its mark in the stream's trail. */
static inline uint32_t stream_rule_side(const struct stream *s, const struct proxy *px)
{
	return px == s->fe ? 0 : TRAIL_OF_BACKEND;
}

/* Remembers that a rule applied. */
static inline void stream_note_rule(struct stream *s, uint32_t mark)
{
	s->trail.numbers[s->trail.rules++ % TRAIL_RULES] = mark;
}

/* Notes why the stream ends; the first call wins. <why> must not be END_NONE. */
void stream_set_end(struct stream *s, enum stream_end why);

/* Returns what ended the stream; CAUSE_NONE: it has not ended, or ended normally. */
static inline enum stream_cause stream_cause(const struct stream *s)
{
	return (enum stream_cause)stream_ends[s->end].cause;
}

/* Adds 1 to a counter that frontends and backends have in common: the frontend's, its listener's if
 * that has counters of its own, and the backend's once there is one.
 */
void stream_count_request(const struct stream *s, unsigned which);

/* Ends all streams of <srv> on all threads soon, as an administrator's command does. From any
 * worker thread. False: out of memory.
 */
bool streams_shutdown_server(struct server *srv);
/* As streams_shutdown_server(), for all backup servers of <be>. */
bool streams_shutdown_backups(struct proxy *be);

/* --- for actions, fetches and commands --------------------------------------------------------
 * On the stream's thread.
 */

/* Creates a stream of <sess>; its front endpoint is not attached yet. NULL: out of memory. */
struct stream *stream_new(struct session *sess, bool http);
/* Frees a stream that never ran and has no endpoint. */
void stream_abandon(struct stream *s);
/* Returns the server as logs, fetches and rules see it: also NULL if the backend's `dispatch` or
 * `option transparent` takes its place.
 */
static inline struct server *stream_server(const struct stream *s)
{
	return s->server && !s->server->is_direct ? s->server : NULL;
}
/* Returns its CPU time so far, including the call in progress, of the time while its thread was
 * profiling.
 */
uint64_t stream_cpu_ns(const struct stream *s);
/* Ends the stream immediately, from outside its stages, on its thread: cuts off its client and
 * frees it.
 */
void stream_kill(struct stream *s, enum stream_end why);
/* Returns the serial of the newest stream of the calling thread. */
uint64_t stream_last_serial(void);
/* Sets a deadline for the current stage, in ms from now; 0: none. */
void stream_wait_ms(struct stream *s, int64_t ms);
/* Has the current stage's deadline passed? */
bool stream_is_late(const struct stream *s);
/* Returns the value of unique-id-format, computed on first use; slice_none(): no format. */
struct slice stream_unique_id(struct stream *s);
/* Sends 100 Continue to a client that waits for it before it sends its body; only once. */
void stream_send_continue(struct stream *s);
/* Sends an interim response (1xx). */
void stream_send_interim(struct stream *s, struct http_msg *m);
/* Returns the bytes of the response so far, the server's or our own, as logs and statistics count
 * them.
 */
uint64_t stream_bytes_out(const struct stream *s);
/* The calling thread's streams, in order of their serials. */
extern __thread struct list stream_list_of_thread;
/* Finds where a connection of <s> to its server goes (server_want.c). False: nowhere. */
bool server_target(struct stream *s, struct server_addr *to);

/* --- local responses: for actions --------------------------------------------------------------
 * An action builds the response in s->res and returns RULE_REPLY; the engine sends it through the
 * http-after-response rules. Texts are copied unless they belong to the configuration.
 */

/* Starts a response: status and reason (slice_none(): the standard one). */
void stream_reply_begin(struct stream *s, unsigned status, struct slice reason);
/* Adds the body and sets content-length. <copy> false: the bytes outlive the stream. False: out of
 * memory.
 */
bool stream_reply_body(struct stream *s, struct slice body, bool copy);
/* Builds the error page in force for <status> (the backend's, else the frontend's). False: close
 * silently.
 */
bool stream_reply_page(struct stream *s, unsigned status);
/* Does the client use this program as its proxy? Then it expects 407 instead of 401. */
bool stream_is_for_proxy(const struct stream *s);

#endif
