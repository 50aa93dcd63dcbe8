/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* conf.h - the configuration engine: generations, sections, keyword dispatch
 *
 * Purpose: reads files into one `struct config` (a generation) by dispatching each line to the
 *          keyword tables of the modules. Knows no keywords itself, only the section and
 *          preprocessor machinery (.if, .notice, quoting, environment).
 * Owns   : a generation owns everything that is parsed, in its arena and slots. It is refcounted:
 *          code that keeps a pointer across turns of the event loop takes a reference.
 * Threads: built by one thread; immutable after the check phase; references from any thread.
 * Errors : every error becomes a diagnostic with file, line and column; parsing continues to the
 *          end, so that one run shows all errors. Parsers return false after reporting.
 * Manual : configuration 2.1 to 2.8, 3, 4.
 */
#ifndef CONF_CONF_H
#define CONF_CONF_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/diag.h"
#include "base/module.h"
#include "base/slice.h"
#include "base/slot.h"

/* Where a keyword is allowed; a mask. */
enum conf_place {
	CONF_GLOBAL = 1 << 0,
	CONF_DEFAULTS = 1 << 1,
	CONF_FRONTEND = 1 << 2,
	CONF_BACKEND = 1 << 3,
	CONF_LISTEN = 1 << 4,
	CONF_BIND = 1 << 5,   /* option of a bind line */
	CONF_SERVER = 1 << 6, /* option of a server or default-server line */
	CONF_OTHER = 1 << 7,  /* a section named by the keyword's <section> member */
	CONF_PROXY = CONF_DEFAULTS | CONF_FRONTEND | CONF_BACKEND | CONF_LISTEN,
	CONF_FE = CONF_FRONTEND | CONF_LISTEN,
	CONF_BE = CONF_BACKEND | CONF_LISTEN,
	CONF_FE_BE = CONF_FRONTEND | CONF_BACKEND | CONF_LISTEN,
	CONF_DEF_FE = CONF_DEFAULTS | CONF_FE,
	CONF_DEF_BE = CONF_DEFAULTS | CONF_BE,
};

struct conf_state;
struct proxy;

struct config {
	unsigned refs; /* atomic */
	struct arena arena;       /* texts and parsed objects, freed with the generation */
	struct arena own;         /* the generation's, while config_lend() has replaced it */
	bool is_lent;
	unsigned generation;      /* 1 for the first */
	bool is_checked;          /* whatever is parsed from now on is added at run time */
	/* the first feature, with its place, that needs the capability cap_net_raw or cap_net_admin
	 * while the program runs; NULL: none. See conf_needs_net()
	 */
	const char *needs_net;
	struct conf_state *state; /* owned: environment, default-path; private to the engine */
	/* its slots follow */
};

/* Creates a generation with one reference and initialised slots. NULL: out of memory. */
struct config *config_new(void);
struct config *config_take(struct config *cfg);
/* Drops a reference and NULLs the pointer; dropping the last one finishes the slots and frees all.
 */
void config_drop(struct config **cfg);

/* Enclose code that adds parsed objects to a generation in use (its arena has no lock), and the
 * switch to another generation: one at a time in the process. May block; taken before any lock of a
 * module. Any thread.
 */
void config_edit_begin(void);
void config_edit_end(void);
struct slot_area *config_slots(const struct config *cfg);

/* Until config_unlend(), parsed objects go to <arena> instead of cfg->arena: they belong to one
 * object of a generation in use, and are freed with it. Data that others of the generation see as
 * well goes to config_lasting(). Both between config_edit_begin() and config_edit_end().
 */
void config_lend(struct config *cfg, const struct arena *arena);
/* Ends config_lend(): <arena> receives what was parsed. */
void config_unlend(struct config *cfg, struct arena *arena);
/* Returns memory that is freed with the generation, also during config_lend(). */
struct arena *config_lasting(struct config *cfg);

/* One line being parsed. Everything is borrowed; words lie in cfg->arena. */
struct conf_line {
	struct config *cfg;
	struct diag_list *diags;
	struct diag_place place;           /* file, line, text; the column of the last error */
	char **words;                      /* unquoted; words[count] is NULL */
	const int *columns;                /* column of each word, from 1 */
	int count;
	int at;                            /* index of the next word: keyword parsers move it */
	const struct conf_section *section;
	const char *section_name;          /* argument of the section ("frontend NAME"), or "" */
	enum conf_place where;             /* one bit */
	/* what the section's open() created (a struct proxy, ...) */
	void *object;
	struct slot_area *slots;           /* of the object: proxy, server, bind or config */
	const struct conf_keyword *keyword;
	/* prefix of each message ("'server a/s1' : "); on other lines than bind and server lines,
	 * of each alert; or NULL
	 */
	const char *about;
	bool no, dflt;                     /* prefix `no` or `default`, which is not in words[] */
	bool early;                        /* first pass, see CONF_EARLY: reports are dropped */
	bool reverse;                      /* options need CONF_REVERSE */
	const struct conf_line *outer;     /* for options: the line that they are on; or NULL */
};

