/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guid.c - identifiers that are unique in a configuration: of proxies and servers */
#include "guid_priv.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/slice.h"
#include "conf/conf.h"
#include "proxy/bind.h"
#include "proxy/server.h"
#include "proxy_priv.h"

#define GUID_MAX 127

static size_t listeners_of(const struct bind_conf *b)
{
	struct listener_conf *lc;
	size_t n = 0;

	list_for_each(lc, &b->listeners, link)
		n++;
	return n;
}

/* Is it one of the names that guid-prefix gives the sockets of a bind line: <prefix>-<position>? */
static bool bind_has_guid(const struct bind_conf *b, const char *guid)
{
	size_t len = b->guid_prefix ? strlen(b->guid_prefix) : 0;
	char *end;
	long position;

	if (!len || strncmp(guid, b->guid_prefix, len) != 0 || guid[len] != '-')
		return false;
	position = strtol(guid + len + 1, &end, 10);
	return end != guid + len + 1 && !*end && position >= 0 &&
	       (size_t)position <= listeners_of(b);
}

/* The object that has it already: "server b/s", "backend b"; NULL: none. */
static const char *guid_owner(struct config *cfg, const char *guid)
{
	struct bind_conf *b;

	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		if (px->guid && strcmp(px->guid, guid) == 0)
			return arena_printf(&cfg->arena, "%s %s", proxy_kind_name(px), px->name);
		list_for_each(b, &px->binds, link)
			if (bind_has_guid(b, guid))
				return arena_printf(&cfg->arena, "listener of %s", px->name);
		for (struct server *srv = server_first(px); srv; srv = server_next(srv))
			if (srv->guid && strcmp(srv->guid, guid) == 0)
				return arena_printf(&cfg->arena, "server %s/%s", px->name,
						    srv->name);
	}
	return NULL;
}

/* The prefix stands on a line whose sockets are known: each of their names must be free. */
bool guid_take_prefix(struct conf_line *l, const char *subject, const struct bind_conf *b,
		      const char **out)
{
	const char *word = conf_peek(l), *taken = NULL;

	for (size_t i = 0; i <= listeners_of(b); i++) {
		l->words[l->at] = arena_printf(&l->cfg->arena, "%s-%zu", word, i);
		if (!l->words[l->at] || !guid_take(l, subject, &taken))
			return false;
		l->at--;
	}
	l->words[l->at++] = (char *)word;
	*out = word;
	return true;
}

bool proxy_guid_is_free(struct config *cfg, const char *guid, char *why, size_t size)
{
	const char *owner;

	for (const char *p = guid; *p; p++) {
		char c = ascii_lower(*p);

		if (!(c >= 'a' && c <= 'z') && !ascii_is_digit(c) && !strchr("-_:.", c)) {
			snprintf(why, size, "invalid character '%c'", *p);
			return false;
		}
	}
	if (strlen(guid) > GUID_MAX) {
		snprintf(why, size, "longer than %d characters", GUID_MAX);
		return false;
	}
	owner = guid_owner(cfg, guid);
	if (owner)
		snprintf(why, size, "duplicate entry with %s", owner);
	return !owner;
}

bool guid_take(struct conf_line *l, const char *subject, const char **out)
{
	enum diag_form form = *subject ? DIAG_AT : DIAG_PARSING;
	const char *word = conf_next(l);
	char why[512];

	if (!proxy_guid_is_free(l->cfg, word, why, sizeof(why)))
		return conf_report(l, l->at - 1, DIAG_ALERT, form, "%s'guid': %s%s", subject, why,
				   *subject || why[0] != 'i' ? "." : "");
	*out = word;
	return true;
}
