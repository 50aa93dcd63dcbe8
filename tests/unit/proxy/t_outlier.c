/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outlier-ejection: the decision, the line, and what an ejection does to balancing and status */
#include "core/pool.h"
#include "tap.h"
#include "fixture.h"
#include "server_priv.h"

static const struct outlier_settings by_errors = {
	.error_percent = 50, .min_requests = 10, .max_percent = 30, .interval_ms = 1,
};
static const struct outlier_settings by_latency = {
	.latency_percent = 300, .latency_floor_ms = 10, .min_requests = 10, .max_percent = 50,
	.interval_ms = 1,
};

/* Servers are told apart by their address here. */
static char names[16];
#define SERVER(i) ((struct server *)(void *)&names[i])

static const struct outlier_view *view_of(const struct outlier_view *v, unsigned count, int i)
{
	for (unsigned n = 0; n < count; n++)
		if (v[n].server == SERVER(i))
			return &v[n];
	abort();
}

/* Views of <count> servers that failed <failed> of 100 requests each, -1: ejected. */
static void views_errors(struct outlier_view *v, unsigned count, const int *failed)
{
	for (unsigned i = 0; i < count; i++) {
		v[i] = (struct outlier_view){ .server = SERVER(i), .requests = 100,
					      .failed = (uint64_t)failed[i], .until_ms = 100 - i };
		if (failed[i] < 0) {
			v[i].is_out = true;
			v[i].failed = 100;
		}
	}
}

/* "-E--": each server is ejected (E), only stands out (s), comes back (b). */
static const char *verdict(const struct outlier_settings *set, struct outlier_view *v,
			   unsigned count)
{
	static char out[17];

	outlier_decide(set, v, count);
	for (unsigned i = 0; i < count; i++) {
		const struct outlier_view *it = view_of(v, count, (int)i);

		out[i] = it->eject ? 'E' : it->bring_back ? 'b' : it->why ? 's' : '-';
	}
	out[count] = 0;
	return out;
}

#define ERRORS(set, ...) \
	(views_errors(v, sizeof((int[]){ __VA_ARGS__ }) / sizeof(int), \
		      (const int[]){ __VA_ARGS__ }), \
	 verdict(set, v, sizeof((int[]){ __VA_ARGS__ }) / sizeof(int)))

static void test_errors(void)
{
	struct outlier_settings wide = by_errors, all = by_errors;
	struct outlier_view v[16];

	wide.max_percent = 50;
	all.max_percent = 100;
	is_str(ERRORS(&by_errors, 0, 50, 1), "-E-", "half of its requests");
	ok(view_of(v, 3, 1)->why == OUTLIER_ERRORS && view_of(v, 3, 1)->others_percent == 0,
	   "why, beside the others");
	is_str(ERRORS(&by_errors, 0, 49, 1), "---", "a little less is not enough");
	is_str(ERRORS(&by_errors, 100, 100, 100), "---", "all of them: the fault is elsewhere");
	is_str(ERRORS(&by_errors, 60, 40, 40), "---", "not twice as bad as the others");
	is_str(ERRORS(&by_errors, 80, 40, 40), "E--", "twice as bad");
	is_str(ERRORS(&by_errors, 60, 99, 0, 0, 0), "sE---", "30 %% of five is one: the worst");
	is_str(ERRORS(&wide, 60, 99, 0, 0, 0), "EE---", "50 %% of five are two");
	is_str(ERRORS(&by_errors, 60, 0), "E-", "one may always go");
	is_str(ERRORS(&by_errors, 60), "s", "but not the only one");
	is_str(ERRORS(&all, -1, -1, 60), "--s", "nor the last one");
	is_str(ERRORS(&by_errors, -1, 60, 0), "-s-", "one is out already");
	is_str(ERRORS(&by_errors, -1, -1, 0, 0), "-b--",
	       "too many are out: the one nearest to its end comes back");
	is_str(ERRORS(&all, -1, -1), "-b", "all are out: one comes back");
	outlier_decide(&by_errors, v, 0);
	views_errors(v, 2, (const int[]){ 0, 9 });
	v[1].requests = 9;
	is_str(verdict(&by_errors, v, 2), "--", "too few requests say nothing");
	views_errors(v, 2, (const int[]){ 0, 10 });
	v[0].requests = 0;
	v[1].requests = 10;
	is_str(verdict(&by_errors, v, 2), "-E", "nobody else had requests");
}

static void views_times(struct outlier_view *v, unsigned count, const int *mean_ms)
{
	for (unsigned i = 0; i < count; i++)
		v[i] = (struct outlier_view){ .server = SERVER(i), .requests = 10, .timed = 10,
					      .us = (uint64_t)mean_ms[i] * 10000 };
}

