/* SPDX-License-Identifier: GPL-2.0-or-later */
/* histogram.c - histograms of values */
#include "base/histogram.h"
#include <math.h>
#include <stdlib.h>
#include "base/bug.h"

bool histogram_init(struct histogram *h, unsigned bits, uint64_t max)
{
	*h = (struct histogram){ .bits = bits, .len = histogram_index(max, bits) + 1 };
	h->counts = calloc(h->len, sizeof(*h->counts));
	return h->counts != NULL;
}

void histogram_fini(struct histogram *h)
{
	free(h->counts);
	h->counts = NULL;
}

void histogram_merge(struct histogram *to, const struct histogram *from)
{
	BUG_ON(to->bits != from->bits || to->len != from->len);
	for (unsigned i = 0; i < from->len; i++)
		to->counts[i] += from->counts[i];
	to->total += from->total;
	to->sum += from->sum;
	if (from->max > to->max)
		to->max = from->max;
}

uint64_t histogram_percentile(const struct histogram *h, double part)
{
	uint64_t wanted = (uint64_t)ceil(part * (double)h->total), seen = 0;

	for (unsigned i = 0; i < h->len; i++) {
		uint64_t last = histogram_end(i, h->bits) - 1;

		seen += h->counts[i];
		if (h->counts[i] && seen >= wanted)
			return last < h->max && i < h->len - 1 ? last : h->max;
	}
	return h->max;
}

double histogram_mean(const struct histogram *h)
{
	return h->total ? (double)h->sum / (double)h->total : 0;
}
