/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine_priv.h - stages and their shared functions: what drives a stream from BEGIN to END */
#ifndef STREAM_ENGINE_PRIV_H
#define STREAM_ENGINE_PRIV_H

#include "base/bug.h"
#include "base/slice.h"
#include "stream/rule.h"
#include "stream/stream.h"
#include "stream/wait.h"

/* --- stream.c */
bool stream_init(void);
/* Runs the stages as far as possible. May free the stream. */
void stream_run(struct stream *s);
/* Returns the whole error page of <fe> for <status> as HTTP/1, valid until this thread's next call;
 * slice_none(): silent.
 */
struct slice stream_page_text(struct proxy *fe, unsigned status);
/* Frees the page buffer of the calling thread. */
void stream_page_thread_fini(void);

/* A stage: its name, its function, and the character in the log when a stream ends in it. */
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
/* Has a filter a response that replaces <status>, the server's or the program's? Then STAGE_SEND is
 * next.
 */
typedef bool stream_instead_fn(struct stream *s, unsigned status, bool is_servers);
/* Gives the driver its table, and the one for streams with filters. Call once, at start-up. */
void stream_set_stages(const struct stage_step *table, const struct stage_step *filtered,
		       stream_instead_fn *instead);

/* Stages that may follow each stage, besides the next one, as bits. */
extern const uint32_t stream_moves[STAGE_COUNT];

/* Goes to <stage> and runs it next. */
static inline enum step stream_goto(struct stream *s, enum stream_stage stage)
{
	CHECK_ON(!(stream_moves[s->stage] >> stage & 1));
	s->stage = (uint8_t)stage;
	return STEP_AGAIN;
}

/* Goes to <stage> or, if it is idle (see settings.c), to the next stage that is not. */
static inline enum step stream_goto_busy(struct stream *s, enum stream_stage stage)
{
	s->stage = (uint8_t)(stage - 1);
	return STEP_NEXT;
}

/* Ends the stream for this reason, with the page of its row. Returns what the stage must return. */
enum step stream_fail(struct stream *s, enum stream_end why);
/* As stream_fail(), with another status than the row's. */
enum step stream_fail_with(struct stream *s, enum stream_end why, unsigned status);
/* Sends the response in s->res. */
enum step stream_reply(struct stream *s);
/* Has the client left while a server is awaited, so that the stream must end? */
bool stream_client_left(struct stream *s);
/* Cancels all waits of <s>: their results no longer matter. */
void stream_cancel_waits(struct stream *s);

/* Adds the field of unique-id-header. False: out of memory. */
bool stream_add_unique_id(struct stream *s);

/* --- wait.c: removes <w>, which is waiting, from its stream's list. */
void stream_wait_end(struct stream_wait *w);

/* --- forwarded.c : option forwarded. False: no memory. */
bool stream_add_forwarded(struct stream *s);
/* --- cacheable.c : option checkcache: does the response set cookies? Call before ours is added. */
bool stream_response_has_cookie(const struct stream *s);
/* Must the option refuse this response with cookies? Notes it for the log. */
bool stream_response_leaks_cookie(struct stream *s);
/* May caches keep an answer of that status to a request of that method, if fields allow it? */
bool stream_is_cacheable(const struct stream *s);

/* --- request.c : the head has come: keeps what logs and captures want from it. */
void stream_begin_request(struct stream *s);

/* --- backend.c */
bool backend_init(void);
/* Release the server's connection and its slot. */
void stream_drop_back(struct stream *s);
void stream_drop_slot(struct stream *s);
/* After a failure before the response: may the request be sent again because of <event> (enum
 * proxy_retry_event)? If so, the connection was dropped and the stream was prepared for
 * STAGE_ASSIGN.
 */
bool stream_retry(struct stream *s, unsigned event);

/* --- retry.c: retry-budget, retry-delay */

/* Uses one of the remaining tries, if the backend's budget allows it; then notes in the trail why
 * the last one was given up: <why>, which does not become the stream's end, or the status of a
 * response (END_NONE).
 */
bool retry_take(struct stream *s, enum stream_end why);
/* The stream is over: another one may retry. */
void retry_end(struct stream *s);
/* Has the request a field Early-Data? */
bool stream_has_early_field(const struct stream *s);
/* Goes to the next try (STAGE_ASSIGN), after the configured pause. */
enum step retry_go(struct stream *s);

/* --- response.c : a rule or a filter holds the response: the request continues meanwhile. */
enum step stream_response_wait(struct stream *s);

/* --- forward.c */
void stream_forward(struct stream *s);
/* Stops sources whose queues are not emptied. */
void stream_hold_front(struct stream *s);

#endif
