/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h2_tune.c - storage of the values of tune.h2.*, and their defaults */
#include "base/block.h"
#include "codec/h2_frame.h"
#include "codec/hpack.h"
#include "conf/conf.h"
#include "h2_tune_priv.h"

/* Not given: another keyword's value, or the default, takes its place. */
#define UNSET -1
#define STREAMS_DEFAULT 100

static bool h2_tunes_init(void *data)
{
	struct h2_tunes *t = data;

	t->window = t->streams = t->frame_size = UNSET;
	t->fe.window = t->be.window = t->fe.streams = t->be.streams = UNSET;
	t->table_size = HPACK_TABLE_SIZE;
	return true;
}

struct slot h2_tune_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct h2_tunes), .init = h2_tunes_init,
};

static int given(int value, int otherwise)
{
	return value == UNSET ? otherwise : value;
}

void h2_tunes_fill(struct config *cfg)
{
	struct h2_tunes *t = slot_of(&h2_tune_slot, config_slots(cfg));
	int size = (int)block_size();
	uint64_t room;

	t->window = given(t->window, size);
	t->streams = given(t->streams, STREAMS_DEFAULT);
	t->fe.window = given(t->fe.window, t->window);
	t->be.window = given(t->be.window, t->window);
	t->fe.streams = given(t->fe.streams, t->streams);
	t->be.streams = given(t->be.streams, t->streams);
	room = (uint64_t)(t->fe.streams ? t->fe.streams : STREAMS_DEFAULT) * (uint64_t)size;
	if (t->fe.rxbuf < room)
		t->fe.rxbuf = room;
	room = (uint64_t)(t->be.streams ? t->be.streams : STREAMS_DEFAULT) * (uint64_t)size;
	if (t->be.rxbuf < room)
		t->be.rxbuf = room;
	t->frame_size = given(t->frame_size, size);
	if (t->frame_size > size)
		t->frame_size = size;
	if (t->frame_size < (int)H2_FRAME_SIZE_MIN)
		t->frame_size = (int)H2_FRAME_SIZE_MIN;
}

const struct h2_tunes *h2_tunes_of(const struct config *cfg)
{
	return slot_of(&h2_tune_slot, config_slots(cfg));
}
