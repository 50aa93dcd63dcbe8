/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* trail.h - the way that a stream took: which rules applied, which servers were tried, why it ended
 *
 * Purpose: one description of a stream's way for all that show it: the command `why`, the alias
 *          %trail and the fetch stream_trail of log lines. A stream remembers the numbers of the
 *          rules that applied (rule_list.h has how often each did); all else is looked up when its
 *          way is told.
 * Owns   : each frontend has a ring of the last streams that ended badly, of tune.failed-requests
 *          entries, each made when it is first needed. The rings outlive a reload.
 * Threads: trail_*() and failure_keep(): the stream's. failure_read(): any; a reader and a writer
 *          of one entry do not wait for each other.
 * Fails  : without memory a failure is not kept; more than FAILURES_A_SECOND of a thread are not.
 * Manual : management 9.3 why (an extension).
 */
#ifndef STREAM_TRAIL_H
#define STREAM_TRAIL_H

#include <stdbool.h>
#include <stdint.h>
#include "base/slice.h"
#include "base/strbuf.h"
#include "stream/stream.h"

#define FAILURES_A_SECOND 1000
#define FAILURE_TRIES 8       /* of the servers that were given up, the last ones */
#define FAILURE_TEXT 2048
#define FAILURE_BYTES 256     /* of what was no valid message */

/* A part of the texts of a description; len 0: there is none. */
struct failure_text {
	uint16_t at, len;
};

/* A rule that applied. */
struct failure_rule {
	struct failure_text words, file; /* "http-request deny" */
	int line;
	bool of_backend;
};

/* A server that was given up for another try. */
struct failure_try {
	struct failure_text server;
	uint8_t why;                     /* enum stream_end; END_NONE: <status> */
	uint16_t status;
	int error;                       /* errno of the connection; 0: none */
};

/* What was received and broke the protocol, around the place. */
struct failure_bytes {
	uint16_t len, at;                /* at: of the first bad byte, in <text> */
	uint32_t from;                   /* offset of <text> in what was received */
	char text[FAILURE_BYTES];
};

/* A stream's way, complete in itself: nothing of it points anywhere. */
struct failure {
	uint64_t serial;                 /* in the process; 0: it is not kept */
	uint64_t wall_us;
	uint64_t received, sent;         /* bytes of the client, to it */
	struct failure_text id, frontend, backend, server, client, request, how;
	uint16_t status;
	uint8_t end, stage;              /* enum stream_end, enum stream_stage */
	char letters[2];                 /* of the log */
	uint16_t retries;
	uint32_t server_queue, backend_queue; /* waiters that were ahead */
	int error;                       /* errno of the last connection; 0: none */
	int64_t handshake_ms, idle_ms, request_ms, queue_ms, connect_ms, response_ms, active_ms;
	uint8_t rule_count, try_count;
	uint32_t rules_before;           /* applied before rules[0], and are not known any more */
	int decided;                     /* the rule that ended the stream; -1: none did */
	struct failure_rule rules[TRAIL_RULES];
	struct failure_try tries[FAILURE_TRIES];
	struct failure_bytes bytes;
	uint16_t text_len;
	char text[FAILURE_TEXT];
};

static inline struct slice failure_slice(const struct failure *f, struct failure_text t)
{
	return slice_make(f->text + t.at, t.len);
}

/* "HTTP_REQUEST_FE", by enum stream_stage. */
extern const char *const stream_stage_names[STAGE_COUNT];

/* The stream's server is given up for another try because of <why>, an end that it does not become;
 * END_NONE: because of the status of the answer in s->res.
 */
void trail_note_try(struct stream *s, enum stream_end why);
/* Describes the stream as it is now. */
void trail_describe(struct stream *s, struct failure *f);
#define TRAIL_LINE_MAX 2048 /* longer ones are cut */
/* In one line: "http-request deny (web.cfg:12); server s2 by roundrobin after s1 CONNECT_FAILED".
 * Nothing for a stream that has not come that far.
 */
void trail_put_line(struct stream *s, struct strbuf *out);

/* Keeps the stream, which is over, if it ended badly; the function of trail_set_keeper() decides
 * that.
 */
void failure_keep(struct stream *s);
/* The <back>-th last one of <px>, 0: the last one. False: there is none, or it is being written. */
bool failure_read(const struct proxy *px, unsigned back, struct failure *out);
/* How many are kept of <px> at most, those that were not made yet included; 0: it has no ring. */
unsigned failure_room(const struct proxy *px);
/* How many were not kept, since the start: too many, or no memory. */
uint64_t failures_missed(void);
/* What is kept of <px> goes to <next>, the generation that takes its place. Thread 0. */
void failures_pass_on(struct config *next, const struct proxy *px);

extern const struct module mod_failures;

#endif
