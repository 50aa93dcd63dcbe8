/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include "base/hash.h"
#include "base/histogram.h"
#include "tap.h"

/* Every value lies in a bucket that ends behind it, and the bucket before ends at or below it. */
static void check_buckets(unsigned bits)
{
	unsigned wrong = 0, before = 0;

	for (uint64_t i = 0; i < 200000; i++) {
		uint64_t v = i < 5000 ? i : hash_u64(i) >> (i % 64);
		unsigned at = histogram_index(v, bits);
		uint64_t begin = at ? histogram_end(at - 1, bits) : 0;
		uint64_t end = histogram_end(at, bits);

		wrong += v < begin || (v >= end && end != UINT64_MAX);
		/* known to one part in 2^bits */
		wrong += end != UINT64_MAX && end - begin > 1 && (end - begin) << bits > begin;
		if (i < 5000) {
			wrong += at < before || at > before + 1;
			before = at;
		}
	}
	is_int(wrong, 0, "values lie in their buckets, %u bits", bits);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void check_percentiles(void)
{
	static const double parts[] = { 0.01, 0.5, 0.9, 0.99, 0.999, 0.9999, 1 };
	enum { N = 100000 };
	static uint64_t values[N];
	struct histogram h, other;

	ok(histogram_init(&h, 7, 1ull << 40), "a histogram");
	ok(histogram_init(&other, 7, 1ull << 40), "another");
	is_int(histogram_percentile(&h, 0.5), 0, "nothing counted");
	for (unsigned i = 0; i < N; i++) {
		values[i] = hash_u64(i) >> (24 + i % 30);
		histogram_add(i % 3 ? &h : &other, values[i]);
	}
	histogram_merge(&h, &other);
	is_int(h.total, N, "merged: all are counted");
	qsort(values, N, sizeof(values[0]), compare);
	is_int(h.max, values[N - 1], "the maximum is exact");
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		uint64_t want = values[(size_t)(parts[i] * N + 0.5) - 1];
		uint64_t got = histogram_percentile(&h, parts[i]);

		ok(got >= want && got <= want + (want >> 7) + 1, "percentile %g", parts[i] * 100);
	}
	histogram_fini(&h);
	histogram_fini(&other);
}

static void check_last(void)
{
	struct histogram h;

	ok(histogram_init(&h, 2, 1000), "a short one");
	histogram_add(&h, UINT64_MAX);
	is_int(h.counts[h.len - 1], 1, "what is above counts in the last bucket");
	ok(histogram_percentile(&h, 0.5) == UINT64_MAX, "and is not lost");
	histogram_fini(&h);
	ok(histogram_end(histogram_index(UINT64_MAX, 7), 7) == UINT64_MAX, "the last of all");
}

int main(void)
{
	check_buckets(0);
	check_buckets(1);
	check_buckets(2);
	check_buckets(7);
	check_percentiles();
	check_last();
	return done_testing();
}
