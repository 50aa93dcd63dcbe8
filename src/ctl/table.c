/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table.c - the commands of all modules: lookup, listing, and suggestions */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "session_priv.h"

#define GUESSES 5
#define WORD_MAX 64

static const struct ctl_command **commands; /* sorted by words */
static unsigned command_count;
static ctl_more_fn *more;                   /* NULL: no other ones */

static int command_cmp(const void *a, const void *b)
{
	return strcmp((*(const struct ctl_command *const *)a)->words,
		      (*(const struct ctl_command *const *)b)->words);
}

/* A worker and the master have different ones; some are of both. */
static bool is_of_process(const struct ctl_command *c, bool master)
{
	return c->flags & CTL_ANYWHERE || !(c->flags & CTL_MASTER) == !master;
}

static bool is_of_session(const struct ctl_command *c, const struct ctl_session *s)
{
	return is_of_process(c, s->master) || (s->debug && c->flags & CTL_PROCESS);
}

void ctl_set_more(ctl_more_fn *next)
{
	more = next;
}

/* The command behind <c>, NULL: the first one, that a configuration has brought. */
static const struct ctl_command *more_next(const struct ctl_session *s,
					   const struct ctl_command *c)
{
	return more && !s->master ? more(c) : NULL;
}

bool ctl_register(const struct module *const *modules)
{
	unsigned n = 0;

	for (const struct module *const *m = modules; *m; m++) {
		for (const struct ctl_command *c = (*m)->commands; c && c->words; c++)
			n++;
	}
	free(commands);
	command_count = 0;
	commands = calloc(n ? n : 1, sizeof(*commands));
	if (!commands)
		return false;
	for (const struct module *const *m = modules; *m; m++) {
		for (const struct ctl_command *c = (*m)->commands; c && c->words; c++)
			commands[command_count++] = c;
	}
	qsort(commands, command_count, sizeof(*commands), command_cmp);
	for (unsigned i = 1; i < command_count; i++)
		BUG_ON(command_cmp(&commands[i - 1], &commands[i]) == 0 &&
		       (is_of_process(commands[i], true) == is_of_process(commands[i - 1], true)));
	return true;
}

void ctl_dump_commands(FILE *out)
{
	fprintf(out, "# List of registered CLI keywords:\n");
	for (unsigned i = 0; i < command_count; i++) {
		const struct ctl_command *c = commands[i];

		fprintf(out, "%s %s%s%s\n", c->words,
			c->flags & CTL_ANYWHERE ? "[MASTER] [WORKER] "
			: c->flags & CTL_MASTER ? "[MASTER] " : "[WORKER] ",
			c->flags & CTL_EXPERT ? "[EXPERT] " : "",
			c->flags & CTL_EXPERIMENTAL ? "[EXPERIM] " : "");
	}
}

/* Steps over the next word of *at; its length. 0: there is none. */
static size_t take_word(const char **at, const char **word)
{
	size_t len;

	*at += strspn(*at, " ");
	*word = *at;
	len = strcspn(*at, " ");
	*at += len;
	return len;
}

/* How many of <c>'s own words does the line have: all of them, or 0. */
static int command_match(const struct ctl_command *c, char **words, int count)
{
	const char *at = c->words, *word;
	int n = 0;
	size_t len;

	while ((len = take_word(&at, &word)) != 0) {
		if (n >= count || strlen(words[n]) != len || memcmp(words[n], word, len) != 0)
			return 0;
		n++;
	}
	return n;
}

const struct ctl_command *ctl_find(const struct ctl_session *s, int count, int *used)
{
	const struct ctl_command *best = NULL;

	*used = 0;
	for (unsigned i = 0; i < command_count; i++) {
		int n = is_of_session(commands[i], s)
				? command_match(commands[i], (char **)s->words, count) : 0;

		if (n > *used) {
			*used = n;
			best = commands[i];
		}
	}
	for (const struct ctl_command *c = more_next(s, NULL); c; c = more_next(s, c)) {
		int n = command_match(c, (char **)s->words, count);

		if (n > *used) {
			*used = n;
			best = c;
		}
	}
	return best;
}

/* --- help ------------------------------------------------------------------------------------ */

/* Is each of the words the beginning of <c>'s word at the same place? */
static bool command_begins(const struct ctl_command *c, char **words, int count)
{
	const char *at = c->words, *word;

	for (int i = 0; i < count; i++) {
		size_t len = take_word(&at, &word), have = strlen(words[i]);

		if (len == 0)
			return i > 0; /* the rest are arguments */
		if (have > len || memcmp(words[i], word, have) != 0)
			return false;
	}
	return true;
}

