/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proxy_conf.c - edge file: the sections defaults, frontend, backend and listen, and their plain
 * keywords
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/strbuf.h"
#include "conf/conf.h"
#include "guid_priv.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "proxy/source.h"
#include "proxy_priv.h"

#define RETRY_LEAST 3        /* tries that a budget allows to few requests */
#define RETRY_DELAY_GROWS 8  /* times its first value, at most */

/* --- sections ------------------------------------------------------------------------------- */

static bool name_is_valid(struct conf_line *l, const char *name)
{
	char bad = conf_name_bad_char(name);

	return !bad || conf_error(l, 1, NULL, "character '%c' is not permitted in '%s' name '%s'.",
				  bad, l->words[0], name);
}

/* The defaults section that the line asks for (`from <name>`) or that stands above it; *out may
 * become NULL. False: reported.
 */
static bool take_defaults(struct conf_line *l, const char *name, struct proxy **out)
{
	struct proxies *all = proxies_of(l->cfg);
	int at = l->at;

	*out = all->last_defaults;
	if (!conf_peek(l) || strcmp(conf_peek(l), "from") != 0)
		return true;
	l->at++;
	if (!conf_peek(l))
		return conf_error(l, at, NULL, "'from' expects the name of a defaults section.");
	*out = proxy_take_defaults(l, name);
	if (*out)
		l->at++;
	return *out;
}

static bool open_section(struct conf_line *l, unsigned caps)
{
	const char *name = conf_next(l);
	struct proxy *defaults = NULL, *px;
	bool valid;

	if (!name)
		return conf_error(l, 0, NULL, "'%s' expects an <id> argument", l->words[0]);
	valid = name_is_valid(l, name);
	if (valid)
		valid = take_defaults(l, name, &defaults);
	if (valid && (caps & PROXY_FE) && conf_peek(l))
		valid = conf_error(l, l->at, NULL, "please use the 'bind' keyword for listening "
				   "addresses.");
	valid = valid && conf_take_end(l);
	px = proxy_new(l->cfg, name, caps, defaults);
	if (!px)
		return conf_error(l, 0, NULL, "out of memory.");
	px->file = conf_strdup(l->cfg, l->place.file ? l->place.file : "");
	px->line = l->place.line;
	valid &= proxy_claim_name(l, px);
	l->object = px;
	l->slots = proxy_slots(px);
	proxy_link(px);
	return valid;
}

static bool open_frontend(struct conf_line *l)
{
	return open_section(l, PROXY_FE);
}

static bool open_backend(struct conf_line *l)
{
	return open_section(l, PROXY_BE);
}

static bool open_listen(struct conf_line *l)
{
	return open_section(l, PROXY_LISTEN);
}

/* `defaults [<name>] [from <name>]`. Unlike the others it inherits only when asked. */
static bool open_defaults(struct conf_line *l)
{
	struct proxies *all = proxies_of(l->cfg);
	const char *name = "";
	struct proxy *from = NULL, *px;
	bool valid = true;

	if (conf_peek(l) && strcmp(conf_peek(l), "from") != 0) {
		name = conf_next(l);
		valid = name_is_valid(l, name);
	}
	all->last_defaults = NULL;
	if (valid)
		valid = take_defaults(l, name, &from) && conf_take_end(l);
	px = proxy_new(l->cfg, name, PROXY_DEFAULTS, from);
	if (!px)
		return conf_error(l, 0, NULL, "out of memory.");
	px->file = conf_strdup(l->cfg, l->place.file ? l->place.file : "");
	px->line = l->place.line;
	valid &= proxy_claim_name(l, px);
	all->last_defaults = px;
	l->object = px;
	l->slots = proxy_slots(px);
	proxy_link(px);
	return valid;
}

static const struct conf_section sections[] = {
	{ .name = "defaults", .where = CONF_DEFAULTS, .open = open_defaults,
	  .syntax = "[<name>] [from <defaults>]", .help = "settings for the sections that follow" },
	{ .name = "frontend", .where = CONF_FRONTEND, .open = open_frontend,
	  .syntax = "<name> [from <defaults>]", .help = "where clients connect" },
	{ .name = "backend", .where = CONF_BACKEND, .open = open_backend,
	  .syntax = "<name> [from <defaults>]", .help = "servers that requests are sent to" },
	{ .name = "listen", .where = CONF_LISTEN, .open = open_listen,
	  .syntax = "<name> [from <defaults>]", .help = "a frontend and a backend in one" },
	{ 0 }
};

