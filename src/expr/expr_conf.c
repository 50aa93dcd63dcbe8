/* SPDX-License-Identifier: GPL-2.0-or-later */
/* expr_conf.c - edge file: the module's descriptor */
#include "expr/modules.h"
#include "expr_priv.h"
#include "logformat_priv.h"

static void expr_thread_fini(void)
{
	regex_trim_thread();
	logformat_trim_thread();
}

static void expr_check(struct config *cfg, struct diag_list *diags)
{
	expr_resolve_sinks(cfg, cfg, diags);
}

static struct slot *const slots[] = { &expr_config_slot, NULL };

const struct module mod_expr = {
	.name = "expr",
	.slots = slots,
	.check = expr_check,
	.thread_fini = expr_thread_fini,
};
