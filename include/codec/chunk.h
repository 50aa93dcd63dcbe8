/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* chunk.h - the chunked transfer coding (RFC 9112 7.1)
 *
 * Decoding takes fragments of any size, in any place: the only memory is the decoder. Each call
 * looks at the start of what has come and says how many bytes it used and how many of them, at
 * their end, are payload; the caller moves these without copying. Trailer lines follow the last
 * chunk: they are handed over as one contiguous section, see below. Strict: sizes below 2^32, CRLF
 * after sizes and data, no control characters in extensions, which are bounded and close their
 * quotes.
 * Threads: any. Fails: H1_ERROR with an enum h1_error.
 */
#ifndef CODEC_CHUNK_H
#define CODEC_CHUNK_H

#include "codec/h1.h"

/* The longest run of extension bytes accepted on one chunk size line. */
#define CHUNK_EXTENSION_MAX 4096
/* Bytes that chunk_put_size() may write. */
#define CHUNK_SIZE_LINE_MAX 18

/* Larger chunks are refused: only attackers that look for an overflow send them. */
#define CHUNK_SIZE_BITS 32

struct chunk_decoder {
	uint64_t left;       /* payload bytes of the current chunk not yet given */
	uint32_t extension;  /* private: bytes of extension seen on this line */
	uint8_t state;       /* private */
	uint8_t digits;      /* private */
	uint8_t error;       /* enum h1_error after H1_ERROR */
};

/* What one call found: <used> bytes are done with, of which the last <payload> are payload. */
struct chunk_step {
	size_t used;
	size_t payload;
};

static inline void chunk_decoder_init(struct chunk_decoder *d)
{
	*d = (struct chunk_decoder){ 0 };
}

/* Decodes from the start of <input>. Returns
 * H1_MORE : step->used bytes were used (maybe 0 payload). Call again with what follows them; when
 *           used is input.len, with more bytes.
 * H1_DONE : the last chunk's line has been used; trailers begin after step->used:
 *           chunk_parse_trailers().
 * H1_ERROR: d->error, at offset step->used.
 */
enum h1_status chunk_decode(struct chunk_decoder *d, struct slice input, struct chunk_step *step);

/* Parses the trailer section (maybe just an empty line) from contiguous writable bytes starting
 * with the first one after the last chunk's line. H1_MORE: incomplete, nothing is kept, call again
 * with more.
 * H1_DONE: *used bytes, *count fields written to <fields> (room for <capacity>), names in lower
 *          case.
 * H1_ERROR: *error says why. Framing fields (content-length, transfer-encoding, host, connection,
 * te, trailer, ...) are skipped: they may not be trailers (RFC 9110 6.5.1).
 */
struct chunk_trailers {
	struct h1_field *fields; /* given by the caller */
	uint16_t capacity;       /* same */
	uint16_t count;
	uint8_t error;
	size_t used;
};
enum h1_status chunk_parse_trailers(struct slice input, struct chunk_trailers *out);

/* Writes "<hex size>CRLF" to <out> (CHUNK_SIZE_LINE_MAX bytes); returns its length. After the
 * payload follows CRLF; size 0 starts the trailers, ended by CRLF.
 */
size_t chunk_put_size(char *out, uint64_t size);

#endif
