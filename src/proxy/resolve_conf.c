/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolve_conf.c - edge file: init-addr, resolvers, resolve-*; show resolvers
 * Manual: configuration 5.2, 5.3.
 */
#include <string.h>
#include "conf/conf.h"
#include "core/thread.h"
#include "ctl/ctl.h"
#include "resolve_priv.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"

/* --- options --------------------------------------------------------------------------------- */

/* Begins as messages about server lines do. */
#define option_error(l, fmt, ...) \
	conf_report(l, (l)->at - 1, DIAG_ALERT, DIAG_AT, "'server %s/%s' : " fmt, \
		    ((struct server *)(l)->object)->proxy->name, \
		    ((struct server *)(l)->object)->name, ##__VA_ARGS__)

/* The next part of a list with commas; false: no more. */
static bool next_part(const char **list, struct slice *part)
{
	size_t len = strcspn(*list, ",");

	if (!**list)
		return false;
	*part = slice_make(*list, len);
	*list += len + ((*list)[len] == ',');
	return true;
}

static bool parse_init_addr(struct conf_line *l)
{
	struct resolve *n = &((struct server *)l->object)->resolve;
	struct addr *ip = arena_zalloc(&l->cfg->arena, sizeof(*ip));
	const char *list = conf_next(l);
	struct slice part;

	if (!ip)
		return conf_error(l, 0, NULL, "out of memory.");
	n->ip = ip;
	n->method_count = 0;
	while (next_part(&list, &part)) {
		enum resolve_method method = RESOLVE_IP;

		if (slice_eq(part, SLICE("last")))
			method = RESOLVE_LAST;
		else if (slice_eq(part, SLICE("libc")))
			method = RESOLVE_LIBC;
		else if (slice_eq(part, SLICE("none")))
			method = RESOLVE_NONE;
		else if (!addr_parse_ip(part, ADDR_NONE, ip))
			return option_error(l, "'init-addr' : unknown init-addr method '%.*s', "
					    "supported methods are 'libc', 'last', 'none'.",
					    SLICE_FMT(part));
		if (!resolve_add_method(n, method))
			return option_error(l, "'init-addr' : too many methods.");
	}
	return true;
}

static bool parse_resolvers(struct conf_line *l)
{
	return conf_take_string(l, &((struct server *)l->object)->resolve.resolvers_name);
}

static bool parse_prefer(struct conf_line *l)
{
	struct resolve *n = &((struct server *)l->object)->resolve;
	const char *word = conf_next(l);

	n->prefer_ipv4 = strcmp(word, "ipv4") == 0;
	return n->prefer_ipv4 || strcmp(word, "ipv6") == 0 ||
	       option_error(l, "'resolve-prefer' expects either ipv4 or ipv6 as argument.");
}

static bool parse_opts(struct conf_line *l)
{
	struct resolve *n = &((struct server *)l->object)->resolve;
	const char *list = conf_next(l);
	struct slice part;

	while (next_part(&list, &part)) {
		if (slice_eq(part, SLICE("allow-dup-ip")))
			n->may_duplicate = true;
		else if (slice_eq(part, SLICE("prevent-dup-ip")))
			n->may_duplicate = false;
		else if (slice_eq(part, SLICE("ignore-weight")))
			n->ignore_weight = true;
		else
			return option_error(l, "'resolve-opts' : unknown resolve-opts option "
					    "'%.*s', supported methods are 'allow-dup-ip', "
					    "'ignore-weight', and 'prevent-dup-ip'.",
					    SLICE_FMT(part));
	}
	return true;
}

static bool parse_net(struct conf_line *l)
{
	struct resolve *n = &((struct server *)l->object)->resolve;
	struct resolve_net *nets = arena_alloc(&l->cfg->arena, RESOLVE_NETS_MAX * sizeof(*nets));
	const char *list = conf_next(l);
	struct slice part;

	if (!nets)
		return conf_error(l, 0, NULL, "out of memory.");
	n->nets = nets;
	n->net_count = 0;
	while (next_part(&list, &part)) {
		if (n->net_count == RESOLVE_NETS_MAX)
			return option_error(l, "'resolve-net' exceed %d networks.",
					    RESOLVE_NETS_MAX);
		if (!addr_parse_network(part, &nets[n->net_count].addr, &nets[n->net_count].bits))
			return option_error(l, "'resolve-net' invalid network '%.*s'.",
					    SLICE_FMT(part));
		n->net_count++;
	}
	return true;
}

/* --- life ------------------------------------------------------------------------------------ */

/* Before any thread runs, so that each finds the sections ready. A reload does it in adopt(). */
static bool start(struct config *cfg, struct diag_list *diags)
{
	return proxies_current() || resolvers_begin(cfg, NULL);
}

static bool thread_begin(void)
{
	return thread_id || resolve_all_begin(proxies_current(), NULL);
}

static void thread_end(void)
{
	if (thread_id)
		return;
	if (proxies_current())
		resolve_all_end(proxies_current());
	resolvers_stop();
}

static void adopt(struct config *next, struct config *prev)
{
	if (!resolve_all_begin(next, prev))
		diag_say(DIAG_WARNING, "out of memory: some names are not resolved any more.");
}

static void retire(struct config *prev)
{
	resolve_all_end(prev);
}

/* --- commands -------------------------------------------------------------------------------- */

static enum ctl_step show_resolvers(struct ctl_request *rq)
{
	const char *name = rq->at < rq->count ? rq->words[rq->at] : NULL;

	if (name && !resolvers_find(proxies_current(), name))
		ctl_error(rq, "Can't find that resolvers section");
	else
		resolvers_put_text(proxies_current(), name, rq->out);
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "show resolvers", .level = CTL_USER, .syntax = "[id]",
	  .help = "show counters of the name servers of all sections, or of one",
	  .run = show_resolvers },
	{ 0 }
};

#define ONE .where = CONF_SERVER, .min_args = 1, .max_args = 1

static const struct conf_keyword keywords[] = {
	{ .words = "init-addr", ONE, .parse = parse_init_addr,
	  .syntax = "{last|libc|none|<address>}[,...]",
	  .help = "how a name gets its first address" },
	{ .words = "resolvers", ONE, .parse = parse_resolvers, .syntax = "<section>",
	  .help = "name servers that are asked for the addresses at run time" },
	{ .words = "resolve-prefer", ONE, .parse = parse_prefer, .syntax = "{ipv4|ipv6}",
	  .help = "the better family of addresses" },
	{ .words = "resolve-opts", ONE, .parse = parse_opts,
	  .syntax = "{allow-dup-ip|prevent-dup-ip|ignore-weight}[,...]",
	  .help = "may servers share an address; are weights of SRV records used" },
	{ .words = "resolve-net", ONE, .parse = parse_net, .syntax = "<network>[,...]",
	  .help = "networks whose addresses are the better ones" },
	{ 0 }
};

const struct module mod_resolve = {
	.name = "resolve", .keywords = keywords, .commands = commands, .check = resolve_all_check,
	.start = start,
	.thread_init = thread_begin, .thread_fini = thread_end, .adopt = adopt, .retire = retire,
};
