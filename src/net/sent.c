/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sent.c - the rate at which this process sends */
#include "net/sent.h"
#include "core/counter.h"
#include "core/thread.h"

/* Of rates, which are 32 bits wide: 128 GB a second. */
#define RATE_UNIT 32

static struct sent_line {
	uint64_t total, spliced;
	struct rate rate;
} __attribute__((aligned(64))) lines[GROUPS_MAX];

void sent_add(size_t bytes)
{
	struct sent_line *l = &lines[thread_group];
	unsigned units = (unsigned)((bytes + RATE_UNIT - 1) / RATE_UNIT);

	counter_bump(&l->total, (int64_t)bytes);
	if (!rate_add_within(&l->rate, units))
		rate_add(&l->rate, units, &(struct rate_closed){ 0 });
}

void sent_add_spliced(size_t bytes)
{
	counter_bump(&lines[thread_group].spliced, (int64_t)bytes);
	sent_add(bytes);
}

uint64_t sent_total(void)
{
	uint64_t sum = 0;

	for (unsigned g = 0; g < thread_group_count(); g++)
		sum += __atomic_load_n(&lines[g].total, __ATOMIC_RELAXED);
	return sum;
}

uint64_t sent_total_spliced(void)
{
	uint64_t sum = 0;

	for (unsigned g = 0; g < thread_group_count(); g++)
		sum += __atomic_load_n(&lines[g].spliced, __ATOMIC_RELAXED);
	return sum;
}

uint64_t sent_rate(void)
{
	uint64_t sum = 0;

	for (unsigned g = 0; g < thread_group_count(); g++)
		sum += rate_read(&lines[g].rate);
	return sum * RATE_UNIT;
}
