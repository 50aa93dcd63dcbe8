/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stats_page_conf.c - edge file: the keywords of the statistics page
 *
 * Manual: configuration 4.2 stats.
 */
#include <string.h>
#include "base/diag.h"
#include "conf/conf.h"
#include "manage/stats_history.h"
#include "proxy/counters.h"
#include "stats_page_priv.h"

#define NODE_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

/* The settings of the proxy itself, made at its first line. NULL: no memory, reported. */
static struct stats_conf *conf_get(struct conf_line *l)
{
	struct stats_proxy *sp = slot_of(&stats_proxy_slot, l->slots);

	if (!sp->own) {
		sp->conf = arena_zalloc(&l->cfg->arena, sizeof(*sp->conf));
		if (sp->conf) {
			sp->conf->uri = SLICE("/haproxy?stats");
			sp->conf->realm = SLICE("HAProxy Statistics");
			sp->conf->file = conf_strdup(l->cfg, l->place.file);
			sp->conf->line = l->place.line;
		}
		sp->own = sp->conf != NULL;
	}
	if (!sp->conf)
		conf_error(l, 0, NULL, "out of memory.");
	return sp->conf;
}

static bool enable_parse(struct conf_line *l)
{
	return conf_get(l) && conf_take_end(l);
}

/* The one word of a line; NULL: reported. */
static const char *take_word(struct conf_line *l, const char *expected)
{
	const char *word = conf_next(l);

	if (!word || !*word) {
		conf_error(l, l->at, NULL, "'%s' needs %s.", l->words[1], expected);
		return NULL;
	}
	return conf_take_end(l) ? word : NULL;
}

static bool stats_uri_parse(struct conf_line *l)
{
	struct stats_conf *conf = conf_get(l);
	const char *word = take_word(l, "an URI prefix");

	if (!conf || !word)
		return false;
	if (strpbrk(word, "\r\n \t"))
		return conf_error(l, l->at - 1, NULL, "an URI prefix cannot hold blanks.");
	conf->uri = slice_of(word);
	return true;
}

/* A text that goes between quotes in a header. */
static bool realm_is_fine(struct conf_line *l, const char *word)
{
	return !strpbrk(word, "\r\n") ||
	       conf_error(l, l->at - 1, NULL, "a realm cannot hold line breaks.");
}

static bool realm_parse(struct conf_line *l)
{
	struct stats_conf *conf = conf_get(l);
	const char *word = conf_next(l);

	if (!word || !*word)
		return conf_error(l, l->at, NULL, "'realm' needs a realm name.");
	if (!conf || !realm_is_fine(l, word))
		return false;
	conf->realm = slice_of(word);
	conf->realm_is_set = true;
	if (conf_peek(l)) {
		conf_report(l, l->at, DIAG_DIAG, DIAG_PARSING, "'stats realm' takes one word: '%s' "
			    "is passed over; write blanks as '\\ ' or put quotes around all.",
			    conf_peek(l));
		l->at = l->count;
	}
	return true;
}

/* At the end of a list; NULL: no memory, reported. */
static struct stats_name *add_name(struct conf_line *l, struct stats_name **list)
{
	struct stats_name *n = arena_zalloc(&l->cfg->arena, sizeof(*n));

	if (!n) {
		conf_error(l, 0, NULL, "out of memory.");
		return NULL;
	}
	while (*list)
		list = &(*list)->next;
	*list = n;
	return n;
}

static bool auth_parse(struct conf_line *l)
{
	struct stats_conf *conf = conf_get(l);
	const char *word = take_word(l, "a user:password account");
	const char *colon = word ? strchr(word, ':') : NULL;
	struct stats_name *n;

	if (!conf || !word)
		return false;
	n = add_name(l, &conf->users);
	if (!n)
		return false;
	n->text = slice_make(word, colon ? (size_t)(colon - word) : strlen(word));
	n->password = slice_of(colon ? colon + 1 : "");
	return true;
}

static bool scope_parse(struct conf_line *l)
{
	struct stats_conf *conf = conf_get(l);
	const char *word = take_word(l, "a proxy name");
	struct stats_name *n = conf && word ? add_name(l, &conf->scopes) : NULL;

	if (n)
		n->text = slice_of(word);
	return n != NULL;
}

static bool refresh_parse(struct conf_line *l)
{
	struct stats_conf *conf = conf_get(l);

	return conf && conf_take_time_s(l, &conf->refresh_ms) && conf_take_end(l);
}

