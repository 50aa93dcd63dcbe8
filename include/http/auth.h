/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* auth.h - user lists, and checking passwords without holding a thread
 *
 * A user list (section userlist) has users, whose passwords are plain or hashed by crypt(3), and
 * groups of them. A hash is made to be slow, so it is computed by a few threads of their own, and
 * its verdict is remembered by the thread that asked, in a table of fixed size whose keys tell
 * nothing of the passwords.
 * Owns   : user lists belong to the configuration. A job belongs to the pool until it is done or
 *          cancelled; it holds copies, so no configuration has to outlive it.
 * Threads: lists are immutable after the check phase. A job is begun, answered and cancelled on one
 *          thread of the program.
 * Fails  : without memory, or with too many jobs waiting, a password is wrong.
 * Manual : configuration 12.2
 */
#ifndef HTTP_AUTH_H
#define HTTP_AUTH_H

#include <stdbool.h>
#include "base/module.h"
#include "base/slice.h"

struct arena;
struct config;
struct http_msg;
struct userlist;
struct auth_user;
struct auth_job;

/* A user list by its name, or NULL. */
const struct userlist *userlist_find(const struct config *cfg, const char *name);
/* A user of a list, or NULL. */
const struct auth_user *userlist_user(const struct userlist *list, struct slice name);
/* The name of the group of this number (from 0) that the user is in; slice_none(): no more. */
struct slice auth_user_group(const struct auth_user *user, unsigned number);
struct slice auth_user_name(const struct auth_user *user);

enum auth_verdict { AUTH_WRONG, AUTH_RIGHT, AUTH_UNKNOWN };

/* Is it this user's password, as far as it is known without computing a hash? */
enum auth_verdict auth_verdict_known(const struct auth_user *user, struct slice password);
/* Computes it on this thread, and remembers it. Slow. */
bool auth_verdict_now(const struct auth_user *user, struct slice password);
/* Has it computed by the pool: <done> is called on this thread, later, with the verdict
 * remembered. NULL: it cannot be.
 */
struct auth_job *auth_job_begin(const struct auth_user *user, struct slice password,
				void (*done)(void *ctx), void *ctx);
/* <done> will not be called. */
void auth_job_cancel(struct auth_job *job);

/* What a request says of its user: of Authorization, or of <field>. */
struct auth_fields {
	struct slice type;            /* "Basic", as written */
	struct slice user, password;  /* Basic; in the arena */
	struct slice token;           /* Bearer */
};
/* False: no such field, or one that is not well-formed. */
bool auth_fields_parse(const struct http_msg *m, struct slice field, struct arena *arena,
		       struct auth_fields *out);

extern const struct module mod_userlist;

#endif
