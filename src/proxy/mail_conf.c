/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mail_conf.c - edge file: mailers sections, and the proxies' email-alert */
#include <string.h>
#include "conf/conf.h"
#include "log/log.h"
#include "proxy/address.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"
#include "mail_priv.h"

#define TIMEOUT_MS 10000

static struct mailers *find(const struct config *cfg, const char *name)
{
	struct mail_config *c = mail_config_of(cfg);

	for (struct mailers *m = c->first; m; m = m->next)
		if (strcmp(m->name, name) == 0)
			return m;
	return NULL;
}

/* --- mailers -------------------------------------------------------------------------------- */

static bool open_mailers(struct conf_line *l)
{
	struct mail_config *c = mail_config_of(l->cfg);
	const char *name = conf_next(l);
	struct mailers *m;

	if (!name)
		return conf_error(l, 0, NULL, "missing name for mailers section.");
	if (find(l->cfg, name))
		return conf_error(l, 1, NULL, "mailers section '%s' already exists.", name);
	m = arena_zalloc(&l->cfg->arena, sizeof(*m));
	if (!m)
		return conf_error(l, 0, NULL, "out of memory.");
	*m = (struct mailers){ .next = c->first, .name = name, .timeout_ms = TIMEOUT_MS };
	m->last = &m->first;
	c->first = m;
	l->object = m;
	l->slots = NULL;
	return conf_take_end(l);
}

/* mailer <name> <ip>:<port> */
static bool parse_mailer(struct conf_line *l)
{
	struct mailers *list = l->object;
	const char *name = conf_next(l), *where = conf_next(l);
	struct mailer *m;
	struct address a;

	if (!name || !where)
		return conf_error(l, 0, NULL, "'mailer' expects <name> and <addr>[:<port>] as "
				  "arguments.");
	if (!address_parse(where, ADDRESS_PORT_MUST, &a))
		return conf_error(l, 2, NULL, "'mailer %s' : %s", name, a.error);
	m = arena_zalloc(&l->cfg->arena, sizeof(*m));
	if (!m)
		return conf_error(l, 0, NULL, "out of memory.");
	*m = (struct mailer){ .name = name, .addr = a.addr };
	*list->last = m;
	list->last = &m->next;
	return conf_take_end(l);
}

static bool parse_timeout(struct conf_line *l)
{
	struct mailers *m = l->object;

	if (!conf_take_time_ms(l, &m->timeout_ms))
		return false;
	return m->timeout_ms > 0 || conf_error(l, 2, NULL, "'timeout mail' must be positive.");
}

/* --- email-alert ---------------------------------------------------------------------------- */

static bool parse_level(struct conf_line *l, struct mail_settings *set)
{
	const char *word = conf_next(l);
	int level = word ? log_level_find(slice_of(word)) : -1;

	if (level < 0)
		return conf_error(l, l->at - 1, NULL, "unknown log level '%s' after 'level'",
				  word ? word : "");
	set->level = level;
	set->has_level = true;
	return conf_take_end(l);
}

static bool parse_email_alert(struct conf_line *l)
{
	struct mail_settings *set = mail_settings_of(l->object);
	const struct {
		const char *word;
		const char **to;
	} texts[] = { { "from", &set->from }, { "to", &set->to },
		      { "mailers", &set->mailers_name }, { "myhostname", &set->hostname } };
	const char *word = conf_next(l);

	if (strcmp(word, "level") == 0)
		return parse_level(l, set);
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strcmp(word, texts[i].word) == 0) {
			*texts[i].to = conf_next(l);
			return *texts[i].to ? conf_take_end(l)
				: conf_error(l, 1, NULL, "missing argument after '%s'.", word);
		}
	return conf_error(l, 1, NULL, "email-alert: unknown argument '%s'.", word);
}

static void check_proxy(struct proxy *px, struct diag_list *d)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };
	struct mail_settings *set = mail_settings_of(px);

	if (!set->mailers_name && !set->from && !set->to && !set->hostname && !set->has_level)
		return;
	if (!set->mailers_name || !set->from || !set->to) {
		diag_add(d, DIAG_WARNING, &nowhere, NULL, "'email-alert' will be ignored for %s "
			 "'%s' (the presence any of 'email-alert from', 'email-alert level' "
			 "'email-alert mailers', 'email-alert myhostname', or 'email-alert to' "
			 "requires each of 'email-alert from', 'email-alert mailers' and "
			 "'email-alert to' to be present).", proxy_kind_name(px), px->name);
		return;
	}
	set->mailers = find(px->config, set->mailers_name);
	if (!set->mailers)
		diag_add(d, DIAG_ALERT, &nowhere, NULL, "Proxy '%s': unable to find mailers '%s'.",
			 px->name, set->mailers_name);
}

static void check(struct config *cfg, struct diag_list *diags)
{
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px))
		check_proxy(px, diags);
}

/* --- tables --------------------------------------------------------------------------------- */

static const struct conf_section sections[] = {
	{ .name = "mailers", .where = CONF_OTHER, .open = open_mailers, .syntax = "<name>",
	  .help = "servers that send alerts by mail" },
	{ 0 }
};

static const struct conf_keyword keywords[] = {
	{ .words = "mailer", .where = CONF_OTHER, .section = "mailers", .max_args = -1,
	  .parse = parse_mailer, .syntax = "<name> <address>:<port>",
	  .help = "a server that takes mail" },
	{ .words = "timeout mail", .where = CONF_OTHER, .section = "mailers", .min_args = 1,
	  .max_args = 1, .parse = parse_timeout, .syntax = "<delay>",
	  .help = "for a mail to be sent" },
	{ .words = "email-alert", .where = CONF_PROXY, .min_args = 1, .max_args = -1,
	  .parse = parse_email_alert,
	  .syntax = "{ from | to | mailers | myhostname | level } <value>",
	  .parts = "from level mailers myhostname to", .help = "mail what happens to servers" },
	{ 0 }
};

static struct slot *const slots[] = { &mail_slot, &mail_config_slot, NULL };

const struct module mod_mail = {
	.name = "mail",
	.sections = sections,
	.keywords = keywords,
	.slots = slots,
	.check = check, .check_backend = check_proxy,
	.thread_fini = mail_thread_fini,
};
