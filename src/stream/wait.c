/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wait.c - waits of a stream for something outside of it: the list of its waits */
#include "base/bug.h"
#include "engine_priv.h"
#include "stream/wait.h"
#include "trace_priv.h"

void stream_wait_begin(struct stream *s, struct stream_wait *w,
		       const struct stream_wait_kind *kind)
{
	BUG_ON(w->stream);
	w->kind = kind;
	w->stream = s;
	w->next = s->waits;
	s->waits = w;
	STREAM_TRACE(USER, s, WAIT, "waits: %s", kind->name);
}

void stream_wait_end(struct stream_wait *w)
{
	struct stream_wait **at = &w->stream->waits;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	w->stream = NULL;
}

void stream_wait_cancel(struct stream_wait *w)
{
	if (stream_wait_is_over(w))
		return;
	STREAM_TRACE(USER, w->stream, WAKE, "waits no more: %s", w->kind->name);
	stream_wait_end(w);
	w->kind->cancel(w);
}

void stream_cancel_waits(struct stream *s)
{
	while (unlikely(s->waits != NULL))
		stream_wait_cancel(s->waits);
}

struct stream_wait *stream_wait_find(const struct stream *s, const struct stream_wait_kind *kind)
{
	struct stream_wait *w = s->waits;

	while (w && w->kind != kind)
		w = w->next;
	return w;
}
