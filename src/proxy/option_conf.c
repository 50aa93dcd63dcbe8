/* SPDX-License-Identifier: GPL-2.0-or-later */
/* option_conf.c - edge file: the proxies' `option` keywords */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include "base/addr.h"
#include "base/door.h"
#include "base/strbuf.h"
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

	if (word && has_clf && strcmp(word, "clf") == 0)
		kind = kind == PROXY_LOG_HTTP ? PROXY_LOG_HTTP_CLF : PROXY_LOG_TCP_CLF;
	else if (word && has_clf)
		return conf_error(l, 2, NULL, "keyword 'option %s' only supports option 'clf'.",
				  kind == PROXY_LOG_HTTP ? "httplog" : "tcplog");
	px->log_option.kind = kind;
	px->log_option.file = conf_strdup(l->cfg, l->place.file ? l->place.file : "");
	px->log_option.line = l->place.line;
	return conf_take_end(l);
}

/* --- forwardfor, originalto ----------------------------------------------------------------- */

/* The address of a network: whole, with zeros left out ("10.1" is 10.0.0.1), or a host's. */
static bool parse_network_address(struct conf_line *l, const char *text, struct addr *out)
{
	struct sockaddr_storage found;
	char ip[ADDR_IP_MAX];
	socklen_t len;

	if (addr_parse_ip(slice_of(text), ADDR_NONE, out))
		return true;
	if (addr_parse_short_ip(slice_of(text), out)) {
		addr_put_ip(out, ip, sizeof(ip));
		conf_report(l, l->at, DIAG_DIAG, DIAG_PARSING, "'%s' is taken as %s.", text, ip);
		return true;
	}
	if (!*text || ascii_is_digit(*text) || !door_host(text, AF_INET, &found, &len))
		return false;
	*out = addr_from_sockaddr(&found, len);
	return true;
}

/* <mask> is a number of bits, or for IPv4 a dotted mask; NULL: all bits. */
static bool parse_network_mask(const char *mask, struct proxy_forward_for *f)
{
	bool v4 = f->except_family == AF_INET;
	long max = v4 ? 32 : 128, bits = max;
	char *end;

	memset(f->except_mask, 0, sizeof(f->except_mask));
	if (mask && v4 && inet_pton(AF_INET, mask, f->except_mask) == 1)
		return true;
	if (mask) {
		bits = strtol(mask, &end, 10);
		if (end == mask || *end || bits < 0 || bits > max)
			return false;
	}
	for (long i = 0; i < bits; i++)
		f->except_mask[i / 8] |= (uint8_t)(0x80 >> (i % 8));
	return true;
}

/* The next word: "10.0.0.0/8" or an address. */
static bool parse_network(struct conf_line *l, struct proxy_forward_for *f)
{
	const char *text = conf_peek(l);
	char copy[256], *slash;
	struct addr a;

	if (!text || strlen(text) >= sizeof(copy))
		return false;
	strcpy(copy, text);
	slash = strchr(copy, '/');
	if (slash)
		*slash++ = 0;
	if (!parse_network_address(l, copy, &a))
		return false;
	f->except_family = a.family == ADDR_INET ? AF_INET : AF_INET6;
	if (a.family == ADDR_INET)
		memcpy(f->except, &a.v4, 4);
	else
		memcpy(f->except, a.v6, 16);
	if (!parse_network_mask(slash, f))
		return false;
	/* 10.0.0.1/25 is written for 10.0.0.0/25 too */
	for (unsigned i = 0; i < sizeof(f->except); i++)
		f->except[i] &= f->except_mask[i];
	f->has_except = true;
	return true;
}

static bool parse_header_option(struct conf_line *l, struct proxy_forward_for *f,
				const char *name, const char *header)
{
	const char *word;

	*f = (struct proxy_forward_for){ .enabled = true, .header = header };
	while ((word = conf_next(l))) {
		if (strcmp(word, "except") == 0) {
			if (!parse_network(l, f))
				return conf_error(l, l->at - !conf_peek(l), NULL,
						  "'option %s except' expects <address>[/mask] as "
						  "argument.", name);
			l->at++;
		} else if (strcmp(word, "header") == 0) {
			if (!conf_peek(l))
				return conf_error(l, l->at - 1, NULL, "'option %s header' expects "
						  "<header_name> as argument.", name);
			f->header = conf_next(l);
		} else if (strcmp(word, "if-none") == 0 && strcmp(name, "forwardfor") == 0) {
			f->if_none = true;
		} else {
			return conf_error(l, l->at - 1, NULL, "'option %s' only supports optional "
					  "values: 'except'%s 'header'%s.", name,
					  strcmp(name, "forwardfor") == 0 ? "," : " and",
					  strcmp(name, "forwardfor") == 0 ? " and 'if-none'" : "");
		}
	}
	return true;
}

