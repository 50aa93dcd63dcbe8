/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listen_conf.c - edge file: global words about the sockets of frontends
 *
 * Manual: configuration 3.2: tune.listener.default-shards, tune.maxaccept, tune.*.client.
 */
#include <string.h>
#include "base/module.h"
#include "conf/rows.h"
#include "listen_priv.h"

static bool parse_default_shards(struct conf_line *l)
{
	static const char *const names[] = {
		[LISTEN_SHARDS_BY_GROUP] = "by-group",
		[LISTEN_SHARDS_BY_PROCESS] = "by-process",
		[LISTEN_SHARDS_BY_THREAD] = "by-thread",
	};
	const char *word = conf_next(l);

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(word, names[i]) == 0) {
			listen_tunes_of(l->cfg)->shards = i;
			return true;
		}
	}
	return conf_error(l, l->at - 1, NULL, "'%s' expects either 'by-process', 'by-group', or "
			  "'by-thread' but got '%s'.", l->words[0], word);
}

static bool parse_harden(struct conf_line *l)
{
	const char *word = conf_next(l);

	if (strcmp(word, "on") != 0 && strcmp(word, "off") != 0)
		return conf_error(l, l->at - 1, NULL, "'%s' expects either 'on' or 'off'.",
				  l->words[0]);
	listen_tunes_of(l->cfg)->reject_privileged = strcmp(word, "on") == 0;
	return true;
}

#define AT(member) .slot = &listen_tune_slot, .offset = offsetof(struct listen_tunes, member)

static const struct conf_keyword keywords[] = {
	{ GLOBAL("harden.reject-privileged-ports.tcp"), .min_args = 1, .max_args = 1,
	  .parse = parse_harden, .syntax = "{ on | off }",
	  .help = "refuse clients whose port is below 1024" },
	SWITCH("noreuseport", no_reuseport, "one socket for all threads of an address"),
	{ GLOBAL("tune.listener.default-shards"), .min_args = 1, .max_args = 1,
	  .parse = parse_default_shards, .syntax = "{ by-process | by-thread | by-group }",
	  .help = "sockets for one address" },
	SOCKET("tune.rcvbuf.client", rcvbuf, "kernel's receive buffer of clients"),
	SOCKET("tune.sndbuf.client", sndbuf, "kernel's send buffer of clients"),
	SOCKET("tune.notsent-lowat.client", notsent_lowat, "unsent bytes in the kernel"),
	NUMBER("tune.maxaccept", maxaccept, -1, INT32_MAX, "connections accepted at once"),
	{ 0 }
};

static struct slot *const slots[] = { &listen_tune_slot, NULL };

const struct module mod_listen = { .name = "listen", .keywords = keywords, .slots = slots };
