/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes the peers protocol: what is read and made again must be the same bytes, but for what
 * stands behind what is known. The first byte tells what follows: a hello, an answer, messages.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/strbuf.h"
#include "codec/peers.h"

/* What is made again is whole. */
static void check_made(const struct strbuf *made, struct peers_msg *m)
{
	if (peers_msg_read(strbuf_slice(made), SIZE_MAX, m) != PEERS_DONE ||
	    m->length != made->len)
		abort();
}

static void check_define(struct slice body, struct peers_table *t)
{
	struct peers_table again;
	struct peers_msg m;
	struct strbuf made;

	if (!peers_define_read(body, t)) {
		t->id = 0;
		return;
	}
	strbuf_init(&made);
	if (!peers_define_put(&made, t))
		abort();
	check_made(&made, &m);
	if (!peers_define_read(m.body, &again) || !slice_eq(again.name, t->name))
		abort();
	again.name = t->name;
	if (again.id != t->id || again.type != t->type || again.key_len != t->key_len ||
	    again.data != t->data || again.expire_ms != t->expire_ms ||
	    memcmp(again.cells, t->cells, sizeof(t->cells)) != 0 ||
	    memcmp(again.period_ms, t->period_ms, sizeof(t->period_ms)) != 0)
		abort();
	strbuf_fini(&made);
}

/* Values that are read and made again are a start of the body, but for odd texts. */
static void check_update(const struct peers_table *t, uint8_t type, struct slice body)
{
	struct peers_update u;
	struct peers_value v;
	struct peers_maker maker;
	struct peers_msg m;
	struct strbuf made;
	enum peers_status r;
	bool words = t->data >> 19 & 1;

	if (!peers_update_read(t, type, body, &u))
		return;
	strbuf_init(&made);
	peers_update_open(&maker, &made, t, &u);
	while ((r = peers_value_read(t, &u, &v)) == PEERS_DONE)
		peers_value_put(&maker, &v);
	if (!peers_update_close(&maker))
		abort();
	check_made(&made, &m);
	if (r == PEERS_MORE && !words && !slice_starts(body, m.body))
		abort();
	strbuf_fini(&made);
}

static void check_messages(struct slice in)
{
	struct peers_table t = { 0 };
	struct peers_msg m;
	uint32_t id, number;

	while (peers_msg_read(in, 65536, &m) == PEERS_DONE) {
		if (m.length > in.len || m.length < 2)
			abort();
		if (m.class == PEERS_TABLE && m.type == PEERS_DEFINE)
			check_define(m.body, &t);
		else if (m.class == PEERS_TABLE && m.type == PEERS_SWITCH)
			peers_switch_read(m.body, &id);
		else if (m.class == PEERS_TABLE && m.type == PEERS_ACK)
			peers_ack_read(m.body, &id, &number);
		else if (m.class == PEERS_TABLE && m.type >= PEERS_HAS_BODY && t.id)
			check_update(&t, m.type, m.body);
		in = slice_sub(in, m.length, in.len);
	}
}

static void check_hello(struct slice in)
{
	struct peers_hello h, again;
	enum peers_answer why;
	struct strbuf made;

	if (peers_hello_read(in, &h, &why) != PEERS_DONE)
		return;
	if (h.length > in.len)
		abort();
	if (memchr(h.to.ptr, 0, h.to.len) || memchr(h.from.ptr, 0, h.from.len))
		return;
	strbuf_init(&made);
	if (!peers_hello_put(&made, &h) ||
	    peers_hello_read(strbuf_slice(&made), &again, &why) != PEERS_DONE ||
	    !slice_eq(h.to, again.to) || !slice_eq(h.from, again.from) || h.pid != again.pid)
		abort();
	strbuf_fini(&made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in;
	enum peers_answer answer;
	size_t length;

	if (!size)
		return 0;
	in = slice_make((const char *)data + 1, size - 1);
	if (data[0] == 0)
		check_hello(in);
	else if (data[0] == 1)
		peers_answer_read(in, &answer, &length);
	else
		check_messages(in);
	return 0;
}
