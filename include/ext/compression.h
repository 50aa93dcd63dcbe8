/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* compression.h - compression and decompression of bodies: the public interface
 *
 * Purpose: the filters `comp-req`, `comp-res` and `compression`, inserted into a proxy's streams by
 *          lines `filter` or, if it has no other filter, by `compression` alone.
 * Choice : the algorithm is taken from Accept-Encoding when all rules of the request have run (so
 *          rules may edit it). When the head of the response has come, before its rules, it is
 *          decided whether to compress, which rules can read as res.comp; the head is edited after
 *          the rules.
 * Merging: lists (algorithms, types) and sizes are the backend's if it has any, else the
 *          frontend's; directions and offloading of both apply.
 * Limits : maxcomprate, maxcompcpuusage, maxzlibmem: beyond them, new bodies are not compressed,
 *          and bodies already begun continue at a lower level.
 *
 * Decompression: filter decompression (an extension)
 *
 *     filter decompression [direction {request|response|both}] [max-ratio <n>] [max-size <size>]
 *
 * Plain  : what follows it (other filters: agents, Lua, the cache; then the server or the client)
 *          gets bodies without their Content-Encoding, if that is exactly one of gzip, deflate, br
 *          and zstd. Bodies with several or other encodings pass unchanged, as do responses to
 *          HEAD, parts (206), and messages with no-transform.
 * Bombs  : a body that decompresses to more than <max-size> bytes, or to more than <max-ratio>
 *          (100) times the received bytes, once over 1 MB, is cut off. No more is held than the
 *          other side accepts: a step adds one block, and no block is made while the receiver is
 *          behind.
 * Errors : a request with a broken body gets 400, one with a too large body 413, if no response has
 *          begun; a response is cut off, so that no receiver takes it for complete.
 * Threads: any.  Manual: configuration 9.2, 4.2 compression; management `set rate-limit`;
 *          doc/configuration/compression.md
 */
#ifndef EXT_COMPRESSION_H
#define EXT_COMPRESSION_H

#include <stdint.h>
#include <stdio.h>

/* Return the bytes of the last second that compression has received, and produced. */
uint64_t compression_rate_in(void);
uint64_t compression_rate_out(void);
/* Return and set the limit of compressed bytes per second; 0: no limit. */
uint64_t compression_rate_limit(void);
void compression_set_rate_limit(uint64_t bytes);
/* Prints the lines of -vv. */
void compression_print(FILE *out);

extern const struct module mod_compression, mod_decompression;

#endif
