/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shared.c - core.shared: a dictionary that all states of all threads share (an extension)
 *
 * Purpose: scripts of lua-load-per-thread share counters, tokens and small texts. Values are copied
 *          in and out: texts, integers, numbers, booleans.
 * Owns   : it belongs to the process: reloads keep it. tune.lua.shared-size bounds keys, values and
 *          their overhead; additions beyond it are refused, nothing is evicted.
 * Threads: any. A key's shard has a lock, held for a look-up and a copy, and never while waiting or
 *          calling Lua: an error of Lua would jump over its release.
 */
#include <stdlib.h>
#include "base/hash.h"
#include "base/num.h"
#include "beside_priv.h"
#include "class_priv.h"
#include "room_priv.h"
#include "state_priv.h"
#include "value_priv.h"

#define SHARDS 64
#define KEY_MAX 1024

enum value_type { VALUE_NONE, VALUE_TEXT, VALUE_INTEGER, VALUE_NUMBER, VALUE_BOOLEAN };

struct value {
	enum value_type type;
	union {
		lua_Integer integer;
		lua_Number number;
		bool boolean;
	};
	struct slice text;            /* VALUE_TEXT: of an entry, behind its key */
};

struct entry {
	struct entry *next;           /* of its bucket */
	uint64_t hash;
	size_t key_len, size;         /* <size>: of the whole */
	struct value value;
	char bytes[];                 /* the key, and the text */
};

struct shard {
	pthread_mutex_t lock;
	struct entry **buckets;       /* a power of two */
	size_t bucket_count, count;
} __attribute__((aligned(64)));

static struct shard shards[SHARDS];
static uint64_t hash_key[2];
static uint64_t bytes;                /* of all entries; atomic */

static struct entry **find(struct shard *s, uint64_t hash, struct slice key)
{
	struct entry **at = &s->buckets[hash / SHARDS & (s->bucket_count - 1)];

	while (*at && ((*at)->hash != hash ||
		       !slice_eq((struct slice){ (*at)->bytes, (*at)->key_len }, key)))
		at = &(*at)->next;
	return at;
}

/* Doubles the buckets. No memory: they stay. */
static void grow(struct shard *s)
{
	size_t count = s->bucket_count ? 2 * s->bucket_count : 16;
	struct entry **to = calloc(count, sizeof(struct entry *)), *e;

	if (!to)
		return;
	for (size_t i = 0; i < s->bucket_count; i++) {
		while ((e = s->buckets[i]) != NULL) {
			struct entry **at = &to[e->hash / SHARDS & (count - 1)];

			s->buckets[i] = e->next;
			e->next = *at;
			*at = e;
		}
	}
	free(s->buckets);
	s->buckets = to;
	s->bucket_count = count;
}

/* Locked; NULL: no memory for the first buckets. */
static struct shard *shard_lock(struct slice key, uint64_t *hash)
{
	struct shard *s;

	*hash = hash_sip13(key.ptr, key.len, hash_key);
	s = &shards[*hash % SHARDS];
	pthread_mutex_lock(&s->lock);
	if (s->count >= s->bucket_count)
		grow(s);
	if (s->bucket_count)
		return s;
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static bool reserve(uint64_t limit, size_t size)
{
	if (__atomic_add_fetch(&bytes, size, __ATOMIC_RELAXED) <= limit)
		return true;
	__atomic_sub_fetch(&bytes, size, __ATOMIC_RELAXED);
	return false;
}

static void entry_drop(struct shard *s, struct entry **at)
{
	struct entry *e = *at;

	*at = e->next;
	s->count--;
	__atomic_sub_fetch(&bytes, e->size, __ATOMIC_RELAXED);
	free(e);
}

/* Puts <v> under <key>, in the place of what is there. False: there is no room; nothing changes. */
static bool entry_put(struct shard *s, uint64_t hash, struct slice key, const struct value *v,
		      uint64_t limit)
{
	size_t text_len = v->type == VALUE_TEXT ? v->text.len : 0;
	size_t size = sizeof(struct entry) + key.len + text_len;
	struct entry **at = find(s, hash, key), *e;

	if (*at && (*at)->value.type != VALUE_TEXT && v->type != VALUE_TEXT) {
		(*at)->value = *v;
		return true;
	}
	if (!reserve(limit, size))
		return false;
	e = malloc(size);
	if (!e) {
		__atomic_sub_fetch(&bytes, size, __ATOMIC_RELAXED);
		return false;
	}
	*e = (struct entry){ .hash = hash, .key_len = key.len, .size = size, .value = *v };
	memcpy(e->bytes, key.ptr, key.len);
	if (text_len)
		memcpy(e->bytes + key.len, v->text.ptr, text_len);
	e->value.text = (struct slice){ e->bytes + key.len, text_len };
	if (*at)
		entry_drop(s, at);
	e->next = *at;
	*at = e;
	s->count++;
	return true;
}

/* --- for scripts ------------------------------------------------------------------------------ */

static struct slice key_at(lua_State *L)
{
	struct slice key;