/* Edits (insert, remove, replace a letter) between two words. */
static unsigned edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned row[WORD_MAX + 1];

	a_len = a_len > WORD_MAX ? WORD_MAX : a_len;
	b_len = b_len > WORD_MAX ? WORD_MAX : b_len;
	for (unsigned j = 0; j <= b_len; j++)
		row[j] = j;
	for (unsigned i = 1; i <= a_len; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= b_len; j++) {
			unsigned up = row[j];
			unsigned best = diagonal + (a[i - 1] != b[j - 1]);

			if (up + 1 < best)
				best = up + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
			diagonal = up;
		}
	}
	return row[b_len];
}

/* How far is <c> from the words: the sum over those of both, missing ones count whole. */
static unsigned command_distance(const struct ctl_command *c, char **words, int count)
{
	const char *at = c->words, *word;
	unsigned sum = 0;
	size_t len;
	int i = 0;

	while ((len = take_word(&at, &word)) != 0) {
		if (i < count)
			sum += 2 * edit_distance(words[i], strlen(words[i]), word, len);
		else
			sum += (unsigned)len;
		i++;
	}
	for (; i < count; i++)
		sum += (unsigned)strlen(words[i]);
	return sum;
}

static void help_line(struct ctl_request *rq, const char *words, const char *syntax,
		      const char *help)
{
	char usage[256];

	if (!syntax) {
		strbuf_printf(rq->out, "  %s\n", help);
		return;
	}
	snprintf(usage, sizeof(usage), "%s%s%s", words, *syntax ? " " : "", syntax);
	strbuf_printf(rq->out, "  %-40s: %s\n", usage, help ? help : "");
}

/* May this session see and run it? */
static bool command_is_visible(const struct ctl_session *s, const struct ctl_command *c)
{
	if (c->flags & CTL_HIDDEN || !is_of_session(c, s))
		return false;
	if ((c->flags & CTL_EXPERT) && !s->expert)
		return false;
	if ((c->flags & CTL_EXPERIMENTAL) && !s->experimental)
		return false;
	return s->level >= c->level;
}

/* Lists the few commands that are least different from the words. */
static void help_guess(struct ctl_request *rq, char **words, int count)
{
	unsigned best[GUESSES], distance[GUESSES], n = 0;

	for (unsigned i = 0; i < command_count; i++) {
		unsigned d, at;

		if (!command_is_visible(rq->session, commands[i]))
			continue;
		d = command_distance(commands[i], words, count);
		for (at = n; at > 0 && distance[at - 1] > d; at--) {
			if (at < GUESSES) {
				best[at] = best[at - 1];
				distance[at] = distance[at - 1];
			}
		}
		if (at < GUESSES) {
			best[at] = i;
			distance[at] = d;
			n += n < GUESSES;
		}
	}
	for (unsigned i = 0; i < command_count; i++) {
		for (unsigned k = 0; k < n; k++) {
			if (best[k] == i)
				help_line(rq, commands[i]->words,
					  commands[i]->syntax ? commands[i]->syntax : "",
					  commands[i]->help);
		}
	}
}

void ctl_help(struct ctl_request *rq, int from, const char *title)
{
	static const char *const own[][3] = {
		{ "help", "[<command>]", "list the commands, or some of them" },
		{ "prompt", "[help | n | i | p | timed ]*", "choose how the session goes on" },
		{ "quit", "", "disconnect" },
	};
	char **words = rq->words + from;
	int count = rq->count - from;
	bool found = count <= 0;

	ctl_begin(rq, CTL_INFO);
	strbuf_add_str(rq->out, title);
	for (unsigned i = 0; i < command_count; i++) {
		const struct ctl_command *c = commands[i];

		if (!command_is_visible(rq->session, c) ||
		    (count > 0 && !command_begins(c, words, count)))
			continue;
		found = true;
		help_line(rq, c->words, c->syntax ? c->syntax : "", c->help);
	}
	for (const struct ctl_command *c = more_next(rq->session, NULL); c;
	     c = more_next(rq->session, c)) {
		if (count > 0 && !command_begins(c, words, count))
			continue;
		found = true;
		help_line(rq, c->words, c->syntax, c->help);
	}
	for (size_t i = 0; i < ARRAY_LEN(own) && !found; i++)
		found = strncmp(own[i][0], words[0], strlen(words[0])) == 0;
	if (!found)
		help_guess(rq, words, count);
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		help_line(rq, own[i][0], own[i][1], own[i][2]);
}
