/* SPDX-License-Identifier: GPL-2.0-or-later */
/* net_conf.c - edge file: the start-up of the network floor */
#include "base/block.h"
#include "base/module.h"
#include "conf/conf.h"
#include "net/net_init.h"
#include "net/pipe.h"

static bool net_init(void)
{
	return conn_init() && raw_init() && listener_init() && ctl_socket_init();
}

/* Last of all floors that move bytes: what they gave back is freed. */
static void net_thread_fini(void)
{
	pipe_thread_fini();
	block_queue_trim_thread();
}

static const struct conf_keyword keywords[] = {
	{ .words = "tune.pipesize", .where = CONF_GLOBAL, .min_args = 1, .max_args = 1,
	  .parse = conf_parse_size, .slot = &pipe_tune_slot,
	  .offset = offsetof(struct pipe_tunes, size), .max = 1 << 30, .syntax = "<size>",
	  .help = "bytes that a pipe holds" },
	{ 0 }
};

static struct slot *const slots[] = { &pipe_tune_slot, NULL };

const struct module mod_net = {
	.name = "net", .keywords = keywords, .slots = slots, .init = net_init,
	.thread_init = raw_thread_init, .thread_fini = net_thread_fini,
};
