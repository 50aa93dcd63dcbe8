/* SPDX-License-Identifier: GPL-2.0-or-later */
/* t_session.c - lines, chaining, escapes, payloads, prompts, levels, yield and resume */
#include <stdlib.h>
#include <string.h>
#include "ctl/ctl.h"
#include "tap.h"

#define DIGITS_64 "1234567890123456789012345678901234567890123456789012345678901234"

static int wakes, releases;
static struct ctl_session *waiting;

static enum ctl_step run_args(struct ctl_request *rq)
{
	for (int i = rq->at; i < rq->count; i++)
		strbuf_printf(rq->out, "[%s]", rq->words[i]);
	if (!slice_is_none(rq->payload))
		strbuf_printf(rq->out, "{%.*s}", SLICE_FMT(rq->payload));
	return CTL_DONE;
}

static enum ctl_step run_long(struct ctl_request *rq)
{
	while (rq->pos < 10000) {
		if (rq->out->len >= CTL_OUT_SOFT)
			return CTL_MORE;
		strbuf_printf(rq->out, "line %d\n", (int)rq->pos++);
	}
	return CTL_DONE;
}

/* Much work, no output. */
static enum ctl_step run_silent(struct ctl_request *rq)
{
	while (rq->pos < 1000000) {
		if (ctl_is_due(rq))
			return CTL_MORE;
		rq->pos++;
	}
	ctl_say(rq, "done");
	return CTL_DONE;
}

static enum ctl_step run_wait(struct ctl_request *rq)
{
	if (!rq->state) {
		rq->state = rq;
		waiting = rq->session;
		return CTL_WAIT;
	}
	ctl_say(rq, "waited");
	return CTL_DONE;
}

static void release(struct ctl_request *rq)
{
	releases++;
}

static const struct ctl_command commands[] = {
	{ .words = "test args", .help = "show words", .run = run_args },
	{ .words = "test long", .help = "long output", .run = run_long, .release = release },
	{ .words = "test silent", .help = "long work", .run = run_silent },
	{ .words = "test wait", .help = "wait", .run = run_wait, .release = release },
	{ .words = "test", .help = "less words", .run = run_args },
	{ .words = "admin thing", .help = "for admins", .level = CTL_ADMIN, .run = run_args },
	{ .words = "expert thing", .help = "x", .level = CTL_ADMIN, .run = run_args,
	  .flags = CTL_EXPERT },
	{ 0 }
};
static const struct module mod_test = { .name = "test", .commands = commands };
static const struct module *const modules[] = { &mod_ctl, &mod_test, NULL };

static void on_wake(void *owner)
{
	wakes++;
}

static const struct ctl_session_owner owner = { .wake = on_wake };

/* What a client of <level> gets for <input> in one piece, then the end of its side. */
static const char *talk(enum ctl_level level, const char *input)
{
	static char answer[200000];
	struct ctl_session *s = ctl_session_new(level, &owner, NULL);
	size_t len = 0;

	ctl_session_feed(s, slice_of(input));
	ctl_session_eof(s);
	for (int i = 0; i < 1000 && !ctl_session_is_over(s); i++) {
		struct slice out;

		ctl_session_run(s);
		out = ctl_session_output(s);
		if (out.len)
			memcpy(answer + len, out.ptr, out.len);
		len += out.len;
		ctl_session_sent(s, out.len);
	}
	answer[len] = 0;
	ctl_session_free(&s);
	return answer;
}

static void test_left(void)
{
	struct ctl_session *s = ctl_session_new(CTL_USER, &owner, NULL);

	releases = 0;
	ctl_session_feed(s, SLICE("test wait;test args after\n"));
	ctl_session_run(s);
	ctl_session_gone(s);
	is_int(releases, 1, "a command that waits is given up when its client is gone");
	ctl_session_run(s);
	ok(slice_ends(ctl_session_output(s), SLICE("[after]\n\n")), "what follows is done");
	ctl_session_free(&s);
	s = ctl_session_new(CTL_USER, &owner, NULL);
	ctl_session_feed(s, SLICE("test wait\n"));
	ctl_session_gone(s);
	ctl_session_run(s);
	is_int(releases, 2, "also when it comes to wait later");
	ctl_session_free(&s);
	releases = 0;
}

static void test_lines(void)
{
	is_str(talk(CTL_USER, "test args a b\n"), "[a][b]\n\n", "words, newline and blank line");
	is_str(talk(CTL_USER, "test x\n"), "[x]\n\n", "the longest command wins, less is less");
	is_str(talk(CTL_USER, "test args a;test args b\n"), "[a]\n\n[b]\n\n", "chained");
	is_str(talk(CTL_USER, "test args a\ntest args b\n"), "[a]\n\n", "one line only");
	is_str(talk(CTL_USER, "test args a\\;b \\\\ c\\ d\n"), "[a;b][\\][c d]\n\n", "escapes");
	is_str(talk(CTL_USER, "test args a"), "", "no newline: nothing");
	is_str(talk(CTL_USER, "\n"), "\n", "empty line");
	is_str(talk(CTL_USER, "quit\ntest args a\n"), "", "quit");
	is_str(talk(CTL_USER, "test args a;quit;test args b\n"), "[a]\n\n", "quit in a chain");
	is_str(talk(CTL_USER, "test args a\r\n"), "[a]\n\n\n", "CR ends a command, as ; does");
}

