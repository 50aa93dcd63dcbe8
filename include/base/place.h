/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* place.h - counts rare events per place in the code, for `debug counters`
 *
 * A place is a static record in the code. It is registered when it is reached for the first time:
 * places that were never reached are not listed. Only for rare events, since all threads share one
 * counter.
 *
 *	PLACE_COUNT(PLACE_GLT, "PING acknowledged that was not sent");
 *
 * Threads: any. Manual: management "debug counters", configuration debug.counters.
 */
#ifndef BASE_PLACE_H
#define BASE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

/* X(NAME, word): protocol oddities of peers; other events, counted on demand only. */
#define PLACE_TYPES(X) X(GLT, "glt") X(CNT, "cnt")
enum place_type {
#define X(name, word) PLACE_##name,
	PLACE_TYPES(X)
#undef X
	PLACE_TYPE_COUNT
};

struct place {
	struct place *next;          /* of the registry */
	const char *file, *function, *text; /* static; <text> may be NULL */
	unsigned line;
	enum place_type type;
	uint64_t count;              /* atomic */
	bool known;                  /* atomic */
};

/* <text>: a constant, or NULL. If it varies, the first one is shown. */
#define PLACE_COUNT(place_type, place_text)                                                     \
	do {                                                                                    \
		static struct place place_ = { .file = __FILE__, .line = __LINE__,              \
					       .type = place_type };                            \
		place_count(&place_, __func__, place_text);                                     \
	} while (0)

/* Counts one event; <function> and <text> are kept. */
void place_count(struct place *p, const char *function, const char *text);
/* Set and return whether events of PLACE_CNT are counted. */
void places_switch(bool on);
bool places_are_on(void);
/* Iterates over the registered places, newest first; NULL after the last. */
struct place *place_next(const struct place *after);

#endif
