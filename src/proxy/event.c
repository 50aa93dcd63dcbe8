/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event.c - events of proxies and servers: on stderr, and in the logs */
#include <stdarg.h>
#include <stdio.h>
#include "base/bug.h"
#include "base/diag.h"
#include "proxy/server_event.h"
#include "proxy_priv.h"

#define HOOKS_MAX 4

static proxy_event_fn *hooks[HOOKS_MAX];

void proxy_add_event_hook(proxy_event_fn *fn)
{
	unsigned i = 0;

	while (i < HOOKS_MAX && hooks[i] && hooks[i] != fn)
		i++;
	BUG_ON(i == HOOKS_MAX);
	hooks[i] = fn;
}

static void call_hooks(const struct proxy *px, enum proxy_event event, const char *text)
{
	for (unsigned i = 0; i < HOOKS_MAX && hooks[i]; i++)
		hooks[i](px, event, text);
}

static server_event_fn *server_hook;

void server_set_event_hook(server_event_fn *fn)
{
	server_hook = fn;
}

void server_event_tell(const struct server_event *e)
{
	if (server_hook)
		server_hook(e);
}

void proxy_log(const struct proxy *px, enum proxy_event event, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	call_hooks(px, event, text);
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
	call_hooks(px, event, text);
	mail_alert(px, event, text);
}