static void test_payload(void)
{
	is_str(talk(CTL_USER, "test args a <<\nx\ny\n\n"), "[a]{x\ny\n}\n\n", "payload");
	is_str(talk(CTL_USER, "test args a <<EOF\nx\n\ny\nEOF\n"), "[a]{x\n\ny\n}\n\n", "pattern");
	is_str(talk(CTL_USER, "test args <<" DIGITS_64 "5\n"), "[<<" DIGITS_64 "5]\n\n",
	       "pattern too long");
	is_str(talk(CTL_USER, "test args <<" DIGITS_64 "\nx\n" DIGITS_64 "\n"), "{x\n}\n\n",
	       "64 letters are not");
	is_str(talk(CTL_USER, "test args <<E;test args b\n"), "[<<E]\n\n[b]\n\n", "not at the end");
	is_str(talk(CTL_USER, "test args a <<\nx\n"), "", "unfinished");
	is_str(talk(CTL_USER, "test args a <<\nx\r\n\r\ny\n\n"), "[a]{x\r\n\r\ny\n}\n\n",
	       "begun by LF, a payload goes on behind a line of CR LF");
	is_str(talk(CTL_USER, "test args a <<\r\nx\r\n\r\n"), "[a]{x\r\n}\n\n",
	       "begun by CR LF, it ends so");
	is_str(talk(CTL_USER, "test args a;test args b <<\nx\n\n"), "[a]\n\n[b]{x\n}\n\n",
	       "for the last command");
	is_str(talk(CTL_USER, "test args <<\n\n"), "{}\n\n", "empty payload");
}

static void test_prompt(void)
{
	is_str(talk(CTL_USER, "prompt\ntest args a\n\n"), "\n> [a]\n\n> \n> ", "prompt");
	is_str(talk(CTL_USER, "prompt;test args a\n"), "\n[a]\n\n> ", "prompt at the end of a "
		  "line");
	is_str(talk(CTL_USER, "prompt i\ntest args a\n\n"), "\n[a]\n\n\n", "interactive");
	is_str(talk(CTL_USER, "prompt\nprompt\ntest args a\n"), "\n> \n", "back to one line");
	is_str(talk(CTL_USER, "prompt timed\n"), "\n[0:00:00:00]> ", "timed");
}

static void test_levels(void)
{
	is_str(talk(CTL_USER, "show cli level\n"), "user\n\n", "user");
	is_str(talk(CTL_ADMIN, "show cli level;operator;show cli level;user;show cli level\n"),
	       "admin\n\n\noperator\n\n\nuser\n\n", "lowering");
	is_str(talk(CTL_USER, "operator\n"), "Permission denied\n\n", "never up");
	is_str(talk(CTL_OPERATOR, "admin thing\n"), "Permission denied\n\n", "needs admin");
	is_str(talk(CTL_ADMIN, "expert thing\n"),
	       "This command is restricted to expert mode only.\n\n", "needs expert");
	is_str(talk(CTL_ADMIN, "expert-mode on;expert thing x\n"), "\n[x]\n\n", "expert");
	is_str(talk(CTL_ADMIN, "set severity-output number;echo x;set timeout cli a\n"),
	       "\n[6]: x\n\n[3]: Invalid timeout value.\n\n", "severities");
	ok(strstr(talk(CTL_USER, "foo\n"), "Unknown command: 'foo', but maybe") != NULL, "unknown");
	ok(strstr(talk(CTL_USER, "help test\n"), "  test long                               : long "
		  "output\n") != NULL, "help is aligned");
	ok(!strstr(talk(CTL_USER, "help\n"), "admin thing"), "help hides what is not allowed");
}

/* As often as it asks for it; how often that was. */
static int run_all(struct ctl_session *s)
{
	int runs = 0;

	do {
		wakes = 0;
		ctl_session_run(s);
		runs++;
	} while (wakes && runs < 1000000);
	return runs;
}

/* The first line of an answer. */
static const char *head_of(const char *answer)
{
	static char line[256];

	snprintf(line, sizeof(line), "%.*s", (int)strcspn(answer, "\n"), answer);
	return line;
}

