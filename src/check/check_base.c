/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_base.c - storage of rules and settings of checks, and small helpers of rules */
#include <string.h>
#include "base/bug.h"
#include "base/num.h"
#include "base/regex.h"
#include "conf/conf.h"
#include "mux/mux.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "check_priv.h"
#include "check_settings.h"

#define VALUE_MAX 65536

/* --- slots ---------------------------------------------------------------------------------- */

struct kept_regex {
	struct kept_regex *next;
	struct regex *regex;
};

struct check_config {
	struct check_settings settings; /* first: what check_settings_of() gives */
	struct kept_regex *regexes;
};

static void config_slot_fini(void *data)
{
	struct check_config *c = data;

	for (struct kept_regex *k = c->regexes; k; k = k->next)
		regex_free(&k->regex);
}

struct slot check_config_slot = {
	.of = SLOT_CONFIG, .size = sizeof(struct check_config), .fini = config_slot_fini,
};

/* Lists of `defaults` are used, not added to: the first rule of the section begins its own. */
static bool proxy_slot_inherit(void *data, const void *from)
{
	struct check_proxy *cp = data;

	memcpy(cp, from, sizeof(*cp));
	cp->tcp_is_own = cp->http_is_own = false;
	return true;
}

struct slot check_proxy_slot = {
	.of = SLOT_PROXY, .size = sizeof(struct check_proxy), .inherit = proxy_slot_inherit,
};

bool checks_may_fork(const struct config *cfg)
{
	return check_settings_of(cfg)->may_fork;
}

struct check_settings *check_settings_of(const struct config *cfg)
{
	return slot_of(&check_config_slot, config_slots(cfg));
}

void checks_set_node(const struct config *cfg, const char *name)
{
	check_settings_of(cfg)->node = name;
}

struct check_proxy *check_proxy_of(const struct proxy *px)
{
	return slot_of(&check_proxy_slot, proxy_slots(px));
}

struct check_proxy *check_proxy_of_line(const struct conf_line *l)
{
	return l->where == CONF_OTHER ? l->object : check_proxy_of(l->object);
}

const struct check_proxy *check_proxy_of_server(const struct server *srv)
{
	return srv->checks.own ? srv->checks.own : check_proxy_of(srv->proxy);
}

const struct mux_kind *check_mux_find(const char *name)
{
	const struct mux_kind *k = mux_find(name);

	return k && k->sides & MUX_BACK && k->mode != MUX_SPOP ? k : NULL;
}

bool check_keep_regex(struct conf_line *l, struct regex *re)
{
	struct check_config *c = slot_of(&check_config_slot, config_slots(l->cfg));
	struct kept_regex *k = arena_alloc(&l->cfg->arena, sizeof(*k));

	if (!k) {
		regex_free(&re);
		return conf_error(l, 0, NULL, "out of memory.");
	}
	*k = (struct kept_regex){ .next = c->regexes, .regex = re };
	c->regexes = k;
	return true;
}

/* --- rules ---------------------------------------------------------------------------------- */

struct check_rule *check_rule_add(struct arena *a, struct check_rules *rules,
				  enum check_rule_type type)
{
	struct check_rule *rule = arena_zalloc(a, sizeof(*rule));

	if (!rule)
		return NULL;
	if (!rules->last)
		rules->last = &rules->first;
	rule->type = type;
	rule->step = ++rules->count;
	*rules->last = rule;
	rules->last = &rule->next;
	return rule;
}

void check_comment_inherit(const struct check_rules *rules, struct check_rule *rule)
{
	const struct check_rule *before = NULL;

	for (const struct check_rule *it = rules->first; it && it != rule; it = it->next)
		before = it;
	if (!rule->comment && before && before->type == CHECK_COMMENT)
		rule->comment = before->comment;
}

struct slice check_hex_bytes(struct arena *a, const char *text, const char **error)
{
	size_t len = strlen(text);
	char *bytes;

	*error = "an even number of hex digit is expected";
	if (len % 2)
		return slice_none();
	bytes = arena_alloc(a, len / 2 + 1);
	*error = bytes ? "an hex digit is expected" : "out of memory";
	if (!bytes)
		return slice_none();
	for (size_t i = 0; i < len / 2; i++) {
		int high = num_hex_digit(text[2 * i]), low = num_hex_digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return slice_none();
		bytes[i] = (char)(high << 4 | low);
	}
	return slice_make(bytes, len / 2);
}

struct slice check_value_make(struct check_run *r, const struct check_value *v)
{
	struct slice text;
	const char *error;

	if (!v->format)
		return v->text;
	text = logformat_make(v->format, &r->ctx, VALUE_MAX);
	if (!v->hex || !text.ptr)
		return text;
	return check_hex_bytes(&r->arena, text.ptr, &error);
}

struct slice check_alpn_make(struct arena *a, const char *text)
{
	size_t len = strlen(text);
	char *out = arena_alloc(a, len + 1), *at = out;

	for (const char *p = text; out && *p; p += *p == ',') {
		size_t n = strcspn(p, ",");

		if (!n || n > 255)
			return slice_none();
		*at++ = (char)n;
		memcpy(at, p, n);
		at += n;
		p += n;
	}
	return out && len ? slice_make(out, (size_t)(at - out)) : slice_none();
}
