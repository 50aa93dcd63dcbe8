/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fcgi_read.c - the FastCGI mux: records in */
#include "fcgi_priv.h"

/* --- what records mean ------------------------------------------------------------------------ */

void fcgis_whole(struct fcgi_stream *s)
{
	s->flags |= FCGIS_FL_RX_END;
	s->ep->flags |= EP_RX_END;
	fcgis_wake(s);
}

/* No more stdout of this request. A head that has begun and has no end is waited for: a client
 * learns by the server's timeout that it never comes.
 */
void fcgis_stdout_ended(struct fcgi_stream *s)
{
	if (s->flags & FCGIS_FL_RX_END || !s->ep)
		return;
	if (!(s->flags & FCGIS_FL_HEAD)) {
		if (!s->head)
			fcgis_fail(s, EP_RX_ABORT, "no answer");
		return;
	}
	if (((s->left && s->left != UINT64_MAX) ||
	     (s->flags & (FCGIS_FL_CHUNKED | FCGIS_FL_LAST_CHUNK)) == FCGIS_FL_CHUNKED) &&
	    !(s->flags & FCGIS_FL_NO_BODY)) {
		fcgis_fail(s, EP_RX_ABORT, "the answer is shorter than announced");
		return;
	}
	fcgis_whole(s);
}

static void request_ended(struct fcgi_conn *h, struct fcgi_stream *s, struct slice text)
{
	struct fcgi_request_end end;

	if (!s || s->flags & FCGIS_FL_ENDED)
		return;
	if (!fcgi_request_end_read(text, &end) ||
	    end.protocol_status != FCGI_REQUEST_COMPLETE)
		fcgis_fail(s, EP_RX_ABORT, "the application refuses the request");
	else
		fcgis_stdout_ended(s);
	s->flags |= FCGIS_FL_ENDED;
	h->active--;
	if (s->flags & FCGIS_FL_GIVEN_UP)
		h->given_up--;
	if (!s->ep)
		fcgis_free(s);
	fcgi_begin_pending(h);
	h->user->room_changed(h->owner);
}

static void values_came(struct fcgi_conn *h, struct slice text)
{
	struct fcgi_values v;

	if (!(h->flags & FCGI_FL_WAITS))
		return;
	h->flags &= ~(unsigned)FCGI_FL_WAITS;
	if (!fcgi_values_read(text, &v)) {
		fcgi_break(h, EP_RX_ABORT, "an answer to GET_VALUES that is none");
		return;
	}
	if (v.has_max_reqs)
		h->max = v.max_reqs < INT16_MAX ? v.max_reqs : INT16_MAX;
	if (v.has_mpxs_conns && !v.mpxs_conns)
		h->max = 1;
	fcgi_begin_pending(h);
	h->user->room_changed(h->owner);
}

/* All of a record that means something as a whole: <text>. */
static void text_came(struct fcgi_conn *h, struct slice text)
{
	const struct fcgi_peer *peer = h->settings->fcgi;

	switch (h->record.type) {
	case FCGI_STDERR:
		if (peer && text.len)
			peer->say(peer, text);
		break;
	case FCGI_END_REQUEST:
		request_ended(h, h->stream, text);
		break;
	case FCGI_GET_VALUES_RESULT:
		values_came(h, text);
		break;
	case FCGI_UNKNOWN_TYPE: /* it does not know what GET_VALUES is: it has no limits to tell */
		values_came(h, slice_none());
		break;
	}
}

static bool is_text(const struct fcgi_head *record)
{
	return record->type == FCGI_STDERR || record->type == FCGI_END_REQUEST ||
	       record->type == FCGI_GET_VALUES_RESULT || record->type == FCGI_UNKNOWN_TYPE;
}

static void record_ended(struct fcgi_conn *h)
{
	struct fcgi_stream *s = h->stream;

	h->flags &= ~(unsigned)FCGI_FL_IN_RECORD;
	if (h->record.type == FCGI_STDOUT && s && !h->record.length)
		fcgis_stdout_ended(s);
	if (h->flags & FCGI_FL_IN_TEXT) {
		h->flags &= ~(unsigned)FCGI_FL_IN_TEXT;
		text_came(h, strbuf_slice(&h->text));
		strbuf_fini(&h->text);
		strbuf_init(&h->text);
	}
	h->stream = NULL;
}

/* NULL: none that is known any more, or the connection itself. */
static struct fcgi_stream *find(struct fcgi_conn *h, uint16_t id)
{
	struct fcgi_stream *s;

	list_for_each(s, &h->streams, link)
		if (id && s->id == id)
			return s;
	return NULL;
}

/* False: it is none that the connection can go on with. */
static bool record_begins(struct fcgi_conn *h)
{
	h->flags |= FCGI_FL_IN_RECORD;
	h->left = h->record.length;
	h->padding = h->record.padding;
	h->stream = find(h, h->record.request);
	if (is_text(&h->record))
		h->flags |= FCGI_FL_IN_TEXT;
	switch (h->record.type) {
	case FCGI_STDOUT:
	case FCGI_STDERR:
	case FCGI_END_REQUEST:
		return h->record.request != FCGI_MANAGEMENT;
	}
	return true;
}

