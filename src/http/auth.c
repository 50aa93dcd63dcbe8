/* SPDX-License-Identifier: GPL-2.0-or-later */
/* auth.c - user lists, and the fields of requests that name their user */
#include <string.h>
#include "auth_priv.h"
#include "codec/base64.h"
#include "http/msg.h"

struct slot auth_config_slot = { .of = SLOT_CONFIG, .size = sizeof(struct auth_config) };

const struct userlist *userlist_find(const struct config *cfg, const char *name)
{
	const struct userlist *list = auth_config_of(cfg)->lists;

	while (list && strcmp(list->name, name) != 0)
		list = list->next;
	return list;
}

struct auth_user *userlist_user_find(const struct userlist *list, struct slice name)
{
	struct auth_user *user = list->users;

	while (user && !slice_eq(slice_of(user->name), name))
		user = user->next;
	return user;
}

const struct auth_user *userlist_user(const struct userlist *list, struct slice name)
{
	return userlist_user_find(list, name);
}

struct auth_group *userlist_group(const struct userlist *list, struct slice name)
{
	struct auth_group *group = list->groups;

	while (group && !slice_eq(slice_of(group->name), name))
		group = group->next;
	return group;
}

struct slice auth_user_group(const struct auth_user *user, unsigned number)
{
	const struct auth_member *m = user->member_of;

	while (m && number--)
		m = m->next;
	return m ? slice_of(m->group->name) : slice_none();
}

struct slice auth_user_name(const struct auth_user *user)
{
	return slice_of(user->name);
}

/* --- passwords ---------------------------------------------------------------------------- */

/* In a time that does not tell where they differ. */
static bool texts_are_equal(struct slice a, struct slice b)
{
	unsigned char difference = a.len != b.len;

	for (size_t i = 0; i < a.len && b.len; i++)
		difference |= (unsigned char)(a.ptr[i] ^ b.ptr[i % b.len]);
	return !difference;
}

enum auth_verdict auth_verdict_known(const struct auth_user *user, struct slice password)
{
	if (!user->password)
		return AUTH_WRONG;
	if (user->is_plain)
		return texts_are_equal(password, slice_of(user->password)) ? AUTH_RIGHT
									   : AUTH_WRONG;
	/* crypt(3) sees nothing of what follows a NUL */
	if (slice_find_char(password, 0, '\0') != SIZE_MAX)
		return AUTH_WRONG;
	return auth_cache_find(user->password, password);
}

/* --- fields ------------------------------------------------------------------------------- */

/* "user:password" in base64. */
static bool parse_basic(struct slice text, struct arena *arena, struct auth_fields *out)
{
	char *plain = arena_alloc(arena, text.len + 1);
	struct slice both = slice_none();
	size_t colon;

	if (!plain || !base64_decode(text, plain, &both.len))
		return false;
	both.ptr = plain;
	colon = slice_find_char(both, 0, ':');
	if (colon == SIZE_MAX)
		return false;
	out->user = slice_sub(both, 0, colon);
	out->password = slice_sub(both, colon + 1, both.len);
	return true;
}

bool auth_fields_parse(const struct http_msg *m, struct slice field, struct arena *arena,
		       struct auth_fields *out)
{
	const struct h1_field *f = http_field_find(&m->fields, http_field_id(field), field);
	size_t blank;
	struct slice rest;

	*out = (struct auth_fields){ .type = slice_none() };
	if (!f)
		return false;
	blank = slice_find_char(f->value, 0, ' ');
	if (blank == SIZE_MAX || !blank)
		return false;
	out->type = slice_sub(f->value, 0, blank);
	rest = slice_trim(slice_sub(f->value, blank, f->value.len));
	if (slice_eq_nocase(out->type, SLICE("basic"))) {
		out->type = SLICE("Basic");
		return parse_basic(rest, arena, out);
	}
	if (!slice_eq_nocase(out->type, SLICE("bearer")))
		return false;
	out->type = SLICE("Bearer");
	out->token = rest;
	return true;
}
