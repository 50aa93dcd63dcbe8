/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wait.h - how a stream waits for an outside event
 *
 * Purpose: a rule, a fetch or a filter needs something that is not there yet: a DNS response, a
 *          slow hash, an agent's verdict. Its code embeds a struct stream_wait in its per-stream
 *          data, begins the wait and returns RULE_WAIT (EXPR_WAIT, ...). The stream stays in its
 *          stage, and other streams are served meanwhile. When the result is there, stream_wake()
 *          ends the wait and runs the stream, which comes back to the same rule. A stream that ends
 *          before that, in whatever stage, cancels its waits.
 *
 *     static const struct stream_wait_kind lookup = { .name = "lookup", .cancel = lookup_cancel };
 *     struct lookup { struct stream_wait wait; ... };
 *
 *     rule:    if (!l) { l = arena_zalloc(...); stream_wait_begin(s, &l->wait, &lookup); ask(l); }
 *              if (!stream_wait_is_over(&l->wait)) return RULE_WAIT;
 *     answer:  l->result = ...; stream_wake(&l->wait);
 *     cancel:  ask_forget(l);
 *
 *          An action finds its wait again through s->rule.data, which is NULL when the action
 *          begins; other code through stream_wait_find().
 * Owns   : a stream_wait is a member of its user's object, often in the stream's arena, and lives
 *          until the wait is over. A stream may have several waits at a time (a rule and a filter).
 * Threads: the stream's. A result from another thread must be passed by a mailbox or a task.
 * Errors : none: nothing is allocated. A wait has no deadline of its own: see stream_wait_ms().
 */
#ifndef STREAM_WAIT_H
#define STREAM_WAIT_H

#include <stdbool.h>
#include <stddef.h>

struct stream;
struct stream_wait;

/* A kind of wait. */
struct stream_wait_kind {
	const char *name; /* one word, for traces and `show sess all` */
	/* The wait ended without a result: stream_wake(w) must not be called any more. */
	void (*cancel)(struct stream_wait *w);
};

struct stream_wait {
	const struct stream_wait_kind *kind;
	struct stream *stream;    /* NULL: the wait is over, or has not begun */
	struct stream_wait *next; /* next wait of the stream */
};

/* Begins a wait of <s>; <w> must not be waiting. */
void stream_wait_begin(struct stream *s, struct stream_wait *w,
		       const struct stream_wait_kind *kind);
/* The result that <w> waits for is there: ends the wait and runs the stream before returning (or
 * runs it once more, if it is running). The stream, and all that lies in its arena, may be freed.
 */
void stream_wake(struct stream_wait *w);
/* Ends the wait of <w> without a result. Harmless if it is over. */
void stream_wait_cancel(struct stream_wait *w);
/* Returns the last wait of this kind that began, or NULL. */
struct stream_wait *stream_wait_find(const struct stream *s, const struct stream_wait_kind *kind);

static inline bool stream_wait_is_over(const struct stream_wait *w)
{
	return !w->stream;
}

#endif
