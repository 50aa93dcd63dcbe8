/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tracing.c - the stages in which a tracer is told of a stream */
#include "stream/tracing.h"
#include "../engine_priv.h"
#include "../stream_conf_priv.h"
#include "trail_priv.h"

void stream_trace_frontend(struct proxy *fe, const void *how)
{
	stream_proxy(fe)->traced = how;
}

const void *stream_trace_of_frontend(const struct proxy *fe)
{
	return stream_proxy(fe)->traced;
}

void stream_trace_lines(struct proxy *fe)
{
	stream_proxy(fe)->lines_traced = true;
}

static void (*tracer_figures)(struct strbuf *out);

void stream_set_tracer(const struct stream_tracer *tracer, void (*figures)(struct strbuf *out))
{
	trail_tracer = tracer;
	tracer_figures = figures;
}

void stream_tracing_figures(struct strbuf *out)
{
	if (tracer_figures)
		tracer_figures(out);
}

void stream_tracing_begin(struct stream *s)
{
	if (s->flags & STRM_HTTP && stream_proxy(s->fe)->traced)
		trail_tracer->begin(s, stream_proxy(s->fe)->traced);
}

/* Not idle for the streams of frontends that are traced. */
enum step stage_trace_request(struct stream *s)
{
	const struct stream_proxy *fe = stream_proxy(s->fe);

	if (s->flags & STRM_HTTP && fe->traced)
		trail_tracer->begin(s, fe->traced);
	return STEP_NEXT;
}

enum step stage_trace_try(struct stream *s)
{
	if (s->flags & STRM_TRACED)
		trail_tracer->connected(s);
	return STEP_NEXT;
}
