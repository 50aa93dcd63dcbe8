/* SPDX-License-Identifier: GPL-2.0-or-later */
/* affinity_priv.h - binds threads to CPUs */
#ifndef CORE_AFFINITY_PRIV_H
#define CORE_AFFINITY_PRIV_H

#include "cpu_priv.h"

/* Takes over the contents of <plan> and empties it. Before the threads start. */
void affinity_set_plan(struct thread_plan *plan);
/* Binds the calling thread, number <id>, according to the plan, if there is one. */
void affinity_apply(unsigned id);

#endif
