/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats_page_parts.c - shared by the pages: access rules, link targets, texts */
#include <string.h>
#include "base/bug.h"
#include "proxy/server.h"
#include "stats_page_priv.h"

/* --- what may be shown ------------------------------------------------------------------------ */

bool stats_in_scope(const struct stats_conf *conf, const struct proxy *of, const struct proxy *px)
{
	for (const struct stats_name *n = conf->scopes; n; n = n->next) {
		struct slice name = slice_eq(n->text, SLICE(".")) ? slice_of(of->name) : n->text;

		if (slice_eq(name, slice_of(px->name)))
			return true;
	}
	return !conf->scopes;
}

bool stats_proxy_is_shown(const struct stats_call *sc, const struct proxy *px)
{
	if (px->disabled || !stats_in_scope(sc->conf, sc->of, px))
		return false;
	return !sc->filter.len || slice_find(slice_of(px->name), sc->filter) != SIZE_MAX;
}

void stats_hide_legends(struct stats_call *sc)
{
	static const enum stats_field legends[] = { STATS_ADDR, STATS_COOKIE, STATS_ALGO };

	for (size_t i = 0; i < ARRAY_LEN(legends) && !sc->conf->show_legends; i++)
		sc->row.values[legends[i]].type = STATS_EMPTY;
}

static bool copy_name(char *to, size_t size, struct slice name)
{
	snprintf(to, size, "%.*s", SLICE_FMT(name));
	return name.len < size && strlen(to) == name.len;
}

const struct proxy *stats_find_one(struct stats_call *sc, const struct history **ring)
{
	const struct proxy *px;
	const struct server *srv = NULL;
	bool is_front = slice_eq(sc->one[1], SLICE("FRONTEND"));
	bool is_back = slice_eq(sc->one[1], SLICE("BACKEND"));
	char name[256];

	if (!copy_name(name, sizeof(name), sc->one[0]))
		return NULL;
	px = proxy_find(sc->of->config, name, is_front ? PROXY_FE : PROXY_BE);
	if (!px || !stats_proxy_is_shown(sc, px) || !copy_name(name, sizeof(name), sc->one[1]))
		return NULL;
	if (!is_front && !is_back && !(srv = server_find(px, name)))
		return NULL;
	if (is_front)
		stats_fill_frontend(&sc->row, px);
	else if (is_back)
		stats_fill_backend(&sc->row, px, false);
	else
		stats_fill_server(&sc->row, srv);
	sc->srv = srv;
	stats_hide_legends(sc);
	*ring = stats_history_of(sc->row.kind, px, srv);
	return px;
}

/* --- where links lead ------------------------------------------------------------------------- */

bool stats_put_target(struct strbuf *out, const struct stats_call *sc, bool with_refresh)
{
	strbuf_add(out, sc->conf->uri);
	if (sc->rows.up)
		strbuf_add_str(out, ";up");
	if (sc->rows.no_maint)
		strbuf_add_str(out, ";no-maint");
	if (sc->all_columns)
		strbuf_add_str(out, ";all");
	if (!with_refresh)
		strbuf_add_str(out, ";norefresh");
	return !out->overflow;
}

/* --- texts ------------------------------------------------------------------------------------ */

static const char *escape_of(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void stats_put_text(struct strbuf *out, struct slice text)
{
	size_t from = 0;

	for (size_t i = 0; i < text.len; i++) {
		const char *escape = escape_of(text.ptr[i]);

		if (!escape)
			continue;
		strbuf_add(out, slice_sub(text, from, i));
		strbuf_add_str(out, escape);
		from = i + 1;
	}
	strbuf_add(out, slice_sub(text, from, text.len));
}

void stats_put_string(struct strbuf *out, const char *text)
{
	stats_put_text(out, slice_of(text));
}

void stats_put_seconds(struct strbuf *out, int64_t s)
{
	if (s >= 86400)
		strbuf_printf(out, "%lldd%lldh", (long long)s / 86400, (long long)s / 3600 % 24);
	else if (s >= 3600)
		strbuf_printf(out, "%lldh%lldm", (long long)s / 3600, (long long)s / 60 % 60);
	else if (s >= 60)
		strbuf_printf(out, "%lldm%llds", (long long)s / 60, (long long)s % 60);
	else
		strbuf_printf(out, "%llds", (long long)(s < 0 ? 0 : s));
}

static const char *text_of(const struct stats_row *r, unsigned field)
{
	return r->values[field].type == STATS_STR ? r->values[field].text : "";
}

/* "L7STS 503 2ms: reason": the reason where it is not up; of the agent where that says so. The
 * script writes the same.
 */
void stats_put_check(struct strbuf *out, const struct stats_row *r)
{
	const char *status = text_of(r, STATS_STATUS);
	bool agent = strstr(status, "(agent)") != NULL;
	const struct stats_value *code = &r->values[agent ? STATS_AGENT_CODE : STATS_CHECK_CODE];
	const struct stats_value *took = &r->values[agent ? STATS_AGENT_DURATION
							   : STATS_CHECK_DURATION];
	const char *why = text_of(r, agent ? STATS_LAST_AGT : STATS_LAST_CHK);

	stats_put_string(out, text_of(r, agent ? STATS_AGENT_STATUS : STATS_CHECK_STATUS));
	if (code->type != STATS_EMPTY && code->number) {
		strbuf_add_char(out, ' ');
		strbuf_add_int(out, code->number);
	}
	if (took->type != STATS_EMPTY) {
		strbuf_add_char(out, ' ');
		strbuf_add_int(out, took->number);
		strbuf_add_str(out, "ms");
	}
	if (!*why || strncmp(status, "UP", 2) == 0)
		return;
	strbuf_add_str(out, ": ");
	stats_put_string(out, why);
}
