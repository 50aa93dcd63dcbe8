/* SPDX-License-Identifier: GPL-2.0-or-later */
/* key.c - keys of entries: from samples and texts, and back */
#include <stdlib.h>
#include <string.h>
#include "base/addr.h"
#include "base/bug.h"
#include "base/strbuf.h"
#include "expr/expr.h"
#include "table_priv.h"

static void key_of_number(struct table_key *out, uint32_t v)
{
	memcpy(out->bytes, &v, 4);
	out->at = NULL;
	out->len = 4;
}

/* Cut at the longest length; a string also at a NUL. Zeros at the end of bytes count for nothing:
 * shorter ones are filled with them.
 */
static void key_of_bytes(const struct table_shape *s, struct slice bytes, struct table_key *out)
{
	size_t len = bytes.len < s->key_len ? bytes.len : s->key_len;

	if (s->type == TABLE_STRING)
		len = len ? strnlen(bytes.ptr, len) : 0;
	else
		while (len && !bytes.ptr[len - 1])
			len--;
	out->at = len ? bytes.ptr : "";
	out->len = len;
}

static const uint8_t key_types[TABLE_TYPES] = {
	[TABLE_IPV4] = SMP_IPV4, [TABLE_IPV6] = SMP_IPV6, [TABLE_INTEGER] = SMP_INT,
	[TABLE_STRING] = SMP_STR, [TABLE_BINARY] = SMP_BIN,
};

bool table_type_takes(enum table_type t, unsigned sample_type)
{
	return sample_can_cast((enum sample_type)sample_type, (enum sample_type)key_types[t]);
}

bool table_key_of_sample(const struct table_shape *s, struct sample *smp, struct arena *arena,
			 struct table_key *out)
{
	if (!sample_cast(smp, (enum sample_type)key_types[s->type], arena))
		return false;
	switch ((enum table_type)s->type) {
	case TABLE_IPV4:
		key_of_number(out, smp->ipv4);
		break;
	case TABLE_IPV6:
		memcpy(out->bytes, smp->ipv6, 16);
		out->at = NULL;
		out->len = 16;
		break;
	case TABLE_INTEGER:
		key_of_number(out, (uint32_t)smp->integer);
		break;
	default:
		key_of_bytes(s, smp->text, out);
	}
	return true;
}

bool table_key_of_text(const struct table_shape *s, struct slice text, struct table_key *out)
{
	struct sample smp = { .type = SMP_STR, .text = text };
	struct addr a;
	bool good;

	switch ((enum table_type)s->type) {
	case TABLE_IPV4:
	case TABLE_IPV6:
		if (!addr_parse_ip(text, 0, &a))
			return false;
		smp.type = a.family == ADDR_INET ? SMP_IPV4 : SMP_IPV6;
		if (a.family == ADDR_INET)
			smp.ipv4 = a.v4;
		else
			memcpy(smp.ipv6, a.v6, 16);
		break;
	case TABLE_INTEGER:
		key_of_number(out, (uint32_t)strtoull(text.ptr, NULL, 10)); /* modulo 2^32 */
		return true;
	default:
		key_of_bytes(s, text, out);
		return true;
	}
	good = table_key_of_sample(s, &smp, NULL, out);
	if (!good && s->type == TABLE_IPV4) { /* no IPv4 address inside: its last four bytes */
		memcpy(&smp.ipv4, a.v6 + 12, 4);
		key_of_number(out, smp.ipv4);
		return true;
	}
	return good;
}

bool table_key_is(const struct table_shape *s, const struct table_entry *e,
		  const struct table_key *key)
{
	const char *own = table_entry_key(s, e);

	if (memcmp(own, table_key_bytes(key), key->len) != 0)
		return false;
	if (s->type == TABLE_STRING)
		return !own[key->len];
	for (size_t i = key->len; i < s->key_len; i++)
		if (own[i])
			return false;
	return true;
}

void table_key_put(const struct table_shape *s, struct table_entry *e,
		   const struct table_key *key)
{
	memcpy(table_entry_key(s, e), table_key_bytes(key), key->len);
}

void table_key_sample(const struct table_shape *s, struct table_entry *e, struct sample *out)
{
	const char *own = table_entry_key(s, e);
	uint32_t number;

	out->flags = SMP_CONST;
	switch ((enum table_type)s->type) {
	case TABLE_IPV4:
		out->type = SMP_IPV4;
		memcpy(&out->ipv4, own, 4);
		break;
	case TABLE_IPV6:
		out->type = SMP_IPV6;
		memcpy(out->ipv6, own, 16);
		break;
	case TABLE_INTEGER:
		memcpy(&number, own, 4);
		out->type = SMP_INT;
		out->integer = number;
		break;
	case TABLE_STRING:
		out->type = SMP_STR;
		out->text = slice_of(own);
		break;
	default:
		out->type = SMP_BIN;
		out->text = slice_make(own, s->key_len);
	}
}

/* As the words of the Runtime API: what would not come back is behind a backslash; and what is
 * among <also>.
 */
static void print_text(struct slice text, const char *also, struct strbuf *out)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if (c == '\n' || c == '\r' || c == '\t' || c == 0x1b)
			strbuf_printf(out, "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' :
				      c == '\t' ? 't' : 'e');
		else if (c < 0x20 || c >= 0x7f)
			strbuf_printf(out, "\\x%02X", c);
		else if (strchr(also, c))
			strbuf_printf(out, "\\%c", c);
		else
			strbuf_add_char(out, (char)c);
	}
}

void table_text_print(struct slice text, struct strbuf *out)
{
	print_text(text, " ", out);
}

void table_key_print(const struct table_shape *s, const struct table_entry *e, struct strbuf *out)
{
	const char *own = table_entry_key(s, e);
	struct addr a = { .family = ADDR_NONE };
	char text[ADDR_IP_MAX];
	uint32_t number;

	switch ((enum table_type)s->type) {
	case TABLE_IPV4:
	case TABLE_IPV6:
		a = s->type == TABLE_IPV4 ? addr_from_v4(own, 0) : addr_from_v6(own, 0);
		addr_put_ip(&a, text, sizeof(text));
		strbuf_add_str(out, text);
		break;
	case TABLE_INTEGER:
		memcpy(&number, own, 4);
		strbuf_add_uint(out, number);
		break;
	case TABLE_STRING:
		print_text(slice_of(own), " \\=", out);
		break;
	default:
		for (uint32_t i = 0; i < s->key_len; i++)
			strbuf_printf(out, "%02X", (unsigned char)own[i]);
	}
}

void table_key_of_entry(const struct table_shape *s, const struct table_entry *e,
			struct table_key *out)
{
	const char *at = table_entry_key(s, e);

	memset(out, 0, sizeof(*out));
	out->len = s->key_len;
	switch ((enum table_type)s->type) {
	case TABLE_STRING:
		out->at = at;
		out->len = strnlen(at, s->key_len);
		break;
	case TABLE_BINARY:
		out->at = at;
		while (out->len && !at[out->len - 1])
			out->len--;
		break;
	default:
		memcpy(out->bytes, at, s->key_len);
	}
}
