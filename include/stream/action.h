/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* action.h - what actions of rules are made of
 *
 * Purpose: helpers for parsers and run functions of struct rule_action: messages, texts with
 *          %[...], numbers or expressions, regular expressions, redirections.
 * Owns   : all that is parsed belongs to the configuration and dies with it.
 * Threads: parsers run while a configuration is read; run functions on the stream's thread.
 * Manual : configuration 4.4.
 */
#ifndef STREAM_ACTION_H
#define STREAM_ACTION_H

#include "base/diag.h"
#include "expr/logformat.h"
#include "proxy/proxy.h"
#include "stream/rule.h"
#include "stream/stream.h"

struct http_msg;
struct redirect;
struct regex;

/* The named ACLs of the proxy of <l>, made on first use. NULL: no memory, reported. */
struct acl_set *rule_acls(struct conf_line *l);
/* Reports what is wrong with an action's arguments at word <at>; returns false. */
bool rule_error(struct conf_line *l, const struct rule *r, int at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static inline bool rule_no_memory(struct conf_line *l, const struct rule *r)
{
	return rule_error(l, r, 0, "out of memory");
}

/* Compiles words[<at>] into an expression that dies with the proxy. NULL: reported. */
struct regex *rule_regex_new(struct conf_line *l, const struct rule *r, int at, unsigned flags);

/* The next word as the name of a field: a copy in lower case. A name that ends with ':', as in
 * `set-header X-Name: value`, is taken without it, with a warning. <any>: a name that is looked
 * for, not sent: any word will do, and the warning is a diagnostic of -dD. slice_none(): reported.
 */
struct slice rule_take_name(struct conf_line *l, const struct rule *r, bool any);

/* The head that rules of this set look at and edit. */
struct http_msg *rule_message(const struct rule *r, struct stream *s);
/* What a rewriting action returns when it could not: an error unless strict-mode is off. */
enum rule_result rule_rewrite_failed(struct stream *s);

/* --- texts with %[...] in them ---------------------------------------------------------------- */

struct rule_text {
	struct slice constant;           /* its value when it depends on nothing */
	const struct logformat *format;
};

/* Compiles <text>; false: reported. */
bool rule_text_parse(struct conf_line *l, const char *text, unsigned phase, unsigned options,
		     struct rule_text *out);
/* The value, cut to the size of a block: of the configuration, or in ctx->arena. slice_none(): no
 * memory.
 */
struct slice rule_text_make(const struct rule_text *t, struct expr_ctx *ctx);

/* --- numbers, or expressions that give one (rule_value.c) ------------------------------------- */

struct rule_value {
	const struct expr *expr; /* NULL: <number> */
	int64_t number;
};

/* The next word. A time: in milliseconds, not null. False: reported. */
bool rule_value_take_expr(struct conf_line *l, struct rule *r, struct rule_value *v);
bool rule_value_take_number(struct conf_line *l, struct rule *r, struct rule_value *v);
bool rule_value_take_time(struct conf_line *l, struct rule *r, struct rule_value *v);
/* The value; false: the expression gives none. */
bool rule_value_eval(const struct rule_value *v, struct expr_ctx *ctx, int64_t *out);

/* --- redirections --------------------------------------------------------------------------- */

/* Parses a redirection's words up to the condition. <format>: texts may hold %[...]. NULL: reported
 * by rule_error(l, r).
 */
struct redirect *redirect_parse(struct conf_line *l, const struct rule *r, bool format);
/* Builds the answer in the stream. RULE_CONTINUE: nothing to do (ignore-empty). */
enum rule_result redirect_run(const struct redirect *rd, struct expr_ctx *ctx);

#endif
