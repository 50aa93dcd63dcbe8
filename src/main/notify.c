/* SPDX-License-Identifier: GPL-2.0-or-later */
/* notify.c - reports the state to the service manager: datagrams to $NOTIFY_SOCKET
 *
 * The protocol is sd_notify(3)'s, a few lines of text: no library is needed. With a watchdog
 * ($WATCHDOG_USEC) the loop reports that it runs, at half the interval allowed. With a descriptor
 * store ($FDSTORE: how many it keeps) the manager keeps the listening sockets over a restart.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/clock.h"
#include "net/descriptors.h"
#include "mode_priv.h"

/* The name of all sockets of ours in the manager's store. */
#define STORE_NAME "haproxy"

static struct {
	bool read;                   /* the environment was looked at */
	struct sockaddr_un address;  /* family AF_UNSPEC: there is no service manager */
	socklen_t len;
	uint64_t watchdog_ms;        /* 0: none */
	uint64_t said_ms;
	bool wanted;
} notify;

void notify_enable(void)
{
	notify.wanted = true;
}

/* "@name" is an abstract one. */
static void read_environment(void)
{
	const char *path = notify.wanted ? getenv("NOTIFY_SOCKET") : NULL;
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	size_t len = path ? strlen(path) : 0;

	notify.read = true;
	if (!len || len >= sizeof(notify.address.sun_path) || (*path != '/' && *path != '@'))
		return;
	notify.address.sun_family = AF_UNIX;
	memcpy(notify.address.sun_path, path, len);
	if (*path == '@')
		notify.address.sun_path[0] = '\0';
	notify.len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
	if (usec && (!pid || strtol(pid, NULL, 10) == getpid()))
		notify.watchdog_ms = strtoull(usec, NULL, 10) / 1000 / 2;
}

/* Sends a message, with descriptors or none (<count> 0). */
static void send_to_manager(const char *text, const int *fds, unsigned count)
{
	const struct timeval patience = { .tv_sec = 1 };
	int fd;

	if (!notify.read)
		read_environment();
	if (notify.address.sun_family != AF_UNIX)
		return;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	/* a manager that does not read does not hold us for ever */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&notify.address, notify.len) == 0)
		descriptors_send(fd, text, strlen(text), fds, count, 0);
	close(fd);
}

static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	send_to_manager(text, NULL, 0);
}

void notify_ready(const char *status, pid_t main_pid)
{
	if (main_pid)
		say("READY=1\nMAINPID=%d\nSTATUS=%s\n", (int)main_pid, status);
	else
		say("READY=1\nSTATUS=%s\n", status);
}

void notify_reloading(void)
{
	say("RELOADING=1\nSTATUS=Reloading Configuration.\nMONOTONIC_USEC=%llu\n",
	    (unsigned long long)(clock_read_ns() / 1000));
}

void notify_stopping(void)
{
	say("STOPPING=1");
}

unsigned notify_store_room(void)
{
	const char *room = getenv("FDSTORE");

	if (!notify.read)
		read_environment();
	if (notify.address.sun_family != AF_UNIX || !room)
		return 0;
	return (unsigned)strtoul(room, NULL, 10);
}

void notify_store(const int *fds, unsigned count)
{
	say("FDSTOREREMOVE=1\nFDNAME=%s", STORE_NAME);
	for (unsigned at = 0; at < count; at += DESCRIPTORS_MAX) {
		unsigned n = count - at < DESCRIPTORS_MAX ? count - at : DESCRIPTORS_MAX;

		send_to_manager("FDSTORE=1\nFDNAME=" STORE_NAME, fds + at, n);
	}
}

bool notify_is_stored(const char *name, size_t len)
{
	return len == sizeof(STORE_NAME) - 1 && memcmp(name, STORE_NAME, len) == 0;
}

void notify_alive(void)
{
	uint64_t now = clock_read_ns() / NS_PER_MS;

	if (!notify.watchdog_ms || now < notify.said_ms + notify.watchdog_ms)
		return;
	notify.said_ms = now;
	say("WATCHDOG=1");
}

int notify_wait_ms(void)
{
	uint64_t now = clock_read_ns() / NS_PER_MS, next = notify.said_ms + notify.watchdog_ms;

	if (!notify.read)
		read_environment();
	if (!notify.watchdog_ms)
		return -1;
	return next > now ? (int)(next - now) : 0;
}

void notify_forget(void)
{
	notify.read = true;
	notify.address.sun_family = AF_UNSPEC;
	notify.watchdog_ms = 0;
}
