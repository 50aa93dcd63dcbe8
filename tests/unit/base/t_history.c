/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/history.h"
#include "base/hash.h"
#include "tap.h"

static const uint64_t nothing[HISTORY_COUNTED];

/* Small numbers exactly, larger ones to one part in 2048, never more than they were, in order. */
static void check_numbers(void)
{
	unsigned wrong = 0, unordered = 0;

	for (uint64_t v = 0; v < 4096; v++)
		wrong += history_unpack(history_pack(v)) != v;
	is_int(wrong, 0, "numbers up to 4095 are exact");
	for (uint64_t i = 0; i < 200000; i++) {
		uint64_t v = hash_u64(i) >> (23 + i % 41), kept = history_unpack(history_pack(v));

		wrong += kept > v || v - kept > v >> 11;
	}
	is_int(wrong, 0, "others are known to one part in 2048, rounded down");
	for (unsigned k = 0; k < 0xffff; k++)
		unordered += history_unpack((uint16_t)k) >= history_unpack((uint16_t)(k + 1));
	is_int(unordered, 0, "what is larger is kept as larger");
	is_int(history_unpack(history_pack(UINT64_MAX)), history_unpack(0xffff),
	       "what is too large is the largest");
}

/* What a caller that forgets nothing would say of the same steps. */
static uint64_t counted_at(uint64_t step)
{
	return hash_u64(step) % 3000;
}

static uint64_t errors_at(uint64_t step)
{
	return hash_u64(step) % 7 ? 0 : hash_u64(step) % 5;
}

static uint64_t open_at(uint64_t step)
{
	return hash_u64(step + 1000000) % 900;
}

static unsigned wrong_steps(const struct history *h, uint64_t first, uint64_t last)
{
	unsigned wrong = 0;

	for (uint64_t s = last + 2; s + HISTORY_STEPS + 3 > last; s--) {
		bool known = s <= last && s > first && last - s < HISTORY_STEPS;

		wrong += history_step(h, HISTORY_DONE, s) != (known ? counted_at(s) : 0);
		wrong += history_step(h, HISTORY_ERRORS, s) != (known ? errors_at(s) : 0);
		wrong += history_step(h, HISTORY_OPEN, s) != (known ? open_at(s) : 0);
	}
	return wrong;
}

static unsigned wrong_minutes(const struct history *h, uint64_t first, uint64_t last)
{
	unsigned wrong = 0;

	for (uint64_t back = 0; back < HISTORY_MINUTES + 3; back++) {
		uint64_t minute = last / HISTORY_MINUTE - back, sum = 0, errors = 0, most = 0;

		for (uint64_t s = minute * HISTORY_MINUTE; s < (minute + 1) * HISTORY_MINUTE; s++) {
			if (s <= first || s > last || back >= HISTORY_MINUTES)
				continue;
			sum += counted_at(s);
			errors += errors_at(s);
			most = open_at(s) > most ? open_at(s) : most;
		}
		sum = history_unpack(history_pack(sum));
		wrong += history_minute(h, HISTORY_DONE, minute) != sum;
		wrong += history_minute(h, HISTORY_ERRORS, minute) != errors;
		wrong += history_minute(h, HISTORY_OPEN, minute) != most;
	}
	return wrong;
}

/* Two days, step by step; looked at when nothing is full, when rings are just full, far behind. */
static void check_rings(void)
{
	static const uint64_t looks[] = { 1, 11, 12, 719, 720, 721, 5000, 17279, 17280, 17281,
					  34567 };
	const uint64_t first = 123456;
	uint64_t values[HISTORY_FIGURES] = { 40, 2, 0 };
	struct history *h = history_new(first, values);
	size_t next = 0;

	is_int(history_count(), 1, "it is counted");
	for (uint64_t s = first + 1; next < sizeof(looks) / sizeof(*looks); s++) {
		values[HISTORY_DONE] += counted_at(s);
		values[HISTORY_ERRORS] += errors_at(s);
		values[HISTORY_OPEN] = open_at(s);
		history_add(h, s, values);
		if (s - first != looks[next])
			continue;
		is_int(wrong_steps(h, first, s), 0, "steps after %llu of them",
		       (unsigned long long)looks[next]);
		is_int(wrong_minutes(h, first, s), 0, "minutes after %llu steps",
		       (unsigned long long)looks[next++]);
	}
	history_free(&h);
	ok(!h && history_count() == 0, "it is gone");
	history_free(&h);
}

static uint64_t sum_of(const struct history *h, enum history_figure f, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;

	for (uint64_t s = from; s <= to; s++)
		sum += history_step(h, f, s);
	return sum;
}

static void check_gaps(void)
{
	uint64_t values[HISTORY_FIGURES] = { 1000, 5, 3 };
	struct history *h = history_new(100, nothing);

	history_add(h, 110, values);
	is_int(sum_of(h, HISTORY_DONE, 101, 110), 1000, "steps that nobody told of share");
	is_int(history_step(h, HISTORY_DONE, 105), 100, "equally");
	is_int(sum_of(h, HISTORY_ERRORS, 101, 110), 5, "and nothing is lost by that");
	is_int(history_step(h, HISTORY_OPEN, 104), 3, "a gauge is what it is now");
	values[HISTORY_DONE] = 5000;
	history_add(h, 110, values);
	history_add(h, 109, values);
	is_int(sum_of(h, HISTORY_DONE, 101, 110), 1000, "a step that is known stays");
	history_add(h, 111, values);
	is_int(history_step(h, HISTORY_DONE, 111), 4000, "what was counted meanwhile comes next");
	values[HISTORY_DONE] = 12;
	history_add(h, 112, values);
	is_int(history_step(h, HISTORY_DONE, 112), 12, "totals that were cleared begin at zero");
	values[HISTORY_DONE] = 13;
	history_add(h, 112 + HISTORY_STEPS, values);
	is_int(history_step(h, HISTORY_DONE, 113), 0, "an hour without a step is shared, too");
	is_int(history_step(h, HISTORY_DONE, 112 + HISTORY_STEPS), 1, "by all of it");
	values[HISTORY_DONE] = 20;
	history_add(h, 10000, values);
	is_int(history_step(h, HISTORY_DONE, 10000), 7, "after more, it begins again");
	is_int(sum_of(h, HISTORY_DONE, 1, 9999), 0, "and forgets steps");
	is_int(history_minute(h, HISTORY_DONE, 109 / HISTORY_MINUTE), 0, "and minutes");
	is_int(history_minute(h, HISTORY_DONE, 10000 / HISTORY_MINUTE), 7, "but this one");
	history_free(&h);
}

int main(void)
{
	check_numbers();
	check_rings();
	check_gaps();
	return done_testing();
}
