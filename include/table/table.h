/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* table.h - stick tables: what is remembered of a key, for a while
 *
 * Purpose: entries found by a key (an address, a number, a text, bytes), each with the counters,
 *          rates and tags that its table stores. Knows neither proxies nor streams: what counts
 *          what is told by the floors above.
 * Owns   : a generation owns the declarations (struct table, in its arena). The entries are a
 *          struct table_state, counted: table_adopt() gives the next generation those of the same
 *          name, key and data. An entry that something holds (table_get(), table_find()) is neither
 *          removed nor moved before table_drop(). A holder of an entry also holds its state.
 * Threads: any. Entries are spread over shards by a keyed hash of their key; a lookup takes the
 *          lock of one shard for a few instructions. What an entry counts is atomic: a holder of an
 *          entry counts and reads without a lock.
 * Order  : each shard keeps its entries in order of their last use, which is that of their expiry
 *          too, since a table has one `expire`. To spare the lock, an entry that is used often is
 *          moved once in a part of `expire` only: an expired entry is never found, but its memory
 *          may be kept for that part longer. A full table gives up its least recently used
 *          entries, as a shard knows them; one with `nopurge` takes no new key.
 * Units  : times are milliseconds of the monotonic clock, of which 32 bits are kept.
 * Errors : no memory and no room are the same to a caller: no entry.
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

/* How a datum is kept: 4 bytes, 8 bytes, 12 bytes of a rate, the number of a text, 8 bytes of a
 * pace (table/pace.h), which is told as the ms until it is fresh.
 */
enum table_kind { TABLE_U32, TABLE_U64, TABLE_RATE, TABLE_WORD, TABLE_PACE };

/* X(name, text, kind, is an array), in the order in which they are shown. */
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
#define TABLE_TEXT_LEN 31        /* of strings without `len`: as the reference has it */
#define TABLE_BYTES_LEN 32       /* of binaries without */
#define TABLE_KEY_MAX 16384      /* the longest `len` */
#define TABLE_DELAY_MAX 2147483647ll /* the longest `expire`, the longest period: ms */

/* What a datum is called, and how it is kept. */
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
/* By its name; -1: none is called so. */
int table_data_find(struct slice name);
/* "ip", "string": as tables are shown. */
const char *table_type_name(enum table_type t);

/* --- the shape of entries --------------------------------------------------------------------- */

/* What an entry of a table consists of. Filled by a declaration, then laid out. */
struct table_shape {
	uint8_t type;                          /* enum table_type */
	uint32_t key_len;                      /* bytes of a key; of a string: the most */
	uint8_t count[TABLE_DATA_COUNT];       /* cells of each datum; 0: not stored */
	uint32_t period_ms[TABLE_DATA_COUNT];  /* of rates */
	/* made by table_shape_lay_out() */
	uint32_t at[TABLE_DATA_COUNT];         /* where the first cell stands in an entry */
	uint32_t key_at, size;                 /* where the key stands; bytes of an entry */
};

/* Decides where each cell stands, once all that is stored is known. */
void table_shape_lay_out(struct table_shape *s);
/* Do keys of one fit the other? */
static inline bool table_keys_agree(const struct table_shape *a, const struct table_shape *b)
{
	return a->type == b->type && a->key_len == b->key_len;
}
/* Same key, data, periods and lengths of arrays. */
bool table_shape_eq(const struct table_shape *a, const struct table_shape *b);

/* --- entries ---------------------------------------------------------------------------------- */

struct table_entry {
	struct table_entry *next;   /* of its bucket; among the free ones */
	struct list lru;
	uint32_t refs;              /* atomic; TABLE_ENTRY_FREE: it is none */
	uint32_t touched_ms;        /* atomic: last use */
	uint32_t placed_ms;         /* atomic: that in which it got its place in <lru> */
	uint32_t hash;
	uint32_t stamp;             /* atomic: of its last change: table/feed.h */
	/* key and data follow: struct table_shape */
};

#define TABLE_ENTRY_FREE UINT32_MAX

/* The events of a sliding window of two periods. */
struct table_rate {
	uint32_t start_ms;  /* atomic: when the current period began; 0: never; 1: it is changing */
	uint32_t current;   /* atomic: events since */
	uint32_t previous;  /* atomic: those of the period before */
};

static inline uint32_t table_now_ms(void)
{
	return (uint32_t)clock_now_ms();
}

/* Adds <n> events, whose time is now. */
void table_rate_add(struct table_rate *r, uint32_t period_ms, uint32_t n, uint32_t now_ms);
/* Events of the last period: those of the current one, and of the one before the part that the
 * window still covers, rounded down; but one single event is seen until its window is over.
 */
uint32_t table_rate_read(const struct table_rate *r, uint32_t period_ms, uint32_t now_ms);
/* As if <n> events came now, and none before. */
void table_rate_set(struct table_rate *r, uint32_t n, uint32_t now_ms);
/* Its three figures, of one moment; and to set them so. A start of 0 becomes one long ago. */
struct table_rate table_rate_copy(const struct table_rate *r);
void table_rate_put(struct table_rate *r, const struct table_rate *from);

