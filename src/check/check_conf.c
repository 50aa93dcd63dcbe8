/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_conf.c - edge file: the words of server lines about checks, `http-check`, `tcp-check`,
 * the options that choose a kind of check, and what `global` says about them
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "conf/conf.h"
#include "proxy/address.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "check_priv.h"
#include "check_settings.h"
#include "check_trace.h"

/* --- server options: an alert begins with the line's subject -------------------------------- */

/* An alert about the word that was read last: "'server b/s' : ..." */
#define option_error(l, fmt, ...) \
	conf_report(l, (l)->at - 1, DIAG_ALERT, DIAG_AT, "'server %s/%s' : " fmt, \
		    ((struct server *)(l)->object)->proxy->name, \
		    ((struct server *)(l)->object)->name, ##__VA_ARGS__)

static void *field_of(struct conf_line *l)
{
	return (char *)l->object + l->keyword->offset;
}

static bool parse_flag(struct conf_line *l)
{
	*(bool *)field_of(l) = l->keyword->min;
	return true;
}

static bool parse_text(struct conf_line *l)
{
	return conf_take_string(l, field_of(l));
}

/* A time that may not be 0 when keyword->min is 1. */
static bool parse_delay(struct conf_line *l)
{
	const struct server *srv = l->object;
	const char *word = conf_peek(l);
	int64_t ms;

	if (!conf_take_time_ms(l, &ms))
		return false;
	if (l->keyword->min && conf_is_small_time(word))
		conf_warn(l, l->at - 1, NULL,
			  "'%s %s' in server '%s' is suspiciously small for a value in "
			  "milliseconds. Please use an explicit unit ('%sms') if that was the "
			  "intent.", l->keyword->words, word, srv->name, word);
	if (ms < l->keyword->min)
		return option_error(l, "invalid value %lld for argument '%s' of server %s.",
				    (long long)ms, l->keyword->words, srv->name);
	*(int64_t *)field_of(l) = ms;
	return true;
}

/* A number above 0. */
static bool parse_count(struct conf_line *l)
{
	const char *word = conf_next(l);
	long v = strtol(word, NULL, 10);

	if (v <= 0 || v > 1000000)
		return option_error(l, "'%s' has to be > 0.", l->keyword->words);
	*(int *)field_of(l) = (int)v;
	return true;
}

static bool parse_port(struct conf_line *l)
{
	const char *word = conf_next(l);
	char *end;
	long v = strtol(word, &end, 10);

	if (end == word || *end || v < 0 || v > 65535)
		return option_error(l, "'%s' expects a port from 1 to 65535, not '%s'.",
				    l->keyword->words, word);
	*(int *)field_of(l) = (int)v;
	return true;
}

/* The address to check instead of the server's own; the field is a struct check_conf. */
static bool take_address(struct conf_line *l, struct check_conf *conf, unsigned flags)
{
	const char *word = conf_next(l);
	struct sockaddr *copy;
	struct address a;

	if (!address_parse(word, flags, &a))
		return strcmp(l->keyword->words, "addr") == 0
			? option_error(l, "'addr' : %s", a.error)
			: option_error(l, "parsing agent-addr failed. Check if '%s' is correct "
				       "address.", word);
	copy = arena_alloc(&l->cfg->arena, a.addr.len);
	if (!copy)
		return conf_error(l, 0, NULL, "out of memory.");
	memcpy(copy, &a.addr.sa, a.addr.len);
	conf->addr = copy;
	conf->addr_len = a.addr.len;
	conf->addr_text = word;
	return true;
}

/* `addr` is for both checks, unless agent-addr says more. */
static bool parse_addr(struct conf_line *l)
{
	struct server *srv = l->object;
	const struct check_conf *h = &srv->checks.health;

	if (!take_address(l, &srv->checks.health, 0))
		return false;
	if (!srv->checks.agent_addr_is_set) {
		srv->checks.agent.addr = h->addr;
		srv->checks.agent.addr_len = h->addr_len;
		srv->checks.agent.addr_text = h->addr_text;
	}
	return true;
}

static bool parse_agent_addr(struct conf_line *l)
{
	struct server *srv = l->object;

	srv->checks.agent_addr_is_set = true;
	return take_address(l, &srv->checks.agent, ADDRESS_PORT_NONE);
}

/* One word of a list; keyword->syntax names them. Returns its place, -1: reported. */
static int take_choice(struct conf_line *l, const char *const *words, const char *expected)
{
	const char *word = conf_next(l);

	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	option_error(l, "'%s' expects %s but got '%s'", l->keyword->words, expected, word);
	return -1;
}

static bool parse_observe(struct conf_line *l)
{
	static const char *const words[] = { "none", "layer4", "layer7", NULL };
	struct server *srv = l->object;
	int i = take_choice(l, words, "one of 'none', 'layer4', 'layer7'");

	if (i < 0)
		return false;
	if (i == OBSERVE_LAYER7 && srv->proxy->mode != PROXY_MODE_HTTP)
		return option_error(l, "'layer7' can only be used in http proxies.");
	srv->checks.observe = (enum check_observe)i;
	return true;
}

static bool parse_on_error(struct conf_line *l)
{
	static const char *const words[] = { "fail-check", "fastinter", "sudden-death",
					     "mark-down", NULL };
	struct server *srv = l->object;
	int i = take_choice(l, words, "one of 'fastinter', 'fail-check', 'sudden-death' or "
			    "'mark-down'");

	if (i < 0)
		return false;
	srv->checks.on_error = (enum check_on_error)i;
	return true;
}

static bool parse_on_marked_down(struct conf_line *l)
{
	static const char *const words[] = { "shutdown-sessions", NULL };
	struct server *srv = l->object;

	srv->on_marked.down = SERVER_ON_SHUTDOWN_SESSIONS;
	return take_choice(l, words, "'shutdown-sessions'") == 0;
}

static bool parse_on_marked_up(struct conf_line *l)
{
	static const char *const words[] = { "shutdown-backup-sessions", NULL };
	struct server *srv = l->object;

	srv->on_marked.up = SERVER_ON_SHUTDOWN_SESSIONS;
	return take_choice(l, words, "'shutdown-backup-sessions'") == 0;
}

static bool parse_init_state(struct conf_line *l)
{
	static const char *const words[] = { "none", "fully-up", "up", "down", "fully-down",
					     NULL };
	struct server *srv = l->object;
	int i = take_choice(l, words, "one of 'none', 'fully-up', 'up', 'down', or 'fully-down'");

	if (i < 0)
		return false;
	srv->checks.init = (enum check_init)i;
	return true;
}

static bool parse_check_proto(struct conf_line *l)
{
	struct server *srv = l->object;
	const char *word = conf_next(l);

	srv->checks.proto = check_mux_find(word);
	return srv->checks.proto || option_error(l, "'check-proto' :  unknown MUX protocol '%s'.",
						 word);
}

static bool parse_check_alpn(struct conf_line *l)
{
	const char *word = conf_next(l);
	struct slice *alpn = &((struct server *)l->object)->checks.alpn;

	*alpn = check_alpn_make(&l->cfg->arena, word);
	return alpn->ptr || option_error(l, "'check-alpn' : invalid list of protocols '%s'.", word);
}

/* keyword->min: 1 always, -1 never. */
static bool parse_check_ssl(struct conf_line *l)
{
	((struct server *)l->object)->checks.ssl = (int)l->keyword->min;
	return true;
}

/* agent-send "text\n" : \n and its kin were read with the line. */
static bool parse_agent_send(struct conf_line *l)
{
	return conf_take_string(l, &((struct server *)l->object)->checks.agent.send);
}

/* --- proxies: kinds of checks --------------------------------------------------------------- */

/* `option tcp-check`, `option external-check`; keyword->min is the kind. */
static bool parse_kind(struct conf_line *l)
{
	check_proxy_of_line(l)->kind = (enum check_kind)l->keyword->min;
	return conf_take_end(l);
}

/* <host> is a log-format. */
static bool add_host(struct conf_line *l, struct check_http_send *h, const char *text)
{
	struct check_field *f = arena_zalloc(&l->cfg->arena, sizeof(*f));

	if (!f)
		return conf_error(l, 0, NULL, "out of memory.");
	f->name = "host";
	f->value = logformat_parse(l, text, EXPR_BE_CHK_RUL, 0);
	h->fields = f;
	h->last_field = &f->next;
	return f->value != NULL;
}

/* [<method>] [<uri>] [<version>] [<host>] : one word alone is the URI. */
static bool parse_httpchk(struct conf_line *l)
{
	struct check_proxy *cp = check_proxy_of_line(l);
	struct check_http_send *h = arena_zalloc(&l->cfg->arena, sizeof(*h));
	const char *word;

	if (!h)
		return conf_error(l, 0, NULL, "out of memory.");
	if (l->count - l->at > 1)
		h->method = conf_next(l);
	if (h->method && !h1_is_token(slice_of(h->method)))
		return conf_error(l, l->at - 1, NULL, "'%s httpchk' : invalid method '%s'.",
				  l->words[0], h->method);
	h->uri.text = slice_of(conf_next(l));
	h->version = conf_next(l);
	if (h->version && strpbrk(h->version, "\r\n"))
		return conf_error(l, l->at - 1, NULL, "'%s httpchk' : hiding headers or body "
				  "at the end of the version string is unsupported.Use "
				  "'http-check send' directive instead.", l->words[0]);
	word = conf_next(l);
	if (word && !add_host(l, h, word))
		return false;
	if (!cp->http_is_own)
		cp->http = (struct check_rules){ 0 };
	cp->http_is_own = true;
	cp->kind = CHECK_KIND_HTTP;
	cp->httpchk = h;
	return !conf_peek(l) || conf_error(l, l->at, NULL, "'%s httpchk' cannot handle "
					   "unexpected argument '%s'.", l->words[0],
					   conf_peek(l));
}

/* external-check command|path <text> */
static bool parse_external(struct conf_line *l)
{
	struct check_proxy *cp = check_proxy_of_line(l);
	const char *word = conf_next(l), *value = conf_next(l);

	if (strcmp(word, "command") != 0 && strcmp(word, "path") != 0)
		return conf_error(l, 1, NULL, "'external-check' only supports 'command' and "
				  "'path'. but got '%s'.", word);
	if (!value)
		return conf_error(l, 1, NULL, "missing argument after '%s'.", word);
	*(word[0] == 'c' ? &cp->command : &cp->path) = value;
	return conf_take_end(l);
}

/* --- healthcheck sections ------------------------------------------------------------------- */

static bool parse_type_tcp(struct conf_line *l)
{
	check_proxy_of_line(l)->kind = CHECK_KIND_TCPCHK;
	return conf_take_end(l);
}

/* type <type> [arguments of the option of this name] */
static bool parse_type(struct conf_line *l)
{
	static const struct {
		const char *name;
		enum check_kind kind;
		bool (*parse)(struct conf_line *l);
	} types[] = {
		{ "tcp-check", CHECK_KIND_TCPCHK, parse_type_tcp },
		{ "httpchk", CHECK_KIND_HTTP, parse_httpchk },
		{ "ssl-hello-chk", CHECK_KIND_PROTO, check_proto_parse },
		{ "smtpchk", CHECK_KIND_PROTO, check_proto_parse },
		{ "pgsql-check", CHECK_KIND_PROTO, check_proto_parse },
		{ "redis-check", CHECK_KIND_PROTO, check_proto_parse },
		{ "mysql-check", CHECK_KIND_PROTO, check_proto_parse },
		{ "ldap-check", CHECK_KIND_PROTO, check_proto_parse },
		{ "spop-check", CHECK_KIND_PROTO, check_proto_parse },
		{ "grpc-check", CHECK_KIND_GRPC, check_grpc_parse },
	};
	const char *word = conf_next(l);

	if (!word)
		return conf_error(l, 0, NULL, "'type' expects a healthcheck type.");
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (strcmp(types[i].name, word) == 0)
			return check_section_type_begins(l, types[i].kind) && types[i].parse(l);
	return conf_error(l, 1, NULL, "unknown healthcheck type '%s' (expects 'tcp-check', "
			  "'httpchk', 'ssl-hello-chk', 'smtpchk', 'pgsql-check', 'redis-check', "
			  "'mysql-check', 'ldap-check', 'spop-check', 'grpc-check').", word);
}

/* healthcheck <name>, of a server line */
static bool parse_own(struct conf_line *l)
{
	return conf_take_string(l, &((struct server *)l->object)->checks.own_name);
}

/* --- global --------------------------------------------------------------------------------- */

static bool parse_spread(struct conf_line *l)
{
	int64_t v;

	if (!conf_take_int(l, 0, 50, &v))
		return false;
	check_settings_of(l->cfg)->spread_percent = (int)v;
	return true;
}

static bool parse_max_spread(struct conf_line *l)
{
	return conf_take_time_ms(l, &check_settings_of(l->cfg)->max_spread_ms);
}

static bool parse_max_per_thread(struct conf_line *l)
{
	int64_t v;

	if (!conf_take_int(l, 0, INT32_MAX, &v))
		return false;
	check_settings_of(l->cfg)->max_per_thread = (int)v;
	return true;
}

static bool parse_global_external(struct conf_line *l)
{
	const char *word = conf_next(l);

	check_settings_of(l->cfg)->external = true;
	if (!word)
		return true;
	if (strcmp(word, "preserve-env") != 0)
		return conf_error(l, 1, NULL, "'external-check' only supports 'preserve-env' as "
				  "an argument, unknown argument '%s'.", word);
	check_settings_of(l->cfg)->keep_env = true;
	return conf_take_end(l);
}

static bool parse_never_local(struct conf_line *l)
{
	check_settings_of(l->cfg)->never_local = true;
	return true;
}

static bool parse_may_fork(struct conf_line *l)
{
	check_settings_of(l->cfg)->may_fork = !l->no;
	return conf_take_end(l);
}

/* --- tables --------------------------------------------------------------------------------- */

#define CHECK_FIELD(member) .offset = offsetof(struct server, checks.member)
#define OPTION(text, parser, what) \
	{ .words = text, .where = CONF_SERVER, .min_args = 1, .max_args = 1, .parse = parser, \
	  .help = what
#define FLAG(text, member, value, what) \
	{ .words = text, .where = CONF_SERVER, .parse = parse_flag, CHECK_FIELD(member), \
	  .min = value, .help = what }
#define DELAY(text, member, least, what) \
	OPTION(text, parse_delay, what), CHECK_FIELD(member), .min = least, \
	  .syntax = "<delay>" }
#define COUNT(text, member, what) \
	OPTION(text, parse_count, what), CHECK_FIELD(member), .syntax = "<count>" }
