/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peers_listen.c - listening for peers: one socket per section, accepted on its home */
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include "ext/peers.h"
#include "front/listen.h"
#include "net/listener.h"
#include "peers_priv.h"

/* Guards the listeners, between threads that accept and that close. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void section_accept(void *owner, int fd, const struct addr *src)
{
	peers_link_accept(owner, fd);
}

static bool section_may_accept(void *owner, unsigned *wait_ms)
{
	return true;
}

static void section_give_back(void *owner)
{
}

static bool section_uses_thread(void *owner, unsigned thread)
{
	return ((struct peers_conf *)owner)->run->home == thread;
}

static const char *section_name(void *owner)
{
	return ((struct peers_conf *)owner)->proxy->name;
}

static const struct listener_user user = {
	.accept = section_accept, .may_accept = section_may_accept,
	.give_back = section_give_back, .uses_thread = section_uses_thread, .name = section_name,
};

/* The socket of the same address of <prev>, borrowed; -1: none. */
static int find_before(const struct listener_conf *a, const struct config *prev)
{
	struct peers_conf *c = prev ? peers_config_of(prev)->first : NULL;

	for (; c; c = c->next) {
		const struct listener_conf *b = c->listener ? peers_listens_at(c) : NULL;

		if (b && a->address_len == b->address_len &&
		    memcmp(&a->address, &b->address, a->address_len) == 0)
			return listener_fd(c->listener);
	}
	return -1;
}

static bool open_one(struct peers_conf *c, const struct config *prev, struct diag_list *diags)
{
	const struct listener_conf *a = peers_listens_at(c);
	char error[256];
	int fd;

	if (!a || !c->run)
		return true;
	fd = listen_plain_open(a, find_before(a, prev), false, 0, error, sizeof(error));
	c->listener = fd < 0 ? NULL : listener_new(fd, &user, c, 4);
	if (fd >= 0 && !c->listener)
		close(fd);
	return c->listener || listen_report(diags, a, error);
}

unsigned peers_count_listeners(const struct config *cfg)
{
	unsigned count = 0;

	for (struct peers_conf *c = peers_config_of(cfg)->first; c; c = c->next)
		count += c->has_local && !c->disabled && peers_listens_at(c);
	return count;
}

unsigned peers_count(const struct config *cfg)
{
	unsigned count = 0;

	for (struct peers_conf *c = peers_config_of(cfg)->first; c; c = c->next)
		for (struct list *l = c->proxy->servers.next; l != &c->proxy->servers; l = l->next)
			count += !c->disabled;
	return count;
}

bool peers_listen_open(struct config *cfg, const struct config *prev, struct diag_list *diags)
{
	bool good = true;

	for (struct peers_conf *c = peers_config_of(cfg)->first; c; c = c->next)
		good &= open_one(c, prev, diags);
	return good;
}

void peers_listen_start(const struct peers_conf *c)
{
	pthread_mutex_lock(&lock);
	if (c->listener)
		listener_start_thread(c->listener);
	pthread_mutex_unlock(&lock);
}

void peers_listen_close(struct peers_conf *c)
{
	struct listener *l;

	pthread_mutex_lock(&lock);
	l = c->listener;
	c->listener = NULL;
	pthread_mutex_unlock(&lock);
	listener_close(&l);
}
