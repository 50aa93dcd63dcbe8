/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state.c - the state of a section at run time: its life and its current settings
 *
 * Created when a generation begins, or taken over from the section of the same name: name servers
 * that are in both keep their counters and sockets. Thread 0 frees it, whichever thread drops it
 * last.
 */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "core/mailbox.h"
#include "core/thread.h"
#include "dns_priv.h"

static struct list all = LIST_HEAD(all); /* struct shelf: thread 0's */

/* A state with what is needed to free it on its thread. */
struct shelf {
	struct resolvers_state state; /* first */
	struct list link;
	struct message message;
};

struct resolvers_state *state_new(const char *name)
{
	struct shelf *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->state.refs = 1;
	s->state.name = strdup(name);
	if (!s->state.name) {
		free(s);
		return NULL;
	}
	list_init(&s->state.servers);
	for (unsigned i = 0; i < BUCKETS; i++) {
		list_init(&s->state.by_name[i]);
		list_init(&s->state.by_id[i]);
	}
	list_append(&all, &s->link);
	return &s->state;
}

/* Sockets, timers, and names without an asker. */
static void state_clear(struct resolvers_state *st)
{
	struct resolution *r, *next;

	for (unsigned i = 0; i < BUCKETS; i++)
		list_for_each_safe(r, next, &st->by_name[i], link)
			if (list_is_empty(&r->askers))
				resolution_free(r);
	while (!list_is_empty(&st->servers))
		nameserver_free(list_first(&st->servers, struct nameserver, link));
}

static void state_free(struct message *m)
{
	struct shelf *s = container_of(m, struct shelf, message);

	state_clear(&s->state);
	list_remove(&s->link);
	free(s->state.name);
	free(s);
}

void resolvers_stop(void)
{
	struct shelf *s;

	list_for_each(s, &all, link)
		state_clear(&s->state);
}

struct resolvers_state *state_take(struct resolvers_state *st)
{
	__atomic_add_fetch(&st->refs, 1, __ATOMIC_RELAXED);
	return st;
}

void state_drop(struct resolvers_state **pst)
{
	struct resolvers_state *st = *pst;
	struct shelf *s = (struct shelf *)st;

	*pst = NULL;
	if (!st || __atomic_sub_fetch(&st->refs, 1, __ATOMIC_ACQ_REL))
		return;
	s->message.run = state_free;
	if (thread_id)
		mailbox_post(0, &s->message);
	else
		state_free(&s->message);
}

/* --- settings ------------------------------------------------------------------------------- */

static struct nameserver *server_twin(struct resolvers_state *st, const struct nameserver_conf *c)
{
	struct nameserver *ns;

	list_for_each(ns, &st->servers, link)
		if (ns->is_stale && nameserver_is(ns, c))
			return ns;
	return NULL;
}

/* The lowest number that no other has. */
static unsigned free_bit(const struct resolvers_state *st)
{
	const struct nameserver *ns;
	uint64_t used = 0;

	list_for_each(ns, &st->servers, link)
		used |= 1ull << ns->bit;
	return (unsigned)__builtin_ctzll(~used);
}

static void drop_stale(struct resolvers_state *st)
{
	struct nameserver *ns, *next;

	list_for_each_safe(ns, next, &st->servers, link)
		if (ns->is_stale)
			nameserver_free(ns);
}

bool state_configure(struct resolvers_state *st, struct resolvers *conf)
{
	struct list kept;
	struct nameserver *ns;

	list_init(&kept);
	st->set = conf->set;
	list_for_each(ns, &st->servers, link)
		ns->is_stale = true;
	for (struct nameserver_conf *c = conf->servers; c; c = c->next) {
		ns = server_twin(st, c);
		if (!ns)
			continue;
		ns->is_stale = false;
		ns->links_max = c->links_max;
	}
	drop_stale(st);
	list_for_each(ns, &st->servers, link)
		ns->is_stale = true;
	/* in the order of the section */
	for (struct nameserver_conf *c = conf->servers; c; c = c->next) {
		ns = server_twin(st, c);
		if (!ns) {
			ns = nameserver_new(st, c);
			if (!ns)
				return false;
			ns->bit = free_bit(st);
			ns->links_max = c->links_max;
		}
		ns->is_stale = false;
		list_remove(&ns->link);
		list_append(&st->servers, &ns->link);
		figures_share(c, ns);
	}
	return true;
}
