/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mail_alert.c - sends events as mails: one to each mailer of the proxy's section */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "conf/conf.h"
#include "proxy/address.h"
#include "proxy/mailers.h"
#include "proxy/proxy.h"
#include "mail_priv.h"
#include "proxy_priv.h"

#define LEVEL_ALERT 1
#define LEVEL_NOTICE 5
#define LEVEL_INFO 6

struct slot mail_slot = { .of = SLOT_PROXY, .size = sizeof(struct mail_settings) };

struct slot mail_config_slot = { .of = SLOT_CONFIG, .size = sizeof(struct mail_config) };

struct mail_config *mail_config_of(const struct config *cfg)
{
	return slot_of(&mail_config_slot, config_slots(cfg));
}

struct mail_settings *mail_settings_of(const struct proxy *px)
{
	return slot_of(&mail_slot, proxy_slots(px));
}

/* The level that email-alert level is compared with; 0: never mailed. */
static int level_of(enum proxy_event event)
{
	switch (event) {
	case PROXY_EVENT_DOWN:
		return LEVEL_ALERT;
	case PROXY_EVENT_NOTICE:
		return LEVEL_NOTICE;
	case PROXY_EVENT_CHECK:
		return LEVEL_INFO;
	default:
		return 0;
	}
}

void mail_alert(const struct proxy *px, enum proxy_event event, const char *text)
{
	const struct mail_settings *set = mail_settings_of(px);
	int level = level_of(event);
	char host[256] = "", copy[1024];
	struct mail m;
	size_t len;

	if (!set->mailers || mail_config_of(px->config)->is_left || !level ||
	    level > (set->has_level ? set->level : LEVEL_ALERT))
		return;
	len = (size_t)snprintf(copy, sizeof(copy), "%s", text);
	if (len && len < sizeof(copy) && copy[len - 1] == '.')
		copy[len - 1] = 0;
	gethostname(host, sizeof(host) - 1);
	m = (struct mail){ .timeout_ms = set->mailers->timeout_ms, .from = set->from,
			   .to = set->to, .text = copy,
			   .hostname = set->hostname ? set->hostname : host };
	for (m.mailer = set->mailers->first; m.mailer; m.mailer = m.mailer->next)
		mail_send(&m);
}

bool proxy_mailers(const struct proxy *px, struct proxy_mailers *out)
{
	const struct mail_settings *set = mail_settings_of(px);

	if (!set->mailers)
		return false;
	*out = (struct proxy_mailers){ .from = set->from, .to = set->to,
				       .hostname = set->hostname,
				       .level = set->has_level ? set->level : LEVEL_ALERT,
				       .timeout_ms = set->mailers->timeout_ms };
	return true;
}

const char *proxy_mailer(const struct proxy *px, unsigned n, char *address, size_t size)
{
	const struct mail_settings *set = mail_settings_of(px);
	const struct mailer *m = set->mailers ? set->mailers->first : NULL;

	while (m && n--)
		m = m->next;
	if (!m)
		return NULL;
	address_text((const struct sockaddr *)&m->addr.sa, address, size);
	return m->name;
}

void mailers_leave(struct config *cfg)
{
	mail_config_of(cfg)->is_left = true;
}
