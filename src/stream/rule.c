/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rule.c - rule lists: kept per proxy, flattened once by the check phase, evaluated in order
 *
 * A list is an array of rules: those of the defaults section first. Evaluation that has to wait
 * stores the rule, and whether its condition or its action waits, in the stream's rule state; the
 * next call starts there, so that an action in progress is not started again, and rules before it
 * are not evaluated twice.
 */
#include "rule_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include "base/block.h"
#include "base/bug.h"
#include "base/regex.h"
#include "base/strbuf.h"

static bool rule_proxy_init(void *data)
{
	struct rule_proxy *rp = data;
	int i;

	for (i = 0; i < RULES_COUNT; i++)
		list_init(&rp->rules[i]);
	list_init(&rp->backends);
	list_init(&rp->forces);
	list_init(&rp->servers);
	list_init(&rp->redirects);
	return true;
}

static void rule_proxy_fini(void *data)
{
	struct rule_proxy *rp = data;
	struct rule_regex *rr;

	for (rr = rp->regexes; rr; rr = rr->next)
		regex_free(&rr->regex);
	rule_hits_fini(rp);
}

/* A proxy does not copy the rules of its defaults section: it refers to them. */
static bool rule_proxy_inherit(void *data, const void *from)
{
	struct rule_proxy *rp = data;
	const struct rule_proxy *parent = from;

	rp->from = parent;
	rp->inspect_ms[0] = parent->inspect_ms[0];
	rp->inspect_ms[1] = parent->inspect_ms[1];
	return true;
}

struct slot rule_proxy_slot = {
	.of = SLOT_PROXY, .size = sizeof(struct rule_proxy), .init = rule_proxy_init,
	.fini = rule_proxy_fini, .inherit = rule_proxy_inherit,
};

/* --- parsing ------------------------------------------------------------------------------ */

unsigned rule_phases(const struct proxy *px, enum ruleset set)
{
	static const struct {
		unsigned fe, be;
	} phases[RULES_COUNT] = {
		[RULES_QUIC_INITIAL] = { EXPR_FE_CONN, 0 },
		[RULES_TCP_CONNECTION] = { EXPR_FE_CONN, 0 },
		[RULES_TCP_SESSION] = { EXPR_FE_SESS, 0 },
		[RULES_TCP_CONTENT] = { EXPR_FE_REQ_CNT, EXPR_BE_REQ_CNT },
		[RULES_TCP_RESPONSE] = { EXPR_FE_RES_CNT, EXPR_BE_RES_CNT },
		[RULES_HTTP_REQUEST] = { EXPR_FE_HRQ_HDR, EXPR_BE_HRQ_HDR },
		[RULES_HTTP_RESPONSE] = { EXPR_FE_HRS_HDR, EXPR_BE_HRS_HDR },
		[RULES_HTTP_AFTER] = { EXPR_FE_HRS_HDR, EXPR_BE_HRS_HDR },
	};
	unsigned mask = 0;

	if (px->caps & (PROXY_FE | PROXY_DEFAULTS))
		mask |= phases[set].fe;
	if (px->caps & (PROXY_BE | PROXY_DEFAULTS))
		mask |= phases[set].be;
	return mask;
}

struct acl_set *rule_acls(struct conf_line *l)
{
	struct rule_proxy *rp = slot_of(&rule_proxy_slot, conf_section_slots(l));

	/* (those of `defaults` are for the rules that stand there) */
	if (!rp->acls)
		rp->acls = acl_set_new(l->cfg);
	if (!rp->acls)
		conf_error(l, 0, NULL, "out of memory.");
	return rp->acls;
}

const char *rule_file(struct conf_line *l)
{
	const struct proxy *px = l->object;

	if (px->file && l->place.file && strcmp(px->file, l->place.file) == 0)
		return px->file;
	return l->place.file ? conf_strdup(l->cfg, l->place.file) : NULL;
}

