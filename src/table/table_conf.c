/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_conf.c - edge file: the keyword stick-table. Exports the module descriptor. */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/num.h"
#include "conf/conf.h"
#include "core/timer.h"
#include "snapshot_priv.h"

/* Between two snapshots, when nothing is said, and the least. */
#define EVERY_MS 60000
#define EVERY_LEAST_MS 100

/* How messages begin: stick-table, or table. */
#define NAME l->keyword->words

/* --- words with a value ----------------------------------------------------------------------- */

/* The value of the argument before: NULL: reported. */
static const char *take_value(struct conf_line *l)
{
	const char *word = conf_next(l);

	if (!word)
		conf_error(l, l->at - 1, NULL, "%s: missing argument after '%s'.", NAME,
			   l->words[l->at - 1]);
	return word;
}

static bool unexpected(struct conf_line *l, char c)
{
	return conf_error(l, l->at - 1, NULL, "%s: unexpected character '%c' in argument of "
			  "'%s'.", NAME, c, l->words[l->at - 2]);
}

static bool parse_size(struct conf_line *l, struct table *t)
{
	const char *word = take_value(l);
	size_t offset = 0;
	uint64_t size = 0;

	if (!word)
		return false;
	if (num_parse_size(slice_of(word), &size, &offset) != NUM_OK || size > UINT32_MAX)
		return unexpected(l, size > UINT32_MAX ? word[strlen(word) - 1] : word[offset]);
	t->limits.size = (uint32_t)size;
	return true;
}

static bool parse_expire(struct conf_line *l, struct table *t)
{
	const char *word = take_value(l);
	enum num_error error;
	size_t offset = 0;
	uint64_t us;

	if (!word)
		return false;
	error = num_parse_time(slice_of(word), NUM_MS, &us, &offset);
	if (error == NUM_OVERFLOW || (error == NUM_OK && num_us_to_ms(us) > TABLE_DELAY_MAX))
		return conf_report(l, l->at - 1, DIAG_ALERT, DIAG_TIGHT, "%s: timer overflow in "
				   "argument <%s> to <%s>, maximum value is 2147483647 ms "
				   "(~24.8 days).", NAME, word, l->words[l->at - 2]);
	if (error != NUM_OK)
		return unexpected(l, word[offset]);
	t->limits.expire_ms = (uint32_t)num_us_to_ms(us);
	return true;
}

static bool parse_factor(struct conf_line *l, struct table *t)
{
	const char *word = take_value(l), *c = word;
	uint64_t factor;

	if (!word)
		return false;
	while (ascii_is_digit(*c))
		c++;
	if (*c || c == word)
		return unexpected(l, *c);
	if (!num_parse_u64(slice_of(word), &factor) || factor < 1 || factor > 1024)
		return conf_error(l, l->at - 1, NULL, "%s: argument 'brates-factor' must be "
				  "greater than 0 and lower or equal than 1024.", NAME);
	t->limits.bytes_factor = (uint32_t)factor;
	return true;
}

static bool parse_write_to(struct conf_line *l, struct table *t)
{
	t->write_to = conf_next(l);
	return (t->write_to && *t->write_to) ||
	       conf_error(l, l->at - 1, NULL, "%s : write-to requires table name.", NAME);
}

static bool parse_server_key(struct conf_line *l, struct table *t)
{
	const char *word = conf_peek(l) ? conf_next(l) : "";

	t->server_key = strcmp(word, "addr") == 0 ? TABLE_SERVER_ADDR : TABLE_SERVER_NAME;
	return t->server_key == TABLE_SERVER_ADDR || strcmp(word, "name") == 0 ||
	       conf_error(l, l->at - 1, "expects 'name' or 'addr'",
			  "%s : unknown server key type '%s'.", NAME, word);
}

static bool parse_peers(struct conf_line *l, struct table *t)
{
	t->peers = take_value(l);
	return t->peers != NULL;
}

/* Has another table this file? */
static bool file_is_taken(struct conf_line *l, const struct table *mine, const char *path)
{
	for (const struct table *t = tables_first(l->cfg); t; t = t->next)
		if (t != mine && t->snapshot && strcmp(t->snapshot->path, path) == 0)
			return !conf_error(l, l->at - 1, "give each table a file of its own",
					   "%s: '%s' is the file of table '%s' at %s:%d.", NAME,
					   path,
					   t->name, t->file, t->line);
	return false;
}

