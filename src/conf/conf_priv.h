/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf_priv.h - shared by the files of the configuration engine
 *
 *     read.c      files, passes, sections         -> one line at a time
 *     texts.c     the files' bytes
 *     tokens.c    quotes, escapes, variables      -> words
 *     cond.c      conditions of .if               -> true or false
 *     directive.c .if etc., .notice               -> which lines are in effect
 *     dispatch.c  the keyword of a line, prefixes, arity, typed slots
 *     options.c   the options of bind and server lines
 *     value.c     integers, times, sizes; errors about a word
 *     block.c     lines of sections that are run in others
 *     show.c      lines as they were read: -dC
 *     later.c     keywords of features that are not implemented yet
 *     registry.c  the tables, look-up, suggestions
 *     env.c       the environment of a generation
 *     path.c      default-path
 *     config.c    generations
 */
#ifndef CONF_CONF_PRIV_H
#define CONF_CONF_PRIV_H

#include "conf/conf.h"
#include "base/strbuf.h"
#include "base/tree.h"

/* The same limits as in the reference. */
#define CONF_MAX_WORDS 64
#define CONF_MAX_NESTED 256

/* --- config.c ---------------------------------------------------------------------------- */

enum conf_path_mode { PATH_CURRENT, PATH_CONFIG, PATH_PARENT, PATH_ORIGIN };

struct conf_state {
	char **env;             /* "NAME=value", owned, ends with NULL */
	int env_count, env_room;
	bool experimental, deprecated;
	bool needs_experimental; /* a keyword asked for it */
	bool past_global;       /* a section other than global was opened */
	enum conf_path_mode path_mode;
	char *origin;           /* with PATH_ORIGIN: as configured, owned */
	/* absolute directory of the mode, owned; NULL: the current directory */
	char *base;
	const char *file;       /* being read, or NULL */
	const struct conf_show *show; /* how lines are printed (-dC), borrowed; NULL: not at all */
	const struct conf_watch *watch; /* receives lines, borrowed; NULL: none */
	struct {                /* lines that were read: conf/kept.h */
		bool on, early; /* early: those of passes that execute nothing */
		struct conf_kept *first, *last;
	} kept;
	struct {                /* conf/block.h; in the arena */
		struct conf_block *first, *last;
		struct tree by_name, by_place; /* hashes of section and name, of file and line */
	} blocks;
	bool away;              /* not in the start directory: door_enter() */
};

/* --- texts.c ----------------------------------------------------------------------------- */

struct conf_text {
	char *name;
	char *bytes; /* NULL: could not be read, already reported */
	size_t len;
};

struct conf_texts {
	struct conf_text *all; /* owned */
	int count, room;
};

void conf_texts_fini(struct conf_texts *t);
/* Takes over <bytes> (may be NULL), even on failure: out of memory. */
bool conf_texts_add(struct conf_texts *t, const char *name, char *bytes, size_t len);
/* Adds a file ("-": standard input), or all *.cfg of a directory. Reports errors. */
void conf_texts_load(struct conf_texts *t, const char *path, struct diag_list *diags);
void conf_texts_load_file(struct conf_texts *t, const char *path, struct diag_list *diags);
/* Adds what a line of <from> includes: a file, or those that match the last part of a pattern
 * (maybe none), relative to the directory of <from>. False: see errno; <optional>: a missing file
 * is no error.
 */
bool conf_texts_include(struct conf_texts *t, const char *from, const char *pattern,
			bool optional);

/* --- tokens.c ---------------------------------------------------------------------------- */

/* A line split into words. Reused from line to line. */
struct conf_tokens {
	struct strbuf text;                 /* the words, each with its NUL */
	size_t starts[CONF_MAX_WORDS + 1];  /* offset in <text> of each of words[] */
	char *words[CONF_MAX_WORDS + 1];    /* ends with NULL */
	int columns[CONF_MAX_WORDS + 1];
	int count;
	int empty;                          /* the first empty word, or -1 */
};

/* Values of the pseudo-variables, and the destination of errors. */
struct conf_where {
	struct config *cfg;
	struct diag_list *diags;
	struct diag_place place;
	const char *section;                /* .SECTION */
	bool no_comments;                   /* '#' is an ordinary character */
};

/* Splits place.text. False: reported. Manual 2.2, 2.3. */
bool conf_tokenize(struct conf_where *w, struct conf_tokens *t);

/* --- cond.c ------------------------------------------------------------------------------ */

/* Evaluates a condition; on error -1, with a message in <error> (to be free()d) and the position in
 * <at>.
 */
int conf_cond_eval(const struct config *cfg, const char *text, char **error, size_t *at);

/* --- directive.c ------------------------------------------------------------------------- */

enum conf_branch {
	BRANCH_TAKEN,   /* lines are in effect */
	BRANCH_PENDING, /* none taken yet */
	/* one was taken before, or everything is inside a branch that is not taken */
	BRANCH_DONE,
};

