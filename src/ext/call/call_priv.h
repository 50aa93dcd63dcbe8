/* SPDX-License-Identifier: GPL-2.0-or-later */
/* call_priv.h - queued calls and their counters */
#ifndef SRC_EXT_CALL_H
#define SRC_EXT_CALL_H

#include <stdint.h>
#include "base/slice.h"
#include "base/strbuf.h"

/* X(name, what `show calls` says) */
#define CALL_COUNTS(X) \
	X(MADE, "made") X(WAITING, "waiting") X(DELIVERED, "delivered") X(TRIES, "tries") \
	X(REFUSED, "refused") X(GIVEN_UP, "given up") X(DROPPED, "dropped")
#define X(name, text) CALL_##name,
enum call_count { CALL_COUNTS(X) CALL_COUNT };
#undef X

struct call_field {
	struct slice name, value;
};

/* A call to deliver; everything is copied. */
struct call_wish {
	struct slice method, url, body;
	const struct call_field *fields;
	unsigned field_count;
};

/* Queues a call on the calling thread. Dropped if there is no memory. */
void call_add(const struct call_wish *w);
/* Returns the sum over all threads. */
uint64_t call_figure(enum call_count which);
bool call_queue_init(void);
bool call_queue_thread_init(void);
void call_queue_thread_fini(void);
void call_queue_fini(void);

#endif
