/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tune.c - QUIC: where settings are kept, and their defaults */
#include "base/slot.h"
#include "conf/conf.h"
#include "quic_priv.h"

static bool tunes_init(void *data)
{
	*(struct quic_tunes *)data = (struct quic_tunes){
		.idle_ms = 30000, .streams = 100, .data_ratio = 90, .window_max = 480 * 1024,
		.retry_threshold = 100, .cubic_losses = 1,
	};
	return true;
}

struct slot quic_tune_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct quic_tunes), .init = tunes_init,
};
struct slot quic_line_slot = { .of = SLOT_BIND, .size = sizeof(struct quic_line) };

const struct quic_tunes *quic_tunes_of(const struct config *cfg)
{
	return slot_of(&quic_tune_slot, config_slots(cfg));
}

const struct quic_line *quic_line_of(const struct slot_area *bind)
{
	return slot_of(&quic_line_slot, bind);
}