static bool flag_parse(struct conf_line *l)
{
	struct stats_conf *conf = conf_get(l);

	if (!conf)
		return false;
	if (strcmp(l->words[1], "show-version") == 0)
		conf->show_version = true;
	else if (strcmp(l->words[1], "show-legends") == 0)
		conf->show_legends = true;
	else
		conf->show_modules = true;
	return conf_take_end(l);
}

/* What its page shows of the last hour and day: `stats history` of global has the last word. */
static bool history_parse(struct conf_line *l)
{
	struct stats_conf *conf = conf_get(l);
	const char *word = take_word(l, "'on' or 'off'");

	if (!conf || !word)
		return false;
	conf->no_history = strcmp(word, "off") == 0;
	return conf->no_history || strcmp(word, "on") == 0 ||
	       conf_error(l, l->at - 1, NULL, "'stats history' expects 'on' or 'off', but got "
			  "'%s'.", word);
}

/* From here on requests are measured; where a metric asks for that they are already. */
static bool latencies_parse(struct conf_line *l)
{
	struct stats_conf *conf = conf_get(l);

	if (!conf)
		return false;
	latency_want(l->cfg);
	return conf_take_end(l);
}

/* It is hidden anyway. As in 3.4 this does not switch the page on, which would have no password;
 * what a defaults section says of the page is left, as with every line.
 */
static bool hide_parse(struct conf_line *l)
{
	struct stats_proxy *sp = slot_of(&stats_proxy_slot, l->slots);

	if (sp->own)
		sp->conf->show_version = false;
	else
		sp->conf = NULL;
	return conf_take_end(l);
}

static bool node_parse(struct conf_line *l)
{
	struct stats_conf *conf = conf_get(l);

	if (!conf)
		return false;
	conf->show_node = true;
	conf->node = conf_next(l);
	if (conf->node && conf->node[strspn(conf->node, NODE_LETTERS)])
		return conf_error(l, l->at - 1, NULL, "'stats show-node' invalid node name: it "
				  "may have letters, digits, '-' and '_'.");
	return conf_take_end(l);
}

static bool desc_parse(struct conf_line *l)
{
	struct stats_conf *conf = conf_get(l);
	size_t size = 1;
	char *text;

	if (!conf)
		return false;
	conf->show_desc = true;
	for (int i = l->at; i < l->count; i++)
		size += strlen(l->words[i]) + 1;
	if (l->at == l->count)
		return true;
	text = arena_zalloc(&l->cfg->arena, size);
	if (!text)
		return conf_error(l, 0, NULL, "out of memory.");
	conf->desc = text;
	for (const char *word; (word = conf_next(l)) != NULL;) {
		text = stpcpy(text, word);
		if (conf_peek(l))
			*text++ = ' ';
	}
	return true;
}

/* A rule at the end of a list, and its condition. */
static bool add_rule(struct conf_line *l, struct stats_rule **list, struct stats_rule *like)
{
	struct stats_rule *r = arena_zalloc(&l->cfg->arena, sizeof(*r));
	char what[48];

	if (!r)
		return conf_error(l, 0, NULL, "out of memory.");
	*r = *like;
	snprintf(what, sizeof(what), "stats %s", l->words[1]);
	if (!rule_take_condition(l, what, rule_phases(l->object, RULES_HTTP_REQUEST),
				 &r->condition))
		return false;
	while (*list)
		list = &(*list)->next;
	*list = r;
	return true;
}

static bool admin_parse(struct conf_line *l)
{
	struct stats_conf *conf = conf_get(l);

	if (!conf_peek(l) || !rule_at_end(l))
		return conf_error(l, l->at, NULL, "'stats admin' requires either 'if' or 'unless' "
				  "followed by a condition.");
	return conf && add_rule(l, &conf->admins, &(struct stats_rule){ 0 });
}

static bool http_request_parse(struct conf_line *l)
{
	static const char *const words[] = { "allow", "deny", "auth" };
	struct stats_conf *conf = conf_get(l);
	const char *word = conf_next(l), *realm;
	struct stats_rule r = { 0 };

	while (word && r.verdict <= STATS_AUTH && strcmp(word, words[r.verdict]) != 0)
		r.verdict++;
	if (!word || r.verdict > STATS_AUTH)
		return conf_error(l, l->at - (word != NULL), NULL,
				  "'stats http-request' expects 'allow', 'deny' or 'auth', but got "
				  "'%s'.", word ? word : "");
	if (r.verdict == STATS_AUTH && conf_peek(l) && strcmp(conf_peek(l), "realm") == 0) {
		l->at++;
		realm = conf_next(l);
		if (!realm)
			return conf_error(l, l->at, NULL, "missing realm value.");
		if (!realm_is_fine(l, realm))
			return false;
		r.realm = slice_of(realm);
	}
	return conf && add_rule(l, &conf->rules, &r);
}