void rule_warn_order(struct conf_line *l, enum rule_order order)
{
	static const char *const names[] = {
		[ORDER_QUIC_INITIAL] = "quic-initial",
		[ORDER_TCP_CONNECTION] = "tcp-request connection",
		[ORDER_TCP_SESSION] = "tcp-request session",
		[ORDER_TCP_CONTENT] = "tcp-request content",
		[ORDER_MONITOR_FAIL] = "monitor fail",
		[ORDER_HTTP_REQUEST] = "http-request",
		[ORDER_REDIRECT] = "redirect",
		[ORDER_USE_BACKEND] = "use_backend",
		[ORDER_USE_SERVER] = "use-server",
		[ORDER_TCP_RESPONSE] = "tcp-response content",
		[ORDER_HTTP_RESPONSE] = "http-response",
	};
	struct rule_proxy *rp = slot_of(&rule_proxy_slot, l->slots);
	const unsigned requests = (1u << ORDER_TCP_RESPONSE) - 1;
	unsigned later = rp->orders & (order < ORDER_TCP_RESPONSE ? requests : ~requests);
	const char *next;

	rp->orders |= 1u << order;
	later &= ~0u << (order + 1);
	/* use_backend and use-server are of different sections, of which `listen` is both */
	if (!later || order == ORDER_USE_BACKEND)
		return;
	next = names[__builtin_ctz(later)];
	conf_warn(l, 0, NULL, "a '%s' rule placed after %s '%s' rule will still be processed "
		  "before.", names[order], *next == 'h' ? "an" : "a", next);
}

bool rule_at_end(const struct conf_line *l)
{
	const char *word = conf_peek(l);

	return !word || strcmp(word, "if") == 0 || strcmp(word, "unless") == 0;
}

/* How alerts about a condition begin; as the reference does, for users search for it. */
static const char *condition_place(struct conf_line *l, const char *what)
{
	struct arena *arena = &l->cfg->arena;
	const struct proxy *px = l->object;

	if (strncmp(what, "http-", 5) == 0)
		return arena_printf(arena, "error detected while parsing an '%s' condition : ",
				    what);
	if (strncmp(what, "tcp-", 4) == 0)
		return arena_printf(arena, "'%s' : error detected in proxy '%s' while parsing "
				    "'%s' condition : ", what, px->name, conf_peek(l));
	if ((strncmp(what, "use", 3) == 0 && strcmp(what, "use-ruleset") != 0) ||
	    strcmp(what, "route") == 0)
		return "error detected while parsing switching rule : ";
	if (strcmp(what, "redirect") == 0)
		return arena_printf(arena, "error detected in proxy '%s' while parsing redirect "
				    "rule : error in condition: ", px->name);
	return arena_printf(arena, "error detected while parsing a '%s' %s : ", what,
			    strstr(what, "persist") ? "rule" : "condition");
}

bool rule_take_condition(struct conf_line *l, const char *what, unsigned phase,
			 const struct condition **out)
{
	struct condition *condition = NULL;
	struct acl_set *acls;

	*out = NULL;
	if (!conf_peek(l))
		return true;
	if (!rule_at_end(l))
		return conf_error(l, l->at, NULL,
				  "'%s' expects either 'if' or 'unless' followed by "
				  "a condition but found '%s'.", what, conf_peek(l));
	acls = rule_acls(l);
	if (!acls || !condition_parse_in(l, acls, phase, condition_place(l, what), &condition))
		return false;
	*out = condition;
	return true;
}

void rule_warn_bytes(const struct proxy *px, const struct condition *c, const char *file, int line,
		     struct diag_list *diags)
{
	static const struct diag_place bare = { .form = DIAG_BARE };

	if (px->mode == PROXY_MODE_HTTP && c &&
	    condition_uses(c) & (EXPR_USE_L6_REQUEST | EXPR_USE_L6_RESPONSE))
		diag_add(diags, DIAG_WARNING, &bare, NULL, "Proxy '%s': L6 sample fetches ignored "
			 "on HTTP proxies (declared at %s:%d).", px->name, file, line);
}

