/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of numbers against a bitmap, bytes received in any order, bytes sent through losses. */
#include <stdlib.h>
#include "../tap.h"
#include "buffers_priv.h"
#include "ranges_priv.h"

#define SIZE 400

static bool is_same(const struct quic_ranges *r, const bool *map)
{
	uint32_t runs = 0;

	for (unsigned i = 0; i < SIZE; i++) {
		if (quic_ranges_has(r, i) != map[i])
			return false;
		runs += map[i] && (!i || !map[i - 1]);
	}
	return r->count == runs;
}

static void test_ranges(void)
{
	struct quic_ranges r = { 0 };
	bool map[SIZE] = { false };
	unsigned wrong = 0;

	srandom(1);
	for (unsigned n = 0; n < 20000; n++) {
		unsigned from = (unsigned)random() % SIZE, to = from + (unsigned)random() % 30;
		bool add = random() % 2;

		to = to < SIZE ? to : SIZE;
		for (unsigned i = from; i < to; i++)
			map[i] = add;
		if (!(add ? quic_ranges_add : quic_ranges_remove)(&r, from, to))
			wrong++;
		wrong += !is_same(&r, map);
	}
	is_int(wrong, 0, "20000 changes of a set");
	quic_ranges_free(&r);
}

static uint8_t byte_at(uint64_t i)
{
	return (uint8_t)(i * 7 + i / 251);
}

static void test_received(void)
{
	static uint8_t bytes[20000];
	unsigned wrong = 0;

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = byte_at(i);
	for (unsigned round = 0; round < 50; round++) {
		struct quic_recvbuf b;
		uint64_t taken = 0;
		char got[512];

		quic_recvbuf_init(&b);
		for (unsigned n = 0; n < 100000 && taken < sizeof(bytes); n++) {
			unsigned from = (unsigned)random() % sizeof(bytes);
			unsigned len = (unsigned)random() % 700;

			if (n % 4 == 0) /* so that it ends */
				from = (unsigned)b.at;
			len = from + len < sizeof(bytes) ? len : (unsigned)sizeof(bytes) - from;
			wrong += !quic_recvbuf_add(&b, from, bytes + from, len);
			while (b.ready.len) {
				size_t k = block_queue_peek(&b.ready, 0, got, sizeof(got));

				wrong += memcmp(got, bytes + taken, k) != 0;
				block_queue_skip(&b.ready, k);
				taken += k;
			}
		}
		wrong += taken != sizeof(bytes) || b.at != taken || b.early_count || b.early_len;
		quic_recvbuf_free(&b);
	}
	is_int(wrong, 0, "bytes in any order, twice and in parts, come out in order");
}

struct flight {
	uint64_t from;
	size_t len;
	bool fin;
};

/* What one packet's worth of a buffer becomes: acknowledged, lost, or left for later. */
static void land(struct quic_sendbuf *b, struct flight f, uint8_t *seen, unsigned *wrong)
{
	if (random() % 3 == 0) {
		*wrong += !quic_sendbuf_lost(b, f.from, f.len, f.fin);
		return;
	}
	*wrong += !quic_sendbuf_acked(b, f.from, f.len, f.fin);
	memset(seen + f.from, 1, f.len);
}

static void test_sent(void)
{
	static uint8_t seen[30000];
	unsigned wrong = 0;

	for (unsigned round = 0; round < 50; round++) {
		struct quic_sendbuf b = { 0 };
		struct flight flying[16], f;
		unsigned count = 0;
		uint64_t put = 0, limit = 2000;
		char got[300];

		memset(seen, 0, sizeof(seen));
		for (unsigned n = 0; n < 200000 && !(b.fin_acked && !b.data.len); n++) {
			if (put < sizeof(seen) && b.data.len < 5000) {
				char chunk[100];

				for (unsigned i = 0; i < sizeof(chunk); i++)
					chunk[i] = (char)byte_at(put + i);
				wrong += !block_queue_add_copy(&b.data,
							       slice_make(chunk, sizeof(chunk)));
				put += sizeof(chunk);
				b.fin = put == sizeof(seen);
			}
			limit += 20;
			if (count < 16 && quic_sendbuf_next(&b, limit, sizeof(got), &f.from,
							    &f.len, &f.fin)) {
				wrong += !quic_sendbuf_is_due(&b, limit);
				wrong += f.from < b.base || f.from + f.len > limit;
				block_queue_peek(&b.data, f.from - b.base, got, f.len);
				for (unsigned i = 0; i < f.len; i++)
					wrong += (uint8_t)got[i] != byte_at(f.from + i);
				wrong += !quic_sendbuf_sent(&b, f.from, f.len, f.fin);
				flying[count++] = f;
			} else if (count) {
				unsigned i = (unsigned)random() % count;

				f = flying[i];
				flying[i] = flying[--count];
				land(&b, f, seen, &wrong);
			}
		}
		wrong += !b.fin_acked || b.base != sizeof(seen) ||
			 memchr(seen, 0, sizeof(seen)) != NULL;
		quic_sendbuf_free(&b);
	}
	is_int(wrong, 0, "bytes arrive whole, however often they are lost");
}

int main(void)
{
	test_ranges();
	test_received();
	test_sent();
	return done_testing();
}
