/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* auth.h - user lists, and password checks that do not block a thread
 *
 * A user list (section userlist) has users, whose passwords are plain or hashed by crypt(3), and
 * groups of users. Hashes are slow on purpose, so dedicated threads compute them. The asking thread
 * remembers the verdict in a table of fixed size, whose keys do not reveal the passwords.
 * Owns   : user lists belong to the configuration. A job belongs to the pool until it is done or
 *          cancelled; it holds copies, so it may outlive any configuration.
 * Threads: lists are immutable after the check phase. A job is begun, answered and cancelled on one
 *          worker thread.
 * Fails  : out of memory, or with too many jobs waiting, a password counts as wrong.
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

/* Finds a user list by name. NULL: none. */
const struct userlist *userlist_find(const struct config *cfg, const char *name);
/* Finds a user of a list. NULL: none. */
const struct auth_user *userlist_user(const struct userlist *list, struct slice name);
/* Returns the name of the <number>-th group (from 0) of the user; slice_none(): no more. */
struct slice auth_user_group(const struct auth_user *user, unsigned number);
struct slice auth_user_name(const struct auth_user *user);

enum auth_verdict { AUTH_WRONG, AUTH_RIGHT, AUTH_UNKNOWN };

/* Is it this user's password? Answers without computing a hash: AUTH_UNKNOWN if one is needed. */
enum auth_verdict auth_verdict_known(const struct auth_user *user, struct slice password);
/* Computes the verdict on this thread and remembers it. Slow. */
bool auth_verdict_now(const struct auth_user *user, struct slice password);
/* Makes the pool compute the verdict: <done> is called on this thread, later, when the verdict is
 * remembered. NULL: not possible.
 */
struct auth_job *auth_job_begin(const struct auth_user *user, struct slice password,
				void (*done)(void *ctx), void *ctx);
/* Cancels a job: <done> will not be called. */
void auth_job_cancel(struct auth_job *job);

/* The credentials in a request's Authorization, or in field <field>. */
struct auth_fields {
	struct slice type;            /* "Basic", as written */
	struct slice user, password;  /* Basic; in the arena */
	struct slice token;           /* Bearer */
};
/* Parses the field. False: it is missing or malformed. */
bool auth_fields_parse(const struct http_msg *m, struct slice field, struct arena *arena,
		       struct auth_fields *out);

extern const struct module mod_userlist;

#endif
