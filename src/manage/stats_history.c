/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats_history.c - edge file: stats history, show history, and the timer that fills the rings
 *
 * A round reads all objects once, for one time step. It holds the generation that it started with.
 */
#include "manage/stats_history.h"
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "base/module.h"
#include "base/slot.h"
#include "conf/conf.h"
#include "core/mailbox.h"
#include "core/thread.h"
#include "core/timer.h"
#include "ctl/ctl.h"
#include "manage/modules.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "proxy/walk.h"

#define STEP_MS (1000 * HISTORY_STEP_S)
#define OBJECTS_A_TURN 64
#define BETWEEN_TURNS_MS 2
#define BYTES_DEFAULT ((uint64_t)32 << 20)

struct history_conf {
	bool is_wanted, is_off;
	uint64_t bytes;     /* 0: BYTES_DEFAULT */
};

static struct slot conf_slot = { .of = SLOT_CONFIG, .size = sizeof(struct history_conf) };

/* Thread 0's, but for what is atomic. */
static struct {
	struct timer timer;
	bool is_on;             /* atomic */
	uint64_t bytes;         /* atomic: bound of all rings */
	struct history_span known; /* atomic; since 0: no round has ended yet */
	bool is_short;          /* an object had no ring for want of room */
	/* the round */
	struct config *config;  /* counted; NULL: none is under way */
	struct proxy_hold hold;
	uint64_t step;
	struct proxy *px;       /* the next one */
	struct server *srv;     /* the last one of its that was read; NULL: none */
} history;

void stats_history_want(struct config *cfg)
{
	struct history_conf *c = slot_of(&conf_slot, config_slots(cfg));

	c->is_wanted = true;
}

static uint64_t get(const uint64_t *from)
{
	return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}

bool stats_history_span(struct history_span *out)
{
	out->since = get(&history.known.since);
	out->last = get(&history.known.last);
	return __atomic_load_n(&history.is_on, __ATOMIC_RELAXED) && out->since &&
	       out->last > out->since;
}

const struct history *stats_history_of(enum stats_kind kind, const struct proxy *px,
				       const struct server *srv)
{
	switch (kind) {
	case STATS_FRONTEND:
		return __atomic_load_n(&px->state->fe_history, __ATOMIC_ACQUIRE);
	case STATS_BACKEND:
		return __atomic_load_n(&px->state->be_history, __ATOMIC_ACQUIRE);
	case STATS_SERVER:
		return __atomic_load_n(&srv->state->history, __ATOMIC_ACQUIRE);
	default:
		return NULL;
	}
}

/* --- one object ------------------------------------------------------------------------------- */

/* What it has counted so far: requests, or sessions where there are none; and what went wrong.
 * Retries of a backend are errors of its servers.
 */
static void read_object(enum stats_kind kind, const struct proxy *px, const struct counter_set *set,
			uint64_t values[HISTORY_FIGURES])
{
	bool http = px->mode == PROXY_MODE_HTTP;
	uint64_t errors = http ? counter_read(set, CNT_HRSP_5XX) : 0;
	int64_t open = (int64_t)counter_read(set, CNT_SESS_CUR);

	if (kind == STATS_FRONTEND)
		errors += counter_read(set, CNT_REQ_ERRORS);
	else if (kind == STATS_SERVER || !http)
		errors += counter_read(set, CNT_CONN_ERRORS) + counter_read(set, CNT_RESP_ERRORS);
	values[HISTORY_DONE] = counter_read(set, http ? CNT_REQ_TOT : CNT_SESS_TOT);
	values[HISTORY_ERRORS] = errors;
	values[HISTORY_OPEN] = open > 0 ? (uint64_t)open : 0;
}

static bool there_is_room(void)
{
	return (history_count() + 1) * sizeof(struct history) <=
	       __atomic_load_n(&history.bytes, __ATOMIC_RELAXED);
}

/* Everything that an object without a ring has counted came in this step, unless counting began
 * before the rounds did, or a ring could not be had.
 */
static void keep_object(enum stats_kind kind, const struct proxy *px, const struct counter_set *set,
			struct history **at)
{
	static const uint64_t nothing[HISTORY_COUNTED];
	uint64_t values[HISTORY_FIGURES];
	struct history *h = *at;

	read_object(kind, px, set, values);
	if (h) {
		history_add(h, history.step, values);
		return;
	}
	if (!values[HISTORY_DONE] && !values[HISTORY_ERRORS] && !values[HISTORY_OPEN])
		return;
	if (there_is_room())
		h = history_new(history.step - 1, history.known.since && !history.is_short
				? nothing : values);
	if (!h) {
		history.is_short = true;
		return;
	}
	history_add(h, history.step, values);
	__atomic_store_n(at, h, __ATOMIC_RELEASE);
}

