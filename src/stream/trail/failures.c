/* SPDX-License-Identifier: GPL-2.0-or-later */
/* failures.c - the last streams of each frontend that ended badly
 *
 * A writer takes the next slot of the ring, and its lock, if it is free: a reader may hold it, or a
 * writer that was slower by a whole round of failures. Otherwise the failure is counted as missed:
 * no thread waits. A flood of failures is described at a limited rate.
 */
#include <stdlib.h>
#include "base/clock.h"
#include "conf/conf.h"
#include "proxy/proxy.h"
#include "stream/error_capture.h"
#include "stream/rule.h"
#include "stream/trail.h"
#include "trail_priv.h"

#define DEFAULT_ROOM 64
#define READ_TRIES 1000

struct failure_place {
	unsigned lock;
	struct failure *f;       /* made at its first use; under <lock> */
};

struct ring {
	unsigned refs;           /* of generations; atomic */
	unsigned room;
	uint64_t next;           /* atomic */
	struct failure_place places[];
};

struct failures {
	struct ring *ring;       /* atomic: made by the first failure; counted */
};

static uint64_t serial, missed; /* atomic */

struct failures_conf {
	int room;
};

static bool conf_init(void *data)
{
	((struct failures_conf *)data)->room = DEFAULT_ROOM;
	return true;
}

static struct slot conf_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct failures_conf), .init = conf_init,
};

static void kept_drop(struct ring *ring)
{
	if (!ring || __atomic_sub_fetch(&ring->refs, 1, __ATOMIC_ACQ_REL))
		return;
	for (unsigned i = 0; i < ring->room; i++)
		free(ring->places[i].f);
	free(ring);
}

static void failures_fini(void *data)
{
	kept_drop(((struct failures *)data)->ring);
}

static bool failures_inherit(void *data, const void *from)
{
	return true; /* nothing of it is configuration */
}

static struct slot failures_slot = {
	.of = SLOT_PROXY, .size = sizeof(struct failures), .fini = failures_fini,
	.inherit = failures_inherit,
};

static struct failures *failures_of(const struct proxy *px)
{
	return slot_of(&failures_slot, proxy_slots(px));
}

static struct ring *ring_of(const struct proxy *px)
{
	return __atomic_load_n(&failures_of(px)->ring, __ATOMIC_ACQUIRE);
}

static unsigned room_of(const struct config *cfg)
{
	return (unsigned)((struct failures_conf *)slot_of(&conf_slot, config_slots(cfg)))->room;
}

/* The ring, made if there is none; NULL: none is wanted, or no memory. */
static struct ring *ring_get(const struct proxy *px, unsigned room)
{
	struct ring *ring = ring_of(px), *none = NULL;

	if (ring || !room)
		return ring;
	ring = calloc(1, sizeof(*ring) + room * sizeof(*ring->places));
	if (!ring)
		return NULL;
	ring->refs = 1;
	ring->room = room;
	if (__atomic_compare_exchange_n(&failures_of(px)->ring, &none, ring, false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return ring;
	free(ring);
	return none;
}

static void count_missed(void)
{
	__atomic_fetch_add(&missed, 1, __ATOMIC_RELAXED);
}

uint64_t failures_missed(void)
{
	return __atomic_load_n(&missed, __ATOMIC_RELAXED);
}

/* May this thread describe one more in this second? */
static bool rate_take(void)
{
	static __thread uint64_t second;
	static __thread unsigned count;
	uint64_t now = clock_now_ms() / 1000;

	if (now != second)
		count = 0;
	second = now;
	return count++ < FAILURES_A_SECOND;
}

/* A redirection or an answer of ours that is none of an error is nothing to ask about. */
static bool is_failure(const struct stream *s)
{
	return s->answer.status >= 400 ||
	       (stream_cause(s) != CAUSE_NONE && stream_cause(s) != CAUSE_LOCAL);
}

static void keep(struct stream *s)
{
	struct ring *ring;
	struct failure_place *place;

	if (!is_failure(s))
		return;
	ring = ring_get(s->fe, room_of(s->config));
	if (!ring || !rate_take()) {
		count_missed();
		return;
	}
	place = &ring->places[__atomic_fetch_add(&ring->next, 1, __ATOMIC_RELAXED) % ring->room];
	if (__atomic_exchange_n(&place->lock, 1, __ATOMIC_ACQUIRE)) {
		count_missed();
		return;
	}
	if (!place->f)
		place->f = malloc(sizeof(*place->f));
	if (place->f) {
		trail_describe(s, place->f);
		/* here, for a log line may describe the stream, too */
		error_capture_take(s->sess, &place->f->bytes);
		place->f->serial = __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED);
	} else {
		count_missed();
	}
	__atomic_store_n(&place->lock, 0, __ATOMIC_RELEASE);
}

unsigned failure_room(const struct proxy *px)
{
	struct ring *ring = ring_of(px);

	return ring ? ring->room : 0;
}

bool failure_read(const struct proxy *px, unsigned back, struct failure *out)
{
	struct ring *ring = ring_of(px);
	struct failure_place *place;
	uint64_t next = ring ? __atomic_load_n(&ring->next, __ATOMIC_RELAXED) : 0;
	unsigned tries = 0;
	bool found;

	if (!ring || back >= ring->room || back >= next)
		return false;
	place = &ring->places[(next - 1 - back) % ring->room];
	while (__atomic_exchange_n(&place->lock, 1, __ATOMIC_ACQUIRE))
		if (++tries == READ_TRIES)
			return false;
	found = place->f != NULL;
	if (found)
		*out = *place->f;
	__atomic_store_n(&place->lock, 0, __ATOMIC_RELEASE);
	return found;
}

void failures_pass_on(struct config *next, const struct proxy *px)
{
	const struct proxy *heir = proxy_heir(next, px);
	struct ring *ring = heir ? ring_get(px, room_of(next)) : NULL;

	if (!ring || ring->room != room_of(next) || ring_of(heir))
		return;
	__atomic_fetch_add(&ring->refs, 1, __ATOMIC_RELAXED);
	failures_of(heir)->ring = ring;
}

static const struct conf_keyword keywords[] = {
	{ .words = "tune.failed-requests", .where = CONF_GLOBAL, .type = CONF_INT,
	  .slot = &conf_slot, .offset = offsetof(struct failures_conf, room), .min = 0,
	  .max = 10000, .syntax = "<number>",
	  .help = "how many requests that ended badly each frontend remembers for `why`" },
	{ 0 }
};

static struct slot *const slots[] = { &conf_slot, &failures_slot, NULL };

static bool failures_init(void)
{
	trail_set_keeper(keep);
	return true;
}

const struct module mod_failures = {
	.name = "failures", .slots = slots, .keywords = keywords, .init = failures_init,
};
