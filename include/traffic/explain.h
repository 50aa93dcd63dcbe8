/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* explain.h - which rules a request would meet, told without serving anything
 *
 * A request made of a few texts is shown to the rules of a frontend, then to those of the backend
 * that they choose. Each rule's verdict is printed; rules that edit the request or decide are
 * carried out, those that would wait, log or send are only named.
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
	const char *frontend;      /* NULL: each one in mode http */
};

/* False: *error tells what is wrong with the request (borrowed). */
bool explain(struct config *cfg, const struct explain_request *rq, FILE *out, const char **error);

#endif