static void keep_proxy(const struct proxy *px)
{
	if (px->caps & PROXY_FE)
		keep_object(STATS_FRONTEND, px, &px->state->fe, &px->state->fe_history);
	if (px->caps & PROXY_BE)
		keep_object(STATS_BACKEND, px, &px->state->be, &px->state->be_history);
}

/* --- rounds ----------------------------------------------------------------------------------- */

static void begin_round(uint64_t step)
{
	history.step = step;
	history.config = config_take(proxies_current());
	proxies_hold(&history.hold);
	history.px = proxies_first(history.config);
	history.srv = NULL;
}

static void end_round(void)
{
	if (!history.config)
		return;
	proxies_release(&history.hold);
	config_drop(&history.config);
}

/* True: that was the last object. */
static bool go_on(void)
{
	unsigned left = OBJECTS_A_TURN;

	for (; history.px; history.px = proxy_next(history.px), history.srv = NULL) {
		struct proxy *px = history.px;

		if (!history.srv && px->state && !px->disabled)
			keep_proxy(px);
		if (!left--)
			return false;
		if (!px->state || px->disabled || !(px->caps & PROXY_BE))
			continue;
		for (;;) {
			struct server *srv = history.srv ? server_next(history.srv)
							 : server_first(px);

			if (!srv)
				break;
			history.srv = srv;
			keep_object(STATS_SERVER, px, &srv->state->counters, &srv->state->history);
			if (!left--)
				return false;
		}
	}
	return true;
}

static void timer_fires(struct timer *t)
{
	uint64_t now = clock_now_ms();

	if (!history.config)
		begin_round(now / STEP_MS);
	if (!go_on()) {
		timer_set(t, now + BETWEEN_TURNS_MS);
		return;
	}
	end_round();
	__atomic_store_n(&history.known.last, history.step, __ATOMIC_RELEASE);
	if (!history.known.since)
		__atomic_store_n(&history.known.since, history.step, __ATOMIC_RELEASE);
	timer_set(t, (history.step + 1) * STEP_MS);
}

static void stop(void)
{
	__atomic_store_n(&history.is_on, false, __ATOMIC_RELAXED);
	timer_cancel(&history.timer);
	end_round();
}

static bool history_start(struct config *cfg, struct diag_list *diags)
{
	const struct history_conf *c = slot_of(&conf_slot, config_slots(cfg));
	bool on = c->is_wanted && !c->is_off;

	(void)diags;
	__atomic_store_n(&history.bytes, c->bytes ? c->bytes : BYTES_DEFAULT, __ATOMIC_RELAXED);
	if (on == history.is_on)
		return true;
	if (!on) {
		stop();
		return true;
	}
	__atomic_store_n(&history.known.since, 0, __ATOMIC_RELEASE);
	timer_init(&history.timer, timer_fires);
	timer_set(&history.timer, clock_now_ms());
	__atomic_store_n(&history.is_on, true, __ATOMIC_RELAXED);
	return true;
}

static void history_thread_fini(void)
{
	if (thread_id == 0 && history.is_on)
		stop();
}

/* --- servers that are removed ----------------------------------------------------------------- */

struct leaving {
	struct server_state *state;
	struct history *ring;   /* NULL: the round may still stand on the server */
};

static void pass(void *ctx)
{
	(void)ctx;
}

static void tour_is_over(void *ctx)
{
	struct leaving *l = ctx;

	if (!l->ring) {
		l->ring = __atomic_exchange_n(&l->state->history, NULL, __ATOMIC_ACQ_REL);
		if (l->ring && thread_call_all(pass, tour_is_over, l))
			return;
		if (l->ring) /* no memory: it goes with the state */
			__atomic_store_n(&l->state->history, l->ring, __ATOMIC_RELEASE);
		l->ring = NULL;
	}
	history_free(&l->ring);
	server_state_drop(&l->state);
	free(l);
}

void stats_history_forget(struct server *srv)
{
	const struct history *h = stats_history_of(STATS_SERVER, srv->proxy, srv);
	struct leaving *l = h ? calloc(1, sizeof(*l)) : NULL;

	if (!l)
		return;
	l->state = server_state_take(srv->state);
	if (thread_call_all(pass, tour_is_over, l))
		return;
	server_state_drop(&l->state);
	free(l);
}

/* --- show history ----------------------------------------------------------------------------- */

static void show_totals(struct ctl_request *rq)
{
	bool on = __atomic_load_n(&history.is_on, __ATOMIC_RELAXED);
	struct history_span span;
	uint64_t seconds = stats_history_span(&span)
			 ? (span.last - span.since) * HISTORY_STEP_S : 0;

	strbuf_printf(rq->out, "state: %s\nobjects: %llu\nobject_bytes: %zu\nbytes: %llu\n"
		      "max_bytes: %llu\nseconds: %llu\n", on ? "on" : "off",
		      (unsigned long long)history_count(), sizeof(struct history),
		      (unsigned long long)(history_count() * sizeof(struct history)),
		      (unsigned long long)__atomic_load_n(&history.bytes, __ATOMIC_RELAXED),
		      (unsigned long long)seconds);
}

