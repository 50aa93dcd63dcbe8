/* SPDX-License-Identifier: GPL-2.0-or-later */
/* global.c - storage of the settings of the section `global` */
#include "cert_priv.h"
#include "global_priv.h"
#include "key_priv.h"
#include "line_priv.h"
#include "store_priv.h"

static struct config *live;

struct config *tls_live(void)
{
	return live;
}

void tls_set_live(struct config *cfg)
{
	tls_store_lock();
	live = cfg;
	tls_store_unlock();
}

static bool global_init(void *data)
{
	struct tls_global *g = data;

	g->lifetime_s = 300;
	g->idle_ms = 1000;
	g->keyupdate_rate = 100;
	g->forged_max = 1000;
	g->ocsp_min_s = 300;
	g->ocsp_max_s = 3600;
	list_init(&g->ocsps);
	list_init(&g->f_uses);
	g->cache_size = 20000;
	g->security_level = -1;
	g->extra_files = TLS_EXTRA_ALL;
	list_init(&g->binds);
	list_init(&g->servers);
	return true;
}

static void global_fini(void *data)
{
	struct tls_global *g = data;

	tls_dh_free(g);
	tls_chains_free(&g->chains);
}

struct slot tls_global_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct tls_global), .init = global_init,
	.fini = global_fini,
};

struct tls_global *tls_global_of(const struct config *cfg)
{
	return slot_of(&tls_global_slot, config_slots(cfg));
}

const struct tls_defaults *tls_defaults_take(struct config *cfg)
{
	struct tls_global *g = tls_global_of(cfg);
	struct tls_defaults *copy = NULL;

	if (!g->taken)
		copy = arena_alloc(config_lasting(cfg), sizeof(*copy));
	if (copy) {
		*copy = g->defaults;
		g->taken = copy;
	}
	return g->taken ? g->taken : &g->defaults;
}

bool tls_watch_is_wanted(const struct config *cfg)
{
	return tls_global_of(cfg)->watch;
}

static uint16_t record_size(int64_t bytes)
{
	return bytes > 0 && bytes < SSL3_RT_MAX_PLAIN_LENGTH ? (uint16_t)bytes : 0;
}

struct tls_records tls_records_of(const struct config *cfg)
{
	const struct tls_global *g = tls_global_of(cfg);

	return (struct tls_records){ .first = record_size(g->first_record),
				     .max = record_size(g->max_record),
				     .idle_ms = (uint16_t)g->idle_ms };
}

void tls_servers_trust_all(struct config *cfg)
{
	tls_global_of(cfg)->server_verify_none = true;
}
