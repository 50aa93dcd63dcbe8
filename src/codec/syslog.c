/* SPDX-License-Identifier: GPL-2.0-or-later */
/* syslog.c - what stands before the text, for each syslog format */
#include "codec/syslog.h"
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "base/bug.h"
#include "base/strbuf.h"

static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep",
				      "Oct", "Nov", "Dec" };

/* The last second written, per thread: "Nov 20 22:10:15", and the halves of the ISO date. */
static __thread struct {
	int64_t second;
	bool valid;
	char bsd[24], iso[32], zone[8];
} date;

static bool date_refresh(int64_t second)
{
	struct tm tm;
	char zone[8] = "";

	if (date.valid && date.second == second)
		return true;
	if (!localtime_r(&second, &tm))
		return false;
	snprintf(date.bsd, sizeof(date.bsd), "%s %2d %02d:%02d:%02d", months[tm.tm_mon % 12],
		 tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
	if (!strftime(date.iso, sizeof(date.iso), "%Y-%m-%dT%H:%M:%S", &tm) ||
	    strftime(zone, sizeof(zone), "%z", &tm) != 5)
		return false;
	memcpy(date.zone, zone, 3); /* "+0100" becomes "+01:00" */
	date.zone[3] = ':';
	memcpy(date.zone + 4, zone + 3, 3);
	date.second = second;
	date.valid = true;
	return true;
}

static bool put_priority(struct strbuf *out, unsigned priority)
{
	return strbuf_add_char(out, '<') && strbuf_add_uint(out, priority) &&
	       strbuf_add_char(out, '>');
}

/* RFC 3339, with microseconds. */
static bool put_iso(struct strbuf *out, uint64_t wall_us)
{
	char fraction[7] = { '.' };
	unsigned us = (unsigned)(wall_us % 1000000);

	for (int i = 6; i > 0; i--, us /= 10)
		fraction[i] = (char)('0' + us % 10);
	return strbuf_add_str(out, date.iso) && strbuf_add(out, slice_make(fraction, 7)) &&
	       strbuf_add_str(out, date.zone) && strbuf_add_char(out, ' ');
}

/* RFC 3164; the local form has no host name. */
static bool put_bsd(struct strbuf *out, const struct syslog_header *h)
{
	bool ok = put_priority(out, h->priority) && strbuf_add_str(out, date.bsd) &&
		  strbuf_add_char(out, ' ');

	if (ok && h->format == SYSLOG_RFC3164)
		ok = strbuf_add(out, h->hostname.len ? h->hostname : SLICE("localhost")) &&
		     strbuf_add_char(out, ' ');
	return ok && strbuf_add(out, h->tag) && strbuf_add_char(out, '[') &&
	       strbuf_add_uint(out, h->pid) && strbuf_add(out, SLICE("]: "));
}

static bool put_rfc5424(struct strbuf *out, const struct syslog_header *h)
{
	const struct slice nil = SLICE("-");

	return put_priority(out, h->priority) && strbuf_add(out, SLICE("1 ")) &&
	       put_iso(out, h->wall_us) && strbuf_add(out, h->hostname.len ? h->hostname : nil) &&
	       strbuf_add_char(out, ' ') && strbuf_add(out, h->tag.len ? h->tag : nil) &&
	       strbuf_add_char(out, ' ') && strbuf_add_uint(out, h->pid) &&
	       strbuf_add(out, SLICE(" - ")) &&
	       strbuf_add(out, h->structured_data.len ? h->structured_data : nil) &&
	       strbuf_add_char(out, ' ');
}

bool syslog_header_write(struct strbuf *out, const struct syslog_header *h)
{
	if (!date_refresh((int64_t)(h->wall_us / 1000000)))
		return false;
	switch (h->format) {
	case SYSLOG_UNSET:
	case SYSLOG_LOCAL:
	case SYSLOG_RFC3164:
		return put_bsd(out, h);
	case SYSLOG_RFC5424:
		return put_rfc5424(out, h);
	case SYSLOG_PRIORITY:
		return put_priority(out, h->priority);
	case SYSLOG_SHORT:
		return put_priority(out, h->priority & 7);
	case SYSLOG_TIMED:
		return put_priority(out, h->priority & 7) && put_iso(out, h->wall_us);
	case SYSLOG_ISO:
		return put_iso(out, h->wall_us);
	default:
		return true; /* raw */
	}
}

enum syslog_format syslog_format_find(struct slice word)
{
	static const char *const words[SYSLOG_FORMATS] = {
#define X(name, text) [SYSLOG_##name] = text,
		SYSLOG_FORMAT_LIST(X)
#undef X
	};
	unsigned i = SYSLOG_UNSET + 1;

	while (i < SYSLOG_FORMATS && !slice_eq(word, slice_of(words[i])))
		i++;
	return (enum syslog_format)i;
}
