/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats_page_admin.c - forms of the statistics page that change servers
 *
 * A form is what browsers send: "b=<backend>&s=<server>&s=<server>&action=<word>".
 */
#include <string.h>
#include "codec/uri.h"
#include "proxy/check.h"
#include "proxy/server.h"
#include "stats_page_priv.h"
#include "stream/stream.h"

#define FORM_SERVERS_MAX 512

struct form {
	const char *backend, *action;
	const char *servers[FORM_SERVERS_MAX];
	unsigned count;
	bool too_long;
};

/* --- where it comes from ---------------------------------------------------------------------- */

/* "http://host[:port]/..." is of this host. */
static bool is_of_host(struct slice url, struct slice host)
{
	size_t at = slice_find(url, SLICE("://"));

	if (at == SIZE_MAX)
		return false;
	url = slice_sub(url, at + 3, url.len);
	at = slice_find_char(url, 0, '/');
	return slice_eq_nocase(at == SIZE_MAX ? url : slice_sub(url, 0, at), host);
}

static const struct h1_field *field_of(const struct stream *s, struct slice name)
{
	return http_field_find(&s->req.fields, http_field_id(name), name);
}

/* A page of another site could have its readers send the form. */
static bool is_from_here(const struct stream *s)
{
	const struct h1_field *host = field_of(s, SLICE("host"));
	const struct h1_field *from = field_of(s, SLICE("origin"));

	if (!from)
		from = field_of(s, SLICE("referer"));
	return !from || (host && is_of_host(from->value, host->value));
}

/* --- the form --------------------------------------------------------------------------------- */

/* A decoded text of the arena; NULL: no memory, malformed or with a NUL. */
static const char *decode(struct stream *s, struct slice value)
{
	char *text = arena_alloc(&s->arena, value.len + 1);
	size_t len = text ? uri_decode(value, true, text) : SIZE_MAX;

	if (len == SIZE_MAX || memchr(text, 0, len))
		return NULL;
	text[len] = 0;
	return text;
}

static bool take_pair(struct form *f, struct slice name, const char *value)
{
	if (slice_eq(name, SLICE("b")))
		f->backend = value;
	else if (slice_eq(name, SLICE("action")))
		f->action = value;
	else if (slice_eq(name, SLICE("s"))) {
		if (f->count == FORM_SERVERS_MAX)
			return false;
		f->servers[f->count++] = value;
	}
	return true;
}

/* NULL, or why it is refused. */
static const char *read_form(struct service_call *c, struct form *f)
{
	size_t len = c->body.len;
	char *text = arena_alloc(&c->stream->arena, len + 1);
	struct slice query, name, value;

	if (c->body_is_cut)
		return "EXCD";
	if (!text)
		return "ERRP";
	query = slice_make(text, block_queue_peek(&c->body, 0, text, len));
	while (uri_query_next(&query, '&', &name, &value)) {
		const char *decoded = decode(c->stream, value);

		if (!decoded)
			return "ERRP";
		if (!take_pair(f, name, decoded))
			return "EXCD";
	}
	return NULL;
}

/* --- what is done ----------------------------------------------------------------------------- */

enum what { ADMIN, CHECK, AGENT, HEALTH, FORCE_AGENT, SHUTDOWN };

static const struct action {
	const char *word;
	enum what what;
	int value;               /* on, or the health */
	unsigned set, clear;     /* of the administrative state */
} actions[] = {
	{ "ready", ADMIN, 0, 0, SERVER_FMAINT | SERVER_FDRAIN },
	{ "drain", ADMIN, 0, SERVER_FDRAIN, SERVER_FMAINT },
	{ "maint", ADMIN, 0, SERVER_FMAINT, SERVER_FDRAIN },
	{ "enable", ADMIN, 0, 0, SERVER_FMAINT },
	{ "disable", ADMIN, 0, SERVER_FMAINT, 0 },
	{ "start", ADMIN, 0, 0, SERVER_FDRAIN },
	{ "stop", ADMIN, 0, SERVER_FDRAIN, 0 },
	{ "dhlth", CHECK, 0, 0, 0 }, { "ehlth", CHECK, 1, 0, 0 },
	{ "dagent", AGENT, 0, 0, 0 }, { "eagent", AGENT, 1, 0, 0 },
	{ "hrunn", HEALTH, 0, 0, 0 }, { "hnolb", HEALTH, 1, 0, 0 }, { "hdown", HEALTH, 2, 0, 0 },
	{ "arunn", FORCE_AGENT, 1, 0, 0 }, { "adown", FORCE_AGENT, 0, 0, 0 },
	{ "shutdown", SHUTDOWN, 0, 0, 0 },
};

/* False: it makes no sense for this server. */
static bool act(const struct action *a, struct server *srv)
{
	bool agent = a->what == AGENT || a->what == FORCE_AGENT;
	const struct check_state *cs = agent ? &srv->state->agent : &srv->state->check;

	if (a->what == ADMIN) {
		server_set_admin(srv, a->set, a->clear);
		if (strcmp(a->word, "ready") == 0)
			outlier_pardon(srv);
		return true;
	}
	if (a->what == SHUTDOWN)
		return streams_shutdown_server(srv);
	if (!(check_flags_of(cs) & CHECK_CONFIGURED) || (!agent && srv->checks.track))
		return false;
	if (a->what == HEALTH)
		check_force_health(srv, a->value, SERVER_BY_CLI);
	else if (a->what == FORCE_AGENT)
		check_force_agent(srv, a->value, SERVER_BY_CLI);
	else
		return check_enable(srv, agent, a->value);
	return true;
}

static const struct action *action_find(const char *word)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (strcmp(actions[i].word, word) == 0)
			return &actions[i];
	return NULL;
}

static const char *carry_out(const struct form *f, const struct action *a, struct proxy *px)
{
	unsigned done = 0, unknown = 0;

	for (unsigned i = 0; i < f->count; i++) {
		struct server *srv = server_find(px, f->servers[i]);

		if (!srv)
			unknown++;
		else
			done += act(a, srv);
	}
	if (unknown)
		return done ? "PART" : "ERRP";
	return done ? "DONE" : "NONE";
}

/* The servers are those of the generation that is live: the request may be of one before. */
const char *stats_admin_run(struct service_call *c)
{
	struct form *f = arena_zalloc(&c->stream->arena, sizeof(*f));
	const struct stats_call *sc = c->state;
	const struct action *a;
	const char *error;
	struct proxy *px;

	if (!f)
		return "ERRP";
	if (!is_from_here(c->stream))
		return "DENY";
	error = read_form(c, f);
	if (error)
		return error;
	if (!f->backend || !f->action || !f->count)
		return "NONE";
	px = proxy_find(proxies_current(), f->backend, PROXY_BE);
	a = action_find(f->action);
	if (px && !stats_in_scope(sc->conf, sc->of, px))
		return "DENY";
	return px && a ? carry_out(f, a, px) : "ERRP";
}
