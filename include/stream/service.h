/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* service.h - services: responses made inside the program (statistics page, metrics, ...)
 *
 * A service takes the place of a server: it is the back endpoint of the stream, without a
 * connection. Its response passes the same stages as a server's (rules, framing, flow control,
 * counters, log), and a slow reader stops it. The head is given immediately and the body in parts
 * of some kilobytes; between two parts the thread serves other streams.
 *
 *      http-request use-service NAME ...  ->  RULE_SERVICE  ->  service_attach()
 *      kind->chosen(stream, proxy)        ->  service_attach(), by a setting of the proxy itself
 *
 * Owns   : a service_call lies in the stream's arena and ends with the stream's back endpoint.
 * Threads: the stream's.
 * Errors : start() returns false: the client gets the page of call->status. A part that fails
 *          truncates the response.
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
	SERVICE_ERROR, /* truncate the response */
};

struct service_kind {
	const char *name;         /* "prometheus-exporter": the word after use-service */
	const char *shown;        /* "<PROMEX>": in the place of the server's name in logs */
	/* http-response rules do not see its responses (http-after-response rules do) */
	bool skips_response_rules;
	size_t state_size;        /* of call->state */
	size_t body_max;          /* bytes of the request's body to wait for; 0: none */
	bool after_request;       /* begin when the whole request has come, however long it is */
	/* Does a setting of <px> (`stats uri`) select this service for the request? Called after
	 * the http-request rules of <px>. RULE_CONTINUE: no. RULE_SERVICE: yes, *arg is for the
	 * call. RULE_REPLY: refused, the response is in s->res. NULL: selected by use-service only.
	 */
	enum rule_result (*chosen)(struct stream *s, struct proxy *px, const void **arg);
	/* Does <px> have such a setting? Called once, at the start of its generation. NULL: any
	 * proxy may.
	 */
	bool (*may_be_chosen)(const struct proxy *px);
	/* Parses the arguments after use-service NAME; *arg: for the calls. False: reported. NULL:
	 * none.
	 */
	bool (*parse)(struct conf_line *l, const void **arg);
	/* Answers GET for <target> in HTTP/1.1 without a stream, see service_make_direct(): adds
	 * head and whole body to <out>. Returns the status; 0: nothing was added, a stream is
	 * needed. NULL: a stream is always needed.
	 */
	unsigned (*direct)(struct slice target, struct block_queue *out);
	/* Returns how long to wait before start(), ms. Called once. NULL: no delay. */
	unsigned (*delay_ms)(struct service_call *call);
	/* Begins a response: sets the status and fields of call->head (initially 200, no fields).
	 * False: no response, see call->status.
	 */
	bool (*start)(struct service_call *call);
	/* Replaces start() for a service that may wait before it answers. SERVICE_DONE: status and
	 * fields are set. SERVICE_WAIT, SERVICE_MORE: call again. SERVICE_ERROR: no response.
	 */
	enum service_result (*begin)(struct service_call *call);
	/* The service begins immediately and reads the request's body while it arrives: call->body
	 * holds at most <body_max> bytes, the rest waits. It is continued when more has come, or
	 * the end (call->body_is_whole), and calls service_read() after it took some.
	 */
	bool streams_body;
	/* The service speaks bytes instead of HTTP, in mode tcp (tcp-request content): there is no
	 * head, only parts, and the body is what the client sends. Requires <streams_body> and
	 * part().
	 */
	bool is_raw;
	/* Adds some kilobytes of body to <out>, which is empty on entry. */
	enum service_result (*part)(struct service_call *call, struct strbuf *out);
	/* Replaces part() to avoid a copy: adds some pieces of body to <to>. */
	enum service_result (*fill)(struct service_call *call, struct block_queue *to);
	/* The response is complete or was truncated. NULL: nothing to do. */
	void (*end)(struct service_call *call);
	const char *help;
};

struct service_call {
	const struct service_kind *kind;
	const void *arg;          /* of the rule or the proxy; borrowed of the generation */
	void *state;              /* kind->state_size bytes, zeroed */
	struct stream *stream;
	struct proxy *proxy;      /* whose rule or setting selected it */
	struct http_msg *head;    /* of the response */
	struct block_queue body;  /* of the request: at most kind->body_max bytes */
	bool body_is_cut;         /* the body was longer */
	bool body_is_whole;       /* with streams_body: <body> holds the last of it */
	uint16_t status;          /* of the error page when start() fails: 500 */
	/* for the engine */
	struct endpoint *ep;
	struct turn_hook hook;
	struct strbuf text;
	struct timer timer;       /* delay_ms */
	bool due, started, waiting, done;
	bool headless;            /* begin() has not made the head yet */
};

/* Registers the services of the modules, and finds one by name (NULL: unknown). Register once. */
bool services_register(const struct module *const *modules);
const struct service_kind *service_find(const struct config *cfg, const char *name);
/* Attaches the service that a setting of <px> selects for the request: RULE_SERVICE. Another result
 * of chosen() is returned as it is; RULE_CONTINUE: none.
 */
enum rule_result service_choose(struct stream *s, struct proxy *px);
/* Could service_choose() ever select anything for <px>? */
bool service_may_be_chosen(const struct proxy *px);
/* Makes <kind> the back endpoint of <s>. False: out of memory. */
bool service_attach(struct stream *s, struct proxy *px, const struct service_kind *kind,
		    const void *arg);
/* Says that what a part waited for has come: the part is called again at the end of the turn. On
 * the stream's thread.
 */
void service_continue(struct service_call *call);
/* Says that some of call->body was taken, so that more of it may come. */
void service_read(struct service_call *call);
/* Installs a function that finds a service whose name is in no table; the row it returns lives as
 * long as <cfg>, NULL: unknown. Call once, before a configuration is read.
 */
typedef const struct service_kind *service_script_fn(const struct config *cfg, const char *name);
void services_set_scripts(service_script_fn *find);
/* For parse(): makes <kind> answer directly whatever it can, for all requests of the frontend of
 * <l> (or of those that inherit from it), before any rule. Such requests have no stream, no log
 * line and no trace but the connection's; they are counted, with their bytes on the wire. False:
 * reported.
 */
bool service_make_direct(struct conf_line *l, const struct service_kind *kind);
/* front_user.answer() of sessions: <owner> is a session. */
bool service_answer(void *owner, const struct front_request *rq, struct block_queue *out);
/* Prints "<name>" lines, sorted, as -dKsvc does. */
void services_dump(FILE *out);

#endif
