/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clf.c - lines of "option httplog clf" and "option tcplog clf"
 *
 *   1.2.3.4 - - [06/Feb/2009:12:14:14 +0000] "GET / HTTP/1.1" 200 83 "" "" <port> <ms> "<frontend>"
 *   "<backend>" "<server>" <timers> <state> ac fc bc sc rc sq bq "<cookies>"... "<captures>"...
 *
 * Quotes inside of fields are encoded by the logger. A line is read whole.
 */
#include <stdio.h>
#include <string.h>
#include "line.h"

#define DATE_LEN 26 /* 06/Feb/2009:12:14:14 +0000 */

static bool date_at(const char *p, const char *end)
{
	return end - p > DATE_LEN + 2 && *p == '[' && p[3] == '/' && p[7] == '/' && p[12] == ':' &&
	       p[15] == ':' && p[18] == ':' && p[21] == ' ' && (p[22] == '+' || p[22] == '-') &&
	       p[DATE_LEN + 1] == ']' && p[DATE_LEN + 2] == ' ';
}

/* Takes the next word, without its quotes. */
static bool word_next(struct line *line, struct text *word)
{
	const char *p = line->next, *end;
	bool quoted = p < line->end && *p == '"';

	p += quoted;
	end = p < line->end ? memchr(p, quoted ? '"' : ' ', (size_t)(line->end - p)) : NULL;
	if (!end && (quoted || p >= line->end))
		return false;
	end = end ? end : line->end;
	*word = (struct text) { p, (size_t)(end - p) };
	line->next = end + quoted;
	line->next += line->next < line->end && *line->next == ' ';
	return quoted || word->len;
}

/* A number, maybe behind a sign. */
static bool number_next(struct line *line, int64_t *number)
{
	struct text word;
	bool negative;
	size_t i;

	if (!word_next(line, &word) || word.len > 18)
		return false;
	negative = word.at[0] == '-';
	*number = 0;
	for (i = negative || word.at[0] == '+'; i < word.len; i++) {
		if (word.at[i] < '0' || word.at[i] > '9')
			return false;
		*number = *number * 10 + (word.at[i] - '0');
	}
	*number = negative ? -*number : *number;
	return word.at[word.len - 1] >= '0' && word.at[word.len - 1] <= '9';
}

static bool numbers_next(struct line *line, int64_t *numbers, int count)
{
	for (int i = 0; i < count; i++)
		if (!number_next(line, &numbers[i]))
			return false;
	return true;
}

/* "GET /path HTTP/1.1" */
static void request_cut(struct line *line, struct text request)
{
	const char *end = request.at + request.len, *space = memchr(request.at, ' ', request.len);

	line->http = request.len != 4 || memcmp(request.at, "TCP ", 4) != 0;
	if (space) {
		request.at = space + 1;
		space = memchr(request.at, ' ', (size_t)(end - request.at));
		end = space ? space : end;
	}
	line->url = (struct text) { request.at, (size_t)(end - request.at) };
}

/* The timers of a TCP line: %Th %Tw %Tc %Tt, and what the client sent. */
static bool timers_next(struct line *line)
{
	int64_t n[TIMER_NB];

	if (!numbers_next(line, n, TIMER_NB))
		return false;
	memcpy(line->timers, n, sizeof(n));
	if (line->http)
		return true;
	line->timers[TIMER_TOTAL] = n[3];
	line->timers[TIMER_TR] = line->timers[TIMER_RESPONSE] = -1;
	return true;
}

/* backend/server in one text; false: it does not fit. */
static bool server_join(struct line *line, struct text backend, struct text server)
{
	int len = snprintf(line->joined, sizeof(line->joined), "%.*s/%.*s", (int)backend.len,
			   backend.at, (int)server.len, server.at);

	line->server = (struct text) { line->joined, (size_t)len };
	return len > 0 && (size_t)len < sizeof(line->joined);
}

static enum line_part rest_parse(struct line *line)
{
	struct text request, skipped, backend, server;
	int64_t counts[5], port;

	if (!word_next(line, &request))
		return PART_NONE;
	request_cut(line, request);
	if (!number_next(line, &line->status) || !number_next(line, &line->bytes) ||
	    !word_next(line, &skipped) || !word_next(line, &skipped) ||
	    !number_next(line, &port) || !number_next(line, &line->ms) ||
	    !word_next(line, &skipped) || !word_next(line, &backend) ||
	    !word_next(line, &server) || !server_join(line, backend, server))
		return PART_NONE;
	if (!timers_next(line))
		return PART_HEAD;
	if (!word_next(line, &line->state) || line->state.len != 4)
		return PART_RESULT;
	if (!line->http)
		line->state.len = 2;
	if (!numbers_next(line, counts, 5) || !numbers_next(line, line->queues, 2))
		return PART_STATE;
	line->captures[0] = line->captures[1] = (struct text) { line->next, 0 };
	return line->http ? PART_REQUEST : PART_QUEUES;
}

enum line_part line_parse_clf(struct line *line, const char *text)
{
	const char *p = text, *first;

	while ((p = memchr(p, '[', (size_t)(line->end - p))) != NULL) {
		if (p - text >= 6 && memcmp(p - 5, " - - ", 5) == 0 && date_at(p, line->end))
			break;
		p++;
	}
	if (!p)
		return PART_NONE;
	first = memrchr(text, ' ', (size_t)(p - 5 - text));
	first = first ? first + 1 : text;
	line->client = (struct text) { first, (size_t)(p - 5 - first) };
	line->date = (struct text) { p + 1, DATE_LEN };
	line->next = p + DATE_LEN + 3;
	return rest_parse(line);
}
