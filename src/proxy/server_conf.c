/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_conf.c - edge file: server, default-server and server-template lines, and their options */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "conf/conf.h"
#include "expr/logformat.h"
#include "mux/mux.h"
#include "net/socket.h"
#include "proxy/address.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "proxy/source.h"
#include "tls/tls.h"
#include "guid_priv.h"
#include "proxy_priv.h"

/* --- options stored at an offset: keyword->offset, min, max --------------------------------- */

static void *field_of(struct conf_line *l)
{
	return (char *)l->object + l->keyword->offset;
}

/* An alert about a word, in the words of server lines. */
#define server_error(l, word, ...) conf_report(l, word, DIAG_ALERT, DIAG_AT, __VA_ARGS__)
/* An alert about the word that was read last. */
#define option_error(l, ...) server_error(l, (l)->at - 1, __VA_ARGS__)

/* "'server backend/server'" */
static const char *server_subject(const struct server *srv)
{
	static __thread char text[256];

	snprintf(text, sizeof(text), "'server %s/%s'", srv->proxy->name, srv->name);
	return text;
}

/* Of the line that is read. */
static const char *subject(const struct conf_line *l)
{
	return server_subject(l->object);
}

static bool parse_int64(struct conf_line *l)
{
	const char *word = conf_next(l);
	char *end;
	long long v = strtoll(word, &end, 10);

	if (end == word || *end || v < l->keyword->min || v > l->keyword->max)
		return option_error(l, "%s : '%s' : invalid value '%s', allowed range is "
				    "%lld..%lld.", subject(l), l->keyword->words, word,
				    (long long)l->keyword->min, (long long)l->keyword->max);
	*(int64_t *)field_of(l) = v;
	return true;
}

static bool parse_at_least_none(struct conf_line *l)
{
	const char *word = conf_next(l);
	char *end;
	long long v = strtoll(word, &end, 10);

	if (end == word || *end || v < -1)
		return option_error(l, "%s : '%s' must be >= -1.", subject(l), l->keyword->words);
	*(int64_t *)field_of(l) = v;
	return true;
}

static bool parse_time_ms(struct conf_line *l)
{
	return conf_take_time_ms(l, field_of(l));
}

static bool parse_text(struct conf_line *l)
{
	return conf_take_string(l, field_of(l));
}

static bool parse_namespace(struct conf_line *l)
{
	struct server *srv = l->object;

	return source_parse_namespace(l, &srv->socket.netns);
}

static bool parse_proto(struct conf_line *l)
{
	const char *word = conf_next(l);
	const struct mux_kind *k = mux_find(word);
	struct server *srv = l->object;

	srv->mux.is_spop = k && k->mode == MUX_SPOP;
	srv->mux.forced = srv->mux.is_spop ? NULL : k;
	if (k && k->sides & MUX_BACK)
		return true;
	return option_error(l, "%s : 'proto' :  unknown MUX protocol '%s'.", subject(l), word);
}

static bool parse_log_size(struct conf_line *l)
{
	struct server *srv = l->object;

	if (!conf_take_size(l, &srv->log_size))
		return false;
	return srv->log_size || option_error(l, "log-bufsize has to be > 0.");
}

static bool parse_log_proto(struct conf_line *l)
{
	struct server *srv = l->object;
	const char *word = conf_next(l);

	srv->log_octets = word && strcmp(word, "octet-count") == 0;
	if (srv->log_octets || (word && strcmp(word, "legacy") == 0))
		return true;
	return option_error(l, "%s : 'log-proto' expects one of 'legacy' or 'octet-count' but "
			    "got '%s'.", subject(l), word ? word : "");
}

static bool parse_ws(struct conf_line *l)
{
	struct server *srv = l->object;
	const char *word = conf_next(l);

	srv->mux.ws = mux_find(word);
	if (strcmp(word, "auto") == 0 || (srv->mux.ws && mux_fits(srv->mux.ws, MUX_BACK, MUX_HTTP)))
		return true;
	return option_error(l, "%s : 'ws' has to be 'auto', 'h1' or 'h2'.", subject(l));
}