/* [every <time>] behind the path. */
static bool parse_every(struct conf_line *l, struct table_snapshot *f)
{
	const char *word = conf_peek(l);
	size_t offset = 0;
	uint64_t us;

	f->every_ms = EVERY_MS;
	if (!word || strcmp(word, "every") != 0)
		return true;
	l->at++;
	word = take_value(l);
	if (!word)
		return false;
	if (num_parse_time(slice_of(word), NUM_MS, &us, &offset) != NUM_OK ||
	    num_us_to_ms(us) > TABLE_DELAY_MAX || (us && num_us_to_ms(us) < EVERY_LEAST_MS))
		return conf_error(l, l->at - 1, "a time as in 'every 5m', of 100ms at least; "
				  "'every 0' writes it only when the process ends",
				  "%s: '%s' is no time between two snapshots.", NAME, word);
	f->every_ms = (uint32_t)num_us_to_ms(us);
	return true;
}

static bool parse_file(struct conf_line *l, struct table *t)
{
	const char *word = take_value(l);
	struct table_snapshot *f;

	if (!word)
		return false;
	if (*word != '/' || !snapshot_name(word))
		return conf_error(l, l->at - 1, "an absolute name, for it is used when the process "
				  "may be in another folder: 'file /var/lib/haproxy/clients.table'",
				  "%s: 'file' expects the absolute name of a file but found "
				  "'%s'.", NAME, word);
	if (file_is_taken(l, t, word))
		return false;
	f = arena_zalloc(&l->cfg->arena, sizeof(*f));
	if (f)
		f->path = conf_strdup(l->cfg, word);
	if (!f || !f->path)
		return conf_error(l, 0, NULL, "%s: out of memory.", NAME);
	f->name = snapshot_name(f->path);
	f->directory = -1;
	f->due_ms = TIMER_NEVER;
	t->snapshot = f;
	return parse_every(l, f);
}

static bool parse_nopurge(struct conf_line *l, struct table *t)
{
	t->limits.keep = true;
	return true;
}

static bool parse_sum(struct conf_line *l, struct table *t)
{
	t->limits.sums = true;
	return true;
}

static bool parse_recv_only(struct conf_line *l, struct table *t)
{
	t->recv_only = true;
	return true;
}

/* --- type ------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	uint8_t type;
	uint8_t key_len;
} types[] = {
	{ "ip", TABLE_IPV4, 4 }, { "ipv4", TABLE_IPV4, 4 }, { "ipv6", TABLE_IPV6, 16 },
	{ "integer", TABLE_INTEGER, 4 }, { "string", TABLE_STRING, TABLE_TEXT_LEN },
	{ "binary", TABLE_BINARY, TABLE_BYTES_LEN },
};

static bool parse_len(struct conf_line *l, struct table *t)
{
	const char *word;
	int64_t len;

	l->at++;
	word = conf_peek(l) ? conf_next(l) : "";
	if (!num_parse_range(slice_of(word), 1, INT64_MAX, &len))
		return conf_error(l, l->at - 1, "at most 16384",
				  "'len' expects a positive integer argument.");
	if (len > TABLE_KEY_MAX)
		return conf_error(l, l->at - 1, NULL, "'len' of %s is more than the %d bytes that "
				  "a key may have.", word, TABLE_KEY_MAX);
	t->shape.key_len = (uint32_t)len;
	return true;
}

static bool parse_type(struct conf_line *l, struct table *t)
{
	const char *word = conf_peek(l) ? conf_next(l) : "";

	for (unsigned i = 0; i < ARRAY_LEN(types); i++) {
		if (strcmp(word, types[i].name) != 0)
			continue;
		t->shape.type = types[i].type;
		t->shape.key_len = types[i].key_len;
		if (types[i].type >= TABLE_STRING && conf_peek(l) &&
		    strcmp(conf_peek(l), "len") == 0)
			return parse_len(l, t);
		return true;
	}
	return conf_error(l, l->at - 1, "expects ip, ipv4, ipv6, integer, string or binary",
			  "%s: unknown type '%s'.", NAME, word);
}

/* --- store ------------------------------------------------------------------------------------ */

/* One item of a list: "gpc_rate(3,10s)". */
struct item {
	struct slice name;
	struct slice args[2]; /* slice_none(): not there */
	bool is_open;         /* its parenthesis is not closed */
};

