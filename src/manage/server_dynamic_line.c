/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_dynamic_line.c - the words of `add server`: those of a `server` line, with what the check
 * phase would say of it
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "check/run.h"
#include "codec/dns.h"
#include "conf/conf.h"
#include "proxy/address.h"
#include "proxy/modules.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "tls/tls.h"
#include "expr/expr.h"
#include "server_dynamic_priv.h"

/* Options that a server made at run time may have. */
static const char *const accepted[] = {
	"addr", "agent-addr", "agent-check", "agent-inter", "agent-port", "agent-send",
	"allow-0rtt", "alpn", "backup", "ca-file", "check", "check-alpn", "check-pool-conn-name",
	"check-proto", "check-reuse-pool", "check-send-proxy", "check-sni", "check-ssl",
	"check-via-socks4", "ciphers", "ciphersuites", "client-sigalgs", "cookie", "crl-file",
	"crt", "curves", "disabled", "downinter", "error-limit", "fall", "fastinter",
	"force-sslv3", "force-tlsv10", "force-tlsv11", "force-tlsv12", "force-tlsv13", "guid",
	"hash-key", "healthcheck", "id", "idle-ping", "init-state", "inter",
	"max-reuse", "maxconn", "maxqueue", "minconn", "no-agent-check", "no-backup", "no-check",
	"no-check-sni-auto", "no-send-proxy",
	"no-send-proxy-v2", "no-send-proxy-v2-ssl", "no-send-proxy-v2-ssl-cn", "no-ssl",
	"no-renegotiate",
	"no-ssl-reuse", "no-sslv3", "no-tfo", "no-tls-tickets", "no-tlsv10", "no-tlsv11",
	"no-tlsv12", "no-tlsv13", "no-verifyhost", "npn", "observe", "on-error",
	"on-marked-down", "on-marked-up", "pool-conn-name", "pool-low-conn", "pool-max-conn",
	"pool-purge-delay", "port", "proto", "proxy-v2-options",
	"renegotiate", "rise", "send-proxy",
	"send-proxy-v2", "send-proxy-v2-ssl", "send-proxy-v2-ssl-cn", "set-proxy-v2-tlv-fmt",
	"shard", "sigalgs", "slowstart", "sni", "source", "ssl", "ssl-max-ver", "ssl-min-ver",
	"ssl-reuse", "strict-maxconn", "tcp-ut", "tfo", "tier", "tls-tickets", "track", "usesrc",
	"verify", "verifyhost", "weight", "ws",
};

static const struct conf_keyword *server_keyword(const char *word, unsigned where)
{
	static const struct module *const modules[] = { &mod_server, &mod_resolve, &mod_check,
						&mod_tls_server };

	for (unsigned i = 0; i < ARRAY_LEN(modules); i++)
		for (const struct conf_keyword *k = modules[i]->keywords; k && k->words; k++)
			if (strcmp(k->words, word) == 0 && k->where & where)
				return k;
	return NULL;
}

const char *server_dynamic_option(unsigned *i)
{
	while (*i < ARRAY_LEN(accepted)) {
		const char *name = accepted[(*i)++];
		const struct conf_keyword *k = server_keyword(name, CONF_SERVER);

		if (k && !(k->flags & CONF_REFUSED))
			return name;
	}
	return NULL;
}

/* Where the first option stands that is known, but not for such servers; <count>: none. */
static int option_refused(char **words, int count)
{
	for (int i = 3; i < count; i++) {
		const struct conf_keyword *k = server_keyword(words[i], CONF_SERVER);
		unsigned a = 0;

		while (a < ARRAY_LEN(accepted) && strcmp(accepted[a], words[i]) != 0)
			a++;
		if (k && a == ARRAY_LEN(accepted))
			return i;
		if (k && k->max_args > 0)
			i += k->max_args;
	}
	return count;
}

/* What was said first, without the place and the server's name that stand before it. */
static void tell(const struct diag_list *diags, char *out, size_t size)
{
	const struct diag *d;

	list_for_each(d, &diags->diags, link) {
		const char *text = strstr(d->message, "'server ");
		size_t len;

		text = text ? strstr(text, "' : ") : NULL;
		text = text ? text + 4 : d->message;
		len = strlen(text);
		snprintf(out, size, "%s%s", text, len && strchr(".!", text[len - 1]) ? "" : ".");
		return;
	}
}

