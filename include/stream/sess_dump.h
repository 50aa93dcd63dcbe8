/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sess_dump.h - prints streams for `show sess`
 *
 * Purpose: prints one stream, or one connection of the Runtime API, in one line or in several.
 * Owns   : nothing.
 * Threads: the thread that owns the printed object.
 * Manual : management 9.3 show sess.
 */
#ifndef STREAM_SESS_DUMP_H
#define STREAM_SESS_DUMP_H

#include <stdbool.h>
#include <stdint.h>
#include "base/strbuf.h"

struct ctl_connection_info;
struct stream;

struct sess_view {
	struct strbuf *out;
	bool uri;      /* print the request line, where there is one */
	uint32_t anon; /* the key that anonymizes names and addresses, 0: none; see ctl_hide() */
};

/* Prints one line. */
void sess_dump_line(struct stream *s, const struct sess_view *view);
/* Prints several lines. */
void sess_dump_full(struct stream *s, const struct sess_view *view);
/* Prints a connection of the Runtime API, which is not a stream, in the same columns. */
void sess_dump_ctl(const struct ctl_connection_info *info, const struct sess_view *view, bool full);
/* Appends "[20/Nov/2026:22:46:58.660846]" in local time, with <digits> decimals of the second. */
void sess_put_date(struct strbuf *out, uint64_t wall_us, int digits);

#endif
