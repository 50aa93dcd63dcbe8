/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pattern.h - lists of patterns that samples are compared with, and their indexes
 *
 * A reference (pattern_ref) is a list as configured: the lines of a file, or the values of one ACL.
 * It has an id and, for files, a name; all uses of the name in one configuration share it. A set
 * (pattern_set) is a reference parsed for one method (exact, prefix, network...) with or without
 * case, with an index that makes lookups cheap: exact values, prefixes, suffixes and networks cost
 * one hash lookup per distinct length. Sets are shared too.
 * Owns   : both belong to the configuration.
 * Threads: built by one thread, then read by all.
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

/* Finds a method by name ("beg"); PATTERN_NONE: unknown. */
enum pattern_method pattern_method_find(struct slice name);
const char *pattern_method_name(enum pattern_method m);
/* Returns the default method for samples of this type; PATTERN_NONE: -m is required. */
enum pattern_method pattern_method_default(enum sample_type type);
/* Returns the type that samples are cast to before they are compared. */
enum sample_type pattern_method_type(enum pattern_method m);

/* Creates an empty unnamed reference, for the values of an ACL with this criterion (a text that
 * lives as long as the configuration). NULL: reported at word l->at.
 */
struct pattern_ref *pattern_ref_new(struct conf_line *l, const char *keyword);
/* Sets the id (-u). False: already in use, reported. */
bool pattern_ref_set_id(struct conf_line *l, struct pattern_ref *ref, unsigned id);
/* Returns how many patterns the process has read or added, and deleted, since the start. Threads:
 * any.
 */
void pattern_get_totals(uint64_t *added, uint64_t *freed);
/* Adds one pattern as configured. False: out of memory, reported. */
bool pattern_ref_add(struct conf_line *l, struct pattern_ref *ref, struct slice text);

/* Returns the set of <ref> for this method; parses all entries on first use. NULL: reported. */
struct pattern_set *pattern_set_get(struct conf_line *l, struct pattern_ref *ref,
				    enum pattern_method method, unsigned flags);
/* A match: the pattern as configured, and its value in a map file (may be absent). Both are valid
 * until the thread's next turn, since other threads may change the reference meanwhile.
 */
struct pattern_match {
	struct slice text, value;
	const struct regex *regex; /* for a `reg` set */
};

/* Does the sample, already cast to the method's type, match an entry? Finds the entry that the
 * reference program would report: the longest prefix or network, else the first one of the list.
 * <match> may be NULL.
 */
bool pattern_set_find(const struct pattern_set *set, const struct sample *s,
		      struct pattern_match *match);
/* Returns the number of patterns. */
size_t pattern_ref_count(const struct pattern_ref *ref);

/* --- at run time ------------------------------------------------------------------------------
 * From any worker thread; changes of one reference are serialised, readers never wait. A file with
 * two columns is a map. An entry belongs to a version; only entries of the version in force are
 * used. pattern_ref_prepare() reserves a new version, to which entries can be added without effect
 * until pattern_ref_commit() puts it in force and drops all older versions.
 */

#define PATTERN_NOW UINT32_MAX /* the version in force */

/* Why a change was refused, without a full stop. */
struct pattern_error {
	char text[512];
};

/* Finds a reference by "#<id>" or the name of its file, with or without `opt@` or `file@`. NULL:
 * none that is used by an ACL (<acl>) or by a map.
 */
struct pattern_ref *pattern_ref_find(const struct config *cfg, const char *name, bool acl);
/* Returns a reference for a rule that changes it, loaded or created like those of map converters
 * and `acl -f`. NULL: see *error.
 */
struct pattern_ref *pattern_ref_take(struct conf_line *l, const char *name, bool acl,
				     const char **error);
/* Returns the set of a map for scripts, loaded or created like those of map converters; before the
 * threads start. NULL: see *error, in the configuration's arena, without a full stop.
 */
struct pattern_set *pattern_map_take(struct conf_line *l, const char *name,
				     enum pattern_method method, const char **error);
