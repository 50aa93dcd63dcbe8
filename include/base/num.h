/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* num.h - numbers as text: strict integers, times and sizes with units (manual 2.5, 2.6),
 * hexadecimal
 *
 * Strict: the whole slice must be the number; no blanks, no sign where none is meaningful, no
 * overflow. Times are microseconds, whatever unit they were written in. Pure, any thread.
 */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/slice.h"

enum num_error {
	NUM_OK,
	NUM_EMPTY,    /* no digit at the start */
	NUM_CHAR,     /* an unexpected character */
	NUM_OVERFLOW  /* too large for the type */
};

/* Most characters that num_put_*() write; no NUL is added. */
#define NUM_U64_MAX 20

/* Units for num_parse_time(). */
#define NUM_MS 1000ull
#define NUM_SEC 1000000ull

/* Decimal digits only. */
bool num_parse_u64(struct slice s, uint64_t *out);
/* An optional sign (+ or -), then digits. */
bool num_parse_i64(struct slice s, int64_t *out);
/* Within [low, high]. */
bool num_parse_range(struct slice s, int64_t low, int64_t high, int64_t *out);
/* The decimal number at the start of <text>, with a sign maybe, for words that may have more behind
 * the number. No number: 0. A number that an int does not hold becomes INT_MAX or INT_MIN, never
 * another one. *end (if not NULL) is what follows, or <text> when there is no number.
 */
int num_prefix_int(const char *text, const char **end);
/* Hexadecimal digits of any case, 1 to 16 of them. */
bool num_parse_hex(struct slice s, uint64_t *out);

/* A time: digits, then nothing (<default_unit_us> microseconds each: NUM_MS, ...) or us, ms, s,
 * m, h or d in lower case. *offset (if not NULL) is that of the character refused, s.len at the
 * end.
 */
enum num_error num_parse_time(struct slice s, uint64_t default_unit_us, uint64_t *out_us,
			      size_t *offset);
/* A size in bytes: digits, then nothing or one of k, m, g of any case (powers of 1024). */
enum num_error num_parse_size(struct slice s, uint64_t *out, size_t *offset);
/* What the unit of a size, k, m or g, shifts to the left; 0: it is no such unit. */
unsigned num_size_shift(char unit);

/* Microseconds to milliseconds, rounded up: a time that is not zero never becomes zero. */
static inline uint64_t num_us_to_ms(uint64_t us)
{
	return us / 1000 + (us % 1000 != 0);
}

/* Decimal text into <out>; returns its length. */
size_t num_put_u64(char *out, uint64_t v);
size_t num_put_i64(char *out, int64_t v);
/* Hexadecimal without leading zeros, lower case. */
size_t num_put_hex(char *out, uint64_t v);
/* Two lower-case digits per byte: 2 * <len> characters. */
void num_put_hex_bytes(char *out, const void *bytes, size_t len);
/* The value of a hexadecimal digit, -1: it is none. */
int num_hex_digit(char c);

/* "q=0.8", blanks around it allowed, in thousandths (RFC 9110 12.4.2): 0 to 1000, which it also is
 * when the text is something else.
 */
unsigned num_parse_quality(struct slice text);
/* A number by chance, from a fast generator of the thread, seeded by the kernel: not for secrets.
 * Any thread.
 */
uint64_t num_random(void);

#endif
