/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h1_skip.c - the HTTP/1 mux: the rest of a request whose answer came before its end
 *
 * RFC 9112, 9.3.
 * Denied uploads, answers of servers that do not want all of it: no end of the connection was
 * announced to the client, so its next request follows after this one's body.
 */
#include "h1_priv.h"

bool h1_can_skip(const struct h1_conn *h)
{
	if (h->flags & H1C_FL_EXPECTS)
		return false;
	return h->rx_state == H1_RX_LENGTH || h->rx_state == H1_RX_CHUNKED ||
	       h->rx_state == H1_RX_TRAILERS;
}

/* When the process stops, a client that is silent for so long keeps it no more. */
#define STOPPING_MS 2000

/* The client may take as long to go on as with any body. */
static void patience(struct h1_conn *h)
{
	int64_t wait = h->flags & H1C_FL_STOP ? STOPPING_MS : h->settings->client_ms;

	timer_set(&h->timer, wait ? clock_now_ms() + (uint64_t)wait : TIMER_NEVER);
}

void h1_skip_stop(struct h1_conn *h)
{
	uint64_t end_ms = clock_now_ms() + STOPPING_MS;

	if (!timer_is_set(&h->timer) || h->timer.expire_ms > end_ms)
		timer_set(&h->timer, end_ms);
}

void h1_skip_begin(struct h1_conn *h)
{
	h1_set_rx(h, h->rx_state == H1_RX_LENGTH    ? H1_RX_SKIP_LENGTH
		     : h->rx_state == H1_RX_CHUNKED ? H1_RX_SKIP_CHUNKED
						    : H1_RX_SKIP_TRAILERS);
	patience(h);
}

static enum h1_skipped skip_length(struct h1_conn *h)
{
	size_t n = h->in.block->used - h->in.at;

	if (n > h->rx.left)
		n = (size_t)h->rx.left;
	h->in.at += (uint32_t)n;
	h->rx.left -= n;
	return h->rx.left ? H1_SKIPPED_SOME : H1_SKIPPED_ALL;
}

static enum h1_skipped skip_chunks(struct h1_conn *h)
{
	struct chunk_step step;
	enum h1_status r = chunk_decode(&h->rx.chunk, wire_in_bytes(&h->in), &step);

	if (r == H1_ERROR)
		return H1_SKIPPED_BAD;
	h->in.at += (uint32_t)step.used;
	if (r == H1_DONE)
		h1_set_rx(h, H1_RX_SKIP_TRAILERS);
	return step.used || r == H1_DONE ? H1_SKIPPED_SOME : H1_SKIPPED_NONE;
}

static enum h1_skipped skip_trailers(struct h1_conn *h, struct chunk_trailers *t)
{
	struct slice bytes = wire_in_bytes(&h->in);
	enum h1_status r = chunk_parse_trailers(bytes, t);

	if (r == H1_MORE && bytes.len < h->settings->head_max)
		return H1_SKIPPED_NONE;
	if (r != H1_DONE)
		return H1_SKIPPED_BAD;
	h->in.at += (uint32_t)t->used;
	return H1_SKIPPED_ALL;
}

static enum h1_skipped skip_bytes(struct h1_conn *h, struct chunk_trailers *t)
{
	enum h1_skipped r = h->rx_state == H1_RX_SKIP_LENGTH	? skip_length(h)
			    : h->rx_state == H1_RX_SKIP_CHUNKED ? skip_chunks(h)
								: skip_trailers(h, t);

	if (h->in.block && h->in.at == h->in.block->used)
		wire_in_drop(&h->in);
	return r;
}

/* One block at most: the caller counts what others may have to wait for. */
enum h1_skipped h1_skip(struct h1_conn *h, struct chunk_trailers *t)
{
	enum h1_skipped all = H1_SKIPPED_NONE, r = H1_SKIPPED_SOME;
	const struct block *block = h->in.block;

	while (r == H1_SKIPPED_SOME && wire_in_has(&h->in) && h->in.block == block) {
		r = skip_bytes(h, t);
		if (r != H1_SKIPPED_NONE)
			all = r;
	}
	if (all == H1_SKIPPED_SOME)
		patience(h);
	return all;
}
