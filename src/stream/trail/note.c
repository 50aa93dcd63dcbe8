/* SPDX-License-Identifier: GPL-2.0-or-later */
/* note.c - records a stream's way in the engine */
#include "base/arena.h"
#include "proxy/server.h"
#include "stream/tracing.h"
#include "stream/trail.h"
#include "trail_priv.h"

static trail_keep_fn *keeper;
const struct stream_tracer *trail_tracer;

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

	stream_tracing_note(s, why, why == END_NONE ? s->res.status : 0);
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

void stream_tracing_connected(struct stream *s)
{
	trail_tracer->connected(s);
}

void stream_tracing_left(struct stream *s, enum stream_end why, unsigned status)
{
	trail_tracer->left(s, why, status);
}

void stream_tracing_end(struct stream *s)
{
	trail_tracer->end(s);
}

void stream_tracing_line(struct session *sess, struct stream *s, enum log_level level,
			 struct slice text)
{
	trail_tracer->line(sess, s, level, text);
}
