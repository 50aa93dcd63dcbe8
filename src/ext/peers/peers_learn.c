/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peers_learn.c - messages from a peer: definitions, entries, acknowledgements */
#include <stdlib.h>
#include <string.h>
#include "core/task.h"
#include "log/log.h"
#include "peers_priv.h"

/* --- tables ----------------------------------------------------------------------------------- */

static struct share *share_called(const struct peer *peer, struct slice name)
{
	struct share *h;

	list_for_each(h, &peer->shares, link)
		if (slice_eq(slice_of(h->shared->name), name))
			return h;
	return NULL;
}

static struct share *share_of_id(const struct peer *peer, uint32_t id)
{
	struct share *h;

	list_for_each(h, &peer->shares, link)
		if (h->is_defined && h->theirs.id == id)
			return h;
	return NULL;
}

/* Keys that mean the same on both sides. */
static bool keys_agree(const struct peers_table *a, const struct peers_table *b)
{
	return a->type == b->type && a->key_len == b->key_len;
}

/* Is this stored by both alike, or by neither? */
static bool data_agrees(const struct peers_table *a, const struct peers_table *b, unsigned data)
{
	if ((a->data ^ b->data) >> data & 1)
		return false;
	return !(a->data >> data & 1) || (a->cells[data] == b->cells[data] &&
					  a->period_ms[data] == b->period_ms[data]);
}

/* Data that only one side stores, or of which it has fewer, or of another period: their names. */
static void list_differences(const struct peers_table *mine, const struct peers_table *theirs,
			     struct strbuf *out)
{
	for (unsigned i = 0; i < PEERS_DATA_COUNT; i++)
		if (!data_agrees(mine, theirs, i))
			strbuf_printf(out, "%s%s", out->len ? ", " : "", table_data_rows[i].name);
}

/* Logs once how a table is different at the peer, until it is not any more. */
static void tell_difference(struct peers_link *l, struct share *h)
{
	const char *section = l->section->name, *table = h->shared->table->name;
	enum difference differs = h->agrees ? DIFFERS_NOT : DIFFERS_KEYS;
	struct strbuf names;

	strbuf_init(&names);
	list_differences(&h->shared->definition, &h->theirs, &names);
	if (h->agrees && names.len)
		differs = DIFFERS_DATA;
	if (differs == DIFFERS_KEYS && h->told != DIFFERS_KEYS)
		peers_log(l->section, LOG_LVL_WARNING, "Peers section '%s': table '%s' has keys "
			  "of another type or length at peer '%s': nothing is learned of it.",
			  section, table, l->peer->name);
	else if (differs == DIFFERS_DATA && h->told != DIFFERS_DATA)
		peers_log(l->section, LOG_LVL_WARNING, "Peers section '%s': table '%s' does not "
			  "store the same at peer '%s': %.*s. Only what both have is learned.",
			  section, table, l->peer->name, (int)names.len, names.ptr);
	h->told = differs;
	strbuf_fini(&names);
}

/* The name of a definition stays in the message. */
static bool learn_definition(struct peers_link *l, struct slice body)
{
	struct peers_table t;
	struct share *h;

	if (!peers_define_read(body, &t))
		return false;
	h = share_called(l->peer, t.name);
	l->from = h;
	if (!h) /* a table that we do not share: what is sent for it is passed over */
		return true;
	h->theirs = t;
	h->theirs.name = slice_none();
	h->is_defined = true;
	h->agrees = keys_agree(&t, &h->shared->definition);
	tell_difference(l, h);
	return true;
}

/* --- entries ---------------------------------------------------------------------------------- */