static void test_severity(void)
{
	static const char unknown[] = "Unknown command: 'bogus', but maybe one of the following "
				      "ones is a better match:";
	char with[160];

	snprintf(with, sizeof(with), "[6]: %s", unknown);
	is_str(head_of(talk(CTL_USER, "bogus\n")), unknown, "without a severity");
	is_str(head_of(talk(CTL_USER, "set severity-output number -;bogus\n")), with,
	       "an unknown command has a severity, too");
	is_str(head_of(talk(CTL_USER, "set severity-output string -;help\n")),
	       "[info]: The following commands are valid at this level:", "help");
	is_str(head_of(talk(CTL_USER, "set severity-output number -;prompt help\n")),
	       "[6]: Usage: prompt [help | n | i | p | timed]*", "the usage of prompt");
	is_str(talk(CTL_USER, "set severity-output number -;admin thing\n"),
	       "[3]: Permission denied\n\n", "what is refused");
	is_str(talk(CTL_ADMIN, "expert-mode on -;experimental-mode on -;expert-mode\n"),
	       "expert-mode is ON\n\n", "a '-' behind a mode: it is not answered");
	is_str(talk(CTL_ADMIN, "user -;show cli level\n"), "user\n\n", "nor is a level");
	is_str(talk(CTL_ADMIN, "expert-mode -;expert-mode\n"), "\nexpert-mode is OFF\n\n",
	       "a '-' in the place of the mode is none");
	is_str(talk(CTL_USER, "set severity-output bogus -\n"),
	       "one of 'none', 'number', 'string' is a required argument\n\n",
	       "what is wrong is answered");
}

/* <lines> lines of 8 bytes. */
static const char *talk_payload(unsigned lines)
{
	char *text = malloc(8 * lines + 64), *at = text + sprintf(text, "test args <<E\n");
	const char *answer;

	while (lines--)
		at += sprintf(at, "1234567\n");
	sprintf(at, "E\n");
	answer = talk(CTL_USER, text);
	free(text);
	return answer;
}

static void test_sizes(void)
{
	ctl_set_input_max(16384, 131072);
	ok(strlen(talk_payload(16383)) == 8 * 16383 + 4, "a payload of 128 kB");
	ok(strncmp(talk_payload(16384), "The payload is too big", 22) == 0, "one that is larger");
	ctl_set_input_max(64, 24);
	ok(strncmp(talk_payload(3), "The payload is too big", 22) == 0, "another limit");
	is_str(talk_payload(2), "{1234567\n1234567\n}\n\n", "and within it");
	is_str(head_of(talk(CTL_USER, "test args " DIGITS_64 "\n")),
	       "The command line is too big for the buffer size. Please change 'tune.bufsize' in "
	       "the configuration to use a bigger command.", "a line that is too long");
	ctl_set_input_max(16384, 131072);
}

static void test_slices(void)
{
	struct ctl_session *s = ctl_session_new(CTL_USER, &owner, NULL);
	int runs;

	ctl_session_feed(s, SLICE("test silent;test args a\n"));
	runs = run_all(s);
	ok(runs > 1, "long work is interrupted, and goes on");
	ok(slice_eq(ctl_session_output(s), SLICE("done\n\n[a]\n\n")), "to its end");
	ctl_session_free(&s);
	s = ctl_session_new(CTL_USER, NULL, NULL);
	ctl_session_feed(s, SLICE("test silent\n"));
	ctl_session_run(s);
	ok(slice_eq(ctl_session_output(s), SLICE("done\n\n")), "at once where nobody can be woken");
	ctl_session_free(&s);
}

static void test_long(void)
{
	struct ctl_session *s;
	const char *all = talk(CTL_USER, "test long\n");

	ok(strstr(all, "line 0\n") && strstr(all, "line 9999\n\n"), "long output is whole");
	is_int(releases, 1, "and released once");
	s = ctl_session_new(CTL_USER, &owner, NULL);
	ctl_session_feed(s, SLICE("test wait;test args a\n"));
	ctl_session_run(s);
	is_int(ctl_session_output(s).len, 0, "nothing while it waits");
	wakes = 0;
	ctl_session_resume(waiting);
	is_int(wakes, 1, "the owner is woken");
	run_all(s);
	ok(slice_eq(ctl_session_output(s), SLICE("waited\n\n[a]\n\n")), "resumed");
	ctl_session_free(&s);
	s = ctl_session_new(CTL_USER, &owner, NULL);
	ctl_session_feed(s, SLICE("test wait\n"));
	ctl_session_run(s);
	releases = 0;
	ctl_session_free(&s);
	is_int(releases, 1, "a command that waits is released with its session");
	s = ctl_session_new(CTL_USER, &owner, NULL);
	while (ctl_session_wants_input(s))
		ctl_session_feed(s, SLICE("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
	ctl_session_run(s);
	ok(slice_starts(ctl_session_output(s), SLICE("The command line is too big")), "too big");
	ctl_session_free(&s);
}

int main(void)
{
	ctl_register(modules);
	test_lines();
	test_left();
	test_payload();
	test_prompt();
	test_severity();
	test_sizes();
	test_slices();
	test_levels();
	test_long();
	return done_testing();
}
