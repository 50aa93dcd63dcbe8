/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind_conf.c - edge file: bind lines, their addresses and the options that are about sockets */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/door.h"
#include "base/num.h"
#include "conf/conf.h"
#include "mux/mux.h"
#include "net/socket.h"
#include "proxy/address.h"
#include "proxy/bind.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"
#include "proxy/source.h"
#include "guid_priv.h"
#include "proxy_priv.h"

static bool parse_bind(struct conf_line *l)
{
	struct proxy *px = l->object;
	struct bind_conf *b;

	if (!conf_peek(l))
		return conf_error(l, 0, NULL, "'bind' expects {<path>|[addr1]:port1[-end1]}"
				  "{,[addr]:port[-end]}... as arguments.");
	b = bind_conf_new(l->cfg);
	if (!b)
		return conf_error(l, 0, NULL, "out of memory.");
	b->proxy = px;
	list_append(&px->binds, &b->link);
	return bind_conf_parse(l, b);
}

/* --- options -------------------------------------------------------------------------------- */

/* An alert about the word that was read last: "'bind :80' in section 'listen' : ..." */
static bool option_error(struct conf_line *l, const char *what)
{
	const struct bind_conf *b = l->object;

	return conf_report(l, l->at - 1, DIAG_ALERT, DIAG_PARSING,
			   "'%s %s' in section '%s' : '%s' : %s",
			   l->words[0], b->text ? b->text : "", l->section->name,
			   l->keyword->words, what);
}

static void *field_of(struct conf_line *l)
{
	return (char *)l->object + l->keyword->offset;
}

/* keyword->min is the bit. */
static bool parse_bit(struct conf_line *l)
{
	((struct bind_conf *)l->object)->options |= (unsigned)l->keyword->min;
	return true;
}

static bool parse_text(struct conf_line *l)
{
	return conf_take_string(l, field_of(l));
}

static bool parse_number(struct conf_line *l, int64_t low, int64_t high, int64_t *out)
{
	const char *word = conf_next(l);
	char text[128], *end;

	*out = strtoll(word, &end, 10);
	if (end != word && !*end && *out >= low && *out <= high)
		return true;
	snprintf(text, sizeof(text), "invalid value %lld, allowed range is %lld..%lld",
		 (long long)*out, (long long)low, (long long)high);
	return option_error(l, text);
}

static bool parse_int64(struct conf_line *l)
{
	return parse_number(l, l->keyword->min, l->keyword->max, field_of(l));
}

static bool parse_int(struct conf_line *l)
{
	int64_t v;

	if (!parse_number(l, l->keyword->min, l->keyword->max, &v))
		return false;
	*(int *)field_of(l) = (int)v;
	return true;
}

static bool parse_id(struct conf_line *l)
{
	struct bind_conf *b = l->object, *it;
	char text[512];

	if (!parse_int(l))
		return false;
	if (!b->proxy)
		return true;
	list_for_each(it, &b->proxy->binds, link) {
		if (it == b || it->id != b->id)
			continue;
		snprintf(text, sizeof(text), "custom id %d already used at %s:%d ('bind %s')",
			 b->id, it->file, it->line, it->text);
		return option_error(l, text);
	}
	return true;
}

static bool parse_mss(struct conf_line *l)
{
	struct bind_conf *b = l->object;
	const char *word = conf_next(l);
	char *end;
	long v = strtol(word, &end, 10);

	if (end == word || *end || !v || labs(v) > 65535)
		return option_error(l, "expects an MSS with and absolute value between 1 and "
				    "65535");
	b->mss = (int)v;
	return true;
}

static bool parse_tcp_ut(struct conf_line *l)
{
	struct bind_conf *b = l->object;

	return conf_take_time_ms(l, &b->tcp_ut_ms);
}

static bool parse_congestion(struct conf_line *l)
{
	struct bind_conf *b = l->object;

	b->congestion = conf_next(l);
	return b->congestion || option_error(l, "missing TCP congestion control algorithm");
}

static bool parse_md5_key(struct conf_line *l)
{
	struct bind_conf *b = l->object;

	b->md5_key = conf_next(l);
	if (!b->md5_key)
		return option_error(l, "missing TCP MD5 signature password");
	return strlen(b->md5_key) <= SOCKET_MD5_KEY_MAX ||
	       option_error(l, "password too long (at most 80 characters expected)");
}

