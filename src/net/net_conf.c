/* SPDX-License-Identifier: GPL-2.0-or-later */
/* net_conf.c - edge file: the start-up of the network floor */
#include "base/module.h"
#include "net/net_init.h"

static bool net_init(void)
{
	return conn_init() && listener_init() && ctl_socket_init();
}

const struct module mod_net = { .name = "net", .init = net_init };
