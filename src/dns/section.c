/* SPDX-License-Identifier: GPL-2.0-or-later */
/* section.c - the sections of a generation: finding them, giving them their states */
#include <string.h>
#include "conf/conf.h"
#include "dns_priv.h"

static void config_fini(void *data)
{
	struct resolvers_config *rc = data;

	for (struct resolvers *r = rc->first; r; r = r->next) {
		for (struct nameserver_conf *ns = r->servers; ns; ns = ns->next)
			figures_drop(&ns->figures);
		state_drop(&r->state);
	}
}

static bool config_init(void *data)
{
	struct resolvers_config *rc = data;

	rc->end = &rc->first;
	return true;
}

struct slot resolvers_config_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct resolvers_config), .init = config_init,
	.fini = config_fini,
};

struct resolvers_config *resolvers_config_of(const struct config *cfg)
{
	return slot_of(&resolvers_config_slot, config_slots(cfg));
}

void resolvers_only_ipv4(struct config *cfg)
{
	resolvers_config_of(cfg)->only_ipv4 = true;
}

struct resolvers *resolvers_find(const struct config *cfg, const char *name)
{
	struct resolvers *r = resolvers_config_of(cfg)->first;

	while (r && strcmp(r->name, name) != 0)
		r = r->next;
	return r;
}

bool resolvers_any(const struct config *cfg)
{
	return resolvers_config_of(cfg)->first != NULL;
}

bool resolvers_begin(struct config *cfg, const struct config *prev)
{
	bool good = true;

	for (struct resolvers *r = resolvers_config_of(cfg)->first; r; r = r->next) {
		struct resolvers *old = prev ? resolvers_find(prev, r->name) : NULL;

		if (r->state)
			continue;
		r->state = old && old->state ? state_take(old->state) : state_new(r->name);
		good = good && r->state && state_configure(r->state, r);
		if (r->state)
			r->state->is_live = true;
	}
	return good;
}

/* One that the live generation shares has another reference, and goes on. */
void resolvers_end(const struct config *cfg)
{
	for (struct resolvers *r = resolvers_config_of(cfg)->first; r; r = r->next)
		if (r->state && __atomic_load_n(&r->state->refs, __ATOMIC_RELAXED) == 1)
			r->state->is_live = false;
}
