/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sink.h - destinations of events: a descriptor or a ring
 *
 * Traces and logs are written to sinks: "stdout", "stderr", the ring "buf0", and the rings of the
 * configuration. A sink determines the header (codec/syslog.h) and the maximum length of each
 * event. Events that cannot be written are counted, never waited for.
 * Owns   : its ring. Refcounted. *Published* sinks are found by name: the rings of a generation are
 *          published from its start to its end.
 * Threads: any.
 * Manual : configuration 12.5 rings; management show events, trace sink.
 */
#ifndef CORE_SINK_H
#define CORE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include "codec/syslog.h"
#include "conf/conf.h"
#include "core/ring.h"

#define SINK_BUF0_SIZE (1 << 20)

struct sink {
	unsigned refs;             /* atomic */
	struct sink *next;         /* next published one, under the lock of the list */
	char *name, *description;  /* owned */
	enum syslog_format format; /* UNSET: the writer's preference, or "local" */
	size_t max_len;            /* of an event, header included */
	char *path;                /* owned: path of the ring's file; NULL: none */
	int fd;                    /* -1: <ring> */
	struct ring *ring;         /* counted */
	uint64_t dropped;          /* atomic: events */
};

/* Creates a sink over <ring>, whose reference it takes over, or over <fd> if that is not -1. NULL:
 * out of memory (the reference is dropped).
 */
struct sink *sink_new(const char *name, const char *description, int fd, struct ring *ring);
struct sink *sink_take(struct sink *s);
void sink_drop(struct sink **s);

/* Finds a published sink by name and takes a reference. NULL: none. */
struct sink *sink_find(const char *name);
/* Returns the <i>-th published sink with a new reference. NULL: after the last. */
struct sink *sink_get(unsigned i);

/* Gives the generation a sink: it is published when the generation starts and withdrawn when it
 * retires. Takes over the reference. False: out of memory (the reference is dropped).
 */
bool sink_announce(struct config *cfg, struct sink *s);
/* Finds a sink of the generation, or one that always exists. NULL: none. Borrowed from the
 * generation.
 */
struct sink *sink_of_config(const struct config *cfg, const char *name);

/* Writes the header in the sink's format (or h->format if it has none) and the text, cut to the
 * sink's length, or to <max> bytes if that is less (0: no limit). False: dropped and counted.
 */
bool sink_write(struct sink *s, const struct syslog_header *h, struct slice text, size_t max);
/* Writes one line to a descriptor that others use as well, without waiting if it is a pipe or a
 * socket. False: not written.
 */
bool sink_write_fd(int fd, const struct iovec *v, int count);

extern const struct module mod_sink; /* stdout, stderr, buf0; show events */

#endif
