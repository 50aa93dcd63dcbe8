/* SPDX-License-Identifier: GPL-2.0-or-later */
/* account.c - adds a stream's counts to its frontend, listener, backend and server */
#include "base/clock.h"
#include "proxy/balance.h"
#include "proxy/bind.h"
#include "stream/track.h"
#include "account_priv.h"
#include "log_priv.h"

/* How often `option contstats` counts the bytes of a stream that goes on. Manual: 5 seconds. */
#define CONTSTATS_MS 5000

void stream_note_session(int64_t *last_s)
{
	int64_t now = (int64_t)(clock_wall_us() / 1000000);

	if (__atomic_load_n(last_s, __ATOMIC_RELAXED) == now)
		return;
	SHARED_WRITE(process);
	__atomic_store_n(last_s, now, __ATOMIC_RELAXED);
}

/* For the frontend, and its listener where that has figures of its own. */
static void count_front(struct proxy *fe, struct listener_conf *l, unsigned which, int64_t n)
{
	counter_add(&fe->state->fe, which, n);
	if (fe->options & PROXY_OPT_SOCKET_STATS)
		counter_add(&l->state->counters, which, n);
}

static void count_request(struct proxy *fe, struct listener_conf *l, unsigned version)
{
	proxy_count_request(fe);
	counter_add(&fe->state->fe, counter_of_version(version), 1);
	if (fe->options & PROXY_OPT_SOCKET_STATS)
		counter_add(&l->state->counters, CNT_REQ_TOT, 1);
}

void stream_count_begin(struct stream *s)
{
	stream_log_begin(s);
	if (s->flags & STRM_HTTP)
		count_request(s->fe, s->listener, s->req.version);
}

void stream_count_upgrade(struct stream *s)
{
	counter_add(&s->fe->state->fe, CNT_SESS_OTHER, -1);
	if (!(s->flags & STRM_HTTP))
		return;
	count_request(s->fe, s->listener, s->req.version);
	if (tables_are_used())
		track_request(s);
	if (s->flags & STRM_BE_COUNTED)
		counter_add(&s->be->state->be, CNT_REQ_TOT, 1);
}


void stream_count_backend(struct stream *s)
{
	struct proxy_state *st = s->be->state;

	if (s->flags & STRM_BE_COUNTED || !(s->be->caps & PROXY_BE))
		return;
	s->flags |= STRM_BE_COUNTED;
	gauge_add(&st->be, CNT_SESS_CUR, 1, &st->be_session_max);
	counter_add(&st->be, CNT_SESS_TOT, 1);
	if (s->flags & STRM_HTTP)
		counter_add(&st->be, CNT_REQ_TOT, 1);
	rate_set_add(&st->be_session_rate, 1);
	stream_note_session(&st->last_session_s);
}

uint64_t stream_bytes_out(const struct stream *s)
{
	return s->back.rx_bytes + s->local.bytes;
}

/* Bytes that are to be counted. */
struct traffic {
	uint64_t in, out, req_out, res_in, res_out;
};

/* <first>: CNT_FRONT_REQ_OUT or CNT_BACK_REQ_OUT. */
static inline void count_traffic(struct counter_set *set, const struct traffic *t, unsigned first)
{
	uint64_t *mine = counter_mine(set, 0);

	SHARED_WRITE(group);
	counter_bump(mine + CNT_BYTES_IN, (int64_t)t->in);
	counter_bump(mine + CNT_BYTES_OUT, (int64_t)t->out);
	counter_bump(mine + first, (int64_t)t->req_out);
	counter_bump(mine + first + 1, (int64_t)t->res_in);
	counter_bump(mine + first + 2, (int64_t)t->res_out);
}

static void count_front_bytes(struct proxy *fe, struct listener_conf *l, const struct traffic *t)
{
	count_traffic(&fe->state->fe, t, CNT_FRONT_REQ_OUT);
	if (fe->options & PROXY_OPT_SOCKET_STATS)
		count_traffic(&l->state->counters, t, CNT_FRONT_REQ_OUT);
}

/* What <now> has more than was <counted> before, which becomes <now>. */
static inline uint64_t more(uint64_t now, uint64_t *counted)
{
	uint64_t before = *counted;

	*counted = now;
	return now > before ? now - before : 0;
}

/* Adds what was not counted yet of the bytes on both sides. */
static void count_bytes(struct stream *s)
{
	struct stream_counted *c = &s->counted;
	struct traffic t = {
		.in = more(s->front.rx_bytes, &c->in), .out = more(stream_bytes_out(s), &c->out),
		.req_out = more(s->back.tx_bytes, &c->req_out),
		.res_in = more(s->back.rx_bytes, &c->res_in),
		.res_out = more(s->front.tx_bytes, &c->res_out),
	};

	count_front_bytes(s->fe, s->listener, &t);
	if (s->flags & STRM_BE_COUNTED)
		count_traffic(&s->be->state->be, &t, CNT_BACK_REQ_OUT);
	if (s->server && s->t.queued)
		count_traffic(&s->server->state->counters, &t, CNT_BACK_REQ_OUT);
	if (!tables_are_used())
		return;
	track_bytes(s, t.in, s->back.rx_bytes - c->tracked_out);
	c->tracked_out = s->back.rx_bytes;
}

