/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config_diff.c - difference of two readings of configuration files: longest common subsequence
 *
 * The common beginning and end are removed first. The rest is compared line by line, unless it is
 * too long for that: then all of it differs.
 */
#include "config_diff_priv.h"
#include <stdlib.h>
#include "codec/json_text.h"

#define CELLS_MAX (4u << 20)

struct side {
	const struct conf_kept **lines;  /* owned */
	const struct conf_kept **opens;  /* the section that each is in; owned */
	unsigned count;
};

struct diff {
	struct side a, b;                /* running, files */
	const struct conf_kept *section; /* that was told last */
	struct strbuf *out;
	bool json, any;
};

static bool side_fill(struct side *s, const struct conf_kept *first)
{
	const struct conf_kept *section = NULL;
	unsigned count = 0;

	for (const struct conf_kept *k = first; k; k = k->next)
		count++;
	s->lines = calloc(count + 1, sizeof(struct conf_kept *));
	s->opens = calloc(count + 1, sizeof(struct conf_kept *));
	if (!s->lines || !s->opens)
		return false;
	for (const struct conf_kept *k = first; k; k = k->next) {
		section = k->opens ? k : section;
		s->lines[s->count] = k;
		s->opens[s->count++] = section;
	}
	return true;
}

static void side_fini(struct side *s)
{
	free(s->lines);
	free(s->opens);
}

static void put_text(struct diff *d, char sign, const struct conf_kept *k, struct slice section)
{
	struct strbuf text;

	strbuf_init(&text);
	conf_kept_put(k, &text);
	if (d->json) {
		strbuf_printf(d->out, "%s{\"only\":\"%s\",\"file\":", d->any ? "," : "",
			      sign == '-' ? "running" : "files");
		json_put_string(d->out, slice_of(k->file));
		strbuf_printf(d->out, ",\"line\":%d,\"section\":", k->line);
		json_put_string(d->out, section);
		strbuf_add_str(d->out, ",\"text\":");
		json_put_string(d->out, strbuf_slice(&text));
		strbuf_add_char(d->out, '}');
	} else {
		strbuf_printf(d->out, "%c%s:%d\t%.*s\n", sign, k->file, k->line,
			      SLICE_FMT(strbuf_slice(&text)));
	}
	strbuf_fini(&text);
}

/* A line that only <s> has. */
static void put_line(struct diff *d, char sign, const struct side *s, unsigned i)
{
	const struct conf_kept *section = s->opens[i];
	struct strbuf name;

	strbuf_init(&name);
	if (section)
		conf_kept_put(section, &name);
	if (!d->json && !d->any)
		strbuf_add_str(d->out, "--- running\n+++ files\n");
	if (!d->json && section && (!d->section || d->section->hash != section->hash))
		strbuf_printf(d->out, "@@ %.*s\n", SLICE_FMT(strbuf_slice(&name)));
	d->section = section;
	put_text(d, sign, s->lines[i], strbuf_slice(&name));
	d->any = true;
	strbuf_fini(&name);
}

static bool same(const struct diff *d, unsigned i, unsigned j)
{
	return d->a.lines[i]->hash == d->b.lines[j]->hash;
}

/* Lengths of the common subsequences behind each pair of the <n> lines of a from <from> on, and the
 * <m> lines of b; NULL: too many, or no memory.
 */
static uint32_t *lengths(const struct diff *d, unsigned from, unsigned n, unsigned m)
{
	uint32_t *cells = (uint64_t)(n + 1) * (m + 1) > CELLS_MAX ? NULL :
			  calloc((size_t)(n + 1) * (m + 1), sizeof(*cells));

	for (unsigned i = n; cells && i-- > 0;) {
		uint32_t *row = cells + (size_t)i * (m + 1), *below = row + m + 1;

		for (unsigned j = m; j-- > 0;) {
			if (same(d, from + i, from + j))
				row[j] = below[j + 1] + 1;
			else
				row[j] = below[j] > row[j + 1] ? below[j] : row[j + 1];
		}
	}
	return cells;
}

/* The lines between what both begin and end with. */
static void put_middle(struct diff *d, unsigned from, unsigned n, unsigned m)
{
	uint32_t *cells = n && m ? lengths(d, from, n, m) : NULL;
	unsigned i = 0, j = 0;

	while (i < n || j < m) {
		const uint32_t *at = cells ? cells + (size_t)i * (m + 1) + j : NULL;

		if (i < n && j < m && cells && same(d, from + i, from + j)) {
			i++;
			j++;
		} else if (i < n && (j == m || !cells || at[m + 1] >= at[1])) {
			put_line(d, '-', &d->a, from + i++);
		} else {
			put_line(d, '+', &d->b, from + j++);
		}
	}
	free(cells);
}

void config_diff_put(const struct conf_kept *running, const struct conf_kept *files, bool json,
		     struct strbuf *out)
{
	struct diff d = { .json = json, .out = out };
	unsigned from = 0, n, m;

	if (side_fill(&d.a, running) && side_fill(&d.b, files)) {
		n = d.a.count;
		m = d.b.count;
		while (from < n && from < m && same(&d, from, from))
			from++;
		while (n > from && m > from && same(&d, n - 1, m - 1)) {
			n--;
			m--;
		}
		put_middle(&d, from, n - from, m - from);
	}
	side_fini(&d.a);
	side_fini(&d.b);
}
