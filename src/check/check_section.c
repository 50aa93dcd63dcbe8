/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_section.c - `healthcheck` sections: checks of their own that server lines name */
#include <string.h>
#include "conf/conf.h"
#include "proxy/server.h"
#include "check_priv.h"
#include "check_settings.h"

struct check_section {
	struct check_section *next;
	const char *name, *file;
	int line;
	bool has_type;
	struct check_proxy checks;
};

static struct check_section *section_find(const struct config *cfg, const char *name)
{
	struct check_section *s = check_settings_of(cfg)->sections;

	while (s && strcmp(s->name, name) != 0)
		s = s->next;
	return s;
}

struct check_proxy *check_section_find(const struct config *cfg, const char *name)
{
	struct check_section *s = section_find(cfg, name);

	return s ? &s->checks : NULL;
}

struct check_proxy *check_section_next(const struct config *cfg, const struct check_proxy *prev)
{
	struct check_section *s = prev ? container_of(prev, struct check_section, checks)->next
				       : check_settings_of(cfg)->sections;

	return s ? &s->checks : NULL;
}

bool check_section_open(struct conf_line *l)
{
	struct check_settings *settings = check_settings_of(l->cfg);
	struct check_section *s = arena_zalloc(&l->cfg->arena, sizeof(*s)), *other;
	const char *name = conf_next(l);
	char bad = name ? conf_name_bad_char(name) : 0;

	if (!s)
		return conf_error(l, 0, NULL, "out of memory.");
	l->object = &s->checks;
	if (!name || !*name)
		return conf_error(l, 0, NULL, "missing name for healthcheck section.");
	if (bad)
		return conf_error(l, 1, NULL, "character '%c' is not permitted in 'healthcheck' "
				  "name '%s'.", bad, name);
	other = section_find(l->cfg, name);
	if (other)
		return conf_error(l, 1, NULL, "healthcheck section '%s' already defined at %s:%d.",
				  name, other->file, other->line);
	s->name = name;
	s->file = l->place.file;
	s->line = l->place.line;
	s->next = settings->sections;
	settings->sections = s;
	return conf_take_end(l);
}

/* Rules without the `type` that runs them. */
void check_section_close(struct conf_line *l)
{
	struct check_section *s = container_of(l->object, struct check_section, checks);
	const char *lost = s->checks.http.first ? "http-check" : "tcp-check";

	if (s->name && !s->has_type && (s->checks.http.first || s->checks.tcp.first))
		conf_warn(l, 0, NULL, "healthcheck section '%s' : %s rules without 'type %s', so "
			  "the rules are ignored.", s->name, lost,
			  s->checks.http.first ? "httpchk" : lost);
}

/* Rules of the other language cannot follow, and may not stand before. */
bool check_section_fits(struct conf_line *l, bool http)
{
	struct check_section *s;
	const struct check_proxy *cp;

	if (l->where != CONF_OTHER)
		return true;
	s = container_of(l->object, struct check_section, checks);
	cp = &s->checks;
	if (s->has_type && cp->kind != (http ? CHECK_KIND_HTTP : CHECK_KIND_TCPCHK))
		return conf_error(l, 0, NULL, "unable to configure '%s' rule for a healthcheck of "
				  "another type.", l->words[0]);
	return (http ? !cp->tcp.first : !cp->http.first) ||
		conf_error(l, 0, NULL, "cannot mix 'tcp-check' and 'http-check' rules");
}

bool check_section_type_begins(struct conf_line *l, enum check_kind kind)
{
	struct check_section *s = container_of(l->object, struct check_section, checks);
	const struct check_proxy *cp = &s->checks;

	if (s->has_type)
		return conf_error(l, 0, NULL, "healthcheck type already defined.");
	if ((cp->http.first && kind != CHECK_KIND_HTTP) ||
	    (cp->tcp.first && kind != CHECK_KIND_TCPCHK))
		return conf_error(l, 1, NULL, "cannot set '%s' type with '%s' rules", l->words[1],
				  cp->http.first ? "http-check" : "tcp-check");
	s->has_type = true;
	return true;
}
