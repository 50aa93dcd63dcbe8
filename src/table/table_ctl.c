/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_ctl.c - edge file: show table, set table, clear table
 *
 * A table is walked in steps: an entry is held only while it is processed.
 * Manual: management 9.3.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/num.h"
#include "conf/conf.h"
#include "ctl/ctl.h"
#include "expr/expr.h"
#include "table/part.h"
#include "table_priv.h"

#define FILTERS_MAX 4
/* Places that one step looks at between two questions whether it has lasted long enough. */
#define WALK_EACH 256
#define SWEEP_EACH 1024

enum verb { VERB_SHOW, VERB_SET, VERB_CLEAR };

enum comparison { CMP_EQ, CMP_NE, CMP_LE, CMP_GE, CMP_LT, CMP_GT, CMP_COUNT };

struct filter {
	enum table_data data;
	unsigned cell;
	uint8_t cmp;        /* enum comparison */
	int64_t value;
};

struct table_request {
	struct config *cfg;         /* counted */
	const struct table *table;  /* NULL: all */
	struct table_cursor at;
	bool swept;                 /* what has expired is gone, the first line is written */
	struct filter filters[FILTERS_MAX];
	unsigned filter_count;
};

static enum verb verb_of(const struct ctl_request *rq)
{
	return rq->command->words[1] == 'h' ? VERB_SHOW : rq->command->words[1] == 'e' ? VERB_SET
		: VERB_CLEAR;
}

static void request_release(struct ctl_request *rq)
{
	struct table_request *r = rq->state;

	if (r)
		config_drop(&r->cfg);
	free(r);
	rq->state = NULL;
}

/* The word at rq->at + <i>; "" behind the last. */
static const char *word_at(const struct ctl_request *rq, int i)
{
	return rq->at + i < rq->count ? rq->words[rq->at + i] : "";
}

static void say_usage(struct ctl_request *rq)
{
	if (verb_of(rq) == VERB_SHOW)
		ctl_error(rq, "Optional argument only supports \"data.<store_data_type>\" "
			  "<operator> <value> or key <key> or ptr <ptr>");
	else if (verb_of(rq) == VERB_CLEAR)
		ctl_error(rq, "Required arguments: <table> \"data.<store_data_type>\" <operator> "
			  "<value> or <table> key <key> or <table> ptr <ptr>");
	else
		ctl_error(rq, "Required arguments: <table> key <key> [data.<store_data_type> "
			  "<value>]* or <table> ptr <ptr> [data.<store_data_type> <value>]*");
}

/* --- data by name ----------------------------------------------------------------------------- */

/* "gpc0", "gpc[3]": a datum and its cell. False: no such name. */
static bool data_find(const char *name, enum table_data *data, unsigned *cell)
{
	size_t len = strcspn(name, "[");
	int d = table_data_find(slice_make(name, len));
	const char *at = name + len;

	*cell = 0;
	if (d < 0)
		return false;
	*data = (enum table_data)d;
	if (!*at)
		return true;
	at++;
	if (!table_data_rows[d].is_array || !ascii_is_digit(*at))
		return false;
	*cell = (unsigned)num_prefix_int(at, &at);
	return strcmp(at, "]") == 0;
}

static bool take_integer(const char *word, int64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoll(word, &end, 10);
	return *word && !*end && !errno;
}

/* One filter of three words. False: answered. */
static bool filter_take(struct ctl_request *rq, struct table_request *r)
{
	static const char *const names[CMP_COUNT] = { "eq", "ne", "le", "ge", "lt", "gt" };
	struct filter *f = &r->filters[r->filter_count];
	const char *name = word_at(rq, 0);
	unsigned n = r->filter_count + 1;

	if (strncmp(name, "data.", 5) != 0 || !data_find(name + 5, &f->data, &f->cell)) {
		ctl_error(rq, "Filter entry #%u: Unknown data type", n);
		return false;
	}
	if (!r->table->shape.count[f->data]) {
		ctl_error(rq, "Filter entry #%u: Data type not stored in this table", n);
		return false;
	}
	while (f->cmp < CMP_COUNT && strcmp(names[f->cmp], word_at(rq, 1)) != 0)
		f->cmp++;
	if (f->cmp == CMP_COUNT) {
		ctl_error(rq, "Filter entry #%u: Require and operator among \"eq\", \"ne\", "
			  "\"le\", \"ge\", \"lt\", \"gt\"", n);
		return false;
	}
	if (!take_integer(word_at(rq, 2), &f->value)) {
		ctl_error(rq, "Filter entry #%u: Require a valid integer value to compare against",
			  n);
		return false;
	}
	r->filter_count++;
	rq->at += 3;
	return true;
}

