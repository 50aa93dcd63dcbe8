/* SPDX-License-Identifier: GPL-2.0-or-later */
/* syslog_priv.h - parts of log headers */
#ifndef CODEC_SYSLOG_PRIV_H
#define CODEC_SYSLOG_PRIV_H

#include "codec/syslog.h"

/* Writes "<13>". */
bool syslog_put_priority(struct strbuf *out, unsigned priority);
/* Write "Nov 20 22:10:15 " and "2025-11-20T22:10:15.123456+00:00 ". */
bool syslog_put_bsd_date(struct strbuf *out, uint64_t wall_us);
bool syslog_put_iso_date(struct strbuf *out, uint64_t wall_us);
/* Return the name of a month, 0 to 11; and its number, -1: none. */
const char *syslog_month_name(unsigned month);
int syslog_month_find(struct slice name);
/* Writes the header of a forwarded message. */
bool syslog_foreign_write(struct strbuf *out, const struct syslog_header *h);

#endif
