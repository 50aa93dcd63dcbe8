/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unix_bind_conf.c - edge file: unix-bind, what UNIX sockets of `bind` lines have by default
 *
 * Those of the Runtime API have their own. Manual: configuration 3.1.
 */
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include "conf/conf.h"
#include "proxy/bind.h"
#include "proxy/modules.h"
#include "proxy_priv.h"

struct unix_bind {
	const char *prefix; /* before each path; NULL: none */
	mode_t mode;        /* -1 unset, as the two below */
	uid_t uid;
	gid_t gid;
};

static bool unix_bind_init(void *data)
{
	*(struct unix_bind *)data = (struct unix_bind){
		.mode = (mode_t)-1, .uid = (uid_t)-1, .gid = (gid_t)-1,
	};
	return true;
}

static struct slot unix_bind_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct unix_bind), .init = unix_bind_init,
};
static struct slot *const slots[] = { &unix_bind_slot, NULL };

static struct unix_bind *unix_bind_of(const struct config *cfg)
{
	return slot_of(&unix_bind_slot, config_slots(cfg));
}

/* --- for bind.c ------------------------------------------------------------------------------ */

void unix_bind_defaults(const struct config *cfg, struct bind_conf *b)
{
	const struct unix_bind *u = unix_bind_of(cfg);

	b->mode = u->mode;
	b->uid = u->uid;
	b->gid = u->gid;
}

bool unix_bind_add_prefix(const struct config *cfg, struct sockaddr_storage *ss)
{
	const char *prefix = unix_bind_of(cfg)->prefix;
	struct sockaddr_un *un = (struct sockaddr_un *)ss;
	size_t len = prefix ? strlen(prefix) : 0, old = strlen(un->sun_path);

	if (!un->sun_path[0] || !len)
		return true;
	if (len + old >= sizeof(un->sun_path))
		return false;
	memmove(un->sun_path + len, un->sun_path, old + 1);
	memcpy(un->sun_path, prefix, len);
	return true;
}

/* --- parsing --------------------------------------------------------------------------------- */

/* A number in <base> up to <max>. */
static bool take_number(struct conf_line *l, const char *option, const char *text, int base,
			unsigned long max, unsigned long *out)
{
	char *end;

	*out = strtoul(text, &end, base);
	return (end != text && !*end && *out <= max) ||
	       conf_error(l, l->at - 1, NULL, "'%s' : invalid value '%s' for '%s'.", l->words[0],
			  text, option);
}

static bool take_user(struct conf_line *l, const char *name, uid_t *uid)
{
	const struct passwd *user = getpwnam(name);

	if (!user)
		return conf_error(l, l->at - 1, NULL, "'%s' : '%s' unknown user.", l->words[0],
				  name);
	*uid = user->pw_uid;
	return true;
}

static bool take_group(struct conf_line *l, const char *name, gid_t *gid)
{
	const struct group *group = getgrnam(name);

	if (!group)
		return conf_error(l, l->at - 1, NULL, "'%s' : '%s' unknown group.", l->words[0],
				  name);
	*gid = group->gr_gid;
	return true;
}

static bool parse_option(struct conf_line *l, struct unix_bind *u)
{
	static const char *const names[] = { "prefix", "mode", "user", "uid", "group", "gid" };
	const char *option = conf_next(l), *value;
	unsigned long number = 0;
	unsigned i = 0;
	bool good = true;

	while (i < 6 && strcmp(option, names[i]) != 0)
		i++;
	if (i == 6)
		return conf_error(l, l->at - 1, NULL, "'%s' only supports the 'prefix', 'mode', "
				  "'uid', 'gid', 'user' and 'group' options.", l->words[0]);
	value = conf_next(l);
	if (!value)
		return conf_error(l, l->at - 1, NULL, "'%s' : missing value for '%s'.",
				  l->words[0], option);
	switch (i) {
	case 0:
		u->prefix = value;
		break;
	case 1:
		good = take_number(l, option, value, 8, 07777, &number);
		u->mode = (mode_t)number;
		break;
	case 2:
		return take_user(l, value, &u->uid);
	case 3:
		good = take_number(l, option, value, 10, UINT32_MAX - 1, &number);
		u->uid = (uid_t)number;
		break;
	case 4:
		return take_group(l, value, &u->gid);
	case 5:
		good = take_number(l, option, value, 10, UINT32_MAX - 1, &number);
		u->gid = (gid_t)number;
		break;
	}
	return good;
}

static bool parse_unix_bind(struct conf_line *l)
{
	bool good = true;

	while (good && conf_peek(l))
		good = parse_option(l, unix_bind_of(l->cfg));
	return good;
}

static const struct conf_keyword keywords[] = {
	{ .words = "unix-bind", .where = CONF_GLOBAL, .max_args = -1, .parse = parse_unix_bind,
	  .syntax = "[ prefix <path> | mode <octal> | user <name> | uid <uid> | group <name> | "
		    "gid <gid> ]*", .help = "what UNIX sockets of bind lines have by default" },
	{ 0 }
};

const struct module mod_unix_bind = {
	.name = "unix-bind", .keywords = keywords, .slots = slots,
};
