/* SPDX-License-Identifier: GPL-2.0-or-later */
/* legacy_conf.c - edge file: spellings that went out of use, and what to write instead. Exports
 * mod_conf_legacy. What has an exact modern meaning is accepted with a warning, the rest is
 * refused.
 */
#include "conf_priv.h"

#define GONE(spelling, place, text) \
	{ .words = spelling, .where = place, .flags = CONF_REFUSED | CONF_HIDDEN | CONF_CAN_NO, \
	  .max_args = -1, .hint = text }
/* the same, which -dK shows */
#define GONE_SHOWN(spelling, place, text) \
	{ .words = spelling, .where = place, .flags = CONF_REFUSED | CONF_CAN_NO, .max_args = -1, \
	  .hint = text }
#define USELESS(spelling, place, text) \
	{ .words = spelling, .where = place, .flags = CONF_IGNORED | CONF_HIDDEN | CONF_CAN_NO, \
	  .max_args = 0, .hint = text }

static const struct conf_keyword keywords[] = {
	GONE_SHOWN("contimeout", CONF_PROXY,
	     "the 'contimeout' directive is not supported anymore since HAProxy 2.1. Use "
	     "'timeout connect'."),
	GONE_SHOWN("clitimeout", CONF_PROXY,
	     "the 'clitimeout' directive is not supported anymore since HAProxy 2.1. Use "
	     "'timeout client'."),
	GONE_SHOWN("srvtimeout", CONF_PROXY,
	     "the 'srvtimeout' directive is not supported anymore since HAProxy 2.1. Use "
	     "'timeout server'."),
	GONE("timeout contimeout", CONF_PROXY,
	     "the 'contimeout' directive is not supported anymore since HAProxy 2.1. Use "
	     "'timeout connect'."),
	GONE("timeout clitimeout", CONF_PROXY,
	     "the 'clitimeout' directive is not supported anymore since HAProxy 2.1. Use "
	     "'timeout client'."),
	GONE("timeout srvtimeout", CONF_PROXY,
	     "the 'srvtimeout' directive is not supported anymore since HAProxy 2.1. Use "
	     "'timeout server'."),
	GONE("mode health", CONF_PROXY,
	     "'mode health' doesn't exist anymore. Please use 'http-request return status "
	     "200' instead."),
	GONE("hash-type avalanche", CONF_PROXY,
	     "'hash-type avalanche' is not supported anymore, please use 'hash-type "
	     "map-based sdbm avalanche' instead."),
	GONE("redispatch", CONF_PROXY,
	     "keyword 'redispatch' directive is not supported anymore since HAProxy 2.1. "
	     "Use 'option redispatch'."),
	GONE("redisp", CONF_PROXY,
	     "keyword 'redisp' directive is not supported anymore since HAProxy 2.1. Use "
	     "'option redispatch'."),
	GONE("reqadd", CONF_PROXY,
	     "The 'reqadd' directive is not supported anymore since HAProxy 2.1. Use "
	     "'http-request add-header' instead."),
	GONE("reqdel", CONF_PROXY,
	     "The 'reqdel' directive is not supported anymore since HAProxy 2.1. Use "
	     "'http-request del-header' instead."),
	GONE("reqallow", CONF_PROXY,
	     "The 'reqallow' directive is not supported anymore since HAProxy 2.1. Use "
	     "'http-request allow' instead."),
	GONE("reqdeny", CONF_PROXY,
	     "The 'reqdeny' directive is not supported anymore since HAProxy 2.1. Use "
	     "'http-request deny' instead."),
	GONE("reqpass", CONF_PROXY,
	     "The 'reqpass' directive is not supported anymore since HAProxy 2.1. What it "
	     "let through is written as a condition of the rules that follow."),
	GONE("reqtarpit", CONF_PROXY,
	     "The 'reqtarpit' directive is not supported anymore since HAProxy 2.1. Use "
	     "'http-request tarpit' instead."),
	GONE("reqrep", CONF_PROXY,
	     "The 'reqrep' directive is not supported anymore since HAProxy 2.1. Use "
	     "'http-request replace-path', 'http-request replace-uri' or 'http-request "
	     "replace-header' instead."),
	GONE("reqidel", CONF_PROXY,
	     "The 'reqidel' directive is not supported anymore since HAProxy 2.1. Use "
	     "'http-request del-header' instead."),
	GONE("reqiallow", CONF_PROXY,
	     "The 'reqiallow' directive is not supported anymore since HAProxy 2.1. Use "
	     "'http-request allow' instead."),
	GONE("reqideny", CONF_PROXY,
	     "The 'reqideny' directive is not supported anymore since HAProxy 2.1. Use "
	     "'http-request deny' instead."),
	GONE("reqipass", CONF_PROXY,
	     "The 'reqipass' directive is not supported anymore since HAProxy 2.1. What it "
	     "let through is written as a condition of the rules that follow."),
	GONE("reqitarpit", CONF_PROXY,
	     "The 'reqitarpit' directive is not supported anymore since HAProxy 2.1. Use "
	     "'http-request tarpit' instead."),
	GONE("reqirep", CONF_PROXY,
	     "The 'reqirep' directive is not supported anymore since HAProxy 2.1. Use "
	     "'http-request replace-header' instead."),
	GONE("reqsetbe", CONF_PROXY,
	     "The 'reqsetbe' directive is not supported anymore since HAProxy 2.1. Use "
	     "'use_backend' with a condition instead."),
	GONE("reqisetbe", CONF_PROXY,
	     "The 'reqisetbe' directive is not supported anymore since HAProxy 2.1. Use "
	     "'use_backend' with a condition instead."),
	GONE("rspadd", CONF_PROXY,
	     "The 'rspadd' directive is not supported anymore since HAProxy 2.1. Use "
	     "'http-response add-header' instead."),
	GONE("rspdel", CONF_PROXY,
	     "The 'rspdel' directive is not supported anymore since HAProxy 2.1. Use "
	     "'http-response del-header' instead."),
	GONE("rspdeny", CONF_PROXY,
	     "The 'rspdeny' directive is not supported anymore since HAProxy 2.1. Use "
	     "'http-response deny' instead."),
	GONE("rsprep", CONF_PROXY,
	     "The 'rsprep' directive is not supported anymore since HAProxy 2.1. Use "
	     "'http-response replace-header' instead."),
	GONE("rspidel", CONF_PROXY,
	     "The 'rspidel' directive is not supported anymore since HAProxy 2.1. Use "
	     "'http-response del-header' instead."),
	GONE("rspideny", CONF_PROXY,
	     "The 'rspideny' directive is not supported anymore since HAProxy 2.1. Use "
	     "'http-response deny' instead."),
	GONE("rspirep", CONF_PROXY,
	     "The 'rspirep' directive is not supported anymore since HAProxy 2.1. Use "
	     "'http-response replace-header' instead."),
	GONE("cliexp", CONF_PROXY,
	     "The 'cliexp' directive is not supported anymore since HAProxy 2.1. Use "
	     "'http-request replace-path', 'http-request replace-uri' or 'http-request "
	     "replace-header' instead."),
	GONE("srvexp", CONF_PROXY,
	     "The 'srvexp' directive is not supported anymore since HAProxy 2.1. Use "
	     "'http-response replace-header' instead."),
	GONE("block", CONF_PROXY,
	     "The 'block' directive is not supported anymore since HAProxy 2.1. Use "
	     "'http-request deny' which uses the exact same syntax."),
	GONE("bind-process", CONF_PROXY,
	     "'bind-process' is not supported anymore. Threads run on all CPUs; 'thread' "
	     "on a 'bind' line chooses among them."),
	GONE("appsession", CONF_PROXY,
	     "'appsession' is not supported anymore since HAProxy 1.6. Use 'stick-table' "
	     "with 'stick on' or 'stick store-response' instead."),
	GONE("monitor-net", CONF_PROXY,
	     "'monitor-net' doesn't exist anymore. Please use 'http-request return status "
	     "200 if { src 192.0.2.1 }' instead."),
	GONE("grace", CONF_PROXY,
	     "the 'grace' keyword is not supported any more since HAProxy version 2.5. Use "
	     "'grace' or 'hard-stop-after' of the global section instead."),
	GONE("option forceclose", CONF_PROXY,
	     "option 'forceclose' is not supported any more since HAProxy 2.0, please just "
	     "remove it, or use 'option httpclose' if absolutely needed."),
	GONE("option http-tunnel", CONF_PROXY,
	     "option 'http-tunnel' is not supported any more since HAProxy 2.1, please "
	     "just remove it, it shouldn't be needed."),
	GONE("option http_proxy", CONF_PROXY,
	     "option 'http_proxy' is not supported any more since HAProxy 2.5. Write it "
	     "with 'http-request set-dst' and 'http-request set-uri', with 'http-request "
	     "do-resolve' where names are to be resolved."),
	GONE("option tcpsplice", CONF_PROXY,
	     "option 'tcpsplice' is not supported any more. Use 'option splice-auto' "
	     "instead."),
	GONE("option independant-streams", CONF_PROXY,
	     "option 'independant-streams' is not supported any more. Use 'option "
	     "independent-streams' instead."),
	USELESS("option http-use-htx", CONF_PROXY,
	     "option 'http-use-htx' is always on since HAProxy 2.0 and has no effect: "
	     "please remove it."),
	GONE_SHOWN("nbproc", CONF_GLOBAL,
	     "nbproc is not supported any more since HAProxy 2.5. Threads will "
	     "automatically be used on multi-processor machines if available."),
	GONE("debug", CONF_GLOBAL,
	     "'debug' is not supported in a configuration file anymore since HAProxy 2.2. "
	     "Use '-d' on the command line."),
	GONE_SHOWN("tune.chksize", CONF_GLOBAL,
	     "option 'tune.chksize' is not supported any more (tune.bufsize is used "
	     "instead)."),
	GONE("stats bind-process", CONF_GLOBAL,
	     "'stats bind-process' is not supported anymore."),
	GONE("ssl-engine", CONF_GLOBAL,
	     "'ssl-engine' is not supported: OpenSSL replaced engines by providers. Use "
	     "'ssl-provider' instead."),
	GONE("deviceatlas-json-file", CONF_GLOBAL,
	     "'deviceatlas-json-file' needs a library that this program is not built with."),
	GONE("51degrees-data-file", CONF_GLOBAL,
	     "'51degrees-data-file' needs a library that this program is not built with."),
	GONE("wurfl-data-file", CONF_GLOBAL,
	     "'wurfl-data-file' needs a library that this program is not built with."),
	{ 0 }
};

const struct module mod_conf_legacy = { .name = "legacy", .keywords = keywords };
