/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ctl_ctl.c - edge file: the commands about the session itself */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "session_priv.h"

extern char **environ;

static enum ctl_step run_help(struct ctl_request *rq)
{
	ctl_help(rq, rq->at, "The following commands are valid at this level:\n");
	return CTL_DONE;
}

static enum ctl_step run_quit(struct ctl_request *rq)
{
	rq->session->quit = true;
	return CTL_DONE;
}

static enum ctl_step prompt_usage(struct ctl_request *rq, enum ctl_severity severity)
{
	ctl_begin(rq, severity);
	strbuf_add_str(rq->out,
		"Usage: prompt [help | n | i | p | timed]*\n"
		"What happens after a line of commands:\n"
		"  help    this text\n"
		"  n       the session ends\n"
		"  i       it goes on, without a prompt\n"
		"  p       it goes on, with a prompt\n"
		"  timed   show the uptime in the prompt, or stop to show it\n"
		"Alone, it changes n and i to p, and p to n.\n");
	return CTL_DONE;
}

static enum ctl_step run_prompt(struct ctl_request *rq)
{
	struct ctl_session *s = rq->session;
	enum ctl_mode mode = s->mode == CTL_PROMPT ? CTL_SINGLE : CTL_PROMPT;
	bool timed = s->timed;

	for (int i = rq->at; i < rq->count; i++) {
		if (strcmp(rq->words[i], "n") == 0) {
			mode = CTL_SINGLE;
		} else if (strcmp(rq->words[i], "i") == 0) {
			mode = CTL_INTERACTIVE;
		} else if (strcmp(rq->words[i], "p") == 0) {
			mode = CTL_PROMPT;
		} else if (strcmp(rq->words[i], "timed") == 0) {
			timed = !s->timed;
			if (i == rq->at)
				mode = CTL_PROMPT;
		} else {
			bool is_help = strcmp(rq->words[i], "help") == 0;

			return prompt_usage(rq, is_help ? CTL_INFO : CTL_ERR);
		}
	}
	s->mode = mode;
	s->timed = timed;
	return CTL_DONE;
}

/* A "-" behind the other words: a program in between says this, and its client awaits no answer. */
static void note_silence(struct ctl_request *rq, int words)
{
	const char *last = rq->count > rq->at + words ? rq->words[rq->at + words] : "";

	rq->session->silent = strcmp(last, "-") == 0;
}

/* What was allowed to an admin alone is allowed no more. */
static enum ctl_step lower_level(struct ctl_request *rq, enum ctl_level level)
{
	note_silence(rq, 0);
	rq->session->level = level;
	rq->session->expert = rq->session->experimental = false;
	return CTL_DONE;
}

static enum ctl_step run_operator(struct ctl_request *rq)
{
	return lower_level(rq, CTL_OPERATOR);
}

static enum ctl_step run_user(struct ctl_request *rq)
{
	return lower_level(rq, CTL_USER);
}

static enum ctl_step show_cli_level(struct ctl_request *rq)
{
	static const char *const names[] = { "user", "operator", "admin" };

	ctl_say(rq, "%s", names[rq->session->level]);
	return CTL_DONE;
}

static enum ctl_step run_echo(struct ctl_request *rq)
{
	struct strbuf text;

	strbuf_init(&text);
	ctl_add_words(rq, &text, rq->at);
	ctl_say(rq, "%s", text.len ? text.ptr : "");
	strbuf_fini(&text);
	return CTL_DONE;
}

/* Shared by the three modes: no argument tells, "on" sets, anything else clears. */
static enum ctl_step run_mode(struct ctl_request *rq, bool *mode)
{
	const char *word = rq->words[rq->at];

	note_silence(rq, 1);
	if (word)
		*mode = strcmp(word, "on") == 0;
	else
		ctl_say(rq, "%s is %s", rq->command->words, *mode ? "ON" : "OFF");
	return CTL_DONE;
}

static enum ctl_step run_expert(struct ctl_request *rq)
{
	return run_mode(rq, &rq->session->expert);
}

static enum ctl_step run_experimental(struct ctl_request *rq)
{
	return run_mode(rq, &rq->session->experimental);
}

static enum ctl_step set_severity(struct ctl_request *rq)
{
	static const char *const names[] = { "none", "number", "string" };

	for (unsigned i = 0; rq->words[rq->at] && i < ARRAY_LEN(names); i++) {
		if (strcmp(rq->words[rq->at], names[i]) == 0) {
			note_silence(rq, 1);
			rq->session->severity_output = (enum severity_output)i;
			return CTL_DONE;
		}
	}
	ctl_error(rq, "one of 'none', 'number', 'string' is a required argument");
	return CTL_DONE;
}

