/* SPDX-License-Identifier: GPL-2.0-or-later */
/* option_conf.c - edge file: the proxies' `option` keywords */
#include <stdio.h>
#include <string.h>
#include "conf/conf.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"
#include "proxy_priv.h"

/* --- plain bits: keyword->min is the bit ---------------------------------------------------- */

static bool parse_bit(struct conf_line *l)
{
	struct proxy *px = l->object;
	uint64_t bit = (uint64_t)1 << l->keyword->min;

	if (l->no || l->dflt)
		px->options &= ~bit;
	else
		px->options |= bit;
	return true;
}

/* `option abortonclose` : without it, it depends on the mode. */
static bool parse_abortonclose(struct conf_line *l)
{
	struct proxy *px = l->object;

	px->http.abort_is_said = !l->dflt;
	return parse_bit(l);
}

/* `option redispatch [<interval>]` : without interval, on the last retry only. */
static bool parse_redispatch(struct conf_line *l)
{
	struct proxy *px = l->object;
	int64_t after = -1;

	if (conf_peek(l) && !l->no && !conf_take_int(l, -INT32_MAX, INT32_MAX, &after))
		return false;
	px->retry.redispatch_after = l->no || l->dflt ? 0 : (int)after;
	if (px->retry.redispatch_after)
		px->options |= PROXY_OPT_REDISPATCH;
	else
		px->options &= ~PROXY_OPT_REDISPATCH;
	return true;
}

/* `option tcpka` : both sides. */
static bool parse_tcpka(struct conf_line *l)
{
	struct proxy *px = l->object;
	uint64_t bits = PROXY_OPT_CLITCPKA | PROXY_OPT_SRVTCPKA;

	if (l->no || l->dflt)
		px->options &= ~bits;
	else
		px->options |= bits;
	return true;
}

/* --- connection modes: keyword->min is the mode --------------------------------------------- */

static bool parse_http_conn(struct conf_line *l)
{
	struct proxy *px = l->object;

	if (!l->no && !l->dflt)
		px->http.connection = (enum proxy_http_conn)l->keyword->min;
	else if (px->http.connection == (enum proxy_http_conn)l->keyword->min)
		px->http.connection = HTTP_CONN_KEEP_ALIVE;
	return true;
}

/* --- log formats: keyword->min is the kind -------------------------------------------------- */

static bool parse_log_kind(struct conf_line *l)
{
	struct proxy *px = l->object;
	enum proxy_log_kind kind = (enum proxy_log_kind)l->keyword->min;
	const char *word = conf_next(l);
	bool has_clf = kind != PROXY_LOG_HTTPS;
	char text[64];

	if (word && strcmp(word, "json") == 0)
		kind = kind == PROXY_LOG_TCP ? PROXY_LOG_TCP_JSON
		     : kind == PROXY_LOG_HTTP ? PROXY_LOG_HTTP_JSON : PROXY_LOG_HTTPS_JSON;
	else if (word && has_clf && strcmp(word, "clf") == 0)
		kind = kind == PROXY_LOG_HTTP ? PROXY_LOG_HTTP_CLF : PROXY_LOG_TCP_CLF;
	else if (word && has_clf)
		return conf_error(l, 2, NULL, "keyword 'option %s' only supports option 'clf'.",
				  kind == PROXY_LOG_HTTP ? "httplog" : "tcplog");
	snprintf(text, sizeof(text), "%s %s", l->keyword->words, word ? word : "");
	proxy_log_format_said(l, word ? conf_strdup(l->cfg, text) : l->keyword->words);
	px->log_option.kind = kind;
	px->log_option.file = conf_strdup(l->cfg, l->place.file ? l->place.file : "");
	px->log_option.line = l->place.line;
	return conf_take_end(l);
}

static bool parse_old_bit(struct conf_line *l)
{
	conf_warn(l, 1, NULL, "option '%s' is deprecated. %s", l->words[1], l->keyword->hint);
	return parse_bit(l);
}

static bool parse_restrict_names(struct conf_line *l)
{
	struct proxy *px = l->object;
	const char *word = conf_next(l);

	if (strcmp(word, "preserve") == 0)
		px->http.restrict_names = RESTRICT_PRESERVE;
	else if (strcmp(word, "reject") == 0)
		px->http.restrict_names = RESTRICT_REJECT;
	else if (strcmp(word, "delete") == 0)
		px->http.restrict_names = RESTRICT_DELETE;
	else
		return conf_error(l, l->at - 1, NULL, "invalid parameter '%s'. option "
				  "'http-restrict-req-hdr-names' expects 'preserve', 'reject' or "
				  "'delete' option.", word);
	return true;
}

/* --- tables --------------------------------------------------------------------------------- */

#define PLACES(sides) \
	(CONF_DEFAULTS | ((sides) & PROXY_FE ? CONF_FE : 0) | ((sides) & PROXY_BE ? CONF_BE : 0))
