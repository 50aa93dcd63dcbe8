/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_tune_priv.h - HTTP/2: settings (h2_tune.c), and how many streams clients may have by the load
 * (h2_elastic.c)
 *
 * Threads: settings are of a generation, and only read once it is checked; the rest from any.
 */
#ifndef MUX_H2_TUNE_PRIV_H
#define MUX_H2_TUNE_PRIV_H

#include <stdint.h>
#include "base/slot.h"
#include "mux/h2.h"

extern struct slot h2_tune_slot;
/* Gives what was not configured its default; once per generation. */
void h2_tunes_fill(struct config *cfg);

/* Streams that a new connection of a client may have at once, by the load; 0: any. */
uint32_t h2_elastic_take(const struct h2_tunes *t);
/* Gives them back, of one that tune.streams-elasticity has limited. */
void h2_elastic_give(uint32_t streams);

#endif
