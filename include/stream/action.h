/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* action.h - helpers for the actions of rules
 *
 * Purpose: shared code for the parsers and run functions of struct rule_action: messages, texts
 *          with %[...], numbers or expressions, regular expressions, redirections.
 * Owns   : everything that is parsed belongs to the configuration and is freed with it.
 * Threads: parsers run while a configuration is read; run functions run on the stream's thread.
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

/* Returns the named ACLs of the proxy of <l>, created on first use. NULL: out of memory, already
 * reported.
 */
struct acl_set *rule_acls(struct conf_line *l);
/* Reports an error in the arguments of an action, at word <at>; always returns false. */
bool rule_error(struct conf_line *l, const struct rule *r, int at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static inline bool rule_no_memory(struct conf_line *l, const struct rule *r)
{
	return rule_error(l, r, 0, "out of memory");
}

/* Compiles words[<at>] into a regular expression that is freed with the proxy. NULL: reported. */
struct regex *rule_regex_new(struct conf_line *l, const struct rule *r, int at, unsigned flags);

/* Takes the next word as a field name and returns a copy in lower case. A trailing ':', as in
 * `set-header X-Name: value`, is removed with a warning. <any>: the name is only looked for, never
 * sent, so any word is accepted, and the warning is shown by -dD only. slice_none(): reported.
 */
struct slice rule_take_name(struct conf_line *l, const struct rule *r, bool any);

/* Returns the message whose head the rules of this ruleset read and edit. */
struct http_msg *rule_message(const struct rule *r, struct stream *s);
/* Returns the result of a rewriting action that failed: an error unless strict-mode is off. */
enum rule_result rule_rewrite_failed(struct stream *s);

/* --- texts with %[...] in them ---------------------------------------------------------------- */

struct rule_text {
	struct slice constant;           /* its value, if it is constant */
	const struct logformat *format;
};

/* Compiles <text> into <out>. False: reported. */
bool rule_text_parse(struct conf_line *l, const char *text, unsigned phase, unsigned options,
		     struct rule_text *out);
/* Returns the value, cut to the size of a block. It lies in the configuration or in ctx->arena.
 * slice_none(): out of memory.
 */
struct slice rule_text_make(const struct rule_text *t, struct expr_ctx *ctx);

/* --- numbers, or expressions that give one (rule_value.c) ------------------------------------- */

struct rule_value {
	const struct expr *expr; /* NULL: <number> */
	int64_t number;
};

/* Each takes the next word. rule_value_take_time() converts to milliseconds and refuses 0. False:
 * reported.
 */
bool rule_value_take_expr(struct conf_line *l, struct rule *r, struct rule_value *v);
bool rule_value_take_number(struct conf_line *l, struct rule *r, struct rule_value *v);
bool rule_value_take_time(struct conf_line *l, struct rule *r, struct rule_value *v);
/* Computes the value. False: the expression gave none. */
bool rule_value_eval(const struct rule_value *v, struct expr_ctx *ctx, int64_t *out);

/* --- redirections --------------------------------------------------------------------------- */

/* Parses the words of a redirection up to the condition. <format>: texts may contain %[...]. NULL:
 * reported by rule_error(l, r).
 */
struct redirect *redirect_parse(struct conf_line *l, const struct rule *r, bool format);
/* Builds the redirect response in the stream. RULE_CONTINUE: nothing to do (ignore-empty). */
enum rule_result redirect_run(const struct redirect *rd, struct expr_ctx *ctx);

#endif