/* False: it cannot be a key of this table. */
static bool key_of(const struct table_shape *s, struct slice key, struct table_key *out)
{
	uint32_t v = 0;

	memset(out, 0, sizeof(*out));
	out->len = key.len;
	switch ((enum table_type)s->type) {
	case TABLE_INTEGER:
		for (unsigned i = 0; i < 4 && i < key.len; i++)
			v = v << 8 | (uint8_t)key.ptr[i];
		memcpy(out->bytes, &v, 4);
		return key.len == 4;
	case TABLE_STRING:
		out->at = key.len ? key.ptr : "";
		return key.len <= s->key_len && (!key.len || !memchr(key.ptr, 0, key.len));
	case TABLE_BINARY:
		while (out->len && !key.ptr[out->len - 1])
			out->len--;
		out->at = key.len ? key.ptr : "";
		return key.len == s->key_len;
	default:
		if (key.len != s->key_len)
			return false;
		memcpy(out->bytes, key.ptr, key.len);
		return true;
	}
}

/* The text of a number on this link; none: it was never told. */
static struct slice learn_word(struct peers_link *l, const struct peers_value *v)
{
	char **text;

	if (!v->word || v->word > PEERS_WORDS)
		return slice_none();
	if (!l->words_in)
		l->words_in = calloc(1, sizeof(*l->words_in));
	if (!l->words_in)
		return slice_none();
	text = &l->words_in->all[v->word - 1].text;
	if (!slice_is_none(v->text)) {
		free(*text);
		*text = strndup(v->text.ptr ? v->text.ptr : "", v->text.len);
	}
	return *text ? slice_of(*text) : slice_none();
}

/* A rate of which so little is left is none. */
static void learn_rate(struct table_rate *cell, const struct peers_value *v, uint32_t period_ms)
{
	struct table_rate rate = { .current = v->current, .previous = v->previous };

	uint32_t age_ms = v->age_ms > PEERS_AGE_MAX ? 0 : v->age_ms;

	if (age_ms >= 2ull * period_ms)
		rate.current = rate.previous = 0;
	else
		rate.start_ms = table_now_ms() - age_ms;
	table_rate_put(cell, &rate);
}

/* What is learned of a key. */
struct lesson {
	struct table_entry *e;    /* held; NULL: nothing, but texts may be meant again */
	struct table_entry *part; /* held: of the table of what that peer counts; or NULL */
	bool untold;              /* the process before us has not told it to all others */
};

static void lesson_begin(struct share *h, const struct table_key *key, uint32_t age_ms,
			 struct lesson *out)
{
	/* its time came before it, in the lesson */
	if (out->untold)
		out->e = table_find(h->shared->state, key);
	if (!out->e)
		out->e = table_get_aged(h->shared->state, key, age_ms);
	if (out->e && h->part)
		out->part = table_get_aged(table_part_state(h->part), key, age_ms);
}

static void lesson_end(struct peers_link *l, struct share *h, struct lesson *x)
{
	/* what our own process has counted before us is ours */
	if (x->e && (x->untold || (l->peer->is_local && h->shared->table->limits.sums)))
		table_tell(h->shared->state, x->e);
	if (x->e)
		table_drop(x->e);
	if (x->part)
		table_drop(x->part);
}

static void learn_value(struct peers_link *l, struct share *h, const struct lesson *x,
			const struct peers_value *v)
{
	struct table_state *st = h->shared->state;
	const struct table_shape *s = table_state_shape(st);
	bool apart = h->part && table_data_adds((enum table_data)v->data);
	struct table_entry *e = apart ? x->part : x->e;
	void *cell = e ? table_cell(s, e, (enum table_data)v->data, v->cell) : NULL;
	struct slice text;

	if (table_data_rows[v->data].kind == TABLE_WORD) {
		text = learn_word(l, v);
		if (cell && !slice_is_none(text))
			__atomic_store_n((uint32_t *)cell, table_word(st, text), __ATOMIC_RELAXED);
		return;
	}
	/* how many are here now is not for others to say */
	if (!cell || (v->data == TABLE_CONN_CUR && !h->shared->table->recv_only && !apart))
		return;
	if (table_data_rows[v->data].kind != TABLE_RATE)
		table_write(s, e, (enum table_data)v->data, v->cell, v->number);
	else if (h->theirs.period_ms[v->data] == s->period_ms[v->data])
		learn_rate(cell, v, s->period_ms[v->data]);
}

