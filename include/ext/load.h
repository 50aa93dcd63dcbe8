/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* load.h - a load generator on this program's connections, muxes and threads
 *
 * Purpose: the program `haload` (main/haload.c) consists of a configuration with one server and a
 *          plan; this module executes the plan and reports.
 * Owns   : the plan is borrowed for the life of the process.
 * Threads: each makes its share of the connections and counts for itself; figures are summed up
 *          once a second, histograms once at the end.
 * Manual : doc/haload.1
 */
#ifndef EXT_LOAD_H
#define EXT_LOAD_H

#include <stdbool.h>
#include <stdint.h>
#include "base/module.h"

struct load_plan {
	const char *url;           /* absolute; its server is that of backend LOAD_BACKEND */
	const char *method;        /* "GET" */
	const char *const *fields; /* "name: value", ends with NULL */
	const char *curve;         /* output file of the chart; NULL: none */
	unsigned conns, streams;   /* connections, and concurrent requests on each (HTTP/2) */
	uint64_t requests;         /* total; 0: no limit */
	uint64_t per_conn;         /* 0: no limit */
	double rate;               /* requests per second; 0: no limit */
	int64_t duration_ms;       /* 0: until all requests are done */
	int64_t ramp_ms;           /* time until all connections, and the full rate, are reached */
	int64_t think_ms, timeout_ms;
	const char *proto;         /* a name for `proto`; NULL: the default of mode http */
	bool stop_on_error, long_format, quiet;
};

#define LOAD_BACKEND "haload"

/* Sets the plan, before the configuration is read. */
void load_set_plan(const struct load_plan *plan);
bool load_is_planned(void);
/* Prints the summary and draws the chart, after the loops. False: no request was answered, one
 * failed with stop_on_error, or the chart cannot be written.
 */
bool load_finish(void);

extern const struct module mod_load;

#endif
