/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prometheus_histogram.c - durations of the phases of requests, as Prometheus histograms */
#include "base/histogram.h"
#include "prometheus_priv.h"
#include "proxy/proxy.h"

static const struct {
	const char *name, *help;
} kinds[TIME_KINDS] = {
	[TIME_QUEUE] = { "queue_latency_seconds", "Time that requests waited in queues" },
	[TIME_CONNECT] = { "connect_latency_seconds", "Time to a connection to a server" },
	[TIME_RESPONSE] = { "response_latency_seconds",
			    "Time from the connection to the first byte of the answer" },
	[TIME_TOTAL] = { "total_latency_seconds",
			 "Time from the request to the end of the answer" },
};

const char *prometheus_histogram_name(enum time_kind kind)
{
	return kinds[kind].name;
}

void prometheus_put_histogram_help(struct strbuf *out, const char *scope, enum time_kind kind)
{
	strbuf_printf(out, "# HELP haproxy_%s_%s %s\n# TYPE haproxy_%s_%s histogram\n", scope,
		      kinds[kind].name, kinds[kind].help, scope, kinds[kind].name);
}

static void put_series(struct strbuf *out, const char *scope, const char *name, const char *part,
		       const struct strbuf *labels)
{
	prometheus_put_name(out, scope, name);
	strbuf_add_str(out, part);
	strbuf_add(out, strbuf_slice(labels));
}

static void put_number(struct strbuf *out, uint64_t number)
{
	strbuf_add_str(out, "} ");
	strbuf_add_int(out, (int64_t)number);
	strbuf_add_char(out, '\n');
}

void prometheus_put_histogram(struct strbuf *out, const char *scope, enum time_kind kind,
			      const struct proxy *px, const char *server,
			      const struct latency_view *v)
{
	const char *name = kinds[kind].name;
	struct strbuf labels;
	uint64_t count = 0;

	strbuf_init(&labels);
	prometheus_put_label(&labels, "proxy", px->name, '{');
	if (server)
		prometheus_put_label(&labels, "server", server, ',');
	prometheus_put_label(&labels, "mode", proxy_mode_name(px->mode), ',');
	for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
		uint64_t end = histogram_end(LATENCY_FIRST + i, LATENCY_BITS);

		count += v->counts[kind][i];
		put_series(out, scope, name, "_bucket", &labels);
		strbuf_add_str(out, ",le=\"");
		if (i < LATENCY_BUCKETS - 1)
			prometheus_put_micro(out, end);
		else
			strbuf_add_str(out, "+Inf");
		strbuf_add_char(out, '"');
		put_number(out, count);
	}
	put_series(out, scope, name, "_sum", &labels);
	strbuf_add_str(out, "} ");
	prometheus_put_micro(out, v->sum_us[kind]);
	strbuf_add_char(out, '\n');
	put_series(out, scope, name, "_count", &labels);
	put_number(out, count);
	out->overflow |= labels.overflow;
	strbuf_fini(&labels);
}
