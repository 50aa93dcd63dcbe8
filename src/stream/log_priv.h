/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log_priv.h - log lines of streams and sessions, for the engine */
#ifndef STREAM_LOG_PRIV_H
#define STREAM_LOG_PRIV_H

#include "stream/log.h"
#include "stream/stream.h"

/* Writes the log line of the stream, once, if its frontend wants one. */
void stream_log(struct stream *s);
/* Frees the calling thread's line. */
void stream_log_thread_fini(void);
/* Writes the line of option logasap: after the response's head was sent, or the server was
 * connected (TCP).
 */
void stream_log_early(struct stream *s);
/* Writes a line at a step of `log-steps`. */
void stream_log_step(struct stream *s, enum log_step step);
/* Announces a stream at its begin, if its frontend has no log format at all. */
void stream_log_begin(struct stream *s);
/* Logs a connection that ends before it carries anything: its PROXY protocol header was invalid. */
void session_log_error(struct session *sess, const char *what);
/* Logs a connection that never became a stream: the status of the response, 0 none, and when its
 * first byte came, 0 never.
 */
void session_log_bad(struct session *sess, int status, uint64_t since_ns, enum stream_end why);

#endif
