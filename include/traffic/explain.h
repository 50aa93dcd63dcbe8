/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* explain.h - tells which rules a request would meet, without serving it
 *
 * A request made of a few texts is evaluated by the rules of a frontend, then by those of the
 * backend that they choose. The verdict of each rule is printed. Rules that edit the request or
 * decide are executed; rules that would wait, log or send are only listed.
 * Threads: one that runs no loop. The modules of the generation must have been started.
 */
#ifndef TRAFFIC_EXPLAIN_H
#define TRAFFIC_EXPLAIN_H

#include <stdbool.h>
#include <stdio.h>
#include "base/addr.h"

struct config;

struct explain_request {
	const char *line;          /* "GET /x HTTP/1.1" */
	const char *const *fields; /* "Host: a" */
	int field_count;
	struct addr src;           /* ADDR_NONE: 127.0.0.1 */
	const char *frontend;      /* NULL: each frontend in mode http */
};

/* Explains a request. False: *error tells what is wrong with it (borrowed). */
bool explain(struct config *cfg, const struct explain_request *rq, FILE *out, const char **error);

#endif
