/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files about authentication. */
#ifndef HTTP_AUTH_PRIV_H
#define HTTP_AUTH_PRIV_H

#include "base/slot.h"
#include "conf/conf.h"
#include "http/auth.h"

struct auth_group {
	struct auth_group *next;
	const char *name;
	int line;
	const char *users;         /* as configured, comma-separated; NULL: none */
};

/* A group that a user belongs to. */
struct auth_member {
	struct auth_member *next;
	const struct auth_group *group;
};

struct auth_user {
	struct auth_user *next;
	const char *name;
	int line;
	const char *password;      /* NULL: none is correct */
	const char *groups;        /* as configured; NULL: none */
	struct auth_member *member_of;
	bool is_plain;
};

struct userlist {
	struct userlist *next;
	const char *name;
	const char *file;
	int line;
	struct auth_user *users, **users_tail;
	struct auth_group *groups, **groups_tail;
};

struct auth_config {
	struct userlist *lists;
};

extern struct slot auth_config_slot;

static inline struct auth_config *auth_config_of(const struct config *cfg)
{
	return slot_of(&auth_config_slot, config_slots(cfg));
}

/* Finds a group of the list that is being filled. NULL: unknown. */
struct auth_group *userlist_group(const struct userlist *list, struct slice name);
/* As userlist_user(), for changing it. */
struct auth_user *userlist_user_find(const struct userlist *list, struct slice name);

/* crypt.c, or crypt_none.c: is <hash> the hash of <password>, both NUL-terminated? Slow. */
bool crypt_matches(const char *password, const char *hash);

/* Returns the verdict that this thread remembers. */
enum auth_verdict auth_cache_find(const char *hash, struct slice password);

/* Frees the verdicts of the calling thread. */
void auth_thread_fini(void);

#endif
