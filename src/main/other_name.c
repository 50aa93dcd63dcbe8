/* SPDX-License-Identifier: GPL-2.0-or-later */
/* other_name.c - the program called by another name is another tool */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/diag.h"
#include "options_priv.h"

bool other_name_enter(int *argc, char ***argv, int *status)
{
	static const struct {
		const char *name;
		bool (*enter)(int *argc, char ***argv, int *status);
	} tools[] = { { "haterm", haterm_enter }, { "haload", haload_enter } };
	const char *path = *argc > 0 ? (*argv)[0] : "", *slash = strrchr(path, '/');

	for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++)
		if (strcmp(slash ? slash + 1 : path, tools[i].name) == 0)
			return tools[i].enter(argc, argv, status);
	return true;
}

bool memory_file(struct slice text, const char *name, char *path, size_t size)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0 || write(fd, text.ptr, text.len) != (ssize_t)text.len) {
		diag_say(DIAG_ALERT, "%s: cannot make a file in memory.", name);
		return false;
	}
	snprintf(path, size, "/proc/self/fd/%d", fd);
	return true;
}
