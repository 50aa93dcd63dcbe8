/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rule.h - rule lists: quic-initial, tcp-request, tcp-response, http-request, http-response,
 *          http-after-response
 *
 * Purpose: an action table (struct rule_action) and lists of compiled rules per proxy and ruleset,
 *          evaluated in order; evaluation resumes at the rule that waited.
 * Owns   : rules belong to the configuration (SLOT_PROXY slot of stream/rule.c).
 * Threads: immutable after the check phase; evaluated on the stream's thread.
 * Manual : configuration 4.3, 4.4.
 */
#ifndef STREAM_RULE_H
#define STREAM_RULE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/list.h"
#include "conf/conf.h"
#include "expr/expr.h"

struct proxy;
struct reply;
struct rule;
struct session;
struct stream;

enum ruleset {
	RULES_QUIC_INITIAL,   /* the first packet of a client of QUIC: addresses only */
	RULES_TCP_CONNECTION, /* at accept: session only */
	RULES_TCP_SESSION,    /* after preambles and handshake: session only */
	RULES_TCP_CONTENT,
	RULES_TCP_RESPONSE,
	RULES_HTTP_REQUEST,
	RULES_HTTP_RESPONSE,
	RULES_HTTP_AFTER,
	RULES_COUNT
};

#define RULES_BIT(set) (1u << (set))

enum rule_result {
	RULE_CONTINUE,  /* the next rule */
	RULE_ACCEPT,    /* stop evaluating this list: allow, accept */
	RULE_WAIT,      /* not decided: come back to this rule when something changes */
	RULE_DENY,      /* refuse: HTTP: rule->deny_status page; TCP: close. Counted as denied */
	RULE_REPLY,     /* s->res is the answer: send it, no server (counted by status; cause LR) */
	RULE_REJECT,    /* close without an answer, counted as denied */
	RULE_TARPIT,    /* hold, then deny */
	RULE_CLOSE,     /* close silently, the kernel told to drop (silent-drop) */
	RULE_ERROR,     /* internal error: 500 */
	RULE_BAD_REQUEST, /* the request proved invalid: 400 */
	RULE_SERVICE,   /* a service was attached as the back endpoint: it answers */
	RULE_CUT_SERVER,  /* the server's connection is cut: 502 */
	RULE_TO_HTTP,     /* its bytes are HTTP from now on: switch-mode */
	RULE_RETRY,       /* QUIC: the client proves its address first */
	RULE_TIMEOUT,     /* what the action waited for did not come: 408, of servers 504 */
	RULE_SKIP,        /* the condition of a use-ruleset line does not hold: not its rules */
};

struct rule_action {
	const char *words;       /* "set-header", "deny" */
	unsigned rulesets;       /* mask of RULES_BIT() */
	bool has_parameter;      /* the word goes on with "(...)": its parser reads that */
	bool has_number;         /* the word goes on with digits, as in track-sc0 */
	/* l->at is behind the action's words; stops before if/unless. False: reported. */
	bool (*parse)(struct conf_line *l, struct rule *r);
	enum rule_result (*run)(const struct rule *r, struct expr_ctx *ctx, bool *first);
	bool (*check)(struct config *cfg, struct rule *r, struct diag_list *diags); /* or NULL */
	/* What the client is told on RULE_DENY and RULE_TARPIT; NULL: the page of 403. */
	const struct reply *(*reply)(const struct rule *r);
	const char *syntax, *help;
	/* Known but refused: what part of the program it waits for. */
	const char *waits_for;
	bool experimental;         /* needs expose-experimental-directives */
	bool to_http;              /* it may return RULE_TO_HTTP */
	bool is_final;             /* without a condition, no rule behind it is reached */
	/* While it waits, a client that has closed ends the stream (option abortonclose); without
	 * this only one that is gone altogether does.
	 */
	bool ends_with_client;
};

/* A `use-ruleset` line. */
struct rule_use {
	const char *name;        /* of the ruleset */
	const char *file;
	int line;
	const struct rule_use *outer; /* within whose rules it stands; NULL: none */
	bool has_condition;      /* it, or one around it */
};

struct rule {
	struct list link;
	const struct rule_action *action;
	const struct condition *condition;
	enum ruleset set;
	struct proxy *proxy;
	const char *file;
	int line;
	const struct rule_use *use; /* by which it came; NULL: it stands in its section */
	enum rule_result otherwise; /* when the condition does not hold: RULE_CONTINUE, or RULE_SKIP
				     * for the condition of a use, of <number> rules */
	void *data;              /* the action's */
	uint64_t number;         /* free for simple actions */
};

/* Makes the action tables of the modules known. Once. */
bool rules_register(const struct module *const *modules);

/* Asked for the name of an action that no table has, of one of <sets> (a mask); the row lives as
 * long as <cfg>. NULL: unknown. Once, before a configuration is read.
 */
typedef const struct rule_action *rules_script_fn(const struct config *cfg, const char *name,
						  unsigned sets);
void rules_set_scripts(rules_script_fn *find);

/* "http-request" and its kin. */
const char *ruleset_name(enum ruleset set);
/* Are there rules of this set? */
bool rules_any(const struct proxy *px, enum ruleset set);
/* Evaluates <px>'s list in the context (ctx->stream may be NULL in the first two sets). When it
 * returned RULE_WAIT, the stream's rule state tells where to go on; call again. On anything else
 * but RULE_CONTINUE and RULE_ACCEPT, *which gets the rule. <final>: no more bytes will come
 * (delays elapsed).
 */
enum rule_result rules_run(struct proxy *px, enum ruleset set, struct expr_ctx *ctx, bool final,
			   const struct rule **which);
/* The status that a RULE_DENY or RULE_TARPIT rule answers (403, 500...). */
unsigned rule_deny_status(const struct rule *r);
/* Prepares the answer of a RULE_DENY rule in s->res (its own text or the page). False: silent. */
bool rule_deny_reply(const struct rule *r, struct stream *s);

/* use_backend: the first that matches, else default_backend, else NULL (a listen: itself).
 * EXPR_WAIT when a condition is not known yet.
 */
enum expr_result rules_backend(struct proxy *fe, struct expr_ctx *ctx, struct proxy **be);
/* use-server: the server, or NULL. One that may not serve is passed over, unless <forced> (option
 * persist, force-persist); manual: configuration 4.2 use-server.
 */
struct server;
enum expr_result rules_server(struct proxy *be, struct expr_ctx *ctx, bool forced,
			      struct server **srv);
/* `redirect` rules: RULE_REPLY when one matched, else RULE_CONTINUE. */
enum rule_result rules_redirect(struct proxy *px, struct expr_ctx *ctx, const struct rule **which);
/* tcp-request inspect-delay in ms, 0 none; and tcp-response's. */
int64_t rules_inspect_delay_ms(const struct proxy *px, bool response);

/* --- for keywords of other modules that take a condition; <l> is of a proxy */

/* Where rules of this set of this proxy run: a mask of enum expr_phase. */
unsigned rule_phases(const struct proxy *px, enum ruleset set);
/* Parses the end of a line: nothing, or a condition. <what> names the rule in messages. */
bool rule_take_condition(struct conf_line *l, const char *what, unsigned phase,
			 const struct condition **out);
/* Is the next word the end, or the start of a condition? */
bool rule_at_end(const struct conf_line *l);

extern const struct module mod_rule;
extern const struct module mod_capture;

#endif
