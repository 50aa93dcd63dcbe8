/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* table.h - stick tables: data per key, kept for a while
 *
 * Purpose: entries found by a key (an address, a number, a text, bytes), each with the counters,
 *          rates and tags that its table stores. Knows neither proxies nor streams: higher floors
 *          decide what counts.
 * Owns   : a generation owns the declarations (struct table, in its arena). The entries are in a
 *          refcounted struct table_state: tables_adopt() passes them to the next generation's table
 *          with the same name, key and data. An entry that is held (table_get(), table_find()) is
 *          neither removed nor moved before table_drop(). A holder of an entry must also hold its
 *          state.
 * Threads: any. Entries are distributed over shards by a keyed hash of their key; a lookup takes
 *          the lock of one shard for a few instructions. Data of entries are atomic: a holder
 *          counts and reads without a lock.
 * Order  : each shard keeps its entries in order of last use, which is also the order of expiry,
 *          since a table has one `expire`. To spare the lock, an often used entry is moved only
 *          once per fraction of `expire`: an expired entry is never found, but its memory may be
 *          kept for that fraction longer. A full table drops its least recently used entries, per
 *          shard; with `nopurge` it accepts no new key.
 * Units  : times are milliseconds of the monotonic clock, of which 32 bits are kept.
 * Errors : out of memory and out of room are the same for callers: no entry.
 * Manual : configuration 11.1.
 */
#ifndef TABLE_TABLE_H
#define TABLE_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/slice.h"
#include "core/activity.h"

struct config;
struct conf_line;
struct diag_list;
struct sample;
struct strbuf;

enum table_type {
	TABLE_IPV4, TABLE_IPV6, TABLE_INTEGER, TABLE_STRING, TABLE_BINARY, TABLE_TYPES
};

/* How data are stored: 4 bytes, 8 bytes, 12 bytes of a rate, the number of a text, 8 bytes of a
 * pace (table/pace.h), which is shown as the ms until its initial state.
 */
enum table_kind { TABLE_U32, TABLE_U64, TABLE_RATE, TABLE_WORD, TABLE_PACE };

/* X(name, text, kind, is it an array?), in the order in which they are shown. */
#define TABLE_DATA(X) \
	X(SERVER_ID, "server_id", TABLE_U32, false) \
	X(GPT0, "gpt0", TABLE_U32, false) \
	X(GPC0, "gpc0", TABLE_U32, false) \
	X(GPC0_RATE, "gpc0_rate", TABLE_RATE, false) \
	X(CONN_CNT, "conn_cnt", TABLE_U32, false) \
	X(CONN_RATE, "conn_rate", TABLE_RATE, false) \
	X(CONN_CUR, "conn_cur", TABLE_U32, false) \
	X(SESS_CNT, "sess_cnt", TABLE_U32, false) \
	X(SESS_RATE, "sess_rate", TABLE_RATE, false) \
	X(HTTP_REQ_CNT, "http_req_cnt", TABLE_U32, false) \
	X(HTTP_REQ_RATE, "http_req_rate", TABLE_RATE, false) \
	X(HTTP_ERR_CNT, "http_err_cnt", TABLE_U32, false) \
	X(HTTP_ERR_RATE, "http_err_rate", TABLE_RATE, false) \
	X(BYTES_IN_CNT, "bytes_in_cnt", TABLE_U64, false) \
	X(BYTES_IN_RATE, "bytes_in_rate", TABLE_RATE, false) \
	X(BYTES_OUT_CNT, "bytes_out_cnt", TABLE_U64, false) \
	X(BYTES_OUT_RATE, "bytes_out_rate", TABLE_RATE, false) \
	X(GPC1, "gpc1", TABLE_U32, false) \
	X(GPC1_RATE, "gpc1_rate", TABLE_RATE, false) \
	X(SERVER_KEY, "server_key", TABLE_WORD, false) \
	X(HTTP_FAIL_CNT, "http_fail_cnt", TABLE_U32, false) \
	X(HTTP_FAIL_RATE, "http_fail_rate", TABLE_RATE, false) \
	X(GPT, "gpt", TABLE_U32, true) \
	X(GPC, "gpc", TABLE_U32, true) \
	X(GPC_RATE, "gpc_rate", TABLE_RATE, true) \
	X(GLITCH_CNT, "glitch_cnt", TABLE_U32, false) \
	X(GLITCH_RATE, "glitch_rate", TABLE_RATE, false) \
	X(RATE_LIMIT, "rate_limit", TABLE_PACE, false) \
	X(RATE_LIMITED_CNT, "rate_limited_cnt", TABLE_U32, false)

