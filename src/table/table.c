/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table.c - the tables that a generation declares, and where their entries come from */
#include <string.h>
#include "base/diag.h"
#include "base/hash.h"
#include "conf/conf.h"
#include "core/timer.h"
#include "expr/expr.h"
#include "snapshot_priv.h"

struct tables_config {
	struct table *last; /* then those declared before */
};

static void tables_fini(void *data)
{
	struct tables_config *tc = data;

	for (struct table *t = tc->last; t; t = t->next) {
		if (t->snapshot)
			snapshot_close(t->snapshot);
		table_state_drop(&t->state);
	}
}

static struct slot config_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct tables_config), .fini = tables_fini,
};

/* Of a proxy: the table that it declares. */
static struct slot section_slot = { .of = SLOT_PROXY, .size = sizeof(struct table *) };

struct slot *const table_slots[] = { &config_slot, &section_slot, NULL };

static struct tables_config *tables_of(const struct config *cfg)
{
	return slot_of(&config_slot, config_slots(cfg));
}

struct table *tables_first(const struct config *cfg)
{
	return tables_of(cfg)->last;
}

struct table *table_lookup(const struct config *cfg, const char *name)
{
	struct table *t = tables_first(cfg);

	while (t && strcmp(t->name, name) != 0)
		t = t->next;
	return t;
}

bool tables_were_declared;

struct table *table_declare(struct config *cfg, const char *name)
{
	struct table *t = arena_zalloc(&cfg->arena, sizeof(*t));

	if (!t)
		return NULL;
	__atomic_store_n(&tables_were_declared, true, __ATOMIC_RELAXED);
	t->name = name;
	t->limits.bytes_factor = 1;
	t->next = tables_of(cfg)->last;
	tables_of(cfg)->last = t;
	return t;
}

struct table **table_section_slot(const struct slot_area *slots)
{
	return slot_of(&section_slot, slots);
}

struct table *table_of_section(const struct slot_area *slots)
{
	return *table_section_slot(slots);
}

unsigned table_shard(const struct table *t, const struct table_entry *e)
{
	const char *key = (const char *)e + t->shape.key_at;
	size_t len = t->shape.key_len;

	if (!t->shards)
		return 0;
	if (t->shape.type == TABLE_STRING)
		len = strnlen(key, len);
	return (unsigned)(hash_bytes(key, len, hash_bytes(t->name, strlen(t->name), 0)) %
			  t->shards) + 1;
}

void table_store(struct table *t, enum table_data d)
{
	if (!t->shape.count[d])
		t->shape.count[d] = 1;
}

/* --- check ------------------------------------------------------------------------------------ */

/* Bytes of a key as they are told: a string has a NUL. */
static unsigned key_size(const struct table *t)
{
	return t->shape.key_len + (t->shape.type == TABLE_STRING);
}

static void check_write_to(struct config *cfg, struct table *t, struct diag_list *diags)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };
	struct table *to = table_lookup(cfg, t->write_to);

	t->written = to;

	if (!to)
		diag_add(diags, DIAG_ALERT, &nowhere, NULL, "Proxy '%s': failed to initialize "
			 "stick-table: write-to: table '%s' doesn't exist.", t->name, t->write_to);
	else if (to->shape.type != t->shape.type)
		diag_add(diags, DIAG_ALERT, &nowhere, NULL, "Proxy '%s': failed to initialize "
			 "stick-table: write-to: cannot mix table types ('%s' has '%s' type and "
			 "'%s' has '%s' type).", t->name, to->name,
			 table_type_name((enum table_type)to->shape.type), t->name,
			 table_type_name((enum table_type)t->shape.type));
	else if (to->shape.key_len != t->shape.key_len)
		diag_add(diags, DIAG_ALERT, &nowhere, NULL, "Proxy '%s': failed to initialize "
			 "stick-table: write-to: cannot mix key sizes ('%s' has '%u' key_size and "
			 "'%s' has '%u' key_size).", t->name, to->name, key_size(to), t->name,
			 key_size(t));
}

static void check_sum(const struct table *t, struct diag_list *diags)
{
	const struct diag_place place = { .file = t->file, .line = t->line };

	diag_add(diags, DIAG_WARNING, &place, "name the section: 'peers <section>'", "stick-table: "
		 "'sum' of table '%s' has nothing to add: the table is not shared with peers.",
		 t->name);
}

void tables_check(struct config *cfg, struct diag_list *diags)
{
	for (struct table *t = tables_first(cfg); t; t = t->next) {
		if (t->write_to)
			check_write_to(cfg, t, diags);
		if (t->limits.sums && !t->peers)
			check_sum(t, diags);
	}
}

/* --- giving up what has expired --------------------------------------------------------------- */

/* How often tables are looked at that nothing looks for a key in: their memory can go. */
#define SWEEP_MIN_MS 1000
#define SWEEP_MAX_MS 30000
/* Entries of a table in one turn; soon behind it comes the next turn, if there are more. */
#define SWEEP_ENTRIES 1024
#define SWEEP_SOON_MS 10

/* Of thread 0. */
static struct timer sweep_timer;

static void sweep(struct timer *timer)
{
	uint64_t wait_ms = TIMER_NEVER;
	bool all = true;

	for (const struct table *t = tables_first(expr_config_in_force()); t; t = t->next) {
		uint64_t part_ms = t->limits.expire_ms / 8;

		if (!t->limits.expire_ms || !t->state)
			continue;
		all = table_sweep(t->state, SWEEP_ENTRIES) && all;
		part_ms = part_ms < SWEEP_MIN_MS ? SWEEP_MIN_MS : part_ms;
		wait_ms = part_ms < wait_ms ? part_ms : wait_ms;
	}
	if (wait_ms == TIMER_NEVER)
		return;
	wait_ms = wait_ms > SWEEP_MAX_MS ? SWEEP_MAX_MS : wait_ms;
	timer_set(timer, clock_now_ms() + (all ? wait_ms : SWEEP_SOON_MS));
}

/* On thread 0. */
static void sweep_soon(const struct config *cfg)
{
	if (!tables_first(cfg))
		return;
	if (!sweep_timer.fire)
		timer_init(&sweep_timer, sweep);
	timer_set(&sweep_timer, clock_now_ms() + SWEEP_MIN_MS);
}

/* --- life of the entries ---------------------------------------------------------------------- */

bool tables_start(struct config *cfg, struct diag_list *diags)
{
	for (struct table *t = tables_first(cfg); t; t = t->next) {
		table_shape_lay_out(&t->shape);
		t->state = table_state_new(t->name, &t->shape, &t->limits);
		if (t->state)
			continue;
		diag_add(diags, DIAG_ALERT, NULL, NULL, "out of memory for stick-table '%s'",
			 t->name);
		return false;
	}
	sweep_soon(cfg);
	return snapshots_start(cfg, diags);
}

void tables_adopt(struct config *next, struct config *prev)
{
	for (struct table *t = tables_first(next); t; t = t->next) {
		const struct table *old = table_lookup(prev, t->name);

		if (!old || !old->state || !table_shape_eq(&old->shape, &t->shape))
			continue;
		table_state_drop(&t->state);
		t->state = table_state_take(old->state);
		if (t->snapshot && old->snapshot)
			snapshot_adopt(t->snapshot, old->snapshot);
		table_state_set_limits(t->state, &t->limits);
	}
}
