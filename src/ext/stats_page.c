/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats_page.c - the service "stats": the requests it answers, and the answer's parts */
#include <string.h>
#include "base/bug.h"
#include "http/auth.h"
#include "proxy/bind.h"
#include "proxy/server.h"
#include "stats_page_priv.h"
#include "stream/stream.h"

/* A form names servers: some hundreds of them. */
#define FORM_MAX 16384
/* About how many bytes are printed in one part. */
#define BYTES_A_PART 8192

static bool stats_inherit(void *data, const void *from)
{
	const struct stats_proxy *parent = from;
	struct stats_proxy *sp = data;

	sp->conf = parent->conf;
	sp->own = false;
	return true;
}

struct slot stats_proxy_slot = {
	.of = SLOT_PROXY, .size = sizeof(struct stats_proxy), .inherit = stats_inherit,
};

/* --- access ----------------------------------------------------------------------------------- */

static bool slices_are_same(struct slice a, struct slice b)
{
	unsigned char difference = a.len != b.len;

	for (size_t i = 0; i < a.len; i++)
		difference |= (unsigned char)(a.ptr[i] ^ (b.len ? b.ptr[i % b.len] : ~a.ptr[i]));
	return !difference;
}

/* All accounts are looked at, so that the time does not tell which names exist. */
static bool user_is_known(const struct stats_conf *conf, struct stream *s)
{
	struct slice field = stream_is_for_proxy(s) ? SLICE("proxy-authorization")
						    : SLICE("authorization");
	struct auth_fields f;
	bool found = false;

	if (!auth_fields_parse(&s->req, field, &s->arena, &f) || !f.user.ptr)
		return false;
	for (const struct stats_name *u = conf->users; u; u = u->next)
		if (slices_are_same(f.password, u->password) && slice_eq(f.user, u->text))
			found = true;
	return found;
}

static enum stats_verdict verdict_of(const struct stats_conf *conf, struct stream *s,
				     struct slice *realm)
{
	struct expr_ctx *ctx = stream_expr(s, EXPR_DIR_REQUEST | EXPR_FINAL);

	*realm = conf->realm;
	for (const struct stats_rule *r = conf->rules; r; r = r->next) {
		if (condition_eval(r->condition, ctx) != EXPR_FOUND)
			continue;
		if (r->realm.ptr)
			*realm = r->realm;
		return r->verdict;
	}
	return conf->users && !user_is_known(conf, s) ? STATS_AUTH : STATS_ALLOW;
}

static enum rule_result ask_for_user(struct stream *s, struct slice realm)
{
	bool proxy = stream_is_for_proxy(s);
	char *challenge = arena_alloc(&s->arena, realm.len + 16);
	struct slice name = proxy ? SLICE("proxy-authenticate") : SLICE("www-authenticate");
	size_t len;

	if (!challenge || !stream_reply_page(s, proxy ? 407 : 401))
		return RULE_ERROR;
	len = (size_t)snprintf(challenge, realm.len + 16, "Basic realm=\"%.*s\"", SLICE_FMT(realm));
	return http_msg_set_field(&s->res, name, slice_make(challenge, len)) ? RULE_REPLY
									       : RULE_ERROR;
}

static enum rule_result refuse(struct stream *s)
{
	stream_set_end(s, END_STATS_REFUSED);
	stream_count_request(s, CNT_DENIED_REQ);
	return stream_reply_page(s, 403) ? RULE_REPLY : RULE_ERROR;
}

/* What begins with a slash is compared with path and query, else with the whole target. */
static struct slice target_of(const struct stats_conf *conf, const struct stream *s)
{
	return conf->uri.ptr[0] == '/' ? http_msg_pathq(&s->req) : s->req.uri;
}

static bool stats_may_be_chosen(const struct proxy *px)
{
	return stats_conf_of(px) != NULL;
}

static enum rule_result stats_chosen(struct stream *s, struct proxy *px, const void **arg)
{
	const struct stats_conf *conf = stats_conf_of(px);
	struct slice realm;

	if (!conf || !slice_starts(target_of(conf, s), conf->uri))
		return RULE_CONTINUE;
	if (s->req.method != HTTP_METH_GET && s->req.method != HTTP_METH_HEAD &&
	    s->req.method != HTTP_METH_POST)
		return RULE_CONTINUE;
	*arg = conf;
	switch (verdict_of(conf, s, &realm)) {
	case STATS_AUTH:
		return ask_for_user(s, realm);
	case STATS_DENY:
		return refuse(s);
	default:
		return RULE_SERVICE;
	}
}

