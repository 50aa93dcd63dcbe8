/* SPDX-License-Identifier: GPL-2.0-or-later */
/* track_settings.c - `global` settings of sticky counters, and their defaults */
#include "conf/conf.h"
#include "track_priv.h"

void status_set_range(struct status_set *set, unsigned low, unsigned high, bool on)
{
	for (unsigned i = low - STATUS_FIRST; i <= high - STATUS_FIRST; i++) {
		uint64_t bit = (uint64_t)1 << i % 64;

		set->bits[i / 64] = on ? set->bits[i / 64] | bit : set->bits[i / 64] & ~bit;
	}
}

static bool config_init(void *data)
{
	struct track_config *tc = data;

	tc->count = TRACKERS_DEFAULT;
	status_set_range(&tc->errors, 400, 499, true);
	status_set_range(&tc->failures, 500, 599, true);
	status_set_range(&tc->failures, 501, 501, false);
	status_set_range(&tc->failures, 505, 505, false);
	return true;
}

struct slot track_config_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct track_config), .init = config_init,
};

struct track_config *track_config_of(const struct config *cfg)
{
	return slot_of(&track_config_slot, config_slots(cfg));
}

unsigned track_count(const struct config *cfg)
{
	return track_config_of(cfg)->count;
}
