/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zlib_none.c - compression without zlib: there is none */
#include "codec/deflate.h"

bool deflate_is_built_in(void)
{
	return false;
}

const char *deflate_library(void)
{
	return "";
}

const char *deflate_version(void)
{
	return "";
}

size_t deflate_memory(void)
{
	return 0;
}

void deflate_set_memory_max(size_t bytes)
{
}

struct deflater *deflater_new(enum deflate_format format, int level,
			      const struct deflate_params *params)
{
	return NULL;
}

void deflater_free(struct deflater *d)
{
}

bool deflater_set_level(struct deflater *d, int level, struct block_queue *out)
{
	return false;
}

bool deflater_put(struct deflater *d, struct slice in, enum deflate_flush flush,
		  struct block_queue *out)
{
	return false;
}

void deflate_trim_thread(void)
{
}
