/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trail_priv.h - shared by the files about a stream's trail
 *
 * Purpose: the engine calls note.c while a stream is in progress; note.c needs nothing of the
 *          engine. trail.c and failures.c describe and keep the trail, and may use the whole
 *          stream.
 * Threads: the stream's.
 */
#ifndef STREAM_TRAIL_PRIV_H
#define STREAM_TRAIL_PRIV_H

#include <stdint.h>
#include "base/slice.h"

struct stream;

/* A server that was given up; in the stream's arena, with its name: the server may be freed later.
 */
struct trail_try {
	struct trail_try *next; /* the previous one */
	struct slice server;
	uint8_t why;
	uint16_t status;
	int error;
};

/* Receives traced streams; set by stream_set_tracer(). */
struct stream_tracer;
extern const struct stream_tracer *trail_tracer;

/* Sets the function that keeps streams that are over, see failure_keep(). Once, before any stream.
 */
typedef void trail_keep_fn(struct stream *s);
void trail_set_keeper(trail_keep_fn *fn);

#endif
