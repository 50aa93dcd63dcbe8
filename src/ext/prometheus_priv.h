/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations shared by the files of the Prometheus exporter. */
#ifndef EXT_PROMETHEUS_PRIV_H
#define EXT_PROMETHEUS_PRIV_H

#include "base/strbuf.h"
#include "proxy/counters.h"

struct proxy;

/* Appends "haproxy_<scope>_<name>". */
void prometheus_put_name(struct strbuf *out, const char *scope, const char *name);
/* Appends millionths as "1.234567". */
void prometheus_put_micro(struct strbuf *out, uint64_t micro);
/* Appends <before>, then name="text" with quotes, backslashes and line ends escaped. */
void prometheus_put_label(struct strbuf *out, const char *name, const char *text, char before);

/* --- prometheus_histogram.c: the query's "histograms" */
/* Returns the metric's name after "haproxy_<scope>_". */
const char *prometheus_histogram_name(enum time_kind kind);
void prometheus_put_histogram_help(struct strbuf *out, const char *scope, enum time_kind kind);
/* Appends the buckets, the sum and the count of one object. <server>: NULL for proxies. */
void prometheus_put_histogram(struct strbuf *out, const char *scope, enum time_kind kind,
			      const struct proxy *px, const char *server,
			      const struct latency_view *v);

#endif
