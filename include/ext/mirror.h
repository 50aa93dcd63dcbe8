/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mirror.h - http-request mirror: copies requests to another backend, without delaying streams
 *
 *     http-request mirror <backend> [sample <percent>] [max <number>] [buffer <size>] [if ...]
 *
 * Purpose: tests a new version of a service with real requests. What the server gets, head and
 *          body, is also sent to a server of <backend>, as a stream of its own (stream/inside.h)
 *          through that backend's rules, balancing and log; its response is discarded.
 * Never changed: the request, its response, and their timing. A copy that cannot keep up is
 *          aborted: bodies are shared with the original, not copied, and at most <buffer> bytes of
 *          each wait for the mirror; at most <max> copies are in progress.
 * Not copied: requests that the program answers itself, upgrades and CONNECT, and fields about a
 *          connection.
 * Owns   : a copy is independent from its beginning: the original stream may end at any time. A
 *          body that the client has not finished aborts the copy.
 * Threads: a copy runs on the thread of its original.
 * Errors : out of memory, no server, too many copies: the copy is not made, or ends; counted, see
 *          the command `show mirror`.
 * Manual : none, it is an extension; doc/configuration/mirror.md.
 */
#ifndef EXT_MIRROR_H
#define EXT_MIRROR_H

#include "base/module.h"

extern const struct module mod_mirror;

#endif
