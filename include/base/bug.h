/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bug.h - assertions: what must always hold in a correct program
 *
 * BUG_ON(cond)   : cheap, kept in release builds. Prints the condition and aborts.
 * CHECK_ON(cond) : costly, only in debug builds (DEBUG_STRICT).
 * Threads        : any.
 */
#ifndef BASE_BUG_H
#define BASE_BUG_H

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))

/* Prints the place and the text of a violated assertion on stderr and aborts; never returns. */
_Noreturn void bug_report(const char *file, int line, const char *text);

#define BUG_ON(cond) \
	do { \
		if (unlikely(cond)) \
			bug_report(__FILE__, __LINE__, #cond); \
	} while (0)

#ifdef DEBUG_STRICT
#define CHECK_ON(cond) BUG_ON(cond)
#else
#define CHECK_ON(cond) ((void)sizeof(!(cond)))
#endif

#endif
