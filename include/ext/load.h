/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* load.h - a load generator on this program's connections, muxes and threads
 *
 * Purpose: the program `haload` (main/haload.c) is a configuration with one server and a plan; this
 *          module carries the plan out and reports.
 * Owns   : the plan is borrowed for the life of the process.
 * Threads: each makes its share of the connections and counts for itself; figures are added up
 *          once a second, histograms once at the end.
 * Manual : doc/haload.1
 */
#ifndef EXT_LOAD_H
#define EXT_LOAD_H

#include <stdbool.h>
#include <stdint.h>
#include "base/module.h"

struct load_plan {
	const char *url;           /* absolute; its server is the one of backend LOAD_BACKEND */
	const char *method;        /* "GET" */
	const char *const *fields; /* "name: value", ends with NULL */
	const char *curve;         /* file for the picture; NULL: none */
	unsigned conns, streams;   /* connections, and requests at once on each (HTTP/2) */
	uint64_t requests;         /* in all; 0: no limit */
	uint64_t per_conn;         /* 0: no limit */
	double rate;               /* requests a second; 0: no limit */
	int64_t duration_ms;       /* 0: until all requests are done */
	int64_t ramp_ms;           /* until all connections, and the whole rate, are there */
	int64_t think_ms, timeout_ms;
	const char *proto;         /* as `proto` has it; NULL: the default of mode http */
	bool stop_on_error, long_format, quiet;
};

#define LOAD_BACKEND "haload"

/* Before the configuration is read. */
void load_set_plan(const struct load_plan *plan);
bool load_is_planned(void);
/* After the loops: prints the summary, draws the curve. False: no request was answered, one failed
 * with stop_on_error, or the curve cannot be written.
 */
bool load_finish(void);

extern const struct module mod_load;

#endif
