/* SPDX-License-Identifier: GPL-2.0-or-later */
/* master_line.c - commands of clients of the master's socket
 *
 *	show proc            the master's own
 *	@1 show info         the current worker's; @!123: of the process 123, @: the master's
 *	@1                   the commands that follow are for the current worker
 *	@@1 show events -w   the connection is the worker's until it ends it
 *
 * Commands about the session itself (prompt, modes, levels, set severity-output) are executed here,
 * whatever process is the context: they have no answer, and apply to everything that follows. A
 * refused one ends its line. Workers are told of them before each command, as "expert-mode on -;".
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "base/bug.h"
#include "base/list.h"
#include "base/strbuf.h"
#include "ctl/ctl.h"
#include "master_cli_priv.h"
#include "master_priv.h"

#define WORDS_MAX 8 /* that the commands of this file look at */

static const char *const severity_names[] = { "none", "number", "string" };

/* --- answers ---------------------------------------------------------------------------------- */

static struct worker_process *find_worker(pid_t pid)
{
	struct worker_process *w;

	list_for_each(w, master_workers(), link)
		if (w->pid == pid)
			return w;
	return NULL;
}

/* "[0:00:02:07] " : since the process of the context was started. */
static void put_uptime(struct master_client *c)
{
	const struct worker_process *w = find_worker(c->context);
	int64_t up = (int64_t)time(NULL) - (w ? w->since_s : master_status()->since_s);

	if (up < 0)
		up = 0;
	strbuf_printf(&c->out, "[%lld:%02d:%02d:%02d] ", (long long)(up / 86400),
		      (int)(up / 3600 % 24), (int)(up / 60 % 60), (int)(up % 60));
}

static void put_prompt(struct master_client *c)
{
	char flags[8] = "", *at = flags;

	if (c->timed)
		put_uptime(c);
	if (c->experimental || c->expert || c->debug) {
		*at++ = '(';
		if (c->experimental)
			*at++ = 'x';
		if (c->expert)
			*at++ = 'e';
		if (c->debug)
			*at++ = 'd';
		*at++ = ')';
		*at = '\0';
	}
	if (c->context)
		strbuf_printf(&c->out, "%d%s> ", (int)c->context, flags);
	else
		strbuf_printf(&c->out, "master%s%s> ",
			      master_status()->last_failed ? "[ReloadFailed]" : "", flags);
}

void master_client_answered(struct master_client *c)
{
	if (c->prompt)
		put_prompt(c);
}