static bool parse_true(struct conf_line *l)
{
	*(bool *)field_of(l) = true;
	return true;
}

static bool parse_false(struct conf_line *l)
{
	*(bool *)field_of(l) = false;
	return true;
}

/* --- options with a meaning of their own ---------------------------------------------------- */

static bool parse_weight(struct conf_line *l)
{
	struct server *srv = l->object;
	const char *word = conf_next(l);
	char *end;
	long v = strtol(word, &end, 10);

	if (end == word || *end || v < 0 || v > 256)
		return option_error(l, "%s : weight of server %s is not within 0 and 256 (%s).",
				    subject(l), srv->name, word);
	srv->uweight = (unsigned)v;
	return true;
}

/* Is what one server only can have not for this one? The first one of a template has it, and those
 * that share a default-server would all be the same.
 */
static bool is_shared(struct conf_line *l, const struct server *srv)
{
	const struct server *it;

	if (srv == srv->proxy->dflt.server) {
		conf_warn(l, l->at - 1, NULL, "'%s' is of one server: ignored in default-server.",
			  l->words[l->at - 1]);
		return true;
	}
	if (strcmp(l->words[0], "server-template") != 0 || list_is_empty(&srv->proxy->servers))
		return false;
	it = list_last(&srv->proxy->servers, struct server, link);
	return it != srv && it->place.line == srv->place.line &&
	       strcmp(it->place.file, srv->place.file) == 0;
}

static bool parse_id(struct conf_line *l)
{
	struct server *srv = l->object, *it;
	bool shared = is_shared(l, srv);
	int64_t id;

	if (!conf_take_int(l, 1, INT32_MAX, &id))
		return false;
	if (shared)
		return true;
	list_for_each(it, &srv->proxy->servers, link)
		if (it != srv && (it->id_forced || l->cfg->is_checked) && it->id == id)
			return option_error(l, "%s : 'id' : custom id %d already used at %s:%d "
					    "('server %s').", subject(l), (int)id,
					    it->place.line ? it->place.file : "CLI",
					    it->place.line, it->name);
	srv->id = (int)id;
	srv->id_forced = true;
	return true;
}

static bool parse_guid(struct conf_line *l)
{
	struct server *srv = l->object;
	char text[300];

	if (is_shared(l, srv))
		return conf_next(l) != NULL;
	snprintf(text, sizeof(text), "%s : ", subject(l));
	return guid_take(l, text, &srv->guid);
}

/* keyword->min is the version, 0 none. */
static bool parse_send_proxy(struct conf_line *l)
{
	struct server *srv = l->object;

	srv->send_proxy = (unsigned char)l->keyword->min;
	return true;
}

static bool parse_no_send_proxy(struct conf_line *l)
{
	struct server *srv = l->object;

	if (srv->send_proxy == l->keyword->min)
		srv->send_proxy = 0;
	return true;
}

/* Version 2 with the options of keyword->max. */
static bool parse_send_proxy_ssl(struct conf_line *l)
{
	struct server *srv = l->object;

	srv->send_proxy = 2;
	srv->proxy_v2_options |= (unsigned)l->keyword->max;
	return true;
}

static bool parse_no_send_proxy_ssl(struct conf_line *l)
{
	struct server *srv = l->object;

	srv->proxy_v2_options &= ~(unsigned)l->keyword->max;
	if (srv->send_proxy == 2)
		srv->send_proxy = 0;
	return true;
}

/* "set-proxy-v2-tlv-fmt(<type>)": *type. */
static bool parse_tlv_type(struct conf_line *l, unsigned *type)
{
	const char *word = l->words[l->at - 1], *open = strchr(word, '('), *close;
	unsigned long value;
	char *end;

	close = open ? strchr(open, ')') : NULL;
	if (!close || close[1])
		return option_error(l, "%s : '%s' : expects set-proxy-v2-tlv(<TLV ID>).",
				    subject(l), word);
	value = strtoul(open + 1, &end, 0);
	if (end == open + 1 || end != close)
		return option_error(l, "%s : '%s' : could not convert TLV ID.", subject(l), word);
	if (value > 255)
		return option_error(l, "%s : '%s' : the maximum allowed TLV ID is 255.",
				    subject(l), word);
	*type = (unsigned)value;
	return true;
}

