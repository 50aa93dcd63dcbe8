/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peers_tables.c - shared tables: numbers of changes, the log, and each peer's progress */
#include <stdlib.h>
#include <string.h>
#include "core/task.h"
#include "peers_priv.h"

/* Changes that wait for the slowest peer, and of those a table's part: they hold entries. */
#define LOG_MAX 65536
#define LOG_FIRST 64

/* --- what a table is like, as told to others -------------------------------------------------- */

static uint8_t key_type(const struct table_shape *s)
{
	static const uint8_t types[TABLE_TYPES] = {
		[TABLE_IPV4] = PEERS_KEY_IPV4, [TABLE_IPV6] = PEERS_KEY_IPV6,
		[TABLE_INTEGER] = PEERS_KEY_INTEGER, [TABLE_STRING] = PEERS_KEY_STRING,
		[TABLE_BINARY] = PEERS_KEY_BINARY,
	};

	return types[s->type];
}

static void define(struct shared_table *s)
{
	const struct table_shape *shape = table_state_shape(s->state);
	struct peers_table *d = &s->definition;

	d->name = slice_of(s->name);
	d->type = key_type(shape);
	d->key_len = shape->key_len + (shape->type == TABLE_STRING);
	d->expire_ms = s->table->limits.expire_ms;
	d->data = 0;
	/* what stands behind these data has no number in the protocol */
	for (unsigned i = 0; i < PEERS_DATA_COUNT; i++) {
		d->cells[i] = shape->count[i];
		d->period_ms[i] = shape->period_ms[i];
		if (shape->count[i])
			d->data |= UINT64_C(1) << i;
	}
}

/* --- the log ---------------------------------------------------------------------------------- */

/* Forgets the changes before <n>. */
static void log_forget(struct shared_table *s, uint32_t n)
{
	while (s->count && (int32_t)(s->first - n) < 0) {
		table_drop(shared_log_at(s, s->first));
		s->first++;
		s->count--;
	}
}

static bool log_grow(struct shared_table *s)
{
	uint32_t room = s->room ? s->room * 2 : LOG_FIRST;
	struct table_entry **log = calloc(room, sizeof(struct table_entry *));

	if (!log)
		return false;
	for (uint32_t n = s->first; n != s->first + s->count; n++)
		log[n & (room - 1)] = shared_log_at(s, n);
	free(s->log);
	s->log = log;
	s->room = room;
	return true;
}

/* Of a small table no more than a half is held. */
static uint32_t log_max(const struct shared_table *s)
{
	uint32_t half = s->table->limits.size / 2;

	return half > LOG_MAX ? LOG_MAX : half;
}

/* A peer that was not sent what is forgotten here walks the table. */
static void log_add(struct shared_table *s, struct table_entry *e)
{
	if (s->count >= log_max(s))
		log_forget(s, s->first + s->count / 2 + 1);
	if (s->count == s->room && !log_grow(s)) {
		log_forget(s, s->number);
		s->first = s->number + 1;
		table_drop(e);
		return;
	}
	if (!s->count)
		s->first = s->number;
	s->log[s->number & (s->room - 1)] = e;
	s->count++;
}

struct taking {
	struct shared_table *shared;
	bool wanted; /* a peer is connected */
};

static void take(void *ctx, struct table_entry *e)
{
	struct taking *t = ctx;

	table_stamp_set(e, ++t->shared->number);
	if (t->wanted)
		log_add(t->shared, e);
	else
		table_drop(e);
}

static bool anybody_is_up(const struct peers *p)
{
	struct peers_link *l;

	list_for_each(l, &p->links, link)
		if (l->state == LINK_UP)
			return true;
	return false;
}

void peers_tables_take(struct peers *p)
{
	struct taking t = { .wanted = anybody_is_up(p) };
	struct shared_table *s;

	list_for_each(s, &p->tables, link) {
		t.shared = s;
		table_feed_take(s->state, take, &t);
	}
}

