/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mirror.h - http-request mirror: another backend gets the same requests, and no stream waits
 *
 *     http-request mirror <backend> [sample <percent>] [max <number>] [buffer <size>] [if ...]
 *
 * Purpose: tries a new version of a service with real requests. What the server gets, head and
 *          body, goes to a server of <backend> too, as a stream of its own (stream/inside.h)
 *          through that backend's rules, balancing and log; its answer is thrown away.
 * What is never changed by it: the request, its answer, and when they pass. A copy that cannot keep
 *          up is broken off: bodies are shared with the original, not copied, and at most <buffer>
 *          bytes of each wait for the mirror; at most <max> copies are under way.
 * Not copied: requests that the program answers itself, upgrades and CONNECT, and the fields that
 *          are about a connection.
 * Owns   : a copy is the mirror's own from its beginning; the stream that it is made of ends
 *          whenever it wants. A body that the client has not finished breaks the copy off.
 * Threads: a copy is on the thread of its original.
 * Errors : no memory, no server, too many copies: the copy is not made, or ends; counted, see the
 *          command `show mirror`.
 * Manual : none, it is an extension; doc/configuration/mirror.md.
 */
#ifndef EXT_MIRROR_H
#define EXT_MIRROR_H

#include "base/module.h"

extern const struct module mod_mirror;

#endif
