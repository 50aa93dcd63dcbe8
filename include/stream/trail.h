/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* trail.h - the way a stream took: rules that applied, servers tried, the reason of its end
 *
 * Purpose: one description of a stream's way for all that show it: the command `why`, the alias
 *          %trail and the fetch stream_trail of log lines. A stream remembers the numbers of the
 *          rules that applied (rule_list.h counts how often each did); everything else is looked up
 *          when the description is made.
 * Owns   : each frontend has a ring of the last streams that ended badly, of tune.failed-requests
 *          entries, each allocated when it is first needed. The rings survive a reload.
 * Threads: trail_*() and failure_keep(): the stream's. failure_read(): any; readers and writers of
 *          an entry do not block each other.
 * Fails  : out of memory, a failure is not kept; nor is more than FAILURES_A_SECOND per thread.
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
#define FAILURE_TRIES 8       /* the last servers that were given up */
#define FAILURE_TEXT 2048
#define FAILURE_BYTES 256     /* around the invalid byte */

/* A part of the description's text; len 0: absent. */
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

/* The received bytes that broke the protocol, around the first bad byte. */
struct failure_bytes {
	uint16_t len, at;                /* at: index of the first bad byte in <text> */
	uint32_t from;                   /* offset of <text> in the received bytes */
	char text[FAILURE_BYTES];
};

/* The way of a stream, self-contained: it has no pointers to other objects. */
struct failure {
	uint64_t serial;                 /* unique in the process; 0: not kept */
	uint64_t wall_us;
	uint64_t received, sent;         /* from the client, to the client */
	struct failure_text id, frontend, backend, server, client, request, how;
	uint16_t status;
	uint8_t end, stage;              /* enum stream_end, enum stream_stage */
	char letters[2];                 /* termination state */
	uint16_t retries;
	uint32_t server_queue, backend_queue; /* waiters ahead of it */
	int error;                       /* errno of the last connection; 0: none */
	int64_t handshake_ms, idle_ms, request_ms, queue_ms, connect_ms, response_ms, active_ms;
	uint8_t rule_count, try_count;
	uint32_t rules_before;           /* rules before rules[0] that applied and were forgotten */
	int decided;                     /* index of the rule that ended the stream; -1: none */
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

/* Notes that the stream's server is given up for another try because of <why>, which does not
 * become the stream's end; END_NONE: because of the status of the response in s->res.
 */
void trail_note_try(struct stream *s, enum stream_end why);
/* Describes the stream as it is now. */
void trail_describe(struct stream *s, struct failure *f);
#define TRAIL_LINE_MAX 2048 /* longer ones are cut */
/* Appends one line: "http-request deny (web.cfg:12); server s2 by roundrobin after s1
 * CONNECT_FAILED". Appends nothing for a stream that has not come that far.
 */
void trail_put_line(struct stream *s, struct strbuf *out);

/* Keeps the description of the stream, which is over, if it ended badly; the function given to
 * trail_set_keeper() decides that.
 */
void failure_keep(struct stream *s);
/* Reads the <back>-th last entry of <px>; 0: the last one. False: there is none, or it is being
 * written.
 */
bool failure_read(const struct proxy *px, unsigned back, struct failure *out);
/* Returns the size of the ring of <px>, entries not allocated yet included; 0: it has no ring. */
unsigned failure_room(const struct proxy *px);
/* Returns how many were not kept since the start: too many per second, or out of memory. */
uint64_t failures_missed(void);
/* Moves the ring of <px> to <next>, the generation that replaces its own. Thread 0. */
void failures_pass_on(struct config *next, const struct proxy *px);

extern const struct module mod_failures;

#endif
