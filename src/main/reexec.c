/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reexec.c - what the master hands to itself over an exec(): a text in the environment, with the
 * numbers of the descriptors that stay open
 *
 *	HAPROXY_PROCESSES=|type=m;fd=4;pid=12;...|type=w;fd=8;pid=13;...|type=s;fd=5;level=2
 *
 * m is the master itself, w a worker, s a listening descriptor of -S. Signals are blocked while the
 * master runs and stay so over the exec: those that arrive meanwhile are read by the next program.
 * The descriptors of signals and of the first directory are passed on, too, so that a program that
 * can open no descriptor continues with the workers that it has.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/list.h"
#include "base/strbuf.h"
#include "master_priv.h"
#include "mode_priv.h"

#define STATE_VARIABLE "HAPROXY_PROCESSES"
#define REEXEC_VARIABLE "HAPROXY_MWORKER_REEXEC"

/* --- writing ---------------------------------------------------------------------------------- */

/* Calls <fn> for each descriptor that survives. */
static void each_descriptor(const struct master_kept *k, void (*fn)(int fd))
{
	const struct worker_process *w;
	enum ctl_level level;
	int fd;

	fn(k->home);
	fn(k->signals);
	fn(k->client);
	list_for_each(w, &k->workers, link)
		fn(w->channel);
	for (unsigned n = 0; (fd = master_socket_get(n, &level)) >= 0; n++)
		fn(fd);
}

static void keep_open(int fd)
{
	if (fd >= 0)
		fcntl(fd, F_SETFD, 0);
}

static void close_on_exec(int fd)
{
	if (fd >= 0)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* The text; NULL: no memory. */
static char *write_text(const struct master_kept *k)
{
	const struct worker_process *w;
	enum ctl_level level;
	struct strbuf b;
	int fd;

	strbuf_init(&b);
	strbuf_printf(&b, "|type=m;cfd=%d;dirfd=%d;sigfd=%d;pid=%d;reloads=%u;failedreloads=%u;"
		      "timestamp=%lld;hard=%d", k->client, k->home, k->signals, (int)getpid(),
		      k->status.reloads + 1, k->status.failed, (long long)k->status.since_s,
		      k->hard);
	list_for_each(w, &k->workers, link)
		strbuf_printf(&b, "|type=w;fd=%d;pid=%d;reloads=%u;timestamp=%lld;leaving=%d;"
			      "version=%s", w->channel, (int)w->pid, w->reloads + 1,
			      (long long)w->since_s, w->leaving, w->version);
	for (unsigned n = 0; (fd = master_socket_get(n, &level)) >= 0; n++)
		strbuf_printf(&b, "|type=s;fd=%d;level=%d", fd, level);
	strbuf_add_str(&b, "");
	return b.overflow ? NULL : b.ptr;
}

bool reexec_prepare(const struct master_kept *k)
{
	char *text = write_text(k);
	bool good = text && setenv(STATE_VARIABLE, text, 1) == 0 &&
		    setenv(REEXEC_VARIABLE, "1", 1) == 0;

	free(text);
	if (good)
		each_descriptor(k, keep_open);
	return good;
}

void reexec_undo(const struct master_kept *k)
{
	each_descriptor(k, close_on_exec);
	unsetenv(STATE_VARIABLE);
	unsetenv(REEXEC_VARIABLE);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* The value of "name=" in one record, or "". */
static const char *field(const char *record, const char *name)
{
	size_t len = strlen(name);

	while (*record && *record != '|') {
		if (strncmp(record, name, len) == 0 && record[len] == '=')
			return record + len + 1;
		record += strcspn(record, ";|");
		record += *record == ';';
	}
	return "";
}

static long number(const char *record, const char *name)
{
	return strtol(field(record, name), NULL, 10);
}

/* -1: it is not told, or not open. */
static int descriptor(const char *record, const char *name)
{
	int fd = *field(record, name) ? (int)number(record, name) : -1;

	if (fd >= 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return -1;
	return fd;
}

static void read_worker(struct master_kept *k, const char *record)
{
	struct worker_process *w = worker_process_new((pid_t)number(record, "pid"),
					      descriptor(record, "fd"));
	const char *version = field(record, "version");

	if (!w)
		return;
	list_append(&k->workers, &w->link);
	w->reloads = (unsigned)number(record, "reloads");
	w->since_s = number(record, "timestamp");
	w->ready = true;
	w->leaving = number(record, "leaving") != 0;
	snprintf(w->version, sizeof(w->version), "%.*s", (int)strcspn(version, ";|"), version);
}

static void read_master(struct master_kept *k, const char *record)
{
	int log = descriptor(record, "fd"); /* the startup log of the program before */

	if (log >= 0)
		close(log);
	k->client = descriptor(record, "cfd");
	k->home = descriptor(record, "dirfd");
	k->signals = descriptor(record, "sigfd");
	k->status.reloads = (unsigned)number(record, "reloads");
	k->status.failed = (unsigned)number(record, "failedreloads");
	k->status.since_s = number(record, "timestamp");
	k->hard = number(record, "hard") != 0;
}

static void read_record(struct master_kept *k, const char *record)
{
	switch (record[strlen("type=")]) {
	case 'm':
		read_master(k, record);
		break;
	case 'w':
		read_worker(k, record);
		break;
	case 's':
		master_socket_listen(descriptor(record, "fd"),
				  (enum ctl_level)number(record, "level"));
		break;
	default:
		break;
	}
}

/* The text that was found in the environment, before it was cleaned. */
static char *recalled;
static bool is_back;

void master_recall(void)
{
	const char *text = getenv(STATE_VARIABLE);

	if (getenv(REEXEC_VARIABLE) && text)
		recalled = strdup(text);
	is_back = recalled != NULL;
	unsetenv(STATE_VARIABLE);
	unsetenv(REEXEC_VARIABLE);
}

bool master_is_back(void)
{
	return is_back;
}

bool reexec_read(struct master_kept *k)
{
	const char *at = recalled;

	if (!at)
		return false;
	for (at = strchr(at, '|'); at; at = strchr(at + 1, '|'))
		if (strncmp(at + 1, "type=", 5) == 0)
			read_record(k, at + 1);
	free(recalled);
	recalled = NULL;
	return true;
}
