/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* auth.h - the user that sends a request, by its password
 *
 * A verdict that needs a slow hash is awaited where the caller comes back (EXPR_MAY_WAIT): the
 * stream is run again when it is there. Elsewhere it is computed immediately.
 * Owns   : the job under way: a wait of the stream (stream/wait.h), cancelled when the stream ends.
 * Threads: the stream's.
 */
#ifndef STREAM_AUTH_H
#define STREAM_AUTH_H

#include "expr/expr.h"
#include "http/auth.h"
#include "stream/stream.h"

/* The user of <list> whose name and password the request gives. EXPR_NONE: no such user. */
enum expr_result stream_auth_user(struct expr_ctx *ctx, const struct userlist *list,
				  const struct auth_user **user);
/* What the request says; <field> empty: Authorization, or Proxy-Authorization when the client takes
 * us for a proxy.
 */
bool stream_auth_fields(struct expr_ctx *ctx, struct slice field, struct auth_fields *out);

#endif
