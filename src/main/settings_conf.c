/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settings_conf.c - edge file: the global keywords of this floor */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include "main_priv.h"

static bool parse_user(struct conf_line *l)
{
	const char *name;
	struct passwd *found;

	if (!conf_take_string(l, &name))
		return false;
	found = getpwnam(name);
	if (!found)
		return conf_error(l, l->at - 1, NULL, "cannot find user id for '%s' (%s)", name,
				  errno ? strerror(errno) : "not found");
	settings_of(l->cfg)->uid = (int)found->pw_uid;
	return true;
}

static bool parse_group(struct conf_line *l)
{
	const char *name;
	struct group *found;

	if (!conf_take_string(l, &name))
		return false;
	found = getgrnam(name);
	if (!found)
		return conf_error(l, l->at - 1, NULL, "cannot find group id for '%s' (%s)", name,
				  errno ? strerror(errno) : "not found");
	settings_of(l->cfg)->gid = (int)found->gr_gid;
	return true;
}

/* Texts made of all words of the line. */
static bool parse_description(struct conf_line *l)
{
	char text[1024] = "";
	size_t len = 0;
	const char *word;

	while ((word = conf_next(l)) != NULL) {
		int more = snprintf(text + len, sizeof(text) - len, "%s%s", len ? " " : "", word);

		if (more < 0 || (size_t)more >= sizeof(text) - len)
			return conf_error(l, l->at - 1, NULL, "description is too long");
		len += (size_t)more;
	}
	settings_of(l->cfg)->description = conf_strdup(l->cfg, text);
	return settings_of(l->cfg)->description != NULL;
}

static bool parse_set_dumpable(struct conf_line *l)
{
	const char *word = conf_next(l);

	if (word && strcmp(word, "on") != 0 && strcmp(word, "off") != 0)
		return conf_error(l, l->at - 1, NULL, "'%s' expects 'on', 'off' or nothing",
				  l->words[0]);
	settings_of(l->cfg)->set_dumpable = !l->no && !(word && strcmp(word, "off") == 0);
	return true;
}


static bool parse_idle_sharing(struct conf_line *l)
{
	const char *word = conf_next(l);

	if (!word || (strcmp(word, "on") != 0 && strcmp(word, "off") != 0))
		return conf_error(l, word ? l->at - 1 : 0, NULL, "'%s' expects 'on' or 'off'.",
				  l->words[0]);
	settings_of(l->cfg)->idle_apart = strcmp(word, "off") == 0;
	return true;
}

static bool parse_verify(struct conf_line *l)
{
	const char *word = conf_next(l);

	if (!word || (strcmp(word, "none") != 0 && strcmp(word, "required") != 0))
		return conf_error(l, word ? l->at - 1 : 0, NULL,
				  "'%s' expects 'none' or 'required' as argument.", l->words[0]);
	return true;
}

#define GLOBAL(name) .words = name, .where = CONF_GLOBAL
#define AT(member) .slot = &settings_slot, .offset = offsetof(struct main_settings, member)
#define SWITCH(name, member, text) \
	{ GLOBAL(name), .type = CONF_FLAG, AT(member), .help = text }
#define NO_SWITCH(name, member, text) \
	{ GLOBAL(name), .flags = CONF_CAN_NO, .type = CONF_FLAG, AT(member), .help = text }
#define NUMBER(name, member, low, high, text) \
	{ GLOBAL(name), .min_args = 1, .max_args = 1, .type = CONF_INT, AT(member), .min = low, \
	  .max = high, .syntax = "<number>", .help = text }
#define TEXT(name, member, what, text) \
	{ GLOBAL(name), .min_args = 1, .max_args = 1, .type = CONF_STRING, AT(member), \
	  .syntax = what, .help = text }
#define TIME(name, member, text) \
	{ GLOBAL(name), .min_args = 1, .max_args = 1, .type = CONF_TIME_MS, AT(member), \
	  .syntax = "<time>", .help = text }
#define IGNORED(name, what, why) \
	{ GLOBAL(name), .flags = CONF_IGNORED | CONF_CAN_NO, .max_args = 1, .syntax = what, \
	  .help = "no effect", .hint = why }
#define LATER(name, why) \
	{ GLOBAL(name), .flags = CONF_REFUSED, .max_args = -1, .help = "not there yet", \
	  .hint = why }

