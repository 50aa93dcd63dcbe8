/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* inside.h - streams that the program begins: requests or bytes to a backend, without a client
 *
 * Purpose: the mirror of service.h: a function stands where a client would. Its request goes
 *          through the rules, the balancing, the queues, the retries and the log of a backend, like
 *          any other; no listener is needed. The proxy serves as frontend and as backend, as a
 *          `listen` section does, so each of its rules runs once.
 * Owns   : struct inside is the engine's: from inside_new() until end() returns, or until
 *          inside_cancel(). It holds its generation.
 * Threads: all of it on the thread that made it.
 * Errors : end() tells how it went; a page of the proxy's (503: no server) is an answer.
 *
 *    inside_new --> fields of x->request --> inside_start --> [part ...] [head] [data ...] --> end
 *         |                                      |                    |
 *         +--------------------------------------+--------------------+--> inside_cancel
 *
 * Callbacks come from events and the ends of turns, never from within inside_start(). Any of them
 * may call inside_cancel().
 */
#ifndef STREAM_INSIDE_H
#define STREAM_INSIDE_H

#include <stdbool.h>
#include "core/thread.h"
#include "http/msg.h"
#include "stream/end.h"
#include "stream/session.h"

struct block_queue;
struct inside;
struct proxy;
struct stream;

enum inside_result {
	INSIDE_DONE,  /* that was the last part */
	INSIDE_MORE,  /* there is more: call again */
	INSIDE_WAIT,  /* nothing for now: call again after inside_continue() */
	INSIDE_ERROR, /* break the request off */
};

struct inside_kind {
	const char *name;        /* "PROBE": of the endpoint, in dumps */
	/* Adds some kilobytes of the request's body to <to>. NULL: it has none. */
	enum inside_result (*part)(struct inside *x, struct block_queue *to);
	/* The head of an answer, an interim one too (HTTP_MSG_INTERIM); borrowed. NULL: passed. */
	void (*head)(struct inside *x, const struct http_msg *m);
	/* Takes what it wants of the answer's body out of <from>; the rest stays, and the server
	 * is held when that is much: see inside_read(). NULL: the body is thrown away.
	 */
	void (*data)(struct inside *x, struct block_queue *from);
	/* The last call. <whole>: an answer came to its end. <why>: what ended it early. */
	void (*end)(struct inside *x, bool whole, enum stream_end why);
};

struct inside {
	const struct inside_kind *kind;
	void *ctx;                   /* the caller's */
	struct http_msg *request;    /* to be completed before inside_start(); NULL: bytes */
	/* the engine's */
	struct stream *stream;
	struct session sess;
	struct turn_hook hook;
	bool started, waiting, sent; /* part() is due; has said INSIDE_WAIT; has ended */
	bool busy;                   /* in a callback */
	bool cancelled;
	bool is_work;                /* a process that stops waits for it */
};

/* A request of <method> for <target> ("/path") through <px>, a backend in mode http; without any
 * field: those that it is to have, host among them, are added to x->request. NULL: no memory.
 */
struct inside *inside_new(struct proxy *px, const struct inside_kind *kind, void *ctx,
			  struct slice method, struct slice target);
/* A connection for bytes through <px>, a backend of another mode than http: there is neither a
 * request nor head(). part() is called for what is to be sent, data() gets what comes. end() is
 * <whole> when the server has closed. It has no log line: what it is for has its own; and a process
 * that stops waits for that, not for the connection.
 */
struct inside *inside_new_bytes(struct proxy *px, const struct inside_kind *kind, void *ctx);
/* Begins, at the end of this turn. */
void inside_start(struct inside *x);
/* There is something for part() after INSIDE_WAIT. May end it. */
void inside_continue(struct inside *x);
/* There is room for what data() has left: it is called again. May end it. */
void inside_read(struct inside *x);
/* That which a stream was begun for; NULL: it has a client. */
struct inside *inside_of_stream(const struct stream *s);
/* Gives up, at any stage: no callback comes any more, and <x> is not the caller's any more. */
void inside_cancel(struct inside *x);

/* For the process's start: what stands for a listener. False: no memory. */
bool inside_init(void);

#endif
