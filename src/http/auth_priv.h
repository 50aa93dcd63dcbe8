/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of authentication share. */
#ifndef HTTP_AUTH_PRIV_H
#define HTTP_AUTH_PRIV_H

#include "base/slot.h"
#include "conf/conf.h"
#include "http/auth.h"

struct auth_group {
	struct auth_group *next;
	const char *name;
	int line;
	const char *users;         /* as written, comma-separated; NULL: none */
};

/* A group that a user is in. */
struct auth_member {
	struct auth_member *next;
	const struct auth_group *group;
};

struct auth_user {
	struct auth_user *next;
	const char *name;
	int line;
	const char *password;      /* NULL: none is right */
	const char *groups;        /* as written; NULL: none */
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

/* The list that is being filled knows this group? NULL: no. */
struct auth_group *userlist_group(const struct userlist *list, struct slice name);
/* As userlist_user(), to be changed. */
struct auth_user *userlist_user_find(const struct userlist *list, struct slice name);

/* crypt.c, or crypt_none.c: is <hash> that of <password>, both NUL-terminated? Slow. */
bool crypt_matches(const char *password, const char *hash);

/* A verdict that this thread remembers. */
enum auth_verdict auth_cache_find(const char *hash, struct slice password);

/* Frees what the calling thread remembers. */
void auth_thread_fini(void);

#endif
