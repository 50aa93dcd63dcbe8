/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tap.h - the unit tests' output in the Test Anything Protocol
 *
 * A test is a program: its main() calls plan(n) first, or not at all, then ok() and its kin once
 * per check, and returns done_testing(). A check that fails prints what was got and wanted, and the
 * test goes on; done_testing() returns 1 when any failed or the plan was not met. Each macro
 * evaluates its arguments once and is a bool: whether it held. Checks are made by one thread at a
 * time.
 *
 *	int main(void)
 *	{
 *		is_int(number_parse("12"), 12, "two digits");
 *		return done_testing();
 *	}
 */
#ifndef TESTS_UNIT_TAP_H
#define TESTS_UNIT_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static struct {
	int planned;    /* 0: no plan */
	int ran;
	int failed;
} tap;

/* Announces how many checks follow. */
static inline void plan(int count)
{
	tap.planned = count;
	printf("1..%d\n", count);
	fflush(stdout);
}

/* The line of one check; what the macros below expand to. */
__attribute__((format(printf, 4, 5), unused))
static bool tap_result(bool good, const char *file, int line, const char *format, ...)
{
	va_list args;

	tap.ran++;
	printf("%sok %d - ", good ? "" : "not ", tap.ran);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	if (!good) {
		tap.failed++;
		printf("# failed at %s:%d\n", file, line);
	}
	fflush(stdout);
	return good;
}

/* Says, as a comment, what two values are. */
static inline bool tap_int(bool good, long long got, long long wanted)
{
	if (!good)
		printf("#      got: %lld\n#   wanted: %lld\n", got, wanted);
	return good;
}

static inline bool tap_str(bool good, const char *got, const char *wanted)
{
	if (!good)
		printf("#      got: %s\n#   wanted: %s\n", got ? got : "(null)",
		       wanted ? wanted : "(null)");
	return good;
}

/* ok(condition, format, ...): holds when <condition> is true. */
#define ok(cond, ...) tap_result(!!(cond), __FILE__, __LINE__, __VA_ARGS__)

/* is_int(got, wanted, format, ...): holds when both integers are equal. */
#define is_int(got, wanted, ...) ({							\
	long long tap_got = (got), tap_wanted = (wanted);				\
	tap_int(tap_result(tap_got == tap_wanted, __FILE__, __LINE__, __VA_ARGS__),	\
		tap_got, tap_wanted);							\
})

/* is_str(got, wanted, format, ...): holds when both strings are equal or both NULL. */
#define is_str(got, wanted, ...) ({							\
	const char *tap_got = (got), *tap_wanted = (wanted);				\
	tap_str(tap_result(tap_got == tap_wanted || (tap_got && tap_wanted &&		\
			   strcmp(tap_got, tap_wanted) == 0),				\
			   __FILE__, __LINE__, __VA_ARGS__), tap_got, tap_wanted);	\
})

/* is_mem(got, wanted, len, format, ...): holds when <len> bytes are equal. */
#define is_mem(got, wanted, len, ...)							\
	tap_result(memcmp((got), (wanted), (len)) == 0, __FILE__, __LINE__, __VA_ARGS__)

/* Counts <count> checks that cannot run here as skipped, with the reason. */
static inline void skip(int count, const char *reason)
{
	while (count-- > 0)
		printf("ok %d # skip %s\n", ++tap.ran, reason);
}

/* Ends the test. Returns what main() returns. */
static inline int done_testing(void)
{
	if (!tap.planned)
		printf("1..%d\n", tap.ran);
	else if (tap.planned != tap.ran)
		printf("# planned %d, ran %d\n", tap.planned, tap.ran);
	fflush(stdout);
	return tap.failed || !tap.ran || (tap.planned && tap.planned != tap.ran);
}

#endif
