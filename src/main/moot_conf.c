/* SPDX-License-Identifier: GPL-2.0-or-later */
/* moot_conf.c - edge file: global keywords that tune what this program does in one way only
 *
 * HAProxy has them, files have them, and no client or server could notice their values. So the
 * values are checked as HAProxy checks them and have no effect, and -dD says why.
 */
#include <string.h>
#include "base/diag.h"
#include "conf/conf.h"
#include "settings_priv.h"

/* One of the words of the syntax, which is "{ on | off }" or the like. */
static bool parse_choice(struct conf_line *l)
{
	const char *word = conf_next(l), *at = word ? strstr(l->keyword->syntax, word) : NULL;
	size_t len = word ? strlen(word) : 0;

	if (at && len > 1 && at[-1] == ' ' && at[len] == ' ')
		return true;
	return conf_error(l, l->at - 1, NULL, "'%s' expects %s but got '%s'.", l->keyword->words,
			  l->keyword->syntax, word ? word : "");
}

static bool parse_nothing(struct conf_line *l)
{
	return true;
}

static bool parse_number(struct conf_line *l)
{
	int64_t number;

	return conf_take_int(l, l->keyword->min, l->keyword->max, &number);
}

static bool parse_size(struct conf_line *l)
{
	uint64_t size;

	if (!conf_take_size(l, &size))
		return false;
	return size >= (uint64_t)l->keyword->min ||
	       conf_error(l, l->at - 1, NULL, "'%s' expects a positive integer argument.",
			  l->keyword->words);
}

#define MOOT(name, flags_, why) \
	.words = name, .where = CONF_GLOBAL, .flags = CONF_MOOT | (flags_), .help = "no effect", \
	.hint = "'" name "' has no effect here: " why "."
#define CHOICE(name, what, flags_, why) \
	{ MOOT(name, flags_, why), .min_args = 1, .max_args = 1, .parse = parse_choice, \
	  .syntax = what }
#define NOTHING(name, flags_, why) \
	{ MOOT(name, flags_, why), .parse = parse_nothing }
#define NUMBER(name, low, high, why) \
	{ MOOT(name, 0, why), .min_args = 1, .max_args = 1, .parse = parse_number, .min = low, \
	  .max = high, .syntax = "<number>" }
#define SIZE(name, low, why) \
	{ MOOT(name, 0, why), .min_args = 1, .max_args = 1, .parse = parse_size, .min = low, \
	  .syntax = "<size>" }
#define MOVED "bytes are never copied"
#define KERNELS "sockets of datagrams keep the kernel's size"

static const struct conf_keyword keywords[] = {
	SIZE("tune.bufsize.small", 1, "all buffers are of one size"),
	NUMBER("tune.buffers.limit", 0, INT32_MAX, "memory is limited by -m"),
	NUMBER("tune.buffers.reserve", 0, INT32_MAX, "no buffer is kept in reserve"),
	SIZE("tune.recv_enough", 0, "receiving stops at the first short read"),
	NUMBER("tune.max-rules-at-once", 0, INT32_MAX, "rules run to completion"),
	CHOICE("tune.listener.multi-queue", "{ on | fair | off }", 0,
	       "connections always go to the thread that has the fewest"),
	NUMBER("tune.pattern.cache-size", 0, INT32_MAX, "patterns are found in trees"),
	CHOICE("tune.takeover-other-tg-connections", "{ none | restricted | full }", 0,
	       "idle connections stay in their group of threads"),
	CHOICE("stats calculate-max-counters", "{ on | off }", 0, "maxima cost nothing"),
	NUMBER("stress-level", 0, 9, "no code of this program is for stress only"),
	NOTHING("nogetaddrinfo", 0, "names are resolved in one way only"),
	SIZE("tune.rcvbuf.frontend", 1, KERNELS),
	SIZE("tune.rcvbuf.backend", 1, KERNELS),
	SIZE("tune.sndbuf.frontend", 1, KERNELS),
	SIZE("tune.sndbuf.backend", 1, KERNELS),
	CHOICE("tune.applet.zero-copy-forwarding", "{ on | off }", 0, MOVED),
	CHOICE("tune.h1.zero-copy-fwd-recv", "{ on | off }", 0, MOVED),
	CHOICE("tune.h1.zero-copy-fwd-send", "{ on | off }", 0, MOVED),
	CHOICE("tune.h2.zero-copy-fwd-send", "{ on | off }", 0, MOVED),
	CHOICE("tune.quic.zero-copy-fwd-send", "{ on | off }", 0, MOVED),
	CHOICE("tune.pt.zero-copy-forwarding", "{ on | off }", 0, MOVED),
	NOTHING("tune.disable-zero-copy-forwarding", 0, "bytes are always moved without a copy"),
	NOTHING("tune.disable-fast-forward", 0, "there is no other way of forwarding"),
	CHOICE("tune.fd.edge-triggered", "{ on | off }", CONF_EXPERIMENTAL,
	       "descriptors are always edge-triggered"),
	NUMBER("tune.events.max-events-at-once", 1, 10000,
	       "no task handles events in batches"),
	NUMBER("tune.ring.queues", 0, 16, "writers of a ring do not queue"),
	NOTHING("tune.ssl.force-private-cache", 0,
		"the cache of TLS sessions is the process's own already"),
	{ 0 }
};

const struct module mod_moot = { .name = "moot", .keywords = keywords };
