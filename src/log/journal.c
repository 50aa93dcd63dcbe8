/* SPDX-License-Identifier: GPL-2.0-or-later */
/* journal.c - lines for the journal of systemd, with fields
 *
 * The protocol is that of sd_journal_sendv(3): a datagram of "NAME=value\n", or for a value with
 * line ends "NAME\n", 8 bytes of its length (little endian), the value and "\n". No library is
 * needed.
 * A line that is a JSON object (option httplog json) has its members as fields, too.
 */
#include <string.h>
#include "base/num.h"
#include "base/strbuf.h"
#include "codec/json.h"
#include "log_priv.h"

#define PREFIX "HAPROXY_"
#define NAME_MAX_LEN 64 /* a longer name is not one to the journal */

static __thread struct strbuf packet;

void journal_thread_fini(void)
{
	strbuf_fini(&packet);
}

static void add_value(struct slice name, struct slice value)
{
	strbuf_add(&packet, name);
	if (!memchr(value.ptr, '\n', value.len)) {
		strbuf_add_char(&packet, '=');
	} else {
		strbuf_add_char(&packet, '\n');
		for (unsigned i = 0; i < 8; i++)
			strbuf_add_char(&packet, (char)(uint8_t)((uint64_t)value.len >> 8 * i));
	}
	strbuf_add(&packet, value);
	strbuf_add_char(&packet, '\n');
}

static void add_text(const char *name, struct slice value)
{
	if (value.len)
		add_value(slice_of(name), value);
}

/* HAPROXY_STATUS of "status": capitals, digits and underscores. */
static struct slice field_name(struct slice name, char *out)
{
	size_t len = sizeof(PREFIX) - 1;

	memcpy(out, PREFIX, len);
	for (size_t i = 0; i < name.len && len < NAME_MAX_LEN; i++) {
		char c = name.ptr[i];

		if (c >= 'a' && c <= 'z')
			c = (char)(c - 'a' + 'A');
		out[len++] = (c >= 'A' && c <= 'Z') || ascii_is_digit(c) ? c : '_';
	}
	return slice_make(out, len);
}

/* What is not there (null, an empty text) has no field. */
static void add_member(struct slice name, enum json_type type, struct slice value, char *room)
{
	char area[NAME_MAX_LEN];
	long len = 0;

	switch (type) {
	case JSON_TRUE:
		value = SLICE("true");
		break;
	case JSON_FALSE:
		value = SLICE("false");
		break;
	case JSON_STRING:
		len = json_unescape(value, room);
		if (len < 0)
			return;
		value = slice_make(room, (size_t)len);
		break;
	default:
		break;
	}
	if (value.len)
		add_value(field_name(name, area), value);
}

static void add_members(struct slice text)
{
	static __thread char room[LOG_LEN_MAX];
	struct slice name, value;
	enum json_type type;

	if (!text.len || text.ptr[0] != '{' || text.len > sizeof(room))
		return;
	while ((type = json_next_member(&text, &name, &value)) != JSON_NONE)
		add_member(name, type, value, room);
}

bool journal_send(const struct log_target *t, const struct syslog_header *h, struct slice text)
{
	const struct syslog_message *foreign = h->foreign;
	struct iovec v;

	if (text.len > t->len)
		text.len = t->len;
	strbuf_reset(&packet);
	add_value(SLICE("MESSAGE"), text);
	strbuf_printf(&packet, "PRIORITY=%u\nSYSLOG_FACILITY=%u\n", h->priority % 8,
		      h->priority / 8);
	if (foreign) {
		add_text("SYSLOG_IDENTIFIER", foreign->tag);
		add_text("SYSLOG_PID", foreign->pid);
		add_text("SYSLOG_TIMESTAMP", foreign->date);
		add_text(PREFIX "HOSTNAME", foreign->hostname);
	} else {
		add_text("SYSLOG_IDENTIFIER", h->tag);
		strbuf_printf(&packet, "SYSLOG_PID=%u\n", h->pid);
	}
	add_members(text);
	if (packet.overflow)
		return false;
	v = (struct iovec){ .iov_base = packet.ptr, .iov_len = packet.len };
	return datagram_send(&t->addr, &v, 1);
}
