/* SPDX-License-Identifier: GPL-2.0-or-later */
/* handoff.c - listening sockets that another process has opened */
#include "net/handoff.h"
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "net/descriptors.h"

#define BATCH 252
#define NAME_MAX_LEN 255
#define SEND_MS 1000
#define PATIENCE_S 5

struct offer {
	struct offer *next;
	int fd;
	struct sockaddr_storage addr;
	socklen_t len;
	char *netns, *interface; /* owned; NULL: none */
};

static struct offer *offers;

/* --- offers ----------------------------------------------------------------------------------- */

static void offer_free(struct offer *o)
{
	free(o->netns);
	free(o->interface);
	free(o);
}

/* A path was bound as "<path>.<pid>.tmp", then renamed. */
static void cut_temporary(struct sockaddr_un *un, socklen_t *len)
{
	size_t end = strnlen(un->sun_path, sizeof(un->sun_path));
	size_t at = end;

	if (end < 6 || strncmp(un->sun_path + end - 4, ".tmp", 4) != 0)
		return;
	at -= 4;
	while (at && un->sun_path[at - 1] >= '0' && un->sun_path[at - 1] <= '9')
		at--;
	if (at < 2 || at == end - 4 || un->sun_path[at - 1] != '.')
		return;
	memset(un->sun_path + at - 1, 0, sizeof(un->sun_path) - (at - 1));
	*len = sizeof(*un);
}

static bool is_listening(int fd)
{
	socklen_t len = sizeof(int);
	int yes = 0;

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &len) == 0 && yes;
}

static char *copy(const char *text)
{
	return text && *text ? strdup(text) : NULL;
}

bool socket_offer(int fd, const struct socket_origin *origin)
{
	struct offer *o = calloc(1, sizeof(*o));
	struct sockaddr_un *un;

	if (!o || !is_listening(fd)) {
		free(o);
		close(fd);
		return false;
	}
	o->fd = fd;
	o->len = sizeof(o->addr);
	getsockname(fd, (struct sockaddr *)&o->addr, &o->len);
	un = (struct sockaddr_un *)&o->addr;
	if (un->sun_family == AF_UNIX && un->sun_path[0])
		cut_temporary(un, &o->len);
	o->netns = copy(origin->netns);
	o->interface = copy(origin->interface);
	o->next = offers;
	offers = o;
	return true;
}

