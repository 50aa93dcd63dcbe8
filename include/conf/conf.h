/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* conf.h - the configuration engine: generations, sections, keyword dispatch
 *
 * Purpose: reads files into one `struct config` (a generation) by dispatching each line to the
 *          keyword tables of the modules. Knows no keyword itself except the section and
 *          preprocessor machinery (.if, .notice, quoting, environment).
 * Owns   : a generation owns every parsed thing through its arena and slots. It is refcounted:
 *          code that keeps a pointer across turns of the event loop takes a reference.
 * Threads: built by one thread; immutable after the check phase; references from any thread.
 * Errors : everything wrong becomes a diagnostic with file, line, column; parsing continues to the
 *          end so that one run shows all of them. Parsers return false after reporting.
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

/* Places where a keyword may stand; a mask. */
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
	struct arena arena;       /* texts and parsed things that die with the generation */
	struct arena own;         /* while config_lend() has replaced it: the generation's */
	bool is_lent;
	unsigned generation;      /* 1 for the first */
	bool is_checked;          /* what is parsed from now on is added at run time */
	/* the first thing, with its place, that takes the capability cap_net_raw or cap_net_admin
	 * while the program runs; NULL: none. See conf_needs_net()
	 */
	const char *needs_net;
	struct conf_state *state; /* owned: environment, default-path; private to the engine */
	/* its slots follow */
};

/* A new generation with one reference, slots initialised; NULL: no memory. */
struct config *config_new(void);
struct config *config_take(struct config *cfg);
/* Drops a reference and NULLs the pointer; the last one finishes the slots and frees all. */
void config_drop(struct config **cfg);

/* Around what adds parsed things to a generation that is in use (its arena has no lock), and around
 * the switch to another generation: one at a time in the process. May wait; taken before any lock
 * of a module. Threads: any.
 */
void config_edit_begin(void);
void config_edit_end(void);
struct slot_area *config_slots(const struct config *cfg);

/* Until config_unlend() what is parsed goes to <arena> instead of cfg->arena: it belongs to one
 * object of a generation in use, and dies with it. What others of the generation see, too, takes
 * config_lasting(). Both between config_edit_begin() and _end().
 */
void config_lend(struct config *cfg, const struct arena *arena);
/* <arena> has what was parsed. */
void config_unlend(struct config *cfg, struct arena *arena);
/* Memory that dies with the generation, whatever is parsed. */
struct arena *config_lasting(struct config *cfg);

/* One line being parsed. Everything is borrowed, except that words live in cfg->arena. */
struct conf_line {
	struct config *cfg;
	struct diag_list *diags;
	struct diag_place place;           /* file, line, text; the column is of the last error */
	char **words;                      /* unquoted; words[count] is NULL */
	const int *columns;                /* column of each word, from 1 */
	int count;
	int at;                            /* next word to look at: keyword parsers move it */
	const struct conf_section *section;
	const char *section_name;          /* its first argument ("frontend NAME"), or "" */
	enum conf_place where;             /* one bit */
	void *object;                      /* what the section made (a struct proxy, ...) */
	struct slot_area *slots;           /* of the object: proxy, server, bind or config */
	const struct conf_keyword *keyword;
	const char *about;                 /* begins each message ("'server a/s1' : "), elsewhere
					    * than on bind and server lines each alert; or NULL */
	bool no, dflt;                     /* prefixed by `no` or `default`, not in words[] */
	bool early;                        /* first pass, see CONF_EARLY: reports are lost */
	bool reverse;                      /* options need CONF_REVERSE */
	const struct conf_line *outer;     /* of options: the line that they stand on; or NULL */
};

/* What the section made, and its slots, of the options of a line, too. */
static inline void *conf_section_object(const struct conf_line *l)
{
	return l->outer ? l->outer->object : l->object;
}

static inline struct slot_area *conf_section_slots(const struct conf_line *l)
{
	return l->outer ? l->outer->slots : l->slots;
}

/* Typed values that need no code: where=slot+offset. */
enum conf_type {
	CONF_NONE,   /* has a parse function */
	CONF_FLAG,   /* bool at offset; `no` clears */
	CONF_BIT,    /* sets bit <min> of a uint64_t at offset; `no` clears: options */
	CONF_INT,    /* int at offset, min..max */
	CONF_UINT64, /* uint64_t */
	CONF_TIME_MS,/* time with units (default ms) to int64_t milliseconds; manual 2.5 */
	CONF_TIME_S, /* same, default unit seconds, stored in ms */
	CONF_SIZE,   /* size with k/m/g to uint64_t; manual 2.5 */
	CONF_STRING, /* const char *, in the arena */
};

