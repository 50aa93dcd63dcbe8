/* SPDX-License-Identifier: GPL-2.0-or-later */
/* net_conf.c - edge file: the start-up of the network floor */
#include "base/block.h"
#include "base/module.h"
#include "net/net_init.h"
#include "net/pipe.h"

static bool net_init(void)
{
	return conn_init() && listener_init();
}

/* The last of the floors which move bytes: what the others gave back is freed. */
static void net_thread_fini(void)
{
	pipe_thread_fini();
	block_queue_trim_thread();
}

const struct module mod_net = {
	.name = "net", .init = net_init, .thread_fini = net_thread_fini,
};
