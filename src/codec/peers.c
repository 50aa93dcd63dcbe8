/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peers.c - messages of the peers protocol, read and made */
#include <string.h>
#include "base/num.h"
#include "base/strbuf.h"
#include "codec/peers.h"
#include "codec/varint.h"

#define BIT(n) (UINT64_C(1) << (n))
/* Data that are rates, arrays, texts: configuration 11.1. */
#define RATES (BIT(3) | BIT(5) | BIT(8) | BIT(10) | BIT(12) | BIT(14) | BIT(16) | BIT(18) | \
	       BIT(21) | BIT(24) | BIT(26))
#define ARRAYS (BIT(22) | BIT(23) | BIT(24))
#define WORDS BIT(19)

static const char protocol[] = "HAProxyS ";

/* How a datum is written. */
enum peers_kind { PEERS_NUMBER, PEERS_RATE, PEERS_WORD };

static enum peers_kind data_kind(unsigned data)
{
	return RATES >> data & 1 ? PEERS_RATE : WORDS >> data & 1 ? PEERS_WORD : PEERS_NUMBER;
}

static bool data_is_array(unsigned data)
{
	return ARRAYS >> data & 1;
}

/* --- integers --------------------------------------------------------------------------------- */

enum peers_status peers_int(struct slice *in, uint64_t *out)
{
	switch (varint_take(in, out)) {
	case VARINT_TAKEN:
		return PEERS_DONE;
	case VARINT_CUT:
		return PEERS_MORE;
	default:
		return PEERS_ERROR;
	}
}

bool peers_put_int(struct strbuf *to, uint64_t v)
{
	unsigned char bytes[VARINT_MAX];

	return strbuf_add(to, slice_make((const char *)bytes, varint_put(v, bytes)));
}

/* An integer within a body that is there as a whole. */
static bool take(struct slice *in, uint64_t max, uint64_t *out)
{
	return peers_int(in, out) == PEERS_DONE && *out <= max;
}

static bool take_u32(struct slice *in, uint32_t *out)
{
	uint64_t v;

	if (!take(in, UINT32_MAX, &v))
		return false;
	*out = (uint32_t)v;
	return true;
}

static bool take_bytes(struct slice *in, uint64_t len, struct slice *out)
{
	if (len > in->len)
		return false;
	*out = slice_make(in->ptr, (size_t)len);
	if (len)
		in->ptr += len;
	in->len -= (size_t)len;
	return true;
}

/* 4 bytes in network order. */
static bool take_four(struct slice *in, uint32_t *out)
{
	const uint8_t *p = (const uint8_t *)in->ptr;

	if (in->len < 4)
		return false;
	*out = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
	in->ptr += 4;
	in->len -= 4;
	return true;
}

static bool put_four(struct strbuf *to, uint32_t v)
{
	const char bytes[4] = { (char)(v >> 24), (char)(v >> 16), (char)(v >> 8), (char)v };

	return strbuf_add(to, slice_make(bytes, 4));
}

/* --- the hello -------------------------------------------------------------------------------- */

/* The line at the start of *in, without its end. */
static bool take_line(struct slice *in, struct slice *line)
{
	size_t end = slice_find_char(*in, 0, '\n');

	if (end >= in->len)
		return false;
	*line = slice_sub(*in, 0, end);
	*in = slice_sub(*in, end + 1, in->len);
	return true;
}

/* The word at the start of *in, and the blank behind it. */
static struct slice take_word(struct slice *in)
{
	size_t end = slice_find_char(*in, 0, ' ');
	struct slice word;

	if (end > in->len)
		end = in->len;
	word = slice_sub(*in, 0, end);
	*in = slice_sub(*in, end < in->len ? end + 1 : end, in->len);
	return word;
}

static bool read_version(struct slice line, unsigned *minor)
{
	uint64_t v;

	if (!slice_starts(line, slice_of("2.")) ||
	    !num_parse_u64(slice_sub(line, 2, line.len), &v) || v > 255)
		return false;
	*minor = (unsigned)v;
	return true;
}

