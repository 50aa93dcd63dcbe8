/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event.c - what proxies and servers tell about themselves: on stderr, and in the logs */
#include <stdarg.h>
#include <stdio.h>
#include "base/diag.h"
#include "proxy_priv.h"

static proxy_event_fn *event_hook;

void proxy_set_event_hook(proxy_event_fn *fn)
{
	event_hook = fn;
}

void proxy_log(const struct proxy *px, enum proxy_event event, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (event_hook)
		event_hook(px, event, text);
}

void proxy_tell(const struct proxy *px, enum proxy_event event, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (event == PROXY_EVENT_NO_SERVER)
		diag_say(DIAG_ALERT, "%s", text);
	else
		diag_say(DIAG_WARNING, "%s", text);
	if (event_hook)
		event_hook(px, event, text);
	mail_alert(px, event, text);
}
