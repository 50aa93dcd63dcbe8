/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http_client_conf.c - edge file: httpclient.*, and the backends that requests go through
 *
 * The backends are made of lines in the configuration's own language, read after the files, and
 * hidden once all modules below know them (http_client_ctl.c).
 */
#include <string.h>
#include "base/diag.h"
#include "base/strbuf.h"
#include "conf/conf.h"
#include "dns/resolvers.h"
#include "proxy/proxy.h"
#include "http_client_priv.h"

static bool parse_connect(struct conf_line *l)
{
	return conf_take_time_ms(l, &http_client_conf_of(l->cfg)->connect_ms);
}

static bool parse_retries(struct conf_line *l)
{
	return conf_take_int(l, 0, INT32_MAX, &http_client_conf_of(l->cfg)->retries);
}

/* One of two words: *out is whether it was the second one. */
static bool take_choice(struct conf_line *l, const char *first, const char *second, bool *out)
{
	const char *word = conf_next(l);

	*out = strcmp(word, second) == 0;
	return *out || strcmp(word, first) == 0 ||
	       conf_error(l, l->at - 1, NULL, "'%s' : '%s' or '%s' is expected, '%s' is neither.",
			  l->words[0], first, second, word);
}

static bool parse_disabled(struct conf_line *l)
{
	return take_choice(l, "off", "on", &http_client_conf_of(l->cfg)->no_resolvers);
}

static bool parse_id(struct conf_line *l)
{
	return conf_take_string(l, &http_client_conf_of(l->cfg)->resolvers_id);
}

static bool parse_prefer(struct conf_line *l)
{
	bool v6 = false;

	if (!take_choice(l, "ipv4", "ipv6", &v6))
		return false;
	http_client_conf_of(l->cfg)->prefer = v6 ? DNS_AAAA : DNS_A;
	return true;
}

static bool parse_ca_file(struct conf_line *l)
{
	http_client_want_tls(l->cfg);
	return conf_take_string(l, &http_client_conf_of(l->cfg)->ca_file);
}

static bool parse_verify(struct conf_line *l)
{
	bool none = true;

	http_client_want_tls(l->cfg);
	if (!conf_peek(l))
		return conf_error(l, l->at, NULL, "'%s' expects 'none' or 'required' as argument.",
				  l->keyword->words);
	if (!take_choice(l, "required", "none", &none))
		return false;
	http_client_conf_of(l->cfg)->verify_none = none;
	return true;
}

/* --- the backends ----------------------------------------------------------------------------- */

#define CLEAR "-httpclient-"
#define TLS "-httpsclient-"
/* As the reference's lines, which name no server. */
#define LOG "-:- [%%t] <HTTPCLIENT> -/- %%TR/%%Tw/%%Tc/%%Tr/%%Ta %%ST %%B - - %%tsc " \
	    "%%ac/%%fc/%%bc/%%sc/%%rc %%sq/%%bq {} \\\"%%HM %s://%%[var(txn.host)]%%HU %%HV\\\""

static bool put_text(const struct http_client_conf *c, bool tls, struct strbuf *out)
{
	const char *name = tls ? TLS : CLEAR;
	/* none is asked for by 0, and is warned of in a backend */
	long long connect_ms = c->connect_ms ? (long long)c->connect_ms : INT32_MAX;

	if (!strbuf_printf(out, "defaults %sdefaults\n\tmode http\n\tlog global\n"
			   "\ttimeout connect %lldms\n"
			   "\ttimeout server 1m\n\tretries %lld\n"
			   "\tretry-on conn-failure empty-response\n", name,
			   connect_ms, (long long)c->retries) ||
	    !strbuf_printf(out, "\tlog-format \"" LOG "\"\n", tls ? "https" : "http") ||
	    !strbuf_printf(out, "backend %s from %sdefaults\n"
			   "\thttp-request set-var(txn.host) req.hdr(host)\n"
			   "\thttp-request return status 503 unless { dst -m found }\n"
			   "\tserver s 0.0.0.0:+0", name, name))
		return false;
	if (!tls)
		return strbuf_printf(out, "\n");
	return strbuf_printf(out, " ssl alpn h2,http/1.1 sni req.hdr(host),host_only verify %s",
			     c->verify_none ? "none\n" : "required") &&
	       (c->verify_none || strbuf_printf(out, " ca-file \"%s\"\n", c->ca_file));
}

/* NULL: reported. */
static struct proxy *make(struct config *cfg, bool tls, struct diag_list *diags)
{
	struct strbuf text;
	bool good;

	strbuf_init(&text);
	good = put_text(http_client_conf_of(cfg), tls, &text) &&
	       conf_read_text(cfg, "<httpclient>", strbuf_slice(&text), diags);
	strbuf_fini(&text);
	return good ? proxy_find(cfg, tls ? TLS : CLEAR, PROXY_BE) : NULL;
}

static void check(struct config *cfg, struct diag_list *diags)
{
	struct http_client_conf *c = http_client_conf_of(cfg);

	if (!c->no_resolvers)
		c->resolvers = resolvers_find(cfg, c->resolvers_id ? c->resolvers_id : "default");
	if (c->resolvers_id && !c->no_resolvers && !c->resolvers)
		diag_add(diags, DIAG_ALERT, NULL, NULL, "'httpclient.resolvers.id' : there is no "
			 "section 'resolvers %s'.", c->resolvers_id);
	c->clear = make(cfg, false, diags);
	if (c->wants_tls)
		c->tls = make(cfg, true, diags);
}

#define KEYWORD(word, function, text, sense) \
	{ .words = "httpclient." word, .where = CONF_GLOBAL, .min_args = 1, .max_args = 1, \
	  .parse = parse_##function, .syntax = text, .help = sense }

static const struct conf_keyword keywords[] = {
	KEYWORD("resolvers.disabled", disabled, "<on|off>", "resolve no names for the HTTP client"),
	KEYWORD("resolvers.id", id, "<resolvers id>", "the section that resolves names for it"),
	KEYWORD("resolvers.prefer", prefer, "<ipv4|ipv6>", "the family of addresses it prefers"),
	KEYWORD("retries", retries, "<number>", "how often it tries again"),
	KEYWORD("ssl.ca-file", ca_file, "<cafile>", "the authorities that it trusts"),
	{ .words = "httpclient.ssl.verify", .where = CONF_GLOBAL, .max_args = 1,
	  .parse = parse_verify, .syntax = "[none|required]",
	  .help = "whether it verifies the certificates of servers" },
	KEYWORD("timeout.connect", connect, "<timeout>", "how long it tries to connect"),
	{ 0 }
};

const struct module mod_http_client_conf = {
	.name = "http-client-conf", .keywords = keywords, .check = check,
};
