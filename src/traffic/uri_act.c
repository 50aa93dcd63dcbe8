/* SPDX-License-Identifier: GPL-2.0-or-later */
/* uri_act.c - edge file: normalize-uri
 *
 * Manual: configuration 4.4 normalize-uri.
 */
#include <stdlib.h>
#include "base/bug.h"
#include "codec/uri_normalize.h"
#include "stream/action.h"

struct normalizer {
	const char *name;
	const char *option;      /* the word that may follow; NULL: none */
	struct slice (*get)(const struct http_msg *m);
	bool (*set)(struct http_msg *m, struct slice text);
	/* Exactly one of both. */
	size_t (*plain)(struct slice text, char *out);
	size_t (*optional)(struct slice text, bool option, char *out);
};

struct normalize_arg {
	const struct normalizer *normalizer;
	bool option;
};

static const struct normalizer normalizers[] = {
	{ "fragment-encode", NULL, http_msg_pathq, http_msg_set_pathq, uri_encode_fragment, NULL },
	{ "fragment-strip", NULL, http_msg_pathq, http_msg_set_pathq, uri_strip_fragment, NULL },
	{ "path-merge-slashes", NULL, http_msg_path, http_msg_set_path, uri_merge_slashes, NULL },
	{ "path-strip-dot", NULL, http_msg_path, http_msg_set_path, uri_strip_dot, NULL },
	{ "path-strip-dotdot", "full", http_msg_path, http_msg_set_path, NULL, uri_strip_dotdot },
	{ "percent-decode-unreserved", "strict", http_msg_pathq, http_msg_set_pathq, NULL,
	  uri_decode_unreserved },
	{ "percent-to-uppercase", "strict", http_msg_pathq, http_msg_set_pathq, NULL,
	  uri_upper_percent },
	{ "query-sort-by-name", NULL, http_msg_query, http_msg_set_query, uri_sort_query, NULL },
};

static bool normalize_parse(struct conf_line *l, struct rule *r)
{
	struct normalize_arg *arg = arena_zalloc(&l->cfg->arena, sizeof(*arg));
	const char *word = conf_peek(l);

	if (!arg)
		return rule_no_memory(l, r);
	r->data = arg;
	if (rule_at_end(l))
		return rule_error(l, r, l->at, "missing argument <normalizer>");
	for (size_t i = 0; i < ARRAY_LEN(normalizers); i++)
		if (strcmp(normalizers[i].name, word) == 0)
			arg->normalizer = &normalizers[i];
	if (!arg->normalizer)
		return rule_error(l, r, l->at, "unknown normalizer '%s'", word);
	l->at++;
	if (!arg->normalizer->option || rule_at_end(l))
		return true;
	if (strcmp(conf_peek(l), arg->normalizer->option) != 0)
		return rule_error(l, r, l->at, "unknown argument '%s' for '%s' normalizer",
				  conf_peek(l), word);
	arg->option = true;
	l->at++;
	return true;
}

static enum rule_result normalize_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	struct http_msg *m = rule_message(r, ctx->stream);
	const struct normalize_arg *arg = r->data;
	const struct normalizer *n = arg->normalizer;
	struct slice text = n->get(m);
	size_t len;
	char *out;

	if (!text.len)
		return RULE_CONTINUE;
	out = arena_alloc(ctx->arena, text.len * (n->plain == uri_encode_fragment ? 3 : 1));
	if (!out)
		return rule_rewrite_failed(ctx->stream);
	len = n->plain ? n->plain(text, out) : n->optional(text, arg->option, out);
	if (len == URI_INVALID)
		return n->optional ? RULE_BAD_REQUEST : rule_rewrite_failed(ctx->stream);
	if (slice_eq(slice_make(out, len), text))
		return RULE_CONTINUE;
	return n->set(m, slice_make(out, len)) ? RULE_CONTINUE : rule_rewrite_failed(ctx->stream);
}

static const struct rule_action actions[] = {
	{ .words = "normalize-uri", .rulesets = RULES_BIT(RULES_HTTP_REQUEST),
	  .parse = normalize_parse, .run = normalize_run, .experimental = true,
	  .syntax = "<normalizer> [full|strict]", .help = "write equal targets in the same way" },
	{ 0 }
};

const struct module mod_uri_act = { .name = "uri-actions", .actions = actions };