struct conf_nesting {
	struct {
		enum conf_branch branch;
		bool in_else;
		int line;
	} levels[CONF_MAX_NESTED];
	int depth;
};

static inline bool conf_nesting_skips(const struct conf_nesting *n)
{
	return n->depth && n->levels[n->depth - 1].branch != BRANCH_TAKEN;
}

/* Executes the directive in words[0] (it starts with a dot). <early>: reports nothing except about
 * conditions.
 */
void conf_directive(struct conf_where *w, struct conf_nesting *n, struct conf_tokens *t,
		    bool early);
/* At the end of a file: reports and closes open blocks. */
void conf_nesting_end(struct conf_where *w, struct conf_nesting *n);

/* --- show.c ------------------------------------------------------------------------------ */

/* Prints line number <line> of its file, as -dC does. */
void conf_show_line(const struct conf_show *how, const struct conf_tokens *t, int line);

/* --- kept.c ------------------------------------------------------------------------------ */

/* Keeps a line. */
void conf_kept_add(struct config *cfg, const struct conf_seen *seen);

/* --- block.c ----------------------------------------------------------------------------- */

struct conf_block;
/* Keeps the line that begins a section. NULL: it is kept already, or out of memory. */
struct conf_block *conf_block_begin(const struct conf_where *w, const struct conf_section *s,
				    const struct conf_tokens *t);
/* Keeps a line of the block. */
void conf_block_add(const struct conf_where *w, struct conf_block *b, const struct conf_tokens *t);

/* --- later.c ----------------------------------------------------------------------------- */

/* Returns the feature that an unknown keyword belongs to ("TLS"), or NULL: simply unknown. <where>
 * is one place.
 */
const char *conf_later_feature(char *const *words, int count, unsigned where);

/* Returns why a section of HAProxy is not supported ("is not supported yet"); NULL: no such
 * section.
 */
const char *conf_later_section(const char *name);

/* --- registry.c -------------------------------------------------------------------------- */

/* Finds a section of the dialect, NULL: of configurations. */
const struct conf_section *conf_section_find(const char *name, const char *dialect);
/* Finds the keyword with the most words among <words> that is allowed in <where> (and, with
 * CONF_OTHER, in <section>); <used>: its number of words. NULL: none.
 */
const struct conf_keyword *conf_keyword_find(char *const *words, int count, unsigned where,
					     const char *section, int *used);
/* Finds a keyword with the same words in another kind of proxy section, or NULL. */
const struct conf_keyword *conf_keyword_elsewhere(char *const *words, int count, unsigned where,
						  int *used);
/* Returns the keyword of the place that is closest to words[0] or, if <second>, to words[1] among
 * those that start with words[0] and a blank; NULL: none.
 */
const char *conf_keyword_suggest(char *const *words, unsigned where, const char *section,
				 bool second);
/* Appends "'client', 'server' and 'queue'": second words that may follow <first>. False: none. */
bool conf_keyword_followers(struct strbuf *b, const char *first, unsigned where,
			    const char *section);
const char *conf_section_suggest(const char *word);

extern const struct module *const *conf_modules;

/* --- env.c ------------------------------------------------------------------------------- */

/* Saves the process's environment, from which generations start. */
bool conf_env_remember(void);
bool conf_env_init(struct conf_state *s);
void conf_env_fini(struct conf_state *s);
/* Returns the value of the name with <len> bytes, or NULL. */
const char *conf_env_get(const struct conf_state *s, const char *name, size_t len);

/* --- path.c ------------------------------------------------------------------------------ */

/* Changes to the directory where relative names of <file> start (false with errno), and back. */
bool conf_path_enter(struct config *cfg, const char *file);
void conf_path_leave(struct config *cfg);
/* Changes the policy, also for the file being read. False with errno. */
bool conf_path_set(struct config *cfg, enum conf_path_mode mode, const char *origin);

/* --- dispatch.c -------------------------------------------------------------------------- */

/* Parses one keyword line. <l> has words, section, object and slots. */
void conf_dispatch(struct conf_line *l, struct conf_tokens *t);
/* Returns the maximum number of words after the keyword; -1: any number. */
int conf_keyword_most(const struct conf_keyword *k);
/* Parses the value of a typed keyword into its slot. */
bool conf_store(struct conf_line *l, const struct conf_keyword *kw, struct slot_area *slots);
/* Is the keyword allowed now (experimental, deprecated, refused, ignored)? False: skip it. */
bool conf_keyword_allowed(struct conf_line *l, const struct conf_keyword *kw, int word);
/* Copies the words of the line into the arena. False: out of memory, reported. */
bool conf_line_commit(struct conf_line *l, struct conf_tokens *t);

/* --- value.c ----------------------------------------------------------------------------- */

/* --- secrets.c */

struct conf_kept;
/* Marks the secret bytes of word <i> of a line: 1 for each in <mask>, which has the word's length,
 * else 0. Any thread.
 */
void conf_secrets_mark(const struct conf_kept *k, int i, char *mask);

#endif
