/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pattern.h - what samples are compared with: lists of patterns, and their indexes
 *
 * A reference (pattern_ref) is a list as it was written: the lines of a file, or the values of one
 * ACL. It has an id and, for files, a name, and is shared by all that name it in one configuration.
 * A set (pattern_set) is a reference read for one method (exact, prefix, network...) with or
 * without case, with an index that makes looking up cheap: exact values, prefixes, suffixes and
 * networks cost a hash look-up per distinct length. Sets are shared too.
 * Owns   : both belong to the configuration.
 * Threads: built by one; then read by all.
 * Errors : reported as diagnostics at the word that caused them.
 * Manual : configuration 7.1, 2.7.
 */
#ifndef EXPR_PATTERN_H
#define EXPR_PATTERN_H

#include <stdbool.h>
#include <stdint.h>
#include "base/slice.h"
#include "conf/conf.h"
#include "expr/expr.h"

enum pattern_method {
	PATTERN_NONE,
	PATTERN_FOUND, PATTERN_BOOL, PATTERN_INT, PATTERN_IP, PATTERN_BIN, PATTERN_LEN, PATTERN_STR,
	PATTERN_BEG, PATTERN_SUB, PATTERN_DIR, PATTERN_DOM, PATTERN_END, PATTERN_REG,
	PATTERN_METH,   /* the ACL keyword `method`: written as str */
	PATTERN_DOTTED, /* versions such as 3.1: written as int */
	PATTERN_METHODS,
};

enum pattern_flags {
	PATTERN_NOCASE = 1 << 0,
	PATTERN_NO_DNS = 1 << 1,
};

struct pattern_ref;
struct pattern_set;

/* "beg"; PATTERN_NONE when unknown. */
enum pattern_method pattern_method_find(struct slice name);
const char *pattern_method_name(enum pattern_method m);
/* The method that samples of this type get without -m; PATTERN_NONE: it must be written. */
enum pattern_method pattern_method_default(enum sample_type type);
/* The type that a sample is cast to before it is compared. */
enum sample_type pattern_method_type(enum pattern_method m);

/* An empty unnamed reference. NULL: reported at word l->at. */
struct pattern_ref *pattern_ref_new(struct conf_line *l);
/* Forces the id (-u); false: already in use, reported. */
bool pattern_ref_set_id(struct conf_line *l, struct pattern_ref *ref, unsigned id);
/* Adds one pattern as written. False: no memory (reported). */
bool pattern_ref_add(struct conf_line *l, struct pattern_ref *ref, struct slice text);

/* The set of <ref> for this method, made on first use: every entry is parsed. NULL: reported. */
struct pattern_set *pattern_set_get(struct conf_line *l, struct pattern_ref *ref,
				    enum pattern_method method, unsigned flags);
/* An entry of a set that matches the sample, already cast to the method's type; -1: none. The one
 * that the reference program would report: the longest prefix or network, else the first of the
 * list.
 */
int64_t pattern_set_find(const struct pattern_set *set, const struct sample *s);
/* What stands beside the entry of this index in a map file (maybe nothing), and the entry itself as
 * it was written. Both live as long as the reference.
 */
struct slice pattern_set_value(const struct pattern_set *set, int64_t index);
struct slice pattern_set_text(const struct pattern_set *set, int64_t index);
/* How many patterns were given. */
size_t pattern_ref_count(const struct pattern_ref *ref);
unsigned pattern_set_count(const struct pattern_set *set);

#endif
