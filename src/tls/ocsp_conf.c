/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ocsp_conf.c - edge file: OCSP updates in the section `global`
 *
 * Manual: configuration 3.1 (ocsp-update.*)
 */
#include <stddef.h>
#include <string.h>
#include "global_priv.h"
#include "ocsp_priv.h"

static struct tls_global *global_of(struct conf_line *l)
{
	return tls_global_of(l->cfg);
}

/* keyword->offset: of a bool in struct tls_global */
static bool parse_switch(struct conf_line *l)
{
	const char *word = conf_next(l);
	bool on = word && strcmp(word, "on") == 0;

	if (!on && (!word || strcmp(word, "off") != 0))
		return conf_error(l, l->at - !!word, NULL, "'%s' : expecting <on|off>",
				  l->words[0]);
	*(bool *)((char *)global_of(l) + l->keyword->offset) = on;
	return true;
}

static bool parse_delay(struct conf_line *l)
{
	struct tls_global *g = global_of(l);

	if (!conf_take_int(l, 1, INT32_MAX, (int64_t *)((char *)g + l->keyword->offset)))
		return false;
	if (g->ocsp_min_s <= g->ocsp_max_s)
		return true;
	return conf_error(l, l->at - 1, NULL, l->keyword->min ?
			  "'%s' can not be lower than ocsp-update.mindelay." :
			  "'%s' can not be higher than ocsp-update.maxdelay.", l->words[0]);
}

static bool parse_proxy(struct conf_line *l)
{
	struct addr_parse p = { .options = ADDR_OPT_PORT | ADDR_OPT_STREAM | ADDR_OPT_ONLY_IP };
	const char *word = conf_next(l);
	struct addr_spec spec;

	if (!word)
		return conf_error(l, l->at, NULL, "'%s' expects an address.", l->words[0]);
	if (!addr_parse(&p, slice_of(word), &spec))
		return conf_error(l, l->at - 1, "an address without a name is wanted",
				  "ocsp-update: Failed to parse destination address in %s",
				  p.error);
	global_of(l)->ocsp_proxy = spec.addr;
	global_of(l)->ocsp_proxy.port = spec.port ? spec.port : 80;
	return true;
}

#define GLOBAL .where = CONF_GLOBAL, .max_args = 1
#define DELAY(name, member, is_max, what) \
	{ .words = name, GLOBAL, .parse = parse_delay, .min = is_max, .syntax = "<seconds>", \
	  .offset = offsetof(struct tls_global, member), .help = what }
#define SWITCH(name, member, what) \
	{ .words = name, GLOBAL, .parse = parse_switch, .syntax = "{ on | off }", \
	  .offset = offsetof(struct tls_global, member), .help = what }

static const struct conf_keyword keywords[] = {
	SWITCH("ocsp-update.mode", ocsp_mode, "are OCSP answers of all certificates fetched"),
	SWITCH("ocsp-update.disable", ocsp_off, "no OCSP answer is fetched"),
	DELAY("ocsp-update.maxdelay", ocsp_max_s, 1, "an OCSP answer is fetched as often"),
	DELAY("ocsp-update.mindelay", ocsp_min_s, 0, "and not more often"),
	DELAY("tune.ssl.ocsp-update.maxdelay", ocsp_max_s, 1,
	      "older spelling of ocsp-update.maxdelay"),
	DELAY("tune.ssl.ocsp-update.mindelay", ocsp_min_s, 0,
	      "older spelling of ocsp-update.mindelay"),
	{ .words = "ocsp-update.httpproxy", GLOBAL, .parse = parse_proxy,
	  .syntax = "<address>[:<port>]", .help = "OCSP answers are fetched by way of it" },
	{ 0 }
};

const struct module mod_tls_ocsp_conf = { .name = "tls-ocsp-settings", .keywords = keywords };
