/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* filter.h - filters: code that inspects, holds, changes or answers the messages of a stream
 *
 * Purpose: a line `filter NAME ...` of a proxy inserts a filter into each of its streams. The
 *          filters of the frontend come first, then those of the backend, each in the order of the
 *          file. Requests and responses pass them in the same order.
 *
 *     client --> stages of the request --> head, bytes, end through the chain --> server
 *     client <-- head, bytes, end through the chain <-- stages of the response <-- server
 *
 * A filter is a row of struct module.filters: a struct filter_kind, whose callbacks are all
 * optional. They are called in this order:
 *
 *     attach, stream_start        for the frontend's filters when the stream begins; the backend's
 *                                 are attached once it is chosen, without stream_start
 *     begin(REQUEST)              before the first rule of the filter's own proxy
 *     before, after (point)       around each step that applies to the stream (FILTER_POINTS)
 *     backend                     the backend was chosen
 *     head(REQUEST)               all rules have run, the head is what the server will get; before
 *                                 a server is chosen. Not in mode tcp
 *     data(REQUEST) ... end(REQUEST)       without waiting for a server
 *     begin(RESPONSE)             a server is connected, or a service answers; repeated per retry
 *     reset(RESPONSE)             an interim response (1xx) bypassed the chain, or a response is
 *                                 replaced by that of another try
 *     before, after, head, data, end (RESPONSE)   as for requests, after all rules
 *     finish(REQUEST), finish(RESPONSE), stream_stop, detach
 *
 * What passes the chain: requests to a server or to a service (statistics page, metrics, ...),
 * their responses, and the bytes of tunnels and of mode tcp. What bypasses it: responses that the
 * program generates itself (return, deny, redirect, error pages, monitor-uri), and requests that
 * never became a stream (bad or late heads). A request that is sent again, to the same or to
 * another server, is replayed as it left the chain: no callback sees it twice.
 *
 * Waiting: a callback that may return FILTER_WAIT is called again each time the stream runs, until
 *          it returns something else. Meanwhile bytes are queued and the sources are stopped.
 *          filter_wake() and filter_wake_ms() make the stream run. A filter that needs something
 *          from outside begins a stream_wait (stream/wait.h), whose end runs the stream, and
 *          cancels it in detach. A wait has no deadline, it ends early only if the client leaves: a
 *          filter that needs a deadline calls filter_wake_ms().
 * Bytes  : data() gets its own queue, <in>, and the queue of the next filter, <out>. What it moves
 *          or adds to <out> has passed. What it leaves in <in> is held and counts in the stream's
 *          flow control: above ENDPOINT_TX_HIGH, or the limit that the other side's protocol asks
 *          for, the source is stopped. Pieces are moved, not copied, and the bytes of a piece are
 *          never written to. A side is spliced only while no filter watches its data.
 * Lengths: a filter that adds or removes bytes must announce it in head(), before the head is sent:
 *          filter_set_length(), filter_set_chunked(). At end(), trailers are in msg->trailers.
 * Uses   : trace             all callbacks
 *          bwlim-in, -out    an action finds the filter by filter_of_stream() and has it watch a
 *                            side; data() moves what the limit leaves and calls filter_wake_ms()
 *          compression       head() of the request notes what the client accepts; head() of the
 *                            answer calls filter_set_chunked() and filter_watch(); data() adds
 *                            blocks of its own, the last one when <end> is true
 *          cache             storing: head() and data() of the answer, end() when it is whole,
 *                            detach when it is not. Serving: a service (service.h), whose answers
 *                            pass the chain as those of a server do; instead(), when a server says
 *                            that what is kept is current, or fails
 *          agents (SPOE)     begin() for events of a session, before() for those in front of
 *                            rules: FILTER_WAIT until the stream_wait is over
 *          Lua               each callback is one of a script's; functions on bytes work on <in>
 * Owns   : filters and their state lie in the stream's arena. Anything outside of it that the state
 *          points to must be freed by detach, which is always called after attach returned true.
 * Threads: all callbacks of a stream run on its thread and are never nested.
 * Errors : FILTER_ERROR ends the stream: a request gets a 400 if no response has begun; anything
 *          else is cut off.
 * Cost   : a stream without filters pays one predicted test for each move of bytes.
 * Manual : configuration 9, 4.2 filter.  See: doc/internals/adding-a-filter.md
 */