enum peers_status peers_hello_read(struct slice in, struct peers_hello *out,
				   enum peers_answer *why)
{
	struct slice rest = in.len > PEERS_HELLO_MAX ? slice_sub(in, 0, PEERS_HELLO_MAX) : in;
	struct slice magic = slice_make(protocol, sizeof(protocol) - 1), first, last;
	size_t room = rest.len, known = room < magic.len ? room : magic.len;
	bool whole;

	*why = PEERS_ANSWER_PROTOCOL;
	if (!slice_eq(slice_sub(rest, 0, known), slice_sub(magic, 0, known)))
		return PEERS_ERROR;
	whole = take_line(&rest, &first) && take_line(&rest, &out->to) && take_line(&rest, &last);
	if (!whole)
		return room < PEERS_HELLO_MAX ? PEERS_MORE : PEERS_ERROR;
	if (!read_version(slice_sub(first, magic.len, first.len), &out->minor)) {
		*why = PEERS_ANSWER_VERSION;
		return PEERS_ERROR;
	}
	out->from = take_word(&last);
	if (!num_parse_u64(take_word(&last), &out->pid) ||
	    !num_parse_u64(take_word(&last), &out->relative))
		return PEERS_ERROR;
	out->length = room - rest.len;
	return PEERS_DONE;
}

bool peers_hello_put(struct strbuf *to, const struct peers_hello *h)
{
	return strbuf_printf(to, "%s2.%u\n%.*s\n%.*s %llu %llu\n", protocol, h->minor,
			     (int)h->to.len, h->to.ptr, (int)h->from.len, h->from.ptr,
			     (unsigned long long)h->pid, (unsigned long long)h->relative);
}

enum peers_status peers_answer_read(struct slice in, enum peers_answer *out, size_t *length)
{
	static const uint16_t codes[] = {
#define X(name, code) code,
		PEERS_ANSWERS(X)
#undef X
	};
	struct slice line;
	uint64_t v;

	if (!take_line(&in, &line))
		return in.len > 3 ? PEERS_ERROR : PEERS_MORE;
	if (line.len != 3 || !num_parse_u64(line, &v))
		return PEERS_ERROR;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i] == v) {
			*out = (enum peers_answer)v;
			*length = line.len + 1;
			return PEERS_DONE;
		}
	return PEERS_ERROR;
}

bool peers_answer_put(struct strbuf *to, enum peers_answer a)
{
	return strbuf_printf(to, "%u\n", (unsigned)a);
}

/* --- messages --------------------------------------------------------------------------------- */

enum peers_status peers_msg_read(struct slice in, size_t max, struct peers_msg *out)
{
	struct slice rest;
	uint64_t len = 0;
	enum peers_status r;

	if (in.len < 2)
		return PEERS_MORE;
	out->class = (uint8_t)in.ptr[0];
	out->type = (uint8_t)in.ptr[1];
	out->body = slice_none();
	out->length = 2;
	if (out->type < PEERS_HAS_BODY)
		return PEERS_DONE;
	rest = slice_make(in.ptr + 2, in.len - 2);
	r = peers_int(&rest, &len);
	if (r != PEERS_DONE)
		return r;
	if (len > max)
		return PEERS_ERROR;
	if (!take_bytes(&rest, len, &out->body))
		return PEERS_MORE;
	out->length = in.len - rest.len;
	return PEERS_DONE;
}

bool peers_msg_put(struct strbuf *to, uint8_t class, uint8_t type)
{
	const char bytes[2] = { (char)class, (char)type };

	return strbuf_add(to, slice_make(bytes, 2));
}

static void open_body(struct peers_maker *m, struct strbuf *to, uint8_t type)
{
	m->to = to;
	m->start = to->len;
	m->failed = !peers_msg_put(to, PEERS_TABLE, type);
}

/* Makes room for the length before the body, once that is known. */
static bool close_body(struct peers_maker *m)
{
	size_t body = m->start + 2, len;
	char room[PEERS_INT_MAX + 1];
	struct strbuf head;

	if (!m->failed) {
		len = m->to->len - body;
		strbuf_init_fixed(&head, room, sizeof(room));
		m->failed = !peers_put_int(&head, len) || !strbuf_reserve(m->to, head.len);
		if (!m->failed) {
			memmove(m->to->ptr + body + head.len, m->to->ptr + body, len);
			memcpy(m->to->ptr + body, room, head.len);
			m->to->len += head.len;
			m->to->ptr[m->to->len] = '\0';
			return true;
		}
	}
	m->to->len = m->start;
	if (m->to->size)
		m->to->ptr[m->start] = '\0';
	return false;
}

