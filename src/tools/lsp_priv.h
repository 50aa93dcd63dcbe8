/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lsp_priv.h - what the files of the language server share
 *
 *     lsp.c            messages in and out, which request goes where
 *     lsp_document.c   open documents, positions, what is wrong with them
 *     lsp_vocabulary.c the words of the program
 *     lsp_complete.c   completion and hover
 *     lsp_names.c      definition, references, rename, symbols
 *     lsp_family.c     files that are read together
 */
#ifndef TOOLS_LSP_PRIV_H
#define TOOLS_LSP_PRIV_H

#include <sys/types.h>
#include "base/strbuf.h"
#include "conf/source.h"
#include "tools/tools.h"

/* One word of the vocabulary. */
struct lsp_record {
	const char *kind, *name, *syntax, *where, *notes, *help, *hint;
};

struct lsp_document {
	struct lsp_document *next;
	char *uri, *path;      /* owned */
	struct strbuf text;
	struct source source;  /* of the text; line <i> is that of index i */
	bool is_stale;         /* what is wrong with it was not asked since it changed */
	pid_t checker;         /* a child that looks for it; 0: none */
	int fd;                /* from where it tells */
	struct strbuf said;    /* what it has told so far */
};

struct lsp {
	const struct tools_host *host;
	FILE *out;
	struct arena arena;    /* of the vocabulary */
	struct lsp_record *words; /* owned */
	int word_count;
	struct lsp_document *documents;
	bool utf8;             /* characters of positions are bytes, else units of UTF-16 */
	bool is_shut;          /* the client said shutdown */
};

/* A place in a document. */
struct lsp_place {
	struct lsp_document *document;
	const struct source_line *line; /* NULL: behind the last one */
	int at;                         /* byte */
	/* of lsp_family_open(): all lines that are read together, and <line> among them */
	const struct source *all;
	const struct source_line *of_all;
	struct source own;
};

/* --- lsp.c */
/* Sends a notification. */
void lsp_publish(struct lsp *x, struct slice body);

/* --- lsp_document.c */
struct lsp_document *lsp_find(struct lsp *x, struct slice uri);
/* Opens or replaces. */
void lsp_open(struct lsp *x, struct slice uri, struct slice text);
void lsp_close(struct lsp *x, struct slice uri);
/* Applies contentChanges of a notification. */
void lsp_change(struct lsp *x, struct lsp_document *d, struct slice params);
/* Has a child look for what is wrong with it, instead of one that still does: whatever a
 * half-written file does to the parser, the server goes on, and answers meanwhile.
 */
void lsp_check_begin(struct lsp *x, struct lsp_document *d);
/* Reads what the child tells; publishes it when that is all. */
void lsp_check_take(struct lsp *x, struct lsp_document *d);
/* Reads params.position of a request. */
struct lsp_place lsp_place(struct lsp *x, struct slice params);
/* Appends {"start":...,"end":...} of bytes <from> to <to> of a line. */
void lsp_put_range(const struct lsp *x, struct strbuf *b, const struct source_line *l, int from,
		   int to);
/* The characters that <bytes> of a line are. */
int lsp_characters(const struct lsp *x, struct slice raw, int bytes);

/* --- lsp_vocabulary.c */
bool lsp_vocabulary_read(struct lsp *x);
/* Is <item> one of a list with commas between? */
bool lsp_lists(const char *list, const char *item);
/* The keyword with the most words among those of a line in a section of this kind; *used: how
 * many.
 */
const struct lsp_record *lsp_keyword(const struct lsp *x, const struct source_line *l,
				     const char *section, int *used);
/* The record of this kind and name; NULL: none. <len> bytes of <name>. */
const struct lsp_record *lsp_word(const struct lsp *x, const char *kind, const char *name,
				  size_t len);

/* --- lsp_complete.c: each appends the result of a request */
void lsp_complete(struct lsp *x, struct slice params, struct strbuf *out);
void lsp_hover(struct lsp *x, struct slice params, struct strbuf *out);

/* --- lsp_names.c */
void lsp_definition(struct lsp *x, struct slice params, struct strbuf *out);
void lsp_references(struct lsp *x, struct slice params, struct strbuf *out);
void lsp_rename(struct lsp *x, struct slice params, struct strbuf *out);
void lsp_symbols(struct lsp *x, struct slice params, struct strbuf *out);
/* The kind of section that a line stands in ("frontend"); "": before the first. */
const char *lsp_section(const struct source *s, const struct source_line *l);
/* The name around byte <at> of a line; empty: none. */
struct slice lsp_name_at(const struct source_line *l, int at);
/* The word of a use_backends line behind its last backend. */
int lsp_shares_end(const struct source_line *l);

/* --- lsp_family.c */
bool lsp_has_includes(const struct lsp_document *d);
/* Finds what is read together with the document of a place, which may be none. */
void lsp_family_open(const struct lsp *x, struct lsp_place *p);
void lsp_family_close(struct lsp_place *p);
/* The last line of the document in <all>; NULL: it has none. */
const struct source_line *lsp_family_end(const struct lsp_place *p);
/* Appends the URI of a file: that of the document, where it is open. */
void lsp_put_uri(const struct lsp *x, const char *path, struct strbuf *out);

#endif
