/* SPDX-License-Identifier: GPL-2.0-or-later */
/* syslog_foreign.c - headers of forwarded messages, converted to another format */
#include <stdio.h>
#include <time.h>
#include "base/bug.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "syslog_priv.h"

static bool put_or(struct strbuf *out, struct slice s, struct slice otherwise)
{
	return strbuf_add(out, s.len ? s : otherwise);
}

/* "2003-10-11T22:14:15..." as "Oct 11 22:14:15 "; the date of now when it is not one. */
static bool put_iso_as_bsd(struct strbuf *out, const struct syslog_header *h, struct slice date)
{
	int64_t month, day;

	if (date.len < 19 || date.ptr[10] != 'T' ||
	    !num_parse_range(slice_sub(date, 5, 7), 1, 12, &month) ||
	    !num_parse_range(slice_sub(date, 8, 10), 1, 31, &day))
		return syslog_put_bsd_date(out, h->wall_us);
	return strbuf_printf(out, "%s %2d %.*s ", syslog_month_name((unsigned)month - 1), (int)day,
			     SLICE_FMT(slice_sub(date, 11, 19)));
}

/* "Oct 11 22:14:15" as "2026-10-11T22:14:15-00:00 ": of this year, in an unknown zone. */
static bool put_bsd_as_iso(struct strbuf *out, const struct syslog_header *h, struct slice date)
{
	int64_t second = (int64_t)(h->wall_us / 1000000), day = 1;
	int month = syslog_month_find(slice_sub(date, 0, 3));
	struct tm tm;

	if (month < 0 || !localtime_r(&second, &tm) ||
	    !num_parse_range(slice_trim(slice_sub(date, 4, 6)), 1, 31, &day))
		return syslog_put_iso_date(out, h->wall_us);
	return strbuf_printf(out, "%04d-%02d-%02dT%.*s-00:00 ", tm.tm_year + 1900, month + 1,
			     (int)day, SLICE_FMT(slice_sub(date, 7, 15)));
}

static bool put_bsd_date(struct strbuf *out, const struct syslog_header *h)
{
	const struct syslog_message *m = h->foreign;

	if (m->format == SYSLOG_RFC3164)
		return strbuf_add(out, m->date) && strbuf_add_char(out, ' ');
	return put_iso_as_bsd(out, h, m->date);
}

static bool put_iso_date(struct strbuf *out, const struct syslog_header *h, bool may_be_nil)
{
	const struct syslog_message *m = h->foreign;

	if (m->format == SYSLOG_RFC5424 && (m->date.len || may_be_nil))
		return put_or(out, m->date, SLICE("-")) && strbuf_add_char(out, ' ');
	if (m->format == SYSLOG_RFC3164)
		return put_bsd_as_iso(out, h, m->date);
	return syslog_put_iso_date(out, h->wall_us);
}

static bool put_bsd(struct strbuf *out, const struct syslog_header *h, bool with_host)
{
	const struct syslog_message *m = h->foreign;
	bool ok = syslog_put_priority(out, h->priority) && put_bsd_date(out, h);

	if (ok && with_host)
		ok = put_or(out, m->hostname, SLICE("localhost")) && strbuf_add_char(out, ' ');
	if (!ok || !m->tag.len)
		return ok;
	ok = strbuf_add(out, m->tag);
	if (ok && m->pid.len)
		ok = strbuf_add_char(out, '[') && strbuf_add(out, m->pid) &&
		     strbuf_add_char(out, ']');
	return ok && strbuf_add(out, SLICE(": "));
}

static bool put_rfc5424(struct strbuf *out, const struct syslog_header *h)
{
	const struct syslog_message *m = h->foreign;
	const struct slice fields[] = { m->hostname, m->tag, m->pid, m->message_id,
					m->structured_data };
	bool ok = syslog_put_priority(out, h->priority) && strbuf_add(out, SLICE("1 ")) &&
		  put_iso_date(out, h, true);

	for (unsigned i = 0; ok && i < ARRAY_LEN(fields); i++)
		ok = put_or(out, fields[i], SLICE("-")) && strbuf_add_char(out, ' ');
	return ok;
}

bool syslog_foreign_write(struct strbuf *out, const struct syslog_header *h)
{
	enum syslog_format format = h->format;

	if (format == SYSLOG_UNSET)
		format = h->foreign->format == SYSLOG_RFC5424 ? SYSLOG_RFC5424 : SYSLOG_RFC3164;
	switch (format) {
	case SYSLOG_LOCAL:
	case SYSLOG_RFC3164:
		return put_bsd(out, h, format == SYSLOG_RFC3164);
	case SYSLOG_RFC5424:
		return put_rfc5424(out, h);
	case SYSLOG_PRIORITY:
		return syslog_put_priority(out, h->priority);
	case SYSLOG_SHORT:
		return syslog_put_priority(out, h->priority & 7);
	case SYSLOG_TIMED:
		return syslog_put_priority(out, h->priority & 7) && put_iso_date(out, h, false);
	case SYSLOG_ISO:
		return put_iso_date(out, h, false);
	default:
		return true; /* raw */
	}
}
