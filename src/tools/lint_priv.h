/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lint_priv.h - declarations shared by the files of --lint
 *
 *     lint.c         reading
 *     lint_findings.c  findings, parser messages, ignored findings, sorting
 *     lint_rules.c   the table: identifiers, explanations, suggestions
 *     lint_print.c   text, JSON, SARIF
 *     lint_look.c    queries about lines and sections
 *     lint_dead.c    unused objects, unreachable rules
 *     lint_rule.c    conditions and patterns that mean something else than they seem to
 *     lint_count.c   counters and tables
 *     lint_run.c     timeouts, servers, logs
 *     lint_secure.c  TLS, secrets, open access
 */
#ifndef TOOLS_LINT_PRIV_H
#define TOOLS_LINT_PRIV_H

#include "conf/source.h"
#include "tools/tools.h"

enum lint_level { LINT_NOTE, LINT_WARNING, LINT_ERROR };

struct lint_rule {
	const char *id;
	enum lint_level level;
	const char *why;        /* an explanation */
	const char *suggestion;
};

/* identifiers of the table; enum lint_id is made of the same list */
#define LINT_IDS(X) \
	X(PARSER_ERROR) X(PARSER_WARNING) X(PARSER_DIAGNOSTIC) \
	X(UNUSED_BACKEND) X(UNUSED_ACL) X(UNUSED_SECTION) X(UNUSED_DEFAULTS) X(UNUSED_VARIABLE) \
	X(UNUSED_TABLE) X(UNUSED_CHECK) X(RULE_AFTER_FINAL) X(DEFAULT_BACKEND_DEAD) \
	X(SAME_CONDITION) X(NEVER_TRUE) X(OVERRIDDEN) X(CONTRADICTORY_OPTION) X(DUPLICATE_ACL) \
	X(DUPLICATE_RULE) X(DUPLICATE_BIND) X(DUPLICATE_SERVER) X(COOKIE_UNSET) X(COOKIE_UNUSED) \
	X(ACL_SHADOWS) X(PATTERN_NO_REGEX) X(REGEX_DOT) X(HOST_SUBSTRING) X(HOST_SUFFIX) \
	X(HOST_CASE) X(REDIRECT_LOOP) X(COUNTER_UNTRACKED) X(COUNTER_UNSTORED) \
	X(TABLE_NO_EXPIRE) X(TIMEOUT_INFINITE) X(NO_REQUEST_TIMEOUT) X(PARTLY_CHECKED) \
	X(ONLY_BACKUP) X(MAXCONN_ABOVE) X(LOG_NOWHERE) X(LOG_DAEMON) X(LOG_NO_HTTP) \
	X(WEAK_TLS_VERSION) X(WEAK_CIPHER) X(WEAK_DH) X(VERIFY_NONE) X(EARLY_DATA) X(PORT_443) \
	X(SECRET_IN_CLEAR) X(STATS_OPEN) X(STATS_ADMIN) X(SOCKET_OPEN) X(RUNS_AS_ROOT) \
	X(COOKIE_SCRIPT)

enum lint_id {
#define X(id) LINT_##id,
	LINT_IDS(X)
#undef X
	LINT_COUNT
};

extern const struct lint_rule lint_rules[LINT_COUNT];

struct lint_finding {
	enum lint_id id;
	int at;           /* index of its line; -1: the parser names none that was read */
	const char *file; /* NULL: the parser names none */
	int line, column, length; /* from 1; 0: unknown */
	const char *message;
	const char *hint;  /* the parser's; NULL: use the rule's suggestion */
};

/* An occurrence of a name in a word. */
struct lint_name {
	uint64_t hash;
	int line, word;
};

/* The sections around a line, as indexes of their first lines; -1: none. */
struct lint_sections {
	int next;     /* after the line */
	int defaults; /* the last `defaults` section before it */
};

struct lint {
	struct source source;
	struct lint_sections *sections; /* owned: one for each line */
	int *places; /* owned: indices of lines, sorted by file and number */
	struct lint_name *names; /* owned: sorted by hash, then by line */
	size_t name_count, name_room;
	struct lint_finding *findings; /* owned */
	int count, room;
};

/* --- lint.c */
/* Runs every rule over x->source. */
void lint_look(struct lint *x);

/* --- lint_findings.c */
/* Reports a finding about word <word> of a line. */
void lint_say(struct lint *x, enum lint_id id, const struct source_line *l, int word,
	      const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* lint_add_diagnostics() adds the parser's messages; lint_settle() sorts all and drops those that a
 * comment asks to ignore.
 */
void lint_add_diagnostics(struct lint *x, const struct diag_list *diags);
void lint_settle(struct lint *x);
void lint_fini(struct lint *x);

/* --- lint_print.c */
void lint_print(const struct lint *x, enum tools_output output, FILE *out);

/* --- lint_look.c */
/* Returns the next line of a section after <i>, ignoring lines that do not count; -1: none. Start
 * with the section's own line.
 */
int lint_next(const struct lint *x, int section, int i);
/* Returns the next line after <i> that starts a section; -1: none. Start with -1. */
int lint_next_section(const struct lint *x, int i);
/* Returns true if the kind of <section> is one of <names> ("frontend listen"). */
bool lint_is(const struct lint *x, int section, const char *names);
/* Returns the last line of the section that starts with <words>, else of its defaults; NULL: none.
 */
const struct source_line *lint_setting(const struct lint *x, int section, const char *words);
/* Returns true if the section is in HTTP mode. */
bool lint_is_http(const struct lint *x, int section);
/* Returns true if <text> contains <name> as a separate word. */
bool lint_names(const char *text, const char *name);
/* Indexes sections, places, and every name in every line that counts. Returns false: no memory. */
bool lint_index(struct lint *x);
/* Returns the index of the line with this file and number; -1: not read. */
int lint_line_at(const struct lint *x, const char *file, int number);
/* Returns the next occurrence of <name>, not counting a line's keyword; NULL: none. Start with
 * NULL.
 */
const struct lint_name *lint_next_use(const struct lint *x, const char *name,
				      const struct lint_name *at);
/* Returns the first such occurrence in or after line <line>. */
const struct lint_name *lint_first_use(const struct lint *x, const char *name, int line);
/* Returns true if <name> is used in a line other than <line> and outside section <except> (-1:
 * none).
 */
bool lint_is_used(const struct lint *x, const char *name, int except, int line);
/* Returns the index of the word "if" or "unless"; l->count: no condition. */
int lint_condition(const struct source_line *l);
/* Returns the value after <option> ("crt") on a line; NULL: not there. */
const char *lint_value(const struct source_line *l, const char *option);
/* Returns the index of that word; -1: not there. */
int lint_word(const struct source_line *l, const char *option);
/* Returns true if it is an address of this host only ("127.0.0.1:80", a UNIX socket). */
bool lint_is_local(const char *address);

/* --- the rules, in one file each */
void lint_dead(struct lint *x);
void lint_reached(struct lint *x);
void lint_twice(struct lint *x);
void lint_patterns(struct lint *x);
void lint_counters(struct lint *x);
void lint_running(struct lint *x);
void lint_secure(struct lint *x);

#endif
