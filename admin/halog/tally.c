/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tally.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define SLOTS_FIRST 1024
#define BLOCK_SIZE  (1 << 20)

static void *memory_take(size_t size)
{
	void *memory = calloc(1, size);

	if (!memory) {
		fprintf(stderr, "halog: out of memory\n");
		exit(1);
	}
	return memory;
}

/* Multiplies to 128 bits and folds the halves: every bit of both reaches every bit of the
 * result. */
static uint64_t hash_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_of(const struct tallies *tallies, struct text name)
{
	uint64_t hash = tallies->key[0] ^ name.len, words[2];
	const char *p = name.at;
	size_t left = name.len;

	for (; left > 16; left -= 16, p += 16) {
		memcpy(words, p, 16);
		hash = hash_mix(words[0] ^ tallies->key[1], words[1] ^ hash);
	}
	memset(words, 0, sizeof(words));
	memcpy(words, p, left);
	hash = hash_mix(words[0] ^ tallies->key[1], words[1] ^ hash);
	return hash_mix(hash ^ tallies->key[0], tallies->key[1] | 1);
}

void tallies_init(struct tallies *tallies)
{
	*tallies = (struct tallies) { .size = SLOTS_FIRST };
	tallies->slots = memory_take(SLOTS_FIRST * sizeof(*tallies->slots));
	if (getrandom(tallies->key, sizeof(tallies->key), GRND_NONBLOCK) != sizeof(tallies->key)) {
		tallies->key[0] = (uint64_t)time(NULL) * 0x9e3779b97f4a7c15;
		tallies->key[1] = ((uint64_t)getpid() << 32) ^ (uintptr_t)tallies->slots;
	}
}

/* Where <name> is, or the empty slot where it belongs. */
static struct tally **slot_find(struct tallies *tallies, struct text name, uint64_t hash)
{
	size_t i = hash & (tallies->size - 1);
	struct tally *t;

	while ((t = tallies->slots[i])) {
		if (t->hash == hash && t->len == name.len && !memcmp(t->name, name.at, name.len))
			break;
		i = (i + 1) & (tallies->size - 1);
	}
	return &tallies->slots[i];
}

static struct tally **slot_empty(struct tallies *tallies, uint64_t hash)
{
	size_t i = hash & (tallies->size - 1);

	while (tallies->slots[i])
		i = (i + 1) & (tallies->size - 1);
	return &tallies->slots[i];
}

static void tallies_grow(struct tallies *tallies)
{
	struct tally **old = tallies->slots;
	size_t size = tallies->size;

	tallies->size *= 2;
	tallies->slots = memory_take(tallies->size * sizeof(*old));
	for (size_t i = 0; i < size; i++) {
		if (old[i])
			*slot_empty(tallies, old[i]->hash) = old[i];
	}
	free(old);
}

static struct tally *tally_new(struct tallies *tallies, struct text name, uint64_t hash)
{
	size_t need = sizeof(struct tally) + name.len;
	struct tally *t;

	need = (need + alignof(struct tally) - 1) & ~(alignof(struct tally) - 1);
	if (need > tallies->left) {
		tallies->left = need > BLOCK_SIZE ? need : BLOCK_SIZE;
		tallies->block = memory_take(tallies->left);
	}
	t = (struct tally *)tallies->block;
	tallies->block += need;
	tallies->left -= need;
	t->hash = hash;
	t->len = name.len;
	memcpy(t->name, name.at, name.len);
	return t;
}

struct tally *tallies_get(struct tallies *tallies, struct text name)
{
	uint64_t hash = hash_of(tallies, name);
	struct tally **slot = slot_find(tallies, name, hash);

	if (*slot)
		return *slot;
	if (tallies->used * 2 >= tallies->size) {
		tallies_grow(tallies);
		slot = slot_find(tallies, name, hash);
	}
	tallies->used++;
	return *slot = tally_new(tallies, name, hash);
}

static int tally_compare(const void *left, const void *right)
{
	const struct tally *a = *(struct tally *const *)left, *b = *(struct tally *const *)right;
	int order;

	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	order = memcmp(a->name, b->name, a->len < b->len ? a->len : b->len);
	return order ? order : (a->len > b->len) - (a->len < b->len);
}

struct tally **tallies_sort(struct tallies *tallies)
{
	size_t kept = 0;

	for (size_t i = 0; i < tallies->size; i++) {
		if (tallies->slots[i])
			tallies->slots[kept++] = tallies->slots[i];
	}
	qsort(tallies->slots, kept, sizeof(*tallies->slots), tally_compare);
	return tallies->slots;
}
