/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sink_priv.h - the sinks that are always there */
#ifndef SRC_CORE_SINK_PRIV_H
#define SRC_CORE_SINK_PRIV_H

#include <stdbool.h>
#include "conf/conf.h"

/* Makes stdout, stderr, buf0 and dpapi known. False: no memory. */
bool sinks_init(void);
void sinks_fini(void);

/* Those that a generation announced: its module hooks, and the end of their slot. */
extern struct slot sink_slot;
bool sinks_start(struct config *cfg, struct diag_list *diags);
void sinks_retire(struct config *cfg);

#endif
