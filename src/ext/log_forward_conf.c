/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log_forward_conf.c - edge file: sections log-forward
 *
 * Manual: configuration 12.6
 */
#include <string.h>
#include "core/mailbox.h"
#include "ext/log_forward.h"
#include "log/log.h"
#include "proxy/proxy.h"
#include "tls/tls.h"
#include "log_forward_priv.h"

#define MAXCONN 10

static struct log_forward *section_of(const struct conf_line *l)
{
	struct log_forward *f = log_forwards_of(l->cfg);

	while (f && f->proxy != l->object)
		f = f->next;
	return f;
}

static bool section_open(struct conf_line *l)
{
	const char *name = conf_next(l);
	struct log_forward *f;

	if (!name || !*name)
		return conf_error(l, 0, NULL, "missing name for log-forward section.");
	for (f = log_forwards_of(l->cfg); f; f = f->next)
		if (strcmp(f->proxy->name, name) == 0)
			return conf_error(l, 1, NULL, "log-forward section '%s' has the same name "
					  "as another log-forward section declared at %s:%d.", name,
					  f->proxy->file, f->proxy->line);
	f = arena_zalloc(&l->cfg->arena, sizeof(*f));
	if (f)
		f->proxy = proxy_new(l->cfg, name, PROXY_FE | PROXY_FORWARD, NULL);
	if (!f || !f->proxy)
		return conf_error(l, 0, NULL, "out of memory.");
	f->proxy->file = conf_strdup(l->cfg, l->place.file ? l->place.file : "");
	f->proxy->line = l->place.line;
	f->maxconn = MAXCONN;
	log_forward_add(l->cfg, f);
	l->object = f->proxy;
	l->slots = proxy_slots(f->proxy);
	return proxy_claim_name(l, f->proxy) && conf_take_end(l);
}

/* --- lines ----------------------------------------------------------------------------------- */

static bool add_inputs(struct conf_line *l, struct log_forward *f, struct bind_conf *b,
		       bool datagrams)
{
	struct listener_conf *address;

	list_for_each(address, &b->listeners, link) {
		struct log_input *in = arena_zalloc(&l->cfg->arena, sizeof(*in));

		if (!in)
			return conf_error(l, 0, NULL, "out of memory.");
		if (datagrams && address->address.ss_family != AF_INET &&
		    address->address.ss_family != AF_INET6)
			return conf_error(l, 1, NULL, "'dgram-bind' : only IPv4 and IPv6 "
					  "addresses are supported.");
		*in = (struct log_input){ .next = f->inputs, .section = f, .address = address,
					  .number = log_forward_count_inputs(l->cfg),
					  .datagrams = datagrams, .fd = -1 };
		if (datagrams)
			in->data = arena_alloc(&l->cfg->arena, LOG_DATAGRAM_MAX);
		if (datagrams && !in->data)
			return conf_error(l, 0, NULL, "out of memory.");
		f->inputs = in;
	}
	return true;
}

/* Does one of the addresses ask for TCP, or for another kind of streams? */
static bool is_of_streams(const char *addresses)
{
	for (const char *at = addresses; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, "tcp@", 4) == 0 || strncmp(at, "tcp4@", 5) == 0 ||
		    strncmp(at, "tcp6@", 5) == 0 || strncmp(at, "stream+", 7) == 0)
			return true;
	}
	return false;
}

/* The addresses without what says that they are for datagrams, in the arena; NULL: no memory. */
static char *without_kind(struct conf_line *l, const char *addresses)
{
	static const struct {
		const char *kind, *left;
	} kinds[] = {
		{ "udp@", "" }, { "udp4@", "ipv4@" }, { "udp6@", "ipv6@" }, { "dgram+", "" },
	};
	char *out = conf_strdup(l->cfg, addresses), *to = out;

	for (const char *at = addresses; out && *at;) {
		for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
			if (strncmp(at, kinds[i].kind, strlen(kinds[i].kind)) != 0)
				continue;
			at += strlen(kinds[i].kind);
			to = stpcpy(to, kinds[i].left); /* never longer */
			break;
		}
		while (*at && *at != ',')
			*to++ = *at++;
		if (*at)
			*to++ = *at++;
		*to = '\0';
	}
	return out;
}

/* keyword->min: datagrams */
static bool parse_bind(struct conf_line *l)
{
	struct log_forward *f = section_of(l);
	bool datagrams = l->keyword->min, good;
	struct bind_conf *b;

	if (!conf_peek(l))
		return conf_error(l, 0, NULL, "'%s' expects {<path>|[addr1]:port1[-end1]}"
				  "{,[addr]:port[-end]}... as arguments.", l->keyword->words);
	if (datagrams && is_of_streams(conf_peek(l)))
		return conf_error(l, l->at, NULL, "'dgram-bind %s' : stream-type address not "
				  "acceptable in '%s'", conf_peek(l), conf_peek(l));
	if (datagrams)
		l->words[l->at] = without_kind(l, conf_peek(l));
	b = bind_conf_new(l->cfg);
	if (!b || !l->words[l->at])
		return conf_error(l, 0, NULL, "out of memory.");
	b->proxy = f->proxy;
	list_append(&f->proxy->binds, &b->link);
	good = bind_conf_parse(l, b);
	if (good && b->options & (BIND_ACCEPT_PROXY | BIND_ACCEPT_CIP))
		good = conf_error(l, 0, NULL, "'%s' : PROXY and NetScaler headers are not "
				  "supported in log-forward sections.", l->keyword->words);
	if (good && datagrams && tls_bind_is_on(bind_slots(b)))
		good = conf_error(l, 0, NULL, "'dgram-bind' : 'ssl' needs a stream: use 'bind'.");
	return good && add_inputs(l, f, b, datagrams);
}

