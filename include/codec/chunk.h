/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* chunk.h - the chunked transfer coding (RFC 9112 7.1)
 *
 * The decoder accepts fragments of any size, at any address; it has no other memory. Each call
 * looks at the start of the input and tells how many bytes it used, and how many of them, at their
 * end, are payload; the caller moves the payload without copying. Trailer lines follow the last
 * chunk and are passed as one contiguous section, see below. Strict: sizes below 2^32, CRLF after
 * sizes and data, no control characters in extensions, which are limited in length and must close
 * their quotes.
 * Threads: any. Fails: H1_ERROR with an enum h1_error.
 */
#ifndef CODEC_CHUNK_H
#define CODEC_CHUNK_H

#include "codec/h1.h"

/* The maximum number of extension bytes accepted on one chunk size line. */
#define CHUNK_EXTENSION_MAX 4096
/* The maximum number of bytes that chunk_put_size() writes. */
#define CHUNK_SIZE_LINE_MAX 18

/* Larger chunks are refused: only attackers looking for an overflow send them. */
#define CHUNK_SIZE_BITS 32

struct chunk_decoder {
	uint64_t left;       /* payload bytes of the current chunk that remain */
	uint32_t extension;  /* private: bytes of extension seen on this line */
	uint8_t state;       /* private */
	uint8_t digits;      /* private */
	uint8_t error;       /* enum h1_error after H1_ERROR */
};

/* Result of one call: <used> bytes were consumed, of which the last <payload> are payload. */
struct chunk_step {
	size_t used;
	size_t payload;
};

static inline void chunk_decoder_init(struct chunk_decoder *d)
{
	*d = (struct chunk_decoder){ 0 };
}

/* Decodes from the start of <input>. Returns
 * H1_MORE : step->used bytes were consumed (the payload may be 0). Call again with the bytes that
 *           follow; if used is input.len, with more bytes.
 * H1_DONE : the last chunk's line was consumed; trailers begin after step->used:
 *           chunk_parse_trailers().
 * H1_ERROR: d->error, at offset step->used.
 */
enum h1_status chunk_decode(struct chunk_decoder *d, struct slice input, struct chunk_step *step);

/* Parses the trailer section (which may be just an empty line) from contiguous writable bytes that
 * start with the first one after the last chunk's line.
 * H1_MORE : incomplete; nothing is remembered, call again with more.
 * H1_DONE : *used bytes, *count fields written to <fields> (room for <capacity>), names in lower
 *           case.
 * H1_ERROR: *error says why. Framing fields (content-length, transfer-encoding, host, connection,
 *           te, trailer, ...) are skipped: they are not allowed in trailers (RFC 9110 6.5.1).
 */
struct chunk_trailers {
	struct h1_field *fields; /* set by the caller */
	uint16_t capacity;       /* set by the caller */
	uint16_t count;
	uint8_t error;
	size_t used;
};
enum h1_status chunk_parse_trailers(struct slice input, struct chunk_trailers *out);

/* Writes "<hex size>CRLF" to <out> (CHUNK_SIZE_LINE_MAX bytes); returns its length. The payload
 * must be followed by CRLF; size 0 starts the trailers, which end with CRLF.
 */
size_t chunk_put_size(char *out, uint64_t size);

#endif
