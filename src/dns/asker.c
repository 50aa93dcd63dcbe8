/* SPDX-License-Identifier: GPL-2.0-or-later */
/* asker.c - users of a name: they ask again and again on thread 0, or once from any thread
 *
 *	the asking thread                thread 0
 *	resolvers_ask_once()  --------->  known since `hold valid`? else asks, with others
 *	done()                <---------  an address, or none
 */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "conf/conf.h"
#include "core/mailbox.h"
#include "core/thread.h"
#include "dns_priv.h"

bool resolution_join(struct resolve_asker *a, struct resolvers *section, const char *name,
		     enum dns_type type)
{
	struct resolution *r;

	BUG_ON(a->resolution);
	r = section->state ? resolution_get(section->state, name, type) : NULL;
	if (!r)
		return false;
	a->resolution = r;
	list_append(&r->askers, &a->link);
	resolution_run(r);
	return true;
}

void resolution_leave(struct resolve_asker *a)
{
	struct resolution *r = a->resolution;

	if (!r)
		return;
	a->resolution = NULL;
	list_remove(&a->link);
	if (list_is_empty(&r->askers))
		resolution_unused(r);
}

void resolution_hurry(struct resolve_asker *a)
{
	if (a->resolution)
		resolution_run(a->resolution);
}

bool resolution_is_of(const struct resolution *r, const struct resolvers *section,
		      const char *name, enum dns_type type)
{
	return r->state == section->state && r->first == type && strcmp(r->name, name) == 0;
}

enum resolve_status resolution_status(const struct resolution *r)
{
	return r->status;
}

void resolution_source(const struct resolution *r, char *out, size_t size)
{
	if (r->source)
		snprintf(out, size, "%s/%s", r->state->name, r->source->name);
	else
		snprintf(out, size, "DNS cache");
}

void resolution_count_update(struct resolution *r)
{
	if (r->source)
		nameserver_count(r->source, RESOLVE_CNT_UPDATE);
}

bool resolution_is_lost(const struct resolution *r)
{
	return r->status != RESOLVE_VALID &&
	       (!r->valid_ms || r->valid_ms + (uint64_t)r->state->set.hold_ms[r->status] <
				clock_now_ms());
}

const struct list *resolution_items(const struct resolution *r)
{
	return &r->items;
}

const struct list *resolution_askers(const struct resolution *r)
{
	return &r->askers;
}

/* --- once ----------------------------------------------------------------------------------- */

struct resolve_query {
	struct message message;
	struct resolvers_state *state;  /* counted */
	struct resolve_asker asker;     /* thread 0's */
	unsigned thread;
	enum dns_type prefer;
	resolve_done_fn *done;          /* the asking thread's; NULL: forgotten */
	void *ctx;
	struct addr addr;
	char name[];
};

static void arrive_back(struct message *m)
{
	struct resolve_query *q = container_of(m, struct resolve_query, message);

	if (q->done)
		q->done(q->ctx, &q->addr);
	state_drop(&q->state);
	free(q);
}

static void go_back(struct resolve_query *q)
{
	q->message.run = arrive_back;
	mailbox_post(q->thread, &q->message);
}

/* The first address, which the next asker finds behind the others. */
static void take_address(struct resolution *r, struct addr *out)
{
	struct resolve_item *it;

	list_for_each(it, &r->items, link) {
		if (it->is_obsolete || it->addr.family == ADDR_NONE)
			continue;
		*out = it->addr;
		list_remove(&it->link);
		list_append(&r->items, &it->link);
		return;
	}
}

/* Its errors are held against the last valid answer as those of servers are. */
static void once_told(struct resolve_asker *a, enum resolve_round round)
{
	struct resolve_query *q = container_of(a, struct resolve_query, asker);
	struct resolution *r = a->resolution;

	if (!resolution_is_lost(r))
		take_address(r, &q->addr);
	resolution_leave(a);
	go_back(q);
}

static void once_arrives(struct message *m)
{
	struct resolve_query *q = container_of(m, struct resolve_query, message);
	struct resolution *r = resolution_get(q->state, q->name, q->prefer);

	if (!r) {
		go_back(q);
		return;
	}
	if (r->status == RESOLVE_VALID &&
	    r->valid_ms + (uint64_t)r->state->set.hold_ms[RESOLVE_VALID] > clock_now_ms()) {
		take_address(r, &q->addr);
		go_back(q);
		return;
	}
	q->asker.told = once_told;
	q->asker.resolution = r;
	list_append(&r->askers, &q->asker.link);
	resolution_run(r);
}

struct resolve_query *resolvers_ask_once(struct resolvers *section, struct slice name,
					 enum dns_type prefer, resolve_done_fn *done, void *ctx)
{
	struct resolve_query *q;

	if (name.len && name.ptr[name.len - 1] == '.')
		name.len--;
	if (!section->state || !dns_name_is_valid(name))
		return NULL;
	q = calloc(1, sizeof(*q) + name.len + 1);
	if (!q)
		return NULL;
	for (size_t i = 0; i < name.len; i++)
		q->name[i] = ascii_lower(name.ptr[i]);
	q->state = state_take(section->state);
	q->thread = thread_id;
	q->prefer = prefer;
	q->done = done;
	q->ctx = ctx;
	q->message.run = once_arrives;
	mailbox_post(0, &q->message);
	return q;
}

void resolve_forget(struct resolve_query **q)
{
	if (*q)
		(*q)->done = NULL;
	*q = NULL;
}
