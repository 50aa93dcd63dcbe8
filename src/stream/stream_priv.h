/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream_priv.h - what the files of the stream engine share */
#ifndef STREAM_STREAM_PRIV_H
#define STREAM_STREAM_PRIV_H

#include "mux/h1.h"
#include "proxy/bind.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "http/error_page.h"
#include "base/strbuf.h"
#include "log/log.h"
#include "stream/rule.h"
#include "stream/session.h"
#include "stream/stream.h"

/* --- stream.c */
bool stream_init(void);
/* A stream of <sess>, its front endpoint not attached yet. NULL: no memory. */
struct stream *stream_new(struct session *sess, bool http);
/* Frees a stream that never ran and has no endpoint. */
void stream_abandon(struct stream *s);
/* The whole text of the error page of <fe> for <status>, as HTTP/1 sends it, until this thread's
 * next call; slice_none(): silent.
 */
struct slice stream_page_text(struct proxy *fe, unsigned status);
/* Frees the room of the calling thread's page. */
void stream_page_thread_fini(void);
/* Runs the stages as far as they go. May free the stream. */
void stream_run(struct stream *s);
/* The server as everybody sees it: NULL as well where the backend's `dispatch` or `option
 * transparent` stands in its place.
 */
static inline struct server *stream_server(const struct stream *s)
{
	return s->server && !s->server->is_direct ? s->server : NULL;
}

/* Its CPU time so far, the call in progress included, of the time in which its thread profiled. */
uint64_t stream_cpu_ns(const struct stream *s);
/* Ends it at once, from outside its stages, on its thread: its client is cut off. Frees it. */
void stream_kill(struct stream *s, enum stream_cause cause);
/* The serial of the newest stream of the calling thread. */
uint64_t stream_last_serial(void);
/* Re-arms the timer from the deadlines. */
void stream_arm(struct stream *s);

/* A stage: how it is called, what it does, the character of the log when a stream ends in it. */
struct stage_step {
	const char *name;
	enum step (*run)(struct stream *s);
	char phase;
};

#define X(name, fn, c) enum step fn(struct stream *s);
STREAM_STAGES(X)
#undef X
/* --- stages.c : the table, indexed by enum stream_stage */
extern const struct stage_step stream_stages[STAGE_COUNT];
/* Gives it to the driver. Once, at start-up. */
void stream_set_stages(const struct stage_step *table);

/* Goes to <stage> and runs it next. */
static inline enum step stream_goto(struct stream *s, enum stream_stage stage)
{
	s->stage = (uint8_t)stage;
	return STEP_AGAIN;
}

/* The two letters of the log that tell how it ended, so far. Manual 8.5. */
void stream_end_letters(const struct stream *s, char letters[2]);
/* An end that nobody needs to look at: no error, no status 5xx (even of ours), no other try. */
bool stream_is_normal(const struct stream *s);

/* Ends with this page (0: none) and cause; returns what the stage must return. */
enum step stream_fail(struct stream *s, unsigned status, enum stream_cause cause, char phase);
/* Sends the answer in s->res. */
enum step stream_reply(struct stream *s);
/* Sets a deadline for the current stage, in ms from now; 0: none. */
void stream_wait_ms(struct stream *s, int64_t ms);
/* Has the current stage's deadline passed? */
bool stream_is_late(const struct stream *s);
/* The other side's end, while waiting for a server: true when the stream must end. */
bool stream_client_left(struct stream *s);

/* --- unique_id.c : what unique-id-format makes, built on first use; slice_none(): no format. */
struct slice stream_unique_id(struct stream *s);
/* Adds the field of unique-id-header. False: no memory. */
bool stream_add_unique_id(struct stream *s);

/* --- forwarded.c : option forwarded. False: no memory. */
bool stream_add_forwarded(struct stream *s);
/* --- client.c : answers 100 to a client that waits before it sends its body, once. */
void stream_send_continue(struct stream *s);
/* Sends an answer that is not the final one (1xx). */
void stream_send_interim(struct stream *s, struct http_msg *m);

