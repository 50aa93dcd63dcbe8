/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolution.c - the resolution of a name by its name servers
 *
 *	IDLE --run--> ASKING --valid answer--------------------------> IDLE (askers are told)
 *	  ^             | ^
 *	  |   all have  | | the other family, once a try
 *	  |   answered  | +------------------------------+
 *	  |   with      v                                |
 *	  |   errors  the other family not tried yet? ---+
 *	  |             | no: one try less
 *	  +--none left--+--> PAUSE --`timeout retry` behind the question--> ASKING
 *
 * Many names that are due at the same time are queried in bursts (in state TURN before ASKING): the
 * answers to thousands of queries would not fit in the socket.
 *
 * All name servers are queried at the same time; the first valid answer counts. If the time is over
 * before all have answered, an error answer leads to a query for the other family, silence to
 * another try.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "base/bug.h"
#include "base/clock.h"
#include "base/hash.h"
#include "dns_priv.h"

/* --- finding -------------------------------------------------------------------------------- */

static struct list *name_bucket(struct resolvers_state *st, const char *name)
{
	return &st->by_name[hash_bytes(name, strlen(name), 0) % BUCKETS];
}

static struct list *id_bucket(struct resolvers_state *st, uint16_t id)
{
	return &st->by_id[id % BUCKETS];
}

static struct resolution *find_id(struct resolvers_state *st, uint16_t id)
{
	struct list *bucket = id_bucket(st, id), *at;

	for (at = bucket->next; at != bucket; at = at->next) {
		struct resolution *r = list_entry(at, struct resolution, id_link);

		if (r->id == id)
			return r;
	}
	return NULL;
}

/* An identifier that nothing under way has. */
static void id_choose(struct resolution *r)
{
	uint16_t id;

	list_remove(&r->id_link);
	do
		if (getrandom(&id, sizeof(id), 0) != sizeof(id))
			id = (uint16_t)(r->id + 1);
	while (find_id(r->state, id));
	r->id = id;
	list_append(id_bucket(r->state, id), &r->id_link);
}

static void on_time(struct timer *t);

struct resolution *resolution_get(struct resolvers_state *st, const char *name, enum dns_type type)
{
	struct list *bucket = name_bucket(st, name);
	size_t size = strlen(name) + 1;
	struct resolution *r;

	list_for_each(r, bucket, link)
		if (r->first == type && strcmp(r->name, name) == 0)
			return r;
	if (st->resolution_count >= RESOLUTIONS_MAX)
		return NULL;
	r = calloc(1, sizeof(*r) + size);
	if (!r)
		return NULL;
	memcpy(r->name, name, size);
	r->state = st;
	r->first = r->type = type;
	r->status = RESOLVE_OTHER;
	list_init(&r->id_link);
	list_init(&r->items);
	list_init(&r->askers);
	timer_init(&r->timer, on_time);
	list_append(bucket, &r->link);
	st->resolution_count++;
	return r;
}

/* --- one question --------------------------------------------------------------------------- */

/* No answer to the question is awaited any more. */
static void question_over(struct resolution *r)
{
	struct nameserver *ns;

	list_for_each(ns, &r->state->servers, link)
		if (r->asked & ~r->answered & 1ull << ns->bit)
			ns->waiting--;
	r->asked = r->answered = 0;
	list_remove(&r->id_link);
}

/* Asks all name servers. Returns how many could be asked. */
static unsigned question_send(struct resolution *r)
{
	uint8_t query[DNS_QUERY_MAX];
	struct dns_question q = { .name = r->name, .type = r->type,
				  .payload = (uint16_t)r->state->set.payload };
	struct nameserver *ns;
	unsigned sent = 0;
	size_t len;

	question_over(r);
	id_choose(r);
	q.id = r->id;
	len = dns_query_make(&q, query, sizeof(query));
	list_for_each(ns, &r->state->servers, link) {
		if (!len || !nameserver_send(ns, slice_make((char *)query, len)))
			continue;
		r->asked |= 1ull << ns->bit;
		ns->waiting++;
		sent++;
	}
	r->asked_ms = clock_now_ms();
	return sent;
}

