/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lsp_family.c - a document together with the files that are read with it
 *
 * These are the files that it includes; if an open document includes it, those that this one
 * includes. Open documents replace the files with their names, saved or not.
 */
#include <stdlib.h>
#include <string.h>
#include "base/num.h"
#include "lsp_priv.h"

bool lsp_has_includes(const struct lsp_document *d)
{
	for (int i = 0; i < d->source.count; i++)
		if (source_begins(&d->source.lines[i], ".include"))
			return true;
	return false;
}

/* Are both names of one file? */
static bool is_file(const char *a, const char *b)
{
	char *real_a, *real_b;
	bool same;

	if (strcmp(a, b) == 0)
		return true;
	real_a = realpath(a, NULL);
	real_b = realpath(b, NULL);
	same = real_a && real_b && strcmp(real_a, real_b) == 0;
	free(real_a);
	free(real_b);
	return same;
}

static const struct lsp_document *document_of(const struct lsp *x, const char *path)
{
	for (const struct lsp_document *d = x->documents; d; d = d->next)
		if (is_file(d->path, path))
			return d;
	return NULL;
}

static bool text_of(const void *data, const char *path, struct slice *text)
{
	const struct lsp_document *d = document_of(data, path);

	if (d)
		*text = strbuf_slice(&d->text);
	return d != NULL;
}

#define FILES_MAX 64 /* whose names are remembered */

/* Gives each file one name, by whatever path it is included, as one pointer. */
static void name_files(struct source *s)
{
	const char *was[FILES_MAX], *is[FILES_MAX];
	int count = 0;

	for (int i = 0; i < s->count; i++) {
		const char *file = s->lines[i].file;
		char *real;
		int k = 0;

		while (k < count && was[k] != file)
			k++;
		if (k == count) {
			real = realpath(file, NULL);
			was[k] = file;
			is[k] = real ? arena_copy(&s->arena, slice_of(real)).ptr : file;
			free(real);
			for (int n = 0; n < k && is[k]; n++)
				if (strcmp(is[n], is[k]) == 0)
					is[k] = is[n];
			count += k + 1 < FILES_MAX;
		}
		s->lines[i].file = is[k] ? is[k] : file;
	}
}

static void read_all(const struct lsp *x, const struct lsp_document *d, struct source *out)
{
	source_init(out);
	out->text_of = text_of;
	out->data = x;
	source_add_all(out, d->path, strbuf_slice(&d->text));
	name_files(out);
}

/* The line of <all> that is line <number> of the document, or its last one (0); NULL: none. */
static const struct source_line *find(const struct source *all, const struct lsp_document *d,
				      int number)
{
	const struct source_line *found = NULL;
	const char *file = NULL;
	bool is_his = false;

	for (int i = 0; i < all->count; i++) {
		const struct source_line *l = &all->lines[i];

		if (l->file != file) {
			file = l->file;
			is_his = is_file(file, d->path);
		}
		if (is_his && (!number || l->number == number))
			found = l;
		if (found && number)
			break;
	}
	return found;
}

/* Sets <all> to the lines of <root>, if the document is among its files. */
static bool is_part_of(const struct lsp *x, const struct lsp_document *root, struct lsp_place *p)
{
	if (!lsp_has_includes(root))
		return false;
	read_all(x, root, &p->own);
	if (!p->own.failed && find(&p->own, p->document, 0)) {
		p->all = &p->own;
		return true;
	}
	source_fini(&p->own);
	return false;
}

void lsp_family_open(const struct lsp *x, struct lsp_place *p)
{
	const struct lsp_document *root = x->documents;

	if (!p->document)
		return;
	/* the outermost one: that which includes it, before what it includes itself */
	while (root && (root == p->document || !is_part_of(x, root, p)))
		root = root->next;
	if (!p->all && !is_part_of(x, p->document, p))
		p->all = &p->document->source;
	if (p->all == &p->document->source)
		p->of_all = p->line;
	else if (p->line)
		p->of_all = find(p->all, p->document, p->line->number);
}

void lsp_family_close(struct lsp_place *p)
{
	if (p->all == &p->own)
		source_fini(&p->own);
}

const struct source_line *lsp_family_end(const struct lsp_place *p)
{
	return find(p->all, p->document, 0);
}

/* Letters of a path that stand in a URI as they are. */
static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || ascii_is_digit(c) ||
	       (c && strchr("/-._~", c));
}

void lsp_put_uri(const struct lsp *x, const char *path, struct strbuf *out)
{
	const struct lsp_document *d = document_of(x, path);
	char *real = d ? NULL : realpath(path, NULL);

	if (d) {
		strbuf_add_str(out, d->uri);
		return;
	}
	strbuf_add_str(out, "file://");
	for (const char *at = real ? real : path; *at; at++)
		if (is_plain(*at))
			strbuf_add_char(out, *at);
		else
			strbuf_printf(out, "%%%02X", (unsigned char)*at);
	free(real);
}
