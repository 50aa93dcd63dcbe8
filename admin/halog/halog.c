/* SPDX-License-Identifier: GPL-2.0-or-later */
/* halog - finds and counts in the logs of haproxy
 *
 * One pass over the standard input: the reader gives lines out of one large buffer, the parser
 * finds the fields that the chosen filters and report need and no more, the filters decide,
 * the report prints or counts. README.md describes the options and what is printed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter.h"
#include "line.h"
#include "report.h"

#define READ_SIZE   (1 << 20)
#define BUFFER_MAX  (1 << 26) /* a longer line is taken for several */
#define SKIP_USUAL  5         /* "Feb 6 12:14:14 host haproxy[1]: " */
#define SKIP_MAX    1000

static const char usage_short[] =
	"usage: halog [-h] [filters] [-v] [-q] [-m ROWS] [-s WORDS] [report] <log\n";

static const char usage_long[] =
"\n"
"Reads a log of haproxy (option tcplog, httplog, httpslog) from its standard input and prints the\n"
"lines that pass all filters, or one report about them.\n"
"\n"
"Filters:\n"
"  -H                  HTTP lines\n"
"  -e, -E              errors (status 5xx, no response, TCP session broken by other than the\n"
"                      client); no errors\n"
"  -rt MS, -RT MS      response time above, below so many ms\n"
"  -Q, -QS             was queued anywhere; was queued for its server\n"
"  -hs RANGE, -HS ...  status within RANGE; not within: 404, 400:499, 500:, :399\n"
"  -tcn CODE, -TCN ... termination code starts with CODE; does not: SD, sH, --VN\n"
"  -time RANGE         accepted within RANGE, in seconds since 1970: 1233918854:1233922454\n"
"Modifiers:\n"
"  -v                  the lines that do not pass\n"
"  -q                  no message about lines that are not understood\n"
"  -m ROWS             only the first ROWS rows of what is printed\n"
"  -s WORDS            so many words stand before the address of the client (5 behind the usual\n"
"                      syslog header; -1: one less); by default they are found by the date\n"
"  -qry                keep the query string of URLs\n"
"Reports, instead of the lines:\n"
"  -c                  how many lines\n"
"  -u                  per URL: requests, errors, times in ms, bytes; sorted by URL, or by\n"
"    -uc, -ue          requests; errors\n"
"    -ut, -ua          sum, average of response times\n"
"    -uto, -uao        the same of the requests without error\n"
"    -ubt, -uba        sum, average of bytes\n"
"  -ic                 per client address: the same columns, sorted by requests\n"
"  -srv                per server: statuses, successes, average connect and response times\n"
"  -st, -tc, -cc       requests per status, termination code, persistence cookie code\n"
"  -pct                percentiles of the times of requests\n"
"  -gt                 how many requests took each time, to be plotted\n"
"  -ad MS, -ac COUNT   bursts of at least COUNT lines behind MS ms without any\n"
"  -hdr BLOCK:FIELD    captured headers: BLOCK 1 or 2, FIELD from 1\n";

struct halog {
	struct filters filters;
	struct report report;
	enum line_part needs;
	int skip;
	bool quiet;
	uint64_t lost;  /* lines that were not understood */
	char *buffer;   /* owned */
	size_t size;
};

static void die(const char *what, const char *why)
{
	fprintf(stderr, "halog: %s%s%s\n", what, *why ? ": " : "", why);
	exit(1);
}

/* -s: from the left, or when negative from where it usually is. */
static bool skip_parse(const char *value, int *skip)
{
	int64_t n;

	if (!value || !number_parse(value + (*value == '-'), &n) ||
	    n > (*value == '-' ? SKIP_USUAL : SKIP_MAX))
		return false;
	*skip = *value == '-' ? SKIP_USUAL - (int)n : (int)n;
	return true;
}

/* One option: how many words it took. Ends the program when it is wrong. */
static int option_parse(struct halog *h, const char *option, const char *value)
{
	int words;

	if (!strcmp(option, "-h") || !strcmp(option, "--help")) {
		printf("%s%s", usage_short, usage_long);
		exit(0);
	}
	if (!strcmp(option, "-q")) {
		h->quiet = true;
		return 1;
	}
	if (!strcmp(option, "-s")) {
		words = skip_parse(value, &h->skip) ? 2 : -1;
	} else {
		words = filters_parse(&h->filters, option, value);
		words = words ? words : report_parse(&h->report, option, value);
	}
	if (words > 0)
		return words;
	fprintf(stderr, "halog: %s '%s'\n%s", words == -1 ? "missing or wrong value of" :
		words == -2 ? "a second report:" : "unknown option", option, usage_short);
	exit(1);
}

/* Handles one line; false when no more are wanted. */
static bool halog_line(struct halog *h, const char *text, size_t len)
{
	struct text whole = { text, len };
	struct line line;

	if (h->needs == PART_NONE)
		return h->filters.invert || report_take(&h->report, NULL, whole);
	line_parse(&line, text, len, h->skip, h->needs);
	h->lost += !line_has(&line, h->needs);
	if (!filters_pass(&h->filters, &line) || !line_has(&line, report_needs(&h->report)))
		return true;
	return report_take(&h->report, &line, whole);
}

static void buffer_grow(struct halog *h)
{
	size_t size = h->size ? h->size * 2 : 2 * READ_SIZE;
	char *buffer = realloc(h->buffer, size);

	if (!buffer)
		die("out of memory", "");
	h->buffer = buffer;
	h->size = size;
}

/* Reads behind the <used> bytes of the buffer. Returns how many bytes came, 0 at the end. */
static size_t halog_read(struct halog *h, size_t used)
{
	ssize_t got;

	if (h->size - used < READ_SIZE / 2)
		buffer_grow(h);
	do {
		got = read(STDIN_FILENO, h->buffer + used, h->size - used);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		die("standard input", strerror(errno));
	return got;
}

static void halog_run(struct halog *h)
{
	size_t used = 0, seen = 0, got;

	while ((got = halog_read(h, used))) {
		char *line = h->buffer, *end, *stop = h->buffer + used + got;

		end = h->buffer + seen;
		while ((end = memchr(end, '\n', stop - end))) {
			if (!halog_line(h, line, end - line))
				return;
			line = ++end;
		}
		used = stop - line;
		if (used >= BUFFER_MAX) {
			if (!halog_line(h, line, used))
				return;
			used = 0;
		}
		memmove(h->buffer, line, used);
		seen = used;
	}
	if (used)
		halog_line(h, h->buffer, used);
}

int main(int argc, char **argv)
{
	struct halog h = { .skip = SKIP_AUTO, .report = { .max_rows = INT64_MAX } };

	for (int i = 1; i < argc;)
		i += option_parse(&h, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
	report_init(&h.report);
	h.needs = report_needs(&h.report);
	if (h.needs < h.filters.needs)
		h.needs = h.filters.needs;
	setvbuf(stdout, NULL, _IOFBF, READ_SIZE / 4);
	halog_run(&h);
	report_print(&h.report);
	if (h.lost && !h.quiet)
		fprintf(stderr, "halog: %" PRIu64 " lines were not understood\n", h.lost);
	free(h.buffer);
	if (fflush(stdout) || ferror(stdout))
		die("standard output", strerror(errno));
	return 0;
}