/* Adds an entry; <value> is slice_none() for ACLs. False: see <error>. */
bool pattern_ref_insert(struct pattern_ref *ref, uint32_t version, struct slice text,
			struct slice value, struct pattern_error *error);
/* Adds an entry to the version in force unless <set> (PATTERN_STR) finds one; if threads add the
 * same text concurrently, only one does. True: the entry exists.
 */
bool pattern_set_add_missing(struct pattern_set *set, struct slice text, struct slice value,
			     struct pattern_error *error);
/* Replaces the value of all entries of a version with this text or, with <by_id>, of the entry with
 * this identity. False: see <error>; "" if there is no such entry.
 */
bool pattern_ref_replace(struct pattern_ref *ref, uint32_t version, struct slice text,
			 uintptr_t by_id, struct slice value, struct pattern_error *error);
/* Deletes the first entry of a version with this text, or the one with this identity. False: none.
 */
bool pattern_ref_delete(struct pattern_ref *ref, uint32_t version, struct slice text,
			uintptr_t by_id);
/* Returns the next entry of a version from index *at on (0: the first), and moves *at past it; with
 * <only> (not NULL), the next one with this text. Its texts are valid until the thread's next turn;
 * <value> slice_none(): no value. False: no more. Concurrent changes may make an entry appear twice
 * or not at all.
 */
bool pattern_ref_next_entry(struct pattern_ref *ref, uint32_t version, uint32_t *at,
			    const struct slice *only, struct slice *text, struct slice *value);
/* Does it have two columns? */
bool pattern_ref_is_map(const struct pattern_ref *ref);
/* Deletes all entries of a version. */
void pattern_ref_clear(struct pattern_ref *ref, uint32_t version);
/* Reserves a new version; returns its number. 0: out of memory. */
uint32_t pattern_ref_prepare(struct pattern_ref *ref);
/* Puts a version in force. False: no such version. */
bool pattern_ref_commit(struct pattern_ref *ref, uint32_t version);
/* Is this version prepared or in force? */
bool pattern_ref_has_version(struct pattern_ref *ref, uint32_t version);

/* For files that change. Returns the reference of a file after <ref> (NULL: the first one); NULL:
 * no more.
 */
struct pattern_ref *pattern_ref_next_file(const struct config *cfg, const struct pattern_ref *ref);
const char *pattern_ref_file(const struct pattern_ref *ref);
/* Returns how often the version in force was changed since the file was read. Any thread. */
uint64_t pattern_ref_changes(const struct pattern_ref *ref);
/* Begins to read its file again, in steps; readers see no change until all of it was found valid.
 * The caller holds the configuration until then, and ends with pattern_reading_free(), at any time.
 * NULL: see <error>.
 */
struct pattern_reading;
struct pattern_reading *pattern_reading_new(struct pattern_ref *ref, struct pattern_error *error);
/* Continues until the clock (clock_read_ns()) has passed <until_ns>. */
enum pattern_progress {
	PATTERN_MORE,
	PATTERN_DONE,   /* the contents of the file are now in force */
	PATTERN_FAILED, /* see <error>; nothing has changed */
};
enum pattern_progress pattern_reading_go(struct pattern_reading *r, uint64_t until_ns,
					 struct pattern_error *error);
void pattern_reading_free(struct pattern_reading **r);

/* Changes of the version in force. */
enum pattern_event {
	PATTERN_EVENT_ADD, PATTERN_EVENT_DEL, PATTERN_EVENT_SET, PATTERN_EVENT_CLEAR,
	PATTERN_EVENT_COMMIT,
};
typedef void pattern_event_fn(const struct pattern_ref *ref, enum pattern_event event);
/* Installs a function that is called after each change, by the thread that made it. One per
 * process, at start-up.
 */
void pattern_set_event_hook(pattern_event_fn *fn);

/* Installs a function of a higher floor that returns the configuration in force, borrowed for the
 * turn, or NULL. For commands. Before the threads start.
 */
void pattern_ctl_set_config(struct config *(*current)(void));

#endif
