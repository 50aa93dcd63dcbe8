/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lint_count.c - counters of stick tables that nothing fills, or that the table does not keep */
#include <ctype.h>
#include <string.h>
#include "base/strbuf.h"
#include "lint_priv.h"

/* The counters that fetches read, as `store` names them. */
static const char *const counters[] = {
	"conn_cur",	  "conn_cnt",	   "conn_rate",	     "sess_cnt",      "sess_rate",
	"http_req_cnt",	  "http_req_rate", "http_err_cnt",   "http_err_rate", "http_fail_cnt",
	"http_fail_rate", "bytes_in_rate", "bytes_out_rate", "bytes_in_cnt",  "bytes_out_cnt",
	"gpc0",		  "gpc0_rate",	   "gpc1",	     "gpc1_rate",
};

/* Does any line begin with "track-sc<n>" as its action? "sc_" fetches tell the number in
 * parentheses.
 */
static bool is_tracked(const struct lint *x, int number)
{
	char text[12];
	struct strbuf b;

	strbuf_init_fixed(&b, text, sizeof(text));
	strbuf_printf(&b, "track-sc%d", number);
	for (int i = 0; i < x->source.count; i++) {
		const struct source_line *l = &x->source.lines[i];

		if (l->kind != SOURCE_KEYWORD)
			continue;
		for (int w = 1; w < l->count && w < 4; w++)
			if (strcmp(l->words[w].text, text) == 0)
				return true;
	}
	return false;
}

/* Does any table keep it? Rates and counts have periods behind: "http_req_rate(10s)". */
static bool is_stored(const struct lint *x, const char *counter)
{
	bool has_table = false;

	for (int i = 0; i < x->source.count; i++) {
		const struct source_line *l = &x->source.lines[i];
		bool is_table = source_begins(l, "stick-table") || source_begins(l, "table");

		has_table |= is_table;
		for (int w = 1; is_table && w < l->count; w++)
			if (lint_names(l->words[w].text, counter))
				return true;
	}
	return !has_table;
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

/* The counter that a fetch reads; NULL: none of the table above. */
static const char *counter_of(const char *name)
{
	size_t len = strcspn(name, "(,)] ");

	for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++)
		if (strlen(counters[i]) == len && strncmp(counters[i], name, len) == 0)
			return counters[i];
	return NULL;
}

static void look_at_word(struct lint *x, const struct source_line *l, int word)
{
	const char *text = l->words[word].text, *name, *counter;

	for (const char *at = text; (at = strstr(at, "sc")) != NULL; at++) {
		int number;

		if (at > text && (at[-1] == '_' || at[-1] == '-' || isalpha((unsigned char)at[-1])))
			continue;
		number = fetch_at(at, &name);
		counter = number < 0 ? NULL : counter_of(name);
		if (!counter)
			continue;
		if (!is_tracked(x, number))
			lint_say(x, LINT_COUNTER_UNTRACKED, l, word,
				 "no rule `track-sc%d` fills what '%.*s' reads", number,
				 (int)strcspn(at, ",] "), at);
		else if (!is_stored(x, counter))
			lint_say(x, LINT_COUNTER_UNSTORED, l, word, "no table stores '%s'",
				 counter);
		return;
	}
}

void lint_counters(struct lint *x)
{
	for (int i = 0; i < x->source.count; i++) {
		const struct source_line *l = &x->source.lines[i];

		if (l->kind != SOURCE_KEYWORD)
			continue;
		for (int w = 1; w < l->count; w++)
			look_at_word(x, l, w);
		if (source_begins(l, "stick-table") && lint_word(l, "expire") < 0 &&
		    lint_word(l, "nopurge") < 0)
			lint_say(x, LINT_TABLE_NO_EXPIRE, l, 0,
				 "entries stay until the table is full");
	}
}
