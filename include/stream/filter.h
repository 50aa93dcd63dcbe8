/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* filter.h - what stands on the way of a stream's messages: looks at them, holds, changes, answers
 *
 * Purpose: a line `filter NAME ...` of a proxy puts a filter on the way of each of its streams. The
 *          filters of the frontend come first, then those of the backend, each in the order of the
 *          file; requests and responses pass them in the same order.
 *
 *     client --> stages of the request --> head, bytes, end through the chain --> server
 *     client <-- head, bytes, end through the chain <-- stages of the response <-- server
 *
 * A filter is a row of struct module.filters: a struct filter_kind with callbacks, all optional.
 * They come in this order:
 *
 *     attach, stream_start        the frontend's: when the stream begins; the backend's are
 *                                 attached once it is chosen, without stream_start
 *     begin(REQUEST)              before the first rule of the filter's own proxy
 *     before, after (point)       around each step of the stream that applies (FILTER_POINTS)
 *     backend                     the backend was chosen
 *     head(REQUEST)               all rules have run, the head is what the server will get; before
 *                                 a server is chosen. Not in mode tcp
 *     data(REQUEST) ... end(REQUEST)       immediately, whether a server is there or not
 *     begin(RESPONSE)             a server is connected, or a service answers; again for each retry
 *     reset(RESPONSE)             an interim answer (1xx) has passed by the chain
 *     before, after, head, data, end (RESPONSE)   as for requests, after all rules
 *     finish(REQUEST), finish(RESPONSE), stream_stop, detach
 *
 * What passes the chain: requests that go to a server or to a service (statistics page, metrics,
 * ...), their answers, the bytes of tunnels and of mode tcp. What does not: answers of the program
 * itself (return, deny, redirect, error pages, monitor-uri), which go to the client past the chain;
 * and requests that never became a stream (bad or late heads). A request that is sent again, to the
 * same or to another server, is what has left the chain: no callback sees it twice.
 *
 * Waiting: a callback that may return FILTER_WAIT is called again each time that the stream runs,
 *          until it returns something else. Bytes wait meanwhile, and sources are stopped.
 *          filter_wake() and filter_wake_ms() make the stream run. A filter that needs something
 *          from outside begins a stream_wait (stream/wait.h), whose end runs the stream, and
 *          cancels it in detach. There is no deadline but the client's leaving: a filter that
 *          wants one calls filter_wake_ms().
 * Bytes  : data() gets a queue of its own, <in>, and that of the next filter, <out>. What it moves
 *          or adds to <out> has passed. What it leaves in <in> is held and counts in the stream's
 *          flow control: above ENDPOINT_TX_HIGH, or what the other side's protocol asks for, the
 *          source is stopped. Pieces are moved, not copied; nothing writes to the bytes of a piece.
 *          A side is spliced only while no filter watches its data.
 * Lengths: a filter that adds or removes bytes says so in head(), before the head is sent:
 *          filter_set_length(), filter_set_chunked(). Trailers are in msg->trailers at end().
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
 * Owns   : filters and their state lie in the stream's arena. What state points to outside of it
 *          is freed by detach, which is always called when attach has returned true.
 * Threads: all callbacks of a stream run on its thread, never inside of one another.
 * Errors : FILTER_ERROR ends the stream: a request is answered with 400 as long as no answer has
 *          begun; anything else is cut off.
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
	FILTER_NEXT,  /* done: on to the next filter, or to what follows */
	FILTER_WAIT,  /* not yet: call again when the stream runs */
	FILTER_ERROR, /* this message cannot go on */
	/* s->res is the answer (stream_reply_begin(), stream_reply_body()), which is sent instead.
	 * Where the client has not been sent a head yet.
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

/* The side that a point belongs to. */
enum filter_side filter_point_side(enum filter_point point);

struct filter_kind {
	const char *name;      /* the word behind `filter` */
	const char *group;     /* what -vv puts before the name: "TRACE" */
	const char *id;        /* what last_entity and waiting_entity say: "trace filter" */
	size_t state_size;     /* bytes of filter->state, zeroed */
	size_t hold_max;       /* above so many bytes that it holds, the source stops; 0: no such */
	/* The words behind the name: l->at is at the first one; takes all of them. Sets conf->data,
	 * conf->name. False: reported.
	 */
	bool (*parse)(struct conf_line *l, struct filter_conf *conf);
	/* All sections were read: finds what names mean. False: reported. */
	bool (*check)(struct config *cfg, struct filter_conf *conf, struct diag_list *diags);

