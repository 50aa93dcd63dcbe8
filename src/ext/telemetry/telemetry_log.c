/* SPDX-License-Identifier: GPL-2.0-or-later */
/* telemetry_log.c - lines of the log, as records of OTLP
 *
 * The body is the line as targets get it; attributes are those of the request's span.
 */
#include "base/clock.h"
#include "telemetry_priv.h"

/* OpenTelemetry's data model, appendix B: severities of syslog. */
static const uint8_t severities[LOG_LEVELS] = {
	[LOG_LVL_EMERG] = 21, [LOG_LVL_ALERT] = 19, [LOG_LVL_CRIT] = 18, [LOG_LVL_ERR] = 17,
	[LOG_LVL_WARNING] = 13, [LOG_LVL_NOTICE] = 10, [LOG_LVL_INFO] = 9, [LOG_LVL_DEBUG] = 5,
};

static void put_attributes(struct otlp *o, struct session *sess, struct stream *s)
{
	/* a head that is none has left nothing to tell of */
	if (s && s->flags & STRM_HTTP && s->log.uri.len)
		telemetry_put_request(o, s);
	else
		telemetry_put_addr(o, SLICE("client.address"), SLICE("client.port"),
				   s ? stream_src(s) : session_src(sess));
	if (s)
		telemetry_put_end(o, s);
	else
		otlp_attr_text(o, SLICE("haproxy.frontend.name"), slice_of(sess->fe->name));
}

void telemetry_log_line(struct session *sess, struct stream *s, enum log_level level,
			struct slice line)
{
	const struct telemetry *conf = stream_trace_of_frontend(sess->fe);
	const struct telemetry_trace *t = s ? telemetry_trace(s) : NULL;
	struct strbuf *out = telemetry_text();
	struct otlp o = otlp_begin(out, OTLP_LOGS, conf->json);
	struct otlp_record r = {
		.time_ns = clock_wall_us() * 1000, .severity = severities[level],
		.severity_text = slice_of(log_level_name(level)), .body = line,
	};

	if (t) {
		r.trace[0] = t->ours.id[0];
		r.trace[1] = t->ours.id[1];
		r.span = t->ours.span;
		r.flags = t->ours.decision == TRACE_SAMPLED;
	}
	otlp_record_open(&o, &r);
	put_attributes(&o, sess, s);
	otlp_record_close(&o, &r);
	telemetry_record(conf, OTLP_LOGS, out->overflow ? slice_none() : strbuf_slice(out), 1);
}
