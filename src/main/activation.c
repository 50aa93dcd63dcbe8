/* SPDX-License-Identifier: GPL-2.0-or-later */
/* activation.c - sockets that the service manager hands over: activation, and its store
 *
 * sd_listen_fds(3): $LISTEN_FDS descriptors start at 3, for process $LISTEN_PID; $LISTEN_FDNAMES
 * has their names. Sockets of a socket unit stay where they are, for `bind fd@3`. Sockets that we
 * have put into the manager's store ourselves (sd_pid_notify_with_fds(3), FDSTORE=1) have our name:
 * they are the listening sockets of the previous process. All are identified by their addresses.
 *
 * The store: while a process is replaced (`systemctl restart`), the manager's copies keep the
 * sockets alive. The kernel continues to complete handshakes, and the next process accepts.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/diag.h"
#include "front/listen.h"
#include "net/handoff.h"
#include "mode_priv.h"

#define FIRST_ACTIVATED 3 /* where the service manager puts its sockets */
#define STORE_MAX 4096    /* more than a manager keeps */

static struct {
	int *fds;             /* owned, and the descriptors: of the store; until a worker serves */
	unsigned count;
	bool is_full;         /* the manager keeps too few, which was said */
} given;

/* How many the manager has given to this process, or its master; 0: none. */
static int activated_count(bool to_master)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
	long owner = pid ? strtol(pid, NULL, 10) : 0, n = count ? strtol(count, NULL, 10) : 0;

	if (owner != getpid() && !(to_master && owner == getppid()))
		return 0;
	return n > 0 && n <= STORE_MAX ? (int)n : 0;
}

/* Moves <fd> behind <end>. Something else takes its place: the sequence has no holes that other
 * files fall into.
 */
static bool move_away(int fd, int end)
{
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, end), nothing;

	if (moved < 0)
		return false;
	nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (nothing < 0 || dup2(nothing, fd) < 0)
		close(fd);
	if (nothing >= 0)
		close(nothing);
	given.fds[given.count++] = moved;
	return true;
}

void activation_begin(void)
{
	const char *name = getenv("LISTEN_FDNAMES");
	int count = name ? activated_count(false) : 0;

	given.fds = count ? calloc((size_t)count, sizeof(*given.fds)) : NULL;
	for (int i = 0; given.fds && i < count; i++) {
		size_t len = strcspn(name, ":");

		if (notify_is_stored(name, len) &&
		    !move_away(FIRST_ACTIVATED + i, FIRST_ACTIVATED + count))
			break;
		name += len + (name[len] == ':');
	}
}

static void given_close(void)
{
	for (unsigned i = 0; i < given.count; i++)
		close(given.fds[i]);
	free(given.fds);
	given.fds = NULL;
	given.count = 0;
}

/* The process before has bound it to an interface, maybe: it is for a line that says the same. */
static void offer_stored(int fd)
{
	char interface[IF_NAMESIZE] = "";
	const struct socket_origin origin = { .interface = interface };
	socklen_t len = sizeof(interface);

	if (getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface, &len) < 0)
		interface[0] = '\0';
	socket_offer(fd, &origin);
}

void activation_offer(bool has_master)
{
	static const struct socket_origin none;
	int n = activated_count(has_master);

	for (int fd = FIRST_ACTIVATED; fd < FIRST_ACTIVATED + n; fd++) {
		int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0); /* `bind fd@3` may want it as well */

		if (copy >= 0)
			socket_offer(copy, &none);
	}
	for (unsigned i = 0; i < given.count; i++)
		offer_stored(given.fds[i]);
	/* a start that fails leaves them listening: the manager has them still */
	if (given.count)
		listen_set_taken();
	given.count = 0;
	given_close();
}

/* Has the manager store the sockets that are offered, as many as it keeps. */
static void store_offered(unsigned room)
{
	unsigned count = sockets_offered(NULL, 0);
	int *fds = calloc(count + 1, sizeof(*fds));

	if (!fds)
		return;
	sockets_offered(fds, count);
	if (count > room && !given.is_full) {
		diag_say(DIAG_WARNING, "The service manager keeps %u descriptors, of %u listening "
			 "sockets: set FileDescriptorStoreMax to more.", room, count);
		given.is_full = true;
	}
	notify_store(fds, count < room ? count : room);
	free(fds);
}

bool activation_is_stored(void)
{
	given_close();
	return notify_store_room() > 0;
}

void activation_store(int fd)
{
	char error[256] = "";

	if (fd < 0) {
		diag_say(DIAG_WARNING, "Failed to ask the worker for its sockets: %s.",
			 strerror(errno));
		return;
	}
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	if (sockets_fetch(fd, error, sizeof(error)))
		store_offered(notify_store_room());
	else
		diag_say(DIAG_WARNING, "Failed to get the worker's sockets: %s.", error);
	sockets_forget();
	close(fd);
}
