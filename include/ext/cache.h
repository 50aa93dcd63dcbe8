/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cache.h - sections cache: responses kept in memory and served to later requests
 *
 *     cache NAME                          size and lifetime
 *         total-max-size 64
 *     http-request cache-use NAME         serves from it, or allows storing the response
 *     http-response cache-store NAME      stores the response, as it is at this rule
 *     filter cache NAME                   where the bytes are taken, before compression
 *
 * Purpose: objects of at most `max-object-size`, found by scheme, host and target, and by the
 *          fields that responses varied by. RFC 9111 defines what a shared cache may store and for
 *          how long; this is implemented as far as the reference does. Stale objects are not
 *          served. Extensions allow a section to do more: validate, serve stale objects, send one
 *          request for many clients, serve ranges.
 * Owns   : the memory of a section belongs to the process, identified by the section's name and
 *          size: it survives a reload. Objects are refcounted: a hit holds one until its last byte
 *          is sent, without a copy; an object that was replaced or evicted is freed then.
 * Threads: any. Objects are in shards by a keyed hash; a lookup takes one lock for a few
 *          instructions. Each thread fills its own object, which enters the cache when it is
 *          complete.
 * Errors : out of memory, or an object that becomes too large: it is not stored, and its response
 *          continues.
 * Manual : configuration 6, 9.4; RFC 9111, RFC 9110 13 (conditions).
 */
#ifndef EXT_CACHE_H
#define EXT_CACHE_H

#include "base/module.h"

extern const struct module mod_cache, mod_cache_beyond, mod_cache_compressed, mod_cache_ctl;

#endif
