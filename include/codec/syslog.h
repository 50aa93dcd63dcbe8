/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* syslog.h - headers of log messages
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

/* A parsed message from another program. Absent fields: slice_none(). */
struct syslog_message {
	enum syslog_format format; /* RFC5424, RFC3164, UNSET: neither */
	bool has_priority;
	unsigned priority;         /* facility * 8 + level, up to 999 */
	struct slice date;         /* as written in the message */
	struct slice hostname, tag, pid, message_id, structured_data;
	struct slice text;
};

struct syslog_header {
	enum syslog_format format;
	unsigned priority;       /* facility * 8 + level */
	struct slice hostname, tag, structured_data;
	unsigned pid;            /* not written without a tag */
	uint64_t wall_us;        /* the date to write */
	/* for a forwarded message: its own fields replace those above, except the priority; absent
	 * fields are not written; with format UNSET its own format is used. Or NULL.
	 */
	const struct syslog_message *foreign;
};

/* Appends the header in its format, without the text, to <out>. False: no room. */
bool syslog_header_write(struct strbuf *out, const struct syslog_header *h);
/* Parses one message without its frame: RFC 5424, RFC 3164, or any text after a priority; any part
 * may be missing. Never fails; slices point into <in>. Trailing line ends do not belong to the
 * text.
 */
void syslog_parse(struct slice in, struct syslog_message *out);

enum syslog_frame_status {
	SYSLOG_FRAME_DONE, /* *frame: a message; *used bytes are consumed */
	SYSLOG_FRAME_MORE, /* more bytes are needed */
	SYSLOG_FRAME_BAD,  /* not the start of a frame, or longer than <max> */
};

/* Takes the next message off a stream (RFC 6587): octet counting if it begins with a digit other
 * than 0, unless <lines_only>; otherwise a line, which must begin with '<' unless <lines_only>.
 */
enum syslog_frame_status syslog_frame_next(struct slice in, bool lines_only, size_t max,
					   struct slice *frame, size_t *used);

/* Finds a format by its word; SYSLOG_FORMATS: unknown. */
enum syslog_format syslog_format_find(struct slice word);

#endif