static const struct conf_keyword keywords[] = {
	SWITCH("daemon", daemon, "go to the background"),
	SWITCH("quiet", quiet, "say nothing after the start"),
	SWITCH("zero-warning", zero_warning, "refuse to start after a warning"),
	{ GLOBAL("set-dumpable"), .flags = CONF_CAN_NO, .max_args = 1, .parse = parse_set_dumpable,
	  .syntax = "[ on | off ]", .help = "allow core dumps although rights were dropped" },
	SWITCH("insecure-fork-wanted", insecure_fork, "allow programs to be started"),
	SWITCH("insecure-setuid-wanted", insecure_setuid, "allow programs to gain rights"),
	NO_SWITCH("strict-limits", strict_limits, "refuse to start when limits cannot be had"),
	SWITCH("nosplice", no_splice, "never use pipes between sockets"),
	SWITCH("noreuseport", no_reuseport, "one socket for all threads of an address"),
	TEXT("pidfile", pidfile, "<file>", "file for the process's id"),
	TEXT("chroot", chroot_dir, "<dir>", "root folder once started"),
	TEXT("node", node, "<name>", "name of this node"),
	{ GLOBAL("description"), .min_args = 1, .max_args = -1, .parse = parse_description,
	  .syntax = "<text>", .help = "what this node is for" },
	TEXT("localpeer", localpeer, "<name>", "name of this node among peers"),
	TEXT("cluster-secret", cluster_secret, "<secret>", "secret that nodes of a cluster share"),
	NUMBER("uid", uid, 0, INT32_MAX, "user id to run as"),
	NUMBER("gid", gid, 0, INT32_MAX, "group id to run as"),
	{ GLOBAL("user"), .min_args = 1, .max_args = 1, .parse = parse_user, .syntax = "<name>",
	  .help = "user to run as" },
	{ GLOBAL("group"), .min_args = 1, .max_args = 1, .parse = parse_group, .syntax = "<name>",
	  .help = "group to run as" },
	NUMBER("maxconn", maxconn, 0, INT32_MAX / 4, "most connections of clients"),
	NUMBER("maxconnrate", maxconnrate, 0, INT32_MAX, "most connections per second"),
	NUMBER("maxsessrate", maxsessrate, 0, INT32_MAX, "most sessions per second"),
	NUMBER("maxpipes", maxpipes, 0, INT32_MAX / 4, "most pipes for splicing"),
	NUMBER("ulimit-n", descriptors, 0, INT32_MAX, "descriptors of the process"),
	NUMBER("fd-hard-limit", descriptors_max, 0, INT32_MAX, "most descriptors, by default"),
	TIME("hard-stop-after", hard_stop_ms, "longest soft stop"),
	TIME("grace", grace_ms, "time between the signal and the closing of sockets"),

	NUMBER("tune.bufsize", bufsize, 1024, 1 << 24, "bytes of a buffer"),
	NUMBER("tune.maxrewrite", maxrewrite, 0, 1 << 24, "part of a buffer kept for rewriting"),
	NUMBER("tune.http.maxhdr", fields_max, 1, 32767, "most fields of a message"),
	NUMBER("tune.maxaccept", maxaccept, -1, 1000000, "connections accepted at once"),

	{ GLOBAL("tune.idle-pool.shared"), .min_args = 1, .max_args = 1,
	  .parse = parse_idle_sharing, .syntax = "{ on | off }",
	  .help = "threads give each other idle server connections" },

	/* what tunes something that this program does otherwise: harmless */
	IGNORED("tune.pool-high-fd-ratio", "<percent>", "idle connections are kept by number"),
	IGNORED("tune.pool-low-fd-ratio", "<percent>", "idle connections are kept by number"),
	IGNORED("tune.buffers.limit", "<number>", "memory is limited by -m"),
	IGNORED("tune.buffers.reserve", "<number>", "no buffer is kept in reserve"),
	IGNORED("tune.recv_enough", "<number>", "receiving stops at the first short read"),
	IGNORED("tune.max-rules-at-once", "<number>", "rules run to completion"),
	IGNORED("tune.listener.multi-queue", "{ on | fair | off }",
		"connections always go to the thread that has the fewest"),
	IGNORED("tune.idletimer", "<time>", "streams are not told apart by idle time"),
	IGNORED("nogetaddrinfo", "", "names are resolved in one way only"),
	IGNORED("close-spread-time", "<time>", "idle connections are closed at once when stopping"),
	IGNORED("tune.pipesize", "<size>", "pipes have the size that the system gives them"),
	IGNORED("prealloc-fd", "", "the kernel's table grows by itself"),
	IGNORED("tune.disable-zero-copy-forwarding", "", "bytes are always moved without a copy"),
	IGNORED("tune.disable-fast-forward", "", "there is no other way of forwarding"),

	LATER("master-worker", "'master-worker' is not there yet: run in foreground (-db) or with "
	      "'daemon'."),
	LATER("mworker-max-reloads", "'mworker-max-reloads' comes with master-worker mode, which "
	      "is not there yet."),

	/* what has an effect with TLS only: nothing uses TLS, so nothing is lost */
	{ GLOBAL("ssl-server-verify"), .max_args = 1, .parse = parse_verify,
	  .syntax = "{ none | required }", .help = "verify the certificates of servers" },
	NUMBER("tune.ssl.default-dh-param", ignored, 1024, INT32_MAX, "bits of DH parameters"),
	NUMBER("tune.ssl.capture-cipherlist-size", ignored, 0, INT32_MAX,
	       "bytes of the client's list of ciphers to keep"),
	{ 0 }
};

static struct slot *const slots[] = { &settings_slot, NULL };

const struct module mod_settings = { .name = "settings", .keywords = keywords, .slots = slots };
