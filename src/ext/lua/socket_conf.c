/* SPDX-License-Identifier: GPL-2.0-or-later */
/* socket_conf.c - edge file: the TLS of scripts' sockets is that of a hidden server
 *
 * It is created before the modules below see the servers, and hidden when they all know it.
 */
#include "beside_priv.h"
#include "ext/lua.h"
#include "proxy/proxy.h"
#include "room_priv.h"
#include "tls/tls.h"

#define NAME "-lua-sockets-"

static void check(struct config *cfg, struct diag_list *diags)
{
	struct script_room *room = script_room_of(cfg);
	struct proxy *px;

	if ((!room->shared && !room->boxes) || !tls_library_name() ||
	    !conf_read_text(cfg, "<lua>", SLICE("backend " NAME "\n\tmode tcp\n"
			    "\tserver s 0.0.0.0:+0 ssl verify none\n"), diags))
		return;
	px = proxy_find(cfg, NAME, PROXY_BE);
	if (px)
		room->tls = server_first(px);
}

static bool thread_begins(void)
{
	script_sockets_begin();
	return true;
}

const struct module mod_lua_sockets = {
	.name = "lua-sockets", .check = check, .thread_init = thread_begins,
	.thread_fini = script_sockets_end,
};
