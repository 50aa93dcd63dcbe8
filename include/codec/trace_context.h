/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* trace_context.h - HTTP fields that name the trace of a request
 *
 * Purpose: reads and writes W3C's traceparent and checks its tracestate; reads and writes B3, in
 *          one field (b3) and in several (x-b3-*). A malformed field counts as absent: it is not
 *          repaired.
 * Owns   : nothing. Pure, any thread.
 * Source : W3C Trace Context (level 1, flags of level 2); the openzipkin specification of B3.
 */
#ifndef CODEC_TRACE_CONTEXT_H
#define CODEC_TRACE_CONTEXT_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "base/slice.h"

/* Lengths of a traceparent, of a b3 with a decision, and of ids in hexadecimal. */
#define TRACEPARENT_LEN 55
#define B3_LEN 51
#define TRACE_ID_HEX 32
#define SPAN_ID_HEX 16
/* A longer tracestate is not forwarded. */
#define TRACESTATE_MAX 512

enum trace_decision {
	TRACE_UNDECIDED,
	TRACE_DROPPED,
	TRACE_SAMPLED,
};

struct trace_context {
	uint64_t id[2];       /* of the trace, the first 8 bytes as the first number; 0, 0: none */
	uint64_t span;        /* the sender's span; 0: none */
	uint8_t flags;        /* of traceparent: the two known bits */
	uint8_t decision;     /* enum trace_decision */
};

/* Parses a traceparent of version 00 or later. False: malformed. */
bool traceparent_read(struct slice text, struct trace_context *out);
/* Writes version 00: exactly TRACEPARENT_LEN bytes to <out>, no NUL. */
void traceparent_write(char *out, const struct trace_context *c);
/* May this value, of one of several fields, be forwarded? Adds its members to *members: at most 32
 * in all.
 */
bool tracestate_is_good(struct slice text, unsigned *members);

/* Parses a b3 field: with ids, or with only a decision ("0", "1", "d"); then there are no ids. */
bool b3_read(struct slice text, struct trace_context *out);
/* Writes exactly B3_LEN bytes to <out>. */
void b3_write(char *out, const struct trace_context *c);

/* The separate B3 fields: each may be absent (slice_none()). b3_fields_read(): false: one is
 * malformed, or ids are incomplete.
 */
struct b3_fields {
	struct slice trace_id, span_id, sampled, flags;
};
bool b3_fields_read(const struct b3_fields *f, struct trace_context *out);

/* Writes lower-case digits: TRACE_ID_HEX bytes. */
void trace_id_write(char *out, const uint64_t id[2]);

typedef int8_t trace_bytes16 __attribute__((vector_size(16)));
typedef uint64_t trace_words16 __attribute__((vector_size(16)));

/* The first 8 bytes of both, interleaved. */
#ifdef __clang__
#define TRACE_INTERLEAVE(a, b) \
	__builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#else
#define TRACE_INTERLEAVE(a, b) \
	__builtin_shuffle(a, b, (trace_bytes16){ 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, \
						 7, 23 })
#endif

/* Writes the 16 hexadecimal digits of <span>, with vectors: the nibbles in order, then their
 * characters.
 */
static inline void span_id_write(char *out, uint64_t span)
{
	const uint64_t nibbles = 0x0f0f0f0f0f0f0f0f, big = htobe64(span);
	trace_words16 high = { big >> 4 & nibbles }, low = { big & nibbles };
	trace_bytes16 digits = TRACE_INTERLEAVE((trace_bytes16)high, (trace_bytes16)low);

	digits += '0' + ((trace_bytes16)(digits > 9) & ('a' - '0' - 10));
	memcpy(out, &digits, sizeof(digits));
}

#endif
