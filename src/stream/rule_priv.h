/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files about rules share: the proxy's rule lists, and helpers for actions. */
#ifndef STREAM_RULE_PRIV_H
#define STREAM_RULE_PRIV_H

#include "base/diag.h"
#include "base/slot.h"
#include "expr/logformat.h"
#include "proxy/proxy.h"
#include "stream/rule.h"
#include "stream/stream.h"

struct http_msg;
struct redirect;
struct regex;

/* The order in which kinds of rules are evaluated, whatever their order in the file. */
enum rule_order {
	ORDER_NONE, ORDER_TCP_CONNECTION, ORDER_TCP_SESSION, ORDER_TCP_CONTENT, ORDER_HTTP_REQUEST,
	ORDER_REDIRECT, ORDER_USE_BACKEND, ORDER_USE_SERVER,
};

/* use_backend or use-server: a name, fixed or computed, and a condition. */
struct switch_rule {
	struct list link;
	const struct condition *condition;
	const char *name;                /* as written */
	const struct logformat *format;  /* computed at run time, or NULL */
	void *target;                    /* struct proxy or server, resolved in the check phase */
	const char *file;
	int line;
	unsigned number;                 /* in its proxy: see rule_hits.c */
};

struct redirect_rule {
	struct list link;
	unsigned number;
	struct rule rule;                /* so that logs can name it */
	const struct redirect *redirect;
};

struct rule_proxy {
	struct list rules[RULES_COUNT];  /* struct rule: its own */
	struct list backends, servers;   /* struct switch_rule */
	struct list redirects;           /* struct redirect_rule */
	const struct rule_proxy *from;   /* its defaults section, whose rules come first, or NULL */
	/* made by the check phase: those of the defaults, then its own */
	const struct rule **all[RULES_COUNT];
	unsigned count[RULES_COUNT];
	struct acl_set *acls;            /* its own and inherited ones; NULL until the first use */
	int64_t inspect_ms[2];           /* request, response; 0 none */
	enum rule_order last_order;      /* latest kind seen, for warnings */
	struct rule_regex *regexes;      /* of its rules: freed with the proxy */
	unsigned first_number[RULES_COUNT], numbered;
	struct rule_hits **hits;         /* by thread; state, atomic: see rule_hits.c */
};

/* --- rule_hits.c */
struct rule_hits {
	uint64_t evaluated, matched; /* written by one thread, read by any */
};
/* Those of the calling thread, by number; NULL: no memory. Only with a rule at least. */
struct rule_hits *rule_hits_mine(const struct rule_proxy *rp);
/* Those of all threads. */
struct rule_hits rule_hits_sum(const struct rule_proxy *rp, unsigned number);
void rule_hits_fini(struct rule_proxy *rp);
/* Numbers the rules of a proxy: check phase. */
void rule_hits_number(struct rule_proxy *rp);

/* One more, of the calling thread's own. */
static inline void rule_hit(uint64_t *count)
{
	__atomic_store_n(count, *count + 1, __ATOMIC_RELAXED);
}

/* A regular expression, which lives outside of the arena. */
struct rule_regex {
	struct rule_regex *next;
	struct regex *regex;
};

extern struct slot rule_proxy_slot;

static inline struct rule_proxy *rule_proxy_of(const struct proxy *px)
{
	return slot_of(&rule_proxy_slot, proxy_slots(px));
}

/* The named ACLs of the proxy of <l>, made on first use. NULL: no memory, reported. */
struct acl_set *rule_acls(struct conf_line *l);
/* The file being read, as a text that lives as long as the configuration; NULL: no memory. */
const char *rule_file(struct conf_line *l);
/* Warns when rules of a kind that runs later were seen before. */
void rule_warn_order(struct conf_line *l, enum rule_order order);

/* The action that the next words name, moving behind them. NULL: unknown or refused, reported. */
const struct rule_action *rule_action_take(struct conf_line *l, enum ruleset set);

/* Parses one rule of a set, from the action's name. */
bool rule_parse_line(struct conf_line *l, enum ruleset set);

/* Reports what is wrong with an action's arguments at word <at>; returns false. */
bool rule_error(struct conf_line *l, const struct rule *r, int at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static inline bool rule_no_memory(struct conf_line *l, const struct rule *r)
{
	return rule_error(l, r, 0, "out of memory");
}

/* Compiles words[<at>] into an expression that dies with the proxy. NULL: reported. */
struct regex *rule_regex_new(struct conf_line *l, const struct rule *r, int at, unsigned flags);

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
/* The value: of the configuration, or in ctx->arena. slice_none(): no memory or too long. */
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

/* --- switching, redirections -------------------------------------------------------------- */

/* Check phase: warns about a condition on bytes in a proxy of mode http. <c>: or NULL. */
void rule_warn_bytes(const struct proxy *px, const struct condition *c, const char *file, int line,
		     struct diag_list *diags);
bool switch_backend_parse(struct conf_line *l);
bool switch_server_parse(struct conf_line *l);
void switch_check(struct proxy *px, struct diag_list *diags);

/* Parses a redirection's words up to the condition. <format>: texts may hold %[...]. NULL: reported
 * by rule_error(l, r).
 */
struct redirect *redirect_parse(struct conf_line *l, const struct rule *r, bool format);
/* Builds the answer in the stream. RULE_CONTINUE: nothing to do (ignore-empty). */
enum rule_result redirect_run(const struct redirect *rd, struct expr_ctx *ctx);
bool redirect_line_parse(struct conf_line *l);

#endif
