/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* compression.h - compression of bodies: what the rest of the program sees of it
 *
 * Purpose: the filters `comp-req`, `comp-res` and `compression`, put on the way of a proxy's
 *          streams by lines `filter` or, where it has no other filter, by `compression` alone.
 * Choice : the algorithm comes from Accept-Encoding when all rules of the request have run (so
 *          rules may edit it). Whether the answer is compressed is decided when its head is there,
 *          before its rules, which can ask res.comp; the head is edited behind them.
 * Settings of backend and frontend: lists (algorithms, types) and sizes are the backend's if it has
 *          any, else the frontend's; directions and offloading add up.
 * Limits : maxcomprate, maxcompcpuusage, maxzlibmem: what begins beyond them is not compressed,
 *          what has begun goes on at a lower level.
 *
 * Bodies made plain: filter decompression (an extension)
 *
 *     filter decompression [direction {request|response|both}] [max-ratio <n>] [max-size <size>]
 *
 * Plain  : what stands behind it (other filters: agents, Lua, the cache; then the server or the
 *          client) gets bodies without their Content-Encoding, if that is one of gzip, deflate, br
 *          and zstd. What has several, or another one, passes as it is; so do answers to HEAD,
 *          parts (206), and what says no-transform.
 * Bombs  : a body that has more than <max-size> bytes plain, or more than <max-ratio> (100) times
 *          what came, once that is over 1 MB, ends there. Not more is held than the other side
 *          takes: a step adds a block, and none is made while the receiver is behind.
 * Errors : a request whose body is broken gets 400, one that is too large 413, while no answer has
 *          begun; an answer is cut off, so that no receiver takes it for whole.
 * Threads: any.  Manual: configuration 9.2, 4.2 compression; management `set rate-limit`;
 *          doc/configuration/compression.md
 */
#ifndef EXT_COMPRESSION_H
#define EXT_COMPRESSION_H

#include <stdint.h>
#include <stdio.h>

/* Bytes of the last second that were given to compression, and that it gave. */
uint64_t compression_rate_in(void);
uint64_t compression_rate_out(void);
/* The most bytes a second that are compressed; 0: no limit. */
uint64_t compression_rate_limit(void);
void compression_set_rate_limit(uint64_t bytes);
/* The lines of -vv. */
void compression_print(FILE *out);

extern const struct module mod_compression, mod_decompression;

#endif