static bool parse_tcp_ss(struct conf_line *l)
{
	struct bind_conf *b = l->object;
	const char *word = conf_peek(l);

	if (!word || word[0] < '0' || word[0] > '2' || word[1])
		return conf_error(l, l->at - !word, NULL, "'tcp-ss' : TCP Save SYN option expects "
				  "an integer argument from 0 to 2");
	b->save_syn = word[0] - '0';
	l->at++;
	return true;
}

static bool parse_idle_ping(struct conf_line *l)
{
	struct bind_conf *b = l->object;

	return conf_take_time_ms(l, &b->idle_ping_ms);
}

static bool parse_user(struct conf_line *l)
{
	struct bind_conf *b = l->object;
	const char *word = conf_next(l);
	char text[128];
	uid_t uid;

	if (door_user(word, &uid) < 0) {
		snprintf(text, sizeof(text), "unknown user name '%s'", word);
		return option_error(l, text);
	}
	b->uid = uid;
	return true;
}

static bool parse_group(struct conf_line *l)
{
	struct bind_conf *b = l->object;
	const char *word = conf_next(l);
	char text[128];
	gid_t gid;

	if (door_group(word, &gid) < 0) {
		snprintf(text, sizeof(text), "unknown group name '%s'", word);
		return option_error(l, text);
	}
	b->gid = gid;
	return true;
}

static bool parse_uid(struct conf_line *l)
{
	struct bind_conf *b = l->object;
	int64_t v;

	if (!parse_number(l, 0, UINT32_MAX - 1, &v))
		return false;
	b->uid = (uid_t)v;
	return true;
}

static bool parse_gid(struct conf_line *l)
{
	struct bind_conf *b = l->object;
	int64_t v;

	if (!parse_number(l, 0, UINT32_MAX - 1, &v))
		return false;
	b->gid = (gid_t)v;
	return true;
}

static bool parse_mode(struct conf_line *l)
{
	struct bind_conf *b = l->object;
	const char *word = conf_next(l);
	char *end, text[128];
	unsigned long v = strtoul(word, &end, 8);

	if (end == word || *end || v > 07777) {
		snprintf(text, sizeof(text), "missing or invalid mode '%s' (octal integer "
			 "expected)", word);
		return option_error(l, text);
	}
	b->mode = (mode_t)v;
	return true;
}

static bool parse_shards(struct conf_line *l)
{
	struct bind_conf *b = l->object;
	const char *word = conf_next(l);
	char *end, text[128];
	long v = strtol(word, &end, 10);

	if (strcmp(word, "by-thread") == 0)
		b->shards = BIND_SHARDS_BY_THREAD;
	else if (strcmp(word, "by-group") == 0)
		b->shards = BIND_SHARDS_BY_GROUP;
	else if (end == word || *end || v < 1 || v > THREADS_MAX) {
		snprintf(text, sizeof(text), "invalid value %ld, allowed range is 1..%d or "
			 "'by-thread'", v, THREADS_MAX);
		return option_error(l, text);
	} else {
		b->shards = (int)v;
	}
	return true;
}

static bool parse_thread(struct conf_line *l)
{
	struct bind_conf *b = l->object;
	const char *error = NULL;

	if (!thread_mask_parse(&b->threads, conf_next(l), &error))
		return option_error(l, error);
	if (bind_is_reverse(b) && thread_mask_groups(&b->threads) > 1)
		return option_error(l, "reverse HTTP bind cannot span multiple thread groups.");
	return true;
}

static bool parse_label(struct conf_line *l)
{
	return *conf_next(l) || option_error(l, "'label' expects a name");
}

static bool parse_level(struct conf_line *l)
{
	struct bind_conf *b = l->object;
	const char *word = conf_next(l);

	if (strcmp(word, "user") == 0)
		b->level = BIND_LEVEL_USER;
	else if (strcmp(word, "operator") == 0)
		b->level = BIND_LEVEL_OPERATOR;
	else if (strcmp(word, "admin") == 0)
		b->level = BIND_LEVEL_ADMIN;
	else
		return option_error(l, "'level' only supports 'user', 'operator', and 'admin'");
	return true;
}

