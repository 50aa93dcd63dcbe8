/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_block - blocks and queues of pieces, against a plain byte string */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include "base/block.h"
#include "../tap.h"

static int alive;
static int fail_after = -1; /* allocations until one fails; -1: never */

static struct block *counting_take(size_t size)
{
	if (fail_after == 0)
		return NULL;
	if (fail_after > 0)
		fail_after--;
	alive++;
	return calloc(1, sizeof(struct block) + size);
}

static void counting_release(struct block *b)
{
	alive--;
	free(b);
}

static const struct block_allocator counting = { counting_take, counting_release };

static bool queue_is(const struct block_queue *q, const char *text)
{
	char got[8192];
	size_t n = block_queue_peek(q, 0, got, sizeof(got));

	return n == strlen(text) && q->len == n && memcmp(got, text, n) == 0;
}

static void test_pieces(void)
{
	struct block_queue q, to;
	struct block *b = block_new();

	block_queue_init(&q);
	block_queue_init(&to);
	memcpy(b->data, "abcdefgh", 8);
	b->used = 8;
	block_queue_add(&q, b, b->data, 3);
	block_queue_add(&q, b, b->data + 3, 2);
	is_int(q.count, 1, "a run that continues the last piece is merged");
	block_queue_add(&q, b, b->data + 6, 2);
	is_int(q.count, 2, "one that does not is another piece");
	block_drop(b);
	is_int(alive, 1, "pieces hold the block");
	ok(queue_is(&q, "abcdegh"), "bytes in order");
	ok(block_queue_move_len(&to, &q, 4) && queue_is(&to, "abcd") && queue_is(&q, "egh"),
	   "a piece is split without copying");
	ok(block_queue_move_len(&to, &q, 100) && queue_is(&to, "abcdegh") && q.len == 0,
	   "more than there is moves all");
	block_queue_skip(&to, 5);
	ok(queue_is(&to, "gh"), "skipping across pieces");
	block_queue_add_static(&to, SLICE("XY"));
	ok(queue_is(&to, "ghXY"), "static bytes behind");
	block_queue_clear(&to);
	is_int(alive, 0, "clearing lets go of the block");
}

static void test_copy(void)
{
	struct block_queue q;
	struct block *b;

	block_set_size(8);
	block_queue_init(&q);
	ok(block_queue_add_copy(&q, SLICE("abc")) && block_queue_add_copy(&q, SLICE("de")),
	   "copies");
	is_int(q.count, 1, "a copy goes to the room behind the last piece");
	b = block_take(q.first->block);
	ok(block_queue_add_copy(&q, SLICE("f")) && q.count == 2,
	   "unless somebody else holds the block");
	block_drop(b);
	ok(block_queue_add_copy(&q, SLICE("0123456789")) && queue_is(&q, "abcdef0123456789"),
	   "long copies take several blocks");
	fail_after = 1;
	ok(!block_queue_add_copy(&q, SLICE("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")), "no memory is told");
	fail_after = -1;
	block_queue_clear(&q);
	is_int(alive, 0, "nothing leaks then");
	block_set_size(16384);
}

/* Random operations against a byte string. */
static void test_random(void)
{
	static char model[65536];
	size_t head = 0, tail = 0;
	struct block_queue q, other;
	bool same = true;
	char got[64];

	block_queue_init(&q);
	block_queue_init(&other);
	block_set_size(16);
	srand(7);
	for (int i = 0; i < 5000 && same && tail < sizeof(model) - 64; i++) {
		size_t n = (size_t)rand() % 23;

		if (rand() % 3) {
			for (size_t k = 0; k < n; k++)
				model[tail + k] = (char)('a' + rand() % 26);
			block_queue_add_copy(&q, slice_make(model + tail, n));
			tail += n;
		} else {
			if (n > q.len)
				n = q.len;
			if (rand() % 2) {
				block_queue_skip(&q, n);
			} else {
				block_queue_move_len(&other, &q, n);
				same = block_queue_peek(&other, 0, got, sizeof(got)) == n &&
				       memcmp(got, model + head, n) == 0;
				block_queue_clear(&other);
			}
			head += n;
		}
		n = block_queue_peek(&q, 0, got, sizeof(got));
		same = same && q.len == tail - head && memcmp(got, model + head, n) == 0;
	}
	ok(same, "5000 random operations give the bytes of a plain string");
	block_queue_clear(&q);
	is_int(alive, 0, "and no block is left");
	block_set_size(16384);
}

/* What stands in fresh memory says nothing about whose block it is. */
static void test_default(void)
{
	struct block *b;

	mallopt(M_PERTURB, 0x5a);
	b = block_new_sized(3000);
	ok(b && b->kind == 0, "a block of the default allocator has a kind");
	block_drop(b);
	mallopt(M_PERTURB, 0);
}

int main(void)
{
	test_default();
	block_set_allocator(&counting);
	test_pieces();
	test_copy();
	test_random();
	block_queue_trim_thread();
	return done_testing();
}
