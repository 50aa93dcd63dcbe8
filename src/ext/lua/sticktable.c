/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sticktable.c - class StickTable: entries of a stick table as scripts see them */
#include "class_priv.h"
#include "proxy/proxy.h"
#include "state_priv.h"
#include "table/table.h"
#include "value_priv.h"

#define FILTERS_MAX 4
/* Places that are looked at before the lock of a shard is given back. */
#define WALK_BUDGET 256

struct table_object {
	const struct table *t;
};

enum filter_op { OP_EQ, OP_NE, OP_LE, OP_LT, OP_GE, OP_GT, OPS };

struct wanted {
	enum table_data data;
	unsigned cell;
	enum filter_op op;
	int64_t value;
};

/* An entry that is held while it is pushed. */
struct pushing {
	const struct table *t;
	struct table_entry *entry;
	bool is_whole;                /* `use` and `expire` too */
};

int script_push_table(lua_State *L, const struct proxy *px)
{
	const struct table *t = table_of_section(proxy_slots(px));
	struct table_object *o;

	if (!t) {
		lua_pushnil(L);
		return 1;
	}
	o = script_object_new(L, "StickTable", sizeof(*o));
	o->t = t;
	return 1;
}

static const struct table *table_at_1(lua_State *L)
{
	const struct table *t = ((struct table_object *)script_object(L, 1, "StickTable"))->t;

	if (!t->state)
		luaL_error(L, "table '%s' is not there while the configuration is read", t->name);
	return t;
}

/* --- info ------------------------------------------------------------------------------------- */

static int table_info(lua_State *L)
{
	const struct table *t = table_at_1(L);
	const struct table_shape *s = table_state_shape(t->state);
	struct table_limits limits = table_state_limits(t->state);

	lua_createtable(L, 0, 7);
	lua_pushstring(L, table_type_name((enum table_type)s->type));
	lua_setfield(L, -2, "type");
	/* of strings with the byte that ends them, as HAProxy counts them */
	script_set_integer(L, "length", (lua_Integer)s->key_len + (s->type == TABLE_STRING));
	script_set_integer(L, "size", limits.size);
	script_set_integer(L, "used", table_state_used(t->state));
	script_set_integer(L, "expire", limits.expire_ms);
	lua_pushboolean(L, limits.keep);
	lua_setfield(L, -2, "nopurge");
	lua_newtable(L);
	for (unsigned d = 0; d < TABLE_DATA_COUNT; d++)
		if (s->count[d])
			script_set_integer(L, table_data_rows[d].name,
				    table_data_rows[d].kind == TABLE_RATE
				    ? (lua_Integer)s->period_ms[d] : -1);
	lua_setfield(L, -2, "data");
	return 1;
}

/* --- entries ---------------------------------------------------------------------------------- */

/* The table of its data; of an array, the first. */
static void push_data(lua_State *L, const struct pushing *p)
{
	const struct table_shape *s = table_state_shape(p->t->state);
	struct slice word;
	uint64_t value;

	lua_newtable(L);
	for (unsigned d = 0; d < TABLE_DATA_COUNT; d++) {
		if (!table_read(s, p->entry, (enum table_data)d, 0, &value))
			continue;
		if (table_data_rows[d].kind == TABLE_WORD) {
			word = table_word_text(p->t->state, (uint32_t)value);
			lua_pushlstring(L, word.len ? word.ptr : "-", word.len ? word.len : 1);
			lua_setfield(L, -2, table_data_rows[d].name);
		} else {
			script_set_integer(L, table_data_rows[d].name, (lua_Integer)value);
		}
	}
	if (!p->is_whole)
		return;
	script_set_integer(L, "use", (lua_Integer)table_refs(p->entry) - 1);
	script_set_integer(L, "expire", table_expires_in(p->t->state, p->entry));
}

static void push_key(lua_State *L, const struct pushing *p)
{
	struct sample key = { .flags = 0 };
	/* an address becomes a text, which fits: nothing is allocated that an error would leak */
	char bytes[256] __attribute__((aligned(8)));
	struct arena arena;

	arena_init_in(&arena, bytes, sizeof(bytes), 0);
	table_key_sample(table_state_shape(p->t->state), p->entry, &key);
	script_push_sample(L, &key, &arena, false);
}

/* In a protected call: the entry is let go whatever happens. Arguments: of struct pushing, and a
 * table where the entry becomes [key] or nil.
 */
static int push_entry(lua_State *L)
{
	const struct pushing *p = lua_touserdata(L, 1);

	if (lua_istable(L, 2)) {
		push_key(L, p);
		push_data(L, p);
		lua_settable(L, 2);
		return 0;
	}
	push_data(L, p);
	return 1;
}

/* Its results are on the stack; raises the error of the protected call. */
static void push_held(lua_State *L, struct pushing *p, int into, int results)
{
	int r;

	lua_pushcfunction(L, push_entry);
	lua_pushlightuserdata(L, p);
	if (into)
		lua_pushvalue(L, into);
	else
		lua_pushnil(L);
	r = lua_pcall(L, 2, results, 0);
	table_drop(p->entry);
	if (r != LUA_OK)
		lua_error(L);
}

