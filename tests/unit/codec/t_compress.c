/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What compressors give is read again by zlib, and by decompressors: formats, flushes, levels,
 * spares, memory's limit; and what decompressors say of bytes that are cut off, wrong, or too many.
 */
#include <stdlib.h>
#include <string.h>
#include "codec/compress.h"
#include "tap.h"

#define TEXT_MAX 300000

static struct compress_params params = { .mem_level = 8, .window_bits = 15 };
static const char *const names[] = { "raw", "zlib", "gzip", "br", "zstd" };

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

static size_t drain(struct block_queue *q, size_t at)
{
	size_t n = block_queue_peek(q, 0, packed + at, sizeof(packed) - at);

	block_queue_clear(q);
	return at + n;
}

/* What a decompressor makes of the first <len> packed bytes, given in runs of <run>; *r: how it
 * ended. Its bytes are in <plain>; SIZE_MAX: a step gave more than a block.
 */
static size_t read_all(enum compress_format format, size_t len, size_t run, bool *whole,
		       enum decompress_result *r)
{
	struct decompressor *d = decompressor_new(format);
	size_t size = 0, before;
	struct block_queue q;

	block_queue_init(&q);
	*r = DECOMPRESS_MORE;
	for (size_t at = 0; at < len && (*r == DECOMPRESS_MORE || *r == DECOMPRESS_ROOM);) {
		size_t n = run < len - at ? run : len - at;
		struct slice in = slice_make(packed + at, n);

		do {
			before = size;
			*r = decompressor_step(d, &in, &q);
			size += block_queue_peek(&q, 0, plain + size, sizeof(plain) - size);
			if (q.len > 64 * 1024)
				size = SIZE_MAX;
			block_queue_clear(&q);
		} while (*r == DECOMPRESS_ROOM && (in.len || size > before));
		at += n - in.len;
	}
	*whole = decompressor_is_whole(d);
	decompressor_free(d);
	return size;
}

#ifdef USE_ZLIB
#include <zlib.h>

static int window_of(enum compress_format format)
{
	return format == COMPRESS_RAW ? -params.window_bits : format == COMPRESS_GZIP ? 31 : 15;
}

/* Bytes of <plain> that the first <len> packed ones give; *end: was that all? */
static size_t inflate_all(enum compress_format format, size_t len, bool *end)
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

/* And zlib itself? */
static bool zlib_gives(enum compress_format format, size_t len, size_t want, bool ended)
{
	bool end;

	return format > COMPRESS_GZIP ||
	       (inflate_all(format, len, &end) == want && end == ended);
}
#else
static bool zlib_gives(enum compress_format format, size_t len, size_t want, bool ended)
{
	return true;
}
#endif

/* Do the first <len> packed bytes give the first <want> of the text, as a flush promises? */
static bool gives(enum compress_format format, size_t len, size_t want, bool ended)
{
	enum decompress_result r;
	bool whole;
	size_t n = read_all(format, len, len, &whole, &r);

	if (n != want || r != DECOMPRESS_MORE || memcmp(plain, text, want) != 0 || whole != ended)
		return false;
	return zlib_gives(format, len, want, ended);
}

/* <len> bytes in runs of at most <run>, each flushed, with levels that change. */
static bool round_trip(enum compress_format format, size_t len, size_t run, bool levels)
{
	struct compressor *d = compressor_new(format, 1, &params);
	struct block_queue q;
	bool fine = d != NULL;
	size_t size = 0;

	block_queue_init(&q);
	for (size_t at = 0; fine && at < len;) {
		size_t n = (size_t)random() % run + 1;

		n = n < len - at ? n : len - at;
		if (levels)
			fine = compressor_set_level(d, (int)(random() % 10), &q);
		fine = fine && compressor_put(d, slice_make(text + at, n), COMPRESS_FLUSH, &q);
		at += n;
		size = drain(&q, size);
		/* a reader that has come so far has all that was put */
		fine = fine && (random() % 64 || gives(format, size, at, false));
	}
	fine = fine && compressor_put(d, slice_none(), COMPRESS_END, &q);
	size = drain(&q, size);
	compressor_free(d);
	return fine && gives(format, size, len, true);
}

static void test_formats(void)
{
	for (int f = COMPRESS_RAW; f < COMPRESS_FORMATS; f++) {
		enum compress_format format = (enum compress_format)f;

		if (!compress_can(format)) {
			ok(!compressor_new(format, 1, &params) && !decompressor_new(format) &&
			   !compress_library(format)[0], "%s: not built in", names[f]);
			continue;
		}
		make_text((unsigned)f);
		ok(round_trip(format, 0, 1, false), "%s: nothing", names[f]);
		ok(round_trip(format, 1, 1, false), "%s: a byte", names[f]);
		ok(round_trip(format, 20000, 1, false), "%s: byte by byte", names[f]);
		ok(round_trip(format, TEXT_MAX, 40000, false), "%s: large runs", names[f]);
		ok(round_trip(format, TEXT_MAX, 5000, true), "%s: levels that change", names[f]);
	}
}

/* Level 1 by zlib where that of ISA-L is forbidden. */
static void test_no_isal(void)
{
	params.no_isal = true;
	for (int f = COMPRESS_RAW; f <= COMPRESS_GZIP && compress_can(COMPRESS_RAW); f++) {
		enum compress_format format = (enum compress_format)f;

		make_text(9);
		ok(round_trip(format, TEXT_MAX, 40000, false), "%s: by zlib", names[f]);
		ok(round_trip(format, TEXT_MAX, 5000, true), "%s: zlib changes levels", names[f]);
	}
	params.no_isal = false;
}

