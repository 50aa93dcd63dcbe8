/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source.c - the source address of connections: `source ... usesrc ... interface` */
#include "proxy/source.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/num.h"
#include "conf/conf.h"
#include "expr/expr.h"
#include "mux/mux.h"
#include "net/dial.h"
#include "net/netns.h"
#include "proxy/address.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "quic/quic.h"
#include "tls/tls.h"

bool source_parse_namespace(struct conf_line *l, const struct netns **out)
{
	const char *name = conf_next(l);

	if (strcmp(name, "*") == 0)
		return conf_error(l, l->at - 1, NULL, "'namespace *' (that of the PROXY header) is "
				  "not supported yet.");
	*out = netns_open(l->cfg, name);
	return *out || conf_error(l, l->at - 1, NULL, "Cannot open namespace '%s' (%s).", name,
				  strerror(errno));
}

/* "hdr_ip(<name>[,<occurrence>])": occurrence 0 is none at all. */
static bool parse_hdr_ip(struct conf_line *l, const char *word, struct source *s)
{
	const char *end = strchr(word, ')'), *comma = strchr(word, ',');
	char *text;
	size_t used;

	if (!end || end[1] || strcspn(word + strlen("hdr_ip("), ",)") == 0)
		return conf_error(l, l->at - 1, NULL, "usesrc hdr_ip(name[,occ]) expects a name.");
	text = arena_printf(&l->cfg->arena, "req.%s", word);
	if (!text)
		return conf_error(l, l->at - 1, NULL, "out of memory.");
	l->at--; /* where problems are reported */
	s->header = expr_parse(l, text, &used, EXPR_BE_SRV_CON);
	l->at++;
	s->header_text = text;
	if (!comma || num_prefix_int(comma + 1, NULL))
		s->transparency = SOURCE_HEADER;
	return s->header != NULL;
}

static bool parse_usesrc(struct conf_line *l, struct source *s)
{
	const char *word = conf_next(l);
	struct address a;

	if (!word)
		return conf_error(l, l->at - 1, NULL, "'usesrc' expects <addr>, 'client', "
				  "'clientip' or 'hdr_ip(name,#)' as argument.");
	if (strcmp(word, "client") == 0)
		s->transparency = SOURCE_CLIENT;
	else if (strcmp(word, "clientip") == 0)
		s->transparency = SOURCE_CLIENT_IP;
	else if (strncmp(word, "hdr_ip(", 7) == 0)
		return parse_hdr_ip(l, word, s);
	else if (!address_parse(word, ADDRESS_EMPTY_IS_ANY, &a))
		return conf_error(l, l->at - 1, NULL, "'usesrc %s' : %s.", word, a.error);
	else {
		s->transparency = SOURCE_FIXED;
		s->spoof = a.addr.sa;
	}
	return true;
}

struct source *source_parse(struct conf_line *l)
{
	struct source *s = arena_zalloc(&l->cfg->arena, sizeof(*s));
	const char *word = conf_next(l);
	struct address a;

	if (!s) {
		conf_error(l, 0, NULL, "out of memory.");
		return NULL;
	}
	if (!word) {
		conf_error(l, 0, NULL, "'source' expects <addr>[:<port>[-<port>]], and optionally "
			   "'usesrc' <addr>, and 'interface' <name> as argument.");
		return NULL;
	}
	word = conf_expand(l->cfg, word);
	if (!word) {
		conf_error(l, 0, NULL, "out of memory.");
		return NULL;
	}
	if (!address_parse(word, ADDRESS_RANGE | ADDRESS_EMPTY_IS_ANY, &a)) {
		conf_error(l, l->at - 1, NULL, "'source %s' : %s.", word, a.error);
		return NULL;
	}
	s->bind = a.addr.sa;
	s->port_low = a.port_low;
	s->port_high = a.port_high;
	while (conf_peek(l)) {
		if (strcmp(conf_peek(l), "usesrc") == 0) {
			l->at++;
			if (!parse_usesrc(l, s))
				return NULL;
			conf_needs_net(l, "usesrc");
		} else if (strcmp(conf_peek(l), "interface") == 0) {
			l->at++;
			if (!conf_take_string(l, &s->interface))
				return NULL;
		} else {
			break;
		}
	}
	return s;
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool source_is_same(const struct source *a, const struct source *b)
{
	if (!a || !b)
		return a == b;
	return a->port_low == b->port_low && a->port_high == b->port_high &&
	       a->transparency == b->transparency &&
	       is_same_text(a->header_text, b->header_text) &&
	       is_same_text(a->interface, b->interface) &&
	       memcmp(&a->bind, &b->bind, sizeof(a->bind)) == 0 &&
	       memcmp(&a->spoof, &b->spoof, sizeof(a->spoof)) == 0;
}

static void set_source(struct source *src, struct socket_settings *set)
{
	set->interface = src->interface;
	set->source_port_low = src->port_low;
	set->source_port_high = src->port_high;
	set->source_cursor = &src->port_cursor;
	if (src->bind.ss_family != AF_UNSPEC)
		set->source = &src->bind;
	if (src->transparency == SOURCE_FIXED) {
		set->source = &src->spoof;
		set->options |= SOCKET_TRANSPARENT;
	}
}

void server_dial(const struct server *srv, const struct server_addr *to, struct dial_want *w)
{
	*w = (struct dial_want){ .to = &to->sa, .to_len = to->len,
				 .set.user_timeout_ms = srv->socket.user_timeout_ms,
				 .set.netns = srv->socket.netns,
				 .set.congestion = srv->socket.congestion,
				 .set.md5_key = srv->socket.md5_key };
	if (srv->source)
		set_source(srv->source, &w->set);
	if (srv->socks4) {
		w->via = &srv->socks4->sa;
		w->via_len = srv->socks4->len;
	}
	if (tls_server_is_on(server_slots(srv))) {
		w->secure = tls_dial;
		w->tls = server_slots(srv);
	}
	if (unlikely(srv->is_quic)) {
		w->open = mux_find("quic")->back_open;
		w->line = quic_server_line_of(server_slots(srv));
		w->config = srv->proxy->config;
	}
}

void server_dial_check(const struct server *srv, const struct server_addr *to, struct dial_want *w)
{
	server_dial(srv, to, w);
	if (!srv->source || srv->source->transparency != SOURCE_FIXED)
		return;
	w->set.source = srv->source->bind.ss_family != AF_UNSPEC ? &srv->source->bind : NULL;
	w->set.options &= ~(unsigned)SOCKET_TRANSPARENT;
}