/* table:lookup(key) */
static int sticktable_lookup(lua_State *L)
{
	const struct table *t = table_at_1(L);
	const struct table_shape *s = table_state_shape(t->state);
	struct pushing p = { .t = t, .is_whole = true };
	struct table_key key;
	struct slice text;

	text.ptr = luaL_checklstring(L, 2, &text.len);
	if (s->type != TABLE_BINARY && table_key_of_text(s, text, &key))
		p.entry = table_find(t->state, &key);
	if (p.entry)
		push_held(L, &p, 0, 1);
	else
		lua_pushnil(L);
	return 1;
}

/* --- dump ------------------------------------------------------------------------------------- */

static int refuse(lua_State *L, const char *why, int entry)
{
	lua_pushnil(L);
	if (entry)
		lua_pushfstring(L, "%s (entry #%d)", why, entry);
	else
		lua_pushstring(L, why);
	return 2;
}

/* Reads the triplet on the stack. NULL: good; else what is wrong. */
static const char *filter_read(lua_State *L, const struct table_shape *s, struct wanted *f)
{
	static const char *const ops[] = { "eq", "ne", "le", "lt", "ge", "gt" };
	const char *op;
	int data;

	if (!lua_istable(L, -1) || lua_rawlen(L, -1) != 3)
		return "Filter table entry must be a triplet: {\"data_col\", \"op\", val}";
	lua_rawgeti(L, -1, 1);
	lua_rawgeti(L, -2, 2);
	lua_rawgeti(L, -3, 3);
	data = lua_isstring(L, -3) ? table_data_find(slice_of(lua_tostring(L, -3))) : -1;
	op = lua_isstring(L, -2) ? lua_tostring(L, -2) : "";
	f->value = lua_tointeger(L, -1);
	lua_pop(L, 3); /* the texts stay in the triplet */
	if (data < 0)
		return "Filter table data column not present in stick table";
	f->cell = 0;
	f->data = table_data_stored(s, (enum table_data)data, &f->cell);
	if (f->cell >= s->count[f->data])
		return "Filter table data column not present in stick table";
	for (f->op = OP_EQ; f->op < OPS; f->op++)
		if (strcmp(ops[f->op], op) == 0)
			return NULL;
	return "Unknown operator in filter table";
}

static bool filter_holds(const struct table_shape *s, struct table_entry *e,
			 const struct wanted *f)
{
	uint64_t read = 0;
	int64_t value;

	table_read(s, e, f->data, f->cell, &read);
	value = (int64_t)read;
	switch (f->op) {
	case OP_EQ:
		return value == f->value;
	case OP_NE:
		return value != f->value;
	case OP_LE:
		return value <= f->value;
	case OP_LT:
		return value < f->value;
	case OP_GE:
		return value >= f->value;
	default:
		return value > f->value;
	}
}

/* The entries that all filters let pass. */
static void dump_all(lua_State *L, const struct table *t, const struct wanted *filters,
		     unsigned count)
{
	const struct table_shape *s = table_state_shape(t->state);
	struct table_cursor at = { 0 };
	struct pushing p = { .t = t };
	int into = lua_gettop(L);
	bool more;

	for (;;) {
		unsigned i = 0;

		p.entry = table_walk(t->state, &at, WALK_BUDGET, &more);
		if (!p.entry && !more)
			return;
		if (!p.entry)
			continue;
		while (i < count && filter_holds(s, p.entry, &filters[i]))
			i++;
		if (i == count)
			push_held(L, &p, into, 0);
		else
			table_drop(p.entry);
	}
}

/* table:dump([filters]) */
static int sticktable_dump(lua_State *L)
{
	const struct table *t = table_at_1(L);
	const struct table_shape *s = table_state_shape(t->state);
	struct wanted filters[FILTERS_MAX];
	unsigned count = 0;
	const char *wrong;

	if (s->type == TABLE_BINARY && table_state_used(t->state))
		return refuse(L, "Unsupported stick table key type", 0);
	if (!lua_isnoneornil(L, 2)) {
		if (!lua_istable(L, 2))
			return refuse(L, "filter table expected", 0);
		count = (unsigned)lua_rawlen(L, 2);
	}
	for (unsigned i = 0; i < count; i++) {
		if (i == FILTERS_MAX)
			return refuse(L, "Filter table too large (len > 4)", 0);
		lua_rawgeti(L, 2, (lua_Integer)i + 1);
		wrong = filter_read(L, s, &filters[i]);
		lua_pop(L, 1);
		if (wrong)
			return refuse(L, wrong, (int)i + 1);
	}
	lua_newtable(L);
	dump_all(L, t, filters, count);
	return 1;
}

void script_sticktable_open(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{ "info", table_info }, { "lookup", sticktable_lookup },
		{ "dump", sticktable_dump }, { NULL, NULL }
	};

	script_class_new(L, "StickTable", methods);
}
