/* SPDX-License-Identifier: GPL-2.0-or-later */
/* balance_entry.c - what the algorithms share: entries, and memory that others still read */
#include <stdlib.h>
#include <string.h>
#include "balance_priv.h"
#include "core/mailbox.h"
#include "proxy/queue.h"

void *balance_lines_alloc(size_t size)
{
	size_t rounded = (size + 63) & ~(size_t)63;
	void *p = aligned_alloc(64, rounded ? rounded : 64);

	if (p)
		memset(p, 0, rounded ? rounded : 64);
	return p;
}

static void retire_nothing(void *ctx)
{
}

static void retire_free(void *ctx)
{
	free(ctx);
}

/* A pick never spans two turns of a thread's loop: when every thread has run a message, none can
 * hold the old memory. Without memory for the messages it is left behind: a leak of a few bytes
 * is better than a wrong read.
 */
void balance_retire(void *memory)
{
	if (memory)
		thread_call_all(retire_nothing, retire_free, memory);
}

bool balance_entry_fits(const struct server_balance *e, const struct server *avoid)
{
	return balance_entry_weight(e) && e->server != avoid && server_has_room(e->server);
}
