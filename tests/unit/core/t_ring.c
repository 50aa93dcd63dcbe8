/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_ring.c - rings against a list that keeps everything */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tap.h"
#include "base/bug.h"
#include "core/ring.h"

#define BYTES (sizeof(struct ring_area) + 300)

static unsigned wakes;

static void count_wake(struct ring_reader *r)
{
	wakes++;
}

static bool put(struct ring *r, const char *text)
{
	size_t half = strlen(text) / 2;
	struct iovec v[2] = { { (void *)(uintptr_t)text, half },
			      { (void *)(uintptr_t)(text + half), strlen(text) - half } };

	return ring_write(r, v, 2);
}

/* Reads one message: is it <text>? NULL: there is none. */
static bool gives(struct ring *r, struct ring_reader *reader, const char *text)
{
	char area[512];
	struct strbuf b;
	bool got;

	strbuf_init_fixed(&b, area, sizeof(area));
	got = ring_read(r, reader, &b, true);
	return text ? got && slice_eq(strbuf_slice(&b), slice_of(text)) : !got;
}

static void simple(void)
{
	struct ring_reader a = { .wake = count_wake }, late = { .wake = count_wake };
	struct ring *r = ring_new(BYTES);

	ok(ring_max_len(r) == 300 - RING_OVERHEAD, "room for one long message");
	ring_reader_start(r, &a, false);
	ok(gives(r, &a, NULL), "a new ring is empty");
	ok(put(r, "one") && put(r, "two") && put(r, ""), "three messages");
	ok(wakes == 1, "who waited is woken once");
	ring_reader_start(r, &late, true);
	ok(gives(r, &a, "one") && gives(r, &a, "two") && gives(r, &a, "") && gives(r, &a, NULL),
	   "they come back in order");
	ok(gives(r, &late, NULL), "a reader at the end sees none of them");
	ok(put(r, "new") && wakes == 3, "both are woken");
	ok(gives(r, &late, "new") && gives(r, &a, "new"), "and read");
	ring_reader_stop(r, &a);
	ring_reader_stop(r, &late);
	ring_drop(&r);
}

static void limits(void)
{
	struct ring_reader a = { .wake = count_wake }, holder = { .wake = count_wake,
								  .holds = true };
	struct ring *r = ring_new(BYTES);
	char text[400];

	memset(text, 'x', sizeof(text));
	text[300 - RING_OVERHEAD + 1] = '\0';
	ok(!put(r, text), "what is longer than the ring is refused");
	text[300 - RING_OVERHEAD] = '\0';
	ok(put(r, "gone") && put(r, text), "what fills it goes in");
	ring_reader_start(r, &a, false);
	ok(gives(r, &a, text), "alone");
	ok(put(r, text) && put(r, "b"), "others replace it");
	ok(gives(r, &a, "b") && a.missed == 1, "a slow reader is told that it missed some");
	ring_reader_start(r, &holder, false);
	ok(!put(r, text), "nothing that a holder has not read is overwritten");
	ok(put(r, "c"), "what fits beside it is taken");
	ok(gives(r, &holder, "b") && gives(r, &holder, "c") && put(r, text), "then all is free");
	ring_reader_stop(r, &a);
	ring_reader_stop(r, &holder);
	ring_drop(&r);
	ok(ring_new(sizeof(struct ring_area)) == NULL, "no ring without room");
}

/* Any sequence: a reader gets a suffix of what was written, without holes. */
static void any_sequence(void)
{
	struct ring_reader a = { .wake = count_wake };
	struct ring *r = ring_new(BYTES);
	unsigned written = 0, next = 0, bad = 0, skipped = 0;
	char text[512], area[512];
	struct strbuf b;

	ring_reader_start(r, &a, false);
	srand(7);
	for (int i = 0; i < 100000; i++) {
		if (rand() % 2) {
			int pad = rand() % 120;

			snprintf(text, sizeof(text), "%u %0*d", written++, pad, 0);
			bad += !put(r, text);
			continue;
		}
		strbuf_init_fixed(&b, area, sizeof(area));
		if (!ring_read(r, &a, &b, false)) {
			bad += next != written;
			continue;
		}
		skipped += (unsigned)atoi(b.ptr) != next;
		bad += (unsigned)atoi(b.ptr) < next;
		next = (unsigned)atoi(b.ptr) + 1;
	}
	ok(!bad, "messages come in order, the last ones always");
	ok(skipped > 100 && a.missed == skipped, "each hole is counted");
	ring_reader_stop(r, &a);
	ring_drop(&r);
}

static void files(void)
{
	char path[] = "/tmp/t_ring.XXXXXX", backup[64];
	int fd = mkstemp(path);
	struct ring_area area;
	struct ring *r;
	struct stat st;

	close(fd);
	snprintf(backup, sizeof(backup), "%s.bak", path);
	r = ring_open_file(path, BYTES);
	ok(r && put(r, "kept"), "a ring in a file");
	ok(stat(backup, &st) != 0, "an empty file is not kept aside");
	ring_drop(&r);
	r = ring_open_file(path, BYTES);
	ok(r && stat(backup, &st) == 0 && (size_t)st.st_size == BYTES, "one with contents is");
	fd = open(backup, O_RDONLY);
	ok(read(fd, &area, sizeof(area)) == sizeof(area) &&
	   memcmp(area.magic, RING_MAGIC, 8) == 0 && area.size == 300 && area.head == 0 &&
	   area.tail == 8, "its head says what is in it");
	close(fd);
	ring_drop(&r);
	ok(!ring_open_file("/nowhere/at/all", BYTES), "a file that cannot be made");
	unlink(path);
	unlink(backup);
}

int main(void)
{
	simple();
	limits();
	any_sequence();
	files();
	return done_testing();
}
