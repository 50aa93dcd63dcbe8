/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* forward_auth.h - http-request forward-auth: another service says whether a request may pass
 *
 *     http-request forward-auth <backend> [path <fmt>] [method <name>] [pass <fields>]
 *          [hdr <field> <fmt>]* [copy <fields>] [cache <fmt> for <time> [max <number>]]
 *          [fail-open | fail-closed]
 *
 * Purpose: asks a server of <backend> (Authelia, authentik, oauth2-proxy and their like) with the
 *          fields of the client's request and X-Forwarded-*, without its body. An answer of 2xx
 *          lets the request go on, with the fields of <copy> from the answer and no other ones of
 *          these names, whatever their origin; an answer below 500 is the client's: a redirection
 *          to a form, a 401, a 403. All else is a failure: refused with 503, unless fail-open.
 * Owns   : what is parsed belongs to the generation; what was granted lately (`cache`) is a table
 *          of the rule, which a reload empties. A question is the stream's: a stream of its own
 *          (stream/inside.h), cancelled when the client's ends.
 * Threads: a question is on its stream's thread. The cache has a lock, for some instructions.
 * Errors : no memory, no server, timeouts of <backend>, an answer whose body is longer than
 *          64 kB: failures.
 * Manual : none, it is an extension; doc/configuration/forward-auth.md.
 */
#ifndef EXT_FORWARD_AUTH_H
#define EXT_FORWARD_AUTH_H

#include "base/module.h"

extern const struct module mod_forward_auth;

#endif