/* Reads the item at the start of <text>; returns what follows, behind its comma. */
static const char *item_read(const char *text, struct item *out)
{
	const char *c = text + strcspn(text, "(,");

	*out = (struct item){ .name = slice_make(text, (size_t)(c - text)) };
	if (*c == '(') {
		const char *end = c + strcspn(c, ")"), *comma = strpbrk(c, ",)");

		out->is_open = !*end;
		out->args[0] = slice_make(c + 1, (size_t)(end - c - 1));
		if (*end && *comma == ',') {
			out->args[0].len = (size_t)(comma - c - 1);
			out->args[1] = slice_make(comma + 1, (size_t)(end - comma - 1));
			comma = memchr(comma + 1, ',', out->args[1].len);
			if (comma)
				out->args[1].len = (size_t)(comma - out->args[1].ptr);
		}
		c = *end ? end + 1 : end;
	}
	return *c == ',' ? c + 1 : c;
}

static bool item_error(struct conf_line *l, const char *what, const struct item *it)
{
	return conf_error(l, l->at - 1, NULL, "%s: %s store option '%.*s'%s.", NAME, what,
			  SLICE_FMT(it->name), strstr(what, "used") ? ", ignored" : "");
}

/* gpc0 and its kin against the arrays that stand for them. False: both, reported. */
static bool check_arrays(struct conf_line *l, const struct table *t)
{
	const uint8_t *n = t->shape.count;
	const char *array = NULL, *plain = NULL;

	if (n[TABLE_GPT] && n[TABLE_GPT0])
		array = "gpt", plain = "gpt0";
	if (n[TABLE_GPC] && (n[TABLE_GPC0] || n[TABLE_GPC1]))
		array = "gpc", plain = "gpc[0/1]";
	if (n[TABLE_GPC_RATE] && (n[TABLE_GPC0_RATE] || n[TABLE_GPC1_RATE]))
		array = "gpc_rate", plain = "gpc[0/1]_rate";
	return !array || conf_error(l, l->at - 1, NULL, "%s: simultaneous usage of '%s' and "
				    "'%s' in a same table is not permitted as '%s' overrides "
				    "'%s'.", NAME, array, plain, array, plain);
}

static bool store_item(struct conf_line *l, struct table *t, const struct item *it)
{
	int d = table_data_find(it->name);
	const struct table_data_row *row = d < 0 ? NULL : &table_data_rows[d];
	unsigned args = row ? row->is_array + (row->kind == TABLE_RATE) : 0;
	struct slice period;
	int64_t count = 1;
	uint64_t us;

	if (it->is_open)
		return item_error(l, "missing closing parenthesis after", it);
	if (!row)
		return item_error(l, "unknown", it);
	if (args && (!it->args[args - 1].ptr))
		return item_error(l, "missing argument to", it);
	if (args < 2 && it->args[args].ptr)
		return item_error(l, "unexpected argument to", it);
	if (row->is_array && !num_parse_range(it->args[0], 1, TABLE_ARRAY_MAX, &count))
		return item_error(l, "array size is out of allowed range (1-100) for", it);
	if (t->shape.count[d]) {
		conf_report(l, l->at - 1, DIAG_WARNING, DIAG_TIGHT, "%s: store option '%s' "
			    "already enabled, ignored.", NAME, row->name);
		return true;
	}
	if (row->kind == TABLE_RATE) {
		period = it->args[args - 1];
		if (num_parse_time(period, NUM_MS, &us, NULL) != NUM_OK ||
		    num_us_to_ms(us) > TABLE_DELAY_MAX)
			return item_error(l, "error when processing", it);
		t->shape.period_ms[d] = (uint32_t)num_us_to_ms(us);
	}
	t->shape.count[d] = (uint8_t)count;
	return check_arrays(l, t);
}

static bool parse_store(struct conf_line *l, struct table *t)
{
	const char *list = conf_peek(l) ? conf_next(l) : "";
	struct item it;

	while (*list) {
		list = item_read(list, &it);
		if (!store_item(l, t, &it))
			return false;
	}
	return true;
}

