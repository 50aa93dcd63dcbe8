/* SPDX-License-Identifier: GPL-2.0-or-later */
/* path.c - default-path: where relative file names start (manual 3.1)
 *
 * While a file is read the process is in that directory, and it returns after the file. For files
 * opened later there is conf_path(), which has the absolute name of the same directory.
 */
#include <stdlib.h>
#include <string.h>
#include "base/door.h"
#include "conf_priv.h"

const char *conf_path(struct config *cfg, const char *path)
{
	if (!cfg->state->base || path[0] == '/')
		return path;
	return arena_printf(&cfg->arena, "%s/%s", cfg->state->base, path);
}

/* Where the names of <file> start, as a name relative to home; to be free()d. NULL: no memory. */
static char *wanted_directory(const struct conf_state *s, const char *file)
{
	const char *slash = strrchr(file, '/');
	struct strbuf b;

	if (s->path_mode == PATH_ORIGIN)
		return strdup(s->origin);
	strbuf_init(&b);
	if (slash)
		strbuf_add(&b, slice_make(file, (size_t)(slash - file) + 1));
	else
		strbuf_add_str(&b, s->path_mode == PATH_PARENT ? "" : ".");
	if (s->path_mode == PATH_PARENT)
		strbuf_add_str(&b, "..");
	return b.ptr;
}

static bool go_home(struct conf_state *s)
{
	char *name = s->away ? door_enter(NULL) : NULL;
	bool there = name || !s->away;

	free(name);
	s->away = s->away && !there;
	return there;
}

bool conf_path_enter(struct config *cfg, const char *file)
{
	struct conf_state *s = cfg->state;
	char *directory, *name;

	if (s->path_mode == PATH_CURRENT)
		return true;
	if (!go_home(s))
		return false;
	directory = wanted_directory(s, file);
	name = directory ? door_enter(directory) : NULL;
	free(directory);
	if (!name)
		return false;
	s->away = true;
	free(s->base);
	s->base = name;
	return true;
}

void conf_path_leave(struct config *cfg)
{
	struct conf_state *s = cfg->state;

	/* going back fails only if it is forbidden meanwhile */
	if (!go_home(s))
		s->path_mode = PATH_CURRENT;
}

bool conf_path_set(struct config *cfg, enum conf_path_mode mode, const char *origin)
{
	struct conf_state *s = cfg->state;
	char *copy = NULL;

	if (mode == PATH_ORIGIN) {
		copy = strdup(origin);
		if (!copy)
			return false;
	}
	free(s->origin);
	s->origin = copy;
	s->path_mode = mode;
	if (mode == PATH_CURRENT) {
		free(s->base);
		s->base = NULL;
		return go_home(s);
	}
	return conf_path_enter(cfg, s->file ? s->file : "");
}