#define TIMES(set, ...) \
	(views_times(v, sizeof((int[]){ __VA_ARGS__ }) / sizeof(int), \
		     (const int[]){ __VA_ARGS__ }), \
	 verdict(set, v, sizeof((int[]){ __VA_ARGS__ }) / sizeof(int)))

static void test_latency(void)
{
	struct outlier_view v[16];
	struct outlier_settings both = by_latency;

	both.error_percent = 50;
	is_str(TIMES(&by_latency, 10, 60, 20), "-E-", "three times the median of the others");
	ok(view_of(v, 3, 1)->why == OUTLIER_LATENCY && view_of(v, 3, 1)->others_us == 10000,
	   "why, beside the others");
	is_str(TIMES(&by_latency, 20, 59, 20), "---", "a little less is not enough");
	is_str(TIMES(&by_latency, 1, 10, 1), "---", "ten times, but no more than the floor");
	is_str(TIMES(&by_latency, 1, 11, 1), "-E-", "above the floor");
	is_str(TIMES(&by_latency, 20, 20, 90, 80, 20, 20), "--EE--", "two hide each other not");
	is_str(TIMES(&by_latency, 90, 20, 100, 95), "----", "most are slow: that is the measure");
	is_str(TIMES(&by_latency, 100, 20), "E-", "one of two");
	is_str(TIMES(&by_latency, 100), "-", "nobody to compare with");
	views_times(v, 3, (const int[]){ 100, 20, 20 });
	v[0].timed = 9;
	is_str(verdict(&by_latency, v, 3), "---", "too few requests");
	views_times(v, 3, (const int[]){ 100, 20, 1 });
	v[2].is_out = true;
	v[1].timed = 9;
	is_str(verdict(&by_latency, v, 3), "---", "neither these nor ejected ones are compared");
	views_times(v, 4, (const int[]){ 900, 20, 20, 20 });
	v[1].failed = 5;
	both.max_percent = 25;
	is_str(verdict(&both, v, 4), "sE--", "errors are worse than latency");
}

static void test_times(void)
{
	struct outlier_settings set = { .time_ms = 30000, .max_time_ms = 100000 };

	is_int(outlier_time_ms(&set, 1), 30000, "a first ejection");
	is_int(outlier_time_ms(&set, 3), 90000, "the third in a row");
	is_int(outlier_time_ms(&set, 4), 100000, "no longer than max-time");
	is_int(outlier_time_ms(&set, UINT32_MAX), 100000, "nor after many");
}

/* --- the line ------------------------------------------------------------------------------- */

static const char *error_of(const char *line)
{
	char text[256];
	struct config *cfg;

	snprintf(text, sizeof(text), "backend b\n outlier-ejection %s\n", line);
	cfg = fixture_read(text);
	if (!cfg)
		return fixture_message(DIAG_ALERT);
	config_drop(&cfg);
	return "";
}

static void test_line(void)
{
	static const char *const bad[] = {
		"error-rate", "error-rate 0", "error-rate 101%", "error-rate 5s", "latency",
		"latency 1x", "latency 0.5", "latency 1001x", "latency 3y", "latency nan",
		"interval", "interval 0", "interval -1", "time 0", "max-time 0",
		"time 2s max-time 1s",
		"min-requests 0", "min-requests x", "max-share 0", "max-share 101", "off time 1s",
		"nonsense", "time 30q",
	};
	struct config *cfg = fixture_load(
		"defaults\n outlier-ejection error-rate 5 latency 2.5x latency-floor 0 "
		"min-requests 1 interval 1s time 2s max-time 1m max-share 100%\n"
		"backend a\n"
		"backend b\n outlier-ejection\n"
		"backend c\n outlier-ejection off\n"
		"backend d\n outlier-ejection latency 2x time 2s\n");
	const struct outlier_settings *set = &proxy_find(cfg, "a", PROXY_BE)->outlier;

	ok(set->error_percent == 5 && set->latency_percent == 250 && !set->latency_floor_ms &&
	   set->min_requests == 1 && set->interval_ms == 1000 && set->time_ms == 2000 &&
	   set->max_time_ms == 60000 && set->max_percent == 100, "defaults with all words");
	set = &proxy_find(cfg, "b", PROXY_BE)->outlier;
	ok(set->error_percent == 50 && !set->latency_percent && set->min_requests == 20 &&
	   set->interval_ms == 10000 && set->time_ms == 30000 && set->max_time_ms == 300000 &&
	   set->max_percent == 30, "without a word, instead of what `defaults` says");
	ok(!proxy_find(cfg, "c", PROXY_BE)->outlier.interval_ms, "off");
	set = &proxy_find(cfg, "d", PROXY_BE)->outlier;
	ok(!set->error_percent && set->latency_percent == 200 && set->max_time_ms == 20000,
	   "latency alone");
	config_drop(&cfg);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const char *error = error_of(bad[i]);

		ok(*error, "refused: %s (%s)", bad[i], error);
	}
}

