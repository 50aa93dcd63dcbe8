/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of a stream's ends: every row is complete, and no two rows say the same. */
#include <string.h>
#include "stream/end.h"
#include "tap.h"

static bool phase_is_known(char phase)
{
	return !phase || strchr("RQCHDLT", phase) != NULL;
}

static bool status_is_known(unsigned status)
{
	return !status || (status >= 400 && status < 600);
}

static bool is_complete(const struct stream_end_row *e)
{
	return e->name && *e->name && e->text && *e->text && e->retried &&
	       e->cause < CAUSE_COUNT && phase_is_known(e->phase) && status_is_known(e->status);
}

/* The number of another row with the same name or sentence; -1: none. */
static int twin_of(int i)
{
	for (int k = 0; k < i; k++)
		if (!strcmp(stream_ends[k].name, stream_ends[i].name) ||
		    !strcmp(stream_ends[k].text, stream_ends[i].text))
			return k;
	return -1;
}

static void test_rows(void)
{
	for (int i = 0; i < END_COUNT; i++) {
		ok(is_complete(&stream_ends[i]), "row %d is complete", i);
		is_int(twin_of(i), -1, "%s is told apart from all others", stream_ends[i].name);
		ok(stream_ends[i].text[strlen(stream_ends[i].text) - 1] != '.',
		   "its sentence fits into a line of a log");
		ok((stream_ends[i].cause == CAUSE_NONE) == (i == END_NONE),
		   "only the first row is no end");
	}
}

/* What is tried again ends in an error page if the tries are used up. */
static void test_retried(void)
{
	for (int i = 0; i < END_COUNT; i++)
		ok(!*stream_ends[i].retried || stream_ends[i].status,
		   "%s has a status if it is retried", stream_ends[i].name);
}

static void test_unavailable(void)
{
	is_int(stream_ends[END_QUEUE_FULL].status, 503, "a full queue is a 503");
	is_str(stream_ends[END_QUEUE_FULL].name, "QUEUE_FULL", "with its name");
	is_int(stream_ends[END_QUEUE_TIMEOUT].cause, CAUSE_SERVER_TIMEOUT,
	       "the wait in a queue ends by the server's fault");
}

int main(void)
{
	test_rows();
	test_retried();
	test_unavailable();
	return done_testing();
}