enum conf_keyword_flags {
	CONF_CAN_NO = 1 << 0,       /* may be prefixed by `no` */
	CONF_CAN_DEFAULT = 1 << 1,  /* may be prefixed by `default` */
	CONF_EXPERIMENTAL = 1 << 2, /* needs expose-experimental-directives */
	CONF_DEPRECATED = 1 << 3,   /* warns, <hint> names what replaces it */
	CONF_REFUSED = 1 << 4,      /* known but refused: the message is <hint> */
	/* harmless: accepted with a notice, whose text is <hint>; if hidden, with a warning */
	CONF_IGNORED = 1 << 5,
	/* `global` only: parsed twice, the first time in a pass of its own before all other lines
	 * (nbthread, thread-groups, setenv). So it must do no harm when done again.
	 */
	CONF_EARLY = 1 << 6,
	CONF_HIDDEN = 1 << 7,       /* not in -dK, help, manual and suggestions */
	CONF_STRICT_PLACE = 1 << 8, /* an alert in the wrong kind of proxy, else a warning */
	CONF_HTTP = 1 << 9,         /* means something in `mode http` only: shown by -dK */
	/* Refused because a part of the program is not there yet: -dK does not list it. */
	CONF_LATER = 1 << 11 | CONF_REFUSED,
	CONF_RENAMED = 1 << 13,     /* an old name: warns, <hint> is the new one */
	/* Tunes what is done in one way only: <parse> checks what is said, and -dD alone tells
	 * <hint>.
	 */
	CONF_MOOT = 1 << 14,
	CONF_REVERSE = 1 << 12,     /* an option of `bind` that rhttp@ lines may have */
	CONF_PREFIX = 1 << 10,      /* words[0] may go on with '(': "set-proxy-v2-tlv-fmt(0xE0)" */
};

struct conf_keyword {
	const char *words;     /* "maxconn", "timeout client", "option forwardfor": 1 to 3 words */
	unsigned where;        /* mask of enum conf_place */
	const char *section;   /* with CONF_OTHER: the section's name. With CONF_BIND: the option
				* that it goes with ("ssl"), for -dK */
	unsigned flags;
	int min_args, max_args; /* words after the keyword on a section line; max -1: any. For
				 * CONF_BIND and CONF_SERVER options: how many values follow. 0
				 * is 1 for the types that take a value */
	bool (*parse)(struct conf_line *line); /* line->at is the first argument */
	enum conf_type type;   /* or no code: */
	const struct slot *slot;
	size_t offset;
	int64_t min, max;
	const char *syntax;    /* "<number>" : what follows the keyword */
	const char *help;      /* one line, our own words */
	const char *parts;     /* "command path": first words of what follows, which -dK lists */
	const char *hint;      /* see flags; without those that use it, what is said in addition
				* when it is ignored in the wrong kind of proxy */
};

struct conf_section {
	const char *name;      /* "global", "frontend" */
	const char *dialect;   /* NULL; or the kind of file that it stands in, see
				* conf_read_file() */
	enum conf_place where; /* of the lines inside */
	/* The section's own line ("frontend NAME ..."): sets line->object and line->slots for
	 * the lines to come. False: reported; the lines inside are still checked against a
	 * throw-away object if line->object or line->slots was set, else only for their names.
	 */
	bool (*open)(struct conf_line *line);
	/* After its last line; may be NULL. */
	void (*close)(struct conf_line *line);
	const char *syntax, *help;
	bool keeps_lines;      /* see conf/block.h */
};

/* --- registry ------------------------------------------------------------------------------- */

/* Makes the tables of the modules known. Once at start-up. <modules> ends with NULL. */
bool conf_register(const struct module *const *modules);
/* Prints every keyword, in the form of -dKcfg (section by section, sorted). */
void conf_dump_keywords(FILE *out);
/* Has <dump> called behind the keywords of <section>, to add lines ("\thttp-request deny\n") of
 * a table that this engine does not know. A section without keywords ("crt-list") is made by this.
 * Once at start-up, at most 16 of them; false: no room.
 */
bool conf_on_dump(const char *section, void (*dump)(FILE *out));