static bool filters_take(struct ctl_request *rq, struct table_request *r)
{
	while (rq->at < rq->count && r->filter_count < FILTERS_MAX)
		if (!filter_take(rq, r))
			return false;
	if (rq->at >= rq->count)
		return true;
	ctl_error(rq, "Detected extra data in filter, %dth word of input, after '%s'", rq->at + 1,
		  rq->words[rq->at - 1]);
	return false;
}

static bool filter_holds(const struct filter *f, int64_t v)
{
	switch ((enum comparison)f->cmp) {
	case CMP_EQ: return v == f->value;
	case CMP_NE: return v != f->value;
	case CMP_LE: return v <= f->value;
	case CMP_GE: return v >= f->value;
	case CMP_LT: return v < f->value;
	default: return v > f->value;
	}
}

/* Identifiers of servers are signed numbers, others are not. */
static int64_t value_of(enum table_data d, uint64_t v)
{
	return d == TABLE_SERVER_ID ? (int32_t)(uint32_t)v : (int64_t)v;
}

/* What is compared: a text is none that can be, and counts as 0. */
static int64_t filter_value(const struct table *t, struct table_entry *e, const struct filter *f,
			    bool *stored)
{
	uint64_t v = 0;

	*stored = table_read_sum(t->state, e, f->data, f->cell, &v);
	return table_data_rows[f->data].kind == TABLE_WORD ? 0 : value_of(f->data, v);
}

static bool is_wanted(const struct table_request *r, struct table_entry *e)
{
	bool stored;

	for (unsigned i = 0; i < r->filter_count; i++) {
		int64_t v = filter_value(r->table, e, &r->filters[i], &stored);

		if (!stored || !filter_holds(&r->filters[i], v))
			return false;
	}
	return true;
}

/* --- show ------------------------------------------------------------------------------------- */

static void show_head(struct strbuf *out, const struct table *t)
{
	strbuf_printf(out, "# table: %s, type: %s, size:%u, used:%u\n", t->name,
		      table_type_name((enum table_type)t->shape.type),
		      table_state_limits(t->state).size, table_state_used(t->state));
}

static void show_cell(struct strbuf *out, const struct table *t, struct table_entry *e,
		      enum table_data d, unsigned i)
{
	const struct table_data_row *row = &table_data_rows[d];
	struct slice text;
	uint64_t v = 0;

	table_read_sum(t->state, e, d, i, &v);
	if (row->is_array && row->kind == TABLE_RATE) /* gpc_rate: gpc0_rate, gpc1_rate... */
		strbuf_printf(out, " %.*s%u_rate(%u)=", (int)strcspn(row->name, "_"), row->name, i,
			      t->shape.period_ms[d]);
	else if (row->is_array)
		strbuf_printf(out, " %s%u=", row->name, i);
	else if (row->kind == TABLE_RATE)
		strbuf_printf(out, " %s(%u)=", row->name, t->shape.period_ms[d]);
	else
		strbuf_printf(out, " %s=", row->name);
	if (row->kind != TABLE_WORD) {
		if (d == TABLE_SERVER_ID)
			strbuf_printf(out, "%" PRId64, value_of(d, v));
		else
			strbuf_add_uint(out, v);
		return;
	}
	text = table_word_text(t->state, (uint32_t)v);
	table_text_print(text.ptr ? text : SLICE("-"), out);
}

