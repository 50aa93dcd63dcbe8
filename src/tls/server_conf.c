/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server_conf.c - edge file: TLS options of server lines
 *
 * Manual: configuration 5.2
 */
#include <string.h>
#include "expr/expr.h"
#include "line_priv.h"
#include "server_priv.h"
#include "settings_priv.h"

/* keyword->min: on or off */
static bool parse_ssl(struct conf_line *l)
{
	struct tls_server *s = tls_server_of_line(l);
	bool wanted = l->keyword->min, is_default = strcmp(l->words[0], "default-server") == 0;

	/* what default-server has switched on can be switched on again by `set server ssl` */
	s->off = s->declined = !wanted && s->on && !is_default;
	s->on = wanted || s->off;
	return true;
}

static bool parse_crt(struct conf_line *l)
{
	const char *word = conf_next(l);

	if (!word)
		return conf_error(l, l->at, NULL, "'%s' : missing certificate file path",
				  l->keyword->words);
	tls_server_of_line(l)->crt = word;
	return true;
}

static bool parse_verify_host(struct conf_line *l)
{
	const char *word = conf_next(l);

	if (!word)
		return conf_error(l, l->at, NULL, "'%s' : missing hostname to verify against",
				  l->keyword->words);
	tls_server_of_line(l)->verify_host = word;
	return true;
}

static bool parse_no_verify_host(struct conf_line *l)
{
	tls_server_of_line(l)->verify_host = NULL;
	return true;
}

static bool parse_sni(struct conf_line *l)
{
	struct tls_server *s = tls_server_of_line(l);

	if (!conf_peek(l))
		return conf_error(l, l->at, NULL, "'%s' : missing sni expression",
				  l->keyword->words);
	s->sni_text = conf_peek(l);
	s->sni = expr_take(l, EXPR_BE_SRV_CON);
	return s->sni != NULL;
}

/* keyword->min: on or off */
static bool parse_sni_auto(struct conf_line *l)
{
	tls_server_of_line(l)->no_sni_auto = !l->keyword->min;
	return true;
}

#define SERVER .where = CONF_SERVER
#define FLAG(name, set, clear, what) \
	{ .words = name, SERVER, .parse = tls_parse_flag, .min = set, .max = clear, .help = what }

static const struct conf_keyword keywords[] = {
	{ .words = "ssl", SERVER, .parse = parse_ssl, .min = 1, .help = "speak TLS to it" },
	{ .words = "no-ssl", SERVER, .parse = parse_ssl, .help = "no TLS" },
	{ .words = "crt", SERVER, .max_args = 1, .parse = parse_crt, .syntax = "<cert>",
	  .help = "our certificate" },
	{ .words = "sni", SERVER, .max_args = 1, .parse = parse_sni, .syntax = "<expression>",
	  .help = "the name to ask for" },
	{ .words = "sni-auto", SERVER, .parse = parse_sni_auto, .min = 1,
	  .help = "ask for the host of the request when there is no `sni` (the default)" },
	{ .words = "no-sni-auto", SERVER, .parse = parse_sni_auto,
	  .help = "ask for no name when there is no `sni`" },
	{ .words = "verifyhost", SERVER, .max_args = 1, .parse = parse_verify_host,
	  .syntax = "<hostname>", .help = "the name that its certificate must have" },
	{ .words = "no-verifyhost", SERVER, .parse = parse_no_verify_host,
	  .help = "any name will do when none was asked for" },
	TLS_SHARED_KEYWORDS(CONF_SERVER, NULL), TLS_SHARED_OPTIONS(CONF_SERVER, NULL),
	{ .words = "no-alpn", SERVER, .parse = tls_parse_no_alpn, .help = "no ALPN" },
	FLAG("no-ssl-reuse", TLS_SET_NO_REUSE, 0, "sessions are not resumed"),
	FLAG("ssl-reuse", 0, TLS_SET_NO_REUSE, "sessions are resumed"),
	TLS_OPTION("renegotiate", CONF_SERVER, NULL,
		   "it may ask for another handshake, up to TLS 1.2 (the default)"),
	TLS_OPTION("no-renegotiate", CONF_SERVER, NULL, "it may ask for no other handshake"),
	FLAG("allow-0rtt", TLS_SET_EARLY_DATA, 0, "requests may go before the handshake is over"),
	{ 0 }
};

static struct slot *const slots[] = { &tls_server_slot, NULL };

const struct module mod_tls_server = { .name = "tls-server", .keywords = keywords,
				       .slots = slots };
