/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* forward_auth.h - http-request forward-auth: another service authorizes requests
 *
 *     http-request forward-auth <backend> [path <fmt>] [method <name>] [pass <fields>]
 *          [hdr <field> <fmt>]* [copy <fields>] [cache <fmt> for <time> [max <number>]]
 *          [fail-open | fail-closed]
 *
 * Purpose: asks a server of <backend> (Authelia, authentik, oauth2-proxy etc.) with the fields of
 *          the client's request and X-Forwarded-*, without its body. A 2xx response lets the
 *          request continue, with the fields of <copy> taken from the response, which replace all
 *          others of these names; a response below 500 is sent to the client: a redirection to a
 *          form, a 401, a 403. Anything else is a failure: refused with 503, unless fail-open.
 * Owns   : parsed data belongs to the generation; recent grants (`cache`) are in a table of the
 *          rule, which a reload empties. A query belongs to the stream: it is a stream of its own
 *          (stream/inside.h), cancelled when the client's stream ends.
 * Threads: a query runs on its stream's thread. The cache has a lock, held for a few instructions.
 * Errors : out of memory, no server, timeouts of <backend>, a response with a body over 64 kB:
 *          failures.
 * Manual : none, it is an extension; doc/configuration/forward-auth.md.
 */
#ifndef EXT_FORWARD_AUTH_H
#define EXT_FORWARD_AUTH_H

#include "base/module.h"

extern const struct module mod_forward_auth;

#endif
