/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fdset.c - bitmaps of descriptors for poll and select */
#include <stdlib.h>
#include <string.h>
#include "fdset_priv.h"
#include "poller_priv.h"

bool fdset_add(struct fdset *s, int fd)
{
	int word = fd / 64;

	if (word >= s->words) {
		int words = word * 2 + 16;
		uint64_t *bits = realloc(s->bits, (size_t)words * sizeof(*bits));

		if (!bits)
			return false;
		memset(bits + s->words, 0, (size_t)(words - s->words) * sizeof(*bits));
		s->bits = bits;
		s->words = words;
	}
	s->bits[word] |= 1ull << (fd % 64);
	if (word >= s->used)
		s->used = word + 1;
	return true;
}

void fdset_remove(struct fdset *s, int fd)
{
	s->bits[fd / 64] &= ~(1ull << (fd % 64));
	while (s->used > 0 && !s->bits[s->used - 1])
		s->used--;
}

static bool fdset_has(const struct fdset *s, int fd)
{
	return fd / 64 < s->used && (s->bits[fd / 64] >> (fd % 64) & 1);
}

int fdset_next(const struct fdset *s, int from)
{
	int word = from / 64;
	uint64_t bits;

	if (word >= s->used)
		return -1;
	bits = s->bits[word] & (~0ull << (from % 64));
	while (!bits) {
		if (++word >= s->used)
			return -1;
		bits = s->bits[word];
	}
	return word * 64 + __builtin_ctzll(bits);
}

void fdset_report(struct fdset *s, int fd, unsigned events)
{
	struct fd_entry *e = &fd_table[fd];

	if (!fdset_has(s, fd))
		return; /* closed by the handler of another one */
	if (!(__atomic_load_n(&e->flags, __ATOMIC_RELAXED) & FD_FL_LISTENER))
		e->interest &= (uint8_t)~events;
	fd_dispatch(fd, events);
}