static bool is_same_name(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool is_same_address(const struct offer *o, const struct sockaddr_storage *addr,
			    socklen_t len)
{
	const struct sockaddr_un *a = (const struct sockaddr_un *)&o->addr;
	const struct sockaddr_un *b = (const struct sockaddr_un *)addr;

	if (o->addr.ss_family != addr->ss_family)
		return false;
	if (addr->ss_family == AF_UNIX && b->sun_path[0])
		return strncmp(a->sun_path, b->sun_path, sizeof(a->sun_path)) == 0;
	return o->len == len && memcmp(&o->addr, addr, len) == 0;
}

/* Has the path been removed (a service manager removes a unit's runtime folder)? Then no client
 * comes by that socket any longer.
 */
static bool is_path_gone(const struct sockaddr_storage *addr)
{
	const struct sockaddr_un *un = (const struct sockaddr_un *)addr;
	struct stat st;

	if (addr->ss_family != AF_UNIX || !un->sun_path[0])
		return false;
	return stat(un->sun_path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR);
}

int socket_take_offer(const struct sockaddr_storage *addr, socklen_t len,
		      const struct socket_origin *origin)
{
	if (is_path_gone(addr))
		return -1;
	for (struct offer **at = &offers; *at; at = &(*at)->next) {
		struct offer *o = *at;
		int fd = o->fd;

		if (!is_same_address(o, addr, len) || !is_same_name(o->netns, origin->netns) ||
		    !is_same_name(o->interface, origin->interface))
			continue;
		*at = o->next;
		offer_free(o);
		return fd;
	}
	return -1;
}

unsigned sockets_offered(int *fds, unsigned max)
{
	unsigned count = 0;

	for (const struct offer *o = offers; o; o = o->next) {
		if (o->netns)
			continue;
		if (count < max)
			fds[count] = o->fd;
		count++;
	}
	return count;
}

void sockets_forget(void)
{
	while (offers) {
		struct offer *o = offers;

		offers = o->next;
		close(o->fd);
		offer_free(o);
	}
}

/* --- receiving -------------------------------------------------------------------------------- */

static bool fail(char *error, size_t size, const char *what)
{
	snprintf(error, size, "%s", what);
	return false;
}

/* A name behind its length; false: it is cut. */
static bool take_name(const char **at, const char *end, char *name)
{
	size_t len = *at < end ? (uint8_t)**at : 0;

	if (*at >= end || (size_t)(end - *at) < 1 + len)
		return false;
	memcpy(name, *at + 1, len);
	name[len] = '\0';
	*at += 1 + len;
	return true;
}

/* Offers the descriptors of one batch; closes those that nothing is said of. */
static bool offer_batch(const int *fds, unsigned count, const char *at, const char *end)
{
	char netns[NAME_MAX_LEN + 1], interface[NAME_MAX_LEN + 1];
	struct socket_origin origin = { .netns = netns, .interface = interface };
	bool good = true;

	for (unsigned i = 0; i < count; i++) {
		good = good && take_name(&at, end, netns) && take_name(&at, end, interface) &&
		       end - at >= (ptrdiff_t)sizeof(int32_t);
		if (!good) {
			close(fds[i]);
			continue;
		}
		at += sizeof(int32_t);
		socket_offer(fds[i], &origin);
	}
	return good;
}

bool sockets_fetch(int fd, char *error, size_t size)
{
	static const char question[] = "_getsocks\n", confirm[4];
	int fds[DESCRIPTORS_MAX];
	struct descriptors_message m = {
		.size = DESCRIPTORS_MAX * (2 * (NAME_MAX_LEN + 1) + sizeof(int32_t)),
		.fds = fds, .room = DESCRIPTORS_MAX,
	};
	struct timeval patience = { .tv_sec = PATIENCE_S };
	bool good;
	int32_t left = 0;

	/* the old process may be one that hangs */
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (send(fd, question, sizeof(question) - 1, MSG_NOSIGNAL) < 0 ||
	    recv(fd, &left, sizeof(left), MSG_WAITALL) != sizeof(left))
		return fail(error, size, "it does not answer");
	m.data = malloc(m.size);
	good = m.data != NULL;
	while (good && left > 0) {
		ssize_t got = descriptors_receive(fd, &m, 0);
		const char *text = m.data;

		good = got > 0 && m.count && offer_batch(fds, m.count, text, text + got) &&
		       send(fd, confirm, sizeof(confirm), MSG_NOSIGNAL) == sizeof(confirm);
		left -= (int32_t)m.count;
	}
	free(m.data);
	return good || fail(error, size, "its answer is cut");
}

bool sockets_fetch_from(const char *path, char *error, size_t size)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	bool good;
	int fd;

	if (strlen(path) >= sizeof(un.sun_path))
		return fail(error, size, "its path is too long");
	strcpy(un.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&un, sizeof(un)) < 0) {
		fail(error, size, strerror(errno));
		if (fd >= 0)
			close(fd);
		return false;
	}
	good = sockets_fetch(fd, error, size);
	close(fd);
	return good;
}

/* --- sending ---------------------------------------------------------------------------------- */

static size_t put_name(char *at, const char *name)
{
	size_t len = name ? strnlen(name, NAME_MAX_LEN) : 0;

	*at = (char)len;
	if (len)
		memcpy(at + 1, name, len);
	return len + 1;
}

static bool wait_for(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, SEND_MS) == 1 && p.revents & events;
}

static bool send_batch(int fd, const int *sockets, const struct socket_origin *origins,
		       unsigned count)
{
	char *text = calloc(BATCH, 2 * (NAME_MAX_LEN + 1) + sizeof(int32_t));
	size_t len = 0;
	char confirm[4];
	bool good;

	for (unsigned i = 0; text && i < count; i++) {
		len += put_name(text + len, origins[i].netns);
		len += put_name(text + len, origins[i].interface);
		len += sizeof(int32_t);
	}
	good = text && wait_for(fd, POLLOUT) &&
	       descriptors_send(fd, text, len, sockets, count, 0) == (ssize_t)len &&
	       wait_for(fd, POLLIN) &&
	       recv(fd, confirm, sizeof(confirm), MSG_DONTWAIT) == sizeof(confirm);
	free(text);
	return good;
}

bool sockets_send(int fd, const int *sockets, const struct socket_origin *origins, unsigned count)
{
	int32_t number = (int32_t)count;

	if (send(fd, &number, sizeof(number), MSG_NOSIGNAL) != sizeof(number))
		return false;
	for (unsigned at = 0; at < count; at += BATCH) {
		unsigned n = count - at < BATCH ? count - at : BATCH;

		if (!send_batch(fd, sockets + at, origins + at, n))
			return false;
	}
	return true;
}