/* Return what the section created, and its slots, also for options of a line. */
static inline void *conf_section_object(const struct conf_line *l)
{
	return l->outer ? l->outer->object : l->object;
}

static inline struct slot_area *conf_section_slots(const struct conf_line *l)
{
	return l->outer ? l->outer->slots : l->slots;
}

/* Typed values that need no code: stored in the slot at offset. */
enum conf_type {
	CONF_NONE,   /* has a parse function */
	CONF_FLAG,   /* bool at offset; `no` clears */
	CONF_BIT,    /* sets bit <min> of a uint64_t at offset; `no` clears: options */
	CONF_INT,    /* int at offset, min..max */
	CONF_UINT64, /* uint64_t */
	CONF_TIME_MS,/* time with units (default ms) to int64_t milliseconds; manual 2.5 */
	CONF_TIME_S, /* likewise with default unit seconds, stored in ms */
	CONF_SIZE,   /* size with k/m/g to uint64_t; manual 2.5 */
	CONF_STRING, /* const char *, in the arena */
};

enum conf_keyword_flags {
	CONF_CAN_NO = 1 << 0,       /* may be prefixed by `no` */
	CONF_CAN_DEFAULT = 1 << 1,  /* may be prefixed by `default` */
	CONF_EXPERIMENTAL = 1 << 2, /* needs expose-experimental-directives */
	CONF_DEPRECATED = 1 << 3,   /* warns, <hint> names the replacement */
	CONF_REFUSED = 1 << 4,      /* known but refused with the message <hint> */
	/* accepted with a notice, <hint>, as it has no effect; if hidden, with a warning */
	CONF_IGNORED = 1 << 5,
	/* `global` only: parsed twice, first in a separate pass before all other lines (nbthread,
	 * thread-groups, setenv). So parsing it twice must do no harm.
	 */
	CONF_EARLY = 1 << 6,
	CONF_HIDDEN = 1 << 7,       /* not in -dK, help, manual and suggestions */
	CONF_STRICT_PLACE = 1 << 8, /* alert in the wrong kind of proxy, instead of a warning */
	CONF_HTTP = 1 << 9,         /* has an effect in `mode http` only: shown by -dK */
	/* Refused because a part of the program is not implemented yet: not listed by -dK. */
	CONF_LATER = 1 << 11 | CONF_REFUSED,
	CONF_RENAMED = 1 << 13,     /* an old name: warns, <hint> is the new one */
	/* Tunes something that is done in one way only: <parse> checks the values, and <hint> is
	 * shown by -dD only.
	 */
	CONF_MOOT = 1 << 14,
	CONF_REVERSE = 1 << 12,     /* an option of `bind` that is allowed on rhttp@ lines */
	/* words[0] may continue with '(': "set-proxy-v2-tlv-fmt(0xE0)" */
	CONF_PREFIX = 1 << 10,
};

struct conf_keyword {
	const char *words;     /* "maxconn", "timeout client", "option forwardfor": 1 to 3 words */
	unsigned where;        /* mask of enum conf_place */
	/* with CONF_OTHER: the section's name. With CONF_BIND: the option that it belongs to
	 * ("ssl"), for -dK
	 */
	const char *section;
	unsigned flags;
	/* words after the keyword on a section line; max -1: any. For CONF_BIND and CONF_SERVER
	 * options: number of values. 0 means 1 for types with a value
	 */
	int min_args, max_args;
	bool (*parse)(struct conf_line *line); /* line->at is the first argument */
	enum conf_type type;   /* or without code: */
	const struct slot *slot;
	size_t offset;
	int64_t min, max;
	const char *syntax;    /* "<number>": what follows the keyword */
	const char *help;      /* one line, in our own words */
	const char *parts;     /* "command path": first words of its arguments, which -dK lists */
	/* see flags; otherwise an addition to the warning that it is ignored in the wrong kind of
	 * proxy
	 */
	const char *hint;
};

struct conf_section {
	const char *name;      /* "global", "frontend" */
	/* NULL; or the kind of file it is allowed in, see conf_read_dialect() */
	const char *dialect;
	enum conf_place where; /* of the lines inside */
	/* The section's own line ("frontend NAME ..."): sets line->object and line->slots for the
	 * following lines. False: reported; the lines inside are still parsed, into a throw-away
	 * object, if line->object or line->slots was set, else only their names are checked.
	 */
	bool (*open)(struct conf_line *line);
	/* Called after its last line; may be NULL. */
	void (*close)(struct conf_line *line);
	const char *syntax, *help;
	bool keeps_lines;      /* see conf/block.h */
};

