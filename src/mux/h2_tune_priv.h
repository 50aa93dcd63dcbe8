/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_tune_priv.h - HTTP/2 settings (h2_tune.c), and the number of streams that clients may have,
 * depending on the load (h2_elastic.c)
 *
 * Threads: settings belong to a generation, and are read-only once it is checked; the rest: any.
 */
#ifndef MUX_H2_TUNE_PRIV_H
#define MUX_H2_TUNE_PRIV_H

#include <stdint.h>
#include "base/slot.h"
#include "mux/h2.h"

extern struct slot h2_tune_slot;
/* Sets the defaults of settings that were not configured; once per generation. */
void h2_tunes_fill(struct config *cfg);

/* Returns how many concurrent streams a new client connection may have, depending on the load; 0:
 * any.
 */
uint32_t h2_elastic_take(const struct h2_tunes *t);
/* Gives back those of a connection that tune.streams-elasticity has limited. */
void h2_elastic_give(uint32_t streams);

#endif
