/* SPDX-License-Identifier: GPL-2.0-or-later */
/* affinity.c - which CPUs a thread may run on */
#include "affinity_priv.h"

void affinity_apply(unsigned id)
{
}
