/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/histogram.h"
#include "proxy/counters.h"
#include "tap.h"

static void add(struct latency_set *l, uint64_t queue, uint64_t total)
{
	uint64_t us[TIME_KINDS] = { [TIME_QUEUE] = queue, [TIME_CONNECT] = LATENCY_NONE,
				    [TIME_RESPONSE] = LATENCY_NONE, [TIME_TOTAL] = total };
	struct latency_sample s;

	latency_sample_make(&s, us);
	latency_set_add(l, &s);
}

int main(void)
{
	struct latency_set l = { 0 };
	struct latency_view v;
	bool above;

	is_int(histogram_index(63, LATENCY_BITS), LATENCY_FIRST, "the first bucket ends at 64 us");
	ok(histogram_end(LATENCY_FIRST + LATENCY_BUCKETS - 2, LATENCY_BITS) == 1u << 25,
	   "the last but one at 33.5 s");
	ok(!latency_set_read(&l, &v), "nothing counted, no memory");
	add(&l, 0, 63);
	add(&l, 63, 64);
	add(&l, 64, (1u << 25) - 1);
	add(&l, LATENCY_NONE, 1u << 25);
	add(&l, LATENCY_NONE, UINT64_MAX - 1);
	ok(latency_set_read(&l, &v), "counted");
	is_int(v.counts[TIME_QUEUE][0], 2, "up to 63 us: the first bucket");
	is_int(v.counts[TIME_QUEUE][1], 1, "64 us: the second");
	is_int(v.sum_us[TIME_QUEUE], 127, "the sum");
	is_int(v.counts[TIME_TOTAL][0], 1, "63 us");
	is_int(v.counts[TIME_TOTAL][1], 1, "64 us");
	is_int(v.counts[TIME_TOTAL][LATENCY_BUCKETS - 2], 1, "just below 33.5 s");
	is_int(v.counts[TIME_TOTAL][LATENCY_BUCKETS - 1], 2, "from there on");
	is_int(v.counts[TIME_CONNECT][0], 0, "a phase that was never reached is not counted");
	is_int(latency_percentile(v.counts[TIME_TOTAL], 200, &above), 64, "a fifth: below 64 us");
	ok(!above, "which is known");
	is_int(latency_percentile(v.counts[TIME_TOTAL], 201, &above), 96, "more than a fifth");
	is_int(latency_percentile(v.counts[TIME_TOTAL], 600, &above), 1 << 25, "three of five");
	ok(!above, "in the last bucket that ends");
	is_int(latency_percentile(v.counts[TIME_TOTAL], 601, &above), 1 << 25, "four of five");
	ok(above, "took more than that");
	is_int(latency_percentile(v.counts[TIME_CONNECT], 500, &above), 0, "of none: nothing");
	latency_set_clear(&l);
	ok(latency_set_read(&l, &v) && !v.counts[TIME_QUEUE][0] && !v.sum_us[TIME_QUEUE],
	   "cleared");
	latency_set_fini(&l);
	return done_testing();
}
