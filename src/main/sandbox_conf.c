/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sandbox_conf.c - edge file: sandbox, and what excludes it */
#include <string.h>
#include "base/diag.h"
#include "check/run.h"
#include "conf/conf.h"
#include "proxy/check.h"
#include "process_priv.h"
#include "settings_priv.h"

static bool parse_sandbox(struct conf_line *l)
{
	const char *word = conf_next(l);

	if (strcmp(word, "on") != 0 && strcmp(word, "off") != 0)
		return conf_error(l, l->at - 1, NULL, "'%s' expects 'on' or 'off' but got '%s'.",
				  l->words[0], word);
	settings_of(l->cfg)->sandbox = strcmp(word, "on") == 0;
	return true;
}

static const struct conf_keyword keywords[] = {
	{ .words = "sandbox", .where = CONF_GLOBAL, .flags = CONF_EARLY, .min_args = 1,
	  .max_args = 1, .parse = parse_sandbox, .syntax = "{ on | off }",
	  .help = "give up what serving does not need (an extension)" },
	{ 0 }
};

static void sandbox_check(struct config *cfg, struct diag_list *diags)
{
	const struct main_settings *set = settings_of(cfg);

	if (!set->sandbox)
		return;
	if (checks_may_fork(cfg))
		diag_add(diags, DIAG_ALERT, NULL, NULL, "'sandbox on' and 'insecure-fork-wanted' "
			 "exclude each other: no program can be run in the sandbox, so there are "
			 "no external checks.");
	if (set->rights.insecure_setuid)
		diag_add(diags, DIAG_ALERT, NULL, NULL, "'sandbox on' and 'insecure-setuid-wanted' "
			 "exclude each other.");
}

const struct module mod_sandbox = { .name = "sandbox", .keywords = keywords,
				    .check = sandbox_check };
