/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mux_conf.c - edge file: the start-up of the muxes, with the limits that streams set for them */
#include "conf/conf.h"
#include "mux/mux_init.h"
#include "stream_conf_priv.h"

static bool mux_init(void)
{
	return pass_init() && fcgi_init();
}

static bool mux_start(struct config *cfg, struct diag_list *diags)
{
	return h1_init(stream_fields_max() - 1);
}

static bool mux_thread_init(void)
{
	return pass_thread_init() && h1_thread_init() && fcgi_thread_init();
}

static struct slot *const mux_slots[] = { &h1_case_slot, NULL };

static struct trace_source *const mux_traces[] = { &trace_h1, &trace_pass, NULL };

const struct module mod_mux = {
	.name = "mux", .keywords = h1_case_keywords, .slots = mux_slots,
	.init = mux_init, .start = mux_start,
	.thread_init = mux_thread_init, .thread_fini = h1_thread_fini, .traces = mux_traces,
	.muxes = mux_rows,
};
