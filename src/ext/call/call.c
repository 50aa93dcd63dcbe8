/* SPDX-License-Identifier: GPL-2.0-or-later */
/* call.c - edge file: the action call, on-state-change, and the command that counts calls
 *
 * An extension, see ext/call.h.
 */
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/slot.h"
#include "codec/uri.h"
#include "conf/conf.h"
#include "ctl/ctl.h"
#include "ext/call.h"
#include "client/http_client.h"
#include "proxy/proxy.h"
#include "stream/action.h"
#include "codec/json_text.h"
#include "call_priv.h"

#define FIELDS_MAX 16

struct hdr {
	struct slice name;
	struct rule_text value;
};

/* A rule. */
struct call_rule {
	struct rule_text url, body;
	bool has_body;
	struct slice method;
	struct hdr hdrs[FIELDS_MAX];
	unsigned count;
};

/* on-state-change of a proxy. */
struct watch {
	struct watch *next;
	struct slice url;
	struct call_field fields[FIELDS_MAX + 1];
	unsigned count;
};

struct watches {
	struct watch *first;
};

static struct slot watch_slot = { .of = SLOT_PROXY, .size = sizeof(struct watches) };

/* Is it "http://..." or "https://..."? The latter needs authorities. */
static bool url_is_good(struct config *cfg, const char *url)
{
	struct uri u;

	if (!uri_parse(slice_of(url), false, &u) || u.form != URI_ABSOLUTE || !u.host.len)
		return false;
	if (slice_eq_nocase(u.scheme, SLICE("https")))
		http_client_want_tls(cfg);
	else if (!slice_eq_nocase(u.scheme, SLICE("http")))
		return false;
	return true;
}

/* --- the action ------------------------------------------------------------------------------- */

static bool take_text(struct conf_line *l, struct rule *r, const char *what, unsigned options,
		      struct rule_text *out)
{
	if (rule_at_end(l))
		return rule_error(l, r, l->at, "'%s' expects a value", what);
	return rule_text_parse(l, conf_next(l), rule_phases(r->proxy, r->set), options, out);
}

static bool take_hdr(struct conf_line *l, struct rule *r, struct call_rule *c)
{
	struct hdr *h = &c->hdrs[c->count];

	if (c->count == FIELDS_MAX)
		return rule_error(l, r, l->at - 1, "more than %d fields", FIELDS_MAX);
	h->name = rule_take_name(l, r, false);
	c->count++;
	return !slice_is_none(h->name) && take_text(l, r, "hdr", LOGFORMAT_HTTP,
							  &h->value);
}

static bool take_option(struct conf_line *l, struct rule *r, struct call_rule *c)
{
	const char *word = conf_next(l);

	if (strcmp(word, "hdr") == 0)
		return take_hdr(l, r, c);
	if (strcmp(word, "body") == 0) {
		c->has_body = true;
		return take_text(l, r, "body", 0, &c->body);
	}
	if (strcmp(word, "method") != 0)
		return rule_error(l, r, l->at - 1, "unknown option '%s': expects method, body, hdr",
				  word);
	if (rule_at_end(l))
		return rule_error(l, r, l->at, "'method' expects a value");
	c->method = slice_of(conf_next(l));
	return true;
}

static bool action_parse(struct conf_line *l, struct rule *r)
{
	struct call_rule *c = arena_zalloc(&l->cfg->arena, sizeof(*c));
	const char *url;

	if (!c)
		return rule_no_memory(l, r);
	r->data = c;
	if (rule_at_end(l))
		return rule_error(l, r, l->at, "'call' expects a URL");
	url = conf_next(l);
	if (!strchr(url, '%') && !url_is_good(l->cfg, url))
		return rule_error(l, r, l->at - 1, "'%s' is no URL, as in "
				  "'http://hooks.example/path'", url);
	if (strncmp(url, "https:", 6) == 0)
		http_client_want_tls(l->cfg);
	if (!rule_text_parse(l, url, rule_phases(r->proxy, r->set), LOGFORMAT_HTTP, &c->url))
		return false;
	while (!rule_at_end(l))
		if (!take_option(l, r, c))
			return false;
	if (!c->method.len)
		c->method = c->has_body ? SLICE("POST") : SLICE("GET");
	return true;
}

static enum rule_result action_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	const struct call_rule *c = r->data;
	struct call_field fields[FIELDS_MAX];
	struct call_wish w = { .method = c->method, .fields = fields, .field_count = c->count };

	w.url = rule_text_make(&c->url, ctx);
	w.body = c->has_body ? rule_text_make(&c->body, ctx) : slice_none();
	for (unsigned i = 0; i < c->count; i++) {
		fields[i].name = c->hdrs[i].name;
		fields[i].value = rule_text_make(&c->hdrs[i].value, ctx);
		if (slice_is_none(fields[i].value))
			return RULE_CONTINUE;
	}
	if (!slice_is_none(w.url))
		call_add(&w);
	return RULE_CONTINUE;
}

