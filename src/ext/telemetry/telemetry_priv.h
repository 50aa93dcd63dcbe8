/* SPDX-License-Identifier: GPL-2.0-or-later */
/* telemetry_priv.h - what the files of the sections telemetry share */
#ifndef SRC_EXT_TELEMETRY_H
#define SRC_EXT_TELEMETRY_H

#include "base/slice.h"
#include "base/strbuf.h"
#include "codec/otlp.h"
#include "codec/trace_context.h"
#include "stream/tracing.h"

struct telemetry_exporter;

/* Formats of contexts: bits. */
enum telemetry_format { TELEMETRY_W3C = 1, TELEMETRY_B3 = 2, TELEMETRY_B3_MULTI = 4 };

/* The part of a trace's id that is compared with a threshold: OpenTelemetry's consistent sampling.
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
	const char *url;             /* without a slash at its end; NULL: none */
	bool json;
	bool ignores_parent, ignores_errors;
	bool has_logs;               /* log lines are exported, too */
	bool is_silent;              /* servers are not told of what is not sampled */
	unsigned accept, propagate;  /* enum telemetry_format */
	uint64_t threshold;          /* random parts from here on are sampled */
	uint64_t light;              /* below, a trace is an id only, as long as that does */
	int64_t interval_ms, timeout_ms;
	int64_t metrics_ms;          /* between exports of metrics; 0: none */
	struct proxy *metrics;       /* the backend that gives them; NULL: none */
	uint64_t queue;              /* bytes */
	struct telemetry_pair *headers, *resource;
	struct telemetry_exporter *exporter; /* counted; from the start on */
};

/* X(name, column of `show telemetry`, help) */
#define TELEMETRY_COUNTS(X) \
	X(RECORDED, "recorded") X(EXPORTED, "exported") X(REJECTED, "rejected") \
	X(REFUSED, "refused") X(GIVEN_UP, "given_up") X(DROPPED, "dropped") \
	X(REQUESTS, "requests") X(FAILURES, "failures")
#define X(name, column) TELEMETRY_##name,
enum telemetry_count { TELEMETRY_COUNTS(X) TELEMETRY_COUNT };
#undef X

/* --- telemetry_resource.c: the attributes of the resource, appended to <out>. Returns the
 * program's version, which lives until the next call. Thread 0, while the process works.
 */
struct slice telemetry_put_resource(const struct telemetry *t, bool json, struct strbuf *out);

/* --- telemetry_trace.c: a stream that is traced */

/* What decided whether it is sampled. */
enum telemetry_decider { BY_RATIO, BY_PARENT, BY_RULE };

/* A try that is over. */
struct telemetry_try {
	struct telemetry_try *next;
	uint64_t span;
	uint64_t begin_ns, connected_ns, answer_ns, end_ns; /* monotonic; 0: not reached */
	struct slice server;
	struct addr to;
	const char *host;            /* as configured, borrowed of the stream or server; or NULL */
	uint8_t why;                 /* enum stream_end; END_NONE: by <status> */
	uint16_t status;
	int error;                   /* errno of the connection; 0: none */
	bool is_reused;
};

#define PARENT_AT 13 /* where the value of a field "traceparent: " begins */

struct telemetry_trace {
	const struct telemetry *conf;
	struct trace_context ours;   /* the span is the server span's */
	uint64_t parent;             /* the sender's; 0: the trace begins here */
	uint8_t decider;             /* enum telemetry_decider */
	bool has_state;              /* tracestate is good and goes on */
	bool was_told, is_told;      /* the request came with fields of contexts; has ours */
	unsigned tries;              /* that are over */
	struct telemetry_try *first; /* NULL: none is */
	/* --- not set before they are needed */
	struct telemetry_try *last;  /* of the tries that are over */
	/* texts of the fields of the request that have the span of a try; NULL: not there */
	char *b3_text, *b3_span_text;
	char field[PARENT_AT + TRACEPARENT_LEN]; /* "traceparent: " and its value */
};

extern const struct stream_tracer telemetry_tracer;
/* What the calling thread encodes elements in, emptied; and its end. */
struct strbuf *telemetry_text(void);
void telemetry_text_fini(void);
/* The trace of a stream, made if there is only its id. NULL: it is not traced, or no memory. */
struct telemetry_trace *telemetry_trace(struct stream *s);
/* Decides anew, for a rule, of a stream that is traced. */
void telemetry_decide(struct telemetry_trace *t, struct stream *s, uint64_t threshold);
/* Once it is checked: what its traces begin with. */
void telemetry_trace_prepare(struct telemetry *conf);
/* A part of 100 as a threshold. */
uint64_t telemetry_threshold(double percent);
/* Is a try at a server under way? As long as the stream has not ended, or has ended in <stage>. */
bool telemetry_is_trying(const struct stream *s, uint8_t stage);
/* The try under way, as if it were over now. */
void telemetry_describe_try(struct stream *s, const struct telemetry_trace *t,
			    struct telemetry_try *out);

/* --- telemetry_span.c: spans of a stream that is over, into <out>. Returns how many. */
unsigned telemetry_put_spans(struct stream *s, struct telemetry_trace *t, struct strbuf *out);
/* Attributes: of its request, of how it went so far, of an address of the Internet (port_key: none,
 * it is left out).
 */
void telemetry_put_request(struct otlp *o, struct stream *s);
void telemetry_put_end(struct otlp *o, struct stream *s);
void telemetry_put_addr(struct otlp *o, struct slice key, struct slice port_key,
			const struct addr *a);

/* --- telemetry_log.c: has a line of the log be exported, see stream/tracing.h. */
void telemetry_log_line(struct session *sess, struct stream *s, enum log_level level,
			struct slice line);

/* --- telemetry_metrics.c */
struct diag_list;
struct telemetry_round;
/* The backend that is asked for metrics: made behind the files, before the modules that check
 * proxies (false: reported), and found.
 */
bool telemetry_metrics_make(struct config *cfg, struct diag_list *diags);
struct proxy *telemetry_metrics_backend(const struct config *cfg);
/* Begins to read and record metrics, counted from <start_ns> on, unless *at is a round that is not
 * over: it is NULL then. Thread 0.
 */
void telemetry_round_begin(struct telemetry_round **at, const struct telemetry *t,
			   uint64_t start_ns);
void telemetry_round_cancel(struct telemetry_round **at);

/* --- telemetry_export.c */
/* The exporter of this name, made if there is none; takes a reference. Thread 0. NULL: no memory.
 */
struct telemetry_exporter *telemetry_exporter_take(const char *name);
/* Any thread. */
void telemetry_exporter_drop(struct telemetry_exporter **x);
/* It exports by this section of a live generation, from now on. Thread 0. */
void telemetry_exporter_use(struct telemetry_exporter *x, const struct telemetry *t);
/* A generation goes live: exporters that it has not are to end. Thread 0. */
void telemetry_exporters_retire(const struct config *cfg);
/* Has <count> elements, encoded as one text, be exported. On a worker's thread. */
void telemetry_record(const struct telemetry *t, enum otlp_signal signal, struct slice text,
		      unsigned count);
uint64_t telemetry_figure(const struct telemetry_exporter *x, enum otlp_signal signal,
			  enum telemetry_count which);
/* Bytes that wait, and the status of the last answer. */
uint64_t telemetry_waiting(const struct telemetry_exporter *x);
unsigned telemetry_last_status(const struct telemetry_exporter *x);
/* In each thread, behind its loop; and when all are over. */
void telemetry_export_stop(void);
void telemetry_export_fini(void);

#endif
