/* SPDX-License-Identifier: GPL-2.0-or-later */
/* path.c - default-path: where relative file names start (manual 3.1)
 *
 * While a file is read the process stands in that directory, and it comes back behind the file.
 * What is opened later has conf_path(), which knows the same directory by its absolute name.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
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

/* Opens the directory to come back to, once. */
static bool remember_home(struct conf_state *s)
{
	if (s->home < 0)
		s->home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return s->home >= 0;
}

static bool go_home(struct conf_state *s)
{
	return s->home < 0 || fchdir(s->home) == 0;
}

bool conf_path_enter(struct config *cfg, const char *file)
{
	struct conf_state *s = cfg->state;
	char name[PATH_MAX], *directory;
	bool there;

	if (s->path_mode == PATH_CURRENT)
		return true;
	if (!remember_home(s) || !go_home(s))
		return false;
	directory = wanted_directory(s, file);
	there = directory && chdir(directory) == 0 && getcwd(name, sizeof(name));
	free(directory);
	if (!there)
		return false;
	free(s->base);
	s->base = strdup(name);
	return s->base != NULL;
}

void conf_path_leave(struct config *cfg)
{
	struct conf_state *s = cfg->state;

	if (s->home < 0)
		return;
	/* it was opened from where we stood: going back fails only if it is forbidden meanwhile */
	if (!go_home(s))
		s->path_mode = PATH_CURRENT;
	close(s->home);
	s->home = -1;
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
