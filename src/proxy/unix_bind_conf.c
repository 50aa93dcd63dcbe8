/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unix_bind_conf.c - edge file: unix-bind. Manual: configuration 3.1. */
#include <stdlib.h>
#include <string.h>
#include "base/door.h"
#include "conf/conf.h"
#include "proxy/modules.h"
#include "proxy_priv.h"

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
	return door_user(name, uid) == 0 ||
	       conf_error(l, l->at - 1, NULL, "'%s' : '%s' unknown user.", l->words[0], name);
}

static bool take_group(struct conf_line *l, const char *name, gid_t *gid)
{
	return door_group(name, gid) == 0 ||
	       conf_error(l, l->at - 1, NULL, "'%s' : '%s' unknown group.", l->words[0], name);
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

static struct slot *const slots[] = { &unix_bind_slot, NULL };

static const struct conf_keyword keywords[] = {
	{ .words = "unix-bind", .where = CONF_GLOBAL, .max_args = -1, .parse = parse_unix_bind,
	  .syntax = "[ prefix <path> | mode <octal> | user <name> | uid <uid> | group <name> | "
		    "gid <gid> ]*", .help = "what UNIX sockets of bind lines have by default" },
	{ 0 }
};

const struct module mod_unix_bind = {
	.name = "unix-bind", .keywords = keywords, .slots = slots,
};