bool rule_error(struct conf_line *l, const struct rule *r, int at, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (l->about)
		return conf_error(l, at, NULL, "%s.", text);
	return conf_error(l, at, NULL,
			  "error detected in %s '%s' while parsing redirect rule : %s.",
			  proxy_kind_name(r->proxy), r->proxy->name, text);
}

/* Parses what the action takes. Each alert tells which rule it is about, in the words of its line.
 */
static bool parse_action(struct conf_line *l, struct rule *r)
{
	const char *before = l->about;
	bool good;

	if (!r->action->parse)
		return true;
	l->about = arena_printf(&l->cfg->arena,
				"error detected in %s '%s' while parsing '%s %s' rule : ",
				proxy_kind_name(r->proxy), r->proxy->name, ruleset_name(r->set),
				strchr(r->action->words, ' ') || l->at < 1 ? r->action->words
				: l->words[l->at - 1]);
	good = r->action->parse(l, r);
	l->about = before;
	return good;
}

struct slice rule_take_name(struct conf_line *l, const struct rule *r, bool any)
{
	const char *word = conf_next(l);
	char *name = conf_strdup(l->cfg, word);
	size_t len = strlen(word);

	if (!name) {
		rule_no_memory(l, r);
		return slice_none();
	}
	while (len > 1 && name[len - 1] == ':')
		name[--len] = '\0';
	if (!any && !h1_is_token(slice_of(name))) {
		rule_error(l, r, l->at - 1, "header name '%s' contains a forbidden character",
			   word);
		return slice_none();
	}
	if (word[len])
		conf_report(l, l->at - 1, any ? DIAG_DIAG : DIAG_WARNING, DIAG_PARSING,
			    "header name '%s' contains forbidden character ':': '%s' is taken.",
			    word, name);
	for (size_t i = 0; i < len; i++)
		name[i] = ascii_lower(name[i]);
	return slice_make(name, len);
}

struct regex *rule_regex_new(struct conf_line *l, const struct rule *r, int at, unsigned flags)
{
	struct rule_proxy *rp = slot_of(&rule_proxy_slot, l->slots);
	struct rule_regex *rr = arena_zalloc(&l->cfg->arena, sizeof(*rr));
	char error[256];

	if (!rr) {
		rule_no_memory(l, r);
		return NULL;
	}
	rr->regex = regex_new(slice_of(l->words[at]), flags, error, sizeof(error));
	if (!rr->regex) {
		rule_error(l, r, at, "%s", error);
		return NULL;
	}
	rr->next = rp->regexes;
	rp->regexes = rr;
	return rr->regex;
}

/* A rule behind one that always ends the set is not reached: told of the first such rule. */
static void warn_unreached(struct conf_line *l, const struct rule_proxy *rp, enum ruleset set)
{
	const struct rule *last = list_is_empty(&rp->rules[set]) ? NULL :
		list_last(&rp->rules[set], struct rule, link);

	if (last && last->use != rp->use && last->use && last->use->has_condition)
		return;
	if (last && last->action->is_final && !last->condition)
		conf_warn(l, 0, NULL,
			  "previous '%s' action is final and has no condition attached, "
			  "further entries are NOOP.", ruleset_name(set));
}

bool rule_parse_line(struct conf_line *l, enum ruleset set)
{
	struct rule_proxy *rp = slot_of(&rule_proxy_slot, l->slots);
	struct rule *r = arena_zalloc(&l->cfg->arena, sizeof(*r));
	char what[64];

	if (!r)
		return conf_error(l, 0, NULL, "out of memory.");
	list_init(&r->link);
	r->set = set;
	r->proxy = l->object;
	r->file = rule_file(l);
	r->line = l->place.line;
	r->use = rp->use;
	r->action = rule_action_take(l, set);
	if (!r->action)
		return false;
	if (!parse_action(l, r))
		return false;
	snprintf(what, sizeof(what), "%s %s", ruleset_name(set), r->action->words);
	if (!rule_take_condition(l, what, rule_phases(r->proxy, set), &r->condition))
		return false;
	warn_unreached(l, rp, set);
	list_append(&rp->rules[set], &r->link);
	return true;
}

