/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* track.h - the entries of stick tables that a client's connection and its requests count in
 *
 * Purpose: sticky counters: the number <i> of a connection (tcp-request connection and session) or
 *          of a stream (all other rules) stands for one entry of a table, from the first rule
 *          track-sc<i> that found a key until the connection or the stream ends.
 * Owns   : a tracker holds its entry; that of a connection holds the entries of the table as well,
 *          that of a stream leans on its generation. A connection which tracks nothing has none of
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

/* tune.stick-counters */
unsigned track_count(const struct config *cfg);
/* What the rules of this context see as number <i>: the stream's tracker, else the connection's.
 * NULL: nothing is tracked. Borrowed.
 */
const struct tracked *tracked_at(const struct expr_ctx *ctx, unsigned i);
/* Has the stream, or without one the connection, <entry> as number <i> from now on; takes the
 * caller's hold. False: no memory, the entry was dropped.
 */
bool track_begin(struct expr_ctx *ctx, unsigned i, struct table_state *st,
		 struct table_entry *entry);

/* --- what is counted; by the engine ----------------------------------------------------------- */

/* The connection became a session. */
void track_session(struct session *s);
/* A request of <in> bytes that never became a stream; <failed>: it was none. */
void track_request_without_stream(struct session *s, bool failed, uint64_t in);
/* The client did what a well-behaved one does not: of its connection's trackers only. */
void track_glitch(struct session *s);
/* The request of a stream is let in by tcp-request content, or a stream becomes one of HTTP. Counts
 * at the first call only.
 */
void track_request(struct stream *s);
/* A rule asked the client for credentials: an error that no end of the stream tells. */
void track_refused(struct stream *s);
/* The head of the server's answer is there. */
void track_answer(struct stream *s, unsigned status);
/* Bytes since the last time. */
void track_bytes(struct stream *s, uint64_t in, uint64_t out);
/* Counts what the end of the stream says of the client or the server, once: before the proxy's own
 * answer passes through http-after-response rules, or else when the stream is over. Its trackers
 * are there for the log, and end with its memory.
 */
void track_end(struct stream *s);

extern const struct module mod_track;

#endif