/* --- values stored at an offset of the proxy: keyword->offset, min, max --------------------- */

static void *field_of(struct conf_line *l)
{
	return (char *)l->object + l->keyword->offset;
}

static bool parse_timeout(struct conf_line *l)
{
	const struct proxy *px = l->object;
	const char *word = conf_peek(l);
	const size_t at = l->keyword->offset;
	const int64_t *now = field_of(l);
	int64_t before = *now;

	if (!conf_take_time_ms(l, field_of(l)))
		return false;
	/* said twice in this section, unless it is what its defaults say as well */
	if (!(px->caps & PROXY_DEFAULTS) && before !=
	    (px->defaults ? *(const int64_t *)((const char *)px->defaults + at) : 0))
		conf_warn(l, 0, NULL, "overwriting '%s' which was already specified",
			  l->keyword->words);
	if (conf_is_small_time(word))
		conf_warn(l, l->at - 1, NULL,
			  "'%s %s' in %s '%s' is suspiciously small for a value in milliseconds. "
			  "Please use an explicit unit ('%sms') if that was the intent.",
			  l->keyword->words, word, proxy_kind_name(px), px->name ? px->name : "",
			  word);
	return true;
}

static bool parse_time_s(struct conf_line *l)
{
	return conf_take_time_s(l, field_of(l));
}

static bool parse_int64(struct conf_line *l)
{
	return conf_take_int(l, l->keyword->min, l->keyword->max, field_of(l));
}

static bool parse_int(struct conf_line *l)
{
	int64_t v;

	if (!conf_take_int(l, l->keyword->min, l->keyword->max, &v))
		return false;
	*(int *)field_of(l) = (int)v;
	return true;
}

/* --- keywords with a meaning of their own --------------------------------------------------- */

static bool parse_maxconn(struct conf_line *l)
{
	struct proxy *px = l->object;

	if (!parse_int64(l))
		return false;
	px->is_set.maxconn = px->maxconn != 0; /* 0: that of the process */
	return true;
}

static bool parse_fullconn(struct conf_line *l)
{
	((struct proxy *)l->object)->is_set.fullconn = true;
	return parse_int64(l);
}

static bool parse_mode(struct conf_line *l)
{
	struct proxy *px = l->object;
	const char *word = conf_next(l);

	px->is_set.mode = true;
	if (strcmp(word, "tcp") == 0)
		px->mode = PROXY_MODE_TCP;
	else if (strcmp(word, "http") == 0)
		px->mode = PROXY_MODE_HTTP;
	else if (strcmp(word, "log") == 0 && l->where & CONF_DEF_BE)
		px->mode = PROXY_MODE_LOG;
	else if (strcmp(word, "spop") == 0 && l->where & CONF_DEF_BE)
		px->mode = PROXY_MODE_SPOP;
	else if (strcmp(word, "health") == 0)
		return conf_error(l, 1, NULL, "proxy mode '%s' is not supported yet.", word);
	else
		return conf_error(l, 1, NULL, "unknown proxy mode '%s'.", word);
	return true;
}

static bool parse_default_backend(struct conf_line *l)
{
	struct proxy *px = l->object;

	px->switching.backend = NULL;
	return conf_take_string(l, &px->switching.backend_name);
}

static bool parse_disabled(struct conf_line *l)
{
	((struct proxy *)l->object)->disabled = l->keyword->min;
	return true;
}

static bool parse_unpublished(struct conf_line *l)
{
	((struct proxy *)l->object)->balancing.unpublished = true;
	return true;
}

static bool parse_id(struct conf_line *l)
{
	struct proxy *px = l->object, *it;
	int64_t id;

	if (!conf_take_int(l, 1, INT32_MAX, &id))
		return false;
	list_for_each(it, &proxies_of(l->cfg)->all, link)
		if (it != px && it->id_forced && it->id == id)
			return conf_report(l, l->at - 1, DIAG_ALERT, DIAG_TIGHT,
					   "%s %s reuses same custom id as %s %s (declared at "
					   "%s:%d).", proxy_kind_name(px), px->name,
					   proxy_kind_name(it), it->name, it->file, it->line);
	px->id = (int)id;
	px->id_forced = true;
	return true;
}

static bool parse_guid(struct conf_line *l)
{
	return guid_take(l, "", &((struct proxy *)l->object)->guid);
}