/* Reads "10", "3s", "500ms"; bare numbers are seconds. False: not a time. */
static bool parse_delay_ms(const char *text, int64_t *ms)
{
	static const struct {
		const char *suffix;
		int64_t num, den;
	} units[] = {
		{ "", 1000, 1 }, { "us", 1, 1000 }, { "ms", 1, 1 }, { "s", 1000, 1 },
		{ "m", 60000, 1 }, { "h", 3600000, 1 }, { "d", 86400000, 1 },
	};
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *text == '-' || value > INT32_MAX)
		return false;
	for (unsigned i = 0; i < ARRAY_LEN(units); i++) {
		if (strcmp(end, units[i].suffix) == 0) {
			*ms = (int64_t)value * units[i].num / units[i].den;
			return true;
		}
	}
	return false;
}

static enum ctl_step set_timeout(struct ctl_request *rq)
{
	const char *what = rq->words[rq->at];
	int64_t ms;

	if (!what || strcmp(what, "cli") != 0)
		ctl_error(rq, "'set timeout' only supports 'cli'.");
	else if (!rq->words[rq->at + 1])
		ctl_error(rq, "Expects an integer value.");
	else if (!parse_delay_ms(rq->words[rq->at + 1], &ms) || ms < 1)
		ctl_error(rq, "Invalid timeout value.");
	else
		rq->session->timeout_ms = ms;
	return CTL_DONE;
}

/* The cursor is the variable's rank: the environment may change between two calls, harmlessly. */
static enum ctl_step show_env(struct ctl_request *rq)
{
	const char *name = rq->words[rq->at];
	size_t len = name ? strlen(name) : 0;

	if (!environ) /* resetenv left nothing */
		return CTL_DONE;
	if (name) {
		for (char **e = environ; *e; e++) {
			if (strncmp(*e, name, len) == 0 && (*e)[len] == '=') {
				strbuf_printf(rq->out, "%s\n", *e);
				return CTL_DONE;
			}
		}
		ctl_error(rq, "Variable not found");
		return CTL_DONE;
	}
	for (uint64_t i = 0; environ[i]; i++) {
		if (i >= rq->pos)
			strbuf_printf(rq->out, "%s\n", environ[rq->pos++]);
		if (rq->out->len > CTL_OUT_SOFT)
			return CTL_MORE;
	}
	return CTL_DONE;
}

static const struct ctl_command commands[] = {
	{ .words = "echo", .flags = CTL_ANYWHERE, .syntax = "<text>", .help = "print this text",
	  .run = run_echo },
	{ .words = "experimental-mode", .syntax = "[on|off]", .level = CTL_ADMIN,
	  .help = "allow experimental commands", .run = run_experimental, .flags = CTL_HIDDEN },
	{ .words = "expert-mode", .syntax = "[on|off]", .level = CTL_ADMIN,
	  .help = "allow dangerous commands", .run = run_expert, .flags = CTL_HIDDEN },
	{ .words = "help", .syntax = "[<command>]", .help = "list the commands, or some of them",
	  .run = run_help, .flags = CTL_HIDDEN | CTL_ANYWHERE },
	{ .words = "operator", .flags = CTL_ANYWHERE, .level = CTL_OPERATOR,
	  .help = "drop privileges above level operator", .run = run_operator },
	{ .words = "prompt", .syntax = "[help | n | i | p | timed ]*",
	  .help = "choose how the session goes on", .run = run_prompt,
	  .flags = CTL_HIDDEN | CTL_ANYWHERE },
	{ .words = "quit", .help = "disconnect", .run = run_quit, .flags = CTL_HIDDEN },
	{ .words = "set severity-output", .syntax = "[none|number|string]",
	  .help = "show the severity in front of messages", .run = set_severity },
	{ .words = "set timeout", .syntax = "[cli] <delay>",
	  .help = "change the timeout of this session", .run = set_timeout },
	{ .words = "show cli level", .flags = CTL_ANYWHERE,
	  .help = "show the level of this session",
	  .run = show_cli_level },
	{ .words = "show env", .flags = CTL_ANYWHERE, .syntax = "[var]", .level = CTL_OPERATOR,
	  .help = "list the environment variables of the process", .run = show_env },
	{ .words = "user", .flags = CTL_ANYWHERE, .run = run_user,
	  .help = "drop privileges above level user" },
	{ 0 }
};

const struct module mod_ctl = { .name = "ctl", .commands = commands };