static bool parse_severity(struct conf_line *l)
{
	struct bind_conf *b = l->object;
	const char *word = conf_next(l);

	if (strcmp(word, "none") == 0)
		b->severity_output = 0;
	else if (strcmp(word, "number") == 0)
		b->severity_output = 1;
	else if (strcmp(word, "string") == 0)
		b->severity_output = 2;
	else
		return option_error(l, "'severity-output' only supports 'none', 'number', and "
				    "'string'");
	return true;
}

/* Which of them a frontend can use is checked when its mode is known. */
static bool parse_proto(struct conf_line *l)
{
	struct bind_conf *b = l->object;
	const char *word = conf_next(l);
	char text[128];

	b->proto = mux_find(word);
	if (b->proto)
		return true;
	snprintf(text, sizeof(text), " unknown MUX protocol '%s'", word);
	return option_error(l, text);
}

static bool parse_guid_prefix(struct conf_line *l)
{
	struct bind_conf *b = l->object;

	return guid_take_prefix(l, "'guid-prefix' : ", b, &b->guid_prefix);
}

static bool parse_expose_fd(struct conf_line *l)
{
	struct bind_conf *b = l->object;

	if (strcmp(conf_next(l), "listeners") != 0)
		return option_error(l, "only 'listeners' is supported");
	b->options |= BIND_EXPOSE_FD;
	return true;
}

static bool parse_namespace(struct conf_line *l)
{
	struct bind_conf *b = l->object;

	return source_parse_namespace(l, &b->netns);
}

static bool parse_cip(struct conf_line *l)
{
	struct bind_conf *b = l->object;
	int64_t v;

	if (!parse_number(l, 0, UINT32_MAX, &v))
		return false;
	b->cip_magic = (uint32_t)v;
	b->options |= BIND_ACCEPT_CIP;
	return true;
}

static bool parse_nbconn(struct conf_line *l)
{
	struct bind_conf *b = l->object;
	const char *word = conf_next(l), *end;
	int number = num_prefix_int(word, &end);
	char text[64];

	if (!bind_is_reverse(b))
		return option_error(l, "only valid for reverse HTTP listeners.");
	snprintf(text, sizeof(text), "invalid value %d, must be > 0.", number);
	if (number <= 0 || *end)
		return option_error(l, text);
	b->reversed = number < BIND_REVERSED_MAX ? number : BIND_REVERSED_MAX;
	return true;
}

#define FIELD(member) .offset = offsetof(struct bind_conf, member)
#define ONE .min_args = 1, .max_args = 1
#define BIT(text, bit, what) \
	{ .words = text, .where = CONF_BIND, .parse = parse_bit, .min = bit, .help = what }
#define TEXT(text, member, what) \
	{ .words = text, .where = CONF_BIND, ONE, .parse = parse_text, FIELD(member), \
	  .syntax = "<name>", .help = what }
#define OTHER(text, fn, values, what) \
	{ .words = text, .where = CONF_BIND, ONE, .parse = fn, .syntax = values, .help = what }
#define GONE(text, what) \
	{ .words = text, .where = CONF_BIND, .flags = CONF_REFUSED | CONF_HIDDEN, ONE, \
	  .hint = "'" text "' on 'bind' lines is not supported anymore, " what }

