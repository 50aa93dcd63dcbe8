/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stick.c - stick rules: the server of a key
 *
 * Keys are taken while the request is processed, and stored once its server is connected; those of
 * answers when these have arrived. A server is stored by its number and by a text: its name, or its
 * address (`srvkey`); a look-up uses the text first.
 */
#include <string.h>
#include "base/bug.h"
#include "proxy/server.h"
#include "stream/rule.h"
#include "stream/stream.h"
#include "stick_priv.h"

struct stick_store {
	const struct table *table;
	struct table_key key;  /* its bytes: its own, or in the stream's arena */
};

/* What the rules on the request have found. */
struct stick_stream {
	struct stick_store *stores; /* STICK_STORES_MAX of them, in the arena; NULL: none */
	unsigned count;
};

struct slot stick_proxy_slot = { .of = SLOT_PROXY, .size = sizeof(struct stick_proxy) };
struct slot stick_server_slot = { .of = SLOT_SERVER, .size = sizeof(struct stick_server) };
struct slot stick_stream_slot = { .of = SLOT_STREAM, .size = sizeof(struct stick_stream) };

static const struct stick_proxy *stick_of(const struct proxy *px)
{
	return slot_of(&stick_proxy_slot, proxy_slots(px));
}

/* --- servers ---------------------------------------------------------------------------------- */

/* What stands for a server in the entries of a table. */
static struct slice server_text(const struct table *t, struct server *srv, char out[ADDR_MAX])
{
	struct server_addr at;
	struct addr a;

	if (t->server_key == TABLE_SERVER_NAME)
		return slice_of(srv->name);
	server_address(srv, &at);
	a = addr_from_sockaddr(&at.sa, at.len);
	return slice_make(out, addr_put(&a, out, ADDR_MAX));
}

static struct server *server_by_text(const struct proxy *be, const struct table *t,
				     struct slice text)
{
	char room[ADDR_MAX];
	struct server *srv;

	for (srv = server_first(be); srv; srv = server_next(srv))
		if (slice_eq(text, server_text(t, srv, room)))
			return srv;
	return NULL;
}

static struct server *server_by_id(const struct proxy *be, uint64_t id)
{
	struct server *srv;

	for (srv = server_first(be); srv; srv = server_next(srv))
		if ((uint64_t)srv->id == id)
			return srv;
	return NULL;
}

/* The server of <be> that an entry names; NULL: none. */
static struct server *entry_server(const struct proxy *be, const struct table *t,
				   struct table_entry *e)
{
	struct server *srv = NULL;
	uint64_t v = 0;

	if (table_read(&t->shape, e, TABLE_SERVER_KEY, 0, &v) && v)
		srv = server_by_text(be, t, table_word_text(t->state, (uint32_t)v));
	if (!srv && table_read(&t->shape, e, TABLE_SERVER_ID, 0, &v) && v)
		srv = server_by_id(be, v);
	return srv;
}

/* --- keys ------------------------------------------------------------------------------------- */

/* The key of a rule that applies. False: it does not, or finds none. */
static bool rule_key(struct stream *s, const struct stick_rule *r, unsigned dir,
		     struct table_key *key)
{
	struct expr_ctx *ctx = stream_expr(s, dir | EXPR_FINAL);
	struct sample smp;

	return condition_eval(r->condition, ctx) == EXPR_FOUND &&
	       expr_eval(r->key, ctx, &smp) == EXPR_FOUND &&
	       table_key_of_sample(&r->table->shape, &smp, ctx->arena, key);
}

static bool is_stored_already(const struct stick_stream *ss, const struct table *t)
{
	for (unsigned i = 0; i < ss->count; i++)
		if (ss->stores[i].table == t)
			return true;
	return false;
}

/* Notes that the key is to be stored. Without memory it is not. */
static void store_later(struct stream *s, struct stick_stream *ss, const struct table *t,
			const struct table_key *key)
{
	struct stick_store *st;
	struct slice copy;

	if (ss->count == STICK_STORES_MAX || is_stored_already(ss, t))
		return;
	if (!ss->stores)
		ss->stores = arena_alloc(&s->arena, STICK_STORES_MAX * sizeof(*ss->stores));
	if (!ss->stores)
		return;
	st = &ss->stores[ss->count];
	st->table = t;
	st->key = *key;
	if (key->at) {
		copy = arena_copy(&s->arena, slice_make(key->at, key->len));
		if (slice_is_none(copy))
			return;
		st->key.at = copy.ptr;
	}
	ss->count++;
}

static void store(const struct table *t, const struct table_key *key, struct server *srv)
{
	struct table_entry *e = table_get(t->state, key);
	char room[ADDR_MAX];

	if (!e)
		return;
	table_write(&t->shape, e, TABLE_SERVER_ID, 0, (uint64_t)srv->id);
	if (t->shape.count[TABLE_SERVER_KEY])
		table_write(&t->shape, e, TABLE_SERVER_KEY, 0,
			    table_word(t->state, server_text(t, srv, room)));
	table_changed(t->state, e);
	table_drop(e);
}

static bool may_be_stored(const struct stream *s)
{
	const struct stick_server *ss;

	if (!stream_server(s))
		return false;
	ss = slot_of(&stick_server_slot, server_slots(s->server));
	return !ss->never;
}

/* --- stages ----------------------------------------------------------------------------------- */

static struct server *match(const struct stream *s, const struct table *t,
			    const struct table_key *key)
{
	struct table_entry *e = table_find(t->state, key);
	struct server *srv;

	if (!e)
		return NULL;
	table_touch(t->state, e);
	srv = entry_server(s->be, t, e);
	table_drop(e);
	return srv && (server_is_willing(srv) || s->be->options & PROXY_OPT_PERSIST) ? srv : NULL;
}

struct server *stick_request(struct stream *s, bool matches)
{
	struct stick_stream *ss = slot_of(&stick_stream_slot, stream_slots(s));
	struct server *found = NULL;

	for (const struct stick_rule *r = stick_of(s->be)->first; r; r = r->next) {
		bool looks = r->does & STICK_MATCH && matches && !found;
		bool stores = r->does & STICK_STORE && !is_stored_already(ss, r->table);
		struct table_key key;

		if (r->does & STICK_RESPONSE || !(looks || stores) ||
		    !rule_key(s, r, EXPR_DIR_REQUEST, &key))
			continue;
		if (looks)
			found = match(s, r->table, &key);
		if (stores)
			store_later(s, ss, r->table, &key);
	}
	return found;
}

/* Under the keys of the rules on the answer, one of each table. */
static void store_response(struct stream *s, unsigned room)
{
	const struct stick_rule *r = stick_of(s->be)->first;
	const struct table *stored[STICK_STORES_MAX];
	struct table_key key;
	unsigned count = 0, i;

	for (; r && count < room; r = r->next) {
		if (!(r->does & STICK_RESPONSE))
			continue;
		for (i = 0; i < count && stored[i] != r->table; i++)
			;
		if (i < count || !rule_key(s, r, EXPR_DIR_RESPONSE, &key))
			continue;
		store(r->table, &key, s->server);
		stored[count++] = r->table;
	}
}

void stick_store(struct stream *s)
{
	const struct stick_stream *ss = slot_of(&stick_stream_slot, stream_slots(s));

	if (!stick_of(s->be)->first || !may_be_stored(s))
		return;
	for (unsigned i = 0; i < ss->count; i++)
		store(ss->stores[i].table, &ss->stores[i].key, s->server);
	store_response(s, STICK_STORES_MAX - ss->count);
}