/* Windows that are small are kept to: a reader may have no more. */
static void test_windows(void)
{
	for (params.window_bits = 9; params.window_bits < 15 && compress_can(COMPRESS_RAW);
	     params.window_bits++) {
		make_text(11);
		ok(round_trip(COMPRESS_RAW, TEXT_MAX, 40000, false), "a window of %d bits",
		   params.window_bits);
	}
}

/* --- decompression ---------------------------------------------------------------------------- */

/* Packs <len> bytes of the text; their number. */
static size_t pack(enum compress_format format, size_t len)
{
	struct compressor *c = compressor_new(format, 5, &params);
	struct block_queue q;
	size_t size;

	block_queue_init(&q);
	compressor_put(c, slice_make(text, len), COMPRESS_END, &q);
	size = drain(&q, 0);
	compressor_free(c);
	return size;
}

static void test_reading(enum compress_format format)
{
	const char *name = names[format];
	enum decompress_result r;
	size_t size, n, before;
	bool whole, fine = true;

	make_text(7);
	size = pack(format, 100000);
	n = read_all(format, size, 1, &whole, &r);
	ok(n == 100000 && whole && !memcmp(plain, text, n), "%s: byte by byte", name);
	for (size_t cut = 1; cut < size; cut += 97)
		fine = fine && read_all(format, cut, 4096, &whole, &r) <= 100000 && !whole &&
		       r == DECOMPRESS_MORE;
	ok(fine, "%s: what is cut off is not whole", name);
	packed[size / 2] ^= 0x55;
	packed[size / 2 + 1] ^= 0x55;
	n = read_all(format, size, 4096, &whole, &r);
	ok(r == DECOMPRESS_BAD || n != 100000 || !whole || memcmp(plain, text, n),
	   "%s: broken bytes are not taken for the text", name);
	memset(packed, 0xff, 100);
	read_all(format, 100, 100, &whole, &r);
	ok(r == DECOMPRESS_BAD && !whole, "%s: nonsense", name);
	memset(text, 'a', TEXT_MAX);
	before = compress_memory();
	size = pack(format, TEXT_MAX);
	n = read_all(format, size, size, &whole, &r);
	ok(n == TEXT_MAX && whole && size < 2000, "%s: a bomb, block by block (%zu)", name, size);
	ok(compress_memory() < before + (8 << 20), "%s: memory is counted", name);
}

/* What stands behind the end. */
static void test_behind(void)
{
	enum decompress_result r;
	size_t one, n;
	bool whole;

	make_text(8);
	for (int f = COMPRESS_ZLIB; f < COMPRESS_FORMATS; f++) {
		enum compress_format format = (enum compress_format)f;

		if (!compress_can(format))
			continue;
		one = pack(format, 5000);
		memcpy(packed + one, packed, one);
		n = read_all(format, 2 * one, 1000, &whole, &r);
		if (format == COMPRESS_BR)
			ok(n == 5000 && r == DECOMPRESS_END, "br: nothing joins");
		else
			ok(n == 10000 && whole && r == DECOMPRESS_MORE, "%s: two in a row",
			   names[f]);
	}
	if (!compress_can(COMPRESS_RAW))
		return;
	one = pack(COMPRESS_RAW, 5000);
	n = read_all(COMPRESS_ZLIB, one, 100, &whole, &r);
	ok(n == 5000 && whole, "raw bytes that are called deflate");
}

static void test_memory(void)
{
	struct compressor *d[20];
	size_t one, i;

	compress_trim_thread();
	ok(compress_memory() == 0, "spares are freed");
	d[0] = compressor_new(COMPRESS_GZIP, 1, &params);
	one = compress_memory();
	ok(one > 200000 && one < 300000, "the size of a state");
	compress_set_memory_max(3 * one);
	for (i = 1; i < 20; i++)
		d[i] = compressor_new(COMPRESS_GZIP, 1, &params);
	ok(d[2] && !d[3] && !d[19], "no more of them than the limit allows");
	compressor_free(d[0]);
	d[3] = compressor_new(COMPRESS_RAW, 1, &params);
	ok(!d[3], "a spare of another format counts");
	params.no_isal = true;
	d[3] = compressor_new(COMPRESS_GZIP, 9, &params);
	ok(!d[3] == (*compress_fast_library() != '\0'), "and one of another library");
	compressor_free(d[3]);
	params.no_isal = false;
	d[3] = compressor_new(COMPRESS_GZIP, 1, &params);
	ok(d[3] && compress_memory() == 3 * one, "one of the same is taken again");
	for (i = 1; i < 4; i++)
		compressor_free(d[i]);
	compress_set_memory_max(0);
	for (i = 0; i < 20; i++)
		d[i] = compressor_new(COMPRESS_GZIP, 1, &params);
	for (i = 0; i < 20; i++)
		compressor_free(d[i]);
	ok(compress_memory() == COMPRESS_SPARES * one, "a thread keeps some");
	compress_trim_thread();
	ok(compress_memory() == 0, "and frees them");
}

int main(void)
{
	test_formats();
	test_no_isal();
	test_windows();
	for (int f = COMPRESS_RAW; f < COMPRESS_FORMATS; f++)
		if (compress_can((enum compress_format)f))
			test_reading((enum compress_format)f);
	test_behind();
	if (compress_can(COMPRESS_GZIP))
		test_memory();
	return done_testing();
}