/* A cell of an entry, NULL: its table does not store it. */
static inline void *table_cell(const struct table_shape *s, struct table_entry *e,
			       enum table_data d, unsigned i)
{
	return i < s->count[d] ? (char *)e + s->at[d] + (size_t)i *
		(table_data_rows[d].kind == TABLE_RATE ? sizeof(struct table_rate)
		 : table_kind_is_wide(table_data_rows[d].kind) ? 8 : 4) : NULL;
}
/* What stands for <d> in tables that store arrays: gpc0 is gpc(0), gpc1_rate is gpc_rate(1). *i is
 * the cell.
 */
enum table_data table_data_stored(const struct table_shape *s, enum table_data d, unsigned *i);

/* The value of a cell: of a rate, what it is now. False: not stored. */
bool table_read(const struct table_shape *s, struct table_entry *e, enum table_data d, unsigned i,
		uint64_t *out);
/* Sets a cell, as `set table` does; that of a text takes none. False: not stored. */
bool table_write(const struct table_shape *s, struct table_entry *e, enum table_data d, unsigned i,
		 uint64_t value);
/* Adds <n> to a cell: to a rate, as events. Returns false when it is not stored. */
bool table_add(const struct table_shape *s, struct table_entry *e, enum table_data d, unsigned i,
	       uint64_t n);
/* Takes 1 of a number unless it is 0. */
void table_take_one(const struct table_shape *s, struct table_entry *e, enum table_data d);

/* --- keys ------------------------------------------------------------------------------------- */

/* Numbers and addresses are kept in <bytes>, and <at> is NULL; others are where they were found. */
struct table_key {
	const char *at;
	size_t len;
	uint8_t bytes[16];
};

static inline const void *table_key_bytes(const struct table_key *k)
{
	return k->at ? k->at : (const char *)k->bytes;
}

/* The key that a sample means to a table of this shape. <arena> is for what it is cast to. False:
 * it cannot be one, or no memory.
 */
bool table_key_of_sample(const struct table_shape *s, struct sample *smp, struct arena *arena,
			 struct table_key *out);
/* The key that a word of the Runtime API means. Binary keys are given as they are. */
bool table_key_of_text(const struct table_shape *s, struct slice text, struct table_key *out);
/* May samples of this type (enum sample_type) be keys of tables of type <t>? */
bool table_type_takes(enum table_type t, unsigned sample_type);
/* The key of an entry, as it was given; borrowed. */
void table_key_of_entry(const struct table_shape *s, const struct table_entry *e,
			struct table_key *out);
/* The key of an entry, as a sample whose bytes live as long as the entry is held. */
void table_key_sample(const struct table_shape *s, struct table_entry *e, struct sample *out);
/* The key of an entry as `show table` prints it. */
void table_key_print(const struct table_shape *s, const struct table_entry *e, struct strbuf *out);

/* --- states ----------------------------------------------------------------------------------- */

/* What may be different after a reload. */
struct table_limits {
	uint32_t size;       /* entries */
	uint32_t expire_ms;  /* 0: entries do not expire */
	bool keep;           /* nopurge: no entry leaves for another one */
	uint32_t bytes_factor; /* brates-factor: what one event of a rate of bytes stands for; 1 */
	bool sums;           /* sum: what peers count is kept apart, and added (table/part.h) */
};

struct table_state;

/* An empty table. NULL: no memory. */
struct table_state *table_state_new(const char *name, const struct table_shape *s,
				    const struct table_limits *l);
struct table_state *table_state_take(struct table_state *st);
/* Drops a reference and NULLs the pointer. */
void table_state_drop(struct table_state **st);
const struct table_shape *table_state_shape(const struct table_state *st);
struct table_limits table_state_limits(const struct table_state *st);
/* Other limits from now on. */
void table_state_set_limits(struct table_state *st, const struct table_limits *l);
/* Entries there are. */
uint32_t table_state_used(const struct table_state *st);
/* How often table_changed() was called, modulo 2^32. */
uint32_t table_state_changes(const struct table_state *st);

/* The entry of a key, made when there is none, and held: NULL: no room, no memory. It is used. */
struct table_entry *table_get(struct table_state *st, const struct table_key *key);
/* As table_get(), as if the entry had been used <age_ms> ago: what is there already does not get
 * older.
 */
struct table_entry *table_get_aged(struct table_state *st, const struct table_key *key,
				   uint32_t age_ms);
#define TABLE_EXPECTED_MAX 16
/* These keys, TABLE_EXPECTED_MAX at most, are looked for next: what a lookup would wait for is
 * fetched from memory, for all at the same time.
 */
