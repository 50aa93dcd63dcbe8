/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listen_state.c - starting, pausing, resuming and stopping the sockets of frontends */
#include <sys/socket.h>
#include "conf/conf.h"
#include "core/lock.h"
#include "core/thread.h"
#include "net/handoff.h"
#include "net/listener.h"
#include "net/netns.h"
#include "proxy/proxy.h"
#include "listen_priv.h"

static unsigned opened_guard; /* lock of listener_conf.opened */

void listen_opened_lock(void)
{
	lock_take(&opened_guard);
}

void listen_opened_unlock(void)
{
	lock_drop(&opened_guard);
}

/* Calls <fn> for all addresses of a frontend; false when it failed for one. */
static bool listen_each_of(struct proxy *fe, listen_each_fn *fn)
{
	struct bind_conf *b;
	struct listener_conf *l;
	bool ok = true;

	listen_opened_lock();
	list_for_each(b, &fe->binds, link)
		list_for_each(l, &b->listeners, link)
			ok = fn(l) && ok;
	listen_opened_unlock();
	return ok;
}

bool listen_each(const struct config *cfg, listen_each_fn *fn)
{
	bool ok = true;

	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		ok = listen_each_of(px, fn) && ok;
	return ok;
}

static bool start_one(struct listener_conf *l)
{
	struct opened *o = l->opened;

	if (l->reverse)
		listen_start_reverse(l);
	if (o && o->count && listen_reads(l, thread_id, o->count))
		listener_start_thread(o->sockets[listen_shard_of_thread(l, o->count)]);
	return true;
}

void listen_start_thread(struct config *cfg)
{
	listen_each(cfg, start_one);
}

unsigned listen_collect(const struct config *cfg, int *sockets, struct socket_origin *origins,
			unsigned max)
{
	struct listener_conf *l;
	struct bind_conf *b;
	unsigned n = 0;

	listen_opened_lock();
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		list_for_each(b, &px->binds, link)
			list_for_each(l, &b->listeners, link) {
				/* (each process has sockets of datagrams of its own) */
				const struct opened *o = l->is_quic ? NULL : l->opened;

				for (unsigned i = 0; o && i < o->count; i++, n++) {
					if (n >= max)
						continue;
					sockets[n] = listener_fd(o->sockets[i]);
					origins[n].netns = netns_name(b->netns);
					origins[n].interface = b->interface;
				}
			}
	listen_opened_unlock();
	return n < max || !max ? n : max;
}

int listen_descriptor(const struct listener_conf *l)
{
	const struct opened *o;
	int fd = -1;

	listen_opened_lock();
	o = l->is_quic ? NULL : l->opened;
	if (o && o->count)
		fd = listener_fd(o->sockets[listen_shard_of_thread(l, o->count)]);
	listen_opened_unlock();
	return fd;
}

/* Accepts again, unless it is still held for another reason. */
static bool resume_one(struct listener_conf *l)
{
	struct opened *o = l->opened;

	for (unsigned i = 0; o && i < o->count && !listen_is_held(l->bind->proxy); i++)
		listener_resume(o->sockets[i]);
	return true;
}

void listen_retry_all(struct config *cfg)
{
	listen_each(cfg, resume_one);
}

static bool look_again_one(struct listener_conf *l)
{
	struct opened *o = l->opened;

	for (unsigned i = 0; o && i < o->count; i++)
		listener_look_again(o->sockets[i]);
	return true;
}

void listen_look_again_all(struct config *cfg)
{
	listen_each(cfg, look_again_one);
}

bool listen_pause_one(struct listener_conf *l)
{
	struct opened *o = l->opened;

	for (unsigned i = 0; o && i < o->count; i++) {
		listener_pause(o->sockets[i]);
		if (listen_can_release(l) && i >= o->lent)
			listen_release_port(listener_fd(o->sockets[i]));
	}
	return true;
}

/* Takes back the port and accepts. False: another process has it now. */
static bool reopen_one(struct listener_conf *l)
{
	struct opened *o = l->opened;
	bool ok = true;

	if (listen_is_held(l->bind->proxy))
		return true;
	for (unsigned i = 0; o && i < o->count; i++) {
		if (!listen_can_release(l) || listen(listener_fd(o->sockets[i]), o->backlog) == 0)
			listener_resume(o->sockets[i]);
		else
			ok = false;
	}
	return ok;
}

static bool end_one(struct listener_conf *l)
{
	__atomic_store_n(&l->is_left, 1, __ATOMIC_RELAXED);
	listen_close_sockets(l);
	return true;
}

/* Clients in a backlog connected before the stop: closing the last socket would reset it; another
 * process that has the socket would not hear of a client that the kernel has told us of.
 */
static bool stop_one(struct listener_conf *l)
{
	struct opened *o = l->opened;

	__atomic_store_n(&l->is_left, 1, __ATOMIC_RELAXED);
	while (o && o->count)
		listener_drain(&o->sockets[--o->count]);
	listen_close_sockets(l);
	return true;
}

void listen_stop_all(struct config *cfg)
{
	listen_each(cfg, stop_one);
}

void listen_end_all(struct config *cfg)
{
	listen_each(cfg, end_one);
}

void listen_pause_all(struct config *cfg)
{
	listen_suspend(true);
	listen_each(cfg, listen_pause_one);
}

void listen_resume_all(struct config *cfg)
{
	listen_suspend(false);
	listen_each(cfg, reopen_one);
}

/* What the Runtime API wants of one frontend. */
static bool change_frontend(struct proxy *fe, int what)
{
	return listen_each_of(fe, what == 0 ? stop_one : what == 1 ? listen_pause_one : reopen_one);
}

static void change_limit(struct proxy *fe)
{
	listen_each_of(fe, resume_one);
}

void listen_init(void)
{
	proxy_set_listen_hook(change_frontend);
	proxy_set_limit_hook(change_limit);
}

unsigned listen_count(const struct config *cfg)
{
	unsigned n = 0;

	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		struct bind_conf *b;
		struct listener_conf *l;

		list_for_each(b, &px->binds, link)
			list_for_each(l, &b->listeners, link)
				n += !px->disabled;
	}
	return n;
}
