/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* telemetry.h - sections telemetry: OpenTelemetry traces, metrics and logs, by OTLP over HTTP
 *
 *     telemetry otel
 *         otlp http://127.0.0.1:4318
 *         sample 1%
 *     frontend fe
 *         use-telemetry otel
 *         http-request set-trace-sampling 100% if { path_beg /checkout }
 *
 * Purpose: a request of a frontend with `use-telemetry` is a span of kind server; each of its tries
 *          at a server is a child span of kind client. The sender's span is read from traceparent
 *          or B3, and each try sends its own span to its server. Attributes are those of the
 *          semantic conventions for HTTP, plus data of the log: timers, termination state, the end
 *          and its text.
 * Metrics: `metrics <time>` makes the program query its own prometheus-exporter at this interval,
 *          through a hidden backend, and converts the output to OTLP metrics with the same names
 *          and labels.
 * Logs   : with `logs export`, each log line of such a frontend is a record, with the attributes of
 *          the request's span. Its text is the one that log targets get.
 * Sampling: by the sender's decision, else by a percentage of the traces; a rule may change the
 *           decision. A request that fails is exported whatever was decided, with what this program
 *           saw of it.
 * Export : spans and log lines are encoded when the stream ends, into a buffer of their thread. A
 *          task of thread 0 collects the buffers and posts them, one request at a time, by the HTTP
 *          client. While a collector is slow or dead, buffers fill up to `queue`; then new data is
 *          dropped and counted. Streams never wait.
 * Owns   : a section belongs to its generation. Buffers, counters and exports in progress belong to
 *          an exporter, which a reload passes to the section of the same name; without one, it ends
 *          when it has sent its data.
 * Threads: a stream's thread records; everything about the export is on thread 0. The two meet at a
 *          lock per thread, held while one trace is copied.
 * Errors : responses 429, 502, 503, 504, and no response, are retried, after Retry-After or a
 *          growing pause; any other is final. Everything is counted: `show telemetry`.
 * Limits : requests that never became a stream (bad heads) and streams in mode tcp have no span.
 * Manual : none, it is an extension; doc/configuration/telemetry.md.
 */
#ifndef EXT_TELEMETRY_H
#define EXT_TELEMETRY_H

#include "base/module.h"

/* Call in a soft stop when nothing else is left to wait for: exports the recorded data without
 * waiting for the interval. True: nothing is left, or it took too long. Call repeatedly until then,
 * on thread 0.
 */
bool telemetry_is_flushed(void);
/* Returns the number of exports in progress. Thread 0. */
unsigned telemetry_calls(void);

extern const struct module mod_telemetry, mod_telemetry_early;

#endif
