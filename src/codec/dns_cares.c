/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dns_cares.c - DNS messages with c-ares
 *
 *	header (12) | question | answers | authorities (skipped) | additional records
 *
 * The answer parsers of c-ares 1.18 return no additional records, and do not distinguish an answer
 * to another question from one without addresses, so the records are walked here. A name is checked
 * before c-ares expands it: c-ares would follow as many jumps as the message has bytes.
 */
#include <ares.h>
#include <string.h>
#include "base/bug.h"
#include "codec/dns.h"

#define FLAG_ANSWER 0x8000
#define FLAG_TRUNCATED 0x0200
#define RCODE_MASK 0x000f
#define CLASS_IN 1

bool dns_is_built_in(void)
{
	return true;
}

size_t dns_query_make(const struct dns_question *q, uint8_t *out, size_t size)
{
	unsigned char *made = NULL;
	size_t len = 0;
	int made_len = 0;

	if (ares_create_query(q->name, CLASS_IN, q->type, q->id, 1, &made, &made_len,
			      q->payload) == ARES_SUCCESS && (size_t)made_len <= size) {
		len = (size_t)made_len;
		memcpy(out, made, len);
	}
	if (made)
		ares_free_string(made);
	return len;
}

/* --- reading -------------------------------------------------------------------------------- */

struct reader {
	const uint8_t *bytes;
	size_t len, at;
	bool wrong;       /* ran over the end, or a name that is none */
	struct arena *arena;
};

/* A record as it stands. */
struct raw_record {
	char owner[DNS_NAME_MAX + 1];
	uint16_t type, class;
	uint32_t ttl;
	size_t data, data_len;
};

static uint16_t read_u16(struct reader *r)
{
	uint16_t v = 0;

	if (r->len - r->at < 2) {
		r->wrong = true;
		r->at = r->len;
		return 0;
	}
	v = (uint16_t)(r->bytes[r->at] << 8 | r->bytes[r->at + 1]);
	r->at += 2;
	return v;
}

static uint32_t read_u32(struct reader *r)
{
	uint32_t high = read_u16(r);

	return high << 16 | read_u16(r);
}

/* Does a name end within the message, after few jumps, each of them backwards? */
static bool name_ends(const struct reader *r, size_t at)
{
	unsigned jumps = 0;
	size_t total = 0;

	while (at < r->len && r->bytes[at]) {
		uint8_t c = r->bytes[at];

		if ((c & 0xc0) == 0xc0) {
			size_t to;

			if (at + 1 >= r->len || ++jumps > DNS_JUMPS_MAX)
				return false;
			to = (size_t)(c & 0x3f) << 8 | r->bytes[at + 1];
			if (to >= at)
				return false;
			at = to;
			continue;
		}
		total += c + 1u;
		if (c & 0xc0 || total > DNS_NAME_MAX + 2)
			return false;
		at += c + 1u;
	}
	return at < r->len;
}

static void to_lower(char *text)
{
	for (; *text; text++)
		*text = ascii_lower(*text);
}

/* The name at the reader's place, moving behind it. <out> has DNS_NAME_MAX + 1 bytes. A name that
 * has no plain text (escapes) becomes "\\", which no host has.
 */
static void read_name(struct reader *r, char *out)
{
	char *text = NULL;
	long used = 0;

	out[0] = 0;
	if (r->wrong || !name_ends(r, r->at) ||
	    ares_expand_name(r->bytes + r->at, r->bytes, (int)r->len, &text, &used) !=
	    ARES_SUCCESS) {
		r->wrong = true;
		return;
	}
	r->at += (size_t)used;
	if (strlen(text) > DNS_NAME_MAX || strchr(text, '\\'))
		memcpy(out, "\\", 2);
	else
		memcpy(out, text, strlen(text) + 1);
	ares_free_string(text);
	to_lower(out);
}

static bool read_record(struct reader *r, struct raw_record *out)
{
	read_name(r, out->owner);
	out->type = read_u16(r);
	out->class = read_u16(r);
	out->ttl = read_u32(r);
	out->data_len = read_u16(r);
	out->data = r->at;
	if (r->wrong || out->data_len > r->len - r->at) {
		r->wrong = true;
		return false;
	}
	r->at += out->data_len;
	return true;
}

static const char *keep_name(struct reader *r, const char *name)
{
	struct slice copy = arena_copy(r->arena, slice_of(name));

	if (!copy.ptr)
		r->wrong = true;
	return copy.ptr;
}

/* The target of an SRV record must end where its data ends. */
static void read_srv(struct reader *r, const struct raw_record *raw, struct dns_record *out)
{
	struct reader inner = *r;
	char target[DNS_NAME_MAX + 1];

	inner.at = raw->data;
	out->priority = read_u16(&inner);
	out->weight = read_u16(&inner);
	out->port = read_u16(&inner);
	read_name(&inner, target);
	if (inner.wrong || inner.at != raw->data + raw->data_len)
		r->wrong = true;
	else
		out->name = keep_name(r, target);
}

/* Strings of a length and as many bytes. A text with a NUL in it is as if it were empty. */
static void read_txt(struct reader *r, const struct raw_record *raw, struct dns_record *out)
{
	const uint8_t *at = r->bytes + raw->data, *end = at + raw->data_len;
	char *text = arena_alloc(r->arena, raw->data_len + 1u);
	size_t len = 0;

	if (!text || !raw->data_len) {
		r->wrong = true;
		return;
	}
	for (; at < end; at += *at + 1u) {
		if (*at >= end - at) {
			r->wrong = true;
			return;
		}
		memcpy(text + len, at + 1, *at);
		len += *at;
	}
	text[memchr(text, 0, len) ? 0 : len] = 0;
	out->name = text;
}

