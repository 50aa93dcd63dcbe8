/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* track.h - sticky counters: the stick-table entries of a connection and of its requests
 *
 * Purpose: sticky counter number <i> of a connection (tcp-request connection and session rules) or
 *          of a stream (all other rules) stands for one entry of a table, from the first
 *          track-sc<i> rule that found a key until the connection or the stream ends.
 * Owns   : a tracker holds its entry. A connection's tracker also holds the entries of the table; a
 *          stream's relies on its generation. A connection that tracks nothing needs no memory for
 *          this, a stream one pointer.
 * Threads: those of the session and the stream.
 * Manual : configuration 4.4 track-sc0, 7.3.3 sc_*, 11.1; 3.2 tune.stick-counters; 3.1
 *          http-err-codes, http-fail-codes.
 */
#ifndef STREAM_TRACK_H
#define STREAM_TRACK_H

#include <stdbool.h>
#include <stdint.h>
#include "base/module.h"
#include "table/table.h"

struct config;
struct expr_ctx;
struct session;
struct stream;

struct tracked {
	struct table_state *table;  /* NULL: nothing is tracked */
	struct table_entry *entry;
};

/* Returns tune.stick-counters. */
unsigned track_count(const struct config *cfg);
/* Returns what the rules of this context see as number <i>: the stream's tracker, else the
 * connection's. NULL: nothing is tracked. Borrowed.
 */
const struct tracked *tracked_at(const struct expr_ctx *ctx, unsigned i);
/* Makes <entry> number <i> of the stream or, without one, of the connection; takes over the
 * caller's hold. False: out of memory, the entry was released.
 */
bool track_begin(struct expr_ctx *ctx, unsigned i, struct table_state *st,
		 struct table_entry *entry);

/* --- counting, for the engine ------------------------------------------------------------------
 */

/* The connection became a session. */
void track_session(struct session *s);
/* A request of <in> bytes never became a stream; <failed>: it was not a valid request. */
void track_request_without_stream(struct session *s, bool failed, uint64_t in);
/* The client did something that a well-behaved client does not do. Counts in the connection's
 * trackers only.
 */
void track_glitch(struct session *s);
/* The request of a stream passed tcp-request content, or the stream switches to HTTP. Counts at the
 * first call only.
 */
void track_request(struct stream *s);
/* A rule asked the client for credentials: an error that the end of the stream does not show. */
void track_refused(struct stream *s);
/* The head of the server's response has come. */
void track_answer(struct stream *s, unsigned status);
/* Counts the bytes since the last call. */
void track_bytes(struct stream *s, uint64_t in, uint64_t out);
/* Counts what the end of the stream says of the client or the server, once: before the proxy's own
 * answer passes through http-after-response rules, or else when the stream is over. Its trackers
 * are there for the log, and end with its memory.
 */
void track_end(struct stream *s);

extern const struct module mod_track;

#endif
