/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* call.h - http-request call, on-state-change: another service is told by HTTP, and no stream waits
 *
 *     http-request call <url> [method <name>] [body <fmt>] [hdr <name> <fmt>]* [if ...]
 *     on-state-change <url> [hdr <name> <value>]*          (backend, listen, defaults)
 *
 * Purpose: webhooks. A rule calls a URL because of a request; a backend calls one whenever it tells
 *          that a server or itself has changed (down, up, maintenance, ejected, no server left):
 *          a POST of a JSON object with what the log says.
 * Delivery: a call is kept in memory until its server has answered 2xx: a failure, a 5xx, a 408 or
 *          a 429 is tried again after 1, 2, 4... 60 seconds, ten times; another answer is final.
 *          Each thread keeps 1,000 calls at most, the oldest leaves for a new one, and makes 8 at
 *          once. What waits when the process ends is lost.
 * Owns   : a call is its thread's queue's.
 * Threads: a call is made on the thread where its cause was.
 * Errors : counted, see the command `show calls`; each try has a log line of the HTTP client.
 * Manual : none, it is an extension; doc/configuration/webhooks.md.
 */
#ifndef EXT_CALL_H
#define EXT_CALL_H

#include "base/module.h"

extern const struct module mod_call;

#endif
