/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats_shared.c - edge file: shm-stats-file, and which counters are shared with other processes */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "base/module.h"
#include "base/slot.h"
#include "conf/conf.h"
#include "core/counter.h"
#include "core/thread.h"
#include "core/timer.h"
#include "manage/modules.h"
#include "proxy/bind.h"
#include "proxy/counters.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "stats_shared_priv.h"

#define OBJECTS_DEFAULT 2048
#define OBJECTS_LIMIT 1000000
#define PERIOD_MS 1000
#define BUCKETS 1024

_Static_assert(CNT_FRONT_COUNT <= SHARED_COUNTERS_MAX && CNT_BACKEND_COUNT <= SHARED_COUNTERS_MAX,
	       "an object has room for all counters");

/* Counters of this process that are in the file too. */
struct share {
	struct share *next;             /* of its bucket */
	const struct counter_set *set;
	struct shared_object *object;
	unsigned round;                 /* of publish_all(): when it was met last */
	uint64_t known[SHARED_COUNTERS_MAX]; /* what was added to the object so far */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct share *buckets[BUCKETS];
static bool is_on;                      /* atomic: is there anything in the buckets? */
static unsigned this_round;
static struct timer timer;
static bool is_full;                    /* said once */

struct shared_conf {
	const char *path;
	int64_t max;
};

static struct slot conf_slot = { .of = SLOT_CONFIG, .size = sizeof(struct shared_conf) };

/* --- which counters -------------------------------------------------------------------------- */

static bool is_shared(const struct share *s, unsigned i)
{
	return i < s->set->count && !stats_is_gauge(i, s->object->kind <= SHARED_LISTENER);
}

/* Another one when counters have come, gone or moved (FNV-1a of their names). */
static uint64_t layout_number(void)
{
#define X(name, column) #name ","
	static const char names[] = COUNTERS_COMMON(X) "|" COUNTERS_FRONT(X) "|" COUNTERS_BACK(X);
#undef X
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (const char *p = names; *p; p++)
		hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
	return hash;
}

/* --- shares: under the lock ------------------------------------------------------------------ */

static struct share **bucket_of(const struct counter_set *set)
{
	return &buckets[(uintptr_t)set / 64 % BUCKETS];
}

static struct share *share_find(const struct counter_set *set)
{
	struct share *s = *bucket_of(set);

