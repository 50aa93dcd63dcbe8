/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process_smp.c - edge file: fetches about the process as a whole
 *
 * Manual: configuration 7.3.2 stopping, uptime.
 */
#include "base/clock.h"
#include "ctl/ctl.h"
#include "expr/expr.h"
#include "generation_priv.h"

static enum expr_result fetch_stopping(struct expr_ctx *ctx, const struct expr_arg *args,
				       struct sample *out)
{
	out->type = SMP_BOOL;
	out->flags = SMP_VOLATILE;
	out->boolean = stop_is_stopping();
	return EXPR_FOUND;
}

static enum expr_result fetch_uptime(struct expr_ctx *ctx, const struct expr_arg *args,
				     struct sample *out)
{
	out->type = SMP_INT;
	out->flags = SMP_VOLATILE;
	out->integer = (int64_t)(ctl_uptime_ns() / 1000000000);
	return EXPR_FOUND;
}

static const struct expr_fetch fetches[] = {
	{ .name = "stopping", .out = SMP_BOOL, .use = EXPR_USE_INTERNAL, .fetch = fetch_stopping,
	  .help = "is the process stopping?" },
	{ .name = "uptime", .out = SMP_INT, .use = EXPR_USE_CONST, .fetch = fetch_uptime,
	  .help = "seconds since the start of the process" },
	{ 0 }
};

const struct module mod_process_smp = { .name = "process-fetches", .fetches = fetches };