static const struct rule_action actions[] = {
	{ .words = "call",
	  .rulesets = RULES_BIT(RULES_HTTP_REQUEST) | RULES_BIT(RULES_HTTP_RESPONSE),
	  .parse = action_parse, .run = action_run,
	  .syntax = "<url> [method <name>] [body <fmt>] [hdr <name> <fmt>]*",
	  .help = "call a URL, and do not wait for its answer" },
	{ 0 }
};

/* --- changes of servers ----------------------------------------------------------------------- */

static bool parse_watch(struct conf_line *l)
{
	struct watches *all = slot_of(&watch_slot, proxy_slots(l->object));
	struct watch *w = arena_zalloc(&l->cfg->arena, sizeof(*w));
	const char *url = conf_next(l);

	if (!w)
		return conf_error(l, 0, NULL, "out of memory.");
	if (!url_is_good(l->cfg, url))
		return conf_error(l, l->at - 1, NULL, "'on-state-change' : '%s' is no URL, as in "
				  "'http://hooks.example/path'.", url);
	w->url = slice_of(url);
	w->fields[w->count++] = (struct call_field){ SLICE("content-type"),
						     SLICE("application/json") };
	while (conf_peek(l)) {
		if (strcmp(conf_next(l), "hdr") != 0 || l->count - l->at < 2 ||
		    w->count > FIELDS_MAX)
			return conf_error(l, l->at - 1, NULL, "'on-state-change' : expects 'hdr "
					  "<name> <value>', at most %d times.", FIELDS_MAX);
		w->fields[w->count].name = slice_of(conf_next(l));
		w->fields[w->count++].value = slice_of(conf_next(l));
	}
	w->next = all->first;
	all->first = w;
	return true;
}

static void put_event(struct strbuf *out, const struct proxy *px, enum proxy_event event,
		      const char *text)
{
	static const char *const levels[] = {
		[PROXY_EVENT_NO_SERVER] = "emerg", [PROXY_EVENT_DOWN] = "alert",
		[PROXY_EVENT_WARNING] = "warning", [PROXY_EVENT_NOTICE] = "notice",
	};
	time_t now = (time_t)(clock_wall_us() / 1000000);
	char host[256] = "", date[32];
	struct tm tm;

	gethostname(host, sizeof(host) - 1);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	strbuf_printf(out, "{\"time\":\"%s\",\"host\":", date);
	json_put_string(out, slice_of(host));
	strbuf_add_str(out, ",\"proxy\":");
	json_put_string(out, slice_of(px->name));
	strbuf_printf(out, ",\"level\":\"%s\",\"text\":", levels[event]);
	json_put_string(out, slice_of(text));
	strbuf_add_str(out, "}\n");
}

static void tell(const struct proxy *px, enum proxy_event event, const char *text)
{
	const struct watches *all = slot_of(&watch_slot, proxy_slots(px));
	struct strbuf body;

	if (!all->first || event == PROXY_EVENT_CHECK)
		return;
	strbuf_init(&body);
	put_event(&body, px, event, text);
	for (const struct watch *w = all->first; w; w = w->next)
		call_add(&(struct call_wish){ .method = SLICE("POST"), .url = w->url,
					      .body = strbuf_slice(&body), .fields = w->fields,
					      .field_count = w->count });
	strbuf_fini(&body);
}

static const struct conf_keyword keywords[] = {
	{ .words = "on-state-change", .where = CONF_DEF_BE, .min_args = 1, .max_args = -1,
	  .parse = parse_watch, .syntax = "<url> [hdr <name> <value>]*",
	  .help = "call a URL when servers or the backend change" },
	{ 0 }
};

/* --- the command ------------------------------------------------------------------------------ */

static enum ctl_step show(struct ctl_request *rq)
{
	static const char *const texts[] = {
#define X(name, text) text,
		CALL_COUNTS(X)
#undef X
	};

	for (unsigned i = 0; i < CALL_COUNT; i++)
		strbuf_printf(rq->out, "%s: %llu\n", texts[i],
			      (unsigned long long)call_figure((enum call_count)i));
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "show calls", .run = show,
	  .help = "count calls to URLs, by result" },
	{ 0 }
};

static bool begin(struct config *cfg, struct diag_list *diags)
{
	static bool begun;

	if (!begun && !call_queue_init())
		return false;
	if (!begun)
		proxy_add_event_hook(tell);
	begun = true;
	return true;
}

static struct slot *const slots[] = { &watch_slot, NULL };

const struct module mod_call = {
	.name = "call", .actions = actions, .keywords = keywords, .commands = commands,
	.slots = slots, .start = begin, .thread_init = call_queue_thread_init,
	.thread_fini = call_queue_thread_fini, .fini = call_queue_fini,
};
