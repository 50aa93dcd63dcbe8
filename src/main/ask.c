/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ask.c - --ask: a client of the Runtime API, for health checks where no other tool is at hand */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/diag.h"
#include "options_priv.h"

#define PATIENCE_S 3
#define PATIENCE_RELOAD_S 300 /* a large configuration is read meanwhile */

static bool is_reload(const char *command)
{
	return strcmp(command, "reload") == 0 || strcmp(command, "hard-reload") == 0;
}

static int connect_to(const char *path, int seconds)
{
	struct timeval patience = { .tv_sec = seconds };
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(un.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(un.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&un, sizeof(un)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* What to do about it. */
static const char *why_not(int error)
{
	if (error == ENOENT)
		return " The socket is the one of 'stats socket <path> level admin' in the "
		       "'global' section of what runs.";
	if (error == ECONNREFUSED)
		return " The process that made it has ended.";
	return "";
}

int ask_run(const char *path, const char *command, FILE *out)
{
	static const char failed[] = "Success=0";
	int fd = connect_to(path, is_reload(command) ? PATIENCE_RELOAD_S : PATIENCE_S);
	char text[4096], begin[sizeof(failed)] = "";
	size_t total = 0;
	ssize_t got = -1;

	if (fd < 0) {
		diag_say(DIAG_ALERT, "Cannot connect to '%s': %s.%s", path, strerror(errno),
			 why_not(errno));
		return 1;
	}
	if (send(fd, command, strlen(command), MSG_NOSIGNAL) >= 0 &&
	    send(fd, "\n", 1, MSG_NOSIGNAL) == 1 && shutdown(fd, SHUT_WR) == 0) {
		while ((got = recv(fd, text, sizeof(text), 0)) > 0) {
			fwrite(text, 1, (size_t)got, out);
			for (ssize_t i = 0; i < got && total + (size_t)i < strlen(failed); i++)
				begin[total + (size_t)i] = text[i];
			total += (size_t)got;
		}
	}
	close(fd);
	if (got == 0 && total)
		return is_reload(command) && strcmp(begin, failed) == 0;
	diag_say(DIAG_ALERT, "'%s' does not answer.", path);
	return 1;
}
