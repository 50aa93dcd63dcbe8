/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lint_count.c - counters of stick tables that nothing fills, or that the table does not keep */
#include <ctype.h>
#include <string.h>
#include "base/num.h"
#include "lint_priv.h"

/* The counters that fetches read, as `store` names them. */
static const char *const counters[] = {
	"conn_cur",	  "conn_cnt",	   "conn_rate",	     "sess_cnt",      "sess_rate",
	"http_req_cnt",	  "http_req_rate", "http_err_cnt",   "http_err_rate", "http_fail_cnt",
	"http_fail_rate", "bytes_in_rate", "bytes_out_rate", "bytes_in_cnt",  "bytes_out_cnt",
	"gpc0",		  "gpc0_rate",	   "gpc1",	     "gpc1_rate",
};

#define COUNTERS (sizeof(counters) / sizeof(*counters))

/* What the lines of all sections fill and keep. */
struct kept {
	bool tracked[10];     /* "track-sc<n>" is the action of a line */
	bool stored[COUNTERS]; /* a table keeps it */
	bool has_table;
};

static void note_line(struct kept *k, const struct source_line *l)
{
	for (int w = 1; l->kind == SOURCE_KEYWORD && w < l->count && w < 4; w++) {
		const char *word = l->words[w].text;

		if (strncmp(word, "track-sc", 8) == 0 && ascii_is_digit(word[8]) && !word[9])
			k->tracked[word[8] - '0'] = true;
	}
	if (!source_begins(l, "stick-table") && !source_begins(l, "table"))
		return;
	k->has_table = true;
	/* rates and counts have periods behind: "http_req_rate(10s)" */
	for (int w = 1; w < l->count; w++)
		for (size_t i = 0; i < COUNTERS; i++)
			k->stored[i] |= lint_names(l->words[w].text, counters[i]);
}

/* A fetch "sc_http_req_rate(0)" or "sc0_http_req_rate" at <at>: the tracked number, and the
 * counter's name. -1: it is none.
 */
static int fetch_at(const char *at, const char **name)
{
	if (strncmp(at, "sc", 2) != 0)
		return -1;
	if (at[2] >= '0' && at[2] <= '9' && at[3] == '_') {
		*name = at + 4;
		return at[2] - '0';
	}
	if (at[2] != '_')
		return -1;
	*name = at + 3;
	at += strcspn(at, "( ,)]");
	return *at == '(' && at[1] >= '0' && at[1] <= '9' ? at[1] - '0' : -1;
}

/* The counter that a fetch reads; -1: none of the table above. */
static int counter_of(const char *name)
{
	size_t len = strcspn(name, "(,)] ");

	for (size_t i = 0; i < COUNTERS; i++)
		if (strlen(counters[i]) == len && strncmp(counters[i], name, len) == 0)
			return (int)i;
	return -1;
}

static void look_at_word(struct lint *x, const struct source_line *l, int word,
			 const struct kept *k)
{
	const char *text = l->words[word].text, *name;

	for (const char *at = text; (at = strstr(at, "sc")) != NULL; at++) {
		int number, counter;

		if (at > text && (at[-1] == '_' || at[-1] == '-' || isalpha((unsigned char)at[-1])))
			continue;
		number = fetch_at(at, &name);
		counter = number < 0 ? -1 : counter_of(name);
		if (counter < 0)
			continue;
		if (!k->tracked[number])
			lint_say(x, LINT_COUNTER_UNTRACKED, l, word,
				 "no rule `track-sc%d` fills what '%.*s' reads", number,
				 (int)strcspn(at, ",] "), at);
		else if (k->has_table && !k->stored[counter])
			lint_say(x, LINT_COUNTER_UNSTORED, l, word, "no table stores '%s'",
				 counters[counter]);
		return;
	}
}

void lint_counters(struct lint *x)
{
	struct kept k = { .has_table = false };

	for (int i = 0; i < x->source.count; i++)
		note_line(&k, &x->source.lines[i]);
	for (int i = 0; i < x->source.count; i++) {
		const struct source_line *l = &x->source.lines[i];

		if (l->kind != SOURCE_KEYWORD)
			continue;
		for (int w = 1; w < l->count; w++)
			look_at_word(x, l, w, &k);
		if (source_begins(l, "stick-table") && lint_word(l, "expire") < 0 &&
		    lint_word(l, "nopurge") < 0)
			lint_say(x, LINT_TABLE_NO_EXPIRE, l, 0,
				 "entries stay until the table is full");
	}
}