/* Addresses are of two families: the one is asked for where the other one is not known. */
static bool has_families(enum dns_type type)
{
	return type == DNS_A || type == DNS_AAAA;
}

static bool is_accepted(const struct resolution *r, enum dns_type type)
{
	return !has_families(type) || family_is_accepted(&r->state->set, type == DNS_AAAA);
}

static enum dns_type other_type(enum dns_type type)
{
	return type == DNS_A ? DNS_AAAA : DNS_A;
}

#define BURST_MAX 128
#define BURST_MS 10

/* May another question leave now? */
static bool burst_take(struct resolvers_state *st)
{
	uint64_t now = clock_now_ms();

	if (now >= st->burst_ms + BURST_MS) {
		st->burst_ms = now;
		st->burst = 0;
	}
	return st->burst++ < BURST_MAX;
}

/* What could not even be sent is asked again in time, as if no server had answered. */
static void ask(struct resolution *r, enum dns_type type)
{
	r->type = type;
	if (!burst_take(r->state)) {
		question_over(r);
		r->phase = RESOLUTION_TURN;
		timer_set(&r->timer, r->state->burst_ms + BURST_MS);
		return;
	}
	r->phase = RESOLUTION_ASKING;
	question_send(r);
	timer_set(&r->timer, r->asked_ms + (uint64_t)r->state->set.retry_ms);
}

static void begin_try(struct resolution *r)
{
	bool first = is_accepted(r, r->first);

	r->tried_other = !has_families(r->first) || !first ||
			 !is_accepted(r, other_type(r->first));
	ask(r, first ? r->first : other_type(r->first));
}

void resolution_run(struct resolution *r)
{
	if (r->phase != RESOLUTION_IDLE)
		return;
	r->tries_left = r->state->set.tries;
	r->failure = RESOLVE_TIMEOUT;
	begin_try(r);
}

/* --- the end -------------------------------------------------------------------------------- */

/* A callback may remove its own asker, but no other one. */
static void tell(struct resolution *r, enum resolve_round round)
{
	struct resolve_asker *a, *next;

	list_for_each_safe(a, next, &r->askers, link)
		a->told(a, round);
}

static void finish(struct resolution *r, enum resolve_status status)
{
	question_over(r);
	r->phase = RESOLUTION_IDLE;
	r->status = status;
	timer_set(&r->timer, clock_now_ms() + (uint64_t)r->state->set.resolve_ms);
	r->running++;
	tell(r, RESOLVE_TAKE);
	if (status == RESOLVE_VALID) {
		tell(r, RESOLVE_LOSE);
		items_sweep(r);
	}
	r->running--;
	if (list_is_empty(&r->askers))
		resolution_unused(r);
}

/* The family is not to blame: the other one, or another try. */
static void fall_back(struct resolution *r, bool at_once)
{
	if (!r->tried_other) {
		r->tried_other = true;
		ask(r, other_type(r->type));
		return;
	}
	if (r->tries_left <= 1) {
		finish(r, r->failure);
		return;
	}
	r->tries_left--;
	if (!at_once) {
		begin_try(r);
		return;
	}
	question_over(r);
	r->phase = RESOLUTION_PAUSE;
	timer_set(&r->timer, r->asked_ms + (uint64_t)r->state->set.retry_ms);
}

static void no_answer(struct resolution *r)
{
	struct nameserver *ns;
	bool some = r->answered;

	list_for_each(ns, &r->state->servers, link)
		if (r->asked & ~r->answered & 1ull << ns->bit)
			nameserver_count(ns, RESOLVE_CNT_TIMEOUT);
	if (!some) {
		r->failure = RESOLVE_TIMEOUT;
		r->tried_other = true;
	}
	fall_back(r, false);
}

static void on_time(struct timer *t)
{
	struct resolution *r = container_of(t, struct resolution, timer);

	switch (r->phase) {
	case RESOLUTION_IDLE:
		if (list_is_empty(&r->askers))
			resolution_unused(r);
		else if (r->state->is_live)
			resolution_run(r);
		return;
	case RESOLUTION_PAUSE:
		begin_try(r);
		return;
	case RESOLUTION_TURN:
		ask(r, r->type);
		return;
	case RESOLUTION_ASKING:
		no_answer(r);
		return;
	}
}

