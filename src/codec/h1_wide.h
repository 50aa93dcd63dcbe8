/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h1_wide.h - examines bytes of heads H1_WIDE at a time: 16 with SSE2, else 8
 *
 * The two primitives are written twice, the loops around them once. All H1_WIDE bytes at <at> must
 * be readable.
 */
#ifndef CODEC_H1_WIDE_H
#define CODEC_H1_WIDE_H

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>

#define H1_WIDE 16

/* Flags the bytes from <first> to <last>, by a signed comparison after shifting them to the
 * minimum.
 */
static inline __m128i h1_wide_between(__m128i bytes, char first, char last)
{
	__m128i moved = _mm_add_epi8(bytes, _mm_set1_epi8((char)(-128 - first)));

	return _mm_cmplt_epi8(moved, _mm_set1_epi8((char)(-128 + last - first + 1)));
}

/* Returns how many leading bytes are not flagged. */
static inline unsigned h1_wide_first(__m128i flags)
{
	return (unsigned)__builtin_ctz((unsigned)_mm_movemask_epi8(flags) | 1u << H1_WIDE);
}

/* Converts the leading letters and dashes of the bytes at <at> to lower case, and returns their
 * number: most names have nothing else.
 */
static inline unsigned h1_wide_lower(char *at)
{
	static const char bits[2 * H1_WIDE] = { [0 ... H1_WIDE - 1] = 0x20 };
	__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
	__m128i capitals = h1_wide_between(bytes, 'A', 'Z');
	__m128i low = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
	__m128i fits = _mm_or_si128(h1_wide_between(low, 'a', 'z'),
				    _mm_cmpeq_epi8(bytes, _mm_set1_epi8('-')));
	unsigned count = h1_wide_first(_mm_cmpeq_epi8(fits, _mm_setzero_si128()));
	__m128i change = _mm_loadu_si128((const __m128i *)(const void *)(bits + H1_WIDE - count));

	bytes = _mm_or_si128(bytes, _mm_and_si128(capitals, change));
	_mm_storeu_si128((__m128i *)(void *)at, bytes);
	return count;
}

/* Returns how many bytes at <at> precede the first one below 16. */
static inline unsigned h1_wide_text(const char *at)
{
	__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);

	return h1_wide_first(_mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(15)), bytes));
}

#else

#define H1_WIDE 8
#define H1_ONES 0x0101010101010101ull
#define H1_HIGHS 0x8080808080808080ull

/* Returns the index of the first byte flagged in <flags> (by its highest bit) in a word of memory.
 * In big endian, arithmetic that may also flag bytes above a low one cannot tell it: 0, look there.
 */
static inline unsigned h1_wide_first(uint64_t flags)
{
	if (!flags)
		return H1_WIDE;
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ?
	       (unsigned)__builtin_ctzll(flags) / 8 : 0;
}

/* As h1_wide_lower() with vectors; in big endian it may return less. */
static inline unsigned h1_wide_lower(char *at)
{
	uint64_t word, low, lower, letters, dashes, others, mask;
	unsigned count;

	memcpy(&word, at, 8);
	low = word & ~H1_HIGHS;
	lower = ((low + H1_ONES * (128 - 'A')) ^ (low + H1_ONES * (127 - 'Z'))) & ~word & H1_HIGHS;
	lower = word | lower >> 2;
	low = lower & ~H1_HIGHS;
	letters = ((low + H1_ONES * (128 - 'a')) ^ (low + H1_ONES * (127 - 'z'))) & ~lower;
	dashes = ~(((low ^ H1_ONES * '-') + ~H1_HIGHS) | lower);
	others = ~(letters | dashes) & H1_HIGHS;
	count = h1_wide_first(others);
	mask = count == H1_WIDE ? ~0ull : (1ull << count * 8) - 1;
	lower = (word & ~mask) | (lower & mask);
	memcpy(at, &lower, 8);
	return count;
}

/* As h1_wide_text() with vectors; in big endian it may return less. */
static inline unsigned h1_wide_text(const char *at)
{
	uint64_t word;

	memcpy(&word, at, 8);
	/* exact for the lowest byte flagged, which is the first one in little endian */
	return h1_wide_first((word - 0x10 * H1_ONES) & ~word & H1_HIGHS);
}

#endif

/* As h1_wide_lower(), for the last bytes, one by one. Returns the end of the name. */
static inline char *h1_lower_rest(char *at, const char *end)
{
	for (; at < end; at++) {
		char low = *at | 0x20;

		if (low >= 'a' && low <= 'z')
			*at = low;
		else if (*at != '-')
			break;
	}
	return at;
}

/* Converts the letters and dashes at <at> to lower case. Returns the end of the name. */
static inline char *h1_lower_name(char *at, const char *end)
{
	unsigned count = H1_WIDE;

	while (count == H1_WIDE && end - at >= H1_WIDE) {
		count = h1_wide_lower(at);
		at += count;
	}
	return end - at < H1_WIDE ? h1_lower_rest(at, end) : at;
}

/* Returns the first byte below 16 at or after <at>: NUL, CR, LF, or a harmless one such as a tab.
 */
static inline const char *h1_skip_text(const char *at, const char *end)
{
	unsigned count = H1_WIDE;

	while (count == H1_WIDE && end - at >= H1_WIDE) {
		count = h1_wide_text(at);
		at += count;
	}
	while (at < end && (uint8_t)*at >= 16)
		at++;
	return at;
}

#endif
