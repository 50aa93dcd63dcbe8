/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* place.h - rare events counted where they happen in the code, for `debug counters`
 *
 * A place is a static record beside the code. It becomes known when it is reached for the first
 * time: what was never reached is not listed. Only for what is rare: all threads count in one word.
 *
 *	PLACE_COUNT(PLACE_GLT, "PING acknowledged that was not sent");
 *
 * Threads: any. Manual: management "debug counters", configuration debug.counters.
 */
#ifndef BASE_PLACE_H
#define BASE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

/* X(NAME, word): oddities of peers; events that may be looked at, counted only on demand. */
#define PLACE_TYPES(X) X(GLT, "glt") X(CNT, "cnt")
enum place_type {
#define X(name, word) PLACE_##name,
	PLACE_TYPES(X)
#undef X
	PLACE_TYPE_COUNT
};

struct place {
	struct place *next;          /* the registry's */
	const char *file, *function, *text; /* static; <text> may be NULL */
	unsigned line;
	enum place_type type;
	uint64_t count;              /* atomic */
	bool known;                  /* atomic */
};

/* <text>: a constant, or NULL; where it varies, that of the first time is shown. */
#define PLACE_COUNT(place_type, place_text)                                                     \
	do {                                                                                    \
		static struct place place_ = { .file = __FILE__, .line = __LINE__,              \
					       .type = place_type };                            \
		place_count(&place_, __func__, place_text);                                     \
	} while (0)

/* One more; <function> and <text> are kept. */
void place_count(struct place *p, const char *function, const char *text);
/* Are events of PLACE_CNT counted? */
void places_switch(bool on);
bool places_are_on(void);
/* Those that are known, the newest first; NULL after the last. */
struct place *place_next(const struct place *after);

#endif
