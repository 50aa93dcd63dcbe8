/* SPDX-License-Identifier: GPL-2.0-or-later */
/* direct.c - `dispatch` and `option transparent`: an address that needs no server line
 *
 * It is a server all the same, for the code that opens connections and counts: proxy->direct, which
 * stands in no list, so that it is not checked, balanced, named or shown. Requests that persistence
 * gives to no server go there.
 */
#include <netinet/in.h>
#include <string.h>
#include "base/diag.h"
#include "conf/conf.h"
#include "proxy/address.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"
#include "balance_priv.h"
#include "proxy_priv.h"

/* The wildcard is this host, as for connect(). */
static void any_is_loopback(struct sockaddr_storage *sa)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)sa;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)sa;

	if (sa->ss_family == AF_INET && v4->sin_addr.s_addr == INADDR_ANY)
		v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else if (sa->ss_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr))
		v6->sin6_addr = in6addr_loopback;
}

static bool parse_dispatch(struct conf_line *l)
{
	struct proxy *px = l->object;
	const char *text = conf_expand(l->cfg, conf_next(l));
	struct server_addr *copy = arena_alloc(&l->cfg->arena, sizeof(*copy));
	struct address a;

	if (!text || !copy)
		return conf_error(l, 0, NULL, "out of memory.");
	if (!address_parse(text, ADDRESS_UNIX | ADDRESS_EMPTY_IS_ANY, &a))
		return conf_error(l, 1, "<address>:<port>, as in '127.0.0.1:80'",
				  "'dispatch' : %s.", a.error);
	if (!a.port_low && a.addr.sa.ss_family != AF_UNIX)
		return conf_error(l, 1, "<address>:<port>, as in '127.0.0.1:80'",
				  "'dispatch' : missing port specification in '%s'", text);
	*copy = a.addr;
	any_is_loopback(&copy->sa);
	px->dispatch = copy;
	return true;
}

/* The former name of `option transparent`. */
static bool parse_transparent(struct conf_line *l)
{
	((struct proxy *)l->object)->options |= PROXY_OPT_TRANSPARENT;
	return true;
}

static bool direct_make(struct proxy *px)
{
	static const struct sockaddr_in any = { .sin_family = AF_INET };
	struct server *srv = server_new_bare(px, "<none>");

	if (!srv)
		return false;
	srv->is_direct = true;
	if (px->dispatch) {
		server_set_line_address(srv, (const struct sockaddr *)&px->dispatch->sa,
					px->dispatch->len);
	} else {
		/* as written "0.0.0.0:+0": the address that the client asked for */
		server_set_line_address(srv, (const struct sockaddr *)&any, sizeof(any));
		srv->port_is_mapped = true;
	}
	server_complete(srv);
	px->direct = srv;
	return true;
}

void direct_check(struct proxy *px, struct diag_list *d)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };
	bool transparent = px->options & PROXY_OPT_TRANSPARENT;

	if (!(px->caps & PROXY_BE) || (!transparent && !px->dispatch))
		return;
	if (transparent && px->balancing.is_set) {
		diag_add(d, DIAG_ALERT, &nowhere, NULL, "%s '%s' cannot use both transparent and "
			 "balance mode.", proxy_kind_name(px), px->name);
	} else if (px->balancing.is_set) {
		diag_add(d, DIAG_WARNING, &nowhere, NULL, "dispatch address of %s '%s' will be "
			 "ignored in balance mode.", proxy_kind_name(px), px->name);
	} else {
		px->balancing.algorithm = &balance_none;
		if (px->mode != PROXY_MODE_LOG && !direct_make(px))
			diag_add(d, DIAG_ALERT, &nowhere, NULL, "out of memory for %s '%s'.",
				 proxy_kind_name(px), px->name);
	}
}

#define WAY_OUT " 'expose-deprecated-directives' in the global section silences this."

static const struct conf_keyword keywords[] = {
	{ .words = "dispatch", .where = CONF_BE, .flags = CONF_DEPRECATED, .min_args = 1,
	  .max_args = 1, .hint = "a server with this address does the same: 'server dispatch "
	  "<address>:<port>'; other servers get weight 0." WAY_OUT,
	  .parse = parse_dispatch, .syntax = "<address>:<port>",
	  .help = "where requests go that persistence gives to no server" },
	{ .words = "transparent", .where = CONF_DEF_BE, .flags = CONF_DEPRECATED,
	  .hint = "a server at 0.0.0.0 does the same: 'server all 0.0.0.0'." WAY_OUT,
	  .parse = parse_transparent, .help = "option transparent" },
	{ 0 }
};

const struct module mod_direct = {
	.name = "direct",
	.keywords = keywords,
};
