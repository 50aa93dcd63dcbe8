/* SPDX-License-Identifier: GPL-2.0-or-later */
/* expr_priv.h - what the files of this folder share */
#ifndef SRC_EXPR_PRIV_H
#define SRC_EXPR_PRIV_H

#include <stdio.h>
#include "base/regex.h"
#include "base/strbuf.h"
#include "expr/expr.h"
#include "expr/pattern.h"
#include "vars_priv.h"

/* What went wrong while compiling, as text; the first error wins. */
struct expr_error {
	char text[512];
};

__attribute__((format(printf, 2, 3)))
void expr_fail(struct expr_error *e, const char *fmt, ...);
/* Resolves names in <scratch> by the resolver that was set. False: one was not found, or is of
 * another kind; it may have been reported.
 */
bool expr_resolve(struct config *scratch, struct config *live, struct diag_list *diags);
/* Resolves the arguments of <of> that name sinks, which are those of <cfg>. */
void expr_resolve_sinks(struct config *of, const struct config *cfg, struct diag_list *diags);
/* later.c: what an unknown fetch or converter waits for ("stick tables"); NULL: just unknown. */
const char *expr_later_feature(struct slice name);
/* Rows of scripts (script.c); NULL: none. */
const struct expr_fetch *expr_script_fetch(const struct config *cfg, struct slice name);
const struct expr_converter *expr_script_converter(const struct config *cfg, struct slice name);

/* One step of an expression: a converter, after a cast to what it takes. */
struct expr_step {
	const struct expr_converter *converter;
	struct expr_arg *args;
};

struct expr {
	const struct expr_fetch *fetch;
	struct expr_arg *args;
	struct expr_step *steps;
	unsigned step_count;
	enum sample_type type;   /* of the result, as far as it is known */
	enum expr_result folded; /* FOUND: <value> is the sample after the first <folded_steps> */
	bool is_folded;
	unsigned folded_steps;
	struct sample value;
};

/* Where text is being read; errors go to <error>. */
struct expr_parser {
	struct conf_line *line;
	const char *text, *at;
	unsigned phase;
	unsigned position; /* of the argument read last, from 1 */
	struct expr_error *error;
};

/* Reads "(a,b)" at p->at, if there, for the argument types given; the array has EXPR_ARGS_MAX
 * entries, those not given having type ARG_END. <what> and <keyword> name the owner in messages.
 * Static words only in <what>. NULL: p->error.
 */
struct expr_arg *expr_args_parse(struct expr_parser *p, const uint8_t *types, unsigned min,
				 const char *what, const char *keyword);

/* Compiles at p->at and moves it. <acl>: the words of messages are those of ACLs. */
struct expr *expr_compile(struct expr_parser *p, const struct expr_acl_keyword *acl);

/* The number of a well-known method (http/msg.h has the same order), 0: other. */
int sample_method_find(struct slice name);
struct slice sample_method_name(const struct sample *s);

/* The storage of this folder in a configuration. */
struct acl_counters;

struct expr_config {
	struct config *cfg;
	struct expr_pending *pending;
	struct pattern_ref *refs;   /* all, newest first */
	unsigned next_id;
	struct expr_owned *owned;   /* what the arena cannot free */
	struct {                    /* of what is parsed while the arena is lent */
		struct expr_pending *pending;
		struct expr_owned *owned;
	} lent;
	struct vars_store vars;
	struct vars_store *lent_vars; /* borrowed of another generation, used instead; NULL */
	struct acl_counters *acls;  /* owned; see acl_hits.c */
	struct crypto_key *keys;    /* public keys that jwt_verify names; conv_openssl.c */
	bool jwt_allow_none;        /* tokens without a signature are right */
	/* Algorithms that encrypted tokens may use, by their numbers in jwe_openssl.c; 0: the
	 * usual.
	 */
	uint32_t jwe_keys, jwe_contents;
};
#define JWE_LIST_GIVEN (1u << 31)
extern struct slot expr_config_slot;
struct expr_config *expr_config_of(const struct config *cfg);
/* Frees <ptr> with <release> when the configuration dies. False: no memory (nothing registered). */
bool expr_config_own(struct config *cfg, void *ptr, void (*release)(void *ptr));
/* The same for a part of the expression that is being parsed: it dies with what has that. */
bool expr_own(struct config *cfg, void *ptr, void (*release)(void *ptr));

/* "did you mean" where <error>, about the expression <text>, tells of an unknown fetch or
 * converter; else NULL. In the arena.
 */
const char *expr_suggest(struct conf_line *l, const char *error, const char *text);

struct expr_alias;
const struct expr_alias *expr_alias_find(struct slice name);

/* json_query: checks (<path>[,<type>]); applies it to <text>. */
bool expr_json_check(struct conf_line *l, struct expr_arg *args, const char **error);
bool expr_json_query(struct expr_ctx *ctx, const struct expr_arg *args, struct slice text,
		     struct sample *s);

/* The bytes that base64 stands for, in the arena; without padding, with the digits for URLs when
 * <url>. slice_none(): malformed, or no memory.
 */
struct slice expr_base64_decode(struct arena *arena, struct slice text, bool url);
/* <text> of base64url without the padding that some put behind it (RFC 7515 leaves it out). */
struct slice expr_base64_unpad(struct slice text);
/* The base64 of <bytes>, padded, in the arena. */
struct slice expr_base64_encode(struct arena *arena, struct slice bytes);

/* For -dKsmp. */
void expr_phase_legend(FILE *out);
void expr_phase_columns(FILE *out, unsigned phases);
/* "integer", "IPv4 mask": as messages and dumps name the type. */
const char *expr_arg_type_name(enum expr_arg_type t);


/* The expression of the word <text>, which is current: behind a comma at its end, the next word is
 * the next converter, unless it is a flag or there is none. The last word taken is then current.
 */
const char *expr_join_words(struct conf_line *l, const char *text);

/* Does it give on what it gets, so that the type stays known? (conv_debug.c) */
bool expr_converter_keeps_type(const struct expr_converter *c);

#endif