/* Servers that share a default have their own copy as soon as they add one. */
static bool parse_proxy_v2_tlv(struct conf_line *l)
{
	struct server *srv = l->object;
	const struct server_tlvs *old = srv->proxy_v2_tlvs;
	unsigned count = old ? old->count : 0, type = 0;
	struct server_tlvs *tlvs;

	if (!parse_tlv_type(l, &type))
		return false;
	tlvs = arena_zalloc(&l->cfg->arena, sizeof(*tlvs) + (count + 1) * sizeof(tlvs->list[0]));
	if (!tlvs)
		return option_error(l, "%s : out of memory.", subject(l));
	if (count)
		memcpy(tlvs->list, old->list, count * sizeof(tlvs->list[0]));
	tlvs->list[count].type = (uint8_t)type;
	/* without a format it is empty */
	tlvs->list[count].value = logformat_parse(l, conf_peek(l) ? conf_peek(l) : "",
						  EXPR_BE_SRV_CON, 0);
	tlvs->count = count + 1;
	srv->proxy_v2_tlvs = tlvs;
	conf_next(l);
	return tlvs->list[count].value != NULL;
}

static bool parse_pool_conn_name(struct conf_line *l)
{
	struct server *srv = l->object;

	srv->idle.conn_name = expr_take(l, EXPR_BE_SRV_CON);
	return srv->idle.conn_name != NULL;
}

static bool parse_usesrc(struct conf_line *l)
{
	return option_error(l, "%s : 'usesrc' only allowed after a 'source' statement.",
			    subject(l));
}

static bool parse_proxy_v2_options(struct conf_line *l)
{
	static const struct {
		const char *name;
		unsigned bit;
	} options[] = {
#define X(name, text) { text, PROXY_V2_##name },
		PROXY_V2_OPTIONS(X)
#undef X
	};
	struct server *srv = l->object;
	const char *p = conf_next(l);

	while (*p) {
		size_t len = strcspn(p, ",");
		unsigned i = 0;

		while (i < ARRAY_LEN(options) && (strlen(options[i].name) != len ||
						  strncmp(options[i].name, p, len) != 0))
			i++;
		if (i == ARRAY_LEN(options))
			return option_error(l, "%s : '%.*s' : proxy v2 option not implemented.",
					    subject(l), (int)len, p);
		srv->proxy_v2_options |= options[i].bit;
		p += len;
		p += *p == ',';
	}
	return true;
}

static bool parse_source(struct conf_line *l)
{
	struct server *srv = l->object;

	srv->source = source_parse(l);
	return srv->source != NULL;
}

static bool parse_socks4(struct conf_line *l)
{
	struct server *srv = l->object;
	const char *word = conf_next(l);
	struct server_addr *copy;
	struct address a;

	if (!address_parse(word, ADDRESS_PORT_MUST | ADDRESS_UNIX, &a))
		return option_error(l, "%s : 'socks4 %s' : %s", subject(l), word, a.error);
	if (a.addr.sa.ss_family != AF_UNIX && !a.port_low)
		return option_error(l, "%s : 'socks4 %s' : invalid port '0'.", subject(l), word);
	copy = arena_alloc(&l->cfg->arena, sizeof(*copy));
	if (!copy)
		return option_error(l, "%s : out of memory.", subject(l));
	*copy = a.addr;
	srv->socks4 = copy;
	return true;
}

static bool parse_tcp_ut(struct conf_line *l)
{
	struct server *srv = l->object;

	return conf_take_time_ms(l, &srv->socket.user_timeout_ms);
}

static bool parse_congestion(struct conf_line *l)
{
	struct server *srv = l->object;

	srv->socket.congestion = conf_next(l);
	return srv->socket.congestion ||
	       option_error(l, "%s : 'cc' : missing TCP congestion control algorithm.", subject(l));
}