/* --- tables ----------------------------------------------------------------------------------- */

/* What stands behind the data of a definition: of rates and arrays. */
static bool read_parameters(struct slice body, struct peers_table *t)
{
	uint64_t data, v;

	while (body.len) {
		if (!take(&body, UINT64_MAX, &data))
			return false;
		if (data >= PEERS_DATA_COUNT) /* of a later version, as all that follow */
			return true;
		if (!(t->data >> data & 1) || (!data_is_array((unsigned)data) &&
					       data_kind((unsigned)data) != PEERS_RATE))
			return false;
		if (data_is_array((unsigned)data)) {
			if (!take(&body, PEERS_CELLS_MAX, &v) || !v)
				return false;
			t->cells[data] = (uint8_t)v;
		}
		if (data_kind((unsigned)data) == PEERS_RATE &&
		    !take_u32(&body, &t->period_ms[data]))
			return false;
	}
	return true;
}

bool peers_define_read(struct slice body, struct peers_table *out)
{
	uint64_t v;

	memset(out, 0, sizeof(*out));
	if (!take_u32(&body, &out->id) || !take(&body, SIZE_MAX, &v) ||
	    !take_bytes(&body, v, &out->name) || !take(&body, UINT8_MAX, &v))
		return false;
	out->type = (uint8_t)v;
	if (!take_u32(&body, &out->key_len) || !take(&body, UINT64_MAX, &out->data) ||
	    (body.len && !take_u32(&body, &out->expire_ms)))
		return false;
	for (unsigned d = 0; d < PEERS_DATA_COUNT; d++)
		out->cells[d] = out->data >> d & 1 && !data_is_array(d);
	if (!read_parameters(body, out))
		return false;
	for (unsigned d = 0; d < PEERS_DATA_COUNT; d++)
		if (out->data >> d & 1 && !out->cells[d]) /* an array of no length */
			return false;
	return true;
}

bool peers_define_put(struct strbuf *to, const struct peers_table *t)
{
	struct peers_maker m;
	bool good;

	open_body(&m, to, PEERS_DEFINE);
	good = !m.failed && peers_put_int(to, t->id) && peers_put_int(to, t->name.len) &&
	       strbuf_add(to, t->name) && peers_put_int(to, t->type) &&
	       peers_put_int(to, t->key_len) && peers_put_int(to, t->data) &&
	       peers_put_int(to, t->expire_ms);
	for (unsigned d = 0; good && d < PEERS_DATA_COUNT; d++) {
		bool rate = data_kind(d) == PEERS_RATE, array = data_is_array(d);

		if (t->data >> d & 1 && (rate || array))
			good = peers_put_int(to, d) && (!array || peers_put_int(to, t->cells[d])) &&
			       (!rate || peers_put_int(to, t->period_ms[d]));
	}
	m.failed = !good;
	return close_body(&m);
}

bool peers_switch_read(struct slice body, uint32_t *id)
{
	return take_u32(&body, id);
}

bool peers_switch_put(struct strbuf *to, uint32_t id)
{
	struct peers_maker m;

	open_body(&m, to, PEERS_SWITCH);
	m.failed = m.failed || !peers_put_int(to, id);
	return close_body(&m);
}

bool peers_ack_read(struct slice body, uint32_t *id, uint32_t *number)
{
	return take_u32(&body, id) && take_four(&body, number);
}

bool peers_ack_put(struct strbuf *to, uint32_t id, uint32_t number)
{
	struct peers_maker m;

	open_body(&m, to, PEERS_ACK);
	m.failed = m.failed || !peers_put_int(to, id) || !put_four(to, number);
	return close_body(&m);
}

/* --- updates ---------------------------------------------------------------------------------- */

static bool has_number(uint8_t type)
{
	return type == PEERS_UPDATE || type == PEERS_UPDATE_TIMED;
}

