/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outlier_decide.c - finds the servers that stand out from the others, and ejects some
 *
 * The views are sorted twice: by their mean time, which gives for each the median of the others in
 * one pass, then by how bad they are; the first ones are ejected.
 */
#include <stdlib.h>
#include "proxy/outlier.h"

/* An outlier by errors fails so many times as often as the others. */
#define ERRORS_FACTOR 2

/* Worse than any latency. */
#define SEVERE ((uint64_t)1 << 40)

static bool is_timed(const struct outlier_settings *set, const struct outlier_view *v)
{
	return !v->is_out && v->timed && v->timed >= (uint64_t)set->min_requests;
}

static uint64_t mean_us(const struct outlier_view *v)
{
	return v->timed ? v->us / v->timed : 0;
}

/* --- errors --------------------------------------------------------------------------------- */

static void judge_errors(const struct outlier_settings *set, struct outlier_view *v, unsigned count)
{
	uint64_t requests = 0, failed = 0;

	for (unsigned i = 0; i < count; i++) {
		requests += v[i].is_out ? 0 : v[i].requests;
		failed += v[i].is_out ? 0 : v[i].failed;
	}
	for (unsigned i = 0; i < count; i++) {
		uint64_t others = requests - v[i].requests, theirs = failed - v[i].failed;

		if (v[i].is_out || !v[i].failed || v[i].requests < (uint64_t)set->min_requests ||
		    v[i].failed * 100 < v[i].requests * (uint64_t)set->error_percent)
			continue;
		if (v[i].failed * others < ERRORS_FACTOR * theirs * v[i].requests)
			continue;
		v[i].why = OUTLIER_ERRORS;
		v[i].others_percent = others ? theirs * 100 / others : 0;
	}
}

/* --- latency -------------------------------------------------------------------------------- */

/* What has no time to compare comes first. */
static int by_mean(const void *a, const void *b)
{
	const struct outlier_view *va = a, *vb = b;
	uint64_t ma = va->is_out ? 0 : mean_us(va), mb = vb->is_out ? 0 : mean_us(vb);

	return ma < mb ? -1 : ma > mb;
}

/* Is the mean of <v> too long beside the <others>? */
static bool is_slow(const struct outlier_settings *set, const struct outlier_view *v,
		    uint64_t others)
{
	uint64_t mean = mean_us(v);

	return mean > (uint64_t)set->latency_floor_ms * 1000 &&
		mean * 100 >= others * (uint64_t)set->latency_percent;
}

static void judge_latency(const struct outlier_settings *set, struct outlier_view *v,
			  unsigned count)
{
	unsigned timed = 0, at;

	/* those that are timed move to the front, in the order of their means */
	qsort(v, count, sizeof(*v), by_mean);
	for (unsigned i = 0; i < count; i++) {
		if (!is_timed(set, &v[i]))
			continue;
		struct outlier_view swap = v[timed];

		v[timed++] = v[i];
		v[i] = swap;
	}
	for (unsigned i = 0; timed > 1 && i < timed; i++) {
		/* the lower median of the timed - 1 others */
		at = (timed - 2) / 2;
		at += at >= i;
		if (v[i].why || !is_slow(set, &v[i], mean_us(&v[at])))
			continue;
		v[i].why = OUTLIER_LATENCY;
		v[i].others_us = mean_us(&v[at]);
	}
}

/* --- ejections ------------------------------------------------------------------------------ */

static uint64_t severity(const struct outlier_view *v)
{
	switch (v->why) {
	case OUTLIER_ERRORS:
		return SEVERE + v->failed * 10000 / v->requests;
	case OUTLIER_LATENCY:
		return mean_us(v) < SEVERE ? mean_us(v) : SEVERE - 1;
	default:
		return 0;
	}
}

static int by_severity(const void *a, const void *b)
{
	uint64_t sa = severity(a), sb = severity(b);

	return sa > sb ? -1 : sa < sb;
}

static unsigned allowed_out(const struct outlier_settings *set, unsigned count)
{
	unsigned allowed = (unsigned)(count * (uint64_t)set->max_percent / 100);

	if (!allowed)
		allowed = 1;
	return allowed < count ? allowed : count - 1;
}

/* The one that would come back first does it now. */
static void bring_one_back(struct outlier_view *v, unsigned count)
{
	struct outlier_view *first = NULL;

	for (unsigned i = 0; i < count; i++)
		if (v[i].is_out && !v[i].bring_back &&
		    (!first || v[i].until_ms < first->until_ms))
			first = &v[i];
	if (first)
		first->bring_back = true;
}

void outlier_decide(const struct outlier_settings *set, struct outlier_view *v, unsigned count)
{
	unsigned allowed, out = 0;

	if (!count)
		return;
	for (unsigned i = 0; i < count; i++) {
		v[i].why = OUTLIER_NOT;
		v[i].eject = v[i].bring_back = false;
		out += v[i].is_out;
	}
	if (set->error_percent)
		judge_errors(set, v, count);
	if (set->latency_percent)
		judge_latency(set, v, count);
	allowed = allowed_out(set, count);
	for (; out > allowed; out--)
		bring_one_back(v, count);
	qsort(v, count, sizeof(*v), by_severity);
	for (unsigned i = 0; i < count && v[i].why && out < allowed; i++, out++)
		v[i].eject = true;
}

uint64_t outlier_time_ms(const struct outlier_settings *set, unsigned row)
{
	uint64_t most = (uint64_t)set->max_time_ms, once = (uint64_t)set->time_ms;

	return once && row > most / once ? most : row * once;
}