/* A command about the session was refused. Returns false. */
static bool refuse(struct master_client *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static bool refuse(struct master_client *c, const char *fmt, ...)
{
	static const char *const prefixes[] = { "", "[3]: ", "[err]: " };
	va_list ap;

	strbuf_add_str(&c->out, prefixes[c->severity_output]);
	va_start(ap, fmt);
	strbuf_vprintf(&c->out, fmt, ap);
	va_end(ap);
	strbuf_add_char(&c->out, '\n');
	return false;
}

/* --- commands about the session --------------------------------------------------------------- */

/* The words of a command, in a copy of it. */
struct words {
	char *copy;             /* owned */
	const char *word[WORDS_MAX + 1];
	unsigned count;
};

static bool words_cut(struct words *w, const char *text)
{
	char *save = NULL;

	w->count = 0;
	w->copy = strndup(text, strcspn(text, "\n")); /* a payload may follow */
	if (!w->copy)
		return false;
	for (char *at = strtok_r(w->copy, " \t", &save); at && w->count < WORDS_MAX;
	     at = strtok_r(NULL, " \t", &save))
		w->word[w->count++] = at;
	for (unsigned i = w->count; i <= WORDS_MAX; i++)
		w->word[i] = "";
	return true;
}

/* Only "on" is on. */
static bool set_mode(struct master_client *c, bool *mode, const struct words *w)
{
	if (c->level < CTL_ADMIN)
		return refuse(c, "Permission denied!");
	*mode = strcmp(w->word[1], "on") == 0;
	return true;
}

static bool set_expert(struct master_client *c, const struct words *w)
{
	return set_mode(c, &c->expert, w);
}

static bool set_experimental(struct master_client *c, const struct words *w)
{
	return set_mode(c, &c->experimental, w);
}

static bool set_debug(struct master_client *c, const struct words *w)
{
	return set_mode(c, &c->debug, w);
}

static bool set_prompt(struct master_client *c, const struct words *w)
{
	bool prompt = !c->prompt, timed = c->timed;

	for (unsigned i = 1; i < w->count; i++) {
		if (strcmp(w->word[i], "i") == 0 || strcmp(w->word[i], "p") == 0) {
			prompt = w->word[i][0] == 'p';
		} else if (strcmp(w->word[i], "timed") == 0) {
			timed = !c->timed;
			prompt |= i == 1;
		} else {
			return refuse(c, "Usage: prompt [help | i | p | timed]*\n"
				      "What happens after a command:\n"
				      "  help    this text\n"
				      "  i       the session goes on, without a prompt\n"
				      "  p       it goes on, with a prompt\n"
				      "  timed   show the uptime in the prompt, or stop to do so\n"
				      "Alone, it changes i to p, and p to i.");
		}
	}
	c->prompt = prompt;
	c->timed = timed;
	return true;
}

static bool lower(struct master_client *c, enum ctl_level level)
{
	if (c->level < level)
		return refuse(c, "Permission denied!");
	c->level = level;
	return true;
}

static bool become_operator(struct master_client *c, const struct words *w)
{
	return lower(c, CTL_OPERATOR);
}

static bool become_user(struct master_client *c, const struct words *w)
{
	return lower(c, CTL_USER);
}

static bool set_severity(struct master_client *c, const struct words *w)
{
	for (unsigned i = 0; i < ARRAY_LEN(severity_names); i++) {
		if (strcmp(w->word[2], severity_names[i]) == 0) {
			c->severity_output = (int)i;
			return true;
		}
	}
	return refuse(c, "one of 'none', 'number', 'string' is a required argument");
}

static bool leave(struct master_client *c, const struct words *w)
{
	c->quit = true;
	return true;
}

/* The connection is the reload's from here on. */
static bool reload(struct master_client *c, enum master_reload how)
{
	int fd = c->fd;

	if (c->level < CTL_OPERATOR)
		return refuse(c, "Permission denied\n");
	c->fd = -1;
	c->quit = true;
	master_reload(how, fd);
	return true;
}

static bool reload_as_set(struct master_client *c, const struct words *w)
{
	return reload(c, RELOAD_AS_SET);
}

static bool reload_hard(struct master_client *c, const struct words *w)
{
	return reload(c, RELOAD_HARD);
}

static const struct session_command {
	const char *word, *second;
	bool (*run)(struct master_client *c, const struct words *w); /* false: it was refused */
	bool of_master;         /* elsewhere it is a command of the worker */
} session_commands[] = {
	{ "prompt", NULL, set_prompt, false },
	{ "expert-mode", NULL, set_expert, false },
	{ "experimental-mode", NULL, set_experimental, false },
	{ "mcli-debug-mode", NULL, set_debug, false },
	{ "operator", NULL, become_operator, false },
	{ "user", NULL, become_user, false },
	{ "set", "severity-output", set_severity, false },
	{ "quit", NULL, leave, false },
	{ "reload", NULL, reload_as_set, true },
	{ "hard-reload", NULL, reload_hard, true },
};

/* The command about the session that <w> is; NULL: it is another one. */
static const struct session_command *find_own(const struct master_client *c, const struct words *w)
{
	for (size_t i = 0; i < ARRAY_LEN(session_commands); i++) {
		const struct session_command *s = &session_commands[i];

		if (strcmp(s->word, w->word[0]) == 0 && !(s->of_master && c->context) &&
		    (!s->second || strcmp(s->second, w->word[1]) == 0))
			return s;
	}
	return NULL;
}

/* --- the master's own commands ---------------------------------------------------------------- */

static void run_here(struct master_client *c, const char *command)
{
	struct ctl_session *s = ctl_session_new(c->level, NULL, NULL);
	struct slice out;

	if (!s) {
		c->quit = true;
		return;
	}
	ctl_session_set_master(s, c->expert, c->experimental, c->debug);
	ctl_session_set_severity(s, c->severity_output);
	ctl_session_feed(s, slice_of(command));
	ctl_session_feed(s, SLICE("\n"));
	ctl_session_eof(s);
	do {
		ctl_session_run(s);
		out = ctl_session_output(s);
		strbuf_add(&c->out, out);
		ctl_session_sent(s, out.len);
	} while (out.len);
	ctl_session_free(&s);
	master_client_answered(c);
}

/* --- workers ---------------------------------------------------------------------------------- */

/* "", "0", "master": 0. "1": the worker that serves. "!<pid>". -1: there is none. */
static pid_t find_target(const char *spec)
{
	struct worker_process *w;
	char *end;
	long n;

	if (!*spec || strcmp(spec, "0") == 0 || strcmp(spec, "master") == 0)
		return 0;
	n = strtol(spec + (*spec == '!'), &end, 10);
	if (*end || n <= 0)
		return -1;
	if (*spec == '!' && n == getpid())
		return 0;
	if (*spec == '!')
		w = find_worker((pid_t)n);
	else
		w = n == 1 ? master_serving_worker() : NULL;
	return w ? w->pid : -1;
}

/* What holds for the session, in front of a command: "-" at their ends says that they are not to be
 * answered.
 */
static void put_state(struct master_client *c)
{
	if (c->expert && c->level == CTL_ADMIN)
		strbuf_add_str(&c->up, "expert-mode on -;");
	if (c->experimental && c->level == CTL_ADMIN)
		strbuf_add_str(&c->up, "experimental-mode on -;");
	if (c->severity_output)
		strbuf_printf(&c->up, "set severity-output %s -;",
			      severity_names[c->severity_output]);
}

/* Sends <text> to worker <pid>; the answer comes later. False: refused. */
static bool run_there(struct master_client *c, pid_t pid, struct slice text, bool raw)
{
	struct worker_process *w = find_worker(pid);

	c->worker = w ? master_connect(w, c->level) : -1;
	if (c->worker < 0)
		return refuse(c, "Can't connect to the target CLI!\n");
	c->raw = raw;
	c->told = false;
	strbuf_reset(&c->up);
	c->up_sent = 0;
	if (!raw)
		put_state(c);
	else if (!text.len)
		strbuf_printf(&c->up, "prompt%s%s", c->prompt && !c->timed ? "" :
			      c->prompt ? " timed" : " i", !c->prompt && c->timed ? " timed" : "");
	strbuf_add(&c->up, text);
	strbuf_add_char(&c->up, '\n');
	if (!c->up.ptr)
		c->quit = true;
	return true;
}

/* --- commands --------------------------------------------------------------------------------- */

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/* "@1", "@!12 show info", "@@1 ..."; <text> ends with NUL, <whole> behind its payload. False:
 * refused.
 */
static bool run_prefixed(struct master_client *c, const char *text, struct slice whole)
{
	bool raw = text[1] == '@';
	const char *at = text + 1 + raw;
	size_t len = strcspn(at, " \t");
	char spec[32];
	pid_t pid;

	snprintf(spec, sizeof(spec), "%.*s", (int)len, at);
	pid = find_target(spec);
	at = skip_blanks(at + len);
	if (pid < 0)
		return refuse(c, "Can't find the target PID matching the prefix '%s%s'",
			      raw ? "@@" : "@", spec);
	if (!*at && !raw) {
		c->context = pid;
		master_client_answered(c);
	} else if (!pid) {
		run_here(c, at);
	} else {
		return run_there(c, pid, slice_make(at, (size_t)(whole.ptr + whole.len - at)), raw);
	}
	return true;
}

/* False: refused, which ends the line. */
static bool run_command(struct master_client *c, const char *text, struct slice whole)
{
	const char *word = skip_blanks(text);
	const struct session_command *own;
	struct words w;
	bool good;

	if (*word == '@')
		return run_prefixed(c, word, whole);
	if (!words_cut(&w, word)) {
		c->quit = true;
		return false;
	}
	own = find_own(c, &w);
	good = !own || own->run(c, &w);
	free(w.copy);
	if (own && good)
		master_client_answered(c);
	if (own)
		return good;
	if (c->context)
		return run_there(c, c->context,
				 slice_make(word, (size_t)(whole.ptr + whole.len - word)), false);
	run_here(c, word);
	return true;
}

/* --- lines ------------------------------------------------------------------------------------ */

static bool is_raw(const char *text)
{
	text = skip_blanks(text);
	return text[0] == '@' && text[1] == '@';
}

/* Where the command at <text> ends: at a ';' that is not escaped; "@@" takes the whole line. */
static size_t command_length(const char *text, size_t len)
{
	for (size_t i = 0; i < len && !is_raw(text); i++) {
		if (text[i] == '\\')
			i++;
		else if (text[i] == ';')
			return i;
	}
	return len;
}

/* The bytes of the payload that the line of <len> bytes announces, with its mark; 0: none,
 * SIZE_MAX: it did not come yet.
 */
static size_t payload_length(const struct strbuf *in, size_t len)
{
	const char *from = in->ptr, *mark = from + len, *end = from + in->len, *at, *nl;
	size_t mark_len;

	while (mark > from && mark[-1] != ' ' && mark[-1] != '\t')
		mark--;
	if (from + len - mark < 2 || mark[0] != '<' || mark[1] != '<')
		return 0;
	mark_len = (size_t)(from + len - mark - 2);
	for (at = from + len + 1; at < end; at = nl + 1) {
		nl = memchr(at, '\n', (size_t)(end - at));
		if (!nl)
			break;
		if ((size_t)(nl - at) == mark_len && memcmp(at, mark + 2, mark_len) == 0)
			return (size_t)(nl + 1 - (from + len));
	}
	return SIZE_MAX;
}

/* A prompt for each line of the first <len> bytes that had none yet. */
static void ask_payload(struct master_client *c, size_t len)
{
	unsigned lines = 0;

	for (size_t i = 0; i < len; i++)
		lines += c->in.ptr[i] == '\n';
	for (; c->asked < lines; c->asked++)
		if (c->prompt)
			strbuf_add_str(&c->out, "+ ");
}

static void consume(struct strbuf *b, size_t n)
{
	memmove(b->ptr, b->ptr + n, b->len - n);
	b->len -= n;
}

/* A command cut out of the input: it ends with NUL, and with its payload, if it has one, before. */
struct cut {
	struct strbuf text;   /* owned */
	bool last;            /* of its line */
};

/* False: no whole one has come yet. */
static bool cut_command(struct master_client *c, struct cut *cut)
{
	char *nl = c->in.len ? memchr(c->in.ptr, '\n', c->in.len) : NULL;
	size_t line, len, payload = 0;

	c->in_payload = false;
	if (!nl)
		return false;
	line = (size_t)(nl - c->in.ptr);
	*nl = '\0';
	len = command_length(c->in.ptr, line);
	cut->last = len == line;
	if (cut->last && !is_raw(c->in.ptr))
		payload = payload_length(&c->in, line);
	*nl = '\n';
	if (payload == SIZE_MAX) {
		c->in_payload = true;
		ask_payload(c, c->in.len);
		return false;
	}
	if (payload) /* its end has none */
		ask_payload(c, line + payload - 1);
	c->asked = 0;
	strbuf_init(&cut->text);
	strbuf_add(&cut->text, slice_make(c->in.ptr, len));
	if (len && c->in.ptr[len - 1] == '\r')
		cut->text.len--;
	if (payload)
		strbuf_add(&cut->text, slice_make(c->in.ptr + line, payload - 1));
	strbuf_add_char(&cut->text, '\0');
	consume(&c->in, payload ? line + payload : len + 1);
	return true;
}

/* What follows a command that was refused. */
static void drop_line(struct master_client *c)
{
	char *nl = c->in.len ? memchr(c->in.ptr, '\n', c->in.len) : NULL;

	consume(&c->in, nl ? (size_t)(nl - c->in.ptr) + 1 : c->in.len);
}

bool master_client_step(struct master_client *c)
{
	struct cut cut;

	if (!cut_command(c, &cut)) {
		c->quit |= c->in.len >= MASTER_LINE_MAX + (c->in_payload ? MASTER_PAYLOAD_MAX : 0);
		return false;
	}
	if (!cut.text.ptr) {
		c->quit = true;
	} else if (!run_command(c, cut.text.ptr, slice_make(cut.text.ptr, cut.text.len - 1))) {
		if (!cut.last)
			drop_line(c);
		master_client_answered(c);
	}
	strbuf_fini(&cut.text);
	return true;
}