static bool parse_md5_key(struct conf_line *l)
{
	struct server *srv = l->object;

	srv->socket.md5_key = conf_next(l);
	if (!srv->socket.md5_key)
		return option_error(l, "%s : 'tcp-md5sig' : missing TCP MD5 signature password.",
				    subject(l));
	return strlen(srv->socket.md5_key) <= SOCKET_MD5_KEY_MAX ||
	       option_error(l, "%s : 'tcp-md5sig' : password too long (at most 80 characters "
			    "expected).", subject(l));
}

#define LATER(text, args, what) \
	{ .words = text, .where = CONF_SERVER, .flags = CONF_LATER, .min_args = args, \
	  .max_args = args, .help = what, \
	  .hint = "server option '" text "' is not supported yet (" what ")." }
#define FIELD(member) .offset = offsetof(struct server, member)
#define ONE .min_args = 1, .max_args = 1
#define NUMBER(text, member, low, high, what) \
	{ .words = text, .where = CONF_SERVER, ONE, .parse = parse_int64, FIELD(member), \
	  .min = low, .max = high, .syntax = "<number>", .help = what }

/* --- lines ---------------------------------------------------------------------------------- */

/* Remembers where a name was written. The servers of a template share the text. */
static void keep_place(struct conf_line *l, struct server *srv)
{
	const struct list *servers = &srv->proxy->servers;
	const struct server *last = list_is_empty(servers) ? NULL
		: list_last(servers, struct server, link);

	srv->resolve.column = l->columns[l->at - 1];
	srv->resolve.line_text =
		last && last->place.line == srv->place.line ? last->resolve.line_text
		: l->place.text ? conf_strdup(l->cfg, l->place.text) : NULL;
}

/* Sets the address of <srv> from the word <text>, or its name: that has none before the check
 * phase. False: reported.
 */
static bool set_address(struct conf_line *l, struct server *srv, const char *word)
{
	unsigned flags = ADDRESS_UNIX | ADDRESS_OFFSET | ADDRESS_FD | ADDRESS_KEEP_NAMES |
			 ADDRESS_REVERSE | ADDRESS_QUIC;
	const char *text = conf_expand(l->cfg, word), *name = NULL;
	struct sockaddr *copy;
	struct address a;

	if (!text)
		return conf_error(l, 0, NULL, "out of memory.");
	srv->datagrams = strncmp(text, "udp", 3) == 0 && text[3 + strspn(text + 3, "46")] == '@';
	if (srv->datagrams) /* "udp6@" as "ipv6@" */
		text = text[3] == '@' ? text + 4
				      : arena_printf(&l->cfg->arena, "ipv%s", text + 3);
	if (!text)
		return conf_error(l, 0, NULL, "out of memory.");
	if (!address_parse(text, flags, &a))
		return option_error(l, "%s : %s", server_subject(srv), a.error);
	if (a.fd >= 0)
		return option_error(l, "%s : a file descriptor is not acceptable here in '%s'",
				    server_subject(srv), text);
	if (a.is_quic && !conf_experimental(l->cfg))
		return option_error(l, "%s : QUIC is experimental for server '%s', must be allowed "
				    "via a global 'expose-experimental-directives'",
				    server_subject(srv), srv->name);
	srv->is_quic = a.is_quic;
	srv->is_reverse = a.is_reverse;
	if (srv->is_reverse && !conf_experimental(l->cfg))
		return option_error(l, "%s : Address '%s' is experimental, must be allowed via a "
				    "global 'expose-experimental-directives'",
				    server_subject(srv), text);
	if (srv->is_reverse) /* (what follows the prefix means nothing) */
		a.name[0] = 0;
	copy = arena_alloc(&l->cfg->arena, a.addr.len);
	if (a.name[0])
		name = conf_strdup(l->cfg, a.name);
	if (!copy || !name != !a.name[0])
		return conf_error(l, 0, NULL, "out of memory.");
	memcpy(copy, &a.addr.sa, a.addr.len);
	server_set_line_address(srv, copy, a.addr.len);
	srv->at.text = text;
	srv->at.hostname = name && name[0] != '_' ? name : NULL;
	srv->resolve.service = name && name[0] == '_' ? name : NULL;
	srv->resolve.family = a.family;
	if (name)
		keep_place(l, srv);
	srv->at.port = a.port_is_offset ? 0 : a.port_low;
	srv->port_is_mapped = copy->sa_family != AF_UNIX && !a.is_reverse &&
			      (a.port_is_offset || !a.port_low);
	srv->at.port_offset = a.port_is_offset ? a.port_low : 0;
	return true;
}

