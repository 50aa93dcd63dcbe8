/* SPDX-License-Identifier: GPL-2.0-or-later */
/* block.c - sections whose lines are stored, to be executed in other sections */
#include "conf/block.h"

#include <string.h>
#include "base/bug.h"
#include "base/hash.h"
#include "conf_priv.h"

/* Copies the words of a line. False: no memory. */
static bool line_fill(struct config *cfg, const struct conf_where *w, const struct conf_tokens *t,
		      struct conf_block_line *out)
{
	*out = (struct conf_block_line){
		.file = conf_strdup(cfg, w->place.file),
		.text = conf_strdup(cfg, w->place.text),
		.line = w->place.line,
		.count = t->count,
		.words = arena_alloc(&cfg->arena, ((size_t)t->count + 1) * sizeof(*out->words)),
		.columns = arena_alloc(&cfg->arena, (size_t)t->count * sizeof(*out->columns)),
	};
	if (!out->file || !out->text || !out->words || !out->columns)
		return false;
	for (int i = 0; i < t->count; i++) {
		out->words[i] = conf_strdup(cfg, t->words[i]);
		out->columns[i] = t->columns[i];
		if (!out->words[i])
			return false;
	}
	out->words[t->count] = NULL;
	return true;
}

static uint64_t place_key(const char *file, int line)
{
	return hash_bytes(file, strlen(file), (uint64_t)line);
}

static uint64_t name_key(const char *section, const char *name)
{
	return hash_bytes(name, strlen(name), hash_bytes(section, strlen(section), 0));
}

/* A first pass that comes by again, of the same files, keeps nothing twice. */
static bool is_known(const struct conf_state *s, const struct conf_where *w)
{
	uint64_t key = place_key(w->place.file, w->place.line);
	const struct tree_node *n = tree_find(&s->blocks.by_place, key);

	for (; n && n->key == key; n = tree_next(n)) {
		const struct conf_block *b = container_of(n, struct conf_block, by_place);

		if (b->head.line == w->place.line && strcmp(b->head.file, w->place.file) == 0)
			return true;
	}
	return false;
}

static void add_to_all(struct conf_state *s, struct conf_block *b)
{
	if (s->blocks.last)
		s->blocks.last->next = b;
	else
		s->blocks.first = b;
	s->blocks.last = b;
	tree_insert(&s->blocks.by_place, &b->by_place, place_key(b->head.file, b->head.line));
	if (b->head.count > 1)
		tree_insert(&s->blocks.by_name, &b->by_name,
			    name_key(b->section, b->head.words[1]));
}

struct conf_block *conf_block_begin(const struct conf_where *w, const struct conf_section *s,
				    const struct conf_tokens *t)
{
	struct config *cfg = w->cfg;
	struct conf_block *b;

	if (is_known(cfg->state, w))
		return NULL;
	b = arena_zalloc(&cfg->arena, sizeof(*b));
	if (!b || !line_fill(cfg, w, t, &b->head))
		return NULL;
	b->section = s->name;
	b->tail = &b->first;
	add_to_all(cfg->state, b);
	return b;
}

void conf_block_add(const struct conf_where *w, struct conf_block *b, const struct conf_tokens *t)
{
	struct conf_block_line *line = arena_zalloc(&w->cfg->arena, sizeof(*line));

	if (!line || !line_fill(w->cfg, w, t, line))
		return;
	*b->tail = line;
	b->tail = &line->next;
}

const struct conf_block *conf_block_next(const struct config *cfg, const char *section,
					 const struct conf_block *after)
{
	const struct conf_block *b = after ? after->next : cfg->state->blocks.first;

	while (b && strcmp(b->section, section) != 0)
		b = b->next;
	return b;
}

const struct conf_block *conf_block_find(const struct config *cfg, const char *section,
					 const char *name)
{
	uint64_t key = name_key(section, name);
	const struct tree_node *n = tree_find(&cfg->state->blocks.by_name, key);

	/* equal keys keep the order of the files */
	for (; n && n->key == key; n = tree_next(n)) {
		const struct conf_block *b = container_of(n, struct conf_block, by_name);

		if (strcmp(b->section, section) == 0 && strcmp(b->head.words[1], name) == 0)
			return b;
	}
	return NULL;
}

void conf_block_run(const struct conf_line *use, const struct conf_block_line *line, char **words)
{
	struct conf_line l = {
		.cfg = use->cfg,
		.diags = use->diags,
		.place = { .file = line->file, .line = line->line, .text = line->text },
		.words = words,
		.columns = line->columns,
		.count = line->count,
		.section = use->section,
		.section_name = use->section_name,
		.where = use->where,
		.object = use->object,
		.slots = use->slots,
	};

	conf_dispatch(&l, NULL);
}