/* --- cacheable.c : option checkcache: is the answer one that it refuses? Says so in the log. */
bool stream_response_leaks_cookie(struct stream *s);

/* --- request.c : the head has come: keeps what logs and captures want of it. */
void stream_begin_request(struct stream *s);
/* Runs a list, turns what it decided into a step; NEXT: go on */
enum step stream_rules(struct stream *s, struct proxy *px, enum ruleset set, unsigned dir);

/* --- backend.c */
bool backend_init(void);
/* Lets go of the server's connection and of its slot. */
void stream_drop_back(struct stream *s);
void stream_drop_slot(struct stream *s);
/* After a failure before the answer: may the request be sent again, for this reason (enum
 * proxy_retry)? Then the connection was dropped and the stream made ready for STAGE_ASSIGN.
 */
bool stream_retry(struct stream *s, unsigned event);

/* --- retry.c: retry-budget, retry-delay */

/* One more try of those that are left, if the backend's budget allows it. */
bool retry_take(struct stream *s);
/* The stream is over: another may be tried again. */
void retry_end(struct stream *s);
/* Pause before the next try, random; 0: no delay is set. */
int64_t retry_delay_ms(const struct stream *s);
/* Has the request a field Early-Data? */
bool stream_has_early_field(const struct stream *s);
/* Goes to the next try (STAGE_ASSIGN), after that pause. */
enum step retry_go(struct stream *s);

/* The connection was refused (<at_once>) or did not come in time: another try or the end. */
enum step stream_connect_failed(struct stream *s, bool at_once);

/* --- forward.c */
void stream_forward(struct stream *s);
/* Keeps sources from filling queues that nobody empties. */
void stream_hold_front(struct stream *s);

/* --- account.c : counters and log of a stream */
/* The rate of bytes; false: no memory. */
bool stream_account_init(void);
void stream_account_fini(void);
void stream_count_begin(struct stream *s);
/* A TCP stream became one of HTTP, or makes room for others: its connection is of another kind. */
void stream_count_upgrade(struct stream *s);
/* Notes the second of the last session, in a word that all threads share: written once a second. */
void stream_note_session(int64_t *last_s);
void stream_count_backend(struct stream *s);
void stream_count_end(struct stream *s);
/* A request that was answered at once, without a stream. */
void session_count_answer(struct session *sess, unsigned status, size_t in, size_t out);
/* Counts 1 of enum counter_back for the backend and for the server, as far as there are. */
void stream_count_back(const struct stream *s, unsigned which);
/* Bytes of the answer so far, the server's or our own, as logs and statistics count them. */
uint64_t stream_bytes_out(const struct stream *s);
/* With option contstats: counts the bytes so far, now and then. */
void stream_count_continuously(struct stream *s);

/* --- session.c */
bool session_init(void);
/* Runs the rules of a session whose preambles are done (tcp-request session) and gives its
 * connection to a mux. <readable>: bytes may be waiting. */
void session_start(struct session *s, bool readable);
/* Ends a session before it has a mux. */
void session_abort(struct session *s);
/* For `show fd`; <owner> is a session. */
void session_describe(const void *owner, struct strbuf *out);
bool session_thread_init(void);
/* Gives the connection, which no other mux has any more, to that of HTTP/1 or HTTP/2. False: no
 * memory.
 */
bool session_take_h1(struct session *s);
bool session_take_h2(struct session *s);
/* Is a client whose first bytes are HTTP/2's preface to be believed? */
bool session_may_be_h2(const struct session *s);
/* The HTTP/1 mux, which has the head already, reads its first request: <strm>, instead of a new
 * stream, is the one that it finds for it.
 */
