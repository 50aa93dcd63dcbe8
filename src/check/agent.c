/* SPDX-License-Identifier: GPL-2.0-or-later */
/* agent.c - answers of agents, and their effects
 *
 *	words in any case, separated by blanks or commas, up to the end of the line:
 *	    75%   weight:75%   weight:12   maxconn:30
 *	    ready   drain   maint
 *	    up   down   fail   stopped   [#text]
 *
 * An agent is not trusted: its line is bounded by the buffer, numbers are checked like those of the
 * Runtime API, and unknown words are reported and otherwise ignored.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/bug.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "check_priv.h"

/* What a line asks for. */
struct agent_order {
	const char *weight, *maxconn;
	unsigned set, clear;       /* enum server_admin */
	bool has_admin;
	enum check_status status;  /* CHECK_UNKNOWN: nothing said */
	const char *word, *note, *unknown;
};

/* --- reading -------------------------------------------------------------------------------- */

static bool admin_word(struct agent_order *o, const char *w)
{
	if (strcasecmp(w, "ready") == 0) {
		o->set = 0;
		o->clear = SERVER_FMAINT | SERVER_FDRAIN;
	} else if (strcasecmp(w, "drain") == 0) {
		o->set = SERVER_FDRAIN;
		o->clear = SERVER_FMAINT;
	} else if (strcasecmp(w, "maint") == 0) {
		o->set = SERVER_FMAINT;
		o->clear = SERVER_FDRAIN;
	} else {
		return false;
	}
	o->has_admin = true;
	return true;
}

static bool status_word(struct agent_order *o, const char *w)
{
	if (strcasecmp(w, "up") == 0)
		o->status = CHECK_L7OK;
	else if (strcasecmp(w, "down") == 0 || strcasecmp(w, "fail") == 0 ||
		 strcasecmp(w, "stopped") == 0)
		o->status = CHECK_L7STS;
	else
		return false;
	o->word = w;
	return true;
}

static void take_word(struct agent_order *o, const char *w)
{
	size_t len = strlen(w);

	if (len > 1 && w[len - 1] == '%' && ascii_is_digit(w[0]))
		o->weight = w;
	else if (strncasecmp(w, "weight:", 7) == 0)
		o->weight = w + 7;
	else if (strncasecmp(w, "maxconn:", 8) == 0)
		o->maxconn = w + 8;
	else if (!admin_word(o, w) && !status_word(o, w) && !o->unknown)
		o->unknown = w;
}

/* Cuts the line (writable, NUL-terminated) into words. */
static void read_line(struct agent_order *o, char *line)
{
	char *save = NULL, *hash = strchr(line, '#'), *word;

	/* a note stands behind a blank */
	while (hash && hash > line && !strchr(" \t,", hash[-1]))
		hash = strchr(hash + 1, '#');
	if (hash) {
		*hash++ = 0;
		o->note = hash + strspn(hash, " \t");
	}
	for (word = strtok_r(line, " \t,", &save); word; word = strtok_r(NULL, " \t,", &save))
		take_word(o, word);
}

/* --- effects -------------------------------------------------------------------------------- */

/* Returns what is wrong, or NULL. */
static const char *obey_weight(struct server *srv, const struct agent_order *o)
{
	const char *error = NULL;

	if (o->weight && !*o->weight)
		return "Require <weight> or <weight%>.";
	if (o->weight && !server_set_weight(srv, o->weight, &error))
		return error ? error : "invalid weight";
	return NULL;
}

/* Returns what is wrong, or NULL. */
static const char *obey(struct server *srv, const struct agent_order *o)
{
	const char *error = obey_weight(srv, o), *second = NULL;

	if (o->maxconn && !*o->maxconn)
		second = "Require <maxconn>.";
	else if (o->maxconn)
		server_set_maxconn(srv, o->maxconn, &second);
	/* last: its log line tells the reader that all was done */
	if (o->has_admin)
		server_set_admin(srv, o->set, o->clear);
	return error ? error : second;
}

static enum expect_verdict result_of(struct check *c, const struct agent_order *o,
				     const char *error, struct check_result *r)
{
	struct arena *a = &c->run->arena;
	const char *note = o->unknown ? o->unknown : o->note && *o->note ? o->note : NULL;

	*r = (struct check_result){ .status = o->status ? o->status : CHECK_CHECKED };
	if (o->status && note)
		r->text = arena_printf(a, "via agent : %s (%s)", o->word, note);
	else if (o->status)
		r->text = arena_printf(a, error ? "via agent : %s (%s )" : "via agent : %s",
				       o->word, error);
	else if (o->unknown)
		r->text = arena_printf(a, "agent reports an error : %s", o->unknown);
	else if (error)
		r->text = arena_printf(a, "agent warns : %s", error);
	return o->status == CHECK_L7STS ? VERDICT_FAIL : VERDICT_OK;
}

enum expect_verdict agent_judge(struct check *c, struct slice in, bool is_last,
				struct check_result *r)
{
	struct agent_order order = { 0 };
	char *line;
	size_t n = 0;

	while (n < in.len && in.ptr[n] != '\r' && in.ptr[n] != '\n')
		n++;
	if (n == in.len && !is_last)
		return VERDICT_WAIT;
	if (!in.len) {
		*r = (struct check_result){ .status = CHECK_L7RSP,
					    .text = "TCPCHK got an empty response at step 2" };
		return VERDICT_FAIL;
	}
	if (n == in.len) {
		*r = (struct check_result){ .text = "Ignoring incomplete line from agent",
			.status = __atomic_load_n(&c->state->status, __ATOMIC_RELAXED) };
		return VERDICT_FAIL;
	}
	line = arena_printf(&c->run->arena, "%.*s", (int)n, in.ptr);
	/* switched off meanwhile: its word does not count any more */
	if (!line || !(check_flags_of(c->state) & CHECK_ENABLED)) {
		*r = (struct check_result){ .status = CHECK_CHECKED };
		return VERDICT_OK;
	}
	read_line(&order, line);
	return result_of(c, &order, obey(c->server, &order), r);
}
