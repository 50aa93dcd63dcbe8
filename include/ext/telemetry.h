/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* telemetry.h - sections telemetry: traces, metrics and logs of OpenTelemetry, by OTLP over HTTP
 *
 *     telemetry otel
 *         otlp http://127.0.0.1:4318
 *         sample 1%
 *     frontend fe
 *         use-telemetry otel
 *         http-request set-trace-sampling 100% if { path_beg /checkout }
 *
 * Purpose: a request of a frontend with `use-telemetry` is a span of kind server; each of its tries
 *          at a server is a span of kind client below it. The span of the sender is found in
 *          traceparent or B3, and each try tells its server its own span. Attributes are those of
 *          the semantic conventions for HTTP, and what the log has: timers, termination state, the
 *          end and its text.
 * Metrics: `metrics <time>` has the program ask its own prometheus-exporter so often, through a
 *          hidden backend; what it says becomes metrics of OTLP, with the same names and labels.
 * Logs   : with `logs export`, each line of the log of such a frontend is a record, with the
 *          attributes of the request's span. The text is the one that log targets get.
 * Sampling: by the sender's decision, else by a part of the traces; a rule may decide anew. A
 *          request that fails is exported whatever was decided, as far as this program saw it.
 * Export : spans and lines are encoded when the stream ends, into a buffer of their thread. A task
 *          of thread 0 collects the buffers and posts them, one request at a time, by the HTTP
 *          client. A collector that is slow or dead has the buffers fill up to `queue`, then what
 *          comes is dropped and counted; no stream waits.
 * Owns   : a section is its generation's. Buffers, counters and what is under way belong to an
 *          exporter, which a reload passes on to the section of the same name; without one it ends
 *          when it has sent what it has.
 * Threads: a stream's thread records; everything about the export is thread 0's. Both meet at a
 *          lock per thread, held for the copy of one trace.
 * Errors : answers 429, 502, 503, 504 and none at all are tried again, after Retry-After or a pause
 *          that grows; any other is final. All is counted: `show telemetry`.
 * Limits : requests that never became a stream (bad heads) and streams in mode tcp have no span.
 * Manual : none, it is an extension; doc/configuration/telemetry.md.
 */
#ifndef EXT_TELEMETRY_H
#define EXT_TELEMETRY_H

#include "base/module.h"

/* A soft stop has nothing else to wait for: what was recorded is exported without waiting for the
 * interval. True: nothing is left, or it took too long. Asked until then, on thread 0.
 */
bool telemetry_is_flushed(void);
/* How many exports are under way. Thread 0. */
unsigned telemetry_calls(void);

extern const struct module mod_telemetry, mod_telemetry_early;

#endif
