/* SPDX-License-Identifier: GPL-2.0-or-later */
/* filter_priv.h - the chain of a stream's filters, for the engine
 *
 * Created when the stream's frontend, or the chosen backend, has filters. Then STRM_FILTERED is
 * set, and the driver uses filter_stages instead of stream_stages: they run the same steps, with
 * the callbacks of the filters around them.
 *
 *     filter.c        kinds; attaching, waking, leaving
 *     filter_conf.c   keyword `filter`
 *     filter_stage.c  callbacks before and after each stage
 *     filter_head.c   heads: two stages that are only for streams with filters
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
	size_t passed;     /* how many bytes waiting in the source's rx have passed */
	struct filter *resume; /* the one that end() continues with; or NULL */
	bool drained;      /* all bytes have passed, no more will come */
	bool ended;        /* the end has passed as well */
	bool finished;     /* finish() was called */
};

struct filters {
	struct stream *stream;
	struct filter *first, **tail;      /* the frontend's, then the backend's */
	/* where the callbacks before a stage continue; or NULL */
	struct filter *resume;
	struct filter *waiting, *ended_by; /* for waiting_entity, last_entity; or NULL */
	struct filter_way ways[FILTER_SIDES];
	struct timer timer;                /* filter_wake_ms() */
	struct turn_hook hook;             /* filter_wake() */
	uint8_t stage;                     /* the stage that was entered; STAGE_COUNT: none */
	uint8_t row;                       /* next one of the points of that stage */
	bool has_begun, has_head;          /* in that stage: begin(), head() were called */
	uint8_t verdict;                   /* enum filter_result for the bytes; NEXT: continue */
	uint8_t verdict_side;
	bool has_backend;                  /* the backend is chosen, its filters are attached */
	bool has_points;                   /* one of them has before() or after() */
	bool has_calls;                    /* or another callback around stages */
	/* stages without any callback around them, one bit each */
	uint32_t quiet;
	/* bits by side: a filter has watched it; all filters have begun with it */
	uint8_t watched, begun;
	bool timed_out;                    /* <timer> has fired */
	uint32_t told_run;                 /* the stream's run in which timeout() was called */
};

#define FILTER_SIDE_BIT(side) (uint8_t)(1u << (side))

/* The stages that look for a server; a request already passes the chain meanwhile. */
#define STAGES_OF_TRIES \
	((1u << (STAGE_TURN_AROUND + 1)) - (1u << STAGE_ASSIGN))

/* --- filter.c */

/* Returns the kinds in order of names, from *at = 0 on; NULL: no more. */
const struct filter_kind *filter_kind_next(unsigned *at);
/* Finds a kind defined by a script of <cfg>, see filters_set_scripts(). NULL: unknown. */
const struct filter_kind *filter_kind_of_script(const struct config *cfg, const char *name);
/* Adds a line of a proxy, after the others. */
struct stream_proxy;
void filter_conf_append(struct stream_proxy *sp, struct filter_conf *c);

/* Attaches the filters of a proxy to a stream that has none yet, or none of the backend's. False:
 * out of memory; filters already attached stay.
 */
bool filters_attach(struct stream *s, const struct proxy *px);
/* Returns the stages, among those that are idle for the proxies, in which filters have nothing to
 * do either.
 */
uint32_t filters_idle_stages(const struct filters *fs);
/* Calls the final callbacks and detaches all filters. Once, before the stream is freed. */
void filters_end(struct stream *s);
void filters_finish(struct filters *fs, enum filter_side side);

/* Calls a callback that may wait, for one filter; <arg> is the caller's. */
typedef enum filter_result filter_call(struct filter *f, unsigned arg);
/* Runs <call> for all filters, from *resume on, where it last returned FILTER_WAIT (NULL: the first
 * one). Stops at any result other than FILTER_NEXT.
 */
enum filter_result filters_call(struct filters *fs, struct filter **resume, filter_call *call,
				unsigned arg);

/* Runs a call that cannot wait, for all filters. */
void filters_call_all(struct filters *fs, filter_call *call, unsigned arg);
/* The backend is chosen and its filters are attached: informs all filters. Returns true. */
bool filters_tell_backend(struct filters *fs);
/* For stage_begin() and stage_switch(), whose result would be <step>: <px> has filters, the stream
 * has none yet. Returns the result of the stage.
 */
enum step filters_open(struct stream *s, const struct proxy *px, enum step step);

/* --- filter_stage.c : the stages of streams with filters. */
extern const struct stage_step filter_stages[STAGE_COUNT];

/* --- filter_head.c : converts a filter's result to a step; STEP_NEXT for FILTER_NEXT. */
enum step filters_step(struct stream *s, enum filter_side side, enum filter_result r);

/* --- filter_flow.c */

/* Moves bytes of <rx> that have passed to <tx>, and passes more of them through the chain. *end: no
 * bytes follow <rx>; set to whether the end has passed. True: something has passed.
 */
bool filters_flow(struct stream *s, enum filter_side side, struct block_queue *rx,
		  struct block_queue *tx, bool *end);
/* All bytes of a side have passed: passes its end when all filters let it. */
enum filter_result filters_pass_end(struct filters *fs, enum filter_side side);
/* Passes the request through the chain before there is a server: bytes that have passed wait in
 * front.rx.
 */
void filters_flow_ahead(struct stream *s);
/* Drops the bytes of a side that has no destination any more. */
void filters_drop(struct stream *s, enum filter_side side);
/* Has the whole request passed, so that it can be kept for a retry? */
bool filters_have_passed(const struct stream *s);
/* front.rx was filled with bytes that have already passed. */
void filters_replay(struct stream *s);
/* Implements stream_instead_fn. */
bool filters_instead(struct stream *s, unsigned status, bool is_servers);
/* Switches both sides to bytes. */
void filters_open_tunnel(struct stream *s);
/* Is the whole HTTP request here, unsent, and small enough to be kept for a retry? */
static inline bool stream_has_whole_request(const struct stream *s)
{
	if (!(s->flags & STRM_HTTP) || !(s->front.flags & EP_RX_END))
		return false;
	if (unlikely(s->flags & STRM_FILTERED) && !filters_have_passed(s))
		return false;
	return s->front.rx.len <= block_size();
}
/* Does no filter need the bytes of this side, nor their end? Then they pass as without filters.
 * (The end of a request matters to retries.)
 */
static inline bool filters_stand_aside(const struct stream *s, enum filter_side side)
{
	const struct filters *fs = s->filters;
	const struct filter_way *way = &fs->ways[side];

	return !fs->has_calls && !(fs->watched & FILTER_SIDE_BIT(side)) && !way->passed &&
	       fs->verdict == FILTER_NEXT && (side == FILTER_RESPONSE || way->ended);
}
/* Does a filter watch or hold bytes of this side? Then they cannot be spliced. */
bool filters_see(const struct stream *s, enum filter_side side);

#endif