#define PROXY_OPTION(text, parser, kind, what) \
	{ .words = "option " text, .where = CONF_DEF_BE, .max_args = -1, .parse = parser, \
	  .min = kind, .help = what

#define SECTION .where = CONF_OTHER, .section = "healthcheck"

static const struct conf_section sections[] = {
	{ .name = "healthcheck", .where = CONF_OTHER, .open = check_section_open,
	  .close = check_section_close, .syntax = "<name>",
	  .help = "a health check that server lines name" },
	{ 0 }
};

static const struct conf_keyword keywords[] = {
	FLAG("check", health.on, 1, "health checks"),
	FLAG("no-check", health.on, 0, "no health checks"),
	FLAG("agent-check", agent.on, 1, "an agent is asked too"),
	FLAG("no-agent-check", agent.on, 0, "no agent"),
	FLAG("check-send-proxy", send_proxy, 1, "PROXY protocol header with checks"),
	FLAG("no-check-send-proxy", send_proxy, 0, "the default"),
	DELAY("inter", health.inter_ms, 1, "time between checks"),
	DELAY("fastinter", health.fastinter_ms, 1, "same while it goes up or down"),
	DELAY("downinter", health.downinter_ms, 1, "same while it is down"),
	DELAY("agent-inter", agent.inter_ms, 1, "time between questions to the agent"),
	DELAY("slowstart", slowstart_ms, 0, "time to full weight after it was down"),
	COUNT("rise", health.rise, "successes to come up"),
	COUNT("fall", health.fall, "failures to go down"),
	COUNT("error-limit", error_limit, "errors in a row that on-error waits for"),
	OPTION("port", parse_port, "port to check"), CHECK_FIELD(health.port),
	  .syntax = "<port>" },
	OPTION("agent-port", parse_port, "port of the agent"), CHECK_FIELD(agent.port),
	  .syntax = "<port>" },
	OPTION("addr", parse_addr, "address to check"), .syntax = "<ipv4|ipv6>" },
	OPTION("agent-addr", parse_agent_addr, "address of the agent"), .syntax = "<address>" },
	OPTION("agent-send", parse_agent_send, "text to send to the agent first"),
	  .syntax = "<text>" },
	OPTION("observe", parse_observe, "traffic counts as checks"),
	  .syntax = "{ none | layer4 | layer7 }" },
	OPTION("on-error", parse_on_error, "what too many errors do"),
	  .syntax = "{ fastinter | fail-check | sudden-death | mark-down }" },
	OPTION("on-marked-down", parse_on_marked_down, "what is done when it goes down"),
	  .syntax = "shutdown-sessions" },
	OPTION("on-marked-up", parse_on_marked_up, "what is done when it comes up"),
	  .syntax = "shutdown-backup-sessions" },
	OPTION("init-state", parse_init_state, "state before the first check"),
	  .syntax = "{ fully-up | up | down | fully-down | none }" },
	OPTION("track", parse_text, "state of another server"), CHECK_FIELD(track_name),
	  .syntax = "[<backend>/]<server>" },
	OPTION("check-proto", parse_check_proto, "protocol of checks"),
	  .syntax = "{ h1 | h2 | none }" },
	{ .words = "check-ssl", .where = CONF_SERVER, .parse = parse_check_ssl, .min = 1,
	  .help = "checks use TLS, whatever the traffic does" },
	{ .words = "no-check-ssl", .where = CONF_SERVER, .parse = parse_check_ssl, .min = -1,
	  .help = "checks do not use TLS" },
	OPTION("check-sni", parse_text, "the name that checks ask for"), CHECK_FIELD(sni),
	  .syntax = "<name>" },
	FLAG("check-sni-auto", no_sni_auto, 0, "without it: the host that checks ask for"),
	FLAG("no-check-sni-auto", no_sni_auto, 1, "no name unless check-sni gives one"),
	OPTION("healthcheck", parse_own, "the healthcheck section that says how it is checked"),
	  .syntax = "<name>" },
	OPTION("check-alpn", parse_check_alpn, "protocols that checks offer by ALPN"),
	  .syntax = "<protocols>" },
	FLAG("check-via-socks4", via_socks4, 1, "checks go through the proxy of 'socks4'"),
	FLAG("check-reuse-pool", reuse_pool, 1, "checks on idle connections of the traffic"),
	OPTION("check-pool-conn-name", parse_text, "the name of connections for that"),
	  CHECK_FIELD(pool_conn_name), .syntax = "<name>" },
	{ .words = "no-check-reuse-pool", .where = CONF_SERVER, .parse = parse_flag,
	  CHECK_FIELD(reuse_pool), .min = 0, .help = "the default" },

	{ .words = "http-check", .where = CONF_DEF_BE, .min_args = 1, .max_args = -1,
	  .parse = check_http_rule_parse, .syntax = "{ connect | send | expect | ... } ...",
	  .parts = "comment connect disable-on-404 expect send send-state set-var set-var-fmt "
		   "unset-var", .help = "a step of HTTP checks" },
	{ .words = "tcp-check", .where = CONF_DEF_BE, .min_args = 1, .max_args = -1,
	  .parse = check_tcp_rule_parse, .syntax = "{ connect | send | expect | ... } ...",
	  .parts = "comment connect expect send send-binary send-binary-lf send-lf set-var "
		   "set-var-fmt unset-var", .help = "a step of TCP checks" },
	{ .words = "type", SECTION, .max_args = -1, .parse = parse_type,
	  .syntax = "<type> [<arguments>]", .help = "the kind of check" },
	{ .words = "http-check", SECTION, .min_args = 1, .max_args = -1,
	  .parse = check_http_rule_parse, .syntax = "{ connect | send | expect | ... } ...",
	  .parts = "comment connect disable-on-404 expect send send-state set-var set-var-fmt "
		   "unset-var", .help = "a step of HTTP checks" },
	{ .words = "tcp-check", SECTION, .min_args = 1, .max_args = -1,
	  .parse = check_tcp_rule_parse, .syntax = "{ connect | send | expect | ... } ...",
	  .parts = "comment connect expect send send-binary send-binary-lf send-lf set-var "
		   "set-var-fmt unset-var", .help = "a step of TCP checks" },
	{ .words = "external-check", .where = CONF_DEF_BE, .min_args = 1, .max_args = -1,
	  .parse = parse_external, .syntax = "{ command | path } <text>",
	  .parts = "command path", .help = "the program of external checks" },
	PROXY_OPTION("httpchk", parse_httpchk, CHECK_KIND_HTTP, "check with HTTP requests"),
	  .syntax = "[<method>] [<uri>] [<version>] [<host>]" },
	PROXY_OPTION("tcp-check", parse_kind, CHECK_KIND_TCPCHK, "check with tcp-check rules") },
	PROXY_OPTION("external-check", parse_kind, CHECK_KIND_EXTERNAL, "check with a program") },
	PROXY_OPTION("mysql-check", check_proto_parse, 0, "check MySQL servers"),
	  .syntax = "[user <name> [post-41|pre-41|post-80]]" },
	PROXY_OPTION("pgsql-check", check_proto_parse, 0, "check PostgreSQL servers"),
	  .syntax = "user <name>" },
	PROXY_OPTION("redis-check", check_proto_parse, 0, "check Redis servers") },
	PROXY_OPTION("smtpchk", check_proto_parse, 0, "check SMTP servers"),
	  .syntax = "[<hello> <domain>]" },
	PROXY_OPTION("grpc-check", check_grpc_parse, 0, "check with the health service of gRPC"),
	  .syntax = "[<service>]" },
	PROXY_OPTION("ldap-check", check_proto_parse, 0, "check LDAP servers") },
	PROXY_OPTION("spop-check", check_proto_parse, 0, "check agents of SPOE") },
	PROXY_OPTION("ssl-hello-chk", check_proto_parse, 0, "check with an SSLv3 hello") },

	{ .words = "spread-checks", .where = CONF_GLOBAL, .min_args = 1, .max_args = 1,
	  .parse = parse_spread, .syntax = "<0..50>", .help = "noise in the time between checks, "
	  "in percent" },
	{ .words = "max-spread-checks", .where = CONF_GLOBAL, .min_args = 1, .max_args = 1,
	  .parse = parse_max_spread, .syntax = "<delay>",
	  .help = "time in which all checks start at most" },
	{ .words = "tune.max-checks-per-thread", .where = CONF_GLOBAL, .min_args = 1,
	  .max_args = 1, .parse = parse_max_per_thread, .syntax = "<number>",
	  .help = "checks that a thread runs at once, 0 any" },
	{ .words = "external-check", .where = CONF_GLOBAL, .max_args = 1,
	  .parse = parse_global_external, .syntax = "[preserve-env]",
	  .help = "allow checks by programs" },
	{ .words = "insecure-fork-wanted", .where = CONF_GLOBAL, .flags = CONF_CAN_NO,
	  .parse = parse_may_fork,
	  .help = "allow to start programs" },
	{ .words = "pp2-never-send-local", .where = CONF_GLOBAL, .parse = parse_never_local,
	  .help = "checks send addresses with PROXY protocol 2 too" },
	{ 0 }
};

static struct slot *const slots[] = { &check_proxy_slot, &check_config_slot, NULL };

static bool start_thread(void)
{
	return checks_start_thread(proxies_current());
}

static void stop_thread(void)
{
	checks_stop_thread(NULL);
}

static struct trace_source *const traces[] = { &trace_check, NULL };

const struct module mod_check = {
	.name = "check",
	.sections = sections,
	.keywords = keywords,
	.slots = slots,
	.init = checks_init,
	.check = checks_check, .check_backend = checks_check_backend,
	.traces = traces,
	.thread_init = start_thread,
	.thread_fini = stop_thread,
};