/* An entry that the caller holds. */
static void show_entry(struct strbuf *out, const struct table *t, struct table_entry *e)
{
	strbuf_printf(out, "0x%" PRIxPTR ": key=", (uintptr_t)e);
	table_key_print(&t->shape, e, out);
	strbuf_printf(out, " use=%u exp=%u shard=%u", table_refs(e) - 1,
		      table_expires_in(t->state, e), table_shard(t, e));
	for (unsigned d = 0; d < TABLE_DATA_COUNT; d++)
		for (unsigned i = 0; i < t->shape.count[d]; i++)
			show_cell(out, t, e, (enum table_data)d, i);
	strbuf_add_char(out, '\n');
}

static enum ctl_step show_all(struct ctl_request *rq, const struct table_request *r)
{
	const struct table *t = tables_first(r->cfg);
	uint64_t n;

	for (n = 0; t && n < rq->pos; n++)
		t = t->next;
	for (; t; t = t->next, rq->pos++) {
		if (ctl_is_due(rq))
			return CTL_MORE;
		if (!table_sweep(t->state, SWEEP_EACH))
			return CTL_MORE;
		show_head(rq->out, t);
	}
	return CTL_DONE;
}

/* --- what is done with each entry ------------------------------------------------------------- */

static void handle(struct ctl_request *rq, const struct table_request *r, struct table_entry *e)
{
	if (verb_of(rq) == VERB_CLEAR) {
		if (is_wanted(r, e))
			table_remove(r->table->state, e);
		else
			table_drop(e);
		return;
	}
	if (is_wanted(r, e))
		show_entry(rq->out, r->table, e);
	table_drop(e);
}

/* All entries, or those of the filters. */
static enum ctl_step walk(struct ctl_request *rq, struct table_request *r)
{
	struct table_entry *e;
	bool more = true;

	if (!r->swept) {
		if (!table_sweep(r->table->state, SWEEP_EACH))
			return CTL_MORE;
		r->swept = true;
		if (verb_of(rq) == VERB_SHOW)
			show_head(rq->out, r->table);
	}
	for (e = NULL; more || e;) {
		if (ctl_is_due(rq))
			return CTL_MORE;
		e = table_walk(r->table->state, &r->at, WALK_EACH, &more);
		if (e)
			handle(rq, r, e);
	}
	return CTL_DONE;
}

/* --- one entry -------------------------------------------------------------------------------- */

/* data.<type> <value>..., from rq->at on. */
static void set_data(struct ctl_request *rq, const struct table *t, struct table_entry *e)
{
	for (; rq->at < rq->count; rq->at += 2) {
		const char *name = word_at(rq, 0);
		enum table_data d;
		unsigned cell;
		int64_t v;

		if (strncmp(name, "data.", 5) != 0)
			ctl_error(rq, "\"data.<type>\" followed by a value expected");
		else if (!data_find(name + 5, &d, &cell))
			ctl_error(rq, "Unknown data type");
		else if (!t->shape.count[d])
			ctl_error(rq, "Data type not stored in this table");
		else if (table_data_rows[d].kind == TABLE_WORD || !take_integer(word_at(rq, 1), &v))
			ctl_error(rq, "Require a valid integer value to store");
		else if (cell >= t->shape.count[d])
			ctl_error(rq, "index out of range in this data array");
		else if (table_write(&t->shape, e, d, cell, (uint64_t)v))
			continue;
		break;
	}
	table_changed(t->state, e);
}

/* An entry that was found, and is held. */
static void handle_one(struct ctl_request *rq, const struct table *t, struct table_entry *e)
{
	switch (verb_of(rq)) {
	case VERB_SHOW:
		show_head(rq->out, t);
		show_entry(rq->out, t, e);
		table_drop(e);
		break;
	case VERB_SET:
		set_data(rq, t, e);
		table_drop(e);
		break;
	case VERB_CLEAR:
		if (!table_remove(t->state, e))
			ctl_error(rq, "Entry currently in use, cannot remove");
		break;
	}
}

