/* SPDX-License-Identifier: GPL-2.0-or-later */
/* account_priv.h - the counters of sessions and streams */
#ifndef STREAM_ACCOUNT_PRIV_H
#define STREAM_ACCOUNT_PRIV_H

#include "stream/stream.h"

void stream_count_begin(struct stream *s);
/* A TCP stream became an HTTP stream, or is replaced by HTTP streams: its connection is of another
 * kind.
 */
void stream_count_upgrade(struct stream *s);
/* Sets the second of the last session, in a word that all threads share: written at most once per
 * second.
 */
void stream_note_session(int64_t *last_s);
void stream_count_backend(struct stream *s);
void stream_count_end(struct stream *s);
/* Counts a request that was answered immediately, without a stream. */
void session_count_answer(struct session *sess, unsigned status, size_t in, size_t out);
/* Counts 1 for the frontend, and for its listener where that has figures of its own. */
void stream_count_front(const struct stream *s, unsigned which);
/* Counts 1 of enum counter_back for the backend and for the server, as far as there are. */
void stream_count_back(const struct stream *s, unsigned which);
/* The response so far is dropped: its bytes that were not counted yet will not be. */
void stream_forget_answer(struct stream *s);
/* Option contstats: counts the bytes so far, from time to time. */
void stream_count_continuously(struct stream *s);

#endif
