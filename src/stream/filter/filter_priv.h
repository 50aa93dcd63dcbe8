/* SPDX-License-Identifier: GPL-2.0-or-later */
/* filter_priv.h - the chain of a stream's filters, for the engine
 *
 * Made when the stream's frontend, or the backend chosen, has filters. STRM_FILTERED is set then,
 * and the driver takes the stages of filter_stages instead of stream_stages: those run the same
 * steps, with the callbacks of the filters around them.
 *
 *     filter.c        kinds; attaching, waking, leaving
 *     filter_conf.c   keyword `filter`
 *     filter_stage.c  what is called before and behind each stage
 *     filter_head.c   heads: two stages that streams without filters do not have
 *     filter_flow.c   bytes and ends
 */
#ifndef STREAM_FILTER_PRIV_H
#define STREAM_FILTER_PRIV_H

#include "core/thread.h"
#include "core/timer.h"
#include "stream/filter.h"
#include "../engine_priv.h"

/* One direction. */
struct filter_way {
	size_t passed;     /* so much of what waits in the source's rx has passed */
	struct filter *resume; /* the one that end() goes on with; or NULL */
	bool drained;      /* all bytes have passed, none will come */
	bool ended;        /* the end has passed as well */
	bool finished;     /* finish() was called */
};

struct filters {
	struct stream *stream;
	struct filter *first, **tail;      /* the frontend's, then the backend's */
	struct filter *resume;             /* where what comes before a stage goes on; or NULL */
	struct filter *waiting, *ended_by; /* for waiting_entity, last_entity; or NULL */
	struct filter_way ways[FILTER_SIDES];
	struct timer timer;                /* filter_wake_ms() */
	struct turn_hook hook;             /* filter_wake() */
	uint8_t stage;                     /* the one that was entered; STAGE_COUNT: none */
	uint8_t row;                       /* of the points of that stage: the next one */
	bool has_begun, has_head;          /* in that stage: begin(), head() were called */
	uint8_t verdict;                   /* enum filter_result: of bytes; NEXT: go on */
	uint8_t verdict_side;
	bool has_backend;                  /* the backend is chosen, its filters are attached */
	bool has_points;                   /* one of them has before() or after() */
	bool has_calls;                    /* or anything else that is called around stages */
	uint32_t quiet;                    /* stages around which nothing is called, a bit each */
	/* bits by side: one of them has watched it; all have begun with it */
	uint8_t watched, begun;
	bool timed_out;                    /* <timer> has fired */
	uint32_t told_run;                 /* the stream's run in which timeout() was called */
};

#define FILTER_SIDE_BIT(side) (uint8_t)(1u << (side))

/* Those that look for a server, during which a request goes through the chain already. */
#define STAGES_OF_TRIES \
	((1u << (STAGE_TURN_AROUND + 1)) - (1u << STAGE_ASSIGN))

/* --- filter.c */

/* The kinds in the order of their names, from *at = 0 on; NULL: no more. */
const struct filter_kind *filter_kind_next(unsigned *at);
/* What a script of <cfg> has brought, see filters_set_scripts(). NULL: unknown. */
const struct filter_kind *filter_kind_of_script(const struct config *cfg, const char *name);
/* One more line of a proxy, behind the others. */
struct stream_proxy;
void filter_conf_append(struct stream_proxy *sp, struct filter_conf *c);

/* Attaches the filters of a proxy to a stream that has none yet, or none of the backend's. False:
 * no memory; what was attached stays.
 */
bool filters_attach(struct stream *s, const struct proxy *px);
/* Of the stages that the proxies make idle, those in which filters have nothing to do either. */
uint32_t filters_idle_stages(const struct filters *fs);
/* Calls what is due at the end, and detaches all. Once, before the stream goes. */
void filters_end(struct stream *s);
void filters_finish(struct filters *fs, enum filter_side side);

/* A callback that may wait, of one filter; <arg> is the caller's. */
typedef enum filter_result filter_call(struct filter *f, unsigned arg);
/* Calls it for all filters, from *resume on, where it returned FILTER_WAIT last time (NULL: the
 * first one). What is not FILTER_NEXT ends it.
 */
enum filter_result filters_call(struct filters *fs, struct filter **resume, filter_call *call,
				unsigned arg);

/* Calls what cannot wait, for all filters. */
void filters_call_all(struct filters *fs, filter_call *call, unsigned arg);
/* The backend is chosen, and its filters are attached: tells them all. Returns true. */
bool filters_tell_backend(struct filters *fs);
/* For stage_begin() and stage_switch(), which would return <step>: <px> has filters, the stream has
 * none so far. Returns what the stage returns.
 */
enum step filters_open(struct stream *s, const struct proxy *px, enum step step);

/* --- filter_stage.c : the stages of a stream with filters. */
extern const struct stage_step filter_stages[STAGE_COUNT];

/* --- filter_head.c : what a filter wants, as a step; STEP_NEXT for FILTER_NEXT. */
enum step filters_step(struct stream *s, enum filter_side side, enum filter_result r);

/* --- filter_flow.c */

/* Moves what has passed of <rx> to <tx>, and more of it through the chain. *end: none will come
 * behind <rx>; set to whether the end has passed. Returns whether anything passed.
 */
bool filters_flow(struct stream *s, enum filter_side side, struct block_queue *rx,
		  struct block_queue *tx, bool *end);
/* All bytes of a side have passed: its end does, when all filters let it. */
enum filter_result filters_pass_end(struct filters *fs, enum filter_side side);
/* The request goes through the chain before there is a server: what passes waits in front.rx. */
void filters_flow_ahead(struct stream *s);
/* Forgets the bytes of a side: there is no destination any more. */
void filters_drop(struct stream *s, enum filter_side side);
/* Has the request passed whole, so that it can be kept for another try? */
bool filters_have_passed(const struct stream *s);
/* front.rx was filled with what had passed once. */
void filters_replay(struct stream *s);
/* A stream_instead_fn. */
bool filters_instead(struct stream *s, unsigned status, bool is_servers);
/* From now on both sides are bytes. */
void filters_open_tunnel(struct stream *s);
/* Is the whole of an HTTP request here, unsent, and small enough to be kept for another try? */
static inline bool stream_has_whole_request(const struct stream *s)
{
	if (!(s->flags & STRM_HTTP) || !(s->front.flags & EP_RX_END))
		return false;
	if (unlikely(s->flags & STRM_FILTERED) && !filters_have_passed(s))
		return false;
	return s->front.rx.len <= block_size();
}
/* Does no filter want to know of the bytes of this side, nor of their end? They pass as they do
 * without filters then. (That a request has ended matters to further tries.)
 */
static inline bool filters_stand_aside(const struct stream *s, enum filter_side side)
{
	const struct filters *fs = s->filters;
	const struct filter_way *way = &fs->ways[side];

	return !fs->has_calls && !(fs->watched & FILTER_SIDE_BIT(side)) && !way->passed &&
	       fs->verdict == FILTER_NEXT && (side == FILTER_RESPONSE || way->ended);
}
/* Does a filter watch the bytes of this side, or hold some? Then they cannot be spliced. */
bool filters_see(const struct stream *s, enum filter_side side);

#endif