void stream_forget_answer(struct stream *s)
{
	uint64_t lost = s->back.rx_bytes;

	s->back.rx_bytes = 0;
	s->counted.out -= s->counted.out < lost ? s->counted.out : lost;
	s->counted.res_in = 0;
	s->counted.tracked_out = 0;
}

void stream_count_continuously(struct stream *s)
{
	if (!(s->fe->options & PROXY_OPT_CONTSTATS) || clock_now_ms() < s->due.count_ms)
		return;
	s->due.count_ms = clock_now_ms() + CONTSTATS_MS;
	count_bytes(s);
}

void stream_count_front(const struct stream *s, unsigned which)
{
	count_front(s->fe, s->listener, which, 1);
}

void stream_count_request(const struct stream *s, unsigned which)
{
	stream_count_front(s, which);
	if (s->flags & STRM_BE_COUNTED)
		counter_add(&s->be->state->be, which, 1);
}

void stream_count_back(const struct stream *s, unsigned which)
{
	if (s->flags & STRM_BE_COUNTED)
		counter_add(&s->be->state->be, which, 1);
	if (s->server)
		counter_add(&s->server->state->counters, which, 1);
}

static void count_status(struct stream *s)
{
	unsigned i;

	if (!STATS_ARE_COUNTED || !(s->flags & STRM_HTTP))
		return;
	i = counter_of_status(s->answer.status);
	count_front(s->fe, s->listener, i, 1);
	if (s->flags & STRM_BE_COUNTED)
		counter_add(&s->be->state->be, i, 1);
	if (s->server && s->answer.server) { /* else the answer is none of its own */
		i = counter_of_status(s->answer.server);
		counter_add(&s->server->state->counters, i, 1);
		counter_add(&s->server->state->counters, CNT_REQ_TOT, 1);
	}
}

static uint64_t span_us(uint64_t from, uint64_t to)
{
	return from && to > from ? (to - from) / 1000 : 0;
}

/* In the histograms of the frontend, the backend and the server of the request. */
static void count_latency(struct stream *s, const uint64_t spans[TIME_KINDS])
{
	const struct stream_times *t = &s->t;
	const uint64_t reached[TIME_KINDS] = { t->queued, t->connected, t->data, t->request };
	uint64_t us[TIME_KINDS];
	struct latency_sample sample;

	for (int k = 0; k < TIME_KINDS; k++)
		us[k] = reached[k] ? spans[k] : LATENCY_NONE;
	latency_sample_make(&sample, us);
	latency_set_add(&s->fe->state->fe_latency, &sample);
	if (!(s->flags & STRM_BE_COUNTED) || !t->queued)
		return;
	latency_set_add(&s->be->state->be_latency, &sample);
	if (s->server)
		latency_set_add(&s->server->state->latency, &sample);
}

/* The same times in all shapes: averages, and histograms of the phases that were reached. */
static void count_times(struct stream *s)
{
	const struct stream_times *t = &s->t;
	const uint64_t us[TIME_KINDS] = {
		[TIME_QUEUE] = span_us(t->request, t->queued),
		[TIME_CONNECT] = span_us(t->queued, t->connected),
		[TIME_RESPONSE] = span_us(t->connected, t->data),
		[TIME_TOTAL] = span_us(t->request, t->close),
	};
	uint64_t ms[TIME_KINDS];

	if (!STATS_ARE_COUNTED)
		return;
	if (latency_is_wanted(s->config))
		count_latency(s, us);
	if (!(s->flags & STRM_BE_COUNTED) || !t->queued)
		return;
	for (int k = 0; k < TIME_KINDS; k++)
		ms[k] = us[k] / 1000;
	time_set_add(&s->be->state->times, ms);
	if (!s->server)
		return;
	time_set_add(&s->server->state->times, ms);
	balance_observe(s->server, (t->data ? t->data : t->close) - t->queued);
}

void stream_count_end(struct stream *s)
{
	s->t.close = clock_now_ns();
	count_bytes(s);
	count_status(s);
	if (stream_cause(s) == CAUSE_INTERNAL)
		counter_add(&s->fe->state->fe, CNT_INTERNAL_ERRORS, 1);
	count_times(s);
	if (s->flags & STRM_BE_COUNTED)
		gauge_add(&s->be->state->be, CNT_SESS_CUR, -1, &s->be->state->be_session_max);
	if (tables_are_used())
		track_end(s);
}

void session_count_answer(struct session *sess, unsigned status, size_t in, size_t out)
{
	static const uint64_t at_once[TIME_KINDS] = {
		LATENCY_NONE, LATENCY_NONE, LATENCY_NONE, [TIME_TOTAL] = 0,
	};
	struct proxy *fe = sess->fe;
	struct latency_sample sample;

	track_request_without_stream(sess, false, in);
	if (!STATS_ARE_COUNTED)
		return;
	count_request(fe, sess->listener, 11);
	counter_add(&fe->state->fe, CNT_INTERCEPTED, 1);
	count_front(fe, sess->listener, counter_of_status((int)status), 1);
	count_front_bytes(fe, sess->listener,
			  &(struct traffic){ .in = in, .out = out, .res_out = out });
	if (!latency_is_wanted(session_config(sess)))
		return;
	latency_sample_make(&sample, at_once);
	latency_set_add(&fe->state->fe_latency, &sample);
}
