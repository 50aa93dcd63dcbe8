/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.h - what is printed about the lines that pass: themselves, their number, or statistics
 *
 * One report is chosen; each is a row of a table: which part of a line it needs, what it does
 * with a line, what it prints at the end. A line that lacks the part is left out of
 * statistics.
 */
#ifndef HALOG_REPORT_H
#define HALOG_REPORT_H

#include "line.h"
#include "tally.h"

struct report_kind;

struct report {
	const struct report_kind *kind;
	int64_t max_rows;         /* -m; INT64_MAX without */
	int64_t silence_ms;       /* -ad */
	int64_t burst_min;        /* -ac */
	int capture, field;       /* -hdr: 0 or 1; from 1 */
	bool query;               /* -qry: keep the query string */
	int64_t rows;             /* lines printed or counted so far */
	struct tallies tallies;
	uint32_t (*fast)[TIMER_NB]; /* numbers of lines by timer, of times under TIMER_FAST ms */
};

/* Reads one option of the command line that is about reports; <value> is the word behind it,
 * NULL when there is none. Returns how many words it took, 0 when it is no such option, -1
 * when its value is wrong, -2 when another report was chosen before. */
int report_parse(struct report *report, const char *option, const char *value);
/* Prepares the report chosen, that of the lines themselves by default. */
void report_init(struct report *report);
/* Which part of a line it needs. */
enum line_part report_needs(const struct report *report);
/* Takes one line that passed; <text>, <len>: all of it. Returns false when no more are wanted. */
bool report_take(struct report *report, const struct line *line, struct text text);
/* Prints what was gathered to the standard output. */
void report_print(struct report *report);

#endif