/* --- what an ejection does ------------------------------------------------------------------ */

static const char *status(const struct server *srv)
{
	static char out[64];

	server_status(srv, out, sizeof(out));
	return out;
}

static void test_effects(void)
{
	struct config *cfg = fixture_load(
		"backend b\n outlier-ejection\n"
		" server s 127.0.0.1:80\n server t 127.0.0.1:81 weight 5\n"
		" server u 127.0.0.1:82 backup\n"
		"backend w\n outlier-ejection\n"
		" server s 127.0.0.1:80\n server t 127.0.0.1:81\n");
	struct proxy *b = proxy_find(cfg, "b", PROXY_BE), *w = proxy_find(cfg, "w", PROXY_BE);
	struct server *s = server_find(b, "s"), *t = server_find(b, "t"), *u = server_find(b, "u");
	struct server *slow = server_find(w, "s");

	slow->checks.slowstart_ms = 3600000; /* the word `slowstart` is of a higher floor */
	proxies_publish(cfg);
	server_eject(u, 1, 1, "test");
	is_str(status(u), "no check", "a backup server is never ejected");
	server_eject(s, 1, 1, "test");
	is_str(status(s), "NOLB (ejected)", "the status");
	ok(!server_is_usable(s) && server_is_willing(s) && server_is_only_ejected(s),
	   "no new requests but those that belong to it");
	is_int(balance_active_count(b), 1, "one active server is left");
	ok(balance_pick(b, &(struct balance_pick_args){ 0 }) == t, "which is picked");
	server_eject(s, 1, 1, "test");
	is_int(counter_read(&s->state->counters, CNT_EJECTIONS), 1, "counted once");
	server_set_admin(s, SERVER_FDRAIN, 0);
	is_str(status(s), "DRAIN", "drain is what counts");
	server_set_admin(s, 0, SERVER_FDRAIN);
	server_set_oper(t, SERVER_STOPPED, SERVER_BY_CHECK);
	ok(server_is_usable(s) && !outlier_is_out(s), "the other one is gone: it comes back");
	is_int(balance_active_count(b), 1, "and serves, not the backup server");
	server_set_oper(t, SERVER_RUNNING, SERVER_BY_CHECK);
	server_eject(s, 1, 1, "test");
	server_set_oper(s, SERVER_STOPPED, SERVER_BY_CHECK);
	ok(!outlier_is_out(s), "who is down is not ejected");
	server_eject(s, 1, 1, "test");
	ok(!outlier_is_out(s), "and will not be");
	server_set_oper(s, SERVER_RUNNING, SERVER_BY_CHECK);
	server_eject(s, 1, 1, "test");
	server_set_admin(s, SERVER_FMAINT, 0);
	server_set_admin(s, 0, SERVER_FMAINT);
	ok(server_is_usable(s), "maintenance ends an ejection");
	s->state->outlier.row = 3;
	server_eject(s, 1, 1, "test");
	outlier_pardon(s);
	ok(server_is_usable(s) && !s->state->outlier.row, "pardon ends it and forgets");
	server_eject(slow, 1, 1, "test");
	server_bring_back(slow);
	ok(server_weight_sixteenths(slow) == 1 && server_is_usable(slow), "slowstart");
	outlier_count(s, &b->outlier, SEEN_RESPONSE_STATUS, 5000000);
	outlier_count(s, &b->outlier, SEEN_CONNECT_FAILED, 0);
	outlier_count(s, &b->outlier, SEEN_RESPONSE_OK, 3000);
	outlier_count(s, &(struct outlier_settings){ 0 }, SEEN_RESPONSE_BAD, 3000);
	ok(counter_read(&s->state->counters, CNT_TRIES) == 3 &&
	   counter_read(&s->state->counters, CNT_TRIES_FAILED) == 2 &&
	   counter_read(&s->state->counters, CNT_TRIES_TIMED) == 2 &&
	   counter_read(&s->state->counters, CNT_TRIES_US) == 5003, "what is counted");
}

int main(void)
{
	fixture_init();
	test_errors();
	test_latency();
	test_times();
	test_line();
	test_effects();
	return done_testing();
}
