/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tune.c - QUIC: storage of settings, and their defaults */
#include "base/slot.h"
#include "conf/conf.h"
#include "module_priv.h"

static bool tunes_init(void *data)
{
	struct quic_both_tunes *both = data;

	both->fe = (struct quic_tunes){
		.idle_ms = 30000, .streams = 100, .data_ratio = 90, .window_max = 480 * 1024,
		.retry_threshold = 100, .cubic_losses = 1, .frame_losses = 10,
		.reorder_ratio = 50,
	};
	both->be = both->fe;
	return true;
}

struct slot quic_tune_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct quic_both_tunes), .init = tunes_init,
};
static bool line_inherit(void *data, const void *from)
{
	*(struct quic_line *)data = *(const struct quic_line *)from;
	return true;
}

struct slot quic_line_slot = { .of = SLOT_BIND, .size = sizeof(struct quic_line) };

const struct quic_tunes *quic_tunes_of(const struct config *cfg)
{
	return &((struct quic_both_tunes *)slot_of(&quic_tune_slot, config_slots(cfg)))->fe;
}

const struct quic_tunes *quic_back_tunes_of(const struct config *cfg)
{
	return &((struct quic_both_tunes *)slot_of(&quic_tune_slot, config_slots(cfg)))->be;
}

const struct quic_line *quic_line_of(const struct slot_area *bind)
{
	return slot_of(&quic_line_slot, bind);
}

struct slot quic_server_slot = {
	.of = SLOT_SERVER, .size = sizeof(struct quic_line), .inherit = line_inherit,
};

const struct quic_line *quic_server_line_of(const struct slot_area *server)
{
	return slot_of(&quic_server_slot, server);
}