	/* False: this stream is none of its business, and none of the others is called. */
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
	/* While the filter watches the side, see filter_watch(): once behind the head (there may be
	 * nothing in <in>), then when bytes came, when they wait and the stream runs, and at the
	 * <end>, behind which none come. The end passes when this returns FILTER_NEXT with <in>
	 * empty.
	 */
	enum filter_result (*data)(struct filter *f, enum filter_side side,
				   struct block_queue *in, struct block_queue *out, bool end);
	/* The message has passed all filters but for its end, which this may hold. For filters that
	 * watch the side; not in tunnels and mode tcp.
	 */
	enum filter_result (*end)(struct filter *f, enum filter_side side);
	void (*reset)(struct filter *f, enum filter_side side);
	/* A server's answer has come (<is_servers>; its head is s->res, no rule has seen it), or
	 * the program would answer with <status>, as no server does. The service that answers
	 * instead, with *arg for its call; the server is left. NULL: nothing better is known. At
	 * most once for each try; not for answers of services.
	 */
	const struct service_kind *(*instead)(struct filter *f, unsigned status, bool is_servers,
					      const void **arg);
	const char *syntax, *help;
};

/* A line of the configuration. In its generation's arena. */
struct filter_conf {
	struct filter_conf *next;     /* of the proxy, in the order of the file */
	const struct filter_kind *kind;
	struct proxy *proxy;
	const char *file;
	int line;
	const char *name;             /* what rules call it; or NULL */
	void *data;                   /* the kind's */
};

/* A filter of one stream. */
struct filter {
	const struct filter_kind *kind;
	const struct filter_conf *conf;
	struct stream *stream;
	void *state;                  /* kind->state_size bytes */
	bool is_backend;              /* it came with the backend, not with the frontend */
	/* the layer's: bits by side, and what it has got and not passed on */
	uint8_t watches, begun, has_begun_data, has_ended;
	struct filter *next;
	struct block_queue in[FILTER_SIDES];
};

/* Makes the kinds of the modules known. Once. */
bool filters_register(const struct module *const *modules);
/* Asked for the name of a filter that no table has; the row lives as long as <cfg>. NULL: unknown.
 * Once, before a configuration is read.
 */
typedef const struct filter_kind *filter_script_fn(const struct config *cfg, const char *name);
void filters_set_scripts(filter_script_fn *find);
/* Prints the names, sorted: as -dKflt does, or as a part of -vv. */
void filters_dump(FILE *out);
void filters_print(FILE *out);

/* Adds a filter that no line asked for, behind those of lines; in the check phase. Its kind's
 * parse() is not called. False: no memory.
 */
bool filter_conf_add(struct proxy *px, const struct filter_kind *kind);
/* The filters of a proxy, NULL: none. And the one of this kind with that name, NULL: none. */
const struct filter_conf *filter_confs(const struct proxy *px);
const struct filter_conf *filter_conf_find(const struct proxy *px, const struct filter_kind *kind,
					   const char *name);

/* --- for callbacks, and for actions of rules -------------------------------------------------
 * On the stream's thread.
 */

/* The first of the chain, NULL: none; the others are its ->next. */
struct filter *filters_of_stream(const struct stream *s);
/* The filter that <conf> has put on the way of <s>. NULL: it is not attached (yet). */
struct filter *filter_of_stream(const struct stream *s, const struct filter_conf *conf);
/* From now on data() gets the bytes of this side; or not any more: what is held passes. */
void filter_watch(struct filter *f, enum filter_side side);
void filter_unwatch(struct filter *f, enum filter_side side);
/* Has the stream run at the end of this turn; or, at the latest, in <ms>. */
void filter_wake(struct filter *f);
void filter_wake_ms(struct filter *f, int64_t ms);
/* In head(): the length that the body will have; or that it is not known. Says so in the fields of
 * the head as well. False: no memory.
 */
bool filter_set_length(struct http_msg *msg, uint64_t len);
bool filter_set_chunked(struct http_msg *msg);
/* The id of the filter that a stream waits for, or that ended it or answered; NULL: none. */
const char *filter_waiting(const struct stream *s);
const char *filter_that_ended(const struct stream *s);
/* The bytes that all filters hold of one side. And the same for flow control: one that holds more
 * than its kind wants counts as a full buffer.
 */
size_t filters_held(const struct stream *s, enum filter_side side);
size_t filters_weight(const struct stream *s, enum filter_side side);
/* Do bytes of this side belong to an HTTP message? Not in mode tcp and not in a tunnel. */
static inline bool filter_sees_http(const struct filter *f)
{
	return (f->stream->flags & (STRM_HTTP | STRM_TUNNEL)) == STRM_HTTP;
}

extern const struct module mod_filter;

#endif
