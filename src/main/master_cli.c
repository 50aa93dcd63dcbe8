/* SPDX-License-Identifier: GPL-2.0-or-later */
/* master_cli.c - the master's socket: its clients, and data between them and the workers */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/list.h"
#include "base/strbuf.h"
#include "master_cli_priv.h"
#include "master_priv.h"

#define ACCEPT_PAUSE_MS 100
#define OUTPUT_SOFT 65536

static struct list clients = LIST_HEAD(clients);
/* Nothing is accepted before: the process had no descriptor left. */
static uint64_t accept_again_ns;

static void client_free(struct master_client *c)
{
	list_remove(&c->link);
	if (c->fd >= 0)
		close(c->fd);
	if (c->worker >= 0)
		close(c->worker);
	strbuf_fini(&c->up);
	strbuf_fini(&c->in);
	strbuf_fini(&c->out);
	free(c);
}

void master_cli_fini(void)
{
	while (!list_is_empty(&clients))
		client_free(list_first(&clients, struct master_client, link));
	master_sockets_close();
}

/* --- input and output ------------------------------------------------------------------------- */

/* Reads what is there into <b>; false: the other side has ended. */
static bool receive(int fd, struct strbuf *b)
{
	char room[16384];
	ssize_t got = recv(fd, room, sizeof(room), MSG_DONTWAIT);

	if (got > 0)
		strbuf_add(b, slice_make(room, (size_t)got));
	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

enum sent { SENT_ALL, SENT_PART, SENT_BROKEN };

/* Sends <b> from *at on, and empties it when all was sent. */
static enum sent send_from(int fd, struct strbuf *b, size_t *at)
{
	ssize_t n = b->len ? send(fd, b->ptr + *at, b->len - *at, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return SENT_BROKEN;
	if (n > 0)
		*at += (size_t)n;
	if (*at < b->len)
		return SENT_PART;
	strbuf_reset(b);
	*at = 0;
	return SENT_ALL;
}

/* What the worker says; its connection ends behind the answer. */
static void from_worker(struct master_client *c)
{
	if (receive(c->worker, &c->out))
		return;
	close(c->worker);
	c->worker = -1;
	c->raw = false;
	strbuf_reset(&c->up);
	master_client_answered(c);
}

static void to_worker(struct master_client *c)
{
	if (c->raw && c->in.len) {
		strbuf_add(&c->up, strbuf_slice(&c->in));
		strbuf_reset(&c->in);
	}
	/* broken: its end is read */
	if (send_from(c->worker, &c->up, &c->up_sent) == SENT_PART)
		return;
	if (!c->told && (!c->raw || c->eof)) {
		shutdown(c->worker, SHUT_WR);
		c->told = true;
	}
}

/* How much of what a client sends is kept before it is used. */
static size_t room(const struct master_client *c)
{
	return MASTER_LINE_MAX + (c->in_payload ? MASTER_PAYLOAD_MAX : 0);
}

/* Moves a client as far as it goes. May free it. */
static void drive(struct master_client *c)
{
	bool good = true;

	if (c->seen & (POLLIN | POLLHUP | POLLERR) && !c->eof)
		c->eof = !receive(c->fd, &c->in);
	do {
		if (c->worker >= 0)
			to_worker(c);
	} while (c->worker < 0 && !c->quit && c->out.len < OUTPUT_SOFT && master_client_step(c));
	if (c->fd >= 0)
		good = send_from(c->fd, &c->out, &c->out_sent) != SENT_BROKEN;
	if (!good || c->fd < 0 || (!c->out.len && c->worker < 0 && (c->quit || c->eof)))
		client_free(c);
}

/* Takes over <fd>. NULL: no memory, it was closed. */
static struct master_client *client_new(int fd, enum ctl_level level)
{
	struct master_client *c = calloc(1, sizeof(*c));

	if (!c) {
		close(fd);
		return NULL;
	}
	c->fd = fd;
	c->worker = -1;
	c->level = level;
	strbuf_init(&c->up);
	strbuf_init(&c->in);
	strbuf_init(&c->out);
	list_append(&clients, &c->link);
	return c;
}

void master_cli_answer(int fd, struct slice text)
{
	struct master_client *c = client_new(fd, CTL_USER);

	if (!c)
		return;
	c->eof = c->quit = true;
	strbuf_add(&c->out, text);
	drive(c);
}

static void accept_client(int fd, enum ctl_level level)
{
	int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (client >= 0)
		client_new(client, level);
	else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
		accept_again_ns = clock_read_ns() + ACCEPT_PAUSE_MS * NS_PER_MS;
}

int master_cli_wait_ms(void)
{
	uint64_t now = clock_read_ns();

	return accept_again_ns > now ? (int)((accept_again_ns - now) / NS_PER_MS) + 1 : -1;
}

static short wanted_of(bool in, bool out)
{
	return (short)((in ? POLLIN : 0) | (out ? POLLOUT : 0));
}

unsigned master_cli_poll(struct pollfd *fds, unsigned max)
{
	struct master_client *c;
	enum ctl_level level;
	unsigned n = 0;
	int fd;

	for (unsigned i = 0; n < max && master_cli_wait_ms() < 0 &&
	     (fd = master_socket_get(i, &level)) >= 0; i++)
		fds[n++] = (struct pollfd){ .fd = fd, .events = POLLIN };
	list_for_each(c, &clients, link) {
		if (n + 2 > max)
			break;
		c->wanted = wanted_of(!c->eof && c->in.len + c->up.len < room(c), c->out.len);
		c->seen = 0;
		fds[n++] = (struct pollfd){ .fd = c->wanted ? c->fd : -1, .events = c->wanted };
		if (c->worker < 0)
			continue;
		fds[n].events = wanted_of(c->out.len < OUTPUT_SOFT, c->up.len);
		fds[n].fd = fds[n].events ? c->worker : -1;
		n++;
	}
	return n;
}

static void handle_one(const struct pollfd *p)
{
	struct master_client *c, *next;
	enum ctl_level level;
	int fd;

	for (unsigned i = 0; (fd = master_socket_get(i, &level)) >= 0; i++) {
		if (fd == p->fd) {
			accept_client(fd, level);
			return;
		}
	}
	list_for_each_safe(c, next, &clients, link) {
		if (c->fd == p->fd) {
			c->seen = p->revents;
			drive(c);
			return;
		}
		if (c->worker == p->fd) {
			if (p->revents & (POLLIN | POLLHUP | POLLERR))
				from_worker(c);
			c->seen = 0;
			drive(c);
			return;
		}
	}
}

void master_cli_handle(const struct pollfd *fds, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (fds[i].fd >= 0 && fds[i].revents)
			handle_one(&fds[i]);
}
