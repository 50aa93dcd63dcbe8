/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* service.h - answers made inside the program: statistics page, metrics, Runtime API over HTTP
 *
 * A service stands where a server would: it is the back endpoint of the stream, without a
 * connection. So its answer goes through the same stages as a server's (rules, framing, flow
 * control, counters, log), and a slow reader stops it. It gives the head immediately and the body
 * in parts of some kilobytes; between two parts the thread serves others.
 *
 *      http-request use-service NAME ...  ->  RULE_SERVICE  ->  service_attach()
 *      kind->chosen(stream, proxy)        ->  the same, for what a proxy's own settings ask for
 *
 * Owns   : a service_call lives in the stream's arena and ends with the stream's back endpoint.
 * Threads: the stream's.
 * Errors : start() returns false: the client gets the page of call->status. A part that fails
 *          breaks the answer off.
 * Manual : configuration 10 (services), 4.4 use-service.
 */
#ifndef STREAM_SERVICE_H
#define STREAM_SERVICE_H

#include <stdbool.h>
#include <stdio.h>
#include "base/strbuf.h"
#include "core/thread.h"
#include "core/timer.h"
#include "mux/front.h"
#include "stream/rule.h"

struct conf_line;
struct module;
struct proxy;
struct rule;
struct service_call;
struct stream;

enum service_result {
	SERVICE_DONE,  /* that was the last part */
	SERVICE_MORE,  /* there is more: call again */
	SERVICE_WAIT,  /* nothing for now: call again after service_continue() */
	SERVICE_ERROR, /* break the answer off */
};

struct service_kind {
	const char *name;         /* "prometheus-exporter": behind use-service */
	const char *shown;        /* "<PROMEX>": as the server's name in logs */
	/* http-response rules do not see its answers (http-after-response do) */
	bool skips_response_rules;
	size_t state_size;        /* of call->state */
	size_t body_max;          /* bytes of the request's body to wait for; 0: none */
	bool after_request;       /* begin when the request is here as a whole, however long */
	/* Does the request ask for it by a setting of <px> (`stats uri`)? Called after the
	 * http-request rules of <px>. RULE_CONTINUE: no. RULE_SERVICE: yes, *arg is for the call.
	 * RULE_REPLY: it is refused by the answer in s->res. NULL: only by use-service.
	 */
	enum rule_result (*chosen)(struct stream *s, struct proxy *px, const void **arg);
	/* Has <px> such a setting? Asked once, at the start of its generation. NULL: any may. */
	bool (*may_be_chosen)(const struct proxy *px);
	/* Arguments behind use-service NAME; *arg: for the calls. False: reported. NULL: none. */
	bool (*parse)(struct conf_line *l, const void **arg);
	/* Answers GET for <target> of HTTP/1.1 without a stream, see service_make_direct(): adds
	 * head and body, all of it, to <out>. Returns the status; 0: nothing was added, a stream
	 * is needed. NULL: always.
	 */
	unsigned (*direct)(struct slice target, struct block_queue *out);
	/* How long to wait before start(), ms. Called once. NULL: not at all. */
	unsigned (*delay_ms)(struct service_call *call);
	/* Begins an answer: sets status and fields of call->head (empty, 200). False: no
	 * answer, see call->status.
	 */
	bool (*start)(struct service_call *call);
	/* Instead of start(), for a service that may wait before it answers: SERVICE_DONE: status
	 * and fields are set; SERVICE_WAIT, SERVICE_MORE: to be called again; SERVICE_ERROR: no
	 * answer.
	 */
	enum service_result (*begin)(struct service_call *call);
	/* It begins immediately, and reads the request's body while that comes: call->body holds
	 * <body_max> bytes at most, the rest waits. It is continued when more came, or the end
	 * (call->body_is_whole), and calls service_read() when it has taken some.
	 */
	bool streams_body;
	/* It speaks bytes instead of HTTP, in mode tcp (tcp-request content): there is no head, the
	 * parts are all, and the body is what the client sends. With <streams_body> and part().
	 */
	bool is_raw;
	/* Adds some kilobytes of body to <out>, which is empty. */
	enum service_result (*part)(struct service_call *call, struct strbuf *out);
	/* Without a copy, instead of part(): adds some pieces of body to <to>. */
	enum service_result (*fill)(struct service_call *call, struct block_queue *to);
	/* The answer is over or was broken off. NULL: nothing to do. */
	void (*end)(struct service_call *call);
	const char *help;
};

struct service_call {
	const struct service_kind *kind;
	const void *arg;          /* of the rule or the proxy; borrowed of the generation */
	void *state;              /* kind->state_size bytes, zeroed */
	struct stream *stream;
	struct proxy *proxy;      /* whose rule or setting it was */
	struct http_msg *head;    /* of the answer */
	struct block_queue body;  /* of the request: at most kind->body_max bytes */
	bool body_is_cut;         /* there was more of it */
	bool body_is_whole;       /* streams_body: <body> has the last of it */
	uint16_t status;          /* of the page when start() fails: 500 */
	/* the engine's */
	struct endpoint *ep;
	struct turn_hook hook;
	struct strbuf text;
	struct timer timer;       /* delay_ms */
	bool due, started, waiting, done;
	bool headless;            /* begin() has not made the head yet */
};

/* Makes the services of the modules known. Once. */
bool services_register(const struct module *const *modules);
const struct service_kind *service_find(const struct config *cfg, const char *name);
/* Attaches the service that the request asks for by a setting of <px>: RULE_SERVICE; or what it has
 * decided else, RULE_CONTINUE: there is none.
 */
enum rule_result service_choose(struct stream *s, struct proxy *px);
/* Could that ever decide anything for <px>? */
bool service_may_be_chosen(const struct proxy *px);
/* Makes <kind> the back endpoint of <s>. False: no memory. */
bool service_attach(struct stream *s, struct proxy *px, const struct service_kind *kind,
		    const void *arg);
/* What a part waited for is there: it is called again, at the end of the turn. On its thread. */
void service_continue(struct service_call *call);
/* Some of call->body was taken: more of it may come. */
void service_read(struct service_call *call);
/* Asked for the name of a service that no table has; the row lives as long as <cfg>. NULL: unknown.
 * Once, before a configuration is read.
 */
typedef const struct service_kind *service_script_fn(const struct config *cfg, const char *name);
void services_set_scripts(service_script_fn *find);
/* For parse(): what <kind> can answer directly it does, for all requests of the frontend (or of
 * those that inherit it) of <l>, before any rule: they have no stream, no log line and no trace but
 * the connection's. They are counted, with the bytes that were on the wire. False: reported.
 */
bool service_make_direct(struct conf_line *l, const struct service_kind *kind);
/* The owner's side of struct front_user: <owner> is a session. */
bool service_answer(void *owner, const struct front_request *rq, struct block_queue *out);
/* Prints "<name>" lines, sorted, as -dKsvc does. */
void services_dump(FILE *out);

#endif
