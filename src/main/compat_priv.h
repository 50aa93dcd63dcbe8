/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compat_priv.h - configuration lines, as the table of changes between versions sees them
 *
 * compat.c collects the lines while they are read, evaluates each row of compat_rows.c on them, and
 * prints the matches. A row sees words only, never the results of the parsers, so it also matches
 * lines that are refused now.
 */
#ifndef MAIN_COMPAT_PRIV_H
#define MAIN_COMPAT_PRIV_H

#include <stdbool.h>

/* Kinds of sections, as a mask. */
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
	bool no;                  /* they followed `no` or `default` */
	bool is_cut;              /* they were followed by an empty word */
};

struct compat_section {
	struct compat_section *next;
	enum compat_place place;
	const struct compat_section *defaults; /* the section it inherits from, or NULL */
	struct compat_line opening;            /* "backend NAME from DEFAULTS" */
	struct compat_line *first, **last;
};

/* The argument of a row: a section, or one of its lines. */
struct compat_site {
	const struct compat_section *sections; /* all of them */
	const struct compat_section *section;
	/* the section's opening line for rows about sections */
	const struct compat_line *line;
};

enum compat_kind {
	COMPAT_DEFAULT, /* without a line that keeps the old meaning, a new default applies */
	COMPAT_MEANING, /* the line has a new meaning */
	COMPAT_REFUSED, /* the line is now an error */
	COMPAT_TOLD,    /* the line keeps its meaning, but causes a warning */
};

/* One change. */
struct compat_row {
	const char *name;       /* of the row: used by tests and the manual */
	int before;             /* 206: 2.6 is known to have the old meaning; 0: <since> - 1 */
	int since;              /* the first version known to have the new meaning */
	enum compat_kind kind;
	unsigned places;        /* kinds of sections it applies to */
	const char *lines;      /* first words of the lines, alternatives between '|'; "*": any;
				 * NULL: the section's own */
	bool (*applies)(const struct compat_site *at); /* NULL: always */
	const char *was, *is;   /* old meaning, new meaning */
	const char *keep;       /* how to keep the old meaning; NULL: not possible */
};

/* Ends with a row without name. */
extern const struct compat_row compat_rows[];

/* Returns true if the line starts with one of the <alternatives> ("stats socket|maxconn"). */
bool compat_line_is(const struct compat_line *l, const char *alternatives);
/* Returns true if a word of the line equals <word>, from number <from> on. */
bool compat_line_has(const struct compat_line *l, int from, const char *word);
/* Returns the last line of the section that starts so, else of the section it inherits from; NULL:
 * none.
 */
const struct compat_line *compat_says(const struct compat_section *s, const char *alternatives);
/* Returns the last line that starts so in the sections `global`; NULL: none. */
const struct compat_line *compat_global(const struct compat_site *at, const char *alternatives);

#endif
