/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* call.h - http-request call, on-state-change: webhooks, without delaying streams
 *
 *     http-request call <url> [method <name>] [body <fmt>] [hdr <name> <fmt>]* [if ...]
 *     on-state-change <url> [hdr <name> <value>]*          (backend, listen, defaults)
 *
 * Purpose: webhooks. A rule calls a URL because of a request. A backend calls a URL whenever it
 *          reports that it or a server has changed (down, up, maintenance, ejected, no server
 *          left): a POST of a JSON object with the contents of the log line.
 * Delivery: a call is kept in memory until its server has answered 2xx. After a failure, a 5xx, a
 *           408 or a 429 it is retried after 1, 2, 4... 60 seconds, ten times; other responses are
 *           final. Each thread keeps at most 1,000 calls, drops the oldest for a new one, and makes
 *           8 at a time. Calls that wait when the process ends are lost.
 * Owns   : a call belongs to its thread's queue.
 * Threads: a call is made on the thread that caused it.
 * Errors : counted, see the command `show calls`; each try has a log line of the HTTP client.
 * Manual : none, it is an extension; doc/configuration/webhooks.md.
 */
#ifndef EXT_CALL_H
#define EXT_CALL_H

#include "base/module.h"

extern const struct module mod_call;

#endif
