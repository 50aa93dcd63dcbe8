/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_conf.c - edge file: sections log-profile
 *
 * Manual: configuration 8.3.5.
 */
#include <string.h>
#include "expr/logformat.h"
#include "log_priv.h"

static bool profile_open(struct conf_line *l)
{
	struct log_profiles *all = log_profiles_of(l->cfg);
	const char *name = conf_next(l);
	struct log_profile *p;
	char bad;

	if (!name || !*name)
		return conf_error(l, 0, NULL, "missing name for log-profile section.");
	bad = conf_name_bad_char(name);
	if (bad)
		return conf_error(l, l->at - 1, NULL, "character '%c' is not permitted in "
				  "'log-profile' name '%s'.", bad, name);
	if (conf_peek(l))
		return conf_error(l, l->at, NULL,
				  "'log-profile' cannot handle unexpected argument '%s'.",
				  conf_peek(l));
	p = log_profile_find(l->cfg, name);
	if (p)
		return conf_error(l, l->at - 1, NULL, "log-profile section '%s' has the same name "
				  "as another log-profile section declared at %s:%d.", name,
				  p->file, p->line);
	p = arena_zalloc(&l->cfg->arena, sizeof(*p));
	if (!p)
		return conf_error(l, 0, NULL, "out of memory.");
	*p = (struct log_profile){ .name = name, .line = l->place.line, .next = all->first };
	p->file = l->place.file ? conf_strdup(l->cfg, l->place.file) : NULL;
	all->first = p;
	l->object = p;
	l->slots = NULL;
	return true;
}

static bool tag_parse(struct conf_line *l)
{
	struct log_profile *p = l->object;

	if (!conf_peek(l) || !*conf_peek(l))
		return conf_error(l, l->at, NULL, "'log-tag' expects a tag for use in syslog.");
	return conf_take_string(l, &p->tag) && conf_take_end(l);
}

static bool take_format(struct conf_line *l, const char *step, const char *what,
			const struct logformat **out)
{
	if (!conf_peek(l) || !*conf_peek(l))
		return conf_error(l, l->at, NULL, "'on %s %s' expects a logformat string.", step,
				  what);
	*out = logformat_parse(l, conf_peek(l), EXPR_FE_LOG_END, LOGFORMAT_LOG);
	l->at++;
	return *out != NULL;
}

static bool on_unknown(struct conf_line *l, const char *word)
{
	char known[256] = "";

	for (unsigned i = LOG_STEP_ACCEPT; i < LOG_STEPS; i++) {
		if (i == LOG_STEP_KILLED)
			continue;
		strncat(known, i > 1 ? ", " : "", sizeof(known) - strlen(known) - 1);
		strncat(known, log_step_word(i), sizeof(known) - strlen(known) - 1);
	}
	return conf_error(l, word ? l->at - 1 : l->at, known, "'on' expects a log step%s%s.",
			  word ? ", not " : "", word ? word : "");
}

/* on <step> [drop] [format <fmt>] [sd <fmt>] */
static bool on_parse(struct conf_line *l)
{
	struct log_profile *p = l->object;
	const char *word = conf_next(l), *what;
	enum log_step step = word ? log_step_find(slice_of(word)) : LOG_STEPS;
	struct log_profile_step *s;

	if (step == LOG_STEPS)
		return on_unknown(l, word);
	s = &p->steps[step];
	*s = (struct log_profile_step){ .is_set = true };
	do {
		bool good = true;

		what = conf_next(l);
		if (what && strcmp(what, "drop") == 0)
			s->drop = true;
		else if (what && strcmp(what, "format") == 0)
			good = take_format(l, word, what, &s->format);
		else if (what && strcmp(what, "sd") == 0)
			good = take_format(l, word, what, &s->structured);
		else
			good = conf_error(l, what ? l->at - 1 : l->at, NULL,
					  "'on %s' expects 'drop', 'format' or 'sd'%s%s.", word,
					  what ? ", not " : "", what ? what : "");
		if (!good)
			return false;
	} while (conf_peek(l));
	return true;
}

static const struct conf_section sections[] = {
	{ .name = "log-profile", .where = CONF_OTHER, .open = profile_open, .syntax = "<name>",
	  .help = "how lines are written for the targets that name it" },
	{ 0 }
};

static const struct conf_keyword keywords[] = {
	{ .words = "log-tag", .where = CONF_OTHER, .section = "log-profile", .max_args = -1,
	  .parse = tag_parse, .syntax = "<text>", .help = "the program's name in log headers" },
	{ .words = "on", .where = CONF_OTHER, .section = "log-profile", .max_args = -1,
	  .parse = on_parse, .syntax = "<step> [drop] [format <fmt>] [sd <fmt>]",
	  .help = "how the line of a step is written" },
	{ 0 }
};

static struct slot *const slots[] = { &log_profile_slot, NULL };

const struct module mod_log_profile = {
	.name = "log-profile", .sections = sections, .keywords = keywords, .slots = slots,
	.check = log_profiles_resolve,
};
