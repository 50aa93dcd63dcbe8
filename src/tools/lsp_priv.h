/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lsp_priv.h - declarations shared by the files of the language server
 *
 *     lsp.c            messages in and out, dispatch of requests
 *     lsp_document.c   open documents, positions, diagnostics
 *     lsp_vocabulary.c the program's keywords
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

/* An entry of the vocabulary. */
struct lsp_record {
	const char *kind, *name, *syntax, *where, *notes, *help, *hint;
};

struct lsp_document {
	struct lsp_document *next;
	char *uri, *path;      /* owned */
	struct strbuf text;
	struct source source;  /* of the text; line <i> has the index i */
	bool is_stale;         /* not checked since its last change */
	pid_t checker;         /* a child that checks it; 0: none */
	int fd;                /* to read the child's output */
	struct strbuf said;    /* the output so far */
};

struct lsp {
	const struct tools_host *host;
	FILE *out;
	struct arena arena;    /* for the vocabulary */
	struct lsp_record *words; /* owned */
	int word_count;
	struct lsp_document *documents;
	bool utf8;             /* positions count bytes, else UTF-16 units */
	bool is_shut;          /* the client has sent shutdown */
};

/* A position in a document. */
struct lsp_place {
	struct lsp_document *document;
	const struct source_line *line; /* NULL: after the last one */
	int at;                         /* byte */
	/* set by lsp_family_open(): all lines that are read together, and <line> among them */
	const struct source *all;
	const struct source_line *of_all;
	struct source own;
};

/* --- lsp.c */
/* Sends a notification. */
void lsp_publish(struct lsp *x, struct slice body);

/* --- lsp_document.c */
struct lsp_document *lsp_find(struct lsp *x, struct slice uri);
/* Opens or replaces a document. */
void lsp_open(struct lsp *x, struct slice uri, struct slice text);
void lsp_close(struct lsp *x, struct slice uri);
/* Applies contentChanges of a notification. */
void lsp_change(struct lsp *x, struct lsp_document *d, struct slice params);
/* Starts a child that checks the document, replacing one that still runs: whatever a half-written
 * file does to the parser, the server continues, and answers meanwhile.
 */
void lsp_check_begin(struct lsp *x, struct lsp_document *d);
/* Reads the child's output; publishes it when it is complete. */
void lsp_check_take(struct lsp *x, struct lsp_document *d);
/* Reads params.position of a request. */
struct lsp_place lsp_place(struct lsp *x, struct slice params);
/* Appends {"start":...,"end":...} of bytes <from> to <to> of a line. */
void lsp_put_range(const struct lsp *x, struct strbuf *b, const struct source_line *l, int from,
		   int to);
/* Returns the number of characters in the first <bytes> bytes of a line. */
int lsp_characters(const struct lsp *x, struct slice raw, int bytes);

/* --- lsp_vocabulary.c */
bool lsp_vocabulary_read(struct lsp *x);
/* Returns true if <item> is in a comma-separated list. */
bool lsp_lists(const char *list, const char *item);
/* Returns the keyword that matches the most words of a line in a section of this kind; *used: their
 * number.
 */
const struct lsp_record *lsp_keyword(const struct lsp *x, const struct source_line *l,
				     const char *section, int *used);
/* Returns the entry with this kind and name; NULL: none. <name> has <len> bytes. */
const struct lsp_record *lsp_word(const struct lsp *x, const char *kind, const char *name,
				  size_t len);

/* --- lsp_complete.c: each function appends the result of a request */
void lsp_complete(struct lsp *x, struct slice params, struct strbuf *out);
void lsp_hover(struct lsp *x, struct slice params, struct strbuf *out);

/* --- lsp_names.c */
void lsp_definition(struct lsp *x, struct slice params, struct strbuf *out);
void lsp_references(struct lsp *x, struct slice params, struct strbuf *out);
void lsp_rename(struct lsp *x, struct slice params, struct strbuf *out);
void lsp_symbols(struct lsp *x, struct slice params, struct strbuf *out);
/* Returns the kind of section that a line is in ("frontend"); "": before the first one. */
const char *lsp_section(const struct source *s, const struct source_line *l);
/* Returns the name around byte <at> of a line; empty: none. */
struct slice lsp_name_at(const struct source_line *l, int at);
/* Returns the index of the word after the last backend of a use_backends line. */
int lsp_shares_end(const struct source_line *l);

/* --- lsp_family.c */
bool lsp_has_includes(const struct lsp_document *d);
/* Finds the files that are read together with the document of a place; there may be none. */
void lsp_family_open(const struct lsp *x, struct lsp_place *p);
void lsp_family_close(struct lsp_place *p);
/* Returns the last line of the document in <all>; NULL: none. */
const struct source_line *lsp_family_end(const struct lsp_place *p);
/* Appends the URI of a file: the document's own if it is open. */
void lsp_put_uri(const struct lsp *x, const char *path, struct strbuf *out);

#endif