/* What the predicates of `.if` ask of the program. Borrowed, must live on. Without facts: no
 * feature, nothing enabled, no TLS library, version 3.4.0.
 */
struct conf_facts {
	const char *version;     /* "3.4.1" */
	const char *features;    /* " +EPOLL -KQUEUE ": as shown by -vv */
	const char *ssl_name;    /* "OpenSSL 3.0.2 15 Mar 2022" */
	const char *ssl_version; /* "3.0.2" */
	bool (*enabled)(const char *option); /* "SPLICE": is it enabled at run time? */
};
void conf_set_facts(const struct conf_facts *facts);

/* --- reading -------------------------------------------------------------------------------- */

struct conf_source {
	const char *path;  /* file or directory (its *.cfg in C order); "-" is stdin */
};

/* Reads all sources into <cfg>, running every parser, and collects diagnostics. Returns false when
 * at least one alert was reported. Does not run the modules' check hooks. After the alerts of
 * a file stands one that names the file; "Fatal errors found in configuration." is left to the
 * caller.
 */
bool conf_read(struct config *cfg, const struct conf_source *sources, int count,
	       struct diag_list *diags);
/* The first pass only: carries out what is CONF_EARLY and says nothing. Standard input is left
 * alone.
 */
void conf_read_early(struct config *cfg, const struct conf_source *sources, int count);
/* For a parser: reads the file at <path>, which the last word names. Its sections are those of that
 * <dialect>, and those of configurations are unknown there. With a <scope>, what stands below
 * the line "[scope]", up to the next such line, is all that is read; without, there may be no such
 * line. False: reported.
 */
bool conf_read_dialect(struct conf_line *l, const char *path, const char *dialect,
		       const char *scope);
/* Reads a text. One of the program's own has a <name> that begins with '<': see below. */
bool conf_read_text(struct config *cfg, const char *name, struct slice text,
		    struct diag_list *diags);
/* Is this the name of such a text? What it brings is never shown. */
static inline bool conf_is_own_text(const char *name)
{
	return *name == '<';
}
#define CONF_HIDDEN_MAX 16 /* bytes of what stands for a text */
/* How lines are shown. */
struct conf_show {
	FILE *out;
	bool numbered;  /* each behind its number */
	uint32_t key;   /* without secrets; 0: as they are. Needs the functions below */
	/* What stands for a text, or an address without its port, under a key; made in <out> or
	 * borrowed.
	 */
	const char *(*hide)(uint32_t key, const char *text, char out[CONF_HIDDEN_MAX]);
	const char *(*hide_ip)(uint32_t key, const char *ip, char out[CONF_HIDDEN_MAX]);
};
/* Has conf_read() print each line as it was cut into words, in the form of -dC: those of a section
 * behind a tab. <how> is borrowed until the next call; NULL: no more.
 */
void conf_show_lines(struct config *cfg, const struct conf_show *how);

/* A line that counts, cut into words; borrowed until the callback returns. */
struct conf_seen {
	const char *file;
	int line;
	char *const *words;
	int count;
	bool opens; /* it begins a section, one that is not known any more included */
	bool is_cut; /* an empty word stands behind them: the line is refused */
};
struct conf_watch {
	void (*line)(void *data, const struct conf_seen *seen);
	void *data;
};
/* Has conf_read() tell of each line, those of included files and of the program's own texts too,
 * those of a dialect not. <watch> is borrowed until the next call; NULL: no more.
 */
void conf_watch_lines(struct config *cfg, const struct conf_watch *watch);
/* Runs every module's check hook. False when an alert was reported. */
bool conf_check(struct config *cfg, struct diag_list *diags);
/* Runs every module's check_backend hook. False when an alert was reported. Under
 * config_edit_begin().
 */
bool conf_check_backend(struct proxy *be, struct diag_list *diags);

/* Evaluates a condition as `.if` does, quotes, escapes and variables of a line included: 1 true,
 * 0 false, -1 reported in <diags>. For -cc, which exits with 0, 1 and 2 for these.
 */
int conf_condition(struct config *cfg, const char *text, struct diag_list *diags);

/* --- environment ----------------------------------------------------------------------------- */

/* A generation has its own environment: a copy of the process's as conf_register() found it,
 * changed by setenv and its kin while it is read. So a reload starts afresh. Manual 2.3, 3.1.
 */