static bool parse_forwardfor(struct conf_line *l)
{
	struct proxy *px = l->object;

	return parse_header_option(l, &px->http.forward_for, "forwardfor", "X-Forwarded-For");
}

static bool parse_originalto(struct conf_line *l)
{
	struct proxy *px = l->object;

	return parse_header_option(l, &px->http.original_to, "originalto", "X-Original-To");
}

/* `option forwarded` : its arguments are kept as one text for the stream floor, which compiles
 * its expressions.
 */
static bool parse_forwarded(struct conf_line *l)
{
	struct proxy *px = l->object;
	struct strbuf b;
	const char *word;

	if (l->no || l->dflt) {
		px->http.forwarded = NULL;
		return true;
	}
	strbuf_init(&b);
	while ((word = conf_next(l))) {
		if (b.len)
			strbuf_add_char(&b, ' ');
		strbuf_add_str(&b, word);
	}
	px->http.forwarded = conf_strdup(l->cfg, b.ptr ? b.ptr : "");
	strbuf_fini(&b);
	return px->http.forwarded || conf_error(l, 0, NULL, "out of memory.");
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
#define LATER(text, places, what) \
	{ .words = "option " text, .where = places, .flags = CONF_LATER | CONF_CAN_NO, \
	  .max_args = -1, .help = what, \
	  .hint = "'option " text "' is not supported yet (" what ")." }

static const struct conf_keyword keywords[] = {
	BIT(ABORTONCLOSE, "abortonclose", PROXY_BE, "drop queued requests of clients that left"),
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
	BIT(TRANSPARENT, "transparent", PROXY_BE,
	    "connect to the address that the client asked for, without a server"),
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
	  .parse = parse_log_kind, .min = PROXY_LOG_TCP, .syntax = "[clf]",
	  .help = "log in the TCP format" },
	{ .words = "option httplog", .where = CONF_DEF_FE, .max_args = -1, .flags = CONF_HTTP,
	  .parse = parse_log_kind, .min = PROXY_LOG_HTTP, .syntax = "[clf]",
	  .help = "log in the HTTP format" },
	{ .words = "option httpslog", .where = CONF_DEF_FE, .max_args = -1, .flags = CONF_HTTP,
	  .parse = parse_log_kind, .min = PROXY_LOG_HTTPS, .help = "log in the HTTPS format" },
	{ .words = "option forwardfor", .where = CONF_PROXY, .max_args = -1, .flags = CONF_HTTP,
	  .parse = parse_forwardfor, .syntax = "[except <network>] [header <name>] [if-none]",
	  .help = "tell servers the client's address" },
	{ .words = "option originalto", .where = CONF_PROXY, .max_args = -1, .flags = CONF_HTTP,
	  .parse = parse_originalto, .syntax = "[except <network>] [header <name>]",
	  .help = "tell servers the original destination" },
	{ .words = "option forwarded", .where = CONF_DEF_BE, .max_args = -1,
	  .flags = CONF_CAN_NO | CONF_CAN_DEFAULT | CONF_HTTP, .parse = parse_forwarded,
	  .syntax = "[proto] [host] [by] [by_port] [for] [for_port]",
	  .help = "tell servers with RFC 7239's field" },
	{ .words = "option http-restrict-req-hdr-names", .where = CONF_PROXY, .min_args = 1,
	  .max_args = 1, .flags = CONF_HTTP, .parse = parse_restrict_names,
	  .syntax = "{ preserve | delete | reject }",
	  .help = "request fields whose names are not letters, digits and '-'" },
	LATER("spop-check", CONF_DEF_BE, "health checks"),
	{ 0 }
};

const struct module mod_proxy_options = {
	.name = "proxy_options",
	.keywords = keywords,
};
