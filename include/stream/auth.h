/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* auth.h - authenticates the user of a request by name and password
 *
 * A verdict that needs a slow hash is computed in the background if the caller can be run again
 * (EXPR_MAY_WAIT): the stream is run again when the verdict is there. Otherwise it is computed
 * immediately, on the calling thread.
 * Owns   : the pending job: a wait of the stream (stream/wait.h), cancelled when the stream ends.
 * Threads: the stream's.
 */
#ifndef STREAM_AUTH_H
#define STREAM_AUTH_H

#include "expr/expr.h"
#include "http/auth.h"
#include "stream/stream.h"

/* Finds the user of <list> whose name and password the request carries. EXPR_NONE: no such user. */
enum expr_result stream_auth_user(struct expr_ctx *ctx, const struct userlist *list,
				  const struct auth_user **user);
/* Reads the credentials of the request from the field <field>. Empty: from Authorization, or from
 * Proxy-Authorization when the client uses this program as its proxy. False: there are none.
 */
bool stream_auth_fields(struct expr_ctx *ctx, struct slice field, struct auth_fields *out);

#endif
