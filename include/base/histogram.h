/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* histogram.h - counts values in buckets: bounded memory, known error, any range
 *
 * Buckets grow with the values: each power of two is divided into 2^bits equal buckets. So a value
 * is known to 1 part in 2^bits, small ones exactly, and high percentiles need no sorted list. Two
 * histograms with the same <bits> are merged by adding their buckets.
 *
 *      bits 1:  0 1 2 3  4-5 6-7  8-11 12-15  16-23 24-31 ...
 *
 * Owns   : its buckets (histogram_init()), or nothing: the functions on indexes are for callers
 *          that keep the buckets themselves.
 * Threads: the owner's. Errors: init returns false when out of memory.
 */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

struct histogram {
	uint64_t *counts;
	unsigned bits, len;    /* number of buckets: larger values count in the last one */
	uint64_t total;        /* values */
	uint64_t sum, max;     /* of the values, exact */
};

/* Returns the bucket of <value>. */
static inline unsigned histogram_index(uint64_t value, unsigned bits)
{
	unsigned shift;

	if (value >> bits == 0)
		return (unsigned)value;
	shift = 63 - (unsigned)__builtin_clzll(value) - bits;
	return (shift << bits) + (unsigned)(value >> shift);
}

/* Returns the first value above the bucket; UINT64_MAX for the last bucket of all. */
static inline uint64_t histogram_end(unsigned index, unsigned bits)
{
	unsigned shift = index >> bits;
	uint64_t within = index & ((1u << bits) - 1);

	if (shift == 0)
		return within + 1;
	within = (within + (1ull << bits) + 1) << (shift - 1);
	return within ? within : UINT64_MAX;
}

/* Allocates buckets for values up to <max>. False: out of memory. */
bool histogram_init(struct histogram *h, unsigned bits, uint64_t max);
void histogram_fini(struct histogram *h);

static inline void histogram_add(struct histogram *h, uint64_t value)
{
	unsigned i = histogram_index(value, h->bits);

	h->counts[i < h->len ? i : h->len - 1]++;
	h->total++;
	h->sum += value;
	if (value > h->max)
		h->max = value;
}

/* Adds the counts of <from>; both must have the same bits and length. */
void histogram_merge(struct histogram *to, const struct histogram *from);
/* Returns the value that the share <part> (0 to 1) of all values does not exceed, rounded up to the
 * end of its bucket but never above the maximum; 0 if nothing was counted.
 */
uint64_t histogram_percentile(const struct histogram *h, double part);
/* Returns the mean; 0 if nothing was counted. */
double histogram_mean(const struct histogram *h);

#endif
