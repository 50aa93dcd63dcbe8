/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peers_tell.c - messages to a peer: definitions, entries, the end of a lesson
 *
 * A peer that is up to date gets the table's log. Any other one gets a walk through the table: its
 * entries are then in no order, so each is sent with the number that the peer has already
 * acknowledged, and only the last one with the number that had been reached when the walk began. So
 * an acknowledgement always means that everything before it was received. The successor of this
 * process gets twice the entries that some peer may lack: as part of the lesson, with their times,
 * then as changes, which it sends on instead of us.
 */
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "peers_priv.h"

/* Places of a table that one call looks at. */
#define WALK_EACH 1024
/* Bytes that wait to be sent above which no entry is added. */
#define OUT_SOFT 65536

/* --- entries ---------------------------------------------------------------------------------- */

/* The number of a text on this link, with the text itself unless it was sent. */
static void tell_word(struct peers_link *l, const struct share *h, uint32_t word,
		      struct peers_value *v)
{
	unsigned slot = word % PEERS_WORDS;

	if (!l->words_out)
		l->words_out = calloc(1, sizeof(*l->words_out));
	if (!l->words_out || !word)
		return;
	v->word = slot + 1;
	if (l->words_out->all[slot].of == h->shared && l->words_out->all[slot].word == word)
		return;
	l->words_out->all[slot].of = h->shared;
	l->words_out->all[slot].word = word;
	v->text = table_word_text(h->shared->state, word);
}

static void tell_cell(struct peers_link *l, const struct share *h, void *cell,
		      struct peers_value *v)
{
	struct table_rate rate;

	switch ((enum table_kind)table_data_rows[v->data].kind) {
	case TABLE_RATE:
		rate = table_rate_copy(cell);
		v->age_ms = table_now_ms() - rate.start_ms;
		if (v->age_ms > PEERS_AGE_MAX) /* of a thread whose clock is ahead */
			v->age_ms = 0;
		v->current = rate.current;
		v->previous = rate.previous;
		break;
	case TABLE_WORD:
		tell_word(l, h, __atomic_load_n((uint32_t *)cell, __ATOMIC_RELAXED), v);
		break;
	case TABLE_U64:
		v->number = __atomic_load_n((uint64_t *)cell, __ATOMIC_RELAXED);
		break;
	default:
		v->number = __atomic_load_n((uint32_t *)cell, __ATOMIC_RELAXED);
	}
}

static struct slice key_of(const struct table_shape *s, const struct table_entry *e, char room[4])
{
	const char *at = (const char *)e + s->key_at;
	uint32_t v;

	switch ((enum table_type)s->type) {
	case TABLE_INTEGER:
		memcpy(&v, at, 4);
		for (int i = 0; i < 4; i++)
			room[i] = (char)(v >> (24 - 8 * i));
		return slice_make(room, 4);
	case TABLE_STRING:
		return slice_make(at, strnlen(at, s->key_len));
	default:
		return slice_make(at, s->key_len);
	}
}

static bool tell_definition(struct peers_link *l, struct share *h)
{
	if (l->to == h)
		return true;
	l->to = h;
	return peers_define_put(&l->out, &h->shared->definition);
}

/* False: no memory. */
static bool put_entry(struct peers_link *l, const struct share *h, struct table_entry *e,
		      struct peers_update *u)
{
	const struct table_shape *s = table_state_shape(h->shared->state);
	struct peers_maker m;
	char room[4];

	u->key = key_of(s, e, room);
	peers_update_open(&m, &l->out, &h->shared->definition, u);
	for (unsigned d = 0; d < PEERS_DATA_COUNT; d++) {
		struct peers_value v = { .data = (uint8_t)d };

		for (unsigned i = 0; i < s->count[d]; i++) {
			v.cell = (uint8_t)i;
			v.text = slice_none();
			tell_cell(l, h, table_cell(s, e, (enum table_data)d, i), &v);
			peers_value_put(&m, &v);
		}
	}
	return peers_update_close(&m);
}

/* Has it changed since number <since> was reached? */
static bool is_newer(const struct table_entry *e, uint32_t since)
{
	uint32_t stamp = table_stamp(e), by = (stamp - since) & TABLE_STAMP_MASK;

	return stamp && (!since || (by && by <= TABLE_STAMP_MASK / 2));
}

/* Is it for the successor of this process to tell? */
static bool is_left_to_tell(const struct peers_link *l, const struct share *h,
			    const struct table_entry *e)
{
	return l->section->is_stopping && (table_is_noted(e) || is_newer(e, h->shared->told));
}

/* False: no memory. */
static bool tell_entry(struct peers_link *l, struct share *h, struct table_entry *e,
		       uint32_t number)
{
	struct peers_update u = { .type = PEERS_UPDATE, .number = number };
	bool goes_on = l->to == h;

	if (!tell_definition(l, h))
		return false;
	if (h->mode == SHARE_TEACH) {
		u.type = PEERS_UPDATE_TIMED;
		u.left_ms = table_expires_in(h->shared->state, e);
		if (!put_entry(l, h, e, &u))
			return false;
		u.type = is_left_to_tell(l, h, e) ? PEERS_UPDATE : 0;
	} else if (goes_on && number == h->pushed + 1) {
		u.type = PEERS_NEXT;
	}
	h->pushed = number;
	return !u.type || put_entry(l, h, e, &u);
}

