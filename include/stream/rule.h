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
	RULE_WAIT,      /* undecided: come back to this rule when something changes */
	RULE_DENY,      /* refuse: HTTP: rule->deny_status page; TCP: close. Counted as denied */
	RULE_REPLY,     /* s->res is the answer: send it, no server (counted by status; cause LR) */
	RULE_REJECT,    /* close without a response, counted as denied */
	RULE_TARPIT,    /* hold, then deny */
	RULE_CLOSE,     /* close without a response (silent-drop) */
	RULE_ERROR,     /* internal error: 500 */
	RULE_BAD_REQUEST, /* the request proved invalid: 400 */
	RULE_SERVICE,   /* a service was attached as the back endpoint: it answers */
	RULE_CUT_SERVER,  /* cut the server's connection: 502 */
	RULE_TO_HTTP,     /* the stream's bytes are HTTP from now on: switch-mode */
	RULE_RETRY,       /* QUIC: the client must prove its address first */
	/* what the action waited for did not come: 408, or 504 if it is the server's */
	RULE_TIMEOUT,
	RULE_SKIP,        /* the condition of a use-ruleset line is false: skip its rules */
};

struct rule_action {
	const char *words;       /* "set-header", "deny" */
	unsigned rulesets;       /* mask of RULES_BIT() */
	bool has_parameter;      /* the word continues with "(...)", which parse() reads */
	bool has_number;         /* the word continues with digits, as in track-sc0 */
	/* l->at is after the action's words; must stop before if/unless. False: reported. */
	bool (*parse)(struct conf_line *l, struct rule *r);
	enum rule_result (*run)(const struct rule *r, struct expr_ctx *ctx, bool *first);
	bool (*check)(struct config *cfg, struct rule *r, struct diag_list *diags); /* or NULL */
	/* Returns the response for RULE_DENY and RULE_TARPIT; NULL: the page of 403. */
	const struct reply *(*reply)(const struct rule *r);
	const char *syntax, *help;
	/* known but refused: the part of the program that it needs */
	const char *waits_for;
	bool experimental;         /* needs expose-experimental-directives */
	bool to_http;              /* may return RULE_TO_HTTP */
	bool is_final;             /* without a condition, no later rule is reached */
	/* While the action waits, a client that has shut down its side ends the stream (option
	 * abortonclose). Without this, only a client whose connection is gone does.
	 */
	bool ends_with_client;
};

/* A `use-ruleset` line. */
struct rule_use {
	const char *name;        /* of the ruleset */
	const char *file;
	int line;
	const struct rule_use *outer; /* the use-ruleset line that contains it; NULL: none */
	bool has_condition;      /* this line has a condition, or one around it has */
};

struct rule {
	struct list link;
	const struct rule_action *action;
	const struct condition *condition;
	enum ruleset set;
	struct proxy *proxy;
	const char *file;
	int line;
	/* the use-ruleset line by which it came; NULL: it stands in its section */
	const struct rule_use *use;
	enum rule_result otherwise; /* when the condition does not hold: RULE_CONTINUE, or RULE_SKIP
				     * for the condition of a use, of <number> rules */
	void *data;              /* for the action */
	uint64_t number;         /* free for simple actions */
};

/* Registers the action tables of the modules. Call once. False: out of memory. */
bool rules_register(const struct module *const *modules);

/* Installs a function that finds an action, of one of <sets> (a mask), whose name is in no table.
 * The row it returns lives as long as <cfg>; NULL: unknown. Call once, before a configuration is
 * read.
 */
typedef const struct rule_action *rules_script_fn(const struct config *cfg, const char *name,
						  unsigned sets);
void rules_set_scripts(rules_script_fn *find);

/* Returns the keyword: "http-request" for RULES_HTTP_REQUEST, etc. */
const char *ruleset_name(enum ruleset set);
/* Are there rules of this set? */
bool rules_any(const struct proxy *px, enum ruleset set);
/* Evaluates the list of <px> in the context (ctx->stream may be NULL in the first three sets).
 * After RULE_WAIT, the stream's rule state tells where to resume: call again. For other results
 * than RULE_CONTINUE and RULE_ACCEPT, *which is set to the rule. <final>: no more bytes will come
 * (or the delay has elapsed).
 */
enum rule_result rules_run(struct proxy *px, enum ruleset set, struct expr_ctx *ctx, bool final,
			   const struct rule **which);
/* Returns the status with which a RULE_DENY or RULE_TARPIT rule answers (403, 500...). */
unsigned rule_deny_status(const struct rule *r);
/* Prepares the response of a RULE_DENY rule in s->res: its own text, or the error page. False:
 * close silently.
 */
bool rule_deny_reply(const struct rule *r, struct stream *s);

/* Evaluates use_backend: the first match, else default_backend, else NULL (for a listen: itself).
 * EXPR_WAIT: a condition is not known yet.
 */
enum expr_result rules_backend(struct proxy *fe, struct expr_ctx *ctx, struct proxy **be);
/* Evaluates use-server: the server, or NULL. A server that may not be used is skipped, unless
 * <forced> (option persist, force-persist). Manual: configuration 4.2 use-server.
 */
struct server;
enum expr_result rules_server(struct proxy *be, struct expr_ctx *ctx, bool forced,
			      struct server **srv);
/* Evaluates `redirect` rules: RULE_REPLY if one matched, else RULE_CONTINUE. */
enum rule_result rules_redirect(struct proxy *px, struct expr_ctx *ctx, const struct rule **which);
/* Returns the inspect-delay of tcp-request, or of tcp-response, in ms; 0: none. */
int64_t rules_inspect_delay_ms(const struct proxy *px, bool response);

/* --- for keywords of other modules that take a condition; <l> is a line of a proxy section */

/* Returns where rules of this set of this proxy run: a mask of enum expr_phase. */
unsigned rule_phases(const struct proxy *px, enum ruleset set);
/* Parses the rest of a line: nothing, or a condition. <what> names the rule in messages. False:
 * reported.
 */
bool rule_take_condition(struct conf_line *l, const char *what, unsigned phase,
			 const struct condition **out);
/* Is the next word the end of the line, or the start of a condition? */
bool rule_at_end(const struct conf_line *l);

extern const struct module mod_rule;
extern const struct module mod_capture;

#endif
