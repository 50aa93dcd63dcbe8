/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* block.h - sections whose lines are kept, to be run in other sections
 *
 * Purpose: the first pass over the files keeps the lines of sections marked `keeps_lines`, so that
 *          a line of the second pass can run them in its own section, wherever they are in the
 *          files.
 * Owns   : blocks live in the generation's arena.
 * Threads: that of the parser.
 * Errors : errors in a line are reported at the place of that line.
 * Manual : configuration ruleset (an extension).
 */
#ifndef CONF_BLOCK_H
#define CONF_BLOCK_H

#include "base/tree.h"
#include "conf/conf.h"

struct conf_block_line {
	struct conf_block_line *next;
	const char *file, *text;  /* text: as configured */
	int line, count;
	char **words;
	int *columns;
};

struct conf_block {
	struct conf_block *next;  /* in the order of the files */
	struct tree_node by_name, by_place; /* for the engine: by hashes */
	const char *section;      /* "ruleset" */
	struct conf_block_line head; /* the section's own line */
	struct conf_block_line *first, **tail;
};

/* Finds the first block of this section and name. NULL: none. */
const struct conf_block *conf_block_find(const struct config *cfg, const char *section,
					 const char *name);
/* Returns the next block of a section, or the first one (NULL). NULL: no more. */
const struct conf_block *conf_block_next(const struct config *cfg, const char *section,
					 const struct conf_block *after);
/* Runs a line, with <words> instead of its own, in the section of <use>. */
void conf_block_run(const struct conf_line *use, const struct conf_block_line *line, char **words);

#endif