/* All the words that remain, as one text; NULL: no memory. */
static const char *take_rest(struct conf_line *l)
{
	struct strbuf b;
	const char *word, *text;

	strbuf_init(&b);
	while ((word = conf_next(l))) {
		if (b.len)
			strbuf_add_char(&b, ' ');
		strbuf_add_str(&b, word);
	}
	text = b.overflow ? NULL : conf_strdup(l->cfg, b.ptr ? b.ptr : "");
	strbuf_fini(&b);
	return text;
}

static bool parse_description(struct conf_line *l)
{
	struct proxy *px = l->object;

	px->description = take_rest(l);
	return px->description || conf_error(l, 0, NULL, "out of memory.");
}

static bool parse_reuse(struct conf_line *l)
{
	static const char *const names[] = {
		[REUSE_NEVER] = "never", [REUSE_SAFE] = "safe",
		[REUSE_AGGRESSIVE] = "aggressive", [REUSE_ALWAYS] = "always",
	};
	const char *word = conf_next(l);

	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(word, names[i]) == 0) {
			((struct proxy *)l->object)->reuse = i;
			return true;
		}
	return conf_error(l, 1, NULL, "'http-reuse' only supports 'never', 'safe', 'aggressive', "
			  "'always'.");
}

/* The bit of a word of retry-on, or 0. */
static unsigned retry_event(const char *word)
{
	static const char *const names[] = {
#define X(name, text) text,
		PROXY_RETRY_EVENTS(X)
#undef X
	};

	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(word, names[i]) == 0)
			return 1u << i;
	if (strcmp(word, "all-retryable-errors") == 0)
		return PROXY_RETRY_CONN_FAILURE | PROXY_RETRY_EMPTY_RESPONSE |
			PROXY_RETRY_JUNK_RESPONSE | PROXY_RETRY_RESPONSE_TIMEOUT |
			PROXY_RETRY_0RTT_REJECTED | PROXY_RETRY_500 | PROXY_RETRY_502 |
			PROXY_RETRY_503 | PROXY_RETRY_504;
	return 0;
}

static bool parse_retry_on(struct conf_line *l)
{
	struct proxy *px = l->object;
	const char *word;
	unsigned events = 0, event;

	if (!conf_peek(l))
		return conf_error(l, 0, NULL, "'retry-on' needs at least one keyword to specify "
				  "when to retry");
	while ((word = conf_next(l))) {
		if (strcmp(word, "none") == 0 && l->count > 2)
			return conf_error(l, l->at - 1, NULL, "'retry-on' 'none' keyword only "
					  "usable alone");
		event = retry_event(word);
		if (!event && strcmp(word, "none") != 0)
			return conf_error(l, l->at - 1, NULL, "'retry-on': unknown keyword '%s'",
					  word);
		events |= event;
	}
	px->retry.on = events;
	return true;
}

/* "20%" ["min" <count>] */
static bool parse_retry_budget(struct conf_line *l)
{
	struct proxy *px = l->object;
	const char *word = conf_next(l);
	int64_t least = RETRY_LEAST;
	char *end;
	long percent = strtol(word, &end, 10);

	if (end == word || (*end && strcmp(end, "%") != 0) || percent < 1 || percent > 100)
		return conf_error(l, l->at - 1, NULL, "'%s' expects a share of the active requests "
				  "from 1%% to 100%%, not '%s'", l->keyword->words, word);
	if (conf_peek(l)) {
		word = conf_next(l);
		if (strcmp(word, "min") != 0)
			return conf_error(l, l->at - 1, NULL, "'%s': unknown word '%s', it expects "
					  "'min <count>'", l->keyword->words, word);
		if (!conf_take_int(l, 0, INT32_MAX, &least))
			return false;
	}
	px->retry.percent = (int)percent;
	px->retry.least = (int)least;
	return true;
}

/* <delay> ["max" <delay>] */
static bool parse_retry_delay(struct conf_line *l)
{
	struct proxy *px = l->object;
	int64_t delay, most;
	const char *word;

	if (!conf_take_time_ms(l, &delay))
		return false;
	most = delay * RETRY_DELAY_GROWS;
	if (conf_peek(l)) {
		word = conf_next(l);
		if (strcmp(word, "max") != 0)
			return conf_error(l, l->at - 1, NULL, "'%s': unknown word '%s', it expects "
					  "'max <delay>'", l->keyword->words, word);
		if (!conf_take_time_ms(l, &most))
			return false;
		if (most < delay)
			return conf_error(l, l->at - 1, NULL, "'%s': the most is less than the "
					  "first delay", l->keyword->words);
	}
	px->retry.delay_ms = delay;
	px->retry.delay_max_ms = most;
	return true;
}

