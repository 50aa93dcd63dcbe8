/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tree.h - intrusive balanced tree, sorted by a 64-bit key
 *
 * Equal keys are allowed and keep their order of insertion. Insert, remove and find cost O(log n),
 * first and next are O(1) amortised. Not locked. No allocation.
 */
#ifndef BASE_TREE_H
#define BASE_TREE_H

#include <stdbool.h>
#include <stdint.h>

struct tree_node {
	struct tree_node *child[2];
	struct tree_node *parent; /* NULL for the root or when not in a tree */
	uint64_t key;
	int8_t height; /* 0: not in a tree */
};

struct tree {
	struct tree_node *root;
};

static inline bool tree_is_linked(const struct tree_node *n)
{
	return n->height != 0;
}

/* Inserts <n> after all nodes with the same key. <n> must not be in a tree. */
void tree_insert(struct tree *t, struct tree_node *n, uint64_t key);
/* Removes <n>, which must be in <t>. */
void tree_remove(struct tree *t, struct tree_node *n);
struct tree_node *tree_first(const struct tree *t);
struct tree_node *tree_last(const struct tree *t);
/* Return the next node in order, and the previous one, or NULL. */
struct tree_node *tree_next(const struct tree_node *n);
struct tree_node *tree_prev(const struct tree_node *n);
/* Returns the first node with this key, or NULL. */
struct tree_node *tree_find(const struct tree *t, uint64_t key);
/* Returns the first node whose key is at least <key>, or NULL. */
struct tree_node *tree_find_ge(const struct tree *t, uint64_t key);

#endif
