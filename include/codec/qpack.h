/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* qpack.h - header compression of HTTP/3 (RFC 9204), without dynamic tables
 *
 * Purpose: field sections by the static table and literals only: what a peer may send that was told
 *          a table capacity of 0, and what any peer understands. There is no state, and no field
 *          section ever waits for another stream.
 *          The walk over a section is that of HPACK (hpack.h): the same struct hpack_reader, struct
 *          hpack_field, enum hpack_error and struct hpack_writer, whose limits and text room mean
 *          the same. h3_head_decode() makes a head of it.
 * Owns   : nothing. Threads: any.
 * Errors : a reference to the dynamic table is HPACK_ERR_INDEX. All errors are of the connection:
 *          QPACK_DECOMPRESSION_FAILED.
 */
#ifndef CODEC_QPACK_H
#define CODEC_QPACK_H

#include "codec/h2_head.h"
#include "codec/hpack.h"

/* Starts walking a whole encoded field section; as hpack_read_begin(). */
void qpack_read_begin(struct hpack_reader *r, struct slice section, char *text, size_t room);
/* The next field; as hpack_read(). */
enum hpack_status qpack_read(struct hpack_reader *r, struct hpack_field *out);

/* Decodes and checks a section as a message head; as h2_head_decode(), whose rules are those of
 * RFC 9114 4.2 and 4.3: a request of HTTP's schemes names a host, a Host beside ":authority" says
 * the same, and the scheme's own port stays where it was written.
 */
enum h2_head_status h3_head_decode(struct slice section, enum h2_head_kind kind, unsigned options,
				   struct h2_head *head);

/* Begins a section; it takes QPACK_BEGIN_LEN bytes. */
void qpack_write_begin(struct hpack_writer *w);
#define QPACK_BEGIN_LEN 2
/* Adds a field; <name> is lower case and <id> its FIELD_* number. False: there are less than
 * hpack_field_bound() bytes of room, nothing was done.
 */
bool qpack_write_field(struct hpack_writer *w, uint8_t id, struct slice name, struct slice value);
/* Adds a pseudo-field of requests; as qpack_write_field(), its name having 10 bytes at most. */
bool qpack_write_pseudo(struct hpack_writer *w, enum hpack_pseudo id, struct slice value);
/* Adds ":status", 100 to 999; it takes QPACK_STATUS_BOUND bytes at most. */
void qpack_write_status(struct hpack_writer *w, unsigned status);
#define QPACK_STATUS_BOUND 8

#endif
