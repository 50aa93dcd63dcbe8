/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* qpack.h - header compression of HTTP/3 (RFC 9204), without dynamic tables
 *
 * Purpose: field sections with the static table and literals only: all that a peer may send after
 *          we announced a table capacity of 0, and what any peer understands. There is no state,
 *          and field sections never wait for another stream. The walk over a section is that of
 *          HPACK (hpack.h), with the same struct hpack_reader, struct hpack_field, enum hpack_error
 *          and struct hpack_writer, whose limits and text room mean the same. h3_head_decode()
 *          decodes a head.
 * Owns   : nothing. Threads: any.
 * Errors : a reference to the dynamic table is HPACK_ERR_INDEX. All are connection errors:
 *          QPACK_DECOMPRESSION_FAILED.
 */
#ifndef CODEC_QPACK_H
#define CODEC_QPACK_H

#include "codec/h2_head.h"
#include "codec/hpack.h"

/* Starts a walk over a whole encoded field section; like hpack_read_begin(). */
void qpack_read_begin(struct hpack_reader *r, struct slice section, char *text, size_t room);
/* Reads the next field; like hpack_read(). */
enum hpack_status qpack_read(struct hpack_reader *r, struct hpack_field *out);

/* Decodes and checks a section as a message head, like h2_head_decode(), with the rules of RFC 9114
 * 4.2 and 4.3: a request with an HTTP scheme must name a host, a Host beside ":authority" must be
 * equal, and the scheme's own port is not removed.
 */
enum h2_head_status h3_head_decode(struct slice section, enum h2_head_kind kind, unsigned options,
				   struct h2_head *head);

/* Begins a section; takes QPACK_BEGIN_LEN bytes. */
void qpack_write_begin(struct hpack_writer *w);
#define QPACK_BEGIN_LEN 2
/* Adds a field; <name> is in lower case and <id> its FIELD_* number. False: less than
 * hpack_field_bound() bytes of room, nothing was done.
 */
bool qpack_write_field(struct hpack_writer *w, uint8_t id, struct slice name, struct slice value);
/* Adds a pseudo-field of requests, like qpack_write_field(); its name has at most 10 bytes. */
bool qpack_write_pseudo(struct hpack_writer *w, enum hpack_pseudo id, struct slice value);
/* Adds ":status", 100 to 999; takes at most QPACK_STATUS_BOUND bytes. */
void qpack_write_status(struct hpack_writer *w, unsigned status);
#define QPACK_STATUS_BOUND 8

#endif