enum table_data {
#define X(name, text, kind, array) TABLE_##name,
	TABLE_DATA(X)
#undef X
	TABLE_DATA_COUNT
};

#define TABLE_ARRAY_MAX 100
#define TABLE_TEXT_LEN 31        /* of strings without `len`: as in the reference */
#define TABLE_BYTES_LEN 32       /* of binaries without `len` */
#define TABLE_KEY_MAX 16384      /* the longest `len` */
#define TABLE_DELAY_MAX 2147483647ll /* the longest `expire` and the longest period: ms */

/* Name and storage of a kind of data. */
struct table_data_row {
	const char *name;
	uint8_t kind;  /* enum table_kind */
	bool is_array;
};
extern const struct table_data_row table_data_rows[TABLE_DATA_COUNT];
/* Does it take 8 bytes? */
static inline bool table_kind_is_wide(unsigned kind)
{
	return kind == TABLE_U64 || kind == TABLE_PACE;
}
/* Finds a kind of data by name; -1: none. */
int table_data_find(struct slice name);
/* Returns "ip", "string", etc., as tables are shown. */
const char *table_type_name(enum table_type t);

/* --- the shape of entries --------------------------------------------------------------------- */

/* The layout of a table's entries. Filled by a declaration, then laid out. */
struct table_shape {
	uint8_t type;                          /* enum table_type */
	uint32_t key_len;                      /* bytes of a key; for strings: the maximum */
	uint8_t count[TABLE_DATA_COUNT];       /* cells per kind of data; 0: not stored */
	uint32_t period_ms[TABLE_DATA_COUNT];  /* of rates */
	/* set by table_shape_lay_out() */
	uint32_t at[TABLE_DATA_COUNT];         /* offset of the first cell in an entry */
	uint32_t key_at, size;                 /* offset of the key; size of an entry */
};

/* Computes the offsets, once all stored data are known. */
void table_shape_lay_out(struct table_shape *s);
/* Can keys of one be used for the other? */
static inline bool table_keys_agree(const struct table_shape *a, const struct table_shape *b)
{
	return a->type == b->type && a->key_len == b->key_len;
}
/* Are key, data, periods and lengths of arrays equal? */
bool table_shape_eq(const struct table_shape *a, const struct table_shape *b);

/* --- entries ---------------------------------------------------------------------------------- */

struct table_entry {
	struct table_entry *next;   /* in its bucket, or among free entries */
	struct list lru;
	uint32_t refs;              /* atomic; TABLE_ENTRY_FREE: not in use */
	uint32_t touched_ms;        /* atomic: last use */
	uint32_t placed_ms;         /* atomic: the use that determined its position in <lru> */
	uint32_t hash;
	uint32_t stamp;             /* atomic: number of its last change: table/feed.h */
	/* key and data follow: struct table_shape */
};

#define TABLE_ENTRY_FREE UINT32_MAX

/* Events in a sliding window of two periods. */
struct table_rate {
	uint32_t start_ms;  /* atomic: start of the current period; 0: never; 1: being changed */
	uint32_t current;   /* atomic: events since then */
	uint32_t previous;  /* atomic: events of the period before */
};

static inline uint32_t table_now_ms(void)
{
	return (uint32_t)clock_now_ms();
}

/* Adds <n> events that occur now. */
void table_rate_add(struct table_rate *r, uint32_t period_ms, uint32_t n, uint32_t now_ms);
/* Returns the events of the last period: those of the current one plus, proportionally, those of
 * the previous one that the window still covers, rounded down; but a single event remains visible
 * until its window is over.
 */
uint32_t table_rate_read(const struct table_rate *r, uint32_t period_ms, uint32_t now_ms);
/* Sets a rate as if <n> events occurred now, and none before. */
void table_rate_set(struct table_rate *r, uint32_t n, uint32_t now_ms);
/* Reads its three members consistently, and sets them. A start of 0 is set to a time long ago. */
struct table_rate table_rate_copy(const struct table_rate *r);
void table_rate_put(struct table_rate *r, const struct table_rate *from);

/* Returns a cell of an entry. NULL: its table does not store it. */
static inline void *table_cell(const struct table_shape *s, struct table_entry *e,
			       enum table_data d, unsigned i)
{
	return i < s->count[d] ? (char *)e + s->at[d] + (size_t)i *
		(table_data_rows[d].kind == TABLE_RATE ? sizeof(struct table_rate)
		 : table_kind_is_wide(table_data_rows[d].kind) ? 8 : 4) : NULL;
}
/* Returns the data that stand for <d> in tables with arrays: gpc0 is gpc(0), gpc1_rate is
 * gpc_rate(1). *i is set to the cell.
 */
enum table_data table_data_stored(const struct table_shape *s, enum table_data d, unsigned *i);