/* NULL: its data is wrong, or no memory. */
static struct dns_record *make_record(struct reader *r, const struct raw_record *raw)
{
	struct dns_record *rec = arena_zalloc(r->arena, sizeof(*rec));

	if (!rec) {
		r->wrong = true;
		return NULL;
	}
	rec->type = (enum dns_type)raw->type;
	rec->ttl = raw->ttl;
	if (raw->type == DNS_A && raw->data_len == 4)
		rec->addr = addr_from_v4(r->bytes + raw->data, 0);
	else if (raw->type == DNS_AAAA && raw->data_len == 16)
		rec->addr = addr_from_v6(r->bytes + raw->data, 0);
	else if (raw->type == DNS_SRV)
		read_srv(r, raw, rec);
	else if (raw->type == DNS_TXT)
		read_txt(r, raw, rec);
	else
		r->wrong = true;
	return r->wrong ? NULL : rec;
}

/* --- answers -------------------------------------------------------------------------------- */

/* Follows an alias: the name that the next records must have. */
static void follow_alias(struct reader *r, const struct raw_record *raw, char *name)
{
	struct reader inner = *r;

	inner.at = raw->data;
	read_name(&inner, name);
	if (inner.wrong || inner.at != raw->data + raw->data_len)
		r->wrong = true;
}

static bool room_left(const struct dns_answer *a)
{
	return a->count < DNS_RECORDS_MAX;
}

/* Records of the type asked, whose owner is the name or what its aliases lead to. */
static enum dns_status read_answers(struct reader *r, const struct dns_question *q, unsigned count,
				    struct dns_answer *out)
{
	struct dns_record **end = &out->records;
	char name[DNS_NAME_MAX + 1];
	struct raw_record raw;

	memcpy(name, q->name, strlen(q->name) + 1);
	to_lower(name);
	while (count-- && read_record(r, &raw)) {
		if (strcmp(raw.owner, name) != 0)
			return out->is_alias ? DNS_CNAME_ERROR : DNS_INVALID;
		if (raw.class != CLASS_IN)
			continue;
		if (raw.type == DNS_CNAME && !out->records) {
			out->is_alias = true;
			follow_alias(r, &raw, name);
		}
		if (raw.type != q->type || !room_left(out))
			continue;
		*end = make_record(r, &raw);
		if (!*end)
			return DNS_INVALID;
		end = &(*end)->next;
		out->count++;
	}
	if (r->wrong)
		return DNS_INVALID;
	if (!out->records)
		return out->is_alias ? DNS_CNAME_ERROR : DNS_EMPTY;
	return DNS_VALID;
}

static void read_additional(struct reader *r, unsigned count, struct dns_answer *out)
{
	struct dns_record **end = &out->additional;
	struct raw_record raw;

	while (count-- && read_record(r, &raw)) {
		if (raw.class != CLASS_IN || (raw.type != DNS_A && raw.type != DNS_AAAA) ||
		    !room_left(out))
			continue;
		*end = make_record(r, &raw);
		if (!*end)
			return;
		(*end)->name = keep_name(r, raw.owner);
		end = &(*end)->next;
		out->count++;
	}
}

static bool is_the_question(struct reader *r, const struct dns_question *q)
{
	char name[DNS_NAME_MAX + 1];
	uint16_t type, class;

	read_name(r, name);
	type = read_u16(r);
	class = read_u16(r);
	return !r->wrong && type == q->type && class == CLASS_IN && strcasecmp(name, q->name) == 0;
}

static enum dns_status status_of_code(unsigned code)
{
	return code == 3 ? DNS_NX : code == 5 ? DNS_REFUSED : DNS_OTHER;
}

/* What the header and the question say, then the records. */
static enum dns_status parse(struct reader *r, const struct dns_question *q, struct dns_answer *out)
{
	unsigned flags, questions, answers, authorities, additional;
	enum dns_status status;
	struct raw_record raw;

	r->at = 2;
	flags = read_u16(r);
	questions = read_u16(r);
	answers = read_u16(r);
	authorities = read_u16(r);
	additional = read_u16(r);
	if (r->wrong || !(flags & FLAG_ANSWER) || questions != 1 || !is_the_question(r, q))
		return DNS_INVALID;
	if (flags & FLAG_TRUNCATED)
		return DNS_TRUNCATED;
	if (flags & RCODE_MASK)
		return status_of_code(flags & RCODE_MASK);
	if (!answers)
		return DNS_EMPTY;
	status = read_answers(r, q, answers, out);
	if (status != DNS_VALID || q->type != DNS_SRV)
		return status;
	while (authorities-- && read_record(r, &raw))
		;
	read_additional(r, additional, out);
	return r->wrong ? DNS_INVALID : DNS_VALID;
}

enum dns_status dns_answer_parse(struct slice message, const struct dns_question *q,
				 struct arena *arena, struct dns_answer *out)
{
	struct reader r = { .bytes = (const uint8_t *)message.ptr, .len = message.len,
			    .arena = arena };

	*out = (struct dns_answer){ .status = DNS_INVALID };
	if (message.len >= DNS_HEADER_SIZE && message.len <= UINT16_MAX &&
	    dns_message_id(message) == q->id)
		out->status = parse(&r, q, out);
	if (out->status != DNS_VALID) {
		out->records = out->additional = NULL;
		out->count = 0;
	}
	return out->status;
}
