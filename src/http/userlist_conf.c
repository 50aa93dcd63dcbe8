/* SPDX-License-Identifier: GPL-2.0-or-later */
/* userlist_conf.c - edge file: sections userlist
 *
 * Manual: configuration 12.2.
 */
#include <string.h>
#include "auth_priv.h"

static bool userlist_open(struct conf_line *l)
{
	struct auth_config *ac = auth_config_of(l->cfg);
	const char *name = conf_next(l);
	const struct userlist *same;
	struct userlist *list;
	char bad;

	if (!name || !*name)
		return conf_error(l, 0, NULL, "'userlist' expects <name> as arguments.");
	bad = conf_name_bad_char(name);
	if (bad)
		return conf_error(l, l->at - 1, NULL, "character '%c' is not permitted in "
				  "'userlist' name '%s'.", bad, name);
	if (conf_peek(l))
		return conf_error(l, l->at, NULL,
				  "'userlist' cannot handle unexpected argument '%s'.",
				  conf_peek(l));
	list = arena_zalloc(&l->cfg->arena, sizeof(*list));
	if (!list)
		return conf_error(l, 0, NULL, "out of memory.");
	same = userlist_find(l->cfg, name);
	*list = (struct userlist){ .name = name, .line = l->place.line,
				   .users_tail = &list->users, .groups_tail = &list->groups };
	list->file = l->place.file ? conf_strdup(l->cfg, l->place.file) : NULL;
	l->object = list;
	l->slots = NULL;
	if (same) {
		conf_warn(l, l->at - 1, NULL, "ignoring duplicated userlist '%s'.", name);
		return true;
	}
	list->next = ac->lists;
	ac->lists = list;
	return true;
}

static bool group_parse(struct conf_line *l)
{
	struct userlist *list = l->object;
	const char *name = conf_next(l);
	struct auth_group *group;

	if (!name || !*name)
		return conf_error(l, l->at, NULL, "'group' expects <name> as arguments.");
	if (userlist_group(list, slice_of(name))) {
		conf_warn(l, l->at - 1, NULL, "ignoring duplicated group '%s' in userlist '%s'.",
			  name, list->name);
		return true;
	}
	group = arena_zalloc(&l->cfg->arena, sizeof(*group));
	if (!group)
		return conf_error(l, 0, NULL, "out of memory.");
	group->name = name;
	group->line = l->place.line;
	*list->groups_tail = group;
	list->groups_tail = &group->next;
	while (conf_peek(l)) {
		if (strcmp(conf_next(l), "users") != 0)
			return conf_error(l, l->at - 1, NULL,
					  "'group' only supports 'users' option, not '%s'.",
					  l->words[l->at - 1]);
		if (group->users)
			return conf_error(l, l->at - 1, NULL, "'users' option already defined in "
					  "'group' name '%s'.", name);
		if (!conf_take_string(l, &group->users))
			return false;
	}
	return true;
}

static bool user_take_option(struct conf_line *l, struct auth_user *user)
{
	const char *word = conf_next(l);

	if (strcmp(word, "password") == 0 || strcmp(word, "insecure-password") == 0) {
		user->is_plain = word[0] == 'i';
		if (!conf_peek(l))
			return conf_error(l, l->at, NULL, "missing value of '%s'.", word);
		return conf_take_string(l, &user->password);
	}
	if (strcmp(word, "groups") == 0)
		return conf_take_string(l, &user->groups);
	return conf_error(l, l->at - 1, NULL, "'user' only supports 'password', "
			  "'insecure-password' and 'groups' options, not '%s'.", word);
}

static bool user_parse(struct conf_line *l)
{
	struct userlist *list = l->object;
	const char *name = conf_next(l);
	struct auth_user *user;

	if (!name || !*name)
		return conf_error(l, l->at, NULL, "'user' expects <name> as arguments.");
	if (userlist_user(list, slice_of(name))) {
		conf_warn(l, l->at - 1, NULL, "ignoring duplicated user '%s' in userlist '%s'.",
			  name, list->name);
		return true;
	}
	user = arena_zalloc(&l->cfg->arena, sizeof(*user));
	if (!user)
		return conf_error(l, 0, NULL, "out of memory.");
	user->name = name;
	user->line = l->place.line;
	*list->users_tail = user;
	list->users_tail = &user->next;
	while (conf_peek(l))
		if (!user_take_option(l, user))
			return false;
	return true;
}

/* --- check phase -------------------------------------------------------------------------- */

static bool join(struct config *cfg, struct auth_user *user, const struct auth_group *group)
{
	struct auth_member *m = arena_zalloc(&cfg->arena, sizeof(*m)), **tail;

	if (!m)
		return false;
	m->group = group;
	for (tail = &user->member_of; *tail; tail = &(*tail)->next)
		if ((*tail)->group == group)
			return true;
	*tail = m;
	return true;
}

/* The next name of "a,b,c"; false: no more. */
static bool next_name(const char **list, struct slice *name)
{
	size_t len;

	if (!*list || !**list)
		return false;
	len = strcspn(*list, ",");
	*name = slice_make(*list, len);
	*list += len + ((*list)[len] == ',');
	return true;
}

static void check_list(struct config *cfg, struct userlist *list, struct diag_list *diags)
{
	struct diag_place place = { .file = list->file, .line = list->line };
	struct slice name;

	for (struct auth_user *user = list->users; user; user = user->next) {
		const char *names = user->groups;

		place.line = user->line;
		while (next_name(&names, &name)) {
			const struct auth_group *group = userlist_group(list, name);

			if (!group || !join(cfg, user, group))
				diag_add(diags, DIAG_ALERT, &place, NULL, "userlist '%s': no such "
					 "group '%.*s' specified in user '%s'.", list->name,
					 SLICE_FMT(name), user->name);
		}
	}
	for (struct auth_group *group = list->groups; group; group = group->next) {
		const char *names = group->users;

		place.line = group->line;
		while (next_name(&names, &name)) {
			struct auth_user *user = userlist_user_find(list, name);

			if (!user || !join(cfg, user, group))
				diag_add(diags, DIAG_ALERT, &place, NULL, "userlist '%s': no such "
					 "user '%.*s' specified in group '%s'.", list->name,
					 SLICE_FMT(name), group->name);
		}
	}
}

static void userlist_check(struct config *cfg, struct diag_list *diags)
{
	for (struct userlist *list = auth_config_of(cfg)->lists; list; list = list->next)
		check_list(cfg, list, diags);
}

static const struct conf_section sections[] = {
	{ .name = "userlist", .where = CONF_OTHER, .open = userlist_open, .syntax = "<name>",
	  .help = "users with their passwords and groups" },
	{ 0 }
};

static const struct conf_keyword keywords[] = {
	{ .words = "group", .where = CONF_OTHER, .section = "userlist", .max_args = -1,
	  .parse = group_parse, .syntax = "<name> [users <user>,...]", .help = "a group of users" },
	{ .words = "user", .where = CONF_OTHER, .section = "userlist", .max_args = -1,
	  .parse = user_parse,
	  .syntax = "<name> [password|insecure-password <password>] [groups <group>,...]",
	  .help = "a user" },
	{ 0 }
};

static struct slot *const slots[] = { &auth_config_slot, NULL };

const struct module mod_userlist = {
	.name = "userlist", .sections = sections, .keywords = keywords, .slots = slots,
	.check = userlist_check, .thread_fini = auth_thread_fini,
};