static const struct conf_keyword keywords[] = {
	GONE("process", "please use 'thread' instead."),
	{ .words = "bind", .where = CONF_FE, .max_args = -1, .parse = parse_bind,
	  .syntax = "[<address>]:<port_range>[,...] [<options>]", .help = "where to listen" },
	BIT("accept-proxy", BIND_ACCEPT_PROXY, "connections begin with the PROXY protocol"),
	OTHER("accept-netscaler-cip", parse_cip, "<magic>", "connections begin with NetScaler's"),
	{ .words = "backlog", .where = CONF_BIND, ONE, .parse = parse_int64, FIELD(backlog),
	  .min = 0, .max = INT32_MAX, .syntax = "<conns>", .help = "pending connections" },
	BIT("defer-accept", BIND_DEFER_ACCEPT, "accept when the first bytes are there"),
	OTHER("expose-fd", parse_expose_fd, "listeners", "give the sockets to a new process"),
	OTHER("gid", parse_gid, "<gid>", "group of the UNIX socket"),
	OTHER("group", parse_group, "<group>", "group of the UNIX socket"),
	{ .words = "guid-prefix", .where = CONF_BIND, ONE, .flags = CONF_REVERSE,
	  .parse = parse_guid_prefix, .syntax = "<text>",
	  .help = "prefix of the listeners' identifiers" },
	{ .words = "id", .where = CONF_BIND, ONE, .flags = CONF_REVERSE, .parse = parse_id,
	  FIELD(id), .min = 1, .max = INT32_MAX, .syntax = "<number>",
	  .help = "numeric identifier" },
	{ .words = "idle-ping", .where = CONF_BIND, ONE, .flags = CONF_REVERSE,
	  .parse = parse_idle_ping, .syntax = "<delay>",
	  .help = "HTTP/2: between tests of idle clients" },
	TEXT("interface", interface, "network interface to listen on"),
	{ .words = "label", .where = CONF_BIND, ONE, .flags = CONF_REVERSE, .parse = parse_label,
	  .syntax = "<name>", .help = "a name of sockets; nothing refers to it yet" },
	OTHER("level", parse_level, "{ user | operator | admin }", "rights on the Runtime API"),
	{ .words = "maxconn", .where = CONF_BIND, ONE, .parse = parse_int64, FIELD(maxconn),
	  .min = 0, .max = INT32_MAX, .syntax = "<conns>", .help = "connections at once" },
	OTHER("mode", parse_mode, "<octal>", "permissions of the UNIX socket"),
	OTHER("mss", parse_mss, "<bytes>", "largest TCP segment"),
	{ .words = "name", .where = CONF_BIND, ONE, .flags = CONF_REVERSE, .parse = parse_text,
	  FIELD(name), .syntax = "<name>", .help = "name shown in statistics" },
	OTHER("namespace", parse_namespace, "<name>", "network namespace to listen in"),
	{ .words = "nice", .where = CONF_BIND, ONE, .parse = parse_int, FIELD(nice),
	  .min = -1024, .max = 1024, .syntax = "<priority>", .help = "priority of its tasks" },
	OTHER("proto", parse_proto, "{ h1 | h2 | none }", "protocol forced on its connections"),
	OTHER("severity-output", parse_severity, "{ none | number | string }",
	      "severity before messages of the Runtime API"),
	OTHER("shards", parse_shards, "{ <number> | by-thread | by-group }",
	      "sockets to open for one address"),
	OTHER("tcp-ss", parse_tcp_ss, "{ 0 | 1 | 2 }",
	      "keep the first packet: from its IP header on, or from Ethernet's"),
	OTHER("cc", parse_congestion, "<algorithm>", "TCP congestion control"),
	OTHER("tcp-md5sig", parse_md5_key, "<password>", "TCP MD5 signatures (RFC 2385)"),
	OTHER("tcp-ut", parse_tcp_ut, "<delay>", "TCP user timeout"),
	BIT("tfo", BIND_TFO, "TCP fast open"),
	{ .words = "thread", .where = CONF_BIND, ONE, .flags = CONF_REVERSE,
	  .parse = parse_thread, .syntax = "[<group>/]<set>[,...]",
	  .help = "threads that accept" },
	BIT("transparent", BIND_TRANSPARENT, "listen on addresses that are not ours"),
	OTHER("uid", parse_uid, "<uid>", "owner of the UNIX socket"),
	OTHER("user", parse_user, "<user>", "owner of the UNIX socket"),
	BIT("v4v6", BIND_V4V6, "IPv4 too on an IPv6 socket"),
	BIT("v6only", BIND_V6ONLY, "no IPv4 on an IPv6 socket"),
	{ .words = "nbconn", .where = CONF_BIND, ONE, .flags = CONF_EXPERIMENTAL | CONF_REVERSE,
	  .parse = parse_nbconn, .syntax = "<number>",
	  .help = "reverse HTTP: connections to keep up" },
	{ 0 }
};

const struct module mod_bind = {
	.name = "bind",
	.keywords = keywords,
};
