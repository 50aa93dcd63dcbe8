/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "guid_priv.h"
#include <string.h>
#include "base/slice.h"
#include "conf/conf.h"
#include "proxy/server.h"
#include "proxy_priv.h"

#define GUID_MAX 127

/* Who has it already: "server b/s", "backend b"; NULL: nobody. */
static const char *guid_owner(struct config *cfg, const char *guid)
{
	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		if (px->guid && strcmp(px->guid, guid) == 0)
			return arena_printf(&cfg->arena, "%s %s", proxy_kind_name(px), px->name);
		for (struct server *srv = server_first(px); srv; srv = server_next(srv))
			if (srv->guid && strcmp(srv->guid, guid) == 0)
				return arena_printf(&cfg->arena, "server %s/%s", px->name,
						    srv->name);
	}
	return NULL;
}

bool guid_take(struct conf_line *l, const char *subject, const char **out)
{
	enum diag_form form = *subject ? DIAG_AT : DIAG_PARSING;
	const char *word = conf_next(l), *owner;

	for (const char *p = word; *p; p++) {
		char c = ascii_lower(*p);

		if (!(c >= 'a' && c <= 'z') && !ascii_is_digit(c) && !strchr("-_:.", c))
			return conf_report(l, l->at - 1, DIAG_ALERT, form,
					   "%s'guid': invalid character '%c'%s", subject, *p,
					   *subject ? "." : "");
	}
	if (strlen(word) > GUID_MAX)
		return conf_report(l, l->at - 1, DIAG_ALERT, form,
				   "%s'guid': longer than %d characters.", subject, GUID_MAX);
	owner = guid_owner(l->cfg, word);
	if (owner)
		return conf_report(l, l->at - 1, DIAG_ALERT, form,
				   "%s'guid': duplicate entry with %s.", subject, owner);
	*out = word;
	return true;
}