/* Reads a cell; for a rate, its current value. False: not stored. */
bool table_read(const struct table_shape *s, struct table_entry *e, enum table_data d, unsigned i,
		uint64_t *out);
/* Sets a cell, as `set table` does; cells of texts cannot be set. False: not stored. */
bool table_write(const struct table_shape *s, struct table_entry *e, enum table_data d, unsigned i,
		 uint64_t value);
/* Adds <n> to a cell; to a rate, as events. False: not stored. */
bool table_add(const struct table_shape *s, struct table_entry *e, enum table_data d, unsigned i,
	       uint64_t n);
/* Subtracts 1 from a number unless it is 0. */
void table_take_one(const struct table_shape *s, struct table_entry *e, enum table_data d);

/* --- keys ------------------------------------------------------------------------------------- */

/* A key. Numbers and addresses are stored in <bytes>, and <at> is NULL; others stay where they
 * were.
 */
struct table_key {
	const char *at;
	size_t len;
	uint8_t bytes[16];
};

static inline const void *table_key_bytes(const struct table_key *k)
{
	return k->at ? k->at : (const char *)k->bytes;
}

/* Converts a sample to a key for tables of this shape, cast in <arena>. False: impossible, or out
 * of memory.
 */
bool table_key_of_sample(const struct table_shape *s, struct sample *smp, struct arena *arena,
			 struct table_key *out);
/* Converts a word of the Runtime API to a key. Binary keys are used as they are. False: invalid. */
bool table_key_of_text(const struct table_shape *s, struct slice text, struct table_key *out);
/* Can samples of this type (enum sample_type) be keys of tables of type <t>? */
bool table_type_takes(enum table_type t, unsigned sample_type);
/* Returns the key of an entry, as it was given; borrowed. */
void table_key_of_entry(const struct table_shape *s, const struct table_entry *e,
			struct table_key *out);
/* Returns the key of an entry as a sample, whose bytes are valid while the entry is held. */
void table_key_sample(const struct table_shape *s, struct table_entry *e, struct sample *out);
/* Prints the key of an entry as `show table` does. */
void table_key_print(const struct table_shape *s, const struct table_entry *e, struct strbuf *out);

/* --- states ----------------------------------------------------------------------------------- */

/* Settings that may change at a reload. */
struct table_limits {
	uint32_t size;       /* entries */
	uint32_t expire_ms;  /* 0: entries do not expire */
	bool keep;           /* nopurge: no entry is dropped for a new one */
	uint32_t bytes_factor; /* brates-factor: bytes per event of a rate of bytes; 1 */
	/* sum: counts of peers are kept separately, and added (table/part.h) */
	bool sums;
};

struct table_state;

/* Creates an empty table. NULL: out of memory. */
struct table_state *table_state_new(const char *name, const struct table_shape *s,
				    const struct table_limits *l);
struct table_state *table_state_take(struct table_state *st);
/* Drops a reference and NULLs the pointer. */
void table_state_drop(struct table_state **st);
const struct table_shape *table_state_shape(const struct table_state *st);
struct table_limits table_state_limits(const struct table_state *st);
/* Changes the limits. */
void table_state_set_limits(struct table_state *st, const struct table_limits *l);
/* Returns the number of entries. */
uint32_t table_state_used(const struct table_state *st);
/* Returns how often table_changed() was called, modulo 2^32. */
uint32_t table_state_changes(const struct table_state *st);

/* Finds or creates the entry of a key, marks it as used and takes a hold. NULL: no room, or out of
 * memory.
 */
struct table_entry *table_get(struct table_state *st, const struct table_key *key);
/* As table_get(), as if the entry was used <age_ms> ago; an existing entry does not become older.
 */
struct table_entry *table_get_aged(struct table_state *st, const struct table_key *key,
				   uint32_t age_ms);
#define TABLE_EXPECTED_MAX 16
/* Prefetches the memory that lookups of these keys, at most TABLE_EXPECTED_MAX, will need, for all
 * in parallel.
 */
void table_expect(struct table_state *st, const struct table_key *keys, unsigned count);
/* Finds the entry of a key and takes a hold, without marking it as used. NULL: none. */
struct table_entry *table_find(struct table_state *st, const struct table_key *key);
/* Takes another hold on a held entry. */
static inline struct table_entry *table_hold(struct table_entry *e)
{
	SHARED_LINE(&e->refs);
	__atomic_fetch_add(&e->refs, 1, __ATOMIC_RELAXED);
	return e;
}
/* Drops the caller's hold. */
static inline void table_drop(struct table_entry *e)
{
	SHARED_LINE(&e->refs);
	__atomic_fetch_sub(&e->refs, 1, __ATOMIC_RELEASE);
}
/* Marks a held entry as used: it does not expire before `expire` from now. */
void table_touch(struct table_state *st, struct table_entry *e);
/* As table_touch(), for an entry that was also changed here: notes it for the reader of the table's
 * feed (table/feed.h).
 */