static bool name_is_valid(struct conf_line *l, const char *name)
{
	char bad = conf_name_bad_char(name);

	return !bad || server_error(l, 1, "character '%c' is not permitted in server name '%s'.",
				    bad, name);
}

/* A new server of the line's backend, not linked; NULL: reported. */
static struct server *make_server(struct conf_line *l, const char *name)
{
	struct server *srv = server_new(l->object, name);

	if (!srv) {
		conf_error(l, 0, NULL, "out of memory.");
		return NULL;
	}
	srv->place.file = ((struct proxy *)l->object)->file;
	if (l->place.file && strcmp(srv->place.file, l->place.file) != 0)
		srv->place.file = conf_strdup(l->cfg, l->place.file);
	srv->place.line = l->place.line;
	return srv;
}

/* Said in the words of the checks that follow the reading, but here, where the line is known. */
static bool name_is_free(struct conf_line *l, const struct server *srv)
{
	const struct server *other;

	list_for_each(other, &srv->proxy->servers, link)
		if (strcmp(other->name, srv->name) == 0)
			return conf_report(l, 1, DIAG_ALERT, DIAG_BARE, "parsing [%s:%d] : %s "
					   "'%s', another server named '%s' was already defined at "
					   "line %d, please use distinct names.", srv->place.file,
					   srv->place.line, proxy_kind_name(srv->proxy),
					   srv->proxy->name, srv->name, other->place.line);
	return true;
}

/* Words that exclude each other. False: reported. */
static bool checks_fit(struct conf_line *l, struct server *srv)
{
	struct server_checks *c = &srv->checks;

	if (!c->agent.port)
		c->agent.port = c->health.port;
	if (c->track_name && c->health.on)
		return server_error(l, l->at - 1, "%s : unable to enable checks and tracking "
				    "at the same time!", server_subject(srv));
	if (c->track_name && c->init != CHECK_INIT_NONE)
		return server_error(l, l->at - 1, "%s : unable to set init-state and "
				    "tracking at the same time!", server_subject(srv));
	if (c->agent.on && !c->agent.port)
		return server_error(l, l->at - 1, "%s : server %s does not have agent port. Agent "
				    "check has been disabled.", server_subject(srv), srv->name);
	return true;
}

/* Does a change of this option leave connections as they are? It has one value. */
static bool is_about_load(const char *word)
{
	return strcmp(word, "weight") == 0 || strcmp(word, "maxconn") == 0 ||
	       strcmp(word, "minconn") == 0 || strcmp(word, "maxqueue") == 0;
}

/* What a server of QUIC has besides its line. False: reported. */
static bool quic_line(struct conf_line *l, struct server *srv)
{
	const struct mux_kind *quic = mux_find("quic");

	if (!quic)
		return option_error(l, "%s : QUIC needs OpenSSL, which this program is built "
				    "without.", server_subject(srv));
	if (!tls_server_is_given(server_slots(srv)))
		conf_report(l, 2, DIAG_WARNING, DIAG_AT, "'server %s/%s' : QUIC protocol "
			    "detected, enabling ssl. Use 'ssl' to shut this warning.",
			    srv->proxy->name, srv->name);
	if (!srv->mux.forced)
		srv->mux.forced = quic;
	return tls_server_want_quic(server_slots(srv), quic->alpn) ||
	       conf_error(l, 0, NULL, "out of memory.");
}