static bool unknown_parse(struct conf_line *l)
{
	const char *word = conf_peek(l);

	return conf_error(l, l->at, NULL, "%s '%s', expects 'admin', 'uri', 'realm', 'auth', "
			  "'scope', 'enable', 'hide-version', 'show-version', 'refresh', "
			  "'http-request', 'show-node', 'show-desc', 'show-modules' or "
			  "'show-legends'.", word ?
			  "unknown stats parameter" : "missing keyword in", word ? word : "stats");
}

/* Two ways of asking for a password would contradict each other. */
static void stats_check(struct config *cfg, struct diag_list *diags)
{
	static const struct diag_place nowhere = { .form = DIAG_BARE };

	for (struct proxy *px = proxies_first(cfg); px; px = proxy_next(px)) {
		const struct stats_conf *conf = stats_conf_of(px);
		struct diag_place place;

		if (conf && px->mode == PROXY_MODE_HTTP && !conf->no_history)
			stats_history_want(cfg);
		if (conf && px->mode != PROXY_MODE_HTTP)
			diag_add(diags, DIAG_WARNING, &nowhere, NULL, "'stats' statement ignored "
				 "for %s '%s' as it requires HTTP mode.", proxy_kind_name(px),
				 px->name);
		if (!conf || !conf->rules || !(conf->users || conf->realm_is_set))
			continue;
		place = (struct diag_place){ .file = conf->file, .line = conf->line };
		diag_add(diags, DIAG_ALERT, &place, NULL, "proxy '%s': stats 'auth'/'realm' and "
			 "'http-request' can't be used at the same time.", px->name);
	}
}

#define STATS(word, parser, places, text, about) \
	{ .words = "stats " word, .where = places, .flags = CONF_HTTP, .max_args = -1, \
	  .parse = parser, .syntax = text, .help = about }

static const struct conf_keyword keywords[] = {
	STATS("enable", enable_parse, CONF_PROXY, "", "answer requests for the statistics page"),
	STATS("uri", stats_uri_parse, CONF_PROXY, "<prefix>", "targets that ask for it begin so"),
	STATS("realm", realm_parse, CONF_PROXY, "<realm>", "what browsers show with the question "
	      "for a password"),
	STATS("auth", auth_parse, CONF_PROXY, "<user>:<password>", "an account that may see it"),
	STATS("scope", scope_parse, CONF_PROXY, "{<name>|.}", "a section that it shows; others are "
	      "left out"),
	STATS("refresh", refresh_parse, CONF_PROXY, "<delay>", "have browsers load it again"),
	STATS("hide-version", hide_parse, CONF_PROXY, "", "leave the program's version out of it"),
	STATS("show-version", flag_parse, CONF_PROXY, "", "tell the program's version there"),
	STATS("show-legends", flag_parse, CONF_PROXY, "", "show modes, numbers and addresses"),
	STATS("show-modules", flag_parse, CONF_PROXY, "", "show the counters of protocols"),
	STATS("show-latencies", latencies_parse, CONF_PROXY, "",
	      "measure requests, for the page's percentiles"),
	STATS("history", history_parse, CONF_PROXY, "{ on | off }",
	      "show what was counted in the last hour and day (on)"),
	STATS("show-node", node_parse, CONF_PROXY, "[<name>]", "show the name of this node"),
	STATS("show-desc", desc_parse, CONF_PROXY, "[<text>]", "show a description"),
	STATS("admin", admin_parse, CONF_FE_BE, "{if|unless} <condition>",
	      "when the states of servers may be changed"),
	STATS("http-request", http_request_parse, CONF_FE_BE,
	      "{allow|deny|auth [realm <realm>]} [{if|unless} <condition>]",
	      "which clients may see it"),
	{ .words = "stats", .where = CONF_PROXY, .flags = CONF_HIDDEN, .max_args = -1,
	  .parse = unknown_parse, .syntax = "<parameter>", .help = "see stats enable" },
	{ 0 }
};

static struct slot *const slots[] = { &stats_proxy_slot, NULL };

const struct module mod_stats_page = {
	.name = "stats-page", .keywords = keywords, .slots = slots, .services = stats_services,
	.check = stats_check,
};
