/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env_conf.c - edge file: section `global` and its keywords that steer the reading itself:
 * environment, exposure of directives, default-path (manual 3, 3.1). Exports mod_conf.
 */
#include <errno.h>
#include <string.h>
#include "conf_priv.h"

/* Takes NAME VALUE of setenv and presetenv. */
static bool set_variable(struct conf_line *l, bool overwrite)
{
	const char *name = conf_next(l), *value;

	if (!name)
		return conf_error(l, l->count, NULL, "'%s' expects environment variable name.",
				  l->keyword->words);
	value = conf_next(l);
	if (!value)
		return conf_error(l, l->count, NULL,
				  "'%s' expects environment variable value for '%s'.",
				  l->keyword->words, name);
	if (!conf_take_end(l))
		return false;
	if (strchr(name, '='))
		return conf_error(l, 1, NULL, "'%s' failed on variable '%s' : %s.",
				  l->keyword->words, name, strerror(EINVAL));
	if (!conf_setenv(l->cfg, name, value, overwrite))
		return conf_error(l, 1, NULL, "'%s' failed on variable '%s' : %s.",
				  l->keyword->words, name, strerror(ENOMEM));
	return true;
}

static bool parse_setenv(struct conf_line *l)
{
	return set_variable(l, true);
}

static bool parse_presetenv(struct conf_line *l)
{
	return set_variable(l, false);
}

static bool parse_unsetenv(struct conf_line *l)
{
	const char *name;
	bool done = true;

	if (!conf_peek(l))
		return conf_error(l, l->count, NULL,
				  "'unsetenv' expects at least one variable name.");
	while ((name = conf_next(l)) != NULL) {
		if (!conf_unsetenv(l->cfg, name))
			done = conf_error(l, l->at - 1, NULL,
					  "'unsetenv' failed on variable '%s' : %s.", name,
					  strerror(EINVAL));
	}
	return done;
}

/* Is the entry "NAME=value" one of the names to keep? */
static bool is_kept(const struct conf_line *l, const char *entry)
{
	size_t len = strcspn(entry, "=");

	for (int i = 1; i < l->count; i++)
		if (strlen(l->words[i]) == len && strncmp(l->words[i], entry, len) == 0)
			return true;
	return false;
}

static bool parse_resetenv(struct conf_line *l)
{
	struct conf_state *s = l->cfg->state;
	int at = 0;

	while (at < s->env_count) {
		char *name, *equal;

		if (is_kept(l, s->env[at])) {
			at++;
			continue;
		}
		name = s->env[at];
		equal = strchr(name, '=');
		if (!equal || equal == name) {
			at++; /* not a variable at all, out of reach of names */
			continue;
		}
		name = conf_strdup(l->cfg, name);
		if (!name)
			return conf_error(l, 0, NULL, "out of memory");
		name[equal - s->env[at]] = '\0';
		conf_unsetenv(l->cfg, name);
	}
	return true;
}

static bool parse_expose_experimental(struct conf_line *l)
{
	l->cfg->state->experimental = true;
	return true;
}

static bool parse_expose_deprecated(struct conf_line *l)
{
	l->cfg->state->deprecated = true;
	return true;
}

static const char *const path_modes[] = {
	[PATH_CURRENT] = "current",
	[PATH_CONFIG] = "config",
	[PATH_PARENT] = "parent",
	[PATH_ORIGIN] = "origin",
};

static bool parse_default_path(struct conf_line *l)
{
	const char *word = conf_next(l), *origin = NULL;
	int mode = PATH_CURRENT;

	while (word && mode <= PATH_ORIGIN && strcmp(word, path_modes[mode]) != 0)
		mode++;
	if (!word || mode > PATH_ORIGIN)
		return conf_error(l, 1, NULL, "%s default-path mode '%s' for"
				  " 'default-path', supported modes include 'current', 'config',"
				  " 'parent', and 'origin'.",
				  word ? "unsupported" : "missing", word ? word : "");
	if (mode == PATH_ORIGIN) {
		origin = conf_next(l);
		if (!origin)
			return conf_error(l, l->count, NULL, "'default-path origin' expects a"
					  " directory as an argument.");
	}
	if (!conf_take_end(l))
		return false;
	if (!conf_path_set(l->cfg, (enum conf_path_mode)mode, origin))
		return conf_error(l, 1, NULL, "couldn't set 'default-path' to %s '%s': %s.", word,
				  origin ? origin : "", strerror(errno));
	return true;
}

static bool open_global(struct conf_line *l)
{
	l->slots = config_slots(l->cfg);
	if (l->cfg->state->past_global)
		conf_report(l, 0, DIAG_DIAG, DIAG_PARSING,
			    "global section behind others: which of their settings it still "
			    "changes depends on the setting.");
	return conf_take_end(l);
}

static const struct conf_section sections[] = {
	{ .name = "global", .where = CONF_GLOBAL, .open = open_global,
	  .help = "settings of the whole process" },
	{ 0 }
};

static const struct conf_keyword keywords[] = {
	{ .words = "setenv", .where = CONF_GLOBAL, .flags = CONF_EARLY, .max_args = -1,
	  .parse = parse_setenv, .syntax = "<name> <value>",
	  .help = "set an environment variable, for the lines that follow too" },
	{ .words = "presetenv", .where = CONF_GLOBAL, .flags = CONF_EARLY, .max_args = -1,
	  .parse = parse_presetenv, .syntax = "<name> <value>",
	  .help = "set an environment variable unless it exists" },
	{ .words = "unsetenv", .where = CONF_GLOBAL, .flags = CONF_EARLY, .max_args = -1,
	  .parse = parse_unsetenv, .syntax = "<name>...", .help = "remove environment variables" },
	{ .words = "resetenv", .where = CONF_GLOBAL, .flags = CONF_EARLY, .max_args = -1,
	  .parse = parse_resetenv, .syntax = "[<name>...]",
	  .help = "remove all environment variables except those named" },
	{ .words = "expose-experimental-directives", .where = CONF_GLOBAL,
	  .parse = parse_expose_experimental,
	  .help = "allow directives that may change or go without notice" },
	{ .words = "expose-deprecated-directives", .where = CONF_GLOBAL,
	  .parse = parse_expose_deprecated,
	  .help = "do not warn about deprecated directives that have no replacement" },
	{ .words = "default-path", .where = CONF_GLOBAL, .max_args = -1,
	  .parse = parse_default_path, .syntax = "{ current | config | parent | origin <path> }",
	  .help = "the directory from which relative file names start" },
	{ 0 }
};

const struct module mod_conf = { .name = "conf", .sections = sections, .keywords = keywords };
