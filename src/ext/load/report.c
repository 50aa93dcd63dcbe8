/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.c - a line per second, and the summary */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "load_priv.h"

/* Seconds kept for the picture; later ones are not drawn. */
#define SECONDS_MAX 86400

static struct {
	struct timer timer;
	uint64_t lines;
	uint64_t last_ns;
	struct load_figures last;
	struct load_second *seconds; /* owned */
	unsigned second_count, second_room;
} report;

/* "12345" or "1.23M": five characters at most. */
static const char *short_number(char *text, size_t size, double v)
{
	static const char units[] = " kMGTPE";
	unsigned unit = 0;

	if (v < 99999.5) {
		snprintf(text, size, "%.0f", v);
		return text;
	}
	for (; v >= 999.5 && units[unit + 1]; unit++)
		v /= 1000;
	snprintf(text, size, v < 9.995 ? "%.2f%c" : v < 99.95 ? "%.1f%c" : "%.0f%c", v,
		 units[unit]);
	return text;
}

/* A time of three digits: "123u", "1.23m", "12.3s". */
static const char *short_time(char *text, size_t size, double ns)
{
	static const char units[] = "num";
	unsigned unit = 0;

	for (; ns >= 999.5 && unit < 3; unit++)
		ns /= 1000;
	snprintf(text, size, ns < 9.995 ? "%.2f%c" : ns < 99.95 ? "%.1f%c" : "%.0f%c", ns,
		 unit == 3 ? 's' : units[unit]);
	return text;
}

static void keep_second(const struct load_second *s)
{
	unsigned room = report.second_room ? 2 * report.second_room : 64;
	struct load_second *more;

	if (!load.plan->curve || report.second_count == SECONDS_MAX)
		return;
	if (report.second_count == report.second_room) {
		more = realloc(report.seconds, room * sizeof(*more));
		if (!more)
			return;
		report.seconds = more;
		report.second_room = room;
	}
	report.seconds[report.second_count++] = *s;
}

static void print_long(double s, const struct load_figures *f, double cps, double rps, double bps,
		       double ttfb_ns)
{
	printf("%.3f %lu %lu %lu %lu %lu %.0f %.0f %.0f %.3e\n", s, f->conns, f->tot_conn,
	       f->tot_req, f->tot_bytes, f->errors, cps, rps, bps, ttfb_ns / NS_PER_SEC);
}

static void print_short(double s, const struct load_figures *f, double cps, double rps, double bps,
			double ttfb_ns)
{
	char a[16], b[16], c[16], d[16];

	printf("%9.0f %5lu %8lu %8lu %14lu %6lu %5s %5s %5s %5s\n", s, f->conns, f->tot_conn,
	       f->tot_req, f->tot_bytes, f->errors, short_number(a, sizeof(a), cps),
	       short_number(b, sizeof(b), rps), short_number(c, sizeof(c), bps),
	       short_time(d, sizeof(d), ttfb_ns));
}

static void print_line(uint64_t now)
{
	const struct load_figures *l = &report.last;
	double s = (double)(now - load.begin_ns) / NS_PER_SEC, span, ttfb = 0, rps, bps;
	struct load_figures f;
	struct load_second kept;

	load_sum(&f);
	span = (double)(now - report.last_ns) / NS_PER_SEC;
	if (f.tot_head > l->tot_head)
		ttfb = (double)(f.ttfb_ns - l->ttfb_ns) / (double)(f.tot_head - l->tot_head);
	rps = (double)(f.tot_req - l->tot_req) / span;
	bps = (double)(f.tot_bytes - l->tot_bytes) / span * 8;
	kept = (struct load_second){
		.seconds = s, .rps = rps, .ttfb_us = ttfb / 1000, .conns = f.conns,
		.errors = f.errors - l->errors,
	};
	keep_second(&kept);
	if (!load.plan->quiet) {
		double cps = (double)(f.tot_conn - l->tot_conn) / span;

		(load.plan->long_format ? print_long : print_short)(s, &f, cps, rps, bps, ttfb);
		fflush(stdout);
	}
	report.last = f;
	report.last_ns = now;
}

static void on_second(struct timer *t)
{
	int64_t left = load.plan->duration_ms ? load.plan->duration_ms : INT64_MAX;
	uint64_t now = clock_read_ns();
	int64_t ms = (int64_t)((now - load.begin_ns) / NS_PER_MS);

	if (ms >= (int64_t)(report.lines + 1) * 1000) {
		report.lines = (uint64_t)ms / 1000;
		print_line(now);
	}
	if (ms >= left) {
		thread_stop_all();
		return;
	}
	left -= ms;
	ms = (int64_t)(report.lines + 1) * 1000 - ms;
	timer_set(&report.timer, now / NS_PER_MS + (uint64_t)(ms < left ? ms : left) + 1);
}

void report_begin(void)
{
	load.begin_ns = report.last_ns = clock_read_ns();
	if (!load.plan->quiet)
		printf("#    time conns tot_conn  tot_req      tot_bytes    err   cps   rps   bps"
		       "  ttfb\n");
	fflush(stdout);
	timer_init(&report.timer, on_second);
	on_second(&report.timer);
}

/* --- the end ---------------------------------------------------------------------------------- */

static void print_percentiles(const struct histogram *ttfb, const struct histogram *total)
{
	static const double parts[] = {
		0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99999, 0.999999, 1,
	};

	printf("# percentile        ttfb us       total us\n");
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		printf("%-12.9g %14.1f %14.1f\n", parts[i] * 100,
		       (double)histogram_percentile(ttfb, parts[i]) / 1000,
		       (double)histogram_percentile(total, parts[i]) / 1000);
	printf("# mean       %14.1f %14.1f\n", histogram_mean(ttfb) / 1000,
	       histogram_mean(total) / 1000);
}

static void print_summary(const struct load_figures *f, double s, const struct histogram *ttfb,
			  const struct histogram *total)
{
	static const char *const names[] = { "1xx", "2xx", "3xx", "4xx", "5xx", "other" };

	printf("# %lu requests, %lu connections, %lu bytes in %.3f s: %.1f requests/s, "
	       "%.1f Mbit/s\n# %lu errors (%lu timeouts, %lu without connection)\n# answers:",
	       f->tot_req, f->tot_conn, f->tot_bytes, s, (double)f->tot_req / s,
	       (double)f->tot_bytes * 8 / s / 1e6, f->errors, f->timeouts, f->refused);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (f->classes[i])
			printf(" %s %lu", names[i], f->classes[i]);
	printf("\n");
	print_percentiles(ttfb, total);
}

bool report_end(void)
{
	double s = (double)(clock_read_ns() - load.begin_ns) / NS_PER_SEC;
	struct histogram *ttfb = &load.threads[0]->ttfb, *total = &load.threads[0]->total;
	struct load_figures f;
	bool drawn = true;

	for (unsigned i = 1; i < thread_count(); i++) {
		histogram_merge(ttfb, &load.threads[i]->ttfb);
		histogram_merge(total, &load.threads[i]->total);
	}
	load_sum(&f);
	print_summary(&f, s, ttfb, total);
	if (load.plan->curve)
		drawn = curve_write(load.plan->curve, report.seconds, report.second_count, ttfb,
				    total);
	if (!drawn)
		fprintf(stderr, "haload: %s: %s\n", load.plan->curve, strerror(errno));
	free(report.seconds);
	return drawn && f.tot_req;
}
