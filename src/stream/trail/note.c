/* SPDX-License-Identifier: GPL-2.0-or-later */
/* note.c - what the engine tells of a stream's way while it is gone */
#include "base/arena.h"
#include "proxy/server.h"
#include "stream/trail.h"
#include "trail_priv.h"

static trail_keep_fn *keeper;

const char *const stream_stage_names[STAGE_COUNT] = {
#define X(name, fn, c) #name,
	STREAM_STAGES(X)
#undef X
};

void trail_note_try(struct stream *s, enum stream_end why)
{
	struct trail_try *t = arena_alloc(&s->arena, sizeof(*t));
	const struct server *srv = stream_server(s);
	struct slice name = SLICE("<NOSRV>");

	if (srv)
		name = arena_copy(&s->arena, slice_of(srv->name));
	if (!t || slice_is_none(name))
		return;
	*t = (struct trail_try){
		.next = s->trail.tries, .server = name, .why = (uint8_t)why,
		.status = why == END_NONE ? s->res.status : 0,
		.error = why == END_CONNECT_FAILED && s->answer.connection
			 ? s->answer.connection - 1 : 0,
	};
	s->trail.tries = t;
}

void trail_set_keeper(trail_keep_fn *fn)
{
	keeper = fn;
}

void failure_keep(struct stream *s)
{
	if (keeper)
		keeper(s);
}
