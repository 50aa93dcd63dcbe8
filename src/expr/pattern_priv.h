/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pattern_priv.h - references and sets, for the files that fill and search them */
#ifndef SRC_EXPR_PATTERN_PRIV_H
#define SRC_EXPR_PATTERN_PRIV_H

#include "expr_priv.h"
#include "pattern_index.h"

/* One pattern and, in maps, what it stands for: bytes of the reference's buffer. */
struct pattern_entry {
	const char *text, *value;
	uint32_t len, value_len;
	uint32_t line; /* in its file; 0: none */
};

/* What the lines of a file are; all that name it must agree. */
enum pattern_columns {
	PATTERN_ONE_COLUMN,
	PATTERN_TWO_COLUMNS, /* a key and a value */
};

struct pattern_ref {
	struct pattern_ref *next;   /* all of the configuration */
	char *name; /* of the file, without file@ and opt@; NULL: values of an ACL */
	unsigned id;
	bool has_id;                /* forced by -u */
	enum pattern_columns columns;
	struct pattern_entry *entries;
	size_t count, room;
	char *buffer;               /* the file's bytes; entries point into it */
	struct pattern_set *sets;
};

/* Which way a value must lie. */
struct pattern_range {
	int64_t min, max;
};

struct pattern_set {
	struct pattern_set *next;
	struct pattern_ref *ref;
	enum pattern_method method;
	unsigned flags;
	size_t filled;              /* entries of the reference already in */
	struct key_table keys;      /* str bin beg end sub dir dom */
	struct net_table net4, net6;
	struct pattern_mask { uint32_t ip, mask, index; } *masks; /* IPv4 with holes in the mask */
	size_t mask_count;
	struct pattern_range *ranges; /* int, len, dotted */
	struct regex **regexes;     /* reg */
	uint32_t methods;           /* meth: bits of well-known ones */
	size_t count;               /* of ranges, regexes */
	struct arena *arena;        /* the configuration's: what keys of bin point into */
};

void pattern_ref_free(struct pattern_ref *ref);
/* Parses one entry into the set. False: e tells. */
bool pattern_set_add(struct pattern_set *set, const struct pattern_entry *entry, uint32_t index,
		     struct expr_error *e);
/* The reference of a file, read now unless it was (`file@`, `opt@`, `virt@` prefixes). NULL: e
 * tells.
 */
struct pattern_ref *pattern_ref_open(struct config *cfg, const char *name,
				     enum pattern_columns columns, struct expr_error *e);
/* The set of <ref> for this method, made on first use. NULL: e tells. */
struct pattern_set *pattern_set_make(struct config *cfg, struct pattern_ref *ref,
				     enum pattern_method method, unsigned flags,
				     struct expr_error *e);

static inline struct slice pattern_entry_text(const struct pattern_entry *entry)
{
	return slice_make(entry->text, entry->len);
}

/* The compiled expression of a `reg` set's entry. */
const struct regex *pattern_set_regex(const struct pattern_set *set, int64_t index);

#endif
