/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h1_count.c - the HTTP/1 mux: counting for its owner: mux/h1.h, H1_COUNTS
 *
 * Bytes are added up in the connection and reported at the end of a stream; those of a long stream
 * after each 16 MB.
 */
#include "base/bug.h"
#include "h1_priv.h"

static void add(struct h1_conn *h, enum h1_counter what, int64_t n)
{
	counter_add(h->settings->counters, h->settings->h1_counts + what, n);
}

static uint64_t *mine_of(const struct h1_conn *h)
{
	SHARED_WRITE(group);
	return counter_mine(h->settings->counters, h->settings->h1_counts);
}

static void give_bytes(struct h1_conn *h, uint64_t *mine)
{
	if (h->bytes_in)
		counter_bump(mine + H1_CNT_BYTES_IN, h->bytes_in);
	if (h->bytes_out)
		counter_bump(mine + H1_CNT_BYTES_OUT, h->bytes_out);
	h->bytes_in = h->bytes_out = 0;
}

void h1_count_conn(struct h1_conn *h)
{
	if (!h->settings->counters)
		return;
	add(h, H1_CNT_CONNS, 1);
	add(h, H1_CNT_CONNS_TOTAL, 1);
}

void h1_count_begin(struct h1_conn *h)
{
	uint64_t *mine = mine_of(h);

	counter_bump(mine + H1_CNT_STREAMS, 1);
	counter_bump(mine + H1_CNT_STREAMS_TOTAL, 1);
}

void h1_count_finish(struct h1_conn *h)
{
	uint64_t *mine = mine_of(h);

	counter_bump(mine + H1_CNT_STREAMS, -1);
	give_bytes(h, mine);
}

void h1_count_end(struct h1_conn *h)
{
	h1_count_stream_end(h);
	if (!h->settings->counters)
		return;
	give_bytes(h, mine_of(h));
	add(h, H1_CNT_CONNS, -1);
}

void h1_count_many(struct h1_conn *h)
{
	if (h->settings->counters)
		give_bytes(h, mine_of(h));
}

void h1_count_spliced(struct h1_conn *h, size_t in, size_t out)
{
	h1_count_bytes(h, in, out);
	if (!h->settings->counters)
		return;
	if (in)
		add(h, H1_CNT_SPLICED_IN, (int64_t)in);
	if (out)
		add(h, H1_CNT_SPLICED_OUT, (int64_t)out);
}
