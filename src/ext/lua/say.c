/* SPDX-License-Identifier: GPL-2.0-or-later */
/* say.c - log lines and errors of scripts: to loggers, to stderr, or to both */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/strbuf.h"
#include "room_priv.h"
#include "value_priv.h"

/* Without what could break a line or a terminal. */
static void put_clean(struct strbuf *out, struct slice text)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		strbuf_add_char(out, c >= ' ' && c != 127 ? (char)c : '.');
	}
}

static bool wants_stderr(const struct script_room *room, const struct log_settings *set)
{
	if (room->log_stderr != SCRIPT_AUTO)
		return room->log_stderr == SCRIPT_ON;
	return room->log_loggers == SCRIPT_OFF || !log_is_wanted(room->cfg, set);
}

static const struct log_settings *targets_of(const struct proxy *px)
{
	return px ? slot_of(&log_proxy_slot, proxy_slots(px)) : NULL;
}

static void to_stderr(enum log_level level, const char *text)
{
	time_t now = (time_t)(clock_read_wall_us() / 1000000);
	char line[2304];
	struct tm tm;
	int len;

	localtime_r(&now, &tm);
	len = snprintf(line, sizeof(line), "[%s] %03d/%02d%02d%02d (%d) : %s\n",
		       log_level_name(level), tm.tm_yday, tm.tm_hour, tm.tm_min, tm.tm_sec,
		       (int)getpid(), text);
	if (len > 0)
		fwrite(line, 1, (size_t)len < sizeof(line) ? (size_t)len : sizeof(line) - 1,
		       stderr);
}

void script_log(const struct script_room *room, const struct proxy *px, enum log_level level,
		struct slice text)
{
	const struct log_settings *set = targets_of(px);
	char area[2048];
	struct strbuf out;

	strbuf_init_fixed(&out, area, sizeof(area));
	area[0] = 0;
	put_clean(&out, text);
	if (room->log_loggers != SCRIPT_OFF)
		log_printf(room->cfg, set, level, "%s", area);
	if (wants_stderr(room, set))
		to_stderr(level, area);
}

void script_error(const struct script_room *room, const struct proxy *px, const char *fmt, ...)
{
	const struct log_settings *set = targets_of(px);
	char text[2304];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (room->log_loggers != SCRIPT_OFF)
		log_printf(room->cfg, set, LOG_LVL_ERR, "%s", text);
	diag_say(DIAG_ALERT, "%s", text);
}