	while (s && s->set != set)
		s = s->next;
	return s;
}

/* What this process has counted since the last time, to the object. */
static void publish(struct share *s)
{
	for (unsigned i = 0; i < s->set->count; i++) {
		uint64_t now;

		if (!is_shared(s, i))
			continue;
		now = counter_read(s->set, i);
		if (now != s->known[i])
			__atomic_fetch_add(&s->object->counters[i], now - s->known[i],
					   __ATOMIC_RELAXED);
		s->known[i] = now;
	}
}

/* The counters of an object that was there are those of the file, whatever stats-file said. */
static struct share *share_new(const struct counter_set *set, enum shared_kind kind,
			       const char *guid)
{
	struct share *s = calloc(1, sizeof(*s)), **bucket = bucket_of(set);
	bool is_new;

	if (!s)
		return NULL;
	s->set = set;
	s->object = shared_object_take(kind, guid, &is_new);
	if (!s->object) {
		free(s);
		return NULL;
	}
	for (unsigned i = 0; i < set->count && !is_new; i++)
		s->known[i] = counter_read(set, i);
	s->next = *bucket;
	*bucket = s;
	__atomic_store_n(&is_on, true, __ATOMIC_RELEASE);
	return s;
}

int64_t stats_shared_rest(const struct counter_set *set, unsigned i)
{
	const struct share *s;
	int64_t rest = 0;

	if (!__atomic_load_n(&is_on, __ATOMIC_ACQUIRE))
		return 0;
	pthread_mutex_lock(&lock);
	s = share_find(set);
	if (s && is_shared(s, i))
		rest = (int64_t)(__atomic_load_n(&s->object->counters[i], __ATOMIC_RELAXED) -
				 s->known[i]);
	pthread_mutex_unlock(&lock);
	return rest;
}

void stats_shared_clear(const struct counter_set *set, unsigned i)
{
	struct share *s;

	if (!__atomic_load_n(&is_on, __ATOMIC_ACQUIRE))
		return;
	pthread_mutex_lock(&lock);
	s = share_find(set);
	if (s && is_shared(s, i)) {
		s->known[i] = 0;
		__atomic_store_n(&s->object->counters[i], 0, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&lock);
}

/* --- all objects, once a second -------------------------------------------------------------- */

/* False: there is no room for it. */
static bool meet(const struct counter_set *set, enum shared_kind kind, const char *guid)
{
	struct share *s = share_find(set);

	if (!s && !is_full)
		s = share_new(set, kind, guid);
	if (s) {
		s->round = this_round;
		publish(s);
	}
	return s;
}

static bool meet_listeners(const struct proxy *px)
{
	const struct listener_conf *lc;
	const struct bind_conf *b;
	bool good = true;

	list_for_each(b, &px->binds, link) {
		unsigned position = 0;

		if (!b->guid_prefix)
			continue;
		list_for_each(lc, &b->listeners, link) {
			char guid[SHARED_GUID_MAX + 1];

			snprintf(guid, sizeof(guid), "%s-%u", b->guid_prefix, position++);
			if (lc->state)
				good &= meet(&lc->state->counters, SHARED_LISTENER, guid);
		}
	}
	return good;
}

static bool meet_proxy(const struct proxy *px)
{
	bool good = meet_listeners(px);

	if (px->guid && px->caps & PROXY_FE)
		good &= meet(&px->state->fe, SHARED_FRONTEND, px->guid);
	if (px->guid && px->caps & PROXY_BE)
		good &= meet(&px->state->be, SHARED_BACKEND, px->guid);
	for (struct server *srv = server_first(px); srv; srv = server_next(srv))
		if (srv->guid && srv->state)
			good &= meet(&srv->state->counters, SHARED_SERVER, srv->guid);
	return good;
}

/* Shares that were not met have lost their counters: their objects are not used any more. */
static void forget_lost(bool all)
{
	for (unsigned i = 0; i < BUCKETS; i++) {
		struct share **at = &buckets[i], *s;

		while ((s = *at) != NULL) {
			if (s->round == this_round && !all) {
				at = &s->next;
				continue;
			}
			*at = s->next;
			shared_object_drop(s->object);
			free(s);
		}
	}
}

/* False: there was no room for an object. */
static bool publish_all(const struct config *cfg)
{
	bool good = true;

	pthread_mutex_lock(&lock);
	this_round++;
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		if (px->state)
			good &= meet_proxy(px);
	is_full = is_full || !good;
	forget_lost(false);
	pthread_mutex_unlock(&lock);
	return good;
}

static void timer_fires(struct timer *t)
{
	publish_all(proxies_current());
	timer_set(t, clock_now_ms() + PERIOD_MS);
}

/* --- life ------------------------------------------------------------------------------------ */

static bool shared_start(struct config *cfg, struct diag_list *diags)
{
	static const struct diag_place bare = { .form = DIAG_BARE };
	const struct shared_conf *c = slot_of(&conf_slot, config_slots(cfg));
	int64_t max = c->max ? c->max : OBJECTS_DEFAULT;
	bool renamed = false;
	char why[200];

	if (!c->path || shared_file_is_open()) /* a file is of the process: a reload keeps it */
		return true;
	if (!shared_file_open(c->path, (unsigned)max, layout_number(), &renamed, why,
			      sizeof(why))) {
		diag_add(diags, DIAG_ALERT, &bare, NULL, "config: cannot open shm stats file "
			 "'%s': %s", c->path, why);
		return false;
	}
	if (renamed)
		diag_add(diags, DIAG_WARNING, &bare, NULL, "config: shm stats file '%s' was made "
			 "by another program or version: it is '%s.bak' now, and counters begin "
			 "again.", c->path, c->path);
	if (!publish_all(cfg)) {
		diag_add(diags, DIAG_ALERT, &bare, "raise shm-stats-file-max-objects", "Cannot add "
			 "additional object to '%s' file, maximum number already reached (%lld). "
			 "Adjust \"shm-stats-file-max-objects\" directive if needed.", c->path,
			 (long long)max);
		return false;
	}
	timer_init(&timer, timer_fires);
	timer_set(&timer, clock_now_ms() + PERIOD_MS);
	return true;
}

/* What was counted last is added, and the objects are left to others. */
static void shared_thread_fini(void)
{
	if (thread_id || !shared_file_is_open())
		return;
	timer_cancel(&timer);
	publish_all(proxies_current());
	pthread_mutex_lock(&lock);
	forget_lost(true);
	__atomic_store_n(&is_on, false, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
	shared_file_close();
}

/* --- keywords -------------------------------------------------------------------------------- */

static bool parse_path(struct conf_line *l)
{
	struct shared_conf *c = slot_of(&conf_slot, l->slots);
	const char *word = conf_next(l);

	if (!word)
		return conf_error(l, 0, NULL, "'%s' expect one argument: a file path.",
				  l->words[0]);
	c->path = conf_path(l->cfg, word);
	return c->path || conf_error(l, 0, NULL, "out of memory.");
}

static bool parse_max(struct conf_line *l)
{
	struct shared_conf *c = slot_of(&conf_slot, l->slots);

	if (!conf_peek(l))
		return conf_error(l, 0, NULL, "'%s' expect one argument: max objects number.",
				  l->words[0]);
	return conf_take_int(l, 1, OBJECTS_LIMIT, &c->max);
}

static const struct conf_keyword keywords[] = {
	{ .words = "shm-stats-file", .where = CONF_GLOBAL, .max_args = 1, .parse = parse_path,
	  .syntax = "<path>", .help = "counters shared with the processes before and after" },
	{ .words = "shm-stats-file-max-objects", .where = CONF_GLOBAL, .max_args = 1,
	  .parse = parse_max, .syntax = "<number>", .help = "room in that file (2048)" },
	{ 0 }
};

static struct slot *const slots[] = { &conf_slot, NULL };

const struct module mod_stats_shared = {
	.name = "stats_shared", .keywords = keywords, .slots = slots, .start = shared_start,
	.thread_fini = shared_thread_fini,
};
