/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_slot_priv.h - functions of server_slot.c for the queues, besides include/proxy/queue.h */
#ifndef PROXY_SERVER_SLOT_PRIV_H
#define PROXY_SERVER_SLOT_PRIV_H

#include <stdint.h>

struct server_state;

/* Returns the slots in use that were taken while there was no limit; 0 if there always was one. */
int64_t slot_unlimited_count(const struct server_state *st);

#endif
