/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event_log.c - logs events of proxies and servers */
#include "log/log.h"
#include "stream/stream.h"
#include "start_priv.h"

static void log_event(const struct proxy *px, enum proxy_event event, const char *text)
{
	static const enum log_level levels[] = {
		[PROXY_EVENT_NO_SERVER] = LOG_LVL_EMERG, [PROXY_EVENT_DOWN] = LOG_LVL_ALERT,
		[PROXY_EVENT_WARNING] = LOG_LVL_WARNING, [PROXY_EVENT_NOTICE] = LOG_LVL_NOTICE,
		[PROXY_EVENT_CHECK] = LOG_LVL_NOTICE,
	};
	const struct log_settings *set = slot_of(&log_proxy_slot, proxy_slots(px));

	/* the log has this one with the bare name */
	if (event == PROXY_EVENT_NO_SERVER)
		log_printf(px->config, set, levels[event], "%s %s has no server available!",
			   proxy_kind_name(px), px->name);
	else
		log_printf(px->config, set, levels[event], "%s", text);
}

void event_log_init(void)
{
	proxy_add_event_hook(log_event);
}
