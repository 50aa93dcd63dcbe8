/* SPDX-License-Identifier: GPL-2.0-or-later */
/* filter.h - which lines are looked at
 *
 * A line passes when all the filters that were given accept it; -v inverts the whole. A filter
 * refuses a line that lacks what it looks at, so that a log is always the sum of what passes
 * with and without -v.
 */
#ifndef HALOG_FILTER_H
#define HALOG_FILTER_H

#include "line.h"

struct range {
	int64_t min, max;
};

struct filters {
	enum line_part needs;     /* PART_NONE: no filter was given */
	bool invert;
	bool http, errors, successes, queued, server_queued;
	bool slower_on, faster_on, status_on, date_on, state_on;
	bool status_out, state_out;
	int64_t slower, faster;   /* ms */
	struct range status, date; /* both ends belong to it; date in s since 1970 */
	struct text state;        /* borrowed from the command line */
};

/* Reads one filter of the command line: <value> is the word behind it, NULL when there is
 * none. Returns how many words it took, 0 when <option> is no filter, -1 when its value is
 * wrong. */
int filters_parse(struct filters *filters, const char *option, const char *value);
/* Does <line>, parsed as far as filters->needs, pass? */
bool filters_pass(const struct filters *filters, const struct line *line);
/* Reads a number that fills <text>; false when it is none or is negative. */
bool number_parse(const char *text, int64_t *number);

#endif