/* Copies of the words, in memory of <cfg>, and as many columns. NULL: no memory. */
static char **words_copy(struct config *cfg, char **words, int count, int **columns)
{
	char **copy = arena_zalloc(&cfg->arena, ((size_t)count + 1) * sizeof(*copy));

	*columns = arena_zalloc(&cfg->arena, ((size_t)count + 1) * sizeof(**columns));
	for (int i = 0; copy && i < count; i++) {
		copy[i] = conf_strdup(cfg, words[i]);
		if (!copy[i])
			return NULL;
	}
	return *columns ? copy : NULL;
}

/* Parses words as a line `server`; NULL: it is wrong, which was said. */
static struct server *line_parse(struct proxy *be, char **words, int count,
				 struct diag_list *diags)
{
	struct server *srv = NULL;
	int *columns;
	struct conf_line l = {
		.cfg = be->config, .diags = diags,
		.words = words_copy(be->config, words, count, &columns), .columns = columns,
		.count = count, .at = 1, .where = CONF_BACKEND, .object = be,
		.slots = proxy_slots(be), .keyword = server_keyword("server", CONF_BE),
		.section_name = be->name,
	};

	if (!l.words)
		return NULL;
	server_set_capture(&srv);
	if (!l.keyword->parse(&l))
		srv = NULL;
	server_set_capture(NULL);
	return srv;
}

/* An id that the parser did not compare: those that servers got by themselves. */
static bool id_is_free(const struct server *srv, char *error, size_t size)
{
	const struct server *it;

	list_for_each(it, &srv->proxy->servers, link)
		if (srv->id_forced && it->id == srv->id) {
			snprintf(error, size, "'id' : custom id %d already used at %s:%d ('server "
				 "%s').", srv->id, it->place.line ? it->place.file : "CLI",
				 it->place.line, it->name);
			return false;
		}
	return true;
}

/* What the check phase does for a server of the file. False: told. */
static bool server_check(struct server *srv, struct diag_list *diags, char *error, size_t size)
{
	srv->life.is_dynamic = true;
	/* as with `init-addr none`: asking for its address would stop this thread */
	srv->at.unresolved = srv->at.hostname || srv->resolve.service;
	if (srv->at.hostname && !dns_name_is_valid(slice_of(srv->at.hostname))) {
		snprintf(error, size, "Can't create DNS resolution for server '%s'", srv->name);
		return false;
	}
	server_complete(srv);
	if (!id_is_free(srv, error, size))
		return false;
	if (srv->datagrams && srv->proxy->mode != PROXY_MODE_LOG) {
		snprintf(error, size, "unsupported transport for server address in '%s' backend.",
			 proxy_mode_name(srv->proxy->mode));
		return false;
	}
	if (!server_proto_fits(srv)) {
		snprintf(error, size, "MUX protocol is not usable for server.");
		return false;
	}
	check_server(srv, diags);
	if (!diags->alerts)
		server_check_tls(srv, diags);
	return !diags->alerts;
}

struct server *server_dynamic_parse(struct proxy *be, char **words, int count, char *error,
				    size_t size)
{
	int before = option_refused(words, count); /* what is wrong before it is told first */
	struct server_own *own;
	struct diag_list diags;
	struct server *srv;
	bool good;

	snprintf(error, size, "Out of memory.");
	own = server_own_new();
	if (!own)
		return NULL;
	diag_list_init(&diags);
	config_lend(be->config, &own->memory);
	srv = line_parse(be, words, before, &diags);
	if (srv && before < count)
		snprintf(error, size, "'%s' option is not accepted for dynamic server",
			 words[before]);
	good = srv && before == count && server_check(srv, &diags, error, size);
	config_unlend(be->config, &own->memory);
	own->owned = expr_unlend(be->config, &diags);
	if (diags.alerts) {
		tell(&diags, error, size);
		good = false;
	}
	diag_list_fini(&diags);
	if (good) {
		srv->life.own = own;
		return srv;
	}
	if (srv)
		server_close(srv);
	server_own_free(own);
	return NULL;
}
