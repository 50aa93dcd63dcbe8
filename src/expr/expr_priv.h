/* SPDX-License-Identifier: GPL-2.0-or-later */
/* expr_priv.h - shared by the files of this folder */
#ifndef SRC_EXPR_PRIV_H
#define SRC_EXPR_PRIV_H

#include <stdio.h>
#include "base/regex.h"
#include "base/strbuf.h"
#include "expr/expr.h"
#include "expr/pattern.h"
#include "vars_priv.h"

/* An error of compilation, as text; the first error wins. */
struct expr_error {
	char text[512];
};

__attribute__((format(printf, 2, 3)))
void expr_fail(struct expr_error *e, const char *fmt, ...);
/* Resolves names in <scratch> with the installed resolver. False: a name was not found, or is of
 * another kind; it may have been reported.
 */
bool expr_resolve(struct config *scratch, struct config *live, struct diag_list *diags);
/* Resolves the arguments of <of> that name sinks of <cfg>. */
void expr_resolve_sinks(struct config *of, const struct config *cfg, struct diag_list *diags);
/* later.c: returns the feature that an unknown fetch or converter belongs to ("stick tables");
 * NULL: simply unknown.
 */
const char *expr_later_feature(struct slice name);
/* Find rows defined by scripts (script.c); NULL: none. */
const struct expr_fetch *expr_script_fetch(const struct config *cfg, struct slice name);
const struct expr_converter *expr_script_converter(const struct config *cfg, struct slice name);

/* One step of an expression: a converter, after a cast to its input type. */
struct expr_step {
	const struct expr_converter *converter;
	struct expr_arg *args;
};

struct expr {
	const struct expr_fetch *fetch;
	struct expr_arg *args;
	struct expr_step *steps;
	unsigned step_count;
	enum sample_type type;   /* of the result, as far as known */
	enum expr_result folded; /* FOUND: <value> is the sample after the first <folded_steps> */
	bool is_folded;
	unsigned folded_steps;
	struct sample value;
};

/* State of parsing a text; errors go to <error>. */
struct expr_parser {
	struct conf_line *line;
	const char *text, *at;
	unsigned phase;
	unsigned position; /* of the last parsed argument, from 1 */
	struct expr_error *error;
};

/* Parses "(a,b)" at p->at, if present, for the given argument types; the array has EXPR_ARGS_MAX
 * entries, missing ones have type ARG_END. <what> and <keyword> name the owner in messages; <what>
 * must be static. NULL: see p->error.
 */
struct expr_arg *expr_args_parse(struct expr_parser *p, const uint8_t *types, unsigned min,
				 const char *what, const char *keyword);

/* Compiles at p->at and moves it. <acl>: messages are worded for ACLs. */
struct expr *expr_compile(struct expr_parser *p, const struct expr_acl_keyword *acl);

/* Returns the number of a well-known method (in the order of http/msg.h), 0: other. */
int sample_method_find(struct slice name);
struct slice sample_method_name(const struct sample *s);

/* The data of this folder in a configuration. */
struct acl_counters;

struct expr_config {
	struct config *cfg;
	struct expr_pending *pending;
	struct pattern_ref *refs;   /* all, newest first */
	unsigned next_id;
	struct expr_owned *owned;   /* objects that the arena cannot free */
	struct {                    /* for what is parsed while the arena is lent */
		struct expr_pending *pending;
		struct expr_owned *owned;
	} lent;
	struct vars_store vars;
	struct vars_store *lent_vars; /* borrowed from another generation, used instead; or NULL */
	struct acl_counters *acls;  /* owned; see acl_hits.c */
	struct crypto_key *keys;    /* public keys of jwt_verify; conv_openssl.c */
	bool jwt_allow_none;        /* tokens without a signature are valid */
	/* Algorithms allowed for encrypted tokens, by their numbers in jwe_openssl.c; 0: the usual
	 * ones.
	 */
	uint32_t jwe_keys, jwe_contents;
};
#define JWE_LIST_GIVEN (1u << 31)
extern struct slot expr_config_slot;
struct expr_config *expr_config_of(const struct config *cfg);
/* Frees <ptr> with <release> when the configuration is freed. False: out of memory (nothing
 * registered).
 */
bool expr_config_own(struct config *cfg, void *ptr, void (*release)(void *ptr));
/* As expr_config_own(), for a part of the expression being parsed: freed with the object that has
 * it.
 */
bool expr_own(struct config *cfg, void *ptr, void (*release)(void *ptr));

/* Returns "did you mean" if <error>, about the expression <text>, concerns an unknown fetch or
 * converter; else NULL. In the arena.
 */
const char *expr_suggest(struct conf_line *l, const char *error, const char *text);

struct expr_alias;
const struct expr_alias *expr_alias_find(struct slice name);

/* json_query: check its arguments (<path>[,<type>]), and apply it to <text>. */
bool expr_json_check(struct conf_line *l, struct expr_arg *args, const char **error);
bool expr_json_query(struct expr_ctx *ctx, const struct expr_arg *args, struct slice text,
		     struct sample *s);

/* Decodes base64 into the arena; without padding, and with the URL alphabet if <url>. slice_none():
 * malformed, or out of memory.
 */
struct slice expr_base64_decode(struct arena *arena, struct slice text, bool url);
/* Returns base64url <text> without padding, which some senders add (RFC 7515 omits it). */
struct slice expr_base64_unpad(struct slice text);
/* Returns the padded base64 of <bytes>, in the arena. */
struct slice expr_base64_encode(struct arena *arena, struct slice bytes);

/* For -dKsmp. */
void expr_phase_legend(FILE *out);
void expr_phase_columns(FILE *out, unsigned phases);
/* Returns the name of a type for messages and dumps: "integer", "IPv4 mask". */
const char *expr_arg_type_name(enum expr_arg_type t);


/* Returns the expression in the current word <text>: after a comma at its end, the next word is the
 * next converter, unless that is a flag or missing. The last word taken becomes the current one.
 */
const char *expr_join_words(struct conf_line *l, const char *text);

/* Does it pass on its input, so that the type stays known? (conv_debug.c) */
bool expr_converter_keeps_type(const struct expr_converter *c);

#endif