void table_changed(struct table_state *st, struct table_entry *e);
/* Returns the time until it expires, ms; 0: entries do not expire. */
uint32_t table_expires_in(const struct table_state *st, const struct table_entry *e);
/* Returns the time since its last use, ms. */
uint32_t table_idle(const struct table_entry *e);
/* Returns the number of holds. */
static inline uint32_t table_refs(const struct table_entry *e)
{
	return __atomic_load_n(&e->refs, __ATOMIC_RELAXED);
}
/* Removes an entry that the caller holds, unless others hold it, too; the caller's hold is dropped.
 * False: not removed.
 */
bool table_remove(struct table_state *st, struct table_entry *e);

/* --- walking ---------------------------------------------------------------------------------- */

/* Position of a walk; zeroed to start. An entry that exists during the whole walk is visited once.
 */
struct table_cursor {
	uint32_t shard, slab, cell;
};

/* Returns the next entry, held; NULL: no more. If *more is true, it stopped after looking at
 * <budget> places of a shard: call again.
 */
struct table_entry *table_walk(struct table_state *st, struct table_cursor *at, unsigned budget,
			       bool *more);
/* Returns the entry at this address, held; NULL: none. */
struct table_entry *table_at(struct table_state *st, uintptr_t address);
/* Removes expired entries, at most <budget>. False: there are more. */
bool table_sweep(struct table_state *st, unsigned budget);

/* --- texts: server_key ------------------------------------------------------------------------ */

/* Returns the number of a text, which is the same as long as the table lives; 0: out of memory, or
 * 65,536 other texts or 16 MB are stored.
 */
uint32_t table_word(struct table_state *st, struct slice text);
/* Returns the text of a number, borrowed from the table; slice_none() for 0. */
struct slice table_word_text(struct table_state *st, uint32_t number);
/* Prints a text as one word: it may come from a peer, so lines and terminals must not trust it. */
void table_text_print(struct slice text, struct strbuf *out);

/* --- declarations ----------------------------------------------------------------------------- */

enum table_server_key { TABLE_SERVER_NAME, TABLE_SERVER_ADDR };

/* A `stick-table`. Immutable once the generation is live. */
struct table {
	struct table *next;            /* in order of the file */
	const char *name;
	const char *file;
	int line;
	const char *owner_kind;        /* "backend": the section that declares it, */
	const char *owner_name;        /* and its name */
	const char *peers;             /* section whose peers share it; NULL: none */
	unsigned shards;               /* parts of its keys, each for different peers; or 0 */
	struct table_shape shape;      /* laid out in the check phase */
	struct table_limits limits;
	/* name of another table, which is <written> once checked; or NULL */
	const char *write_to;
	struct table *written;
	bool recv_only;
	uint8_t server_key;            /* enum table_server_key */
	struct table_snapshot *snapshot; /* `file`; NULL: not stored on disk */
	struct table_state *state;     /* owned; NULL before the generation starts */
};

/* Has any generation of this process declared a table? It then stays true. The work of streams for
 * tables depends on this, so that it costs nothing without tables.
 */
extern bool tables_were_declared; /* atomic */
static inline bool tables_are_used(void)
{
	return __builtin_expect(__atomic_load_n(&tables_were_declared, __ATOMIC_RELAXED), 0);
}

/* Adds a declaration to a generation; <name> must live as long as the generation. NULL: out of
 * memory.
 */
struct table *table_declare(struct config *cfg, const char *name);
/* Finds a table by name; NULL: none. */
struct table *table_lookup(const struct config *cfg, const char *name);
/* Returns the last declared table, followed by earlier ones: the order of `show table`. */
struct table *tables_first(const struct config *cfg);
/* Stores another kind of data, as `store` does. In the check phase at the latest. */
void table_store(struct table *t, enum table_data d);
/* Returns the part of the keys that an entry belongs to, 1 to t->shards, as in the reference; 0:
 * keys are not divided.
 */
unsigned table_shard(const struct table *t, const struct table_entry *e);
/* Returns the file that stores it; NULL: none. */
const char *table_file_path(const struct table *t);
/* Returns the table that a section declares; NULL: none. <slots>: the section's, a proxy's. */
struct slot_area;
struct table *table_of_section(const struct slot_area *slots);
/* Passes the entries of the tables of <prev> to the tables of <next> with the same name, key and
 * data.
 */
void tables_adopt(struct config *next, struct config *prev);

#endif