static bool parse_source(struct conf_line *l)
{
	struct proxy *px = l->object;

	px->source = source_parse(l);
	if (px->source && px->source->port_high > px->source->port_low)
		return conf_error(l, 1, NULL, "'source %s' : port range not permitted here: give "
				  "it to each server.", l->words[1]);
	return px->source && conf_take_end(l);
}

/* --- tables --------------------------------------------------------------------------------- */

#define FIELD(member) .offset = offsetof(struct proxy, member)
#define ONE .min_args = 1, .max_args = 1
#define TIMEOUT(text, places, member, what) \
	{ .words = "timeout " text, .where = places, ONE, .parse = parse_timeout, FIELD(member), \
	  .syntax = "<delay>", .help = what }
#define LATER(text, places, what) \
	{ .words = text, .where = places, .flags = CONF_LATER, .max_args = -1, \
	  .syntax = "...", .help = what, .hint = "'" text "' is not supported yet (" what ")." }

static const struct conf_keyword keywords[] = {
	TIMEOUT("check", CONF_DEF_BE, timeout.check, "for a health check once connected"),
	TIMEOUT("client", CONF_DEF_FE, timeout.client, "for a client that does nothing"),
	TIMEOUT("client-fin", CONF_DEF_FE, timeout.client_fin, "same, half-closed connections"),
	TIMEOUT("client-hs", CONF_DEF_FE, timeout.client_hs, "for TLS handshakes of clients"),
	TIMEOUT("connect", CONF_DEF_BE, timeout.connect, "for a connection to a server"),
	TIMEOUT("http-keep-alive", CONF_PROXY, timeout.http_keep_alive, "for the next request"),
	TIMEOUT("http-request", CONF_PROXY, timeout.http_request, "for a whole request head"),
	TIMEOUT("queue", CONF_DEF_BE, timeout.queue, "for a slot on a server"),
	TIMEOUT("server", CONF_DEF_BE, timeout.server, "for a server that does nothing"),
	TIMEOUT("server-fin", CONF_DEF_BE, timeout.server_fin, "same, half-closed connections"),
	TIMEOUT("tarpit", CONF_PROXY, timeout.tarpit, "before a tarpitted request is answered"),
	TIMEOUT("tunnel", CONF_DEF_BE, timeout.tunnel, "for an idle tunnel, both sides"),
	{ .words = "backlog", .where = CONF_DEF_FE, ONE, .parse = parse_int64, FIELD(backlog),
	  .min = 0, .max = INT32_MAX, .syntax = "<conns>", .help = "pending connections" },
	{ .words = "clitcpka-cnt", .where = CONF_DEF_FE, ONE, .parse = parse_int,
	  FIELD(keepalive.client.count), .min = 1, .max = 127, .syntax = "<count>",
	  .help = "unanswered TCP keep-alive probes before a client is lost" },
	{ .words = "clitcpka-idle", .where = CONF_DEF_FE, ONE, .parse = parse_time_s,
	  FIELD(keepalive.client.idle_ms), .syntax = "<delay>",
	  .help = "idle time before the first probe to a client" },
	{ .words = "clitcpka-intvl", .where = CONF_DEF_FE, ONE, .parse = parse_time_s,
	  FIELD(keepalive.client.interval_ms), .syntax = "<delay>",
	  .help = "time between probes to a client" },
	{ .words = "srvtcpka-cnt", .where = CONF_DEF_BE, ONE, .parse = parse_int,
	  FIELD(keepalive.server.count), .min = 1, .max = 127, .syntax = "<count>",
	  .help = "unanswered TCP keep-alive probes before a server is lost" },
	{ .words = "srvtcpka-idle", .where = CONF_DEF_BE, ONE, .parse = parse_time_s,
	  FIELD(keepalive.server.idle_ms), .syntax = "<delay>",
	  .help = "idle time before the first probe to a server" },
	{ .words = "srvtcpka-intvl", .where = CONF_DEF_BE, ONE, .parse = parse_time_s,
	  FIELD(keepalive.server.interval_ms), .syntax = "<delay>",
	  .help = "time between probes to a server" },
	{ .words = "be-unpublished", .where = CONF_BE, .parse = parse_unpublished,
	  .help = "not to be chosen by frontends until `publish backend`" },
	{ .words = "default_backend", .where = CONF_DEF_FE, ONE, .parse = parse_default_backend,
	  .syntax = "<backend>", .help = "backend when no use_backend rule applies" },
	{ .words = "description", .where = CONF_FE_BE, .min_args = 1, .max_args = -1,
	  .parse = parse_description, .syntax = "<text>", .help = "a remark for statistics" },
	{ .words = "disabled", .where = CONF_PROXY, .parse = parse_disabled, .min = 1,
	  .help = "do not use this section" },
	{ .words = "enabled", .where = CONF_PROXY, .parse = parse_disabled, .min = 0,
	  .help = "use this section although defaults says disabled" },
	{ .words = "fullconn", .where = CONF_DEF_BE, ONE, .parse = parse_fullconn, FIELD(fullconn),
	  .min = 0, .max = INT32_MAX, .syntax = "<conns>",
	  .help = "load at which servers get their full maxconn" },
	{ .words = "guid", .where = CONF_FE_BE, ONE, .parse = parse_guid,
	  .syntax = "<text>", .help = "an identifier unique in the configuration" },
	{ .words = "http-reuse", .where = CONF_DEF_BE, ONE, .parse = parse_reuse,
	  .syntax = "{ never | safe | aggressive | always }",
	  .help = "which server connections are shared by clients" },
	{ .words = "id", .where = CONF_FE_BE, ONE, .parse = parse_id, .syntax = "<number>",
	  .help = "numeric identifier, otherwise assigned" },
	{ .words = "max-keep-alive-queue", .where = CONF_DEF_BE, ONE, .parse = parse_int64,
	  FIELD(http.max_keep_alive_queue), .min = -1, .max = INT32_MAX, .syntax = "<requests>",
	  .help = "queue length above which a kept connection's server is left" },
	{ .words = "max-session-srv-conns", .where = CONF_DEF_FE, ONE, .parse = parse_int,
	  FIELD(http.max_session_server_conns), .min = 0, .max = INT32_MAX, .syntax = "<number>",
	  .help = "idle connections to servers kept for one client alone" },
	{ .words = "maxconn", .where = CONF_DEF_FE, ONE, .parse = parse_maxconn, FIELD(maxconn),
	  .min = 0, .max = INT32_MAX, .syntax = "<conns>",
	  .help = "connections that the frontend accepts at once" },
	{ .words = "mode", .where = CONF_PROXY, ONE, .parse = parse_mode,
	  .syntax = "{ tcp | http }", .help = "protocol of the traffic" },
	{ .words = "rate-limit sessions", .where = CONF_DEF_FE, ONE, .parse = parse_int64,
	  FIELD(session_rate_limit), .min = 0, .max = INT32_MAX, .syntax = "<rate>",
	  .help = "new sessions accepted per second" },
	{ .words = "retries", .where = CONF_DEF_BE, ONE, .parse = parse_int, FIELD(retry.count),
	  .min = 0, .max = INT32_MAX, .syntax = "<attempts>",
	  .help = "new attempts after a failed connection to a server" },
	{ .words = "retry-on", .where = CONF_DEF_BE, .max_args = -1, .parse = parse_retry_on,
	  .syntax = "{ none | <event>... }",
	  .help = "failures after which a request is tried again" },
	{ .words = "retry-budget", .where = CONF_DEF_BE, .min_args = 1, .max_args = 3,
	  .parse = parse_retry_budget, .syntax = "<percent>[%] [min <count>]",
	  .help = "share of the active requests that may be tried again" },
	{ .words = "retry-delay", .where = CONF_DEF_BE, .min_args = 1, .max_args = 3,
	  .parse = parse_retry_delay, .syntax = "<delay> [max <delay>]",
	  .help = "pause before a try, doubled for each, at random from its half on" },
	{ .words = "source", .where = CONF_DEF_BE, .min_args = 1, .max_args = -1,
	  .parse = parse_source, .syntax = "<addr>[:<port>] [usesrc <how>] [interface <name>]",
	  .help = "address to connect to servers from" },
	{ .words = "tune.defaults.purge", .where = CONF_GLOBAL, .type = CONF_FLAG,
	  .slot = &proxies_slot, .offset = offsetof(struct proxies, purges),
	  .help = "`add backend` finds those defaults only whose rules or checks are in use" },
	{ 0 }
};

static struct slot *const slots[] = { &proxies_slot, NULL };

const struct module mod_proxy = {
	.name = "proxy",
	.sections = sections,
	.keywords = keywords,
	.slots = slots,
	.check = proxies_check, .check_backend = proxies_check_added,
};
