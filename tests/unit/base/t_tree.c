/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The balanced tree against a sorted array, with random keys of which many are equal. */
#include <stdlib.h>
#include "base/tree.h"
#include "tap.h"

#define NODES 500

static struct tree_node nodes[NODES];
static struct tree tree;

/* Checks order, links, heights and balance of a subtree; returns its height, -1: broken. */
static int check_node(const struct tree_node *n, const struct tree_node *parent)
{
	int left, right;

	if (!n)
		return 0;
	left = check_node(n->child[0], n);
	right = check_node(n->child[1], n);
	if (left < 0 || right < 0 || abs(left - right) > 1 || n->parent != parent)
		return -1;
	if ((n->child[0] && n->child[0]->key > n->key) ||
	    (n->child[1] && n->child[1]->key < n->key))
		return -1;
	return n->height == 1 + (left > right ? left : right) ? n->height : -1;
}

/* Walks both ways: the number of nodes in order, -1 when they are not. Equal keys: by address,
 * which is their order of insertion when nothing was inserted again.
 */
static int walk(bool by_address)
{
	const struct tree_node *last = NULL;
	int count = 0, back = 0;

	for (struct tree_node *n = tree_first(&tree); n; n = tree_next(n), count++) {
		if (last && (last->key > n->key || (by_address && last->key == n->key && last > n)))
			return -1;
		last = n;
	}
	for (struct tree_node *n = tree_last(&tree); n; n = tree_prev(n))
		back++;
	return count == back ? count : -1;
}

int main(void)
{
	unsigned seed = 1;
	int in = NODES, broken = 0;

	ok(!tree_first(&tree) && !tree_last(&tree) && !tree_find(&tree, 0), "empty");
	for (int i = 0; i < NODES; i++) {
		tree_insert(&tree, &nodes[i], (unsigned)rand_r(&seed) % 100 * 2 + 2);
		broken += check_node(tree.root, NULL) < 0;
	}
	is_int(broken, 0, "balanced after each insertion");
	is_int(walk(true), NODES, "in order, equal keys in order of insertion");
	for (uint64_t key = 0; key < 210; key++) {
		struct tree_node *found = tree_find(&tree, key), *ge = tree_find_ge(&tree, key);
		struct tree_node *first = NULL;

		for (int i = 0; i < NODES; i++)
			if (nodes[i].key >= key && (!first || nodes[i].key < first->key))
				first = &nodes[i];
		broken += ge != first || found != (first && first->key == key ? first : NULL);
	}
	is_int(broken, 0, "finds the first of equal keys, or the next");
	for (int i = 0; i < 2000; i++) {
		struct tree_node *n = &nodes[rand_r(&seed) % NODES];

		if (tree_is_linked(n)) {
			tree_remove(&tree, n);
			in--;
		} else {
			tree_insert(&tree, n, (unsigned)rand_r(&seed) % 50);
			in++;
		}
		broken += check_node(tree.root, NULL) < 0;
	}
	is_int(broken, 0, "balanced after each removal");
	is_int(walk(false), in, "all are there");
	for (int i = 0; i < NODES; i++)
		if (tree_is_linked(&nodes[i]))
			tree_remove(&tree, &nodes[i]);
	ok(!tree.root && !tree_is_linked(&nodes[0]), "empty again");
	return done_testing();
}
