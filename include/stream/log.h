/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* log.h - the log lines of streams, as actions, fetches and log formats see them
 *
 * Purpose: writes a line when a rule asks for one, and says how a stream has ended so far.
 * Owns   : nothing.
 * Threads: the stream's.
 * Manual : configuration 8.2 to 8.5, http-request do-log.
 */
#ifndef STREAM_LOG_H
#define STREAM_LOG_H

#include <stdbool.h>
#include "log/log.h"

struct session;
struct stream;

/* What a log line of an alias needs (struct expr_alias): the end of the stream. */
#define STREAM_NEEDS_END 1u
#define STREAM_NEEDS_SOURCE 2u /* our address towards the server, when it was left, too */

/* The two letters of the log that tell how it ended, so far. Manual 8.5. */
void stream_end_letters(const struct stream *s, char letters[2]);
/* An end that needs no attention: no error, no status 5xx (even of ours), no other try. */
bool stream_is_normal(const struct stream *s);

/* A line because a rule wants one; <s> NULL: of the session. <p>: what takes the place of the
 * profiles of all targets, or NULL.
 */
void stream_log_now(struct session *sess, struct stream *s, enum log_step step,
		    const struct log_profile *p);

#endif
