/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h1_answer.c - the HTTP/1 mux: requests that their owner answers without a stream
 *
 * Owners that use this get many equal requests: a head that is byte for byte the same as the
 * previous one on this thread is not parsed again.
 */
#include "h1_priv.h"

/* The last head that was answered, as it was received (the parser edits it), or that is parsed. */
static __thread struct {
	size_t len;             /* 0: none was answered */
	unsigned options;       /* of the settings under which it was parsed */
	struct slice target;    /* of <text> */
	char text[256];
} last;

/* May an answer be sent behind what is there? A client that does not read gets streams. */
static bool is_free(const struct h1_conn *h)
{
	return !h->out.len && !(h->conn->flags & CONN_TX_HELD) &&
	       !(h->flags & (H1C_FL_CLOSE | H1C_FL_STOP));
}

static bool answer(struct h1_conn *h, const struct front_request *rq)
{
	if (!h->user.front->answer(h->owner, rq, &h->out))
		return false;
	H1_TRACE(USER, h, H1_EV(RX_DATA) | H1_EV(RX_HEAD), "received a request and its answer");
	h->flags &= ~(unsigned)H1C_FL_FIRST;
	h1_count_stream_end(h);
	h1_front_idle(h);
	return true;
}

bool h1_answer_again(struct h1_conn *h, struct slice bytes)
{
	struct front_request rq = { .target = last.target, .length = last.len };

	if (h->partial)
		return false;
	if (last.len && last.len <= bytes.len && last.options == h->settings->options &&
	    memcmp(bytes.ptr, last.text, last.len) == 0) {
		if (!is_free(h) || !answer(h, &rq))
			return false;
		wire_in_use(&h->in, rq.length);
		return true;
	}
	last.len = 0;
	if (bytes.len <= sizeof(last.text))
		memcpy(last.text, bytes.ptr, bytes.len);
	return false;
}

/* Remembers the head that was just parsed and answered: <text> has its bytes if there was room. */
static void remember(const struct h1_conn *h, const struct h1_head *head)
{
	const char *from = h->in.block->data + h->in.at;

	if (h->partial || wire_in_bytes(&h->in).len > sizeof(last.text))
		return;
	last.len = head->length;
	last.options = h->settings->options;
	last.target = slice_make(last.text + (head->uri.ptr - from), head->uri.len);
}

bool h1_answer(struct h1_conn *h, const struct h1_head *head)
{
	struct front_request rq = { .target = head->uri, .length = head->length };

	if (head->method_id != H1_METHOD_GET || head->target != H1_TARGET_ORIGIN ||
	    head->body != H1_BODY_NONE || head->major != 1 || head->minor != 1 ||
	    (head->flags & (H1_FL_KEEP_ALIVE | H1_FL_UPGRADE | H1_FL_INSECURE_TE)) !=
	    H1_FL_KEEP_ALIVE || !is_free(h) || !answer(h, &rq))
		return false;
	remember(h, head);
	return true;
}
