/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What deflaters give is read again by zlib: formats, flushes, levels, spares, memory's limit. */
#include <stdlib.h>
#include <string.h>
#include "codec/deflate.h"
#include "tap.h"

#define TEXT_MAX 300000

static const struct deflate_params params = { .mem_level = 8, .window_bits = 15 };

#ifdef USE_ZLIB
#include <zlib.h>

static char text[TEXT_MAX], packed[2 * TEXT_MAX], plain[TEXT_MAX + 1];

/* Words and noise. */
static void make_text(unsigned seed)
{
	static const char *const words[] = { "the ", "proxy ", "bytes ", "\n", "0123456789" };

	srandom(seed);
	for (size_t at = 0; at < TEXT_MAX;) {
		const char *w = words[random() % 5];
		size_t n = strlen(w);

		if (random() % 4 == 0)
			text[at++] = (char)random();
		else if (at + n <= TEXT_MAX) {
			memcpy(text + at, w, n);
			at += n;
		} else {
			text[at++] = ' ';
		}
	}
}

static int window_of(enum deflate_format format)
{
	return format == DEFLATE_RAW ? -15 : format == DEFLATE_GZIP ? 31 : 15;
}

/* Bytes of <plain> that the first <len> packed ones give; *end: was that all? */
static size_t inflate_all(enum deflate_format format, size_t len, bool *end)
{
	z_stream z = { .next_in = (Bytef *)packed, .avail_in = (uInt)len,
		       .next_out = (Bytef *)plain, .avail_out = sizeof(plain) };
	int r;

	inflateInit2(&z, window_of(format));
	r = inflate(&z, Z_SYNC_FLUSH);
	*end = r == Z_STREAM_END && !z.avail_in;
	inflateEnd(&z);
	return r == Z_OK || r == Z_STREAM_END ? z.total_out : SIZE_MAX;
}

static size_t drain(struct block_queue *q, size_t at)
{
	size_t n = block_queue_peek(q, 0, packed + at, sizeof(packed) - at);

	block_queue_clear(q);
	return at + n;
}

/* <len> bytes in runs of at most <run>, each flushed, with levels that change. */
static bool round_trip(enum deflate_format format, size_t len, size_t run, bool levels)
{
	struct deflater *d = deflater_new(format, 1, &params);
	struct block_queue q;
	bool end, fine = d != NULL;
	size_t size = 0;

	block_queue_init(&q);
	for (size_t at = 0; fine && at < len;) {
		size_t n = (size_t)random() % run + 1;

		n = n < len - at ? n : len - at;
		if (levels)
			fine = deflater_set_level(d, (int)(random() % 10), &q);
		fine = fine && deflater_put(d, slice_make(text + at, n), DEFLATE_FLUSH, &q);
		at += n;
		size = drain(&q, size);
		/* whoever reads so far has all that was put */
		fine = fine && (random() % 64 || inflate_all(format, size, &end) == at);
	}
	fine = fine && deflater_put(d, slice_none(), DEFLATE_END, &q);
	size = drain(&q, size);
	deflater_free(d);
	return fine && inflate_all(format, size, &end) == len && end &&
	       memcmp(plain, text, len) == 0;
}

static void test_formats(void)
{
	static const char *const names[] = { "raw", "zlib", "gzip" };

	for (int f = DEFLATE_RAW; f <= DEFLATE_GZIP; f++) {
		enum deflate_format format = (enum deflate_format)f;

		make_text((unsigned)f);
		ok(round_trip(format, 0, 1, false), "%s: nothing", names[f]);
		ok(round_trip(format, 1, 1, false), "%s: a byte", names[f]);
		ok(round_trip(format, 20000, 1, false), "%s: byte by byte", names[f]);
		ok(round_trip(format, TEXT_MAX, 40000, false), "%s: large runs", names[f]);
		ok(round_trip(format, TEXT_MAX, 5000, true), "%s: levels that change", names[f]);
	}
}

static void test_memory(void)
{
	struct deflater *d[20];
	size_t one, i;

	deflate_trim_thread();
	ok(deflate_memory() == 0, "spares are freed");
	d[0] = deflater_new(DEFLATE_GZIP, 1, &params);
	one = deflate_memory();
	ok(one > 200000 && one < 300000, "the size of a state");
	deflate_set_memory_max(3 * one);
	for (i = 1; i < 20; i++)
		d[i] = deflater_new(DEFLATE_GZIP, 1, &params);
	ok(d[2] && !d[3] && !d[19], "no more of them than the limit allows");
	deflater_free(d[0]);
	d[3] = deflater_new(DEFLATE_RAW, 1, &params);
	ok(!d[3], "a spare of another format counts");
	d[3] = deflater_new(DEFLATE_GZIP, 9, &params);
	ok(d[3] && deflate_memory() == 3 * one, "one of the same is taken again");
	for (i = 1; i < 4; i++)
		deflater_free(d[i]);
	deflate_set_memory_max(0);
	for (i = 0; i < 20; i++)
		d[i] = deflater_new(DEFLATE_GZIP, 1, &params);
	for (i = 0; i < 20; i++)
		deflater_free(d[i]);
	ok(deflate_memory() == DEFLATE_SPARES * one, "a thread keeps some");
	deflate_trim_thread();
	ok(deflate_memory() == 0, "and frees them");
}

static void test_all(void)
{
	test_formats();
	test_memory();
}
#else
static void test_all(void)
{
	ok(!deflate_is_built_in() && !deflater_new(DEFLATE_GZIP, 1, &params), "none is built in");
}
#endif

int main(void)
{
	test_all();
	return done_testing();
}