#ifndef STREAM_FILTER_H
#define STREAM_FILTER_H

#include <stdbool.h>
#include <stdio.h>
#include "base/block.h"
#include "http/msg.h"
#include "stream/stream.h"

struct conf_line;
struct config;
struct diag_list;
struct filter;
struct filter_conf;
struct module;
struct proxy;
struct service_kind;

enum filter_side { FILTER_REQUEST, FILTER_RESPONSE, FILTER_SIDES };

enum filter_result {
	FILTER_NEXT,  /* done: continue with the next filter, or with what follows */
	FILTER_WAIT,  /* not yet: call again when the stream runs */
	FILTER_ERROR, /* this message must not continue */
	/* s->res holds a response (stream_reply_begin(), stream_reply_body()) to send instead. Only
	 * while no head was sent to the client.
	 */
	FILTER_REPLY,
};

/* X(name, side, "what happens there"): steps of a stream, in their order. */
#define FILTER_POINTS(X) \
	X(TCP_REQUEST_FE, REQUEST, "tcp-request content of the frontend") \
	X(REQUEST_HEAD, REQUEST, "the head of the request is there; monitor-uri") \
	X(REQUEST_BODY, REQUEST, "option http-buffer-request") \
	X(HTTP_REQUEST_FE, REQUEST, "http-request and redirect of the frontend, its services") \
	X(SWITCH, REQUEST, "use_backend, default_backend") \
	X(TCP_REQUEST_BE, REQUEST, "tcp-request content of the backend") \
	X(HTTP_REQUEST_BE, REQUEST, "http-request and redirect of the backend, its services") \
	X(TARPIT, REQUEST, "tarpit") \
	X(USE_SERVER, REQUEST, "use-server") \
	X(PREPARE, REQUEST, "option forwardfor and other fields of ours; cookies") \
	X(RDP_COOKIE, REQUEST, "persist rdp-cookie") \
	X(TCP_RESPONSE, RESPONSE, "tcp-response content") \
	X(RESPONSE_HEAD, RESPONSE, "the head of the answer is there") \
	X(HTTP_RESPONSE, RESPONSE, "http-response, http-after-response; cookies")

enum filter_point {
#define X(name, side, text) FILTER_POINT_##name,
	FILTER_POINTS(X)
#undef X
	FILTER_POINT_COUNT
};

/* Returns the side that a point belongs to. */
enum filter_side filter_point_side(enum filter_point point);

struct filter_kind {
	const char *name;      /* the word after `filter` */
	const char *group;     /* what -vv puts before the name: "TRACE" */
	const char *id;        /* for last_entity and waiting_entity: "trace filter" */
	size_t state_size;     /* bytes of filter->state, zeroed */
	/* the source stops when it holds more bytes than this; 0: no limit of its own */
	size_t hold_max;
	/* Parses the words after the name: l->at is at the first one; must take all of them. Sets
	 * conf->data and conf->name. False: reported.
	 */
	bool (*parse)(struct conf_line *l, struct filter_conf *conf);
	/* Called when all sections were read: resolves names. False: reported. */
	bool (*check)(struct config *cfg, struct filter_conf *conf, struct diag_list *diags);

	/* False: the filter does not take part in this stream; no other callback is called. */
	bool (*attach)(struct filter *f);
	void (*detach)(struct filter *f);
	void (*stream_start)(struct filter *f);
	void (*stream_stop)(struct filter *f);
	void (*backend)(struct filter *f);
	/* The stream's timer, or that of filter_wake_ms(), has fired. */
	void (*timeout)(struct filter *f);

	enum filter_result (*begin)(struct filter *f, enum filter_side side);
	void (*finish)(struct filter *f, enum filter_side side);
	enum filter_result (*before)(struct filter *f, enum filter_point point);
	void (*after)(struct filter *f, enum filter_point point);

