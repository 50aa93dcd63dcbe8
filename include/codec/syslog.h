/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* syslog.h - the forms of log messages: what stands before the text
 *
 * Writes the headers of RFC 3164, RFC 5424 and of the simpler forms that the manual knows.
 * Pure, except for the local time zone and a cache of the last date, one per thread.
 * Threads: any.      Manual: configuration 4.2 log, 12.5 format.
 */
#ifndef CODEC_SYSLOG_H
#define CODEC_SYSLOG_H

#include <stdbool.h>
#include <stdint.h>
#include "base/slice.h"

/* X(NAME, word in configurations) */
#define SYSLOG_FORMAT_LIST(X) \
	X(UNSET, "") X(LOCAL, "local") X(RFC3164, "rfc3164") X(RFC5424, "rfc5424") \
	X(PRIORITY, "priority") X(SHORT, "short") X(TIMED, "timed") X(ISO, "iso") X(RAW, "raw")

enum syslog_format {
#define X(name, word) SYSLOG_##name,
	SYSLOG_FORMAT_LIST(X)
#undef X
	SYSLOG_FORMATS,
};

struct strbuf;

struct syslog_header {
	enum syslog_format format;
	unsigned priority;       /* facility * 8 + level */
	struct slice hostname, tag, structured_data;
	unsigned pid;
	uint64_t wall_us;        /* the date to write */
};

/* Writes the header of one format, text excluded, at the end of <out>. False: no room. */
bool syslog_header_write(struct strbuf *out, const struct syslog_header *h);
/* A format by its word; SYSLOG_FORMATS: unknown. */
enum syslog_format syslog_format_find(struct slice word);

#endif
