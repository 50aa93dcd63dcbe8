/* SPDX-License-Identifier: GPL-2.0-or-later */
/* telemetry_priv.h - declarations shared by the files of the sections telemetry */
#ifndef SRC_EXT_TELEMETRY_H
#define SRC_EXT_TELEMETRY_H

#include "base/slice.h"
#include "base/strbuf.h"
#include "codec/otlp.h"
#include "codec/trace_context.h"
#include "stream/tracing.h"

struct telemetry_exporter;

/* Formats of trace contexts: bits. */
enum telemetry_format { TELEMETRY_W3C = 1, TELEMETRY_B3 = 2, TELEMETRY_B3_MULTI = 4 };

/* The bits of a trace id that are compared with the threshold: OpenTelemetry's consistent sampling.
 */
#define TELEMETRY_RANDOM_BITS 56
#define TELEMETRY_NEVER ((uint64_t)1 << TELEMETRY_RANDOM_BITS)

/* A pair of texts of the configuration. */
struct telemetry_pair {
	struct telemetry_pair *next;
	struct slice key, value;
};

/* A section. Immutable once its generation starts. */
struct telemetry {
	struct telemetry *next;
	const char *name;
	struct config *config;
	const char *file;
	int line;
	const char *url;             /* without a trailing slash; NULL: none */
	bool json;
	bool ignores_parent, ignores_errors;
	bool has_logs;               /* log lines are exported, too */
	bool is_silent;              /* servers get no context of traces that are not sampled */
	unsigned accept, propagate;  /* enum telemetry_format */
	uint64_t threshold;          /* traces whose random bits are at least this are sampled */
	uint64_t light;              /* below it, a trace is only an id as long as possible */
	int64_t interval_ms, timeout_ms;
	int64_t metrics_ms;          /* between exports of metrics; 0: none */
	struct proxy *metrics;       /* the backend that metrics are read from; NULL: none */
	uint64_t queue;              /* bytes */
	struct telemetry_pair *headers, *resource;
	struct telemetry_exporter *exporter; /* counted; set when the generation starts */
};

/* X(name, column of `show telemetry`, help) */
#define TELEMETRY_COUNTS(X) \
	X(RECORDED, "recorded") X(EXPORTED, "exported") X(REJECTED, "rejected") \
	X(REFUSED, "refused") X(GIVEN_UP, "given_up") X(DROPPED, "dropped") \
	X(REQUESTS, "requests") X(FAILURES, "failures")
#define X(name, column) TELEMETRY_##name,
enum telemetry_count { TELEMETRY_COUNTS(X) TELEMETRY_COUNT };
#undef X

/* --- telemetry_resource.c: appends the attributes of the resource to <out>. Returns the program's
 * version, valid until the next call. Thread 0, while the process runs.
 */
struct slice telemetry_put_resource(const struct telemetry *t, bool json, struct strbuf *out);

/* --- telemetry_trace.c: the trace of a stream */

/* The reason for the sampling decision. */
enum telemetry_decider { BY_RATIO, BY_PARENT, BY_RULE };

/* A finished try. */
struct telemetry_try {
	struct telemetry_try *next;
	uint64_t span;
	uint64_t begin_ns, connected_ns, answer_ns, end_ns; /* monotonic; 0: not reached */
	struct slice server;
	struct addr to;
	/* as configured, borrowed from the stream or server; or NULL */
	const char *host;
	uint8_t why;                 /* enum stream_end; END_NONE: see <status> */
	uint16_t status;
	int error;                   /* errno of the connection; 0: none */
	bool is_reused;
};

#define PARENT_AT 13 /* offset of the value in a field "traceparent: " */

struct telemetry_trace {
	const struct telemetry *conf;
	struct trace_context ours;   /* its span is that of the server */
	uint64_t parent;             /* the sender's span; 0: the trace begins here */
	uint8_t decider;             /* enum telemetry_decider */
	bool has_state;              /* tracestate is valid and is passed on */
	bool was_told, is_told;      /* the request came with context fields; it has ours */
	unsigned tries;              /* finished tries */
	struct telemetry_try *first; /* NULL: none */
	/* --- not set before they are needed */
	struct telemetry_try *last;  /* the last finished try */
	/* texts of the request fields that contain the span of a try; NULL: no such field */
	char *b3_text, *b3_span_text;
	char field[PARENT_AT + TRACEPARENT_LEN]; /* "traceparent: " and its value */
};