	key.ptr = luaL_checklstring(L, 1, &key.len);
	luaL_argcheck(L, key.len <= KEY_MAX, 1, "the key is too long");
	return key;
}

static struct value value_at(lua_State *L, int index)
{
	struct value v = { .type = VALUE_BOOLEAN };

	switch (lua_type(L, index)) {
	case LUA_TBOOLEAN:
		v.boolean = lua_toboolean(L, index);
		break;
	case LUA_TNUMBER:
		v.type = lua_isinteger(L, index) ? VALUE_INTEGER : VALUE_NUMBER;
		if (v.type == VALUE_INTEGER)
			v.integer = lua_tointeger(L, index);
		else
			v.number = lua_tonumber(L, index);
		break;
	case LUA_TSTRING:
		v.type = VALUE_TEXT;
		v.text.ptr = lua_tolstring(L, index, &v.text.len);
		break;
	default:
		luaL_argerror(L, index, "a text, a number or a boolean is expected");
	}
	return v;
}

static int push_value(lua_State *L, const struct value *v)
{
	if (v->type == VALUE_TEXT)
		lua_pushlstring(L, v->text.ptr ? v->text.ptr : "", v->text.len);
	else if (v->type == VALUE_INTEGER)
		lua_pushinteger(L, v->integer);
	else if (v->type == VALUE_NUMBER)
		lua_pushnumber(L, v->number);
	else if (v->type == VALUE_BOOLEAN)
		lua_pushboolean(L, v->boolean);
	else
		lua_pushnil(L);
	return 1;
}

static int refuse(lua_State *L, const char *why)
{
	lua_pushnil(L);
	lua_pushstring(L, why);
	return 2;
}

/* Copies the value of <key>; a text to <to>, if it has no more than <room> bytes. */
static struct value copy_value(struct slice key, char *to, size_t room)
{
	struct value v = { .type = VALUE_NONE };
	const struct entry *e;
	struct shard *s;
	uint64_t hash;