const char *conf_getenv(const struct config *cfg, const char *name); /* NULL: not set */
/* False: no memory, or not a name (empty, or with '='). */
bool conf_setenv(struct config *cfg, const char *name, const char *value, bool overwrite);
bool conf_unsetenv(struct config *cfg, const char *name);
/* <text> with $NAME and ${NAME} replaced, as addresses are outside quotes too: <text> itself, or a
 * copy in the arena; NULL: no memory. What is not set is replaced by nothing.
 */
const char *conf_expand(struct config *cfg, const char *text);
/* Makes it the environment of the process. Not while other threads run. False: no memory. */
bool conf_env_apply(const struct config *cfg);

/* --- for keyword parsers -------------------------------------------------------------------- */

/* The first character of <name> that names of sections and servers may not have; 0: there is none.
 * They have letters, digits, '-', '_', '.' and ':'.
 */
char conf_name_bad_char(const char *name);

/* Reports an alert about words[<word>] (its column); returns false, so that a parser may return it.
 * <hint> may be NULL.
 */
bool conf_error(struct conf_line *l, int word, const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The line has <what>, which the kernel does with cap_net_raw or cap_net_admin only. The first one
 * is kept in the generation, with its place.
 */
void conf_needs_net(struct conf_line *l, const char *what);
void conf_warn(struct conf_line *l, int word, const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* A notice: something that is worth knowing of a line that is right. Unlike a warning it does not
 * count for zero-warning and -dW.
 */
void conf_note(struct conf_line *l, int word, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Reports with the form of base/diag.h and the level given: for messages that do not begin like
 * those of other parsers. Returns false.
 */
bool conf_report(struct conf_line *l, int word, enum diag_level level, enum diag_form form,
		 const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* The name of the file to open for <path>, by the policy of `default-path`: <path> itself, or an
 * absolute name in the arena; NULL: no memory. While a file is being read the current directory
 * follows default-path as well, but not later (check hooks).
 */
const char *conf_path(struct config *cfg, const char *path);
bool conf_experimental(const struct config *cfg); /* expose-experimental-directives was read */
bool conf_deprecated(const struct config *cfg);   /* expose-deprecated-directives was read */

/* The next word, or NULL at the end of the line. */
static inline const char *conf_peek(const struct conf_line *l)
{
	return l->at < l->count ? l->words[l->at] : NULL;
}

static inline const char *conf_next(struct conf_line *l)
{
	return l->at < l->count ? l->words[l->at++] : NULL;
}

/* Each reads the next word and moves on, or reports what is wrong (missing, not a number, out of
 * range, bad unit) and returns false. Units: manual 2.5, 2.6. A time is rounded up to milliseconds.
 */
bool conf_take_int(struct conf_line *l, int64_t min, int64_t max, int64_t *out);
bool conf_take_time_ms(struct conf_line *l, int64_t *out); /* bare numbers are milliseconds */
bool conf_take_time_s(struct conf_line *l, int64_t *out_ms); /* bare numbers are seconds */
/* Is it a number from 1 to 99 without unit? Where it would be milliseconds, a parser warns. */
bool conf_is_small_time(const char *word);
bool conf_take_size(struct conf_line *l, uint64_t *out);
bool conf_take_string(struct conf_line *l, const char **out);
/* For a keyword's <parse>: a size that is kept as an int at <offset> of <slot>, a slot of the
 * configuration; <min> and <max> bound it.
 */
bool conf_parse_size(struct conf_line *l);
/* Reports words that remain. */
bool conf_take_end(struct conf_line *l);

/* Parses the options that remain on a bind or server line (line->at must be behind the address):
 * words are looked up among the keywords of <where> (CONF_BIND or CONF_SERVER) and parsed with
 * <object> and <slots>. Unknown options are reported with the closest known one, and every message
 * of a parser begins with what the line is about. Goes on to the end after an error. False when
 * anything was reported.
 */
bool conf_take_options(struct conf_line *l, enum conf_place where, void *object,
		       struct slot_area *slots);

/* Copies into the generation's arena; NULL: no memory. */
char *conf_strdup(struct config *cfg, const char *str);

/* The closest of the candidates to <word> (edit distance, bounded by a third of its length), or
 * NULL. <next> returns the candidates one by one, then NULL.
 */
const char *conf_closest(const char *word, const char *(*next)(void *ctx), void *ctx);

/* The module of the engine itself: section `global`, environment, exposure of directives,
 * default-path; and the table of the spellings that were dropped.
 */
extern const struct module mod_conf;
extern const struct module mod_conf_legacy;

#endif
