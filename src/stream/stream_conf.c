/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream_conf.c - start-up of net, mux and stream; what they compute of a configuration */
#include "base/clock.h"
#include "base/module.h"
#include "conf/conf.h"
#include "log/log.h"
#include "mux/mux_init.h"
#include "net/pipe.h"
#include "net/net_init.h"
#include "capture.h"
#include "listen_priv.h"
#include "server_conn.h"
#include "stream_priv.h"

static bool net_init(void)
{
	return conn_init() && listener_init();
}

static bool mux_init(void)
{
	return pass_init();
}

static bool mux_start(struct config *cfg, struct diag_list *diags)
{
	return h1_init(stream_fields_max() - 1);
}

static bool mux_thread_init(void)
{
	return pass_thread_init() && h1_thread_init();
}

static bool stream_module_init(void)
{
	server_conn_register();
	stream_set_stages(stream_stages);
	listen_init();
	event_log_init();
	return session_init() && server_conn_init();
}

static bool stream_thread_init(void)
{
	return session_thread_init() && server_conn_thread_init();
}

static void stream_thread_fini(void)
{
	server_conn_thread_fini();
	stream_log_thread_fini();
}

static bool stream_start(struct config *cfg, struct diag_list *diags)
{
	stream_fill_settings(cfg);
	return stream_init();
}

static struct slot *const mux_slots_list[] = { &h1_case_slot, NULL };
static struct slot *const stream_slots_list[] = { &stream_proxy_slot, &capture_slot, NULL };

const struct module mod_net = { .name = "net", .init = net_init,
				.thread_fini = pipe_trim_thread };
const struct module mod_mux = {
	.name = "mux", .keywords = h1_case_keywords, .slots = mux_slots_list,
	.init = mux_init, .start = mux_start,
	.thread_init = mux_thread_init, .thread_fini = h1_thread_fini,
};
const struct module mod_stream = {
	.name = "stream", .slots = stream_slots_list, .init = stream_module_init,
	.start = stream_start,
	.thread_init = stream_thread_init, .thread_fini = stream_thread_fini,
};
