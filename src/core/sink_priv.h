/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sink_priv.h - the sinks that always exist */
#ifndef SRC_CORE_SINK_PRIV_H
#define SRC_CORE_SINK_PRIV_H

#include <stdbool.h>
#include "conf/conf.h"

/* Creates stdout, stderr, buf0 and dpapi. False: out of memory. */
bool sinks_init(void);
void sinks_fini(void);

/* The sinks that a generation announces: module hooks, and the end of their slot. */
extern struct slot sink_slot;
bool sinks_start(struct config *cfg, struct diag_list *diags);
void sinks_retire(struct config *cfg);

#endif