void session_start_with(struct session *s, struct stream *strm);
/* follow.c: <s> goes on with the live generation, or is stopped after its next
 * answer when it has no such frontend or listener any more: which frees it when it is idle.
 */
void session_follow(struct session *s);
/* past.c: the session leaves its generation, which is kept for the streams that there are. False:
 * no memory.
 */
bool session_past_enter(struct session *s);
/* A stream of <cfg>, which the session has left, ends. Returns what the caller must drop when
 * nothing of the stream is looked at any more: the generation if this was the last one, or NULL.
 */
struct config *session_past_leave(struct session *s, struct config *cfg);
extern __thread struct list session_list;
extern __thread struct list stream_list_of_thread;

/* --- session_addr.c : tells the TLS floor where connections are. Once. */
void session_addr_init(void);

/* --- conn_error.c */
struct conn_error {
	uint8_t id;
	const char *name, *message;
};
/* The number of what the log says of a connection (fc_err). */
uint8_t conn_error_id(const char *message);
/* NULL: nothing is wrong. */
const struct conn_error *conn_error_find(uint8_t id);

/* What a log line of an alias needs (struct expr_alias): the end of the stream. */
#define STREAM_NEEDS_END 1u

/* --- log.c */
/* Writes the log line of the stream, once, if its frontend wants one. */
void stream_log(struct stream *s);
/* Frees the calling thread's line. */
void stream_log_thread_fini(void);
/* The same with option logasap: once the answer's head was sent, or the server connected (TCP). */
void stream_log_early(struct stream *s);
/* A line at a step that `log-steps` names. */
void stream_log_step(struct stream *s, enum log_step step);
/* A line because a rule wants one; <s> NULL: of the session. */
void stream_log_now(struct session *sess, struct stream *s, enum log_step step);
/* Without any format of its frontend's, a stream is announced when it begins. */
void stream_log_begin(struct stream *s);
/* A connection which ends before it carries anything: its PROXY protocol header failed. */
void session_log_error(struct session *sess, const char *what);
/* A connection that never became a stream: the answer's status, 0 none, and when its first byte
 * came, 0 never.
 */
void session_log_bad(struct session *sess, int status, uint64_t since_ns, enum stream_cause cause);

/* --- per-proxy settings computed in the check phase (stream_conf.c) */
struct stream_proxy {
	struct mux_settings front, back;
	struct logformat *log_format, *log_format_sd, *error_format, *unique_format;
	const char *log_format_text, *error_format_text;
	const char *unique_header;
	bool log_early;              /* its format needs nothing of the end: do not wait for it */
	unsigned log_steps;          /* bits of enum log_step; 0: one line */
	const struct service_kind *direct; /* answers without a stream what it can; or NULL */
};
extern struct slot stream_proxy_slot;
/* Computes what the muxes need of every proxy; at the start of a generation. */
void stream_fill_settings(struct config *cfg);
/* The muxes count in the states of the proxies: again, once these were adopted. */
void stream_settings_count(struct config *cfg);
unsigned stream_fields_max(void);
/* Those of the process: never NULL. */
const struct stream_tunes *stream_tunes(void);

static inline struct stream_proxy *stream_proxy(const struct proxy *px)
{
	return slot_of(&stream_proxy_slot, proxy_slots(px));
}

/* Process-wide tunables of this generation. */
struct stream_global {
	int64_t bufsize, maxrewrite, maxhdr;
	int64_t maxaccept;
	int64_t maxconn;          /* effective, computed at the start */
};
extern struct slot stream_global_slot;

/* Keep what the frontend wants of the head that has just arrived, for logs and rules (capture.c).
 */
void capture_request(struct stream *s);
void capture_response(struct stream *s);
/* The cookie that an answer sets, after its rules: they may have added it. */
void capture_response_cookie(struct stream *s);
/* Same, the cookie of a request that goes to a server: after the rules, as the reference does. */
void capture_request_cookie(struct stream *s);

#endif