/* The object that the words name; false: there is none. */
static bool find_object(const struct ctl_request *rq, const struct history **out)
{
	const struct config *cfg = proxies_current();
	const char *name = rq->words[rq->at], *of = rq->words[rq->at + 1];
	const struct proxy *px;
	const struct server *srv = NULL;

	if (of && strcmp(of, "FRONTEND") == 0) {
		px = proxy_find(cfg, name, PROXY_FE);
		*out = px ? stats_history_of(STATS_FRONTEND, px, NULL) : NULL;
		return px != NULL;
	}
	px = proxy_find(cfg, name, PROXY_BE);
	if (!px || !of)
		return false;
	if (strcmp(of, "BACKEND") == 0) {
		*out = stats_history_of(STATS_BACKEND, px, NULL);
		return true;
	}
	srv = server_find(px, of);
	*out = srv ? stats_history_of(STATS_SERVER, px, srv) : NULL;
	return srv != NULL;
}

/* Newest first: how long ago it ended, and what was counted in it. */
static void show_points(struct ctl_request *rq, const struct history *h, bool minutes)
{
	uint64_t (*point)(const struct history *, enum history_figure, uint64_t) =
		minutes ? history_minute : history_step;
	unsigned per = minutes ? HISTORY_MINUTE : 1, most = minutes ? HISTORY_MINUTES
								     : HISTORY_STEPS;
	struct history_span span;

	strbuf_add_str(rq->out, "# seconds_ago,done,errors,open\n");
	if (!stats_history_span(&span))
		return;
	for (uint64_t at = span.last / per, n = 0; n < most && at * per + per > span.since + 1;
	     at--, n++) {
		uint64_t end = at * per + per - 1;

		strbuf_printf(rq->out, "%llu", (unsigned long long)
			      (end < span.last ? (span.last - end) * HISTORY_STEP_S : 0));
		for (unsigned f = 0; f < HISTORY_FIGURES; f++)
			strbuf_printf(rq->out, ",%llu", (unsigned long long)
				      (h ? point(h, (enum history_figure)f, at) : 0));
		strbuf_add_char(rq->out, '\n');
	}
}

static enum ctl_step show_history(struct ctl_request *rq)
{
	const struct history *h = NULL;
	bool minutes = false;

	if (rq->at >= rq->count) {
		show_totals(rq);
		return CTL_DONE;
	}
	if (rq->count - rq->at == 3)
		minutes = strcmp(rq->words[rq->at + 2], "minutes") == 0;
	if (rq->count - rq->at > 3 || (rq->count - rq->at == 3 && !minutes))
		ctl_error(rq, "Expects a proxy, FRONTEND, BACKEND or a server, and 'minutes' or "
			  "nothing.");
	else if (!find_object(rq, &h))
		ctl_error(rq, "No such frontend, backend or server.");
	else
		show_points(rq, h, minutes);
	return CTL_DONE;
}

/* --- tables ----------------------------------------------------------------------------------- */

static bool parse_history(struct conf_line *l)
{
	struct history_conf *c = slot_of(&conf_slot, l->slots);
	const char *word = conf_peek(l);

	c->is_off = word && strcmp(word, "off") == 0;
	c->bytes = 0;
	if (c->is_off || (word && strcmp(word, "on") == 0)) {
		l->at++;
		return true;
	}
	if (!word)
		return conf_error(l, l->count, NULL, "'stats history' expects 'on', 'off' or the "
				  "bytes that it may take.");
	if (!conf_take_size(l, &c->bytes))
		return false;
	return c->bytes >= sizeof(struct history) ||
	       conf_error(l, l->at - 1, NULL, "'stats history' needs %zu bytes for each object.",
			  sizeof(struct history));
}

static const struct conf_keyword keywords[] = {
	{ .words = "stats history", .where = CONF_GLOBAL, .max_args = 1, .parse = parse_history,
	  .syntax = "{ on | off | <size> }",
	  .help = "keep what statistics pages show of the last day, and in how much memory (32m)" },
	{ 0 }
};

static const struct ctl_command commands[] = {
	{ .words = "show history", .level = CTL_USER,
	  .syntax = "[<proxy> {FRONTEND|BACKEND|<server>} [minutes]]",
	  .help = "what was counted lately, for statistics pages, and its memory",
	  .run = show_history },
	{ 0 }
};

static struct slot *const slots[] = { &conf_slot, NULL };

const struct module mod_stats_history = {
	.name = "stats_history", .keywords = keywords, .commands = commands, .slots = slots,
	.start = history_start, .thread_fini = history_thread_fini,
};
