/* SPDX-License-Identifier: GPL-2.0-or-later */
/* texts.c - the files that a configuration is read from */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "base/door.h"
#include "base/file.h"
#include "conf_priv.h"

#define FILE_MAX ((size_t)1 << 30)

void conf_texts_fini(struct conf_texts *t)
{
	for (int i = 0; i < t->count; i++) {
		free(t->all[i].name);
		free(t->all[i].bytes);
	}
	free(t->all);
}

bool conf_texts_add(struct conf_texts *t, const char *name, char *bytes, size_t len)
{
	char *copy = strdup(name);

	if (t->count == t->room && copy) {
		int room = t->room * 2 + 8;
		struct conf_text *all = realloc(t->all, (size_t)room * sizeof(*all));

		if (all) {
			t->all = all;
			t->room = room;
		}
	}
	if (!copy || t->count == t->room) {
		free(copy);
		free(bytes);
		return false;
	}
	t->all[t->count++] = (struct conf_text){ .name = copy, .bytes = bytes, .len = len };
	return true;
}

void conf_texts_load_file(struct conf_texts *t, const char *path, struct diag_list *diags)
{
	size_t len = 0;
	char *bytes = strcmp(path, "-") == 0 ? file_read_all(0, FILE_MAX, &len)
					     : file_load(path, FILE_MAX, &len);

	if (!bytes) {
		diag_add(diags, DIAG_ALERT, NULL, NULL, "Could not open configuration file %s : %s",
			 path, strerror(errno));
		return;
	}
	if (!conf_texts_add(t, path, bytes, len))
		diag_add(diags, DIAG_ALERT, NULL, NULL, "out of memory reading %s", path);
}

static bool is_cfg(const char *name)
{
	size_t len = strlen(name);

	return len > 4 && strcmp(name + len - 4, ".cfg") == 0;
}

/* Its *.cfg that are files, in the order of their bytes whatever the locale. */
static void load_directory(struct conf_texts *t, const char *path, struct diag_list *diags)
{
	char *names = door_list(path);

	if (!names) {
		diag_add(diags, DIAG_ALERT, NULL, NULL,
			 "Cannot open configuration directory %s : %s", path, strerror(errno));
		return;
	}
	for (const char *at = names; *at; at += strlen(at) + 1) {
		struct strbuf name;

		if (!is_cfg(at))
			continue;
		strbuf_init(&name);
		strbuf_printf(&name, "%s/%s", path, at);
		if (!name.ptr)
			diag_add(diags, DIAG_ALERT, NULL, NULL, "out of memory reading %s", path);
		else if (door_kind(name.ptr) == DOOR_REGULAR)
			conf_texts_load_file(t, name.ptr, diags);
		strbuf_fini(&name);
	}
	free(names);
}

void conf_texts_load(struct conf_texts *t, const char *path, struct diag_list *diags)
{
	int kind = strcmp(path, "-") == 0 ? DOOR_OTHER : door_kind(path);

	if (kind < 0)
		diag_add(diags, DIAG_ALERT, NULL, NULL,
			 "Cannot open configuration file/directory %s : %s", path, strerror(errno));
	else if (kind == DOOR_DIRECTORY)
		load_directory(t, path, diags);
	else
		conf_texts_load_file(t, path, diags);
}

/* --- includes ---------------------------------------------------------------------------- */

/* False: errno says why. */
static bool include_one(struct conf_texts *t, const char *path)
{
	size_t len = 0;
	char *bytes = file_load(path, FILE_MAX, &len);

	if (bytes && conf_texts_add(t, path, bytes, len))
		return true;
	if (bytes)
		errno = ENOMEM;
	return false;
}

/* All files of <directory> that match; door_list() gives them in the order of their bytes. */
static bool include_matching(struct conf_texts *t, const char *directory, const char *pattern)
{
	char *names = door_list(*directory ? directory : ".");
	bool good = names != NULL;

	for (const char *at = names; good && *at; at += strlen(at) + 1) {
		struct strbuf path;

		if (fnmatch(pattern, at, FNM_PERIOD) != 0)
			continue;
		strbuf_init(&path);
		good = strbuf_printf(&path, "%s%s", directory, at);
		if (good && door_kind(path.ptr) == DOOR_REGULAR)
			good = include_one(t, path.ptr);
		strbuf_fini(&path);
	}
	free(names);
	return good;
}

/* Cuts <path> behind its last slash: what stands before becomes <directory>. */
static const char *cut_directory(const char *path, struct strbuf *directory)
{
	const char *slash = strrchr(path, '/');

	strbuf_add(directory, slice_make(path, slash ? (size_t)(slash - path) + 1 : 0));
	return slash ? slash + 1 : path;
}

bool conf_texts_include(struct conf_texts *t, const char *from, const char *pattern,
			bool optional)
{
	struct strbuf directory;
	const char *name;
	bool good;

	strbuf_init(&directory);
	strbuf_add_str(&directory, "");
	if (pattern[0] != '/')
		cut_directory(from, &directory);
	name = cut_directory(pattern, &directory);
	if (strpbrk(name, "*?[")) {
		good = include_matching(t, directory.ptr, name);
	} else {
		strbuf_add_str(&directory, name);
		good = include_one(t, directory.ptr);
	}
	strbuf_fini(&directory);
	return good || (optional && (errno == ENOENT || errno == ENOTDIR));
}
