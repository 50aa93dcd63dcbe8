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

/* An empty unnamed reference, for the values of an ACL of this criterion (a text that lives as long
 * as the configuration). NULL: reported at word l->at.
 */
struct pattern_ref *pattern_ref_new(struct conf_line *l, const char *keyword);
/* Forces the id (-u); false: already in use, reported. */
bool pattern_ref_set_id(struct conf_line *l, struct pattern_ref *ref, unsigned id);
/* How many patterns the process has read or added, and deleted, since the start. Threads: any. */
void pattern_get_totals(uint64_t *added, uint64_t *freed);
/* Adds one pattern as written. False: no memory (reported). */
bool pattern_ref_add(struct conf_line *l, struct pattern_ref *ref, struct slice text);

/* The set of <ref> for this method, made on first use: every entry is parsed. NULL: reported. */
struct pattern_set *pattern_set_get(struct conf_line *l, struct pattern_ref *ref,
				    enum pattern_method method, unsigned flags);
/* What matched: the pattern as it was written and what stands beside it in a map file (maybe
 * nothing). Both are good until the thread's next turn: others may change the reference meanwhile.
 */
struct pattern_match {
	struct slice text, value;
	const struct regex *regex; /* of a `reg` set */
};

/* Does the sample, already cast to the method's type, match an entry? That which the reference
 * program would report: the longest prefix or network, else the first of the list. <match> may be
 * NULL.
 */
bool pattern_set_find(const struct pattern_set *set, const struct sample *s,
		      struct pattern_match *match);
/* How many patterns were given. */
size_t pattern_ref_count(const struct pattern_ref *ref);

/* --- at run time ------------------------------------------------------------------------------
 * From any thread of the event loop; changes of one reference wait for each other, readers never
 * wait. A file of two columns is a map. An entry belongs to a version; only those of the version in
 * force are looked at. pattern_ref_prepare() makes the number of a new one, which entries may be
 * added to unseen, until pattern_ref_commit() puts it in force and drops all older ones.
 */

#define PATTERN_NOW UINT32_MAX /* the version in force */

/* Why a change was refused, in words without a full stop. */
struct pattern_error {
	char text[512];
};

/* By "#<id>" or the name of its file, with `opt@` or `file@` or not. NULL: none that an ACL (<acl>)
 * or a map uses.
 */
struct pattern_ref *pattern_ref_find(const struct config *cfg, const char *name, bool acl);
/* A reference for a rule that changes it, read or made as map converters and `acl -f` do. NULL:
 * *error.
 */
struct pattern_ref *pattern_ref_take(struct conf_line *l, const char *name, bool acl,
				     const char **error);
/* The set of a map for scripts, read or made as map converters do; before the threads start. NULL:
 * *error, of the configuration's arena, without a full stop.
 */
struct pattern_set *pattern_map_take(struct conf_line *l, const char *name,
				     enum pattern_method method, const char **error);
/* Adds an entry; <value> is slice_none() for ACLs. False: <error> tells why. */
bool pattern_ref_insert(struct pattern_ref *ref, uint32_t version, struct slice text,
			struct slice value, struct pattern_error *error);
/* Adds to the version in force, unless an entry that <set> (PATTERN_STR) finds is there: of threads
 * that add the same text at the same time one does. True when it is there.
 */
bool pattern_set_add_missing(struct pattern_set *set, struct slice text, struct slice value,
			     struct pattern_error *error);
/* Replaces the value of all entries of a version with this text, or (<by_id>) of the one of this
 * identity. False: <error>, "" when there is no such entry.
 */
bool pattern_ref_replace(struct pattern_ref *ref, uint32_t version, struct slice text,
			 uintptr_t by_id, struct slice value, struct pattern_error *error);
/* Deletes the first one of a version with this text, or the one of this identity. False: there is
 * none.
 */
bool pattern_ref_delete(struct pattern_ref *ref, uint32_t version, struct slice text,
			uintptr_t by_id);
/* The next entry of a version from number *at on (0: the first), which is moved behind it; with
 * <only> (not NULL), the next one of this text. Its texts are good until the thread's next turn; a
 * <value> of slice_none(): it has none. False: there is no more. Changes meanwhile may show an
 * entry twice or not at all.
 */
bool pattern_ref_next_entry(struct pattern_ref *ref, uint32_t version, uint32_t *at,
			    const struct slice *only, struct slice *text, struct slice *value);
/* Has it two columns? */
bool pattern_ref_is_map(const struct pattern_ref *ref);
/* Deletes all entries of a version. */
void pattern_ref_clear(struct pattern_ref *ref, uint32_t version);
/* The number of a new version. 0: no memory. */
uint32_t pattern_ref_prepare(struct pattern_ref *ref);
/* False: there is no such version. */
bool pattern_ref_commit(struct pattern_ref *ref, uint32_t version);
/* Has this version been prepared, or is it in force? */
bool pattern_ref_has_version(struct pattern_ref *ref, uint32_t version);

/* Files that change. The reference behind <ref> (NULL: the first) that stands for a file; NULL: no
 * more.
 */
struct pattern_ref *pattern_ref_next_file(const struct config *cfg, const struct pattern_ref *ref);
const char *pattern_ref_file(const struct pattern_ref *ref);
/* How often what is in force was changed since the file was read. Any thread. */
uint64_t pattern_ref_changes(const struct pattern_ref *ref);
/* Reads its file again, in steps, unseen by readers until all of it was found good. The caller
 * keeps the configuration until then, and ends with pattern_reading_free(), at any time. NULL:
 * <error>.
 */
struct pattern_reading;
struct pattern_reading *pattern_reading_new(struct pattern_ref *ref, struct pattern_error *error);
/* Goes on until <until_ns> of the clock (clock_read_ns()) has passed. */
enum pattern_progress {
	PATTERN_MORE,
	PATTERN_DONE,   /* what the file has is in force now, instead of all that was */
	PATTERN_FAILED, /* <error>; nothing has changed */
};
enum pattern_progress pattern_reading_go(struct pattern_reading *r, uint64_t until_ns,
					 struct pattern_error *error);
void pattern_reading_free(struct pattern_reading **r);

/* What may happen to the version in force. */
enum pattern_event {
	PATTERN_EVENT_ADD, PATTERN_EVENT_DEL, PATTERN_EVENT_SET, PATTERN_EVENT_CLEAR,
	PATTERN_EVENT_COMMIT,
};
typedef void pattern_event_fn(const struct pattern_ref *ref, enum pattern_event event);
/* Called after each change, by the thread that made it. One for the process, set at the start. */
void pattern_set_event_hook(pattern_event_fn *fn);

/* How commands learn which configuration is in force: a function of a higher floor, which lends it
 * for the turn, or gives NULL. Before the threads start.
 */
void pattern_ctl_set_config(struct config *(*current)(void));

#endif
