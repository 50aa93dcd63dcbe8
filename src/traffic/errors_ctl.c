/* SPDX-License-Identifier: GPL-2.0-or-later */
/* errors_ctl.c - edge file: show errors */
#include <stdlib.h>
#include "base/clock.h"
#include "base/module.h"
#include "ctl/ctl.h"
#include "proxy/walk.h"
#include "stream/error_capture.h"
#include "stream/sess_dump.h"
#include "stream/stream.h"

/* Where a dump stands. */
struct errors_dump {
	struct proxy_walk walk;
	bool requests, responses;
};

/* The proxy that a name or a number tells; a negative number: all; one that no proxy has: none.
 * False: reported.
 */
static bool parse_proxy(struct ctl_request *rq, struct errors_dump *d, const char *word)
{
	char *end;
	long id = strtol(word, &end, 10);
	char text[32];

	if (!*end && id < 0)
		return true;
	if (!*end) {
		snprintf(text, sizeof(text), "#%ld", id);
		word = text;
	}
	d->walk.only = proxy_find(d->walk.config, word, 0);
	if (d->walk.only)
		return true;
	if (word == text) {
		d->walk.at = NULL;
		return true;
	}
	ctl_error(rq, "No such proxy.");
	return false;
}

static bool begin_errors(struct ctl_request *rq)
{
	const char *word = rq->words[rq->at], *which = word ? rq->words[rq->at + 1] : NULL;
	struct errors_dump *d = proxy_walk_begin(rq, sizeof(*d));

	if (!d)
		return false;
	d->requests = !which || strcmp(which, "response") != 0;
	d->responses = !which || strcmp(which, "request") != 0;
	if (word && !parse_proxy(rq, d, word))
		return false;
	strbuf_add_str(rq->out, "Total events captured on ");
	sess_put_date(rq->out, clock_wall_us(), 3);
	strbuf_printf(rq->out, " : %u\n", error_capture_count());
	return true;
}

static enum ctl_step show_errors(struct ctl_request *rq)
{
	struct errors_dump *d;

	if (!rq->state && !begin_errors(rq))
		return CTL_DONE;
	d = rq->state;
	for (; d->walk.at; d->walk.at = proxy_next(d->walk.at)) {
		if (ctl_is_due(rq))
			return CTL_MORE;
		if (d->requests && d->walk.at->caps & PROXY_FE)
			error_capture_dump(d->walk.at, false, d->walk.only, rq->out);
		if (d->responses && d->walk.at->caps & PROXY_BE)
			error_capture_dump(d->walk.at, true, d->walk.only, rq->out);
	}
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "show errors", .level = CTL_OPERATOR,
	  .syntax = "[<px>] [request|response]",
	  .help = "show the last bad request and response of each proxy", .run = show_errors,
	  .release = proxy_walk_release },
	{ 0 }
};

const struct module mod_errors_ctl = { .name = "errors_ctl", .commands = commands };