/* `write-to`: data that are no counters go into another table too. */
static void write_on(const struct share *h, const struct table_key *key, struct table_entry *e)
{
	static const uint8_t data[] = { TABLE_SERVER_ID, TABLE_SERVER_KEY, TABLE_GPT0, TABLE_GPT };
	const struct table *to = h->shared->table->written;
	const struct table_shape *from = table_state_shape(h->shared->state);
	struct table_entry *copy = to->state ? table_get(to->state, key) : NULL;

	if (!copy)
		return;
	for (unsigned n = 0; n < sizeof(data); n++) {
		enum table_data d = (enum table_data)data[n];
		uint64_t v;

		for (unsigned i = 0; i < from->count[d]; i++) {
			if (!table_read(from, e, d, i, &v))
				break;
			if (d == TABLE_SERVER_KEY && v)
				v = table_word(to->state, table_word_text(h->shared->state,
									  (uint32_t)v));
			if (d != TABLE_SERVER_KEY || v)
				table_write(table_state_shape(to->state), copy, d, i, v);
		}
	}
	table_changed(to->state, copy);
	table_drop(copy);
}

/* Is it a part of a lesson? Its end is confirmed as a whole. */
static bool is_timed(uint8_t type)
{
	return type == PEERS_UPDATE_TIMED || type == PEERS_NEXT_TIMED;
}

/* How long ago an entry was used that expires in <left_ms> there. */
static uint32_t age_of(const struct share *h, const struct peers_update *u)
{
	uint32_t expire_ms = table_state_limits(h->shared->state).expire_ms;

	if (!is_timed(u->type))
		return 0;
	return u->left_ms < expire_ms ? expire_ms - u->left_ms : 0;
}

static bool learn_entry(struct peers_link *l, uint8_t type, struct slice body)
{
	struct share *h = l->from;
	const struct table_shape *s;
	struct lesson x = { 0 };
	struct peers_update u;
	struct peers_value v;
	struct table_key key;
	enum peers_status r;

	if (!h)
		return true;
	if (!peers_update_read(&h->theirs, type, body, &u))
		return false;
	h->last = type == PEERS_UPDATE || type == PEERS_UPDATE_TIMED ? u.number : h->last + 1;
	if (is_timed(type)) {
		l->lesson_ms = l->heard_ms;
	} else {
		h->got = h->last;
		h->ack_due = true;
	}
	s = table_state_shape(h->shared->state);
	x.untold = l->peer->is_local && !is_timed(type);
	if (h->agrees && key_of(s, u.key, &key))
		lesson_begin(h, &key, age_of(h, &u), &x);
	while ((r = peers_value_read(&h->theirs, &u, &v)) == PEERS_DONE)
		learn_value(l, h, &x, &v);
	if (x.e && h->shared->table->written)
		write_on(h, &key, x.e);
	lesson_end(l, h, &x);
	return r == PEERS_MORE;
}

static bool is_entry(const struct peers_msg *m)
{
	return m->class == PEERS_TABLE && (is_timed(m->type) || m->type == PEERS_UPDATE ||
					   m->type == PEERS_NEXT);
}

bool peers_learn_later(const struct peers_link *l, struct slice in)
{
	struct peers_msg m;

	if (!peers_is_learning(l->section) || l->section->teacher == l || l->peer->is_local)
		return false;
	return peers_msg_read(in, in.len, &m) == PEERS_DONE && m.class == PEERS_TABLE &&
	       (m.type == PEERS_UPDATE || m.type == PEERS_NEXT);
}

