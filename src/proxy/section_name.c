/* SPDX-License-Identifier: GPL-2.0-or-later */
/* section_name.c - unique names of sections: defaults, proxies and log-forward */
#include <string.h>
#include "conf/conf.h"
#include "proxy/proxy.h"
#include "proxy_priv.h"

static const char *section_kind(const struct proxy *px)
{
	return px->caps & PROXY_FORWARD ? "log forward section" : proxy_kind_name(px);
}

/* The section that has the name of <px> already; NULL: none. Another defaults section is none. */
static const struct proxy *same_name(const struct proxy *px)
{
	const struct proxies *all = proxies_of(px->config);
	const struct proxy *old = proxy_find(px->config, px->name, 0);

	if (!old && !(px->caps & PROXY_DEFAULTS))
		old = proxy_find_defaults(px->config, px->name);
	if (old)
		return old;
	list_for_each(old, &all->forwards, link)
		if (strcmp(old->name, px->name) == 0)
			return old;
	return NULL;
}

/* Of a log-forward section, a defaults section is not refused: HAProxy 3.4 warns of it, too. */
static bool report(struct conf_line *l, const struct proxy *px, const struct proxy *old)
{
	bool warns = px->caps & PROXY_FORWARD && old->caps & PROXY_DEFAULTS;
	const char *more = old->caps & px->caps & PROXY_LISTEN || warns ? "" :
			   " This is no longer supported as of 3.3. Please rename one or the "
			   "other.";

	conf_report(l, 1, warns ? DIAG_WARNING : DIAG_ALERT, DIAG_TIGHT,
		    "%s '%s' has the same name as %s '%s' declared at %s:%d.%s",
		    section_kind(px), px->name, section_kind(old), old->name, old->file,
		    old->line, more);
	return warns;
}

bool proxy_claim_name(struct conf_line *l, struct proxy *px)
{
	const struct proxy *old = *px->name ? same_name(px) : NULL;

	if (old && !report(l, px, old))
		return false;
	if (px->caps & PROXY_FORWARD)
		list_append(&proxies_of(px->config)->forwards, &px->link);
	if (!*px->name || !(px->caps & PROXY_DEFAULTS))
		return true;
	old = proxy_find_defaults(px->config, px->name);
	if (!old || !old->run.is_named)
		return true;
	return conf_report(l, 1, DIAG_ALERT, DIAG_TIGHT,
			   "defaults '%s' has the same name as another defaults section declared "
			   "at %s:%d which was explicitly referenced hence cannot be replaced. "
			   "Please remove or rename one of the offending defaults section.",
			   px->name, old->file, old->line);
}

struct proxy *proxy_take_defaults(struct conf_line *l, const char *name)
{
	const struct proxy *it, *before = NULL;
	struct proxy *px = proxy_find_defaults(l->cfg, conf_peek(l));

	if (!px) {
		conf_error(l, l->at, NULL, "defaults section '%s' not found for %s '%s'.",
			   conf_peek(l), l->words[0], name);
		return NULL;
	}
	px->run.is_named = true;
	list_for_each(it, &proxies_of(l->cfg)->defaults, link)
		if (it != px && strcmp(it->name, px->name) == 0)
			before = it;
	if (before)
		conf_warn(l, l->at, NULL, "ambiguous defaults section name '%s' referenced by "
			  "%s '%s' exists at least at %s:%d and %s:%d.", px->name, l->words[0],
			  name, px->file, px->line, before->file, before->line);
	return px;
}