/* The options that remain on the line; what they say goes into the server's digest. */
static bool take_options(struct conf_line *l, struct server *srv)
{
	bool valid;

	for (int i = l->at; i < l->count; i++) {
		if (is_about_load(l->words[i])) {
			i++;
			continue;
		}
		srv->digest = server_digest_add(srv->digest, l->words[i]);
	}
	valid = conf_take_options(l, CONF_SERVER, srv, server_slots(srv));
	if (srv->is_quic)
		valid &= quic_line(l, srv);
	tls_server_line(l->cfg, server_slots(srv));
	return valid;
}

static bool parse_server(struct conf_line *l)
{
	struct server *srv;
	bool valid;

	if (l->count < 3) {
		l->at = l->count;
		return server_error(l, l->count, "'server' expects <name> and <addr>[:<port>] as "
				    "arguments.");
	}
	if (!name_is_valid(l, l->words[1]))
		return false;
	srv = make_server(l, l->words[1]);
	if (!srv)
		return false;
	l->at = 3;
	valid = set_address(l, srv, l->words[2]);
	valid &= take_options(l, srv);
	valid = valid && checks_fit(l, srv) && name_is_free(l, srv);
	if (valid)
		server_link(srv);
	else
		server_close(srv);
	return valid;
}

static bool parse_default_server(struct conf_line *l)
{
	struct proxy *px = l->object;
	struct server *srv = px->dflt.server;

	if (!px->dflt.is_own) {
		srv = make_server(l, "default-server");
		if (!srv)
			return false;
		px->dflt.server = srv;
		px->dflt.is_own = true;
	}
	return take_options(l, srv);
}

/* "<low>-<high>" or "<count>" */
static bool parse_range(const char *text, int *low, int *high)
{
	char *end;

	*low = 1;
	*high = (int)strtol(text, &end, 10);
	if (*end == '-') {
		*low = *high;
		text = end + 1;
		*high = (int)strtol(text, &end, 10);
	}
	return end != text && !*end && *low >= 0 && *high >= *low && *high - *low < 100000;
}

static bool parse_server_template(struct conf_line *l)
{
	int low, high;

	if (l->count < 4) {
		l->at = l->count;
		return server_error(l, l->count, "'server-template' expects <prefix> <nb | range> "
				    "<addr>[:<port>] as arguments.");
	}
	if (!name_is_valid(l, l->words[1]))
		return false;
	if (!parse_range(l->words[2], &low, &high)) {
		l->at = l->count;
		return server_error(l, 2, "Wrong server-template number or range arg '%s'.",
				    l->words[2]);
	}
	for (int i = low; i <= high; i++) {
		const char *name = arena_printf(&l->cfg->arena, "%s%d", l->words[1], i);
		struct server *srv = name ? make_server(l, name) : NULL;
		bool valid;

		if (!srv)
			return false;
		l->at = 4;
		valid = set_address(l, srv, l->words[3]);
		valid &= take_options(l, srv);
		if (!valid || !checks_fit(l, srv) || !name_is_free(l, srv)) {
			server_close(srv);
			return false;
		}
		server_link(srv);
	}
	l->at = l->count;
	return true;
}