unsigned peers_learn_soon(struct peers_link *l, struct slice in)
{
	struct table_key keys[TABLE_EXPECTED_MAX];
	const struct share *h = l->from;
	struct peers_msg m;
	struct peers_update u;
	unsigned n = 0;

	if (!h || !h->agrees)
		return 1;
	for (; n < TABLE_EXPECTED_MAX; n++) {
		if (peers_msg_read(in, in.len, &m) != PEERS_DONE || !is_entry(&m) ||
		    !peers_update_read(&h->theirs, m.type, m.body, &u) ||
		    !key_of(table_state_shape(h->shared->state), u.key, &keys[n]))
			break;
		in = slice_sub(in, m.length, in.len);
	}
	table_expect(h->shared->state, keys, n);
	return n ? n : 1;
}

/* --- acknowledgements ------------------------------------------------------------------------- */

static bool learn_ack(struct peers_link *l, struct slice body)
{
	uint32_t id, number;
	struct share *h;

	if (!peers_ack_read(body, &id, &number))
		return false;
	/* what was not sent since cannot have been received */
	list_for_each(h, &l->peer->shares, link)
		if (h->shared->definition.id == id && h->mode <= SHARE_WALK &&
		    (int32_t)(number - h->acked) > 0 && (int32_t)(h->pushed - number) >= 0)
			h->acked = number;
	return true;
}

bool peers_ack_all(struct peers_link *l)
{
	struct share *h;

	list_for_each(h, &l->peer->shares, link) {
		if (!h->ack_due)
			continue;
		h->ack_due = false;
		if (!peers_ack_put(&l->out, h->theirs.id, h->got))
			return false;
	}
	return true;
}

/* --- messages --------------------------------------------------------------------------------- */

static bool learn_of_table(struct peers_link *l, const struct peers_msg *m, const char **why)
{
	uint32_t id;

	switch (m->type) {
	case PEERS_DEFINE:
		*why = "a definition of a table that cannot be read";
		return learn_definition(l, m->body);
	case PEERS_SWITCH:
		*why = "a switch to a table that cannot be read";
		if (!peers_switch_read(m->body, &id))
			return false;
		l->from = share_of_id(l->peer, id);
		return true;
	case PEERS_UPDATE:
	case PEERS_NEXT:
	case PEERS_UPDATE_TIMED:
	case PEERS_NEXT_TIMED:
		*why = "an entry that does not fit its table's definition";
		return learn_entry(l, m->type, m->body);
	case PEERS_ACK:
		*why = "an acknowledgement that cannot be read";
		return learn_ack(l, m->body);
	default: /* of a later version */
		return true;
	}
}

static void learn_control(struct peers_link *l, uint8_t type)
{
	switch (type) {
	case PEERS_RESYNC_REQUEST:
		l->has_to_teach = true;
		peers_shares_teach(l->peer);
		break;
	case PEERS_RESYNC_FINISHED:
	case PEERS_RESYNC_PARTIAL:
		l->confirm_due = true;
		peers_was_taught(l, type == PEERS_RESYNC_FINISHED);
		break;
	case PEERS_RESYNC_CONFIRM:
		if (!l->awaits_confirm)
			break;
		l->awaits_confirm = false;
		peers_shares_confirmed(l->peer);
		task_wake(l->section->task, TASK_WOKEN_OTHER);
		break;
	case PEERS_HEARTBEAT:
		l->peer->got_beats++;
		break;
	default:
		break;
	}
}

bool peers_learn(struct peers_link *l, const struct peers_msg *m, const char **why)
{
	switch (m->class) {
	case PEERS_CONTROL:
		learn_control(l, m->type);
		return true;
	case PEERS_TABLE:
		return learn_of_table(l, m, why);
	case PEERS_FAULT:
		*why = m->type == PEERS_FAULT_SIZE ? "it says that a message of ours is too long"
			: "it says that we broke the protocol";
		return false;
	default:
		*why = "a message of an unknown class";
		return false;
	}
}

void peers_words_free(struct peers_words **w)
{
	for (unsigned i = 0; *w && i < PEERS_WORDS; i++)
		free((*w)->all[i].text);
	free(*w);
	*w = NULL;
}