/* --- the line --------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	bool (*parse)(struct conf_line *l, struct table *t);
} arguments[] = {
	{ "type", parse_type }, { "size", parse_size }, { "expire", parse_expire },
	{ "nopurge", parse_nopurge }, { "recv-only", parse_recv_only },
	{ "write-to", parse_write_to }, { "srvkey", parse_server_key }, { "store", parse_store },
	{ "brates-factor", parse_factor }, { "peers", parse_peers }, { "file", parse_file },
	{ "sum", parse_sum },
};

static const char *argument_name(void *ctx)
{
	unsigned *at = ctx;

	return *at < ARRAY_LEN(arguments) ? arguments[(*at)++].name : NULL;
}

static bool parse_argument(struct conf_line *l, struct table *t)
{
	const char *word = conf_next(l), *close;
	unsigned at = 0;

	/* a table of a section peers belongs to that */
	for (unsigned i = 0; i < ARRAY_LEN(arguments); i++)
		if (strcmp(word, arguments[i].name) == 0 &&
		    (arguments[i].parse != parse_peers || l->where != CONF_OTHER))
			return arguments[i].parse(l, t);
	close = conf_closest(word, argument_name, &at);
	return conf_error(l, l->at - 1, close ? arena_printf(&l->cfg->arena, "did you mean '%s'?",
							     close) : NULL,
			  "%s: unknown argument '%s'.", NAME, word);
}

static const char *section_kind(const struct conf_line *l)
{
	return l->where == CONF_FRONTEND ? "frontend" : l->where == CONF_BACKEND ? "backend"
		: "listen";
}

/* Declares a table, and reads what stands behind its name. */
static struct table *declare(struct conf_line *l, const char *name, const char *shown)
{
	const struct table *other = table_lookup(l->cfg, name);
	struct table *t;

	if (other) {
		conf_error(l, 0, NULL, "stick-table name '%s' conflicts with table declared in "
			   "%s '%s' at %s:%d.", shown, other->owner_kind, other->owner_name,
			   other->file, other->line);
		return NULL;
	}
	t = table_declare(l->cfg, conf_strdup(l->cfg, name));
	if (!t || !t->name) {
		conf_error(l, 0, NULL, "%s: out of memory.", NAME);
		return NULL;
	}
	t->owner_name = conf_strdup(l->cfg, l->section_name);
	t->file = conf_strdup(l->cfg, l->place.file ? l->place.file : "");
	t->line = l->place.line;
	t->shape.type = TABLE_TYPES;
	return t;
}

static bool parse_arguments(struct conf_line *l, struct table *t)
{
	while (conf_peek(l))
		if (!parse_argument(l, t))
			return false;
	if (!t->limits.size)
		return conf_error(l, 0, "say how many entries it may have: 'size 100k'",
				  "%s: missing size.", NAME);
	if (t->shape.type == TABLE_TYPES)
		return conf_error(l, 0, "say what its keys are: 'type ipv6', 'type string len 64'",
				  "%s: missing type.", NAME);
	return true;
}

static bool parse_stick_table(struct conf_line *l)
{
	struct table *t = declare(l, l->section_name, l->section_name);

	if (!t)
		return false;
	t->owner_kind = section_kind(l);
	*table_section_slot(l->slots) = t;
	return parse_arguments(l, t);
}

/* `table` of a section peers: others call it "<section>/<name>". */
static bool parse_table(struct conf_line *l)
{
	const char *name = conf_next(l), *whole;
	struct table *t;

	if (!name)
		return conf_error(l, 0, "table <name> type <type> size <entries>",
				  "%s: missing name.", NAME);
	whole = arena_printf(&l->cfg->arena, "%s/%s", l->section_name, name);
	t = whole ? declare(l, whole, name) : NULL;
	if (!t)
		return whole ? false : conf_error(l, 0, NULL, "%s: out of memory.", NAME);
	t->owner_kind = "peers";
	t->peers = t->owner_name;
	return parse_arguments(l, t);
}

#define TABLE_SYNTAX "type <type> [len <length>] size <entries> [expire <time>] [nopurge] " \
		     "[recv-only] [write-to <table>] [srvkey {name|addr}] [store <data>]* " \
		     "[brates-factor <number>] [file <path> [every <time>]] [sum]"

static const struct conf_keyword keywords[] = {
	{ .words = "stick-table", .where = CONF_FE_BE, .flags = CONF_STRICT_PLACE, .max_args = -1,
	  .parse = parse_stick_table,
	  .syntax = TABLE_SYNTAX " [peers <section>]",
	  .help = "remembers of each key what is stored, under the section's name" },
	{ .words = "table", .where = CONF_OTHER, .section = "peers", .max_args = -1,
	  .parse = parse_table, .syntax = "<name> " TABLE_SYNTAX,
	  .help = "a table of the section's own, known as <section>/<name>" },
	{ 0 }
};

const struct module mod_table = {
	.name = "stick-tables", .keywords = keywords, .slots = table_slots,
	.check = tables_check, .start = tables_start, .adopt = tables_adopt,
	.thread_fini = snapshots_end,
};