static bool parse_maxconn(struct conf_line *l)
{
	return conf_take_int(l, 1, INT32_MAX, &section_of(l)->maxconn) && conf_take_end(l);
}

static bool parse_backlog(struct conf_line *l)
{
	return conf_take_int(l, 1, INT32_MAX, &section_of(l)->backlog) && conf_take_end(l);
}

static bool parse_timeout(struct conf_line *l)
{
	return conf_take_time_ms(l, &section_of(l)->client_ms) && conf_take_end(l);
}

static bool parse_lines_only(struct conf_line *l)
{
	section_of(l)->lines_only = !l->no;
	return conf_take_end(l);
}

static bool parse_unread(struct conf_line *l)
{
	section_of(l)->unread = !l->no;
	return conf_take_end(l);
}

static bool parse_host(struct conf_line *l)
{
	static const struct {
		const char *word;
		enum forward_host host;
	} strategies[] = {
		{ "replace", FORWARD_REPLACE }, { "fill", FORWARD_FILL }, { "keep", FORWARD_KEEP },
		{ "append", FORWARD_APPEND },
	};
	const char *word = conf_next(l);

	for (unsigned i = 0; word && i < sizeof(strategies) / sizeof(*strategies); i++) {
		if (strcmp(word, strategies[i].word) != 0)
			continue;
		section_of(l)->host = strategies[i].host;
		return conf_take_end(l);
	}
	return conf_error(l, l->at - 1, "replace, fill, keep, append", "'option host' expects "
			  "{replace|fill|keep|append}, not '%s'.", word ? word : "");
}

/* --- module ---------------------------------------------------------------------------------- */

static void forwards_check(struct config *cfg, struct diag_list *diags)
{
	struct bind_conf *b;

	for (struct log_forward *f = log_forwards_of(cfg); f; f = f->next) {
		list_for_each(b, &f->proxy->binds, link) {
			struct tls_place where = { f->proxy->name, b->text, b->file, b->line,
						   slice_none() };

			if (tls_bind_is_on(bind_slots(b)))
				tls_bind_check(cfg, bind_slots(b), &where, diags);
		}
	}
}

static bool forwards_start(struct config *cfg, struct diag_list *diags)
{
	return log_forward_open(cfg, proxies_current(), diags);
}

static void join(void *cfg)
{
	log_forward_join(cfg);
}

static void joined(void *ctx)
{
	struct config *cfg = ctx;

	config_drop(&cfg);
}

static void forwards_adopt(struct config *next, struct config *prev)
{
	if (!log_forwards_of(next) || thread_call_all(join, joined, config_take(next)))
		return;
	joined(next);
	diag_say(DIAG_WARNING, "out of memory: sections log-forward receive nothing.");
}

static bool forwards_thread_init(void)
{
	log_forward_thread_init();
	log_forward_join(proxies_current());
	return true;
}

static void forwards_retire(struct config *prev)
{
	log_forward_close(prev);
}

static void forwards_thread_fini(void)
{
	log_forward_thread_fini(proxies_current());
}

#define FORWARD .where = CONF_OTHER, .section = "log-forward", .max_args = -1

static const struct conf_keyword keywords[] = {
	{ .words = "bind", FORWARD, .parse = parse_bind, .syntax = "<address> [<options>]",
	  .help = "where log messages come in on streams" },
	{ .words = "dgram-bind", FORWARD, .parse = parse_bind, .min = 1,
	  .syntax = "<address> [<options>]", .help = "where they come in as datagrams" },
	{ .words = "log", FORWARD, .flags = CONF_CAN_NO, .parse = log_line_parse,
	  .syntax = "{global | <target> [len <length>] [format <format>] [sample <ranges>:<size>] "
		    "<facility> [<level> [<minimum level>]]}", .help = "where they go" },
	{ .words = "maxconn", FORWARD, .parse = parse_maxconn, .syntax = "<number>",
	  .help = "connections at once, 10 by default" },
	{ .words = "backlog", FORWARD, .parse = parse_backlog, .syntax = "<number>",
	  .help = "connections that may wait in the kernel" },
	{ .words = "timeout client", FORWARD, .parse = parse_timeout, .syntax = "<delay>",
	  .help = "longest silence of a connection" },
	{ .words = "option assume-rfc6587-ntf", FORWARD, .flags = CONF_CAN_NO,
	  .parse = parse_lines_only, .help = "streams are lines, whatever they begin with" },
	{ .words = "option dont-parse-log", FORWARD, .flags = CONF_CAN_NO, .parse = parse_unread,
	  .help = "messages are passed on without being read" },
	{ .words = "option host", FORWARD, .parse = parse_host,
	  .syntax = "{ replace | fill | keep | append }",
	  .help = "what becomes of the name of the sender" },
	{ 0 }
};

static const struct conf_section sections[] = {
	{ .name = "log-forward", .where = CONF_OTHER, .open = section_open, .syntax = "<name>",
	  .help = "receives log messages and passes them on" },
	{ 0 }
};

static struct slot *const slots[] = { &log_forward_slot, NULL };

const struct module mod_log_forward = {
	.name = "log-forward", .sections = sections, .keywords = keywords, .slots = slots,
	.check = forwards_check, .start = forwards_start, .adopt = forwards_adopt,
	.retire = forwards_retire, .thread_init = forwards_thread_init,
	.thread_fini = forwards_thread_fini,
};