/* Does one of the rules of `stats admin` hold? */
static bool stats_is_admin(const struct stats_conf *conf, struct stream *s)
{
	struct expr_ctx *ctx = stream_expr(s, EXPR_DIR_REQUEST | EXPR_FINAL);

	for (const struct stats_rule *r = conf->admins; r; r = r->next)
		if (condition_eval(r->condition, ctx) == EXPR_FOUND)
			return true;
	return false;
}

/* --- what is asked for ------------------------------------------------------------------------ */

static void take_option(struct stats_call *sc, struct slice word)
{
	if (slice_eq(word, SLICE("csv")))
		sc->form = STATS_CSV;
	else if (slice_eq(word, SLICE("json")))
		sc->form = STATS_JSON;
	else if (slice_eq(word, SLICE("typed")))
		sc->form = STATS_TYPED;
	else if (slice_eq(word, SLICE("json-schema")))
		sc->form = STATS_SCHEMA;
	else if (slice_eq(word, SLICE("norefresh")))
		sc->no_refresh = true;
	else if (slice_eq(word, SLICE("up")))
		sc->rows.up = true;
	else if (slice_eq(word, SLICE("no-maint")))
		sc->rows.no_maint = true;
	else if (slice_starts(word, SLICE("scope=")))
		sc->filter = slice_sub(word, 6, word.len);
	else if (slice_starts(word, SLICE("st=")))
		sc->status = slice_sub(word, 3, word.len);
	else if (slice_eq(word, SLICE("all")))
		sc->all_columns = true;
	else if (slice_starts(word, SLICE("px=")))
		sc->one[0] = slice_sub(word, 3, word.len);
	else if (slice_starts(word, SLICE("sv=")))
		sc->one[1] = slice_sub(word, 3, word.len);
}

/* What stands behind the prefix: words behind semicolons. */
static void read_options(struct stats_call *sc, struct slice rest)
{
	size_t at = slice_find_char(rest, 0, ';');

	while (at != SIZE_MAX) {
		size_t end = ++at;

		while (end < rest.len && !strchr(";&?/#", rest.ptr[end]))
			end++;
		take_option(sc, slice_sub(rest, at, end));
		at = slice_find_char(rest, end, ';');
	}
}

static bool add_location(struct service_call *c, const char *result)
{
	struct stats_call *sc = c->state;
	struct slice uri = sc->conf->uri;
	char *text = arena_alloc(&c->stream->arena, uri.len + 64);

	if (!text)
		return false;
	snprintf(text, uri.len + 64, "%.*s;st=%s%s%s%s%s", SLICE_FMT(uri), result,
		 sc->rows.up ? ";up" : "", sc->rows.no_maint ? ";no-maint" : "",
		 sc->all_columns ? ";all" : "", sc->no_refresh ? ";norefresh" : "");
	return http_msg_add_field(c->head, SLICE("location"), slice_of(text));
}

/* A form: carried out immediately; the browser then asks for the page that tells the result. */
static bool start_form(struct service_call *c)
{
	struct stats_call *sc = c->state;
	const char *result = sc->admin ? stats_admin_run(c) : "DENY";

	sc->closed = true;
	c->head->body = HTTP_BODY_LENGTH;
	c->head->content_length = 0;
	return http_msg_set_status(c->head, 303, slice_none()) &&
	       http_msg_add_field(c->head, SLICE("cache-control"), SLICE("no-cache")) &&
	       http_msg_add_field(c->head, SLICE("content-type"), SLICE("text/plain")) &&
	       http_msg_add_field(c->head, SLICE("content-length"), SLICE("0")) &&
	       add_location(c, result);
}

