/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tree.c - an AVL tree with parent links
 *
 * Heights of two siblings differ by at most one. After an insertion or a removal the path up to the
 * root is walked: heights are recomputed, and a node out of balance is rotated, until a height
 * stays as it was.
 */
#include "base/tree.h"
#include <stddef.h>
#include "base/bug.h"

static int node_height(const struct tree_node *n)
{
	return n ? n->height : 0;
}

static void node_update(struct tree_node *n)
{
	int l = node_height(n->child[0]), r = node_height(n->child[1]);

	n->height = (int8_t)((l > r ? l : r) + 1);
}

/* Puts <to> where <from> hangs below its parent. */
static void node_replace(struct tree *t, struct tree_node *from, struct tree_node *to)
{
	struct tree_node *parent = from->parent;

	if (!parent)
		t->root = to;
	else
		parent->child[parent->child[1] == from] = to;
	if (to)
		to->parent = parent;
}

/* Lifts child[!dir] of <n> above it; returns the new top. */
static struct tree_node *node_rotate(struct tree *t, struct tree_node *n, int dir)
{
	struct tree_node *up = n->child[!dir];

	node_replace(t, n, up);
	n->child[!dir] = up->child[dir];
	if (n->child[!dir])
		n->child[!dir]->parent = n;
	up->child[dir] = n;
	n->parent = up;
	node_update(n);
	node_update(up);
	return up;
}

/* Restores the balance from <n> up to the root. */
static void tree_rebalance(struct tree *t, struct tree_node *n)
{
	while (n) {
		int before = n->height;
		int lean = node_height(n->child[1]) - node_height(n->child[0]);

		if (lean > 1 || lean < -1) {
			int heavy = lean > 0;
			struct tree_node *c = n->child[heavy];

			if (node_height(c->child[heavy]) < node_height(c->child[!heavy]))
				node_rotate(t, c, heavy);
			n = node_rotate(t, n, !heavy);
		} else {
			node_update(n);
		}
		if (n->height == before)
			return;
		n = n->parent;
	}
}

void tree_insert(struct tree *t, struct tree_node *n, uint64_t key)
{
	struct tree_node *parent = NULL, **at = &t->root;

	BUG_ON(n->height);
	while (*at) {
		parent = *at;
		at = &parent->child[key >= parent->key];
	}
	n->key = key;
	n->child[0] = n->child[1] = NULL;
	n->parent = parent;
	n->height = 1;
	*at = n;
	tree_rebalance(t, parent);
}

void tree_remove(struct tree *t, struct tree_node *n)
{
	struct tree_node *from;

	BUG_ON(!n->height);
	if (n->child[0] && n->child[1]) {
		struct tree_node *next = n->child[1];

		while (next->child[0])
			next = next->child[0];
		from = next->parent == n ? next : next->parent;
		if (next != n->child[1]) {
			node_replace(t, next, next->child[1]);
			next->child[1] = n->child[1];
			next->child[1]->parent = next;
		}
		node_replace(t, n, next);
		next->child[0] = n->child[0];
		next->child[0]->parent = next;
		next->height = n->height;
	} else {
		from = n->parent;
		node_replace(t, n, n->child[0] ? n->child[0] : n->child[1]);
	}
	n->height = 0;
	n->parent = n->child[0] = n->child[1] = NULL;
	tree_rebalance(t, from);
}

/* The outermost node on one side of a subtree. */
static struct tree_node *node_end(struct tree_node *n, int dir)
{
	while (n && n->child[dir])
		n = n->child[dir];
	return n;
}

struct tree_node *tree_first(const struct tree *t)
{
	return node_end(t->root, 0);
}

struct tree_node *tree_last(const struct tree *t)
{
	return node_end(t->root, 1);
}

static struct tree_node *node_step(const struct tree_node *n, int dir)
{
	if (n->child[dir])
		return node_end(n->child[dir], !dir);
	while (n->parent && n->parent->child[dir] == n)
		n = n->parent;
	return n->parent;
}

struct tree_node *tree_next(const struct tree_node *n)
{
	return node_step(n, 1);
}

struct tree_node *tree_prev(const struct tree_node *n)
{
	return node_step(n, 0);
}

struct tree_node *tree_find_ge(const struct tree *t, uint64_t key)
{
	struct tree_node *n = t->root, *best = NULL;

	while (n) {
		if (n->key >= key) {
			best = n;
			n = n->child[0];
		} else {
			n = n->child[1];
		}
	}
	return best;
}

struct tree_node *tree_find(const struct tree *t, uint64_t key)
{
	struct tree_node *n = tree_find_ge(t, key);

	return n && n->key == key ? n : NULL;
}