static const struct conf_keyword keywords[] = {
	{ .words = "server", .where = CONF_BE, .flags = CONF_STRICT_PLACE, .max_args = -1,
	  .parse = parse_server, .syntax = "<name> <address>[:<port>] [<options>]",
	  .help = "a server of the backend" },
	{ .words = "default-server", .where = CONF_DEF_BE, .flags = CONF_STRICT_PLACE,
	  .max_args = -1, .parse = parse_default_server, .syntax = "[<options>]",
	  .help = "options of the servers that follow" },
	{ .words = "server-template", .where = CONF_BE, .flags = CONF_STRICT_PLACE,
	  .max_args = -1, .parse = parse_server_template,
	  .syntax = "<prefix> <count or range> <address>[:<port>] [<options>]",
	  .help = "several servers at one address" },

	{ .words = "weight", .where = CONF_SERVER, ONE, .parse = parse_weight,
	  .syntax = "<weight>", .help = "share of the load, 0 to 256" },
	{ .words = "backup", .where = CONF_SERVER, .parse = parse_true, FIELD(backup),
	  .help = "used when no other server is left" },
	{ .words = "no-backup", .where = CONF_SERVER, .parse = parse_false, FIELD(backup),
	  .help = "not a backup" },
	{ .words = "disabled", .where = CONF_SERVER, .parse = parse_true, FIELD(disabled),
	  .help = "starts in maintenance" },
	{ .words = "enabled", .where = CONF_SERVER, .parse = parse_false, FIELD(disabled),
	  .help = "starts in service" },
	{ .words = "id", .where = CONF_SERVER, ONE, .parse = parse_id, .syntax = "<number>",
	  .help = "numeric identifier, otherwise assigned" },
	{ .words = "guid", .where = CONF_SERVER, ONE, .parse = parse_guid,
	  .syntax = "<text>", .help = "an identifier unique in the configuration" },
	NUMBER("tier", tier, 1, SERVER_TIERS_MAX, "1: serves first; others when those before them "
	       "lose health"),
	NUMBER("maxconn", limits.maxconn, 0, INT32_MAX, "requests that it serves at once"),
	NUMBER("minconn", limits.minconn, 0, INT32_MAX, "same at low load"),
	NUMBER("maxqueue", limits.maxqueue, 0, INT32_MAX, "requests that wait for it at most"),
	{ .words = "pool-max-conn", .where = CONF_SERVER, ONE, .parse = parse_at_least_none,
	  FIELD(pool.max_conn), .syntax = "<number>", .help = "idle connections kept, -1 all" },
	{ .words = "pool-conn-name", .where = CONF_SERVER, ONE, .parse = parse_pool_conn_name,
	  .syntax = "<expression>", .help = "what tells its idle connections apart, not sni" },
	NUMBER("pool-low-conn", pool.low_conn, 0, INT32_MAX,
	       "idle connections below which threads do not share"),
	{ .words = "pool-purge-delay", .where = CONF_SERVER, ONE, .parse = parse_time_ms,
	  FIELD(idle.purge_delay_ms), .syntax = "<delay>", .help = "how often half of the idle "
	  "connections in excess are closed" },
	{ .words = "max-reuse", .where = CONF_SERVER, ONE, .parse = parse_at_least_none,
	  FIELD(pool.max_reuse), .syntax = "<count>",
	  .help = "times a connection is reused, -1 any" },
	{ .words = "send-proxy", .where = CONF_SERVER, .parse = parse_send_proxy, .min = 1,
	  .help = "PROXY protocol version 1" },
	{ .words = "send-proxy-v2", .where = CONF_SERVER, .parse = parse_send_proxy, .min = 2,
	  .help = "PROXY protocol version 2" },
	{ .words = "send-proxy-v2-ssl", .where = CONF_SERVER, .parse = parse_send_proxy_ssl,
	  .max = PROXY_V2_SSL, .help = "PROXY protocol version 2 which tells of TLS" },
	{ .words = "send-proxy-v2-ssl-cn", .where = CONF_SERVER, .parse = parse_send_proxy_ssl,
	  .max = PROXY_V2_SSL | PROXY_V2_CERT_CN,
	  .help = "same, with the name of the client's certificate" },
	{ .words = "no-send-proxy-v2-ssl", .where = CONF_SERVER, .parse = parse_no_send_proxy_ssl,
	  .max = PROXY_V2_SSL, .help = "no PROXY protocol which tells of TLS" },
	{ .words = "no-send-proxy-v2-ssl-cn", .where = CONF_SERVER,
	  .parse = parse_no_send_proxy_ssl, .max = PROXY_V2_SSL | PROXY_V2_CERT_CN,
	  .help = "same, with the name" },
	{ .words = "no-send-proxy", .where = CONF_SERVER, .parse = parse_no_send_proxy, .min = 1,
	  .help = "no PROXY protocol version 1" },
	{ .words = "no-send-proxy-v2", .where = CONF_SERVER, .parse = parse_no_send_proxy,
	  .min = 2, .help = "no PROXY protocol version 2" },
	{ .words = "proxy-v2-options", .where = CONF_SERVER, ONE, .parse = parse_proxy_v2_options,
	  .syntax = "<option>[,<option>]*", .help = "what version 2 says besides addresses" },
	{ .words = "set-proxy-v2-tlv-fmt", .where = CONF_SERVER, .max_args = 1,
	  .flags = CONF_PREFIX, .parse = parse_proxy_v2_tlv, .syntax = "(<type>) <fmt>",
	  .help = "a value of any type that version 2 says too" },
	{ .words = "usesrc", .where = CONF_SERVER, .parse = parse_usesrc,
	  .help = "goes behind 'source'" },
	{ .words = "source", .where = CONF_SERVER, .min_args = 1, .max_args = -1,
	  .parse = parse_source, .syntax = "<addr>[:<port>] [usesrc <how>] [interface <name>]",
	  .help = "address to connect from" },
	{ .words = "cc", .where = CONF_SERVER, .max_args = 1, .parse = parse_congestion,
	  .syntax = "<algorithm>", .help = "TCP congestion control" },
	{ .words = "tcp-md5sig", .where = CONF_SERVER, .max_args = 1, .parse = parse_md5_key,
	  .syntax = "<password>", .help = "TCP MD5 signatures (RFC 2385)" },
	{ .words = "tcp-ut", .where = CONF_SERVER, ONE, .parse = parse_tcp_ut,
	  .syntax = "<delay>", .help = "TCP user timeout" },
	{ .words = "idle-ping", .where = CONF_SERVER, ONE, .parse = parse_time_ms,
	  FIELD(idle.ping_ms), .syntax = "<delay>",
	  .help = "HTTP/2: between tests of idle connections" },
	{ .words = "namespace", .where = CONF_SERVER, ONE, .parse = parse_namespace,
	  .syntax = "<name>", .help = "network namespace to connect in" },
	{ .words = "tfo", .where = CONF_SERVER, .parse = parse_true, FIELD(socket.tfo),
	  .help = "TCP fast open" },
	{ .words = "no-tfo", .where = CONF_SERVER, .parse = parse_false, FIELD(socket.tfo),
	  .help = "no TCP fast open" },
	{ .words = "log-proto", .where = CONF_SERVER, ONE, .parse = parse_log_proto,
	  .syntax = "{ legacy | octet-count }", .help = "how log messages are separated" },
	{ .words = "ws", .where = CONF_SERVER, ONE, .parse = parse_ws,
	  .syntax = "{ auto | h1 | h2 }", .help = "HTTP version of WebSockets" },
	{ .words = "proto", .where = CONF_SERVER, ONE, .parse = parse_proto,
	  .syntax = "<name>", .help = "protocol forced on its connections" },
	{ .words = "cookie", .where = CONF_SERVER, ONE, .parse = parse_text, FIELD(cookie),
	  .syntax = "<value>", .help = "value of the cookie that means it" },
	{ .words = "redir", .where = CONF_SERVER, ONE, .parse = parse_text, FIELD(redir),
	  .syntax = "<prefix>", .help = "clients are redirected to it for GET and HEAD" },
	{ .words = "socks4", .where = CONF_SERVER, ONE, .parse = parse_socks4,
	  .syntax = "<addr>:<port>", .help = "a SOCKS4 proxy to connect through" },
	{ .words = "strict-maxconn", .where = CONF_SERVER, .parse = parse_true,
	  FIELD(strict_maxconn), .help = "idle connections count for maxconn too" },
	{ .words = "log-bufsize", .where = CONF_SERVER, ONE, .parse = parse_log_size,
	  .syntax = "<size>", .help = "bytes of the ring before a log server over TCP" },
	{ 0 }
};

const struct module mod_server = {
	.name = "server",
	.keywords = keywords,
};
