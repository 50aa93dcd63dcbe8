/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fixture.h - a generation made of a text, for the tests of this folder and of those above */
#ifndef TESTS_PROXY_FIXTURE_H
#define TESTS_PROXY_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/diag.h"
#include "base/slot.h"
#include "conf/conf.h"
#include "proxy/balance.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "tls/tls.h"

/* Modules of higher floors, each followed by a comma: tests of these define it. */
#ifndef FIXTURE_ABOVE
#define FIXTURE_ABOVE
#endif

static const struct module *const fixture_modules[] = {
	&mod_conf, &mod_balance, &mod_direct,
	&mod_proxy, &mod_proxy_options, &mod_bind, &mod_unix_bind, &mod_server,
	FIXTURE_ABOVE &mod_outlier, &mod_mail, &mod_tls_bind, &mod_tls_server, NULL
};

static struct diag_list fixture_diags;

/* Once, before the first generation. */
__attribute__((unused))
static void fixture_init(void)
{
	clock_refresh();
	for (int i = 0; fixture_modules[i]; i++)
		for (struct slot *const *s = fixture_modules[i]->slots; s && *s; s++)
			slot_register(*s);
	if (!conf_register(fixture_modules))
		abort();
	diag_list_init(&fixture_diags);
}

/* Reads and checks; NULL when there was an alert (fixture_diags tells). */
__attribute__((unused))
static struct config *fixture_read(const char *text)
{
	struct config *cfg = config_new();
	bool good;

	if (!cfg)
		abort();
	diag_list_fini(&fixture_diags);
	diag_list_init(&fixture_diags);
	good = conf_read_text(cfg, "test", slice_of(text), &fixture_diags);
	good = good && conf_check(cfg, &fixture_diags);
	if (!good) {
		config_drop(&cfg);
		return NULL;
	}
	proxies_set_process_maxconn(cfg, 1000);
	return cfg;
}

/* Same, must succeed. */
__attribute__((unused))
static struct config *fixture_load(const char *text)
{
	struct config *cfg = fixture_read(text);

	if (!cfg) {
		diag_print(&fixture_diags, DIAG_WARNING, stderr);
		abort();
	}
	return cfg;
}

/* The message of the first diagnostic of at least <least>, or "". */
__attribute__((unused))
static const char *fixture_message(enum diag_level least)
{
	const struct diag *d;

	list_for_each(d, &fixture_diags.diags, link)
		if (d->level >= least)
			return d->message;
	return "";
}

#endif