static bool is_timed(uint8_t type)
{
	return type == PEERS_UPDATE_TIMED || type == PEERS_NEXT_TIMED;
}

bool peers_update_read(const struct peers_table *t, uint8_t type, struct slice body,
		       struct peers_update *out)
{
	uint64_t len = t->type == PEERS_KEY_INTEGER ? 4 : t->key_len;

	memset(out, 0, sizeof(*out));
	out->type = type;
	if ((has_number(type) && !take_four(&body, &out->number)) ||
	    (is_timed(type) && !take_four(&body, &out->left_ms)) ||
	    (t->type == PEERS_KEY_STRING && !take(&body, SIZE_MAX, &len)) ||
	    !take_bytes(&body, len, &out->key))
		return false;
	out->values = body;
	return true;
}

static bool read_word(struct slice *in, struct peers_value *v)
{
	struct slice all;
	uint64_t len;

	v->word = 0;
	v->text = slice_none();
	if (!take(in, SIZE_MAX, &len) || !take_bytes(in, len, &all))
		return false;
	if (!all.len)
		return true;
	return take_u32(&all, &v->word) && v->word &&
	       (!all.len || (take(&all, SIZE_MAX, &len) && take_bytes(&all, len, &v->text)));
}

/* Goes to the next value of the update, of those that the table has. False: there is none. */
static bool next_value(const struct peers_table *t, struct peers_update *u)
{
	while (u->data < PEERS_DATA_COUNT && u->cell == t->cells[u->data]) {
		uint64_t above = t->data >> u->data >> 1;

		u->data = above ? u->data + 1 + (unsigned)__builtin_ctzll(above) : PEERS_DATA_COUNT;
		u->cell = 0;
	}
	return u->data < PEERS_DATA_COUNT;
}

enum peers_status peers_value_read(const struct peers_table *t, struct peers_update *u,
				   struct peers_value *out)
{
	bool good;

	if (!next_value(t, u))
		return PEERS_MORE;
	memset(out, 0, sizeof(*out));
	out->data = (uint8_t)u->data;
	out->cell = (uint8_t)u->cell++;
	switch (data_kind(u->data)) {
	case PEERS_RATE:
		good = take_u32(&u->values, &out->age_ms) && take_u32(&u->values, &out->current) &&
		       take_u32(&u->values, &out->previous);
		break;
	case PEERS_WORD:
		good = read_word(&u->values, out);
		break;
	default:
		good = take(&u->values, UINT64_MAX, &out->number);
	}
	return good ? PEERS_DONE : PEERS_ERROR;
}

void peers_update_open(struct peers_maker *m, struct strbuf *to, const struct peers_table *t,
		       const struct peers_update *u)
{
	open_body(m, to, u->type);
	m->failed = m->failed || (has_number(u->type) && !put_four(to, u->number)) ||
		    (is_timed(u->type) && !put_four(to, u->left_ms)) ||
		    (t->type == PEERS_KEY_STRING && !peers_put_int(to, u->key.len)) ||
		    !strbuf_add(to, u->key);
}

static bool put_word(struct strbuf *to, const struct peers_value *v)
{
	char room[2 * PEERS_INT_MAX + 1];
	struct strbuf head;

	if (!v->word)
		return peers_put_int(to, 0);
	strbuf_init_fixed(&head, room, sizeof(room));
	if (!peers_put_int(&head, v->word))
		return false;
	if (!slice_is_none(v->text) && !peers_put_int(&head, v->text.len))
		return false;
	return peers_put_int(to, head.len + v->text.len) && strbuf_add(to, strbuf_slice(&head)) &&
	       strbuf_add(to, v->text);
}

void peers_value_put(struct peers_maker *m, const struct peers_value *v)
{
	struct strbuf *to = m->to;

	if (m->failed)
		return;
	switch (data_kind(v->data)) {
	case PEERS_RATE:
		m->failed = !peers_put_int(to, v->age_ms) || !peers_put_int(to, v->current) ||
			    !peers_put_int(to, v->previous);
		break;
	case PEERS_WORD:
		m->failed = !put_word(to, v);
		break;
	default:
		m->failed = !peers_put_int(to, v->number);
	}
}

bool peers_update_close(struct peers_maker *m)
{
	return close_body(m);
}
