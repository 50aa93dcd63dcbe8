/* SPDX-License-Identifier: GPL-2.0-or-later */
/* netns.c - network namespaces that the configuration names */
#include "net/netns.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/bug.h"
#include "base/file.h"
#include "base/module.h"
#include "conf/conf.h"

struct netns {
	struct netns *next;
	const char *name;  /* in the generation's arena */
	int fd;            /* owned */
};

static void netns_fini(void *data)
{
	for (struct netns *ns = *(struct netns **)data; ns; ns = ns->next)
		close(ns->fd);
}

/* The first of the generation's. */
static struct slot netns_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct netns *), .fini = netns_fini,
};
static struct slot *const slots[] = { &netns_slot, NULL };

/* Where this process is: the way back. Opened with the first one, never closed; atomic. */
static int home = -1;

static bool open_home(void)
{
	int none = -1, fd;

	if (netns_is_used())
		return true;
	fd = file_open("/proc/thread-self/ns/net", O_RDONLY, 0);
	if (fd < 0)
		return false;
	if (!__atomic_compare_exchange_n(&home, &none, fd, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		close(fd);
	return true;
}

bool netns_is_used(void)
{
	return __atomic_load_n(&home, __ATOMIC_ACQUIRE) >= 0;
}

const struct netns *netns_open(struct config *cfg, const char *name)
{
	struct netns **first = slot_of(&netns_slot, config_slots(cfg)), *ns;
	char path[256];

	for (ns = *first; ns; ns = ns->next)
		if (strcmp(ns->name, name) == 0)
			return ns;
	if (snprintf(path, sizeof(path), "/var/run/netns/%s", name) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	ns = open_home() ? arena_zalloc(config_lasting(cfg), sizeof(*ns)) : NULL;
	if (!ns)
		return NULL;
	ns->name = arena_printf(config_lasting(cfg), "%s", name);
	ns->fd = ns->name ? file_open(path, O_RDONLY, 0) : -1;
	if (ns->fd < 0)
		return NULL;
	ns->next = *first;
	*first = ns;
	return ns;
}

const char *netns_name(const struct netns *ns)
{
	return ns ? ns->name : NULL;
}

int netns_socket(const struct netns *ns, int family, int type)
{
	int fd, saved;

	if (!ns)
		return socket(family, type, 0);
	if (setns(ns->fd, CLONE_NEWNET) < 0)
		return -1;
	fd = socket(family, type, 0);
	saved = errno;
	/* what else this thread opens would be there, too */
	BUG_ON(setns(home, CLONE_NEWNET) < 0);
	errno = saved;
	return fd;
}

const struct module mod_netns = { .name = "netns", .slots = slots };
