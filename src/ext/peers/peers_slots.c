/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peers_slots.c - storage of the sections of a generation, and of server lines' peer settings */
#include <string.h>
#include "ext/peers.h"
#include "peers_priv.h"

static void sections_fini(void *data)
{
	for (struct peers_conf *c = ((struct peers_config *)data)->first; c; c = c->next) {
		peers_listen_close(c);
		proxy_close(c->proxy);
	}
}

static bool sections_init(void *data)
{
	((struct peers_config *)data)->max_updates = PEERS_UPDATES;
	return true;
}

struct slot peers_config_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct peers_config), .init = sections_init,
	.fini = sections_fini,
};

struct slot peers_server_slot = { .of = SLOT_SERVER, .size = sizeof(int) };

struct peers_config *peers_config_of(const struct config *cfg)
{
	return slot_of(&peers_config_slot, config_slots(cfg));
}

unsigned peers_shard(const struct peers_conf *c, const struct server *srv)
{
	int shard = *(int *)slot_of(&peers_server_slot, server_slots(srv));

	return shard < 0 || (unsigned)shard > c->shards || peers_is_local(c, srv) ? 0
		: (unsigned)shard;
}

bool peers_are_declared(const struct config *cfg)
{
	return peers_config_of(cfg)->first != NULL;
}
