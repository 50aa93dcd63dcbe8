/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unix_bind.c - directory and default settings of UNIX sockets of bind lines
 *
 * Those of the Runtime API have their own. Manual: configuration 3.1 unix-bind.
 */
#include <string.h>
#include <sys/un.h>
#include "conf/conf.h"
#include "proxy/bind.h"
#include "proxy_priv.h"

static bool unix_bind_init(void *data)
{
	*(struct unix_bind *)data = (struct unix_bind){
		.mode = (mode_t)-1, .uid = (uid_t)-1, .gid = (gid_t)-1,
	};
	return true;
}

struct slot unix_bind_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct unix_bind), .init = unix_bind_init,
};

struct unix_bind *unix_bind_of(const struct config *cfg)
{
	return slot_of(&unix_bind_slot, config_slots(cfg));
}

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