void table_expect(struct table_state *st, const struct table_key *keys, unsigned count);
/* The entry of a key, held, but not used; NULL: none. */
struct table_entry *table_find(struct table_state *st, const struct table_key *key);
/* Another holder of what is held. */
static inline struct table_entry *table_hold(struct table_entry *e)
{
	SHARED_LINE(&e->refs);
	__atomic_fetch_add(&e->refs, 1, __ATOMIC_RELAXED);
	return e;
}
/* The entry is not held by the caller any more. */
static inline void table_drop(struct table_entry *e)
{
	SHARED_LINE(&e->refs);
	__atomic_fetch_sub(&e->refs, 1, __ATOMIC_RELEASE);
}
/* An entry that is held was used: it does not expire before `expire` from now. */
void table_touch(struct table_state *st, struct table_entry *e);
/* It was used, and it was changed here: the reader of the table's feed learns of it
 * (table/feed.h).
 */
void table_changed(struct table_state *st, struct table_entry *e);
/* Milliseconds until it expires; 0: entries do not. */
uint32_t table_expires_in(const struct table_state *st, const struct table_entry *e);
/* Milliseconds since its last use. */
uint32_t table_idle(const struct table_entry *e);
/* How many hold it. */
static inline uint32_t table_refs(const struct table_entry *e)
{
	return __atomic_load_n(&e->refs, __ATOMIC_RELAXED);
}
/* Removes an entry that the caller holds, unless others do too; it is not held any more. */
bool table_remove(struct table_state *st, struct table_entry *e);

/* --- walking ---------------------------------------------------------------------------------- */

/* Where a walk is; starts zeroed. An entry that is there all the time is met once. */
struct table_cursor {
	uint32_t shard, slab, cell;
};

/* The next entry, held; NULL: that was all. Looks at <budget> places of a shard at most in one
 * call, then *more is true: call again.
 */
struct table_entry *table_walk(struct table_state *st, struct table_cursor *at, unsigned budget,
			       bool *more);
/* The entry of this address, held; NULL: none stands there. */
struct table_entry *table_at(struct table_state *st, uintptr_t address);
/* Gives up what has expired, at most <budget> entries. False: there is more. */
bool table_sweep(struct table_state *st, unsigned budget);

/* --- texts: server_key ------------------------------------------------------------------------ */

/* The number of a text; 0: no memory, or 65,536 others or 16 MB of them are known. The same text
 * has the same number as long as the table lives.
 */
uint32_t table_word(struct table_state *st, struct slice text);
/* The text of a number, borrowed of the table; slice_none() for 0. */
struct slice table_word_text(struct table_state *st, uint32_t number);
/* Prints a text as a word: it may be a peer's, which no line and no terminal must believe. */
void table_text_print(struct slice text, struct strbuf *out);

/* --- declarations ----------------------------------------------------------------------------- */

enum table_server_key { TABLE_SERVER_NAME, TABLE_SERVER_ADDR };

/* `stick-table`. Immutable once the generation is live. */
struct table {
	struct table *next;            /* in order of the file */
	const char *name;
	const char *file;
	int line;
	const char *owner_kind;        /* "backend": the section that declares it, */
	const char *owner_name;        /* and its name */
	const char *peers;             /* section whose peers share it; NULL: none */
	unsigned shards;               /* parts of its keys, each for other peers; or 0 */
	struct table_shape shape;      /* laid out in the check phase */
	struct table_limits limits;
	const char *write_to;          /* name of another table, <written> once checked; or NULL */
	struct table *written;
	bool recv_only;
	uint8_t server_key;            /* enum table_server_key */
	struct table_snapshot *snapshot; /* `file`; NULL: it is not kept on disk */
	struct table_state *state;     /* owned; NULL before the generation starts */
};

/* Has any generation of this process declared a table? From then on always: what a stream does for
 * tables is asked for behind this, so that it costs nothing where there are none.
 */
extern bool tables_were_declared; /* atomic */
static inline bool tables_are_used(void)
{
	return __builtin_expect(__atomic_load_n(&tables_were_declared, __ATOMIC_RELAXED), 0);
}

/* Adds a declaration to a generation: <name> must live as long as that. NULL: no memory. */
struct table *table_declare(struct config *cfg, const char *name);
/* By name; NULL: none. */
struct table *table_lookup(const struct config *cfg, const char *name);
/* The last one that was declared, then those before: the order of `show table`. */
struct table *tables_first(const struct config *cfg);
/* Has a datum stored, as `store` does. In the check phase at the latest. */
void table_store(struct table *t, enum table_data d);
/* The part of the keys that an entry belongs to, 1 to t->shards, as the reference divides them; 0:
 * they are not divided.
 */
unsigned table_shard(const struct table *t, const struct table_entry *e);
/* The file that it is kept in; NULL: none. */
const char *table_file_path(const struct table *t);
/* The table that a section declares, NULL: none. <slots> are the section's: a proxy's. */
struct slot_area;
struct table *table_of_section(const struct slot_area *slots);
/* Gives the tables of <next> the entries of those of <prev> that have the same name, key and data.
 */
void tables_adopt(struct config *next, struct config *prev);

#endif
