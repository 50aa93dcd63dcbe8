/* SPDX-License-Identifier: GPL-2.0-or-later */
/* syslog.c - the headers of log lines, for each syslog format */
#include "codec/syslog.h"
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "base/bug.h"
#include "base/strbuf.h"
#include "syslog_priv.h"

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

bool syslog_put_priority(struct strbuf *out, unsigned priority)
{
	return strbuf_add_char(out, '<') && strbuf_add_uint(out, priority) &&
	       strbuf_add_char(out, '>');
}

/* RFC 3339, with microseconds. */
bool syslog_put_iso_date(struct strbuf *out, uint64_t wall_us)
{
	char fraction[7] = { '.' };
	unsigned us = (unsigned)(wall_us % 1000000);

	if (!date_refresh((int64_t)(wall_us / 1000000)))
		return false;
	for (int i = 6; i > 0; i--, us /= 10)
		fraction[i] = (char)('0' + us % 10);
	return strbuf_add_str(out, date.iso) && strbuf_add(out, slice_make(fraction, 7)) &&
	       strbuf_add_str(out, date.zone) && strbuf_add_char(out, ' ');
}

bool syslog_put_bsd_date(struct strbuf *out, uint64_t wall_us)
{
	return date_refresh((int64_t)(wall_us / 1000000)) && strbuf_add_str(out, date.bsd) &&
	       strbuf_add_char(out, ' ');
}

const char *syslog_month_name(unsigned month)
{
	return months[month % 12];
}

int syslog_month_find(struct slice name)
{
	for (unsigned i = 0; i < ARRAY_LEN(months); i++)
		if (slice_eq(name, slice_of(months[i])))
			return (int)i;
	return -1;
}

/* RFC 3164; the local form has no host name. No process is named without a tag. */
static bool put_bsd(struct strbuf *out, const struct syslog_header *h)
{
	bool ok = syslog_put_priority(out, h->priority) &&
		  syslog_put_bsd_date(out, h->wall_us);

	if (ok && h->format == SYSLOG_RFC3164)
		ok = strbuf_add(out, h->hostname.len ? h->hostname : SLICE("localhost")) &&
		     strbuf_add_char(out, ' ');
	if (slice_is_none(h->tag))
		return ok;
	return ok && strbuf_add(out, h->tag) && strbuf_add_char(out, '[') &&
	       strbuf_add_uint(out, h->pid) && strbuf_add(out, SLICE("]: "));
}

static bool put_rfc5424(struct strbuf *out, const struct syslog_header *h)
{
	const struct slice nil = SLICE("-");

	return syslog_put_priority(out, h->priority) && strbuf_add(out, SLICE("1 ")) &&
	       syslog_put_iso_date(out, h->wall_us) &&
	       strbuf_add(out, h->hostname.len ? h->hostname : nil) &&
	       strbuf_add_char(out, ' ') && strbuf_add(out, h->tag.len ? h->tag : nil) &&
	       strbuf_add_char(out, ' ') &&
	       (slice_is_none(h->tag) ? strbuf_add(out, nil) : strbuf_add_uint(out, h->pid)) &&
	       strbuf_add(out, SLICE(" - ")) &&
	       strbuf_add(out, h->structured_data.len ? h->structured_data : nil) &&
	       strbuf_add_char(out, ' ');
}

bool syslog_header_write(struct strbuf *out, const struct syslog_header *h)
{
	if (h->foreign)
		return syslog_foreign_write(out, h);
	switch (h->format) {
	case SYSLOG_UNSET:
	case SYSLOG_LOCAL:
	case SYSLOG_RFC3164:
		return put_bsd(out, h);
	case SYSLOG_RFC5424:
		return put_rfc5424(out, h);
	case SYSLOG_PRIORITY:
		return syslog_put_priority(out, h->priority);
	case SYSLOG_SHORT:
		return syslog_put_priority(out, h->priority & 7);
	case SYSLOG_TIMED:
		return syslog_put_priority(out, h->priority & 7) &&
		       syslog_put_iso_date(out, h->wall_us);
	case SYSLOG_ISO:
		return syslog_put_iso_date(out, h->wall_us);
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