#define BIT(name, text, sides, what) \
	{ .words = "option " text, .where = PLACES(sides), \
	  .flags = CONF_CAN_NO | CONF_CAN_DEFAULT, .parse = parse_bit, \
	  .min = PROXY_OPT_AT_##name, .help = what }
/* the same, which means something in `mode http` only */
#define HTTP_BIT(name, text, sides, what) \
	{ .words = "option " text, .where = PLACES(sides), \
	  .flags = CONF_CAN_NO | CONF_CAN_DEFAULT | CONF_HTTP, .parse = parse_bit, \
	  .min = PROXY_OPT_AT_##name, .help = what }
/* the same by a former name */
#define OLD(name, text, sides, now) \
	{ .words = "option " text, .where = PLACES(sides), \
	  .flags = CONF_CAN_NO | CONF_CAN_DEFAULT | CONF_HTTP | CONF_HIDDEN, \
	  .parse = parse_old_bit, .min = PROXY_OPT_AT_##name, \
	  .hint = "please use 'option " now "' if absolutely needed." }
#define CONN(text, mode, what) \
	{ .words = "option " text, .where = CONF_PROXY, \
	  .flags = CONF_CAN_NO | CONF_CAN_DEFAULT | CONF_HTTP, .parse = parse_http_conn, \
	  .min = mode, .help = what }
/* What it would be for is checked, see CONF_MOOT. */
static bool parse_small_buffers(struct conf_line *l)
{
	const char *word;

	while ((word = conf_next(l)) != NULL)
		if (strcmp(word, "queue") != 0 && strcmp(word, "l7-retries") != 0 &&
		    strcmp(word, "check") != 0)
			return conf_error(l, l->at - 1, NULL, "'option use-small-buffers' only "
					  "supports 'queue', 'l7-retries' and 'check' (got '%s').",
					  word);
	return true;
}

static const struct conf_keyword keywords[] = {
	{ .words = "option abortonclose", .where = PLACES(PROXY_LISTEN),
	  .flags = CONF_CAN_NO | CONF_CAN_DEFAULT, .parse = parse_abortonclose,
	  .min = PROXY_OPT_AT_ABORTONCLOSE,
	  .help = "drop queued requests of clients that left (the default in `mode http`)" },
	BIT(ALLBACKUPS, "allbackups", PROXY_BE, "use all backup servers at once"),
	HTTP_BIT(CHECKCACHE, "checkcache", PROXY_BE, "refuse answers whose cookies may be cached"),
	BIT(CLITCPKA, "clitcpka", PROXY_FE, "TCP keep-alive with clients"),
	BIT(SRVTCPKA, "srvtcpka", PROXY_BE, "TCP keep-alive with servers"),
	BIT(CONTSTATS, "contstats", PROXY_FE, "count bytes of long sessions as they pass"),
	BIT(DONTLOG_NORMAL, "dontlog-normal", PROXY_FE, "log only what went wrong"),
	BIT(DONTLOGNULL, "dontlognull", PROXY_FE, "do not log connections without data"),
	BIT(H1_ADJUST_CLIENT, "h1-case-adjust-bogus-client", PROXY_FE,
	    "case of field names towards clients"),
	BIT(H1_ADJUST_SERVER, "h1-case-adjust-bogus-server", PROXY_BE,
	    "case of field names towards servers"),
	HTTP_BIT(HTTP_BUFFER_REQUEST, "http-buffer-request", PROXY_LISTEN,
	    "wait for the body before going on"),
	HTTP_BIT(DROP_REQUEST_TRAILERS, "http-drop-request-trailers", PROXY_BE,
	    "remove the trailers of requests"),
	HTTP_BIT(DROP_RESPONSE_TRAILERS, "http-drop-response-trailers", PROXY_FE,
	    "remove the trailers of responses"),
	HTTP_BIT(HTTP_IGNORE_PROBES, "http-ignore-probes", PROXY_FE,
	    "say nothing about connections without a request"),
	HTTP_BIT(HTTP_NO_DELAY, "http-no-delay", PROXY_LISTEN, "never wait to fill segments"),
	HTTP_BIT(PRETEND_KEEPALIVE, "http-pretend-keepalive", PROXY_BE,
	    "do not announce close to servers"),
	HTTP_BIT(USE_PROXY_HEADER, "http-use-proxy-header", PROXY_FE,
	    "Proxy-Connection instead of Connection"),
	HTTP_BIT(UNSAFE_REQUEST, "accept-unsafe-violations-in-http-request", PROXY_FE,
	    "let requests through that break the rules"),
	HTTP_BIT(UNSAFE_RESPONSE, "accept-unsafe-violations-in-http-response", PROXY_BE,
	    "let responses through that break the rules"),
	OLD(UNSAFE_REQUEST, "accept-invalid-http-request", PROXY_FE,
	    "accept-unsafe-violations-in-http-request"),
	OLD(UNSAFE_RESPONSE, "accept-invalid-http-response", PROXY_BE,
	    "accept-unsafe-violations-in-http-response"),
	BIT(INDEPENDENT_STREAMS, "independent-streams", PROXY_LISTEN,
	    "each direction has its own timeout"),
	BIT(LOG_HEALTH_CHECKS, "log-health-checks", PROXY_BE, "log changes of checks"),
	BIT(LOG_SEPARATE_ERRORS, "log-separate-errors", PROXY_FE, "log errors at level err"),
	BIT(LOGASAP, "logasap", PROXY_FE, "log before the transfer ends"),
	BIT(NOLINGER, "nolinger", PROXY_LISTEN, "reset connections instead of lingering"),
	BIT(PERSIST, "persist", PROXY_BE, "insist on a server that is down"),
	HTTP_BIT(PREFER_LAST_SERVER, "prefer-last-server", PROXY_BE,
	    "stay on the connection's last server"),
	BIT(SOCKET_STATS, "socket-stats", PROXY_FE, "count each listener on its own"),
	BIT(SPLICE_AUTO, "splice-auto", PROXY_LISTEN, "splice when it seems to pay"),
	BIT(SPLICE_REQUEST, "splice-request", PROXY_LISTEN, "splice request bodies"),
	BIT(SPLICE_RESPONSE, "splice-response", PROXY_LISTEN, "splice response bodies"),
	{ .words = "option transparent", .where = PLACES(PROXY_BE),
	  .flags = CONF_CAN_NO | CONF_CAN_DEFAULT | CONF_DEPRECATED, .parse = parse_bit,
	  .min = PROXY_OPT_AT_TRANSPARENT,
	  .hint = "a server at 0.0.0.0 does the same: 'server all 0.0.0.0'. "
	  "'expose-deprecated-directives' in the global section silences this.",
	  .help = "connect to the address that the client asked for, without a server" },
	BIT(SMART_ACCEPT, "tcp-smart-accept", PROXY_FE, "save an ACK when accepting"),
	BIT(SMART_CONNECT, "tcp-smart-connect", PROXY_BE, "save an ACK when connecting"),
	HTTP_BIT(IDLE_CLOSE, "idle-close-on-response", PROXY_FE,
	    "close idle connections only after a response"),
	HTTP_BIT(DISABLE_H2_UPGRADE, "disable-h2-upgrade", PROXY_FE, "no HTTP/2 over clear HTTP/1"),
	CONN("httpclose", HTTP_CONN_CLOSE, "close both sides after each response"),
	CONN("http-server-close", HTTP_CONN_SERVER_CLOSE, "close the server's side only"),
	CONN("http-keep-alive", HTTP_CONN_KEEP_ALIVE, "keep both sides open"),
	{ .words = "option redispatch", .where = CONF_DEF_BE,
	  .flags = CONF_CAN_NO | CONF_CAN_DEFAULT, .max_args = 1, .parse = parse_redispatch,
	  .syntax = "[<interval>]", .help = "try another server after failed connections" },
	{ .words = "option tcpka", .where = CONF_PROXY, .flags = CONF_CAN_NO | CONF_CAN_DEFAULT,
	  .parse = parse_tcpka, .help = "TCP keep-alive with both sides" },
	{ .words = "option tcplog", .where = CONF_DEF_FE, .max_args = -1,
	  .parse = parse_log_kind, .min = PROXY_LOG_TCP, .syntax = "[clf|json]",
	  .help = "log in the TCP format" },
	{ .words = "option httplog", .where = CONF_DEF_FE, .max_args = -1, .flags = CONF_HTTP,
	  .parse = parse_log_kind, .min = PROXY_LOG_HTTP, .syntax = "[clf|json]",
	  .help = "log in the HTTP format" },
	{ .words = "option httpslog", .where = CONF_DEF_FE, .max_args = -1, .flags = CONF_HTTP,
	  .parse = parse_log_kind, .min = PROXY_LOG_HTTPS, .syntax = "[json]",
	  .help = "log in the HTTPS format" },
	{ .words = "option http-restrict-req-hdr-names", .where = CONF_PROXY, .min_args = 1,
	  .max_args = 1, .flags = CONF_HTTP, .parse = parse_restrict_names,
	  .syntax = "{ preserve | delete | reject }",
	  .help = "request fields whose names are not letters, digits and '-'" },
	{ .words = "option use-small-buffers", .where = CONF_DEF_BE, .max_args = -1,
	  .flags = CONF_CAN_NO | CONF_CAN_DEFAULT | CONF_MOOT, .parse = parse_small_buffers,
	  .syntax = "[queue] [l7-retries] [check]", .help = "no effect",
	  .hint = "'option use-small-buffers' has no effect here: all buffers are of one size." },
	{ 0 }
};

const struct module mod_proxy_options = {
	.name = "proxy_options",
	.keywords = keywords,
};
