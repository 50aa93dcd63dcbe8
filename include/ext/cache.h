/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cache.h - sections cache: answers that are kept in memory, and given to later requests
 *
 *     cache NAME                          how much, how long
 *         total-max-size 64
 *     http-request cache-use NAME         answers from it, or says that the answer may be kept
 *     http-response cache-store NAME      keeps the answer, as it is at this rule
 *     filter cache NAME                   where the bytes are taken, before compression
 *
 * Purpose: objects of at most `max-object-size`, found by scheme, host and target, and by the
 *          fields that answers varied by. What may be kept, and for how long, is what RFC 9111
 *          says of shared caches, as far as the reference does it; nothing stale is given. Lines
 *          of its own (extensions) let a section do more: validate, give what is stale, send one
 *          request for many, answer ranges.
 * Owns   : a section's memory belongs to the process by the section's name and size: it outlives a
 *          reload. Objects are counted: a hit holds one until its last byte is sent, without a
 *          copy; what is replaced or leaves meanwhile is freed then.
 * Threads: any. Objects lie in shards by a keyed hash; a lookup takes one lock for a few
 *          instructions. Each thread fills an object of its own, which comes into the cache whole.
 * Errors : no memory, or an object that becomes too large: it is not kept, its answer goes on.
 * Manual : configuration 6, 9.4; RFC 9111, RFC 9110 13 (conditions).
 */
#ifndef EXT_CACHE_H
#define EXT_CACHE_H

#include "base/module.h"

extern const struct module mod_cache, mod_cache_beyond, mod_cache_compressed, mod_cache_ctl;

#endif