static struct share *share_of(const struct peer *peer, const struct shared_table *s)
{
	struct share *h;

	list_for_each(h, &peer->shares, link)
		if (h->shared == s)
			return h;
	return NULL;
}

static uint32_t acked_by_all(const struct peers *p, const struct shared_table *s)
{
	uint32_t all = s->number;
	struct peer *peer;

	list_for_each(peer, &p->peers, link) {
		const struct share *h = peer->is_local ? NULL : share_of(peer, s);

		if (h && !h->acked)
			return 0;
		if (h && (int32_t)(h->acked - all) < 0)
			all = h->acked;
	}
	return all;
}

void peers_tables_stop(struct peers *p)
{
	struct shared_table *s;

	peers_tables_take(p);
	list_for_each(s, &p->tables, link)
		s->told = acked_by_all(p, s);
}

/* The first number that <h> still has to be sent. */
static uint32_t share_needs(const struct share *h)
{
	return h->mode == SHARE_LOG ? h->next : h->base + 1;
}

static void trim(struct peers *p, struct shared_table *s)
{
	uint32_t needed = s->number + 1;
	struct peers_link *l;

	list_for_each(l, &p->links, link) {
		const struct share *h = l->state == LINK_UP ? share_of(l->peer, s) : NULL;

		if (h && (int32_t)(share_needs(h) - needed) < 0)
			needed = share_needs(h);
	}
	log_forget(s, needed);
}

void peers_tables_trim(struct peers *p)
{
	struct shared_table *s;

	list_for_each(s, &p->tables, link)
		if (s->count)
			trim(p, s);
}

static void share_free(struct share *h)
{
	if (h->held)
		table_drop(h->held);
	if (h->part)
		table_part_leave(h->part);
	list_remove(&h->link);
	free(h);
}

/* --- tables come and go ----------------------------------------------------------------------- */

/* Called by the thread that changes an entry. */
static void wake(void *reader)
{
	task_wake(((struct peers *)reader)->task, TASK_WOKEN_OTHER);
}

/* What a table is called among peers: one of the section itself without that's name. */
static const char *name_among_peers(const struct peers_conf *c, const struct table *t)
{
	return strcmp(t->owner_kind, "peers") == 0 ? t->name + strlen(c->proxy->name) : t->name;
}

static void shared_free(struct peers *p, struct shared_table *s)
{
	struct peer *peer;

	log_forget(s, s->number + 1);
	table_feed_close(s->state);
	list_for_each(peer, &p->peers, link) {
		struct share *h = share_of(peer, s);

		if (!h)
			continue;
		if (peer->up && peer->up->to == h)
			peer->up->to = NULL;
		if (peer->up && peer->up->from == h)
			peer->up->from = NULL;
		share_free(h);
	}
	list_remove(&s->link);
	table_state_drop(&s->state);
	free(s->log);
	free(s->name);
	free(s);
}

void peers_tables_free(struct peers *p)
{
	struct shared_table *s, *next;

	list_for_each_safe(s, next, &p->tables, link)
		shared_free(p, s);
}

/* The declaration of the generation in force of the same entries; NULL: there is none. */
static struct table *declaration_of(const struct peers *p, const struct shared_table *s)
{
	struct table *t;

	for (t = tables_first(p->config); t; t = t->next)
		if (t->state == s->state && t->peers && strcmp(t->peers, p->name) == 0)
			return t;
	return NULL;
}

static struct shared_table *shared_of(const struct peers *p, const struct table *t)
{
	struct shared_table *s;

	list_for_each(s, &p->tables, link)
		if (s->state == t->state)
			return s;
	return NULL;
}

/* A number that no table has on the wire. */
static uint32_t free_id(const struct peers *p)
{
	struct shared_table *s;
	uint32_t id = 1;

	list_for_each(s, &p->tables, link)
		if (s->definition.id >= id)
			id = s->definition.id + 1;
	return id;
}

