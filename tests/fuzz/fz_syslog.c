/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzzes messages and frames of syslog: what is read lies in the input and in order; a message that
 * is written again in its own form is read the same; frames do not depend on how bytes arrive.
 */
#include <stdint.h>
#include <stdlib.h>
#include "base/strbuf.h"
#include "codec/syslog.h"

static bool is_inside(struct slice whole, struct slice s)
{
	return !s.len || (s.ptr >= whole.ptr && s.ptr + s.len <= whole.ptr + whole.len);
}

static void check_message(struct slice in, struct slice whole)
{
	struct syslog_message m, again;
	struct syslog_header h = { .foreign = &m, .wall_us = 1700000000000000 };
	struct strbuf out;

	syslog_parse(in, &m);
	if (!is_inside(whole, m.date) || !is_inside(whole, m.hostname) ||
	    !is_inside(whole, m.tag) || !is_inside(whole, m.pid) ||
	    !is_inside(whole, m.message_id) || !is_inside(whole, m.structured_data) ||
	    !is_inside(whole, m.text) || m.priority > 999)
		abort();
	for (enum syslog_format f = SYSLOG_UNSET; f < SYSLOG_FORMATS; f++) {
		strbuf_init(&out);
		h.format = f;
		h.priority = m.priority;
		if (!syslog_header_write(&out, &h) || !strbuf_add(&out, m.text))
			abort();
		if (f == SYSLOG_UNSET && m.format == SYSLOG_RFC5424) {
			syslog_parse(strbuf_slice(&out), &again);
			if (again.format != m.format || again.priority != m.priority ||
			    !slice_eq(again.date, m.date) || !slice_eq(again.pid, m.pid) ||
			    !slice_eq(again.structured_data, m.structured_data) ||
			    !slice_eq(again.text, m.text))
				abort();
		}
		strbuf_fini(&out);
	}
}

static void check_frames(struct slice in, bool lines_only)
{
	enum syslog_frame_status status, less;
	struct slice rest = in, frame, other;
	size_t used = 0, other_used;

	for (;;) {
		rest = slice_sub(rest, used, rest.len);
		status = syslog_frame_next(rest, lines_only, 1024, &frame, &used);
		if (status != SYSLOG_FRAME_DONE)
			break;
		if (!used || used > rest.len || !is_inside(rest, frame) || frame.len > 1024)
			abort();
		less = syslog_frame_next(slice_sub(rest, 0, used - 1), lines_only, 1024, &other,
					 &other_used);
		if (less == SYSLOG_FRAME_DONE && other_used >= used)
			abort();
		check_message(frame, in);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = slice_make((const char *)data, size);

	check_message(in, in);
	check_frames(in, false);
	check_frames(in, true);
	return 0;
}
