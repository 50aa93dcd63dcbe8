/* SPDX-License-Identifier: GPL-2.0-or-later */
/* line.h - one line of a log: where its fields are
 *
 * Knows   : the formats of "option tcplog" and "option httplog", both with and without "clf"
 *           (clf.c, no captures), and of "option httpslog", behind whatever syslog puts before
 *           them (configuration manual, 8.2.2 to 8.2.4).
 * Owns    : nothing. A line points into the buffer of the reader.
 * Fails   : never: a line that is not understood has parts that are not reached. Nothing
 *           allocates.
 *
 * Fields are read from the left, only as far as they are needed: the parts below are in
 * the order in which they stand in the line, and having one means having those before it.
 */
#ifndef HALOG_LINE_H
#define HALOG_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum line_part {
	PART_NONE,
	PART_HEAD,    /* client, date, server */
	PART_TIMERS,  /* timers, http */
	PART_RESULT,  /* status, bytes */
	PART_STATE,   /* state */
	PART_QUEUES,  /* queues: the last part of a TCP line */
	PART_REQUEST, /* captures, url */
};

enum line_timer { TIMER_TR, TIMER_TW, TIMER_TC, TIMER_RESPONSE, TIMER_TOTAL, TIMER_NB };

struct text {
	const char *at;
	size_t len;
};

struct line {
	const char *next, *end;    /* what is still to be read */
	enum line_part reached;
	bool http;
	struct text client;        /* address, without the port */
	struct text date;          /* the text between the brackets */
	int64_t ms;                /* of a line in common format: the date's milliseconds */
	char joined[512];          /* same: what <server> points to */
	struct text server;        /* backend/server */
	int64_t timers[TIMER_NB];  /* ms; -1: did not happen, or no such timer in a TCP line */
	int64_t status;            /* -1: no response; 0 in a TCP line */
	int64_t bytes;
	struct text state;         /* termination state: 4 characters, 2 in a TCP line */
	int64_t queues[2];         /* of the server, of the backend */
	struct text captures[2];   /* without the braces; empty when absent */
	struct text url;           /* with its query string */
};

#define SKIP_AUTO (-1)

/* Reads the <len> bytes at <text> (no line feed) as far as <wanted>. <skip>: how many words
 * stand before the address of the client, SKIP_AUTO to look for the date in brackets. Says how
 * far it came in line->reached. */
void line_parse(struct line *line, const char *text, size_t len, int skip, enum line_part wanted);
/* For line_parse(), with line->end: reads a line in common format (CLF) as far as it goes. */
enum line_part line_parse_clf(struct line *line, const char *text);
/* Has <line> the part <wanted>? A TCP line that is complete has all it can have. */
bool line_has(const struct line *line, enum line_part wanted);
/* Is it an error: status 5xx or none, or for TCP a termination that is not the client's doing?
 * Needs PART_STATE. */
bool line_failed(const struct line *line);
/* The date in ms since 1970, read in the local time zone; -1 when it is no date. Needs
 * PART_HEAD. */
int64_t line_date_ms(const struct line *line);

#endif