static struct shared_table *shared_new(struct peers *p, struct table *t)
{
	struct shared_table *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->name = strdup(name_among_peers(p->conf, t));
	if (!s->name || (!t->recv_only && !table_feed_open(t->state, wake, p))) {
		free(s->name);
		free(s);
		return NULL;
	}
	s->table = t;
	s->state = table_state_take(t->state);
	s->definition.id = free_id(p);
	define(s);
	list_append(&p->tables, &s->link);
	return s;
}

bool peers_tables_follow(struct peers *p)
{
	struct shared_table *s, *next;
	bool added = false;

	list_for_each_safe(s, next, &p->tables, link) {
		s->table = declaration_of(p, s);
		if (!s->table) {
			shared_free(p, s);
			continue;
		}
		define(s);
		if (s->table->recv_only)
			table_feed_close(s->state);
		else
			table_feed_open(s->state, wake, p);
	}
	for (struct table *t = tables_first(p->config); t; t = t->next) {
		if (!t->peers || strcmp(t->peers, p->name) != 0 || shared_of(p, t))
			continue;
		if (!shared_new(p, t))
			diag_say(DIAG_WARNING, "out of memory: stick-table '%s' is not shared.",
				 t->name);
		added = true;
	}
	return added;
}

/* --- how far a peer is ------------------------------------------------------------------------ */

/* From here on it is sent what has changed since it acknowledged anything. */
static void share_begin(struct share *h)
{
	if (h->held)
		table_drop(h->held);
	h->held = NULL;
	h->pushed = h->acked;
	h->next = h->acked + 1;
	h->mode = SHARE_LOG;
}

static struct share *share_new(struct peer *peer, struct shared_table *s)
{
	struct share *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->shared = s;
	share_begin(h);
	list_append(&peer->shares, &h->link);
	return h;
}

/* Where what it counts goes. */
static void share_follow(struct peer *peer, struct share *h)
{
	bool apart = h->shared->table->limits.sums && !peer->is_local;

	h->part = apart ? table_part_of(h->shared->state, peer->name) : NULL;
}

bool peers_shares_follow(struct peer *peer)
{
	struct shared_table *s;

	list_for_each(s, &peer->section->tables, link) {
		struct share *h = share_of(peer, s);

		if (!h)
			h = share_new(peer, s);
		if (!h)
			return false;
		share_follow(peer, h);
	}
	peers_shares_set_up(peer, peer->up && peer->up->state == LINK_UP);
	return true;
}

void peers_shares_set_up(struct peer *peer, bool up)
{
	struct share *h;

	list_for_each(h, &peer->shares, link)
		if (h->part)
			table_part_set_up(h->part, up);
}

bool peers_tables_add(const struct peers *p)
{
	struct shared_table *s;

	list_for_each(s, &p->tables, link)
		if (s->table->limits.sums)
			return true;
	return false;
}

void peers_shares_free(struct peer *peer)
{
	struct share *h, *next;

	list_for_each_safe(h, next, &peer->shares, link) {
		share_free(h);
	}
}

void peers_shares_reset(struct peer *peer)
{
	struct share *h;

	list_for_each(h, &peer->shares, link) {
		share_begin(h);
		h->is_defined = h->agrees = h->ack_due = false;
	}
}

void peers_shares_forget(struct peer *peer)
{
	struct share *h;

	list_for_each(h, &peer->shares, link)
		h->acked = 0;
}

void peers_shares_teach(struct peer *peer)
{
	struct share *h;

	list_for_each(h, &peer->shares, link) {
		if (h->held)
			table_drop(h->held);
		h->held = NULL;
		memset(&h->at, 0, sizeof(h->at));
		h->base = h->shared->number;
		h->mode = SHARE_TEACH;
	}
}

void peers_shares_confirmed(struct peer *peer)
{
	struct share *h;

	list_for_each(h, &peer->shares, link) {
		if (h->mode != SHARE_TAUGHT)
			continue;
		h->acked = h->base;
		share_begin(h);
	}
}
