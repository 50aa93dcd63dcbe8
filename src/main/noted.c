/* SPDX-License-Identifier: GPL-2.0-or-later */
/* noted.c - records what the reading of a configuration requests from the system */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/door.h"
#include "door_priv.h"

static struct {
	char **named;         /* a text for each question; sorted once all is read */
	size_t count, room;
	bool broken;          /* out of memory: some are missing */
	char *directory;      /* where relative names begin */
	bool make_none;       /* this process only looks */
} noted;

/* One text for a question; relative names are of the directory of the moment. NULL: no memory. */
static char *name_of(enum door_what what, int flags, unsigned mode, const char *text)
{
	bool is_path = what == DOOR_OPEN || what == DOOR_MAKE || what == DOOR_KIND ||
		       what == DOOR_LIST || what == DOOR_ENTER;
	bool is_relative = is_path && *text != '/';
	char *name = NULL;

	if (asprintf(&name, "%c%d,%o %s%s%s", what, flags, mode, is_relative ? noted.directory : "",
		     is_relative ? "/" : "", text) < 0)
		return NULL;
	return name;
}

static void note(enum door_what what, int flags, unsigned mode, const char *text)
{
	char *name = name_of(what, flags, mode, text);

	if (name && noted.count == noted.room) {
		size_t room = noted.room ? 2 * noted.room : 64;
		char **more = realloc(noted.named, room * sizeof(*more));

		if (more) {
			noted.named = more;
			noted.room = room;
		}
	}
	if (!name || noted.count == noted.room) {
		free(name);
		noted.broken = true;
		return;
	}
	noted.named[noted.count++] = name;
}

static int note_open(const char *path, int flags, mode_t mode)
{
	note(DOOR_OPEN, flags, 0, path);
	return door_of_kernel.open(path, flags, mode);
}

static int note_make(const char *path, mode_t mode)
{
	note(DOOR_MAKE, 0, mode, path);
	return noted.make_none ? memfd_create("made", MFD_CLOEXEC)
			       : door_of_kernel.make(path, mode);
}

static int note_kind(const char *path)
{
	note(DOOR_KIND, 0, 0, path);
	return door_of_kernel.kind(path);
}

static char *note_list(const char *path)
{
	note(DOOR_LIST, 0, 0, path);
	return door_of_kernel.list(path);
}

void noted_directory(const char *path)
{
	char *copy = path ? strdup(path) : NULL;

	if (!copy)
		return;
	free(noted.directory);
	noted.directory = copy;
}

static char *note_enter(const char *path)
{
	char *there;

	if (path)
		note(DOOR_ENTER, 0, 0, path);
	there = door_of_kernel.enter(path);
	noted_directory(there);
	return there;
}

static int note_user(const char *name, uid_t *uid)
{
	note(DOOR_USER, 0, 0, name);
	return door_of_kernel.user(name, uid);
}

static int note_group(const char *name, gid_t *gid)
{
	note(DOOR_GROUP, 0, 0, name);
	return door_of_kernel.group(name, gid);
}

static bool note_host(const char *name, int family, struct sockaddr_storage *out, socklen_t *len)
{
	note(DOOR_HOST, family, 0, name);
	return door_of_kernel.host(name, family, out, len);
}

static const struct door noting = {
	.open = note_open, .make = note_make, .kind = note_kind, .list = note_list,
	.enter = note_enter, .user = note_user, .group = note_group, .host = note_host,
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool noted_has(enum door_what what, int flags, unsigned mode, const char *text)
{
	char *name = name_of(what, flags, mode, text);
	bool found = name && !noted.broken &&
		     bsearch(&name, noted.named, noted.count, sizeof(name), by_text);

	free(name);
	return found;
}

bool noted_begin(bool make_none)
{
	noted.make_none = make_none;
	noted.directory = getcwd(NULL, 0);
	if (noted.directory)
		door_set(&noting);
	return noted.directory != NULL;
}

void noted_end(void)
{
	door_set(NULL);
	if (noted.count)
		qsort(noted.named, noted.count, sizeof(*noted.named), by_text);
}

/* A text is a letter, two numbers, a blank and the name. */
const char *noted_path(size_t n, enum door_what *what, int *flags)
{
	const char *blank = n < noted.count ? strchr(noted.named[n], ' ') : NULL;

	if (!blank)
		return NULL;
	*what = (enum door_what)noted.named[n][0];
	*flags = (int)strtol(noted.named[n] + 1, NULL, 10);
	return blank + 1;
}

void noted_fini(void)
{
	while (noted.count)
		free(noted.named[--noted.count]);
	free(noted.named);
	free(noted.directory);
	memset(&noted, 0, sizeof(noted));
}
