/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "main_priv.h"
bool stats_sockets_open(struct config *cfg, struct diag_list *diags) { return true; }
void stats_sockets_start_thread(struct config *cfg) { }
void stats_sockets_close(struct config *cfg) { }
unsigned stats_sockets_count(const struct config *cfg) { return 0; }