	enum filter_result (*head)(struct filter *f, enum filter_side side, struct http_msg *msg);
	/* Called while the filter watches the side, see filter_watch(): once after the head (<in>
	 * may be empty), then when bytes came, when bytes wait and the stream runs, and at the
	 * <end>, after which no bytes come. The end passes when this returns FILTER_NEXT with <in>
	 * empty.
	 */
	enum filter_result (*data)(struct filter *f, enum filter_side side,
				   struct block_queue *in, struct block_queue *out, bool end);
	/* The whole message except its end has passed all filters; this callback may hold the end.
	 * Called for filters that watch the side; not in tunnels and not in mode tcp.
	 */
	enum filter_result (*end)(struct filter *f, enum filter_side side);
	void (*reset)(struct filter *f, enum filter_side side);
	/* Called when a server's response has come (<is_servers>: its head is s->res, before any
	 * rule), or when the program is about to answer with <status> itself. Returns a service
	 * that is to answer instead, and sets *arg for its call; the server is then left. NULL: no
	 * replacement. Called at most once per try, and not for responses of services.
	 */
	const struct service_kind *(*instead)(struct filter *f, unsigned status, bool is_servers,
					      const void **arg);
	const char *syntax, *help;
};

/* A `filter` line of the configuration. Allocated in the arena of its generation. */
struct filter_conf {
	struct filter_conf *next;     /* of the proxy, in the order of the file */
	const struct filter_kind *kind;
	struct proxy *proxy;
	const char *file;
	int line;
	const char *name;             /* the name by which rules refer to it; or NULL */
	void *data;                   /* the kind's */
};

/* A filter of one stream. */
struct filter {
	const struct filter_kind *kind;
	const struct filter_conf *conf;
	struct stream *stream;
	void *state;                  /* kind->state_size bytes */
	bool is_backend;              /* it belongs to the backend, not to the frontend */
	/* for the filter layer: bits by side, and bytes received but not passed on */
	uint8_t watches, begun, has_begun_data, has_ended;
	struct filter *next;
	struct block_queue in[FILTER_SIDES];
};

/* Registers the filter kinds of the modules. Call once. False: out of memory. */
bool filters_register(const struct module *const *modules);
/* Installs a function that finds a filter whose name is in no table; the row it returns lives as
 * long as <cfg>, NULL: unknown. Call once, before a configuration is read.
 */
typedef const struct filter_kind *filter_script_fn(const struct config *cfg, const char *name);
void filters_set_scripts(filter_script_fn *find);
/* Prints the names, sorted: as -dKflt does, and as a part of -vv. */
void filters_dump(FILE *out);
void filters_print(FILE *out);

/* Adds a filter without a `filter` line, after those of lines. For the check phase. The kind's
 * parse() is not called. False: out of memory.
 */
bool filter_conf_add(struct proxy *px, const struct filter_kind *kind);
/* Returns the filters of a proxy, or the one of this kind and name. NULL: none. */
const struct filter_conf *filter_confs(const struct proxy *px);
const struct filter_conf *filter_conf_find(const struct proxy *px, const struct filter_kind *kind,
					   const char *name);

/* --- for callbacks, and for actions of rules -------------------------------------------------
 * On the stream's thread.
 */

/* Returns the first filter of the chain, the others follow by ->next. NULL: none. */
struct filter *filters_of_stream(const struct stream *s);
/* Returns the filter that <conf> has inserted into <s>. NULL: not attached (yet). */
struct filter *filter_of_stream(const struct stream *s, const struct filter_conf *conf);
/* Start and stop giving data() the bytes of this side. On stop, held bytes pass. */
void filter_watch(struct filter *f, enum filter_side side);
void filter_unwatch(struct filter *f, enum filter_side side);
/* Makes the stream run at the end of this turn, or within <ms> at the latest. */
void filter_wake(struct filter *f);
void filter_wake_ms(struct filter *f, int64_t ms);
/* For head(): announces the length that the body will have, or that it is unknown, and edits the
 * fields of the head accordingly. False: out of memory.
 */
bool filter_set_length(struct http_msg *msg, uint64_t len);
bool filter_set_chunked(struct http_msg *msg);
/* Returns the id of the filter that the stream waits for, or of the one that ended or answered it.
 * NULL: none.
 */
const char *filter_waiting(const struct stream *s);
const char *filter_that_ended(const struct stream *s);
/* Returns the bytes that all filters hold of one side. filters_weight() is for flow control: it
 * counts a filter that holds more than its kind's hold_max as a full buffer.
 */
size_t filters_held(const struct stream *s, enum filter_side side);
size_t filters_weight(const struct stream *s, enum filter_side side);
/* Do the bytes of this side belong to an HTTP message? False in mode tcp and in a tunnel. */
static inline bool filter_sees_http(const struct filter *f)
{
	return (f->stream->flags & (STRM_HTTP | STRM_TUNNEL)) == STRM_HTTP;
}

extern const struct module mod_filter;

#endif