extern const struct stream_tracer telemetry_tracer;
/* telemetry_text() returns the calling thread's encoding buffer, emptied; telemetry_text_fini()
 * frees it.
 */
struct strbuf *telemetry_text(void);
void telemetry_text_fini(void);
/* Returns the trace of a stream, creating it if there is only its id. Returns NULL: not traced, or
 * no memory.
 */
struct telemetry_trace *telemetry_trace(struct stream *s);
/* Repeats the sampling decision for a rule, for a stream that is traced. */
void telemetry_decide(struct telemetry_trace *t, struct stream *s, uint64_t threshold);
/* Sets conf->light. Must be called after the check phase. */
void telemetry_trace_prepare(struct telemetry *conf);
/* Converts a percentage to a threshold. */
uint64_t telemetry_threshold(double percent);
/* Returns true if a try at a server is in progress, or was when the stream ended in <stage>. */
bool telemetry_is_trying(const struct stream *s, uint8_t stage);
/* Describes the current try as if it ended now. */
void telemetry_describe_try(struct stream *s, const struct telemetry_trace *t,
			    struct telemetry_try *out);

/* --- telemetry_span.c: appends the spans of a finished stream to <out>. Returns their number. */
unsigned telemetry_put_spans(struct stream *s, struct telemetry_trace *t, struct strbuf *out);
/* Append attributes: of the request, of its result so far, of an Internet address (port_key none:
 * without the port).
 */
void telemetry_put_request(struct otlp *o, struct stream *s);
void telemetry_put_end(struct otlp *o, struct stream *s);
void telemetry_put_addr(struct otlp *o, struct slice key, struct slice port_key,
			const struct addr *a);

/* --- telemetry_log.c: exports a log line, see stream/tracing.h. */
void telemetry_log_line(struct session *sess, struct stream *s, enum log_level level,
			struct slice line);

/* --- telemetry_metrics.c */
struct diag_list;
struct telemetry_round;
/* telemetry_metrics_make() creates the backend that metrics are read from, after the files are read
 * and before the modules that check proxies (false: reported); telemetry_metrics_backend() finds
 * it.
 */
bool telemetry_metrics_make(struct config *cfg, struct diag_list *diags);
struct proxy *telemetry_metrics_backend(const struct config *cfg);
/* Starts to read and record metrics, counted from <start_ns> on, unless *at is a round in progress;
 * *at is set to NULL when it is over. Thread 0.
 */
void telemetry_round_begin(struct telemetry_round **at, const struct telemetry *t,
			   uint64_t start_ns);
void telemetry_round_cancel(struct telemetry_round **at);

/* --- telemetry_export.c */
/* Returns the exporter with this name, creating it if needed, with a reference. Thread 0. Returns
 * NULL: no memory.
 */
struct telemetry_exporter *telemetry_exporter_take(const char *name);
/* Any thread. */
void telemetry_exporter_drop(struct telemetry_exporter **x);
/* Makes it export with the settings of this section of a live generation, from now on. Thread 0. */
void telemetry_exporter_use(struct telemetry_exporter *x, const struct telemetry *t);
/* Called when a generation goes live: ends the exporters that it does not have. Thread 0. */
void telemetry_exporters_retire(const struct config *cfg);
/* Queues <count> elements, encoded as one text, for export. On a worker thread. */
void telemetry_record(const struct telemetry *t, enum otlp_signal signal, struct slice text,
		      unsigned count);
uint64_t telemetry_figure(const struct telemetry_exporter *x, enum otlp_signal signal,
			  enum telemetry_count which);
/* Return the bytes queued, and the status of the last answer. */
uint64_t telemetry_waiting(const struct telemetry_exporter *x);
unsigned telemetry_last_status(const struct telemetry_exporter *x);
/* Called in each thread after its loop; called when all threads are done. */
void telemetry_export_stop(void);
void telemetry_export_fini(void);

#endif
