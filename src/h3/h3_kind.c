/* SPDX-License-Identifier: GPL-2.0-or-later */
/* h3_kind.c - edge file: HTTP/3's row of the table of protocols */
#include "base/module.h"
#include "h3_priv.h"
#include "h3_trace.h"

static const struct mux_kind kind = {
	.name = "quic", .label = "QUIC", .alpn = SLICE("\x02h3"), .mode = MUX_HTTP,
	.sides = MUX_FRONT | MUX_BACK, .traits = MUX_MULTIPLEX | MUX_FRAMED, .major = 3,
	.front_ops = &h3_endpoint, .front_new = h3_front_new, .front_start = h3_front_start,
	.front_stop = h3_front_stop, .set_settings = h3_set_settings,
	.back_new = h3_back_new, .back_attach = h3_back_attach, .back_room = h3_back_room,
	.back_is_ending = h3_back_is_ending, .back_close = h3_back_close,
	.back_detach_thread = h3_back_detach_thread,
	.back_attach_thread = h3_back_attach_thread, .back_open = h3_dial,
};

static struct trace_source *const traces[] = { &trace_h3, NULL };
static const struct mux_kind *const muxes[] = { &kind, NULL };

static bool start(struct config *cfg, struct diag_list *diags)
{
	return h3_init_pools();
}

const struct module mod_h3 = {
	.name = "h3", .muxes = muxes, .traces = traces, .start = start,
	.thread_fini = h3_head_thread_fini,
};
