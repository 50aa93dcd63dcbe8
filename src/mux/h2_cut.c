/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_cut.c - the HTTP/2 mux: frames that arrive for streams that we have reset
 *
 * Frames that the peer sent before it received the reset are no error (RFC 9113 5.1), but frames
 * for a stream that ended otherwise are. So the last stream numbers that were reset are remembered.
 * When the answer was complete before the request, the rest of the request is still counted and its
 * trailers are checked: whether an error is noticed does not depend on how soon the answer left.
 */
#include "h2_conn_priv.h"
#include "h2_stream_priv.h"
#include "trace_priv.h"

static struct h2_cut *find(struct h2_conn *h, uint32_t id)
{
	for (unsigned i = 0; i < ARRAY_LEN(h->cuts.list); i++)
		if (h->cuts.list[i].id == id)
			return &h->cuts.list[i];
	return NULL;
}

void h2c_note_cut(struct h2_conn *h, uint32_t id)
{
	struct h2_cut *cut = find(h, id);

	if (!cut)
		cut = &h->cuts.list[h->cuts.at++ % ARRAY_LEN(h->cuts.list)];
	*cut = (struct h2_cut){ .id = id, .left = H2_CUT_SKIP };
}

void h2s_cut(struct h2_stream *s, enum h2_error code)
{
	struct h2_cut *cut;

	h2c_cancel(s->conn, s->id, code);
	if (code != H2_ERR_NO_ERROR || s->flags & H2S_FL_CONNECT)
		return;
	cut = find(s->conn, s->id);
	cut->left = s->left < H2_CUT_SKIP ? (uint32_t)s->left : H2_CUT_ANY;
}

bool h2c_was_cut(const struct h2_conn *h, uint32_t id)
{
	for (unsigned i = 0; i < ARRAY_LEN(h->cuts.list); i++)
		if (h->cuts.list[i].id == id)
			return true;
	return false;
}

void h2c_forget_cut(struct h2_conn *h, uint32_t id)
{
	struct h2_cut *cut = find(h, id);

	if (cut)
		cut->id = 0;
}

/* The request was none, though its answer has left. */
static void fail(struct h2_conn *h, uint32_t id, const char *text)
{
	h2c_reset(h, id, H2_ERR_PROTOCOL_ERROR);
	h2c_glitch(h, text);
}

void h2c_cut_data(struct h2_conn *h, uint32_t id, size_t len, bool end)
{
	struct h2_cut *cut = find(h, id);

	if (!cut || cut->left == H2_CUT_SKIP)
		return;
	if (cut->left != H2_CUT_ANY) {
		if (len > cut->left) {
			fail(h, id, "more DATA than announced");
			return;
		}
		cut->left -= (uint32_t)len;
	}
	if (end && cut->left != H2_CUT_ANY && cut->left)
		fail(h, id, "less DATA than announced");
	else if (end)
		cut->id = 0; /* nothing follows its end */
}

void h2c_cut_trailers(struct h2_conn *h, uint32_t id, bool good)
{
	struct h2_cut *cut = find(h, id);

	if (!cut || cut->left == H2_CUT_SKIP)
		return;
	if (!good || (cut->left != H2_CUT_ANY && cut->left))
		fail(h, id, "invalid trailers");
	else
		cut->id = 0;
}
