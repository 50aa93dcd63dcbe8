/* SPDX-License-Identifier: GPL-2.0-or-later */
/* syslog_parse.c - reading log messages of others, and their frames on streams
 *
 * Both forms are tried on the bytes after the priority; a message that fits neither is plain text.
 */
#include "base/bug.h"
#include "base/num.h"
#include "syslog_priv.h"

#define PRIORITY_DIGITS 3
#define COUNT_DIGITS 9
#define BSD_DATE_LEN 15 /* "Nov 20 22:10:15" */

/* Takes up to the next space, which goes too. False: there is no space. */
static bool take_word(struct slice *in, struct slice *out)
{
	size_t at = slice_find_char(*in, 0, ' ');

	if (at == SIZE_MAX)
		return false;
	*out = slice_sub(*in, 0, at);
	*in = slice_sub(*in, at + 1, in->len);
	return true;
}

/* A field of RFC 5424, where "-" says that there is none. */
static bool take_field(struct slice *in, struct slice *out)
{
	if (!take_word(in, out) || !out->len)
		return false;
	if (slice_eq(*out, SLICE("-")))
		*out = slice_none();
	return true;
}

static void take_priority(struct slice *in, struct syslog_message *out)
{
	size_t at = 1;
	unsigned n = 0;

	if (!in->len || in->ptr[0] != '<')
		return;
	for (; at < in->len && ascii_is_digit(in->ptr[at]) && at <= PRIORITY_DIGITS; at++)
		n = n * 10 + (unsigned)(in->ptr[at] - '0');
	if (at == in->len || in->ptr[at] != '>')
		return;
	out->has_priority = true;
	out->priority = n;
	*in = slice_sub(*in, at + 1, in->len);
}

/* One "[id name=\"value\" ...]"; quotes and brackets in values stand behind a backslash. Returns
 * the byte behind it, 0: it is none.
 */
static size_t skip_element(struct slice in, size_t at)
{
	bool quoted = false;

	for (at++; at < in.len; at++) {
		char c = in.ptr[at];

		if (quoted && c == '\\')
			at++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && c == ']')
			return at + 1;
	}
	return 0;
}

static bool take_structured_data(struct slice *in, struct slice *out)
{
	size_t at = 0;

	if (in->len && in->ptr[0] == '-') {
		at = 1;
		*out = slice_none();
	} else {
		while (at < in->len && in->ptr[at] == '[') {
			at = skip_element(*in, at);
			if (!at)
				return false;
		}
		*out = slice_sub(*in, 0, at);
	}
	if (!at || (at < in->len && in->ptr[at] != ' '))
		return false;
	*in = slice_sub(*in, at + 1, in->len);
	return true;
}

static bool parse_rfc5424(struct slice in, struct syslog_message *out)
{
	struct syslog_message m = *out;
	struct slice version;

	if (!take_word(&in, &version) || !slice_eq(version, SLICE("1")) ||
	    !take_field(&in, &m.date) || (m.date.len && !ascii_is_digit(m.date.ptr[0])) ||
	    !take_field(&in, &m.hostname) || !take_field(&in, &m.tag) || !take_field(&in, &m.pid) ||
	    !take_field(&in, &m.message_id) || !take_structured_data(&in, &m.structured_data))
		return false;
	m.format = SYSLOG_RFC5424;
	m.text = in;
	*out = m;
	return true;
}

static bool is_bsd_date(struct slice s)
{
	static const char form[] = "Mmm d0 00:00:00 ";

	if (s.len < sizeof(form) - 1 || syslog_month_find(slice_sub(s, 0, 3)) < 0)
		return false;
	for (size_t i = 3; i < sizeof(form) - 1; i++) {
		char c = s.ptr[i];
		bool fits = form[i] == '0'   ? ascii_is_digit(c)
			    : form[i] == 'd' ? ascii_is_digit(c) || c == ' '
					     : c == form[i];

		if (!fits)
			return false;
	}
	return true;
}

/* "tag[pid]: " or "tag: " */
static void take_tag(struct slice *in, struct syslog_message *out)
{
	size_t end = 0, pid, at;

	while (end < in->len && in->ptr[end] != ' ' && in->ptr[end] != ':' && in->ptr[end] != '[')
		end++;
	at = end;
	pid = SIZE_MAX;
	if (at < in->len && in->ptr[at] == '[') {
		pid = at + 1;
		at = slice_find_char(*in, pid, ']');
		if (at == SIZE_MAX)
			return;
		at++;
	}
	if (!end || at >= in->len || in->ptr[at] != ':')
		return;
	out->tag = slice_sub(*in, 0, end);
	if (pid != SIZE_MAX)
		out->pid = slice_sub(*in, pid, at - 1);
	at++;
	if (at < in->len && in->ptr[at] == ' ')
		at++;
	*in = slice_sub(*in, at, in->len);
}

static bool parse_rfc3164(struct slice in, struct syslog_message *out)
{
	struct slice rest;

	if (!is_bsd_date(in))
		return false;
	rest = slice_sub(in, BSD_DATE_LEN + 1, in.len);
	if (!take_word(&rest, &out->hostname))
		return false;
	out->format = SYSLOG_RFC3164;
	out->date = slice_sub(in, 0, BSD_DATE_LEN);
	take_tag(&rest, out);
	out->text = rest;
	return true;
}

void syslog_parse(struct slice in, struct syslog_message *out)
{
	*out = (struct syslog_message){ .format = SYSLOG_UNSET };
	while (in.len && (in.ptr[in.len - 1] == '\n' || in.ptr[in.len - 1] == '\r' ||
			  in.ptr[in.len - 1] == '\0'))
		in.len--;
	take_priority(&in, out);
	if (parse_rfc5424(in, out) || parse_rfc3164(in, out))
		return;
	out->text = in;
}

/* --- frames ---------------------------------------------------------------------------------- */

/* "<count> <message>" */
static enum syslog_frame_status count_frame(struct slice in, size_t max, struct slice *frame,
					    size_t *used)
{
	size_t at = 0, n = 0;

	for (; at < in.len && ascii_is_digit(in.ptr[at]); at++) {
		n = n * 10 + (size_t)(in.ptr[at] - '0');
		if (at >= COUNT_DIGITS || n > max)
			return SYSLOG_FRAME_BAD;
	}
	if (at == in.len)
		return SYSLOG_FRAME_MORE;
	if (in.ptr[at] != ' ')
		return SYSLOG_FRAME_BAD;
	if (in.len - at - 1 < n)
		return SYSLOG_FRAME_MORE;
	*frame = slice_sub(in, at + 1, at + 1 + n);
	*used = at + 1 + n;
	return SYSLOG_FRAME_DONE;
}

enum syslog_frame_status syslog_frame_next(struct slice in, bool lines_only, size_t max,
					   struct slice *frame, size_t *used)
{
	size_t end;

	if (!in.len)
		return SYSLOG_FRAME_MORE;
	if (!lines_only && in.ptr[0] >= '1' && in.ptr[0] <= '9')
		return count_frame(in, max, frame, used);
	if (!lines_only && in.ptr[0] != '<')
		return SYSLOG_FRAME_BAD;
	end = slice_find_char(in, 0, '\n');
	if (end == SIZE_MAX)
		return in.len > max ? SYSLOG_FRAME_BAD : SYSLOG_FRAME_MORE;
	if (end > max)
		return SYSLOG_FRAME_BAD;
	*frame = slice_sub(in, 0, end);
	*used = end + 1;
	return SYSLOG_FRAME_DONE;
}
