/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env.c - the environment of a generation */
#include <stdlib.h>
#include <string.h>
#include "conf_priv.h"

extern char **environ;

/* The process's environment as it was at start-up: what every generation starts from. */
static char **initial;

static void free_all(char **env)
{
	for (char **e = env; e && *e; e++)
		free(*e);
	free(env);
}

/* A deep copy; <count> and <room> may be NULL. */
static char **copy_all(char *const *from, int *count)
{
	int n = 0;
	char **to;

	while (from && from[n])
		n++;
	to = calloc((size_t)n + 1, sizeof(*to));
	if (!to)
		return NULL;
	for (int i = 0; i < n; i++) {
		to[i] = strdup(from[i]);
		if (!to[i]) {
			free_all(to);
			return NULL;
		}
	}
	if (count)
		*count = n;
	return to;
}

bool conf_env_remember(void)
{
	char **copy = copy_all(environ, NULL);

	if (!copy)
		return false;
	free_all(initial);
	initial = copy;
	return true;
}

bool conf_env_init(struct conf_state *s)
{
	s->env = copy_all(initial ? initial : environ, &s->env_count);
	s->env_room = s->env_count + 1;
	return s->env != NULL;
}

void conf_env_fini(struct conf_state *s)
{
	free_all(s->env);
	s->env = NULL;
}

/* Its index, or -1. */
static int env_find(const struct conf_state *s, const char *name, size_t len)
{
	for (int i = 0; i < s->env_count; i++)
		if (strncmp(s->env[i], name, len) == 0 && s->env[i][len] == '=')
			return i;
	return -1;
}

const char *conf_env_get(const struct conf_state *s, const char *name, size_t len)
{
	int i = env_find(s, name, len);

	return i < 0 ? NULL : s->env[i] + len + 1;
}

const char *conf_getenv(const struct config *cfg, const char *name)
{
	return conf_env_get(cfg->state, name, strlen(name));
}

/* The name behind a dollar at <text>, whose length goes to <len>; *end gets what follows it, the
 * brace included. NULL: the dollar stands for itself.
 */
static const char *variable_at(const char *text, size_t *len, const char **end)
{
	bool brace = text[1] == '{';
	const char *name = text + 1 + brace;

	*len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	if (!*len || ascii_is_digit(*name) || (brace && name[*len] != '}'))
		return NULL;
	*end = name + *len + brace;
	return name;
}

const char *conf_expand(struct config *cfg, const char *text)
{
	const char *name, *value, *end, *result;
	struct strbuf b;
	size_t len;

	if (!strchr(text, '$'))
		return text;
	strbuf_init(&b);
	while (*text) {
		name = *text == '$' ? variable_at(text, &len, &end) : NULL;
		if (!name) {
			strbuf_add_char(&b, *text++);
			continue;
		}
		value = conf_env_get(cfg->state, name, len);
		strbuf_add_str(&b, value ? value : "");
		text = end;
	}
	strbuf_add_str(&b, "");
	result = b.overflow || !b.ptr ? NULL : conf_strdup(cfg, b.ptr);
	strbuf_fini(&b);
	return result;
}

static bool name_is_valid(const char *name)
{
	return *name && !strchr(name, '=');
}

bool conf_setenv(struct config *cfg, const char *name, const char *value, bool overwrite)
{
	struct conf_state *s = cfg->state;
	size_t name_len = strlen(name), value_len = strlen(value);
	int i = env_find(s, name, name_len);
	char *entry;

	if (!name_is_valid(name))
		return false;
	if (i >= 0 && !overwrite)
		return true;
	if (i < 0 && s->env_count + 1 >= s->env_room) {
		int room = s->env_room * 2 + 8;
		char **env = realloc(s->env, (size_t)room * sizeof(*env));

		if (!env)
			return false;
		s->env = env;
		s->env_room = room;
	}
	entry = malloc(name_len + value_len + 2);
	if (!entry)
		return false;
	memcpy(entry, name, name_len);
	entry[name_len] = '=';
	memcpy(entry + name_len + 1, value, value_len + 1);
	if (i >= 0) {
		free(s->env[i]);
		s->env[i] = entry;
		return true;
	}
	s->env[s->env_count++] = entry;
	s->env[s->env_count] = NULL;
	return true;
}

bool conf_unsetenv(struct config *cfg, const char *name)
{
	struct conf_state *s = cfg->state;
	int i = env_find(s, name, strlen(name));

	if (!name_is_valid(name))
		return false;
	if (i < 0)
		return true;
	free(s->env[i]);
	memmove(s->env + i, s->env + i + 1, (size_t)(s->env_count - i) * sizeof(*s->env));
	s->env_count--;
	return true;
}

bool conf_env_apply(const struct config *cfg)
{
	if (clearenv())
		return false;
	for (char *const *e = cfg->state->env; *e; e++) {
		const char *equal = strchr(*e, '=');
		char *name = equal ? strndup(*e, (size_t)(equal - *e)) : NULL;
		bool done = !equal || (name && setenv(name, equal + 1, 1) == 0);

		free(name);
		if (!done)
			return false;
	}
	return true;
}
