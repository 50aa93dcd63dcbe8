/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes snapshots of stick tables: the first byte chooses a table, the rest is a file, whose
 * length, checksum and shape are made right, so that what follows is looked at.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/hash.h"
#include "../../src/table/snapshot_priv.h"
#include "core/activity.h"

static void put64(char *at, uint64_t v)
{
	for (unsigned i = 0; i < 8; i++)
		at[i] = (char)(v >> (8 * i));
}

static struct table_state *table_new(unsigned kind)
{
	static const uint32_t lengths[TABLE_TYPES] = { 4, 16, 4, 12, 12 };
	struct table_limits l = { .size = 50, .expire_ms = kind & 8 ? 60000 : 0 };
	struct table_shape s = { .type = (uint8_t)(kind % TABLE_TYPES) };

	s.key_len = lengths[s.type];
	s.count[TABLE_GPC0] = 1;
	if (kind & 16) {
		s.count[TABLE_HTTP_REQ_RATE] = s.count[TABLE_SERVER_KEY] = 1;
		s.count[TABLE_BYTES_IN_CNT] = s.count[TABLE_RATE_LIMIT] = 1;
		s.period_ms[TABLE_HTTP_REQ_RATE] = 10000;
	}
	table_shape_lay_out(&s);
	return table_state_new("t", &s, &l);
}

/* head, shape, <size> bytes of entries, tail. */
static char *file_new(const struct table_shape *s, const uint8_t *data, size_t size, uint8_t count,
		      size_t *len)
{
	struct strbuf shape;
	char *bytes, *tail;
	uint64_t sum = 0;

	strbuf_init(&shape);
	snapshot_shape(s, &shape);
	*len = SNAPSHOT_HEAD + shape.len + size + SNAPSHOT_TAIL;
	bytes = calloc(1, *len);
	if (!bytes)
		abort();
	memcpy(bytes, SNAPSHOT_MAGIC, 8);
	bytes[8] = SNAPSHOT_VERSION;
	bytes[12] = (char)shape.len;
	put64(bytes + 16, 1000000);
	memcpy(bytes + SNAPSHOT_HEAD, shape.ptr, shape.len);
	memcpy(bytes + SNAPSHOT_HEAD + shape.len, data, size);
	strbuf_fini(&shape);
	tail = bytes + *len - SNAPSHOT_TAIL;
	put64(tail, count);
	put64(tail + 8, *len);
	for (size_t at = 0; at < *len - 8; at += SNAPSHOT_BLOCK) {
		size_t left = *len - 8 - at;

		sum = hash_xxh3(bytes + at, left < SNAPSHOT_BLOCK ? left : SNAPSHOT_BLOCK, sum);
	}
	put64(tail + 16, sum);
	return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct activity mine;
	struct snapshot_loaded got;
	struct table_state *st;
	char *bytes;
	size_t len;

	activity_self = &mine;
	if (size < 2)
		return 0;
	clock_thread_now_ns = 1000000 * NS_PER_SEC;
	st = table_new(data[0]);
	if (!st)
		abort();
	bytes = file_new(table_state_shape(st), data + 2, size - 2, data[1], &len);
	if (snapshot_load(st, bytes, len, data[0] & 32 ? 31000000 : 1000000, &got) ?
	    table_state_used(st) + got.expired + got.no_room > got.entries || *got.error :
	    table_state_used(st) || !*got.error)
		abort();
	free(bytes);
	/* as it came: no checksum is right by chance */
	if (snapshot_load(st, (const char *)data, size, 1000000, &got))
		abort();
	table_state_drop(&st);
	return 0;
}
