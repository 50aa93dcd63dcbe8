/* SPDX-License-Identifier: GPL-2.0-or-later */
/* records.c - how large the records sent are: small where a flow begins, so that its first bytes
 * can be used before a packet more has come (tune.ssl.maxrecord, tune.ssl.hard-maxrecord)
 */
#include "base/bug.h"
#include "base/clock.h"
#include "conn_priv.h"
#include "early_priv.h"

size_t tls_record_size(const struct tls_conn *t)
{
	size_t max = t->records.max ? t->records.max : TLS_RECORD_MAX;

	if (unlikely(tls_sends_early(t)) && tls_early_room(t) < max)
		max = tls_early_room(t);
	if (t->records.first && t->records.first < max && t->flowed < TLS_FLOW_IS_BULK)
		return t->records.first;
	return max;
}

void tls_flow_begins(struct tls_conn *t)
{
	uint32_t now = (uint32_t)clock_now_ms();

	if (t->records.idle_ms && now - t->sent_ms >= t->records.idle_ms)
		t->flowed = 0;
	t->sent_ms = now;
}