/* --- contents --------------------------------------------------------------------------------- */

static void take_payload(struct fcgi_conn *h, struct fcgi_stream *s, struct slice bytes)
{
	if (!block_queue_add(&s->ep->rx, h->in.block, bytes.ptr, bytes.len)) {
		fcgis_fail(s, EP_RX_BAD, "out of memory");
		return;
	}
	s->ep->rx_bytes += bytes.len;
	if (s->left != UINT64_MAX)
		s->left -= bytes.len;
}

/* What stands behind the last chunk means nothing. */
static void take_chunks(struct fcgi_conn *h, struct fcgi_stream *s, struct slice bytes)
{
	struct chunk_step step;
	enum h1_status r = H1_MORE;

	while (bytes.len && r == H1_MORE && !(s->flags & (FCGIS_FL_LAST_CHUNK | FCGIS_FL_RX_END))) {
		r = chunk_decode(&s->chunk, bytes, &step);
		if (r == H1_ERROR) {
			fcgis_fail(s, EP_RX_BAD, h1_error_text(s->chunk.error));
			return;
		}
		if (step.payload)
			take_payload(h, s, slice_sub(bytes, step.used - step.payload, step.used));
		if (r == H1_DONE)
			s->flags |= FCGIS_FL_LAST_CHUNK;
		bytes = slice_sub(bytes, step.used, bytes.len);
	}
}

/* Bytes of an answer: how many were used; 0: they must wait. */
static size_t take_stdout(struct fcgi_conn *h, struct fcgi_stream *s, struct slice bytes)
{
	struct endpoint *ep = s ? s->ep : NULL;

	if (!ep || s->flags & FCGIS_FL_RX_END)
		return bytes.len;
	if (!(s->flags & FCGIS_FL_HEAD))
		return fcgi_take_head(s, bytes);
	if (s->flags & FCGIS_FL_NO_BODY)
		return bytes.len;
	if (ep->flags & EP_RX_BLOCKED)
		return 0;
	if (bytes.len > s->left) {
		fcgis_fail(s, EP_RX_BAD, "more than the length that was announced");
		return bytes.len;
	}
	if (s->flags & FCGIS_FL_CHUNKED)
		take_chunks(h, s, bytes);
	else
		take_payload(h, s, bytes);
	if (!s->left)
		fcgis_whole(s);
	fcgis_wake(s);
	return bytes.len;
}

static size_t take_content(struct fcgi_conn *h, struct slice bytes)
{
	if (h->record.type == FCGI_STDOUT)
		return take_stdout(h, h->stream, bytes);
	if (!(h->flags & FCGI_FL_IN_TEXT))
		return bytes.len;
	if (bytes.len == h->record.length) { /* nothing needs to be gathered */
		h->flags &= ~(unsigned)FCGI_FL_IN_TEXT;
		text_came(h, bytes);
	} else {
		strbuf_add(&h->text, bytes);
	}
	return bytes.len;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Uses some of the bytes. False: more are needed first, or no stream wants them now. */
static bool step(struct fcgi_conn *h)
{
	struct slice bytes = wire_in_bytes(&h->in);
	size_t n;

	if (!(h->flags & FCGI_FL_IN_RECORD)) {
		enum fcgi_result r = bytes.len ? fcgi_head_take(&bytes, &h->record) : FCGI_MORE;

		if (r == FCGI_MORE)
			return false;
		if (r == FCGI_INVALID || !record_begins(h)) {
			fcgi_break(h, EP_RX_ABORT, "no record of FastCGI");
			return false;
		}
		wire_in_use(&h->in, FCGI_HEAD_SIZE);
		return true;
	}
	if (!h->left && !h->padding) {
		record_ended(h);
		return true;
	}
	if (!bytes.len)
		return false;
	if (h->left) {
		n = take_content(h, slice_sub(bytes, 0, h->left < bytes.len ? h->left : bytes.len));
		h->left -= (uint32_t)n;
	} else {
		n = h->padding < bytes.len ? h->padding : bytes.len;
		h->padding -= (uint32_t)n;
	}
	if (n)
		wire_in_use(&h->in, n);
	return n;
}

/* Does a stream not take what has come? */
static bool is_blocked(const struct fcgi_conn *h)
{
	return h->flags & FCGI_FL_IN_RECORD && h->left && wire_in_has(&h->in);
}

void fcgi_read(struct fcgi_conn *h)
{
	enum io r;

	for (int budget = WIRE_READ_BUDGET;; budget--) {
		while (!(h->flags & FCGI_FL_BROKEN) && step(h))
			;
		if (h->flags & FCGI_FL_BROKEN || is_blocked(h) ||
		    !wire_in_may_grow(&h->in, h->conn))
			return;
		if (budget <= 0) {
			fcgi_resume_later(h);
			return;
		}
		r = wire_in_recv(&h->in, h->conn, true);
		if (r == IO_AGAIN)
			return;
		if (r != IO_OK) {
			fcgi_break(h, r == IO_ERR ? EP_ERROR | EP_RX_ABORT : EP_RX_ABORT,
				   "connection closed");
			return;
		}
	}
}