/* `shard`: does this peer get this key? */
static bool is_for(const struct peers_link *l, const struct share *h, const struct table_entry *e)
{
	unsigned shard = peers_shard(l->section->conf, l->peer->srv);

	return !shard || table_shard(h->shared->table, e) == shard;
}

/* --- the log ---------------------------------------------------------------------------------- */

/* Was the entry changed once more, under a later number? */
static bool is_outdated(const struct table_entry *e, uint32_t number)
{
	number &= TABLE_STAMP_MASK;
	return table_stamp(e) != (number ? number : 1);
}

/* True: there may be more. */
static bool tell_log(struct peers_link *l, struct share *h, unsigned *budget, bool *failed)
{
	struct shared_table *s = h->shared;

	if (h->next != s->number + 1 && (!s->count || (int32_t)(h->next - s->first) < 0)) {
		h->mode = SHARE_WALK; /* it was away, or is too slow */
		memset(&h->at, 0, sizeof(h->at));
		h->base = s->number;
		return true;
	}
	while (h->next != s->number + 1) {
		struct table_entry *e = shared_log_at(s, h->next);

		if (!*budget || l->out.len - l->sent > OUT_SOFT)
			return true;
		if (!is_outdated(e, h->next) && is_for(l, h, e)) {
			(*budget)--;
			*failed = !tell_entry(l, h, e, h->next);
			if (*failed)
				return false;
		}
		h->next++;
	}
	return false;
}

/* --- the table -------------------------------------------------------------------------------- */

/* A table of sums teaches what was counted here: others teach what they have. */
static bool is_wanted(const struct share *h, const struct table_entry *e)
{
	if (h->mode != SHARE_TEACH)
		return is_newer(e, h->acked);
	return !h->shared->table->limits.sums || table_stamp(e);
}

/* The next one to be sent, held; NULL: none for now, or, without *more, none at all. */
static struct table_entry *walk_next(struct peers_link *l, struct share *h, bool *more)
{
	struct table_entry *e;

	while ((e = table_walk(h->shared->state, &h->at, WALK_EACH, more))) {
		if (is_wanted(h, e) && is_for(l, h, e))
			return e;
		table_drop(e);
	}
	return NULL;
}

static void walk_end(struct share *h)
{
	if (h->mode == SHARE_TEACH) {
		h->mode = SHARE_TAUGHT;
		return;
	}
	h->mode = SHARE_LOG;
	h->next = h->base + 1;
	if (h->pushed != h->base) /* nothing had changed */
		h->acked = h->pushed = h->base;
}

/* Sends what was found before, for something else was found, or there is no more. */
static bool walk_tell(struct peers_link *l, struct share *h, bool last)
{
	uint32_t number = last && h->mode == SHARE_WALK ? h->base : h->acked;
	bool good = !h->held || tell_entry(l, h, h->held, number);

	if (h->held)
		table_drop(h->held);
	h->held = NULL;
	return good;
}

static bool tell_walk(struct peers_link *l, struct share *h, unsigned *budget, bool *failed)
{
	unsigned looks = 8;

	for (;;) {
		struct table_entry *e;
		bool more;

		if (!*budget || !looks || l->out.len - l->sent > OUT_SOFT)
			return true;
		e = walk_next(l, h, &more);
		if (!e && more) {
			looks--;
			continue;
		}
		(*budget)--;
		*failed = !walk_tell(l, h, !e);
		h->held = e;
		if (*failed)
			return false;
		if (!e) {
			walk_end(h);
			return h->mode == SHARE_LOG;
		}
	}
}

/* --- all of a link ---------------------------------------------------------------------------- */

/* All tables were walked: says so. */
static bool tell_end(struct peers_link *l)
{
	struct share *h;

	list_for_each(h, &l->peer->shares, link)
		if (h->mode == SHARE_TEACH && !h->shared->table->recv_only)
			return true;
	l->has_to_teach = false;
	l->awaits_confirm = true;
	return peers_msg_put(&l->out, PEERS_CONTROL, peers_is_complete(l->section)
			     ? PEERS_RESYNC_FINISHED : PEERS_RESYNC_PARTIAL);
}

bool peers_tell(struct peers_link *l, unsigned budget, bool *failed)
{
	bool more = false, waits = l->awaits_confirm || peers_is_learning(l->section);
	struct share *h;

	*failed = false;
	if (l->peer->is_local && !l->has_to_teach) /* an old process that teaches us */
		return false;
	list_for_each(h, &l->peer->shares, link) {
		if (h->shared->table->recv_only)
			continue;
		if (h->mode == SHARE_LOG && !waits)
			more = tell_log(l, h, &budget, failed) || more;
		else if ((h->mode == SHARE_WALK && !waits) || h->mode == SHARE_TEACH)
			more = tell_walk(l, h, &budget, failed) || more;
		if (*failed)
			return false;
	}
	if (l->has_to_teach && !tell_end(l)) {
		*failed = true;
		return false;
	}
	if (!budget && !list_is_empty(&l->peer->shares)) { /* others begin next time */
		h = list_first(&l->peer->shares, struct share, link);
		list_remove(&h->link);
		list_append(&l->peer->shares, &h->link);
	}
	return more;
}
