/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tracing.c - what is set of tracing before there are streams, and their begin */
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