bool rule_text_parse(struct conf_line *l, const char *text, unsigned phase, unsigned options,
		     struct rule_text *out)
{
	struct logformat *f = logformat_parse(l, text, phase, options);

	if (!f)
		return false;
	out->format = f;
	out->constant = logformat_constant(f);
	return true;
}

struct slice rule_text_make(const struct rule_text *t, struct expr_ctx *ctx)
{
	return t->constant.ptr ? t->constant : logformat_make(t->format, ctx, block_size());
}

/* --- evaluation --------------------------------------------------------------------------- */

bool rules_any(const struct proxy *px, enum ruleset set)
{
	return rule_proxy_of(px)->count[set] != 0;
}

struct http_msg *rule_message(const struct rule *r, struct stream *s)
{
	return r->set == RULES_HTTP_RESPONSE || r->set == RULES_HTTP_AFTER ? &s->res : &s->req;
}

/* Where to go on: the rule that waited, or the first. */
static unsigned rules_start(const struct rule_proxy *rp, enum ruleset set, struct rule_state *state)
{
	unsigned i;

	for (i = 0; state->rule && i < rp->count[set]; i++) {
		if (rp->all[set][i] == state->rule)
			return i;
	}
	*state = (struct rule_state){ 0 };
	return 0;
}

/* One rule: its condition unless its action is under way, then its action. <mark>: what the stream
 * remembers of it when it applies.
 */
static enum rule_result rule_step(const struct rule *r, struct expr_ctx *ctx,
				  struct rule_state *state, struct rule_hits *hits, uint32_t mark)
{
	bool first = !state->in_action;
	enum expr_result holds;

	if (first) {
		/* the lists of a stream are entered again, but for the last one */
		if (ctx->stream && r->set != RULES_HTTP_AFTER)
			ctx->flags |= EXPR_MAY_WAIT;
		holds = condition_eval(r->condition, ctx);
		ctx->flags &= ~EXPR_MAY_WAIT;
		if (holds == EXPR_WAIT)
			return RULE_WAIT;
		if (hits)
			rule_hit(&hits->evaluated);
		if (holds != EXPR_FOUND)
			return r->otherwise;
		if (hits)
			rule_hit(&hits->matched);
		if (ctx->stream)
			stream_note_rule(ctx->stream, mark);
	}
	state->in_action = true;
	return r->action->run(r, ctx, &first);
}

enum rule_result rules_run(struct proxy *px, enum ruleset set, struct expr_ctx *ctx, bool final,
			   const struct rule **which)
{
	const struct rule_proxy *rp = rule_proxy_of(px);
	struct rule_state none = { 0 }, *state = ctx->stream ? &ctx->stream->rule : &none;
	struct rule_hits *hits = rp->count[set] ? rule_hits_mine(rp) : NULL;
	enum rule_result ret = RULE_CONTINUE;
	unsigned saved = ctx->flags, i;
	uint32_t side = ctx->stream ? stream_rule_side(ctx->stream, px) : 0;

	/* without a stream nothing more can come, and the rules would not run again */
	if (final || !ctx->stream)
		ctx->flags |= EXPR_FINAL;
	for (i = rules_start(rp, set, state); i < rp->count[set]; i++) {
		const struct rule *r = rp->all[set][i];
		unsigned number = rp->first_number[set] + i;

		ret = rule_step(r, ctx, state, hits ? &hits[number] : NULL, number | side);
		if (ret == RULE_WAIT) {
			state->rule = r;
			break;
		}
		state->in_action = false;
		state->data = NULL;
		if (ret == RULE_CONTINUE)
			continue;
		if (ret == RULE_SKIP) {
			i += (unsigned)r->number;
			ret = RULE_CONTINUE;
			continue;
		}
		*which = r;
		if (ctx->stream)
			ctx->stream->last_rule = r;
		break;
	}
	if (ret != RULE_WAIT)
		*state = (struct rule_state){ 0 };
	ctx->flags = saved;
	return ret;
}

int64_t rules_inspect_delay_ms(const struct proxy *px, bool response)
{
	return rule_proxy_of(px)->inspect_ms[response];
}
