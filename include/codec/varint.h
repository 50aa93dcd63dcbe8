/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* varint.h - variable-length integers of the peers protocol and SPOP
 *
 *     0 to 239                one byte
 *     from 240 on             1111xxxx with the lowest four bits, then (value - 240) / 16 in
 *                             runs of seven, lowest first, less 1 for each run but the last, whose
 *                             upper bit is not set
 *
 * Pure, any thread. Source: the description of the peers protocol, SPOE 3.1.
 */
#ifndef CODEC_VARINT_H
#define CODEC_VARINT_H

#include <stdint.h>
#include "base/slice.h"

#define VARINT_MAX 10 /* bytes */

/* Writes <v>; returns its length. */
size_t varint_put(uint64_t v, unsigned char out[VARINT_MAX]);
enum varint_result {
	VARINT_TAKEN,
	VARINT_CUT,      /* incomplete */
	VARINT_INVALID,  /* does not fit 64 bits */
};

/* Reads one from the start of *s and moves past it. */
enum varint_result varint_take(struct slice *s, uint64_t *v);

#endif
