/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tcp_act.c - edge file: actions that need no HTTP: verdicts, log level
 *
 * Manual: configuration 4.4.
 */
#include "stream/action.h"

#include <stdlib.h>
#include "base/bug.h"
#include "core/task.h"
#include "mux/mux.h"
#include "net/conn_facts.h"

/* --- verdicts ----------------------------------------------------------------------------- */

static enum rule_result accept_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	return RULE_ACCEPT;
}

static enum rule_result reject_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	return RULE_REJECT;
}

static enum rule_result dgram_drop_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	return RULE_CLOSE;
}

static enum rule_result send_retry_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	return RULE_RETRY;
}

static enum rule_result close_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	return RULE_CUT_SERVER;
}

/* silent-drop [rst-ttl <ttl>] */
static bool silent_drop_parse(struct conf_line *l, struct rule *r)
{
	const char *word = conf_peek(l), *value;
	char *end;
	long ttl;

	if (!word || strcmp(word, "rst-ttl") != 0)
		return true;
	l->at++;
	value = conf_peek(l);
	if (!value)
		return rule_error(l, r, l->at, "missing rst-ttl value");
	ttl = strtol(value, &end, 0);
	if (*end || ttl < 1 || ttl > 255)
		return rule_error(l, r, l->at, "valid rst-ttl values are [1-255]");
	r->number = ttl;
	l->at++;
	return true;
}

static enum rule_result silent_drop_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	struct conn *c = ctx->session ? ctx->session->conn : NULL;

	if (c)
		conn_make_silent(c, (int)r->number);
	if (ctx->stream && r->set != RULES_TCP_RESPONSE) {
		stream_count_request(ctx->stream, CNT_DENIED_REQ);
		ctx->stream->flags |= STRM_NO_REQUEST_TIME;
	}
	return RULE_CLOSE;
}

/* --- switch-mode -------------------------------------------------------------------------- */

/* switch-mode http [proto <name>] */
static bool switch_mode_parse(struct conf_line *l, struct rule *r)
{
	const char *word = conf_peek(l);
	const struct mux_kind *kind;

	if (r->proxy->caps == PROXY_BE)
		return rule_error(l, r, l->at, "'switch-mode' is not allowed because backend '%s' "
				  "is not a frontend", r->proxy->name);
	if (!word)
		return rule_error(l, r, l->at, "'switch-mode' expects a mode as argument: http");
	if (strcmp(word, "http") != 0)
		return rule_error(l, r, l->at, "'switch-mode' expects a valid mode, http "
				  "(got '%s')", word);
	l->at++;
	word = conf_peek(l);
	if (!word || strcmp(word, "proto") != 0)
		return true;
	l->at++;
	word = conf_peek(l);
	if (!word)
		return rule_error(l, r, l->at, "'proto' expects a protocol as argument: h1 or h2");
	kind = mux_find(word);
	if (!kind || !mux_fits(kind, MUX_FRONT, MUX_HTTP))
		return rule_error(l, r, l->at, "'proto' expects a valid protocol, h1 or h2 "
				  "(got '%s')", word);
	r->number = mux_number(kind);
	l->at++;
	return true;
}

static enum rule_result switch_mode_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	if (!(ctx->stream->flags & STRM_HTTP))
		ctx->session->only = (uint8_t)r->number;
	return RULE_TO_HTTP;
}

/* --- log level, nice ---------------------------------------------------------------------- */

static bool log_level_parse(struct conf_line *l, struct rule *r)
{
	static const char *const levels[] = {
		"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug",
	};
	const char *word = conf_peek(l);
	unsigned i;

	l->at++;
	for (i = 0; word && i < ARRAY_LEN(levels); i++) {
		if (strcmp(word, levels[i]) == 0) {
			r->number = i;
			return true;
		}
	}
	if (word && strcmp(word, "silent") == 0) {
		r->number = 254; /* see stream.h */
		return true;
	}
	l->at--;
	return rule_error(l, r, l->at, "expects exactly 1 argument (log level name or 'silent')");
}

static enum rule_result log_level_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	ctx->stream->log.level = r->number;
	return RULE_CONTINUE;
}

static bool nice_parse(struct conf_line *l, struct rule *r)
{
	const char *word = conf_peek(l);
	char *end;
	long nice;

	if (!word || rule_at_end(l))
		return rule_error(l, r, l->at, "expects exactly 1 argument (integer value)");
	nice = strtol(word, &end, 10);
	if (*end)
		return rule_error(l, r, l->at, "'%s' is not an integer", word);
	nice = nice < -1024 ? -1024 : nice > 1024 ? 1024 : nice;
	r->number = nice + 1024;
	l->at++;
	return true;
}

static enum rule_result nice_run(const struct rule *r, struct expr_ctx *ctx, bool *first)
{
	struct task *t = ctx->stream->queue.task;

	/* a stream that has no task runs immediately and does not wait */
	if (t)
		t->nice = (int)r->number - 1024;
	return RULE_CONTINUE;
}

#define QUIC RULES_BIT(RULES_QUIC_INITIAL)
#define TCP_REQ (RULES_BIT(RULES_TCP_CONNECTION) | RULES_BIT(RULES_TCP_SESSION) | \
		 RULES_BIT(RULES_TCP_CONTENT))
#define TCP_RES RULES_BIT(RULES_TCP_RESPONSE)
#define HTTP_REQ RULES_BIT(RULES_HTTP_REQUEST)
#define HTTP_RES RULES_BIT(RULES_HTTP_RESPONSE)
#define HTTP_AFT RULES_BIT(RULES_HTTP_AFTER)
#define CONTENT (RULES_BIT(RULES_TCP_CONTENT) | TCP_RES | HTTP_REQ | HTTP_RES)
#define MARKS (TCP_REQ | TCP_RES | HTTP_REQ | HTTP_RES)
#define ACTION(name, sets, parser, runner, what, text) \
	{ .words = name, .rulesets = sets, .parse = parser, .run = runner, .syntax = what, \
	  .help = text }

static const struct rule_action actions[] = {
	ACTION("accept", QUIC | TCP_REQ | TCP_RES, NULL, accept_run, "",
	       "let it pass: no more rules"),
	{ .words = "allow", .is_final = true, .rulesets = HTTP_REQ | HTTP_RES | HTTP_AFT,
	  .run = accept_run, .help = "let it pass: no more rules" },
	ACTION("close", TCP_RES, NULL, close_run, "", "close the server's connection"),
	ACTION("dgram-drop", QUIC, NULL, dgram_drop_run, "", "as if the packet had not come"),
	ACTION("reject", QUIC | TCP_REQ | TCP_RES | HTTP_REQ, NULL, reject_run, "",
	       "close without an answer"),
	ACTION("send-retry", QUIC, NULL, send_retry_run, "",
	       "let the client prove its address, unless it has done so"),
	ACTION("set-log-level", CONTENT | HTTP_AFT, log_level_parse, log_level_run,
	       "{<level>|silent}", "log at this level, or not"),
	ACTION("set-nice", CONTENT, nice_parse, nice_run, "<nice>", "how much this one yields"),
	ACTION("silent-drop", MARKS, silent_drop_parse, silent_drop_run, "[rst-ttl <ttl>]",
	       "make the connection vanish"),
	{ .words = "switch-mode", .rulesets = RULES_BIT(RULES_TCP_CONTENT),
	  .parse = switch_mode_parse, .run = switch_mode_run, .to_http = true,
	  .syntax = "http [proto {h1|h2}]", .help = "make HTTP of this TCP connection" },
	{ 0 }
};

const struct module mod_tcp_act = { .name = "tcp-actions", .actions = actions };
