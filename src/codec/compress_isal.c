/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compress_isal.c - deflate at level 1 by ISA-L: five times as fast as zlib, not larger */
#include <isa-l.h>
#include <stdlib.h>
#include "compress_priv.h"

/* A state takes less than one of zlib with it, and compresses as with more. */
#define LEVEL_ROOM ISAL_DEF_LVL1_MEDIUM

struct isal_state {
	struct isal_zstream z;
	uint16_t head; /* what of <z> says which, until it is written */
	uint8_t room[LEVEL_ROOM];
};

static const char *isal_version(void)
{
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
	return TEXT(ISAL_MAJOR_VERSION) "." TEXT(ISAL_MINOR_VERSION) "." TEXT(ISAL_PATCH_VERSION);
}

static size_t isal_size(const void *state)
{
	return sizeof(struct isal_state);
}

static size_t isal_estimate(enum compress_format format, const struct compress_params *p)
{
	return sizeof(struct isal_state);
}

static void *isal_make(enum compress_format format, int level, const struct compress_params *p)
{
	static const uint16_t heads[] = {
		[COMPRESS_RAW] = IGZIP_DEFLATE, [COMPRESS_ZLIB] = IGZIP_ZLIB,
		[COMPRESS_GZIP] = IGZIP_GZIP,
	};
	struct isal_state *s = malloc(sizeof(*s));

	if (!s)
		return NULL;
	isal_deflate_init(&s->z);
	s->z.level = 1;
	s->z.level_buf = s->room;
	s->z.level_buf_size = sizeof(s->room);
	s->z.gzip_flag = s->head = heads[format];
	s->z.hist_bits = (uint16_t)p->window_bits;
	return s;
}

/* Keeps the format, the window and the room. */
static bool isal_reset(void *state, int level)
{
	struct isal_state *s = state;

	isal_deflate_reset(&s->z);
	s->z.gzip_flag = s->head;
	return true;
}

static enum compress_step isal_put(void *state, struct slice *in, enum compress_flush flush,
				   struct compress_room *room)
{
	struct isal_zstream *z = &((struct isal_state *)state)->z;
	int r;

	z->next_in = (uint8_t *)(uintptr_t)in->ptr;
	z->avail_in = (uint32_t)in->len;
	z->next_out = (uint8_t *)room->ptr;
	z->avail_out = (uint32_t)room->len;
	z->flush = flush == COMPRESS_MORE ? NO_FLUSH : SYNC_FLUSH;
	z->end_of_stream = flush == COMPRESS_END;
	r = isal_deflate(z);
	room->ptr = (char *)z->next_out;
	room->len = z->avail_out;
	*in = slice_sub(*in, in->len - z->avail_in, in->len);
	if (r != COMP_OK)
		return COMPRESS_WRONG;
	if (z->internal_state.state == ZSTATE_END)
		return COMPRESS_DONE;
	if (!room->len)
		return COMPRESS_FULL;
	return in->len || flush == COMPRESS_END ? COMPRESS_WRONG : COMPRESS_DONE;
}

const struct compress_engine compress_isal = {
	.library = "ISA-L", .version = isal_version, .make = isal_make, .free = free,
	.reset = isal_reset, .size = isal_size, .estimate = isal_estimate, .put = isal_put,
};
