/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listen_generation.c - listening sockets from one configuration, or process, to the next */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "base/diag.h"
#include "conf/conf.h"
#include "net/listener.h"
#include "net/socket.h"
#include "proxy/proxy.h"
#include "listen_priv.h"

static unsigned handed_out; /* atomic: to another process */
static bool taken;          /* from one; set at the start */

static bool choose_none(struct listener_conf *l)
{
	if (l->opened)
		((struct opened *)l->opened)->chosen = false;
	return true;
}

/* Would both be the same socket? The backlog can be changed while it listens. */
static bool is_same_socket(const struct listener_conf *l, const struct listener_conf *was)
{
	struct socket_settings a, b;

	if (l->inherited_fd != was->inherited_fd || l->is_quic != was->is_quic ||
	    l->address_len != was->address_len ||
	    memcmp(&l->address, &was->address, l->address_len) != 0)
		return false;
	listen_settings(l->bind, &a);
	listen_settings(was->bind, &b);
	return socket_settings_are_equal(&a, &b);
}

/* One knows less of it; the last one frees it. Under the lock. */
static void opened_drop(struct opened **po)
{
	struct opened *o = *po;

	*po = NULL;
	if (!o || --o->refs)
		return;
	if (o->donor && !--o->donor->refs)
		free(o->donor); /* it is published: it has none itself */
	free(o);
}

/* The sockets of <prev>, not chosen yet, that <l> would open; NULL: none. */
static struct opened *find_donor(const struct listener_conf *l, const struct config *prev)
{
	struct listener_conf *was;
	struct bind_conf *b;

	for (struct proxy *px = proxies_first(prev); px; px = proxy_next(px))
		list_for_each(b, &px->binds, link)
			list_for_each(was, &b->listeners, link) {
				struct opened *o = was->opened;

				if (o && !o->chosen && is_same_socket(l, was))
					return o;
			}
	return NULL;
}

bool listen_can_release(const struct listener_conf *l)
{
	return l->inherited_fd < 0 && l->address.ss_family != AF_UNIX && !l->is_quic;
}

static bool is_handed_out(void)
{
	return __atomic_load_n(&handed_out, __ATOMIC_RELAXED);
}

/* Not twice: the kernel would take the second for the end of all connections to come. */
void listen_release_port(int fd)
{
	socklen_t len = sizeof(int);
	int listening = 0;

	if (is_handed_out())
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) == 0 && listening)
		shutdown(fd, SHUT_RD);
}

void listen_close_sockets(struct listener_conf *l)
{
	struct opened *o = l->opened;

	for (unsigned i = 0; o && i < o->count; i++) {
		/* the descriptor goes when every thread has left it, the port now; but a process
		 * that gave us its sockets may be there and go on with them
		 */
		if (listen_can_release(l) && i >= o->lent && !taken)
			listen_release_port(listener_fd(o->sockets[i]));
		listener_close(&o->sockets[i]);
	}
	opened_drop((struct opened **)&l->opened);
}

/* All sockets of the address or none, so that it may be tried again. In the background of a reload
 * (<prev>), while threads may close what is shared.
 */
static bool open_whole(struct listener_conf *l, const struct config *prev, struct diag_list *diags)
{
	struct opened *donor = NULL;
	bool good;

	if (prev) {
		listen_opened_lock();
		donor = find_donor(l, prev);
		if (donor)
			donor->refs++;
		listen_opened_unlock();
	}
	good = listen_open_one(l, donor, diags);
	if (good && donor)
		donor->chosen = true;
	if (good)
		return true;
	listen_opened_lock();
	if (!l->opened)
		opened_drop(&donor);
	listen_close_sockets(l);
	listen_opened_unlock();
	return false;
}

bool listen_open_all(struct config *cfg, const struct config *prev, struct diag_list *diags)
{
	bool ok = true;

	if (prev)
		listen_each(prev, choose_none);
	if (!listen_limits_init())
		return false;
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		struct bind_conf *b;
		struct listener_conf *l;

		if (px->disabled)
			continue;
		list_for_each(b, &px->binds, link)
			list_for_each(l, &b->listeners, link)
				ok = (l->opened || l->reverse ||
				      open_whole(l, prev, diags)) && ok;
	}
	return ok;
}

void listen_set_handed_out(void)
{
	__atomic_store_n(&handed_out, 1, __ATOMIC_RELAXED);
}

void listen_set_taken(void)
{
	taken = true;
}

bool listen_is_taken(void)
{
	return taken;
}

static bool abandon_one(struct listener_conf *l)
{
	listen_close_sockets(l);
	return true;
}

void listen_abandon_all(struct config *cfg)
{
	listen_each(cfg, abandon_one);
}

static bool inherit_one(struct listener_conf *l)
{
	struct opened *o = l->opened;

	if (!o)
		return true;
	if (o->donor) {
		for (unsigned i = 0; i < o->lent && o->backlog != o->donor->backlog; i++)
			listen(listener_fd(o->sockets[i]), o->backlog);
		o->donor->lent = o->lent;
		opened_drop(&o->donor);
		o->lent = 0;
	}
	if (listen_is_held(l->bind->proxy))
		listen_pause_one(l);
	return true;
}

void listen_inherit_all(struct config *cfg)
{
	listen_each(cfg, inherit_one);
}

static bool leave_one(struct listener_conf *l)
{
	struct opened *o = l->opened;

	__atomic_store_n(&l->is_left, 1, __ATOMIC_RELAXED);

	/* shared ones too: the kernel may have told only this process of a client */
	for (unsigned i = 0; o && i < o->count; i++)
		listener_drain(&o->sockets[i]);
	opened_drop((struct opened **)&l->opened);
	return true;
}

void listen_leave_all(struct config *prev)
{
	listen_each(prev, leave_one);
}
