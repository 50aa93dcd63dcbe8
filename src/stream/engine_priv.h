/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine_priv.h - stages, and what they share: what drives a stream from BEGIN to END */
#ifndef STREAM_ENGINE_PRIV_H
#define STREAM_ENGINE_PRIV_H

#include "base/bug.h"
#include "base/slice.h"
#include "stream/rule.h"
#include "stream/stream.h"
#include "stream/wait.h"

/* --- stream.c */
bool stream_init(void);
/* Runs the stages as far as they go. May free the stream. */
void stream_run(struct stream *s);
/* The whole text of the error page of <fe> for <status>, as HTTP/1 sends it, until this thread's
 * next call; slice_none(): silent.
 */
struct slice stream_page_text(struct proxy *fe, unsigned status);
/* Frees the room of the calling thread's page. */
void stream_page_thread_fini(void);

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
/* Has a filter an answer instead of <status>, the server's or the program's? Then STAGE_SEND
 * is next.
 */
typedef bool stream_instead_fn(struct stream *s, unsigned status, bool is_servers);
/* Gives it to the driver, and those for streams with filters. Once, at start-up. */
void stream_set_stages(const struct stage_step *table, const struct stage_step *filtered,
		       stream_instead_fn *instead);

/* Where each stage may lead, beside the next one, as bits. */
extern const uint32_t stream_moves[STAGE_COUNT];

/* Goes to <stage> and runs it next. */
static inline enum step stream_goto(struct stream *s, enum stream_stage stage)
{
	CHECK_ON(!(stream_moves[s->stage] >> stage & 1));
	s->stage = (uint8_t)stage;
	return STEP_AGAIN;
}

/* Goes to <stage> or, where that is idle (see settings.c), to the next one that is not. */
static inline enum step stream_goto_busy(struct stream *s, enum stream_stage stage)
{
	s->stage = (uint8_t)(stage - 1);
	return STEP_NEXT;
}

/* Ends for this reason, with the page of its row; returns what the stage must return. */
enum step stream_fail(struct stream *s, enum stream_end why);
/* As stream_fail(), with another status than that of the end's row. */
enum step stream_fail_with(struct stream *s, enum stream_end why, unsigned status);
/* Sends the answer in s->res. */
enum step stream_reply(struct stream *s);
/* The other side's end, while waiting for a server: true when the stream must end. */
bool stream_client_left(struct stream *s);
/* Ends all waits of <s> without an answer: nothing that it waited for matters any more. */
void stream_cancel_waits(struct stream *s);

/* Adds the field of unique-id-header. False: no memory. */
bool stream_add_unique_id(struct stream *s);

/* --- wait.c: takes <w>, which waits, out of its stream's list. */
void stream_wait_end(struct stream_wait *w);

/* --- forwarded.c : option forwarded. False: no memory. */
bool stream_add_forwarded(struct stream *s);
/* --- cacheable.c : option checkcache: does the answer set cookies? To be asked before ours is. */
bool stream_response_has_cookie(const struct stream *s);
/* An answer that does: is it one that the option refuses? Says so in the log. */
bool stream_response_leaks_cookie(struct stream *s);
/* May caches keep an answer of that status to a request of that method, if fields allow it? */
bool stream_is_cacheable(const struct stream *s);

/* --- request.c : the head has come: keeps what logs and captures want of it. */
void stream_begin_request(struct stream *s);

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

/* One more try of those that are left, if the backend's budget allows it; then its trail gets why
 * the last one was given up: an end that it did not become, or the status of an answer (END_NONE).
 */
bool retry_take(struct stream *s, enum stream_end why);
/* The stream is over: another may be tried again. */
void retry_end(struct stream *s);
/* Has the request a field Early-Data? */
bool stream_has_early_field(const struct stream *s);
/* Goes to the next try (STAGE_ASSIGN), after that pause. */
enum step retry_go(struct stream *s);

/* --- response.c : a rule or a filter waits with the answer: the request goes on meanwhile. */
enum step stream_response_wait(struct stream *s);

/* --- forward.c */
void stream_forward(struct stream *s);
/* Keeps sources from filling queues that are not emptied. */
void stream_hold_front(struct stream *s);

#endif
