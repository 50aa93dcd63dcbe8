/* SPDX-License-Identifier: GPL-2.0-or-later */
/* affinity_priv.h - which CPUs a thread may run on */
#ifndef CORE_AFFINITY_PRIV_H
#define CORE_AFFINITY_PRIV_H

/* Binds the calling thread, number <id>, as the configuration decided; nothing when it did not. */
void affinity_apply(unsigned id);

#endif
