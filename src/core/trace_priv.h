/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace_priv.h - trace sources, for the files that configure and run them */
#ifndef SRC_CORE_TRACE_PRIV_H
#define SRC_CORE_TRACE_PRIV_H

#include "core/trace.h"

/* Returns the <i>-th source in the order of lists; NULL after the last. */
struct trace_source *trace_source_get(unsigned i);
struct trace_source *trace_source_find(const char *name);
/* Returns the letter of its state, for lists. */
char trace_source_letter(const struct trace_source *s);

/* Call under trace_lock(), which the configuring commands hold. */
void trace_lock(void);
void trace_unlock(void);
void trace_set_state(struct trace_source *s, enum trace_state state);
void trace_set_lock(struct trace_source *s, unsigned lock);
void trace_set_follow(struct trace_source *s, struct trace_source *other);
/* Sets the sink, taking a reference; NULL: none. */
void trace_set_sink(struct trace_source *s, struct sink *sink);

#endif