	s = shard_lock(key, &hash);
	if (!s)
		return v;
	e = *find(s, hash, key);
	if (e)
		v = e->value;
	if (v.type == VALUE_TEXT) {
		if (v.text.len && v.text.len <= room)
			memcpy(to, v.text.ptr, v.text.len);
		v.text.ptr = to;
	}
	pthread_mutex_unlock(&s->lock);
	return v;
}

/* core.shared.get(key) */
static int shared_get(lua_State *L)
{
	struct slice key = key_at(L);
	char area[512], *to = area;
	size_t room = sizeof(area);
	struct value v;

	for (;;) { /* it may grow meanwhile */
		v = copy_value(key, to, room);
		if (v.type != VALUE_TEXT || v.text.len <= room)
			return push_value(L, &v);
		room = v.text.len;
		lua_settop(L, 1);
		to = lua_newuserdatauv(L, room, 0);
	}
}

static int put(lua_State *L, bool only_new)
{
	uint64_t limit = script_box_of(L)->room->shared_mb << 20, hash;
	struct slice key = key_at(L);
	struct value v = value_at(L, 2);
	struct shard *s = shard_lock(key, &hash);
	bool good, is_there;

	if (!s)
		return refuse(L, "full");
	is_there = only_new && *find(s, hash, key);
	good = !is_there && entry_put(s, hash, key, &v, limit);
	pthread_mutex_unlock(&s->lock);
	if (!good)
		return refuse(L, is_there ? "exists" : "full");
	lua_pushboolean(L, true);
	return 1;
}

/* core.shared.set(key, value) */
static int shared_set(lua_State *L)
{
	return put(L, false);
}

/* core.shared.add(key, value): where there is none */
static int shared_add(lua_State *L)
{
	return put(L, true);
}

/* core.shared.incr(key [, by]): of an integer, 0 where there is none */
static int shared_incr(lua_State *L)
{
	uint64_t limit = script_box_of(L)->room->shared_mb << 20, hash;
	struct value v = { .type = VALUE_INTEGER };
	lua_Integer by = luaL_optinteger(L, 2, 1);
	struct slice key = key_at(L);
	struct shard *s = shard_lock(key, &hash);
	const struct entry *e;
	bool is_number, good;

	if (!s)
		return refuse(L, "full");
	e = *find(s, hash, key);
	is_number = !e || e->value.type == VALUE_INTEGER;
	if (e && is_number)
		v.integer = e->value.integer;
	v.integer = (lua_Integer)((lua_Unsigned)v.integer + (lua_Unsigned)by);
	good = is_number && entry_put(s, hash, key, &v, limit);
	pthread_mutex_unlock(&s->lock);
	return good ? push_value(L, &v) : refuse(L, is_number ? "full" : "not an integer");
}

/* core.shared.delete(key): was there one? */
static int shared_delete(lua_State *L)
{
	struct slice key = key_at(L);
	struct entry **at;
	struct shard *s;
	uint64_t hash;
	bool is_there = false;

	s = shard_lock(key, &hash);
	if (s) {
		at = find(s, hash, key);
		is_there = *at != NULL;
		if (is_there)
			entry_drop(s, at);
		pthread_mutex_unlock(&s->lock);
	}
	lua_pushboolean(L, is_there);
	return 1;
}

/* core.shared.info(): its entries, its bytes, and how many it may have */
static int shared_info(lua_State *L)
{
	size_t count = 0;

	for (unsigned i = 0; i < SHARDS; i++) {
		pthread_mutex_lock(&shards[i].lock);
		count += shards[i].count;
		pthread_mutex_unlock(&shards[i].lock);
	}
	lua_createtable(L, 0, 3);
	script_set_integer(L, "entries", (lua_Integer)count);
	script_set_integer(L, "bytes", (lua_Integer)__atomic_load_n(&bytes, __ATOMIC_RELAXED));
	script_set_integer(L, "max", (lua_Integer)(script_box_of(L)->room->shared_mb << 20));
	return 1;
}

void script_shared_open(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{ "get", shared_get }, { "set", shared_set }, { "add", shared_add },
		{ "incr", shared_incr }, { "delete", shared_delete }, { "info", shared_info },
		{ NULL, NULL }
	};

	lua_getglobal(L, "core");
	lua_newtable(L);
	luaL_setfuncs(L, functions, 0);
	lua_setfield(L, -2, "shared");
	lua_pop(L, 1);
}

void script_shared_init(void)
{
	hash_key[0] = num_random();
	hash_key[1] = num_random();
	for (unsigned i = 0; i < SHARDS; i++)
		pthread_mutex_init(&shards[i].lock, NULL);
}

void script_shared_fini(void)
{
	for (unsigned i = 0; i < SHARDS; i++) {
		struct shard *s = &shards[i];

		for (size_t n = 0; n < s->bucket_count; n++)
			while (s->buckets[n])
				entry_drop(s, &s->buckets[n]);
		free(s->buckets);
		s->buckets = NULL;
		s->bucket_count = 0;
	}
}
