/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* num.h - numbers as text: strict integers, times and sizes with units (manual 2.5, 2.6),
 * hexadecimal
 *
 * Strict: the whole slice must be the number; no blanks, no sign where it has no meaning, no
 * overflow. Times are in microseconds, in whatever unit they were written. Pure, any thread.
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

/* The maximum number of characters that num_put_*() write; no NUL is added. */
#define NUM_U64_MAX 20

/* Units for num_parse_time(). */
#define NUM_MS 1000ull
#define NUM_SEC 1000000ull

/* Parses decimal digits only. */
bool num_parse_u64(struct slice s, uint64_t *out);
/* Parses an optional sign (+ or -), then digits. */
bool num_parse_i64(struct slice s, int64_t *out);
/* As num_parse_i64(), within [low, high]. */
bool num_parse_range(struct slice s, int64_t low, int64_t high, int64_t *out);
/* Returns the decimal number at the start of <text>, with an optional sign, for words that may
 * continue after the number. No number: 0. A number beyond the range of int gives INT_MAX or
 * INT_MIN. *end (unless NULL) is set to what follows, or to <text> if there is no number.
 */
int num_prefix_int(const char *text, const char **end);
/* Parses 1 to 16 hexadecimal digits, in any case. */
bool num_parse_hex(struct slice s, uint64_t *out);

/* Parses a time: digits, then nothing (a unit of <default_unit_us> microseconds: NUM_MS, ...) or
 * us, ms, s, m, h or d in lower case. *offset (unless NULL) is the position of the refused
 * character, s.len at the end.
 */
enum num_error num_parse_time(struct slice s, uint64_t default_unit_us, uint64_t *out_us,
			      size_t *offset);
/* Parses a size in bytes: digits, then nothing or k, m, g in any case (powers of 1024). */
enum num_error num_parse_size(struct slice s, uint64_t *out, size_t *offset);
/* Returns the shift for a unit of size (k, m or g); 0: not such a unit. */
unsigned num_size_shift(char unit);

/* Converts microseconds to milliseconds, rounded up: only zero becomes zero. */
static inline uint64_t num_us_to_ms(uint64_t us)
{
	return us / 1000 + (us % 1000 != 0);
}

/* Write decimal text to <out>; return its length. */
size_t num_put_u64(char *out, uint64_t v);
size_t num_put_i64(char *out, int64_t v);
/* Writes hexadecimal digits without leading zeros, in lower case. */
size_t num_put_hex(char *out, uint64_t v);
/* Writes two lower-case digits per byte: 2 * <len> characters. */
void num_put_hex_bytes(char *out, const void *bytes, size_t len);
/* Returns the value of a hexadecimal digit; -1: not a digit. */
int num_hex_digit(char c);

/* Parses "q=0.8", with optional blanks around it, in thousandths, 0 to 1000 (RFC 9110 12.4.2); 1000
 * for any other text.
 */
unsigned num_parse_quality(struct slice text);
/* Returns a random number from a fast generator of the thread, seeded by the kernel: not for
 * secrets. Any thread.
 */
uint64_t num_random(void);

#endif
