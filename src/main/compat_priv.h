/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compat_priv.h - the lines of a configuration, as the rows of changes between versions see them
 *
 * compat.c collects the lines while they are read, asks each row of compat_rows.c about them, and
 * prints what was found. A row knows words only: it never looks at what the parsers have made, so
 * it also tells of lines that are refused now.
 */
#ifndef MAIN_COMPAT_PRIV_H
#define MAIN_COMPAT_PRIV_H

#include <stdbool.h>

/* Kinds of sections; a mask. */
enum compat_place {
	IN_GLOBAL = 1 << 0,
	IN_DEFAULTS = 1 << 1,
	IN_FRONTEND = 1 << 2,
	IN_BACKEND = 1 << 3,
	IN_LISTEN = 1 << 4,
	IN_OTHER = 1 << 5, /* resolvers, peers, program, ... */
	IN_RULESET = 1 << 6, /* (an extension): ACLs and rules as in proxies */
	IN_FE = IN_FRONTEND | IN_LISTEN,
	IN_BE = IN_BACKEND | IN_LISTEN,
	IN_PROXY = IN_DEFAULTS | IN_FE | IN_BE,
	IN_RULES = IN_PROXY | IN_RULESET,
	IN_ANY = IN_GLOBAL | IN_RULES | IN_OTHER,
};

struct compat_line {
	struct compat_line *next; /* of its section, or NULL */
	const char *file;
	int number;
	const char **words;       /* without `no` and `default`; words[count] is NULL */
	int count;
	bool no;                  /* `no` or `default` stood before them */
	bool is_cut;              /* an empty word stood behind them */
};

struct compat_section {
	struct compat_section *next;
	enum compat_place place;
	const struct compat_section *defaults; /* what it inherits from, or NULL */
	struct compat_line opening;            /* "backend NAME from DEFAULTS" */
	struct compat_line *first, **last;
};

/* What a row is asked about: a section, or a line of it. */
struct compat_site {
	const struct compat_section *sections; /* all of them */
	const struct compat_section *section;
	const struct compat_line *line;        /* the section's own where the row is of sections */
};

enum compat_kind {
	COMPAT_DEFAULT, /* without the line that keeps the old meaning, another one applies */
	COMPAT_MEANING, /* the line means something else */
	COMPAT_REFUSED, /* the line is an error */
	COMPAT_TOLD,    /* the line means what it did, and a warning is printed */
};

/* One change. */
struct compat_row {
	const char *name;       /* of the row: tests and the page of the manual name it */
	int before;             /* 206: 2.6 is known to have the old meaning; 0: <since> - 1 */
	int since;              /* the first version that is known to have the new one */
	enum compat_kind kind;
	unsigned places;        /* of the sections that it is about */
	const char *lines;      /* first words of the lines, alternatives between '|'; "*": any;
				 * NULL: the section's own */
	bool (*applies)(const struct compat_site *at); /* NULL: always */
	const char *was, *is;   /* what it meant, what it means */
	const char *keep;       /* what keeps the old meaning; NULL: nothing does */
};

/* Ends with a row without name. */
extern const struct compat_row compat_rows[];

/* Does the line begin with one of the <alternatives> ("stats socket|maxconn")? */
bool compat_line_is(const struct compat_line *l, const char *alternatives);
/* Does a word of the line, from number <from> on, equal <word>? */
bool compat_line_has(const struct compat_line *l, int from, const char *word);
/* The last line of the section that begins so, else of what it inherits from; NULL: none. */
const struct compat_line *compat_says(const struct compat_section *s, const char *alternatives);
/* The last line that begins so of the sections `global`; NULL: none. */
const struct compat_line *compat_global(const struct compat_site *at, const char *alternatives);

#endif
