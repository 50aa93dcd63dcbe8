/* SPDX-License-Identifier: GPL-2.0-or-later */
/* affinity_priv.h - which CPUs a thread may run on */
#ifndef CORE_AFFINITY_PRIV_H
#define CORE_AFFINITY_PRIV_H

#include "cpu_priv.h"

/* Takes over what <plan> owns and empties it. Before the threads start. */
void affinity_set_plan(struct thread_plan *plan);
/* Binds the calling thread, number <id>, as the plan wants; nothing when there is none. */
void affinity_apply(unsigned id);

#endif
