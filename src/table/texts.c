/* SPDX-License-Identifier: GPL-2.0-or-later */
/* texts.c - texts that entries name by a number: the keys of servers */
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "core/lock.h"
#include "table_priv.h"

/* Names and addresses of servers are few; but those of peers are what they send. */
#define TEXTS_MAX 65536
#define TEXTS_BYTES_MAX (16u << 20)

static struct table_text *text_find(struct table_texts *t, struct slice text, uint64_t hash)
{
	struct tree_node *n;

	for (n = tree_find(&t->tree, hash); n && n->key == hash; n = tree_next(n)) {
		struct table_text *found = (struct table_text *)n;

		if (slice_eq(text, slice_make(found->text, found->len)))
			return found;
	}
	return NULL;
}

static struct table_text *text_add(struct table_texts *t, struct slice text, uint64_t hash)
{
	struct table_text *made;

	if (t->count == TEXTS_MAX || text.len > TEXTS_BYTES_MAX - t->bytes)
		return NULL;
	if (t->count == t->room) {
		uint32_t room = t->room ? t->room * 2 : 8;
		struct table_text **all = realloc(t->all, room * sizeof(struct table_text *));

		if (!all)
			return NULL;
		t->all = all;
		t->room = room;
	}
	made = calloc(1, sizeof(*made) + text.len + 1);
	if (!made)
		return NULL;
	memcpy(made->text, text.ptr, text.len);
	made->len = (uint32_t)text.len;
	t->bytes += made->len;
	t->all[t->count++] = made;
	made->number = t->count;
	tree_insert(&t->tree, &made->node, hash);
	return made;
}

uint32_t table_word(struct table_state *st, struct slice text)
{
	struct table_texts *t = &st->texts;
	uint64_t hash = hash_bytes(text.ptr, text.len, 0);
	struct table_text *found;
	uint32_t number;

	lock_take(&t->lock);
	found = text_find(t, text, hash);
	if (!found)
		found = text_add(t, text, hash);
	number = found ? found->number : 0;
	lock_drop(&t->lock);
	return number;
}

struct slice table_word_text(struct table_state *st, uint32_t number)
{
	struct slice text = slice_none();

	lock_take(&st->texts.lock);
	if (number && number <= st->texts.count) {
		const struct table_text *found = st->texts.all[number - 1];

		text = slice_make(found->text, found->len);
	}
	lock_drop(&st->texts.lock);
	return text;
}

void table_texts_free(struct table_texts *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		free(t->all[i]);
	free(t->all);
}