static void by_key(struct ctl_request *rq, const struct table *t)
{
	static const char *const verbs[] = {
		[VERB_SHOW] = "Showing keys from", [VERB_SET] = "Inserting keys into",
		[VERB_CLEAR] = "Removing keys from",
	};
	enum verb verb = verb_of(rq);
	struct table_entry *e;
	struct table_key key;

	if (!*word_at(rq, 1)) {
		ctl_error(rq, "Key value expected");
		return;
	}
	if (t->shape.type == TABLE_BINARY) {
		ctl_error(rq, "%s tables of type other than ip, ipv6, string and integer is not "
			  "supported", verbs[verb]);
		return;
	}
	if (!table_key_of_text(&t->shape, slice_of(word_at(rq, 1)), &key)) {
		ctl_error(rq, "Invalid key");
		return;
	}
	rq->at += 2;
	e = verb == VERB_SET ? table_get(t->state, &key) : table_find(t->state, &key);
	if (e)
		handle_one(rq, t, e);
	else if (verb == VERB_SET)
		ctl_error(rq, "Unable to allocate a new entry");
}

static void by_address(struct ctl_request *rq, const struct table *t)
{
	const char *word = word_at(rq, 1);
	struct table_entry *e;
	uint64_t address;

	if (strncmp(word, "0x", 2) != 0 || !num_parse_hex(slice_of(word + 2), &address)) {
		ctl_error(rq, "Pointer expected (0xffff notation)");
		return;
	}
	rq->at += 2;
	e = table_at(t->state, (uintptr_t)address);
	if (e)
		handle_one(rq, t, e);
	else
		ctl_error(rq, "No entry can be found matching ptr.");
}

/* --- commands --------------------------------------------------------------------------------- */

/* Makes the state of the command, and finds its table. False: answered. */
static bool request_open(struct ctl_request *rq)
{
	struct table_request *r = calloc(1, sizeof(*r));

	if (!r) {
		ctl_error(rq, "Out of memory error.");
		return false;
	}
	rq->state = r;
	r->cfg = config_take(expr_config_in_force());
	if (rq->at >= rq->count) {
		if (verb_of(rq) == VERB_SHOW)
			return true;
		say_usage(rq);
		return false;
	}
	r->table = table_lookup(r->cfg, rq->words[rq->at++]);
	if (r->table)
		return true;
	ctl_error(rq, "No such table");
	return false;
}

/* What follows the table's name. False: all is done. */
static bool request_arguments(struct ctl_request *rq, struct table_request *r)
{
	const char *word = word_at(rq, 0);
	enum verb verb = verb_of(rq);

	if (rq->at >= rq->count && verb != VERB_SET)
		return true;
	if (strcmp(word, "key") == 0)
		by_key(rq, r->table);
	else if (strcmp(word, "ptr") == 0)
		by_address(rq, r->table);
	else if (strncmp(word, "data.", 5) != 0)
		say_usage(rq);
	else if (verb == VERB_SET)
		ctl_error(rq, "content-based lookup is only supported with the \"show\" and "
			  "\"clear\" actions");
	else
		return filters_take(rq, r);
	return false;
}

static enum ctl_step run(struct ctl_request *rq)
{
	struct table_request *r = rq->state;

	if (!r) {
		if (!request_open(rq))
			return CTL_DONE;
		r = rq->state;
		if (r->table && !request_arguments(rq, r))
			return CTL_DONE;
	}
	return r->table ? walk(rq, r) : show_all(rq, r);
}

static const struct ctl_command commands[] = {
	{ .words = "clear table", .level = CTL_OPERATOR,
	  .syntax = "<table> [data.<data> <operator> <value>]... | key <key> | ptr <address>",
	  .help = "remove entries of a stick table", .run = run, .release = request_release },
	{ .words = "set table", .level = CTL_OPERATOR,
	  .syntax = "<table> {key <key> | ptr <address>} [data.<data> <value>]...",
	  .help = "create or change an entry of a stick table", .run = run,
	  .release = request_release },
	{ .words = "show table", .level = CTL_USER,
	  .syntax = "[<table> [data.<data> <operator> <value>]... | key <key> | ptr <address>]",
	  .help = "list stick tables, or their entries", .run = run, .release = request_release },
	{ 0 }
};

const struct module mod_table_ctl = { .name = "stick-table-commands", .commands = commands };