static bool stats_start(struct service_call *c)
{
	static const struct slice types[] = {
		[STATS_HTML] = { "text/html", 9 },
		[STATS_CSV] = { "text/plain", 10 }, [STATS_TYPED] = { "text/plain", 10 },
		[STATS_JSON] = { "application/json", 16 },
		[STATS_SCHEMA] = { "application/json", 16 },
	};
	const struct stats_conf *conf = c->arg;
	struct stats_call *sc = c->state;
	struct slice target = target_of(conf, c->stream);
	char seconds[24];

	sc->conf = conf;
	sc->of = c->proxy;
	proxies_hold(&sc->hold);
	sc->px = proxies_first(c->proxy->config);
	sc->rows.shown = STATS_SHOW_ALL;
	sc->rows.id = -1;
	read_options(sc, slice_sub(target, conf->uri.len, target.len));
	sc->admin = stats_is_admin(conf, c->stream);
	sc->has_span = !conf->no_history && stats_history_span(&sc->span);
	if (c->stream->req.method == HTTP_METH_POST)
		return start_form(c);
	sc->closed = c->stream->req.method == HTTP_METH_HEAD;
	if (!http_msg_add_field(c->head, SLICE("cache-control"), SLICE("no-cache")) ||
	    !http_msg_add_field(c->head, SLICE("content-type"), types[sc->form]))
		return false;
	if (!conf->refresh_ms || sc->no_refresh)
		return true;
	snprintf(seconds, sizeof(seconds), "%lld", (long long)conf->refresh_ms / 1000);
	return http_msg_add_field(c->head, SLICE("refresh"), slice_of(seconds));
}

/* --- row after row ---------------------------------------------------------------------------- */

/* Fills the next row of the proxies that are shown. */
static enum stats_found next_row(struct stats_call *sc)
{
	enum stats_found found = STATS_END;

	while (found == STATS_END && sc->px) {
		if (sc->rows.px != sc->px)
			stats_walk_enter(&sc->rows, sc->px);
		if (stats_proxy_is_shown(sc, sc->px))
			found = stats_walk_next(&sc->rows, &sc->row);
		if (found == STATS_END)
			sc->px = proxy_next(sc->px);
	}
	if (found == STATS_ROW)
		stats_hide_legends(sc);
	return found;
}

static void put_begin(struct stats_call *sc, struct strbuf *out)
{
	if (sc->form == STATS_CSV)
		stats_print_csv_header(out);
	else if (sc->form == STATS_JSON)
		strbuf_add_char(out, '[');
	else if (sc->form == STATS_HTML)
		stats_html_head(out, sc);
}

static void put_row(struct stats_call *sc, struct strbuf *out)
{
	if (sc->form == STATS_CSV) {
		stats_print_csv(out, &sc->row);
	} else if (sc->form == STATS_TYPED) {
		stats_print_typed(out, &sc->row, false);
	} else if (sc->form == STATS_JSON) {
		if (sc->count++)
			strbuf_add_char(out, ',');
		stats_print_json(out, &sc->row);
	} else {
		stats_html_row(out, sc, sc->px);
	}
}

static enum service_result stats_part(struct service_call *c, struct strbuf *out)
{
	struct stats_call *sc = c->state;

	if (sc->closed)
		return SERVICE_DONE;
	if (sc->form == STATS_SCHEMA) {
		stats_print_schema(out);
		return out->overflow ? SERVICE_ERROR : SERVICE_DONE;
	}
	if (sc->form == STATS_HTML && sc->one[0].len) {
		stats_html_one(out, sc);
		return out->overflow ? SERVICE_ERROR : SERVICE_DONE;
	}
	if (sc->form == STATS_HTML && !sc->started && !stats_sum_step(sc))
		return SERVICE_MORE;
	if (!sc->started)
		put_begin(sc, out);
	sc->started = true;
	while (out->len < BYTES_A_PART) {
		enum stats_found found = next_row(sc);

		if (found == STATS_PAUSE)
			break;
		if (found == STATS_ROW) {
			put_row(sc, out);
			continue;
		}
		if (sc->form == STATS_JSON)
			strbuf_add_str(out, "]\n");
		else if (sc->form == STATS_HTML)
			stats_html_end(out, sc);
		return out->overflow ? SERVICE_ERROR : SERVICE_DONE;
	}
	return out->overflow ? SERVICE_ERROR : SERVICE_MORE;
}

static void stats_end(struct service_call *c)
{
	struct stats_call *sc = c->state;

	proxies_release(&sc->hold);
}

const struct service_kind stats_services[] = {
	{ .name = "stats-page", .shown = "<STATS>", .skips_response_rules = true,
	  .state_size = sizeof(struct stats_call), .body_max = FORM_MAX, .chosen = stats_chosen,
	  .may_be_chosen = stats_may_be_chosen,
	  .start = stats_start, .part = stats_part, .end = stats_end,
	  .help = "the statistics page" },
	{ 0 }
};
