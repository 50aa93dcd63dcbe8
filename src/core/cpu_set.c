/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpu_set.c - sets of small numbers, and their text form */
#include <ctype.h>
#include <stdlib.h>
#include "cpu_priv.h"

#define WORDS (CPUS_MAX / 64)

unsigned cpu_set_count(const struct cpu_set *s)
{
	unsigned n = 0;

	for (unsigned i = 0; i < WORDS; i++)
		n += (unsigned)__builtin_popcountll(s->bits[i]);
	return n;
}

bool cpu_set_is_empty(const struct cpu_set *s)
{
	return cpu_set_count(s) == 0;
}

void cpu_set_and(struct cpu_set *s, const struct cpu_set *with)
{
	for (unsigned i = 0; i < WORDS; i++)
		s->bits[i] &= with->bits[i];
}

void cpu_set_remove(struct cpu_set *s, const struct cpu_set *what)
{
	for (unsigned i = 0; i < WORDS; i++)
		s->bits[i] &= ~what->bits[i];
}

void cpu_set_or(struct cpu_set *s, const struct cpu_set *what)
{
	for (unsigned i = 0; i < WORDS; i++)
		s->bits[i] |= what->bits[i];
}

int cpu_set_nth(const struct cpu_set *s, unsigned n)
{
	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (cpu_set_has(s, cpu) && n-- == 0)
			return (int)cpu;
	}
	return -1;
}

/* Reads one number; false: there is none. */
static bool take_number(const char **at, unsigned long *number)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	*number = strtoul(*at, &end, 10);
	*at = end;
	return true;
}

bool cpu_set_parse(struct cpu_set *s, const char *text, unsigned max, bool *too_big)
{
	*too_big = false;
	do {
		unsigned long low, high;

		if (!take_number(&text, &low))
			return false;
		high = low;
		if (*text == '-') {
			text++;
			if (!take_number(&text, &high))
				high = max < 63 || low > 63 ? max : 63;
		}
		if (low > high) {
			unsigned long swap = low;

			low = high;
			high = swap;
		}
		if (high > max) {
			*too_big = true;
			return false;
		}
		for (; low <= high; low++)
			cpu_set_put(s, (unsigned)low);
	} while (*text++ == ',');
	return text[-1] == 0 || text[-1] == '\n';
}
