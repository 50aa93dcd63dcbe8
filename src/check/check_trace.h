/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_trace.h - the trace source of health checks */
#ifndef CHECK_CHECK_TRACE_H
#define CHECK_CHECK_TRACE_H

#include "core/trace.h"

/* X(NAME, word, explanation) */
#define CHECK_EVENTS(X) \
	X(START, "hchck_start", "a check begins") X(RUN, "hchck_run", "a check goes on") \
	X(END, "hchck_end", "a check is over") X(PASSED, "hchck_succ", "a check passed") \
	X(FAILED, "hchck_err", "a check failed") X(RULE, "tcp_check_eval", "a rule is carried out")

#define X(name, word, help) CHECK_EV_##name,
enum { CHECK_EVENTS(X) };
#undef X

extern struct trace_source trace_check; /* its objects: a struct check */

#define CHECK_TRACE(level, c, events, ...) TRACE(&trace_check, level, events, c, __VA_ARGS__)
#define CHECK_EV(name) TRACE_EV(CHECK_EV_##name)

#endif