/* --- registry ------------------------------------------------------------------------------- */

/* Registers the tables of the modules. Once at start-up. <modules> ends with NULL. False: out of
 * memory.
 */
bool conf_register(const struct module *const *modules);
/* Prints every keyword in the form of -dKcfg (by section, sorted). */
void conf_dump_keywords(FILE *out);
/* Makes <dump> be called after the keywords of <section>, to add lines ("\thttp-request deny\n") of
 * a table that this engine does not know. This also creates a section without keywords
 * ("crt-list"). At start-up, at most 16 calls; false: no room.
 */
bool conf_on_dump(const char *section, void (*dump)(FILE *out));

/* Facts about the program for the predicates of `.if`. Borrowed, must remain valid. Without facts:
 * no feature, nothing enabled, no TLS library, version 3.4.0.
 */
struct conf_facts {
	const char *version;     /* "3.4.1" */
	const char *features;    /* " +EPOLL -KQUEUE ": as shown by -vv */
	const char *ssl_name;    /* "OpenSSL 3.0.2 15 Mar 2022" */
	const char *ssl_version; /* "3.0.2" */
	bool (*enabled)(const char *option); /* "SPLICE": enabled at run time? */
};
void conf_set_facts(const struct conf_facts *facts);

/* --- reading -------------------------------------------------------------------------------- */

struct conf_source {
	const char *path;  /* file or directory (its *.cfg in C order); "-" is stdin */
};

/* Reads all sources into <cfg>, running every parser, and collects diagnostics. False: at least one
 * alert was reported. Does not run the modules' check hooks. The alerts of a file are followed by
 * one that names the file; "Fatal errors found in configuration." is up to the caller.
 */
bool conf_read(struct config *cfg, const struct conf_source *sources, int count,
	       struct diag_list *diags);
/* Runs the first pass only: parses CONF_EARLY keywords, reports nothing. Does not read standard
 * input.
 */
void conf_read_early(struct config *cfg, const struct conf_source *sources, int count);
/* For a parser: reads the file at <path>, which the last word names. It may have sections of that
 * <dialect> only. With a <scope>, only the lines after "[scope]", up to the next such line, are
 * read; without, such lines are not allowed. False: reported.
 */
bool conf_read_dialect(struct conf_line *l, const char *path, const char *dialect,
		       const char *scope);
/* Reads a text. The name of one of the program's own texts begins with '<': see below. False:
 * alerts were reported.
 */
bool conf_read_text(struct config *cfg, const char *name, struct slice text,
		    struct diag_list *diags);
/* Is this the name of such a text? Its contents are never shown. */
static inline bool conf_is_own_text(const char *name)
{
	return *name == '<';
}
#define CONF_HIDDEN_MAX 16 /* bytes of a replacement text */
/* How to show lines. */
struct conf_show {
	FILE *out;
	bool numbered;  /* each after its number */
	uint32_t key;   /* hides secrets; 0: nothing is hidden. Needs the functions below */
	/* Return the replacement for a text, or for an address without its port, under a key;
	 * written to <out> or borrowed.
	 */
	const char *(*hide)(uint32_t key, const char *text, char out[CONF_HIDDEN_MAX]);
	const char *(*hide_ip)(uint32_t key, const char *ip, char out[CONF_HIDDEN_MAX]);
};
/* Makes conf_read() print each line as it was split into words, in the form of -dC: lines of a
 * section after a tab. <how> is borrowed until the next call; NULL: stop.
 */
void conf_show_lines(struct config *cfg, const struct conf_show *how);

/* A line in effect, split into words; borrowed until the callback returns. */
struct conf_seen {
	const char *file;
	int line;
	char *const *words;
	int count;
	bool opens; /* begins a section, even if unknown */
	bool is_cut; /* an empty word follows them: the line is refused */
};
struct conf_watch {
	void (*line)(void *data, const struct conf_seen *seen);
	void *data;
};
/* Makes conf_read() report each line, including those of included files and of the program's own
 * texts, but not those of a dialect. <watch> is borrowed until the next call; NULL: stop.
 */
void conf_watch_lines(struct config *cfg, const struct conf_watch *watch);
/* Runs the check hooks of all modules. False: an alert was reported. */
bool conf_check(struct config *cfg, struct diag_list *diags);
/* Runs the check_backend hooks of all modules. False: an alert was reported. Under
 * config_edit_begin().
 */
bool conf_check_backend(struct proxy *be, struct diag_list *diags);

/* Evaluates a condition as `.if` does, including quotes, escapes and variables: 1 true, 0 false, -1
 * reported in <diags>. For -cc, which exits with 0, 1 and 2 for these.
 */
int conf_condition(struct config *cfg, const char *text, struct diag_list *diags);

/* --- environment ----------------------------------------------------------------------------- */