/* --- answers -------------------------------------------------------------------------------- */

static const struct {
	enum resolve_counter counter;
	enum resolve_status status;
} outcomes[DNS_STATUSES] = {
	[DNS_VALID] = { RESOLVE_CNT_VALID, RESOLVE_VALID },
	[DNS_NX] = { RESOLVE_CNT_NX, RESOLVE_NX },
	[DNS_REFUSED] = { RESOLVE_CNT_REFUSED, RESOLVE_REFUSED },
	[DNS_OTHER] = { RESOLVE_CNT_OTHER, RESOLVE_OTHER },
	[DNS_EMPTY] = { RESOLVE_CNT_ANY_ERR, RESOLVE_OTHER },
	[DNS_CNAME_ERROR] = { RESOLVE_CNT_CNAME_ERROR, RESOLVE_OTHER },
	[DNS_TRUNCATED] = { RESOLVE_CNT_TRUNCATED, RESOLVE_OTHER },
	[DNS_INVALID] = { RESOLVE_CNT_INVALID, RESOLVE_OTHER },
};

/* The resolution that waits for this message of <ns>; NULL: none. */
static struct resolution *awaiting(struct nameserver *ns, struct slice message)
{
	struct resolution *r = find_id(ns->state, dns_message_id(message));

	if (!r || r->phase != RESOLUTION_ASKING || !(r->asked & ~r->answered & 1ull << ns->bit))
		return NULL;
	return r;
}

static void valid_answer(struct resolution *r, struct nameserver *ns,
			 const struct dns_answer *answer)
{
	r->valid_ms = clock_now_ms();
	r->source = ns;
	items_merge(r, answer);
	finish(r, RESOLVE_VALID);
}

bool resolution_answer(struct nameserver *ns, struct slice message)
{
	struct dns_question q;
	struct dns_answer answer;
	struct resolution *r;
	struct arena arena;

	if (message.len < 2) {
		nameserver_count(ns, RESOLVE_CNT_INVALID);
		return false;
	}
	r = awaiting(ns, message);
	if (!r) {
		nameserver_count(ns, message.len < DNS_HEADER_SIZE ? RESOLVE_CNT_INVALID
				 : RESOLVE_CNT_OUTDATED);
		return false;
	}
	q = (struct dns_question){ .name = r->name, .type = r->type, .id = r->id };
	arena_init(&arena, 0);
	dns_answer_parse(message, &q, &arena, &answer);
	nameserver_count(ns, outcomes[answer.status].counter);
	r->answered |= 1ull << ns->bit;
	ns->waiting--;
	if (answer.status == DNS_VALID) {
		valid_answer(r, ns, &answer);
	} else {
		r->failure = outcomes[answer.status].status;
		if (r->answered == r->asked)
			fall_back(r, true);
	}
	arena_fini(&arena);
	return true;
}

/* --- going ---------------------------------------------------------------------------------- */

void resolution_free(struct resolution *r)
{
	BUG_ON(!list_is_empty(&r->askers) || r->running);
	question_over(r);
	timer_cancel(&r->timer);
	list_remove(&r->link);
	r->state->resolution_count--;
	while (!list_is_empty(&r->items)) {
		struct resolve_item *it = list_first(&r->items, struct resolve_item, link);

		list_remove(&it->link);
		free(it);
	}
	free(r);
}

void resolution_unused(struct resolution *r)
{
	uint64_t until = r->valid_ms + (uint64_t)r->state->set.hold_ms[RESOLVE_VALID];

	if (r->running || !list_is_empty(&r->askers))
		return;
	if (r->phase == RESOLUTION_IDLE && r->status == RESOLVE_VALID && until > clock_now_ms())
		timer_set(&r->timer, until);
	else
		resolution_free(r);
}

void resolutions_forget_server(struct nameserver *ns)
{
	struct resolution *r;

	for (unsigned i = 0; i < BUCKETS; i++) {
		list_for_each(r, &ns->state->by_name[i], link) {
			if (r->source == ns)
				r->source = NULL;
			r->asked &= ~(1ull << ns->bit);
			r->answered &= ~(1ull << ns->bit);
		}
	}
}
