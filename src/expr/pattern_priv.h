/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pattern_priv.h - references and sets, for the files that fill and search them */
#ifndef SRC_EXPR_PATTERN_PRIV_H
#define SRC_EXPR_PATTERN_PRIV_H

#include <pthread.h>
#include "expr_priv.h"
#include "pattern_index.h"

/* One pattern and its value (maps): bytes of the reference's buffer, or of the heap if added at run
 * time.
 */
struct pattern_entry {
	const char *text;
	const char *value; /* NUL-terminated; replaced at run time; NULL: no value */
	uint32_t len;
	uint32_t line; /* in its file; 0: none; PATTERN_ADDED: at run time, on the heap */
};

/* Counts added and removed patterns. */
void pattern_count(uint64_t added, uint64_t freed);

/* The columns of a file; all uses of a file must agree. */
enum pattern_columns {
	PATTERN_ONE_COLUMN,
	PATTERN_TWO_COLUMNS, /* a key and a value */
};

/* The version of each number below <count>. */
struct pattern_versions {
	uint32_t count;
	uint32_t at[];
};

/* The patterns of a reference by number. Its arrays only grow; when too many are dead, a new table
 * replaces it, with other numbers.
 */
struct pattern_table {
	struct pattern_entry *entries;
	struct pattern_versions *versions; /* NULL: nothing has changed since the start */
	uint32_t count, room;
	uint32_t dead;      /* of <count>: deleted, or of a past version */
};

#define PATTERN_DEAD UINT32_MAX
#define PATTERN_ADDED UINT32_MAX

/* Where a reference is used, for `show map`. */
struct pattern_use {
	struct pattern_use *next;
	const char *what, *file;
	int line;
};

/* Read without a lock; changed under <lock> by pattern_edit.c. */
struct pattern_ref {
	pthread_mutex_t lock;
	struct pattern_ref *next;   /* all of the configuration */
	char *name; /* of the file, without file@ and opt@; NULL: values of an ACL */
	unsigned id;
	bool has_id;                /* forced by -u */
	enum pattern_columns columns;
	struct pattern_table *table;
	uint32_t current, newest;   /* version in force; the last one that was prepared */
	const char *opened_as;      /* the name as first configured */
	char *buffer;               /* the file's bytes; entries point into it */
	size_t buffer_len;
	struct pattern_set *sets;
	struct pattern_use *uses;
	const char *keyword;        /* values of an ACL: its criterion */
	bool is_acl;                /* an ACL uses it */
	bool is_broken;             /* an index lacks numbers: rebuild all first */
	unsigned value_types;       /* 1 << enum sample_type that its values must have */
	struct pattern_bin bin;     /* memory that readers may still hold */
	uint64_t changes;           /* at run time; atomic */
};

/* A range of values. */
struct pattern_range {
	int64_t min, max;
};

/* The patterns of a table, parsed for one method. */
struct pattern_index {
	struct pattern_table *table;
	enum pattern_method method;
	unsigned flags;
	struct key_table keys;      /* str bin beg end sub dir dom meth */
	struct net_table net4, net6;
	struct pattern_mask { uint32_t ip, mask, number; } *masks; /* IPv4 with holes in the mask */
	uint32_t mask_count, mask_room;
	struct pattern_range *ranges; /* int, len, dotted; by number */
	struct regex **regexes;     /* reg; by number */
	uint32_t count, room;       /* of ranges or regexes */
	struct arena arena;         /* what keys of bin point into */
};

struct pattern_set {
	struct pattern_set *next;
	struct pattern_ref *ref;
	enum pattern_method method;
	unsigned flags;
	size_t filled;              /* number of patterns when it was created */
	struct pattern_index *index;
};

/* Puts the memory of an entry into the bin. */
void pattern_entry_fini(const struct pattern_ref *ref, struct pattern_entry *entry,
			struct pattern_bin *bin);
struct pattern_table *pattern_table_new(void);
void pattern_table_free(void *table);
/* Returns the next entry, not yet published. NULL: out of memory. */
struct pattern_entry *pattern_table_add(struct pattern_table *t, struct pattern_bin *bin);

/* Creates an index of all entries of <table>. NULL: see e. */
struct pattern_index *pattern_index_new(struct pattern_table *table, enum pattern_method method,
					unsigned flags, const char *file, struct expr_error *e);
void pattern_index_free(void *index);
/* Adds the entry of the next number to the index. False: see e. */
bool pattern_index_add(struct pattern_index *index, const struct pattern_entry *entry,
		       struct pattern_bin *bin, struct expr_error *e);

/* The lines of a file's text. */
struct pattern_lines {
	const char *at, *end;       /* what is left of it */
	uint32_t number;            /* of the last line taken, from 1 */
	enum pattern_columns columns;
};

/* Returns the pattern of the next non-empty line and, with two columns, its value (may be empty;
 * otherwise slice_none()): slices of the text, not NUL-terminated. False: no more.
 */
bool pattern_lines_next(struct pattern_lines *p, struct slice *key, struct slice *value);

/* Returns the reference of a file, read on first use (`file@`, `opt@`, `virt@` prefixes), for
 * <what> ("map", "acl") on the line. NULL: see e.
 */
struct pattern_ref *pattern_ref_open(struct conf_line *l, const char *name,
				     enum pattern_columns columns, const char *what,
				     struct expr_error *e);
/* Returns the set of <ref> for this method, created on first use. NULL: see e. */
struct pattern_set *pattern_set_make(struct pattern_ref *ref, enum pattern_method method,
				     unsigned flags, struct expr_error *e);
/* Parses the text as a value of this type. False: impossible. */
bool pattern_read_value(enum sample_type type, struct slice text, struct sample *out);

static inline struct slice pattern_entry_text(const struct pattern_entry *entry)
{
	return slice_make(entry->text, entry->len);
}

static inline struct slice pattern_entry_value(const struct pattern_entry *entry)
{
	const char *value = __atomic_load_n(&entry->value, __ATOMIC_ACQUIRE);

	return slice_of(value ? value : "");
}

/* Returns which entries of the index's table count when <current> is in force. */
static inline struct pattern_view pattern_index_view(const struct pattern_index *index,
						     uint32_t current)
{
	const struct pattern_versions *versions =
		__atomic_load_n(&index->table->versions, __ATOMIC_ACQUIRE);
	struct pattern_view v = { .versions = NULL };

	if (versions) {
		v.versions = versions->at;
		v.count = versions->count;
		v.current = current;
	}
	return v;
}

/* Searches one index. -1: no match. */
int64_t pattern_index_find(const struct pattern_index *index, const struct pattern_view *view,
			   const struct sample *s);

#endif