/* Each generation has its own environment: a copy of the process's as conf_register() found it,
 * changed by setenv and similar keywords while it is read. So a reload starts from the beginning.
 * Manual 2.3, 3.1.
 */
const char *conf_getenv(const struct config *cfg, const char *name); /* NULL: not set */
/* Sets or removes a variable. False: out of memory, or not a valid name (empty, or with '='). */
bool conf_setenv(struct config *cfg, const char *name, const char *value, bool overwrite);
bool conf_unsetenv(struct config *cfg, const char *name);
/* Returns <text> with $NAME and ${NAME} replaced, as is done in addresses even outside quotes:
 * <text> itself, or a copy in the arena. NULL: out of memory. Unset variables are replaced by
 * nothing.
 */
const char *conf_expand(struct config *cfg, const char *text);
/* Makes it the environment of the process. Not while other threads run. False: out of memory. */
bool conf_env_apply(const struct config *cfg);

/* --- for keyword parsers -------------------------------------------------------------------- */

/* Returns the first character of <name> that is not allowed in names of sections and servers; 0:
 * none. Allowed are letters, digits, '-', '_', '.' and ':'.
 */
char conf_name_bad_char(const char *name);

/* Reports an alert about words[<word>] (its column). Returns false, for parsers to return. <hint>
 * may be NULL.
 */
bool conf_error(struct conf_line *l, int word, const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Notes that the line uses <what>, for which the kernel requires cap_net_raw or cap_net_admin. The
 * first one is kept in the generation, with its place. conf_warn() reports a warning.
 */
void conf_needs_net(struct conf_line *l, const char *what);
void conf_warn(struct conf_line *l, int word, const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Reports a notice: something worth knowing about a correct line. Unlike a warning it does not
 * count for zero-warning and -dW.
 */
void conf_note(struct conf_line *l, int word, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Reports with the given level and form (base/diag.h): for messages whose prefix differs from that
 * of other parsers. Returns false.
 */
bool conf_report(struct conf_line *l, int word, enum diag_level level, enum diag_form form,
		 const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Returns the file name to open for <path>, according to `default-path`: <path> itself, or an
 * absolute name in the arena. NULL: out of memory. While a file is read, the current directory also
 * follows default-path, but not later (check hooks).
 */
const char *conf_path(struct config *cfg, const char *path);
bool conf_experimental(const struct config *cfg); /* expose-experimental-directives was read */
bool conf_deprecated(const struct config *cfg);   /* expose-deprecated-directives was read */

/* Return the next word, or NULL at the end of the line; conf_next() also moves past it. */
static inline const char *conf_peek(const struct conf_line *l)
{
	return l->at < l->count ? l->words[l->at] : NULL;
}

static inline const char *conf_next(struct conf_line *l)
{
	return l->at < l->count ? l->words[l->at++] : NULL;
}

/* Each parses the next word and moves past it. False: reported what is wrong (missing, not a
 * number, out of range, bad unit). Units: manual 2.5, 2.6. Times are rounded up to milliseconds.
 */
bool conf_take_int(struct conf_line *l, int64_t min, int64_t max, int64_t *out);
bool conf_take_time_ms(struct conf_line *l, int64_t *out); /* bare numbers are milliseconds */
bool conf_take_time_s(struct conf_line *l, int64_t *out_ms); /* bare numbers are seconds */
/* Is it a number from 1 to 99 without unit? If it means milliseconds, parsers warn. */
bool conf_is_small_time(const char *word);
bool conf_take_size(struct conf_line *l, uint64_t *out);
bool conf_take_string(struct conf_line *l, const char **out);
/* A keyword's <parse>: a size, stored as an int at <offset> of <slot>, a slot of the
 * configuration; <min> and <max> limit it.
 */
bool conf_parse_size(struct conf_line *l);
/* Reports remaining words. False: there are some. */
bool conf_take_end(struct conf_line *l);

/* Parses the remaining options of a bind or server line (line->at must be after the address): looks
 * up words among the keywords of <where> (CONF_BIND or CONF_SERVER) and parses them with <object>
 * and <slots>. Unknown options are reported with the closest known one, and every message begins
 * with what the line is about. Continues after errors. False: something was reported.
 */
bool conf_take_options(struct conf_line *l, enum conf_place where, void *object,
		       struct slot_area *slots);

/* Copies a string into the generation's arena. NULL: out of memory. */
char *conf_strdup(struct config *cfg, const char *str);

/* Returns the candidate that is closest to <word> (edit distance, at most a third of its length),
 * or NULL. <next> returns the candidates one by one, then NULL.
 */
const char *conf_closest(const char *word, const char *(*next)(void *ctx), void *ctx);

/* The modules of the engine itself: section `global`, environment, expose-* directives,
 * default-path; and the table of dropped spellings.
 */
extern const struct module mod_conf;
extern const struct module mod_conf_legacy;

#endif
