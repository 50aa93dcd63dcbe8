/* SPDX-License-Identifier: GPL-2.0-or-later */
/* master_cli.c - the master's socket: commands of its own, and a way to those of the workers
 *
 *	show proc            the master's own
 *	@1 show info         the current worker's; @!123: of the process 123, @: the master's
 *	@1                   those that follow are for the current worker
 *	@@1 show events -w   the connection is the worker's until it ends it
 *
 * A command for a worker travels on a connection of its own, which the worker closes behind its
 * answer: one at a time, so that answers come in the order of the commands.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/clock.h"
#include "master_priv.h"

#define ACCEPT_PAUSE_MS 100
#define INPUT_MAX 65536
#define OUTPUT_SOFT 65536

enum mode { MODE_INTERACTIVE, MODE_PROMPT };

struct client {
	struct list link;
	int fd;
	int worker;             /* connection to a worker whose answer is awaited; -1 none */
	bool raw;               /* the client's bytes go to the worker, too */
	enum ctl_level level;
	enum mode mode;
	bool expert, experimental, debug;
	pid_t context;          /* whom commands are for; 0: the master */
	bool eof;               /* it sends no more */
	bool quit;              /* it is closed once all was sent */
	bool last;              /* the command that runs was the last of its line */
	struct strbuf in, out;
	size_t sent;            /* of <out> */
	short wanted, seen;     /* poll events */
};

static struct list clients = LIST_HEAD(clients);
/* Nothing is accepted before: the process had no descriptor left. */
static uint64_t accept_again_ns;

static void client_free(struct client *c)
{
	list_remove(&c->link);
	if (c->fd >= 0)
		close(c->fd);
	if (c->worker >= 0)
		close(c->worker);
	strbuf_fini(&c->in);
	strbuf_fini(&c->out);
	free(c);
}

void master_cli_fini(void)
{
	while (!list_is_empty(&clients))
		client_free(list_first(&clients, struct client, link));
	master_sockets_close();
}

/* --- answers ---------------------------------------------------------------------------------- */

static void put_prompt(struct client *c)
{
	char flags[8] = "", *at = flags;

	if (c->mode != MODE_PROMPT)
		return;
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

/* The answer is whole. */
static void end_command(struct client *c)
{
	if (c->last)
		put_prompt(c);
}

/* --- the master's own commands ---------------------------------------------------------------- */

static void run_here(struct client *c, const char *command)
{
	struct ctl_session *s = ctl_session_new(c->level, NULL, NULL);
	struct slice text = slice_of(command), out;

	if (!s) {
		c->quit = true;
		return;
	}
	ctl_session_set_master(s, c->expert, c->experimental, c->debug);
	ctl_session_feed(s, text);
	ctl_session_feed(s, SLICE("\n"));
	ctl_session_eof(s);
	do {
		ctl_session_run(s);
		out = ctl_session_output(s);
		strbuf_add(&c->out, out);
		ctl_session_sent(s, out.len);
	} while (out.len);
	ctl_session_free(&s);
	end_command(c);
}

/* "on", "off" or nothing. */
static void set_mode(struct client *c, bool *mode, const char *word)
{
	if (c->level < CTL_ADMIN)
		strbuf_add_str(&c->out, "Permission denied!\n");
	else
		*mode = !*word || strcmp(word, "on") == 0;
	end_command(c);
}

static void set_prompt(struct client *c, const char *word)
{
	static const char usage[] =
		"Usage: prompt [help | i | p]\n"
		"  help    show this help\n"
		"  i       several commands, no prompt\n"
		"  p       several commands, and a prompt\n"
		"Without an argument, changes between i and p.\n";

	if (strcmp(word, "i") == 0)
		c->mode = MODE_INTERACTIVE;
	else if (strcmp(word, "p") == 0 || !*word)
		c->mode = *word || c->mode != MODE_PROMPT ? MODE_PROMPT : MODE_INTERACTIVE;
	else
		strbuf_add_str(&c->out, usage);
	end_command(c);
}

static void lower(struct client *c, enum ctl_level level)
{
	if (c->level > level)
		c->level = level;
	end_command(c);
}

/* The connection is the reload's from here on. */
static void reload(struct client *c, enum master_reload how)
{
	int fd = c->fd;

	if (c->level < CTL_OPERATOR) {
		strbuf_add_str(&c->out, "Permission denied\n\n");
		end_command(c);
		return;
	}
	c->fd = -1;
	c->quit = true;
	master_reload(how, fd);
}

/* What changes the client itself; false: it is another command. */
static bool run_own(struct client *c, const char *word, size_t len, const char *rest)
{
	struct slice w = slice_make(word, len);

	if (slice_eq(w, SLICE("quit")))
		c->quit = true;
	else if (slice_eq(w, SLICE("prompt")))
		set_prompt(c, rest);
	else if (slice_eq(w, SLICE("expert-mode")))
		set_mode(c, &c->expert, rest);
	else if (slice_eq(w, SLICE("experimental-mode")))
		set_mode(c, &c->experimental, rest);
	else if (slice_eq(w, SLICE("mcli-debug-mode")))
		set_mode(c, &c->debug, rest);
	else if (slice_eq(w, SLICE("operator")))
		lower(c, CTL_OPERATOR);
	else if (slice_eq(w, SLICE("user")))
		lower(c, CTL_USER);
	else if (slice_eq(w, SLICE("reload")) && !c->context)
		reload(c, RELOAD_AS_SET);
	else if (slice_eq(w, SLICE("hard-reload")) && !c->context)
		reload(c, RELOAD_HARD);
	else
		return false;
	return true;
}

/* --- workers ---------------------------------------------------------------------------------- */

/* "@", "@0", "@master": 0. "@1": the current worker. "@!<pid>". -1: there is none. */
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
	list_for_each(w, master_workers(), link)
		if (*spec == '!' ? w->pid == n : n == 1 && !w->reloads && w->ready)
			return w->pid;
	return -1;
}

static struct worker_process *find_worker(pid_t pid)
{
	struct worker_process *w;

	list_for_each(w, master_workers(), link)
		if (w->pid == pid)
			return w;
	return NULL;
}

/* Sends <text> to worker <pid>; the answer comes later. */
static void run_there(struct client *c, pid_t pid, struct slice text, bool raw)
{
	struct worker_process *w = find_worker(pid);
	struct strbuf b;

	c->worker = w ? master_connect(w, c->level) : -1;
	if (c->worker < 0) {
		strbuf_printf(&c->out, "Can't connect to the target CLI!\n\n");
		end_command(c);
		return;
	}
	c->raw = raw;
	strbuf_init(&b);
	if (c->expert && !raw && c->level == CTL_ADMIN)
		strbuf_add_str(&b, "expert-mode on -;");
	if (c->experimental && !raw && c->level == CTL_ADMIN)
		strbuf_add_str(&b, "experimental-mode on -;");
	if (raw && !text.len)
		strbuf_add_str(&b, c->mode == MODE_PROMPT ? "prompt" : "prompt i");
	strbuf_add(&b, text);
	strbuf_add_char(&b, '\n');
	/* what a pair of sockets holds is more than what a line may have */
	if (!b.ptr || send(c->worker, b.ptr, b.len, MSG_NOSIGNAL) != (ssize_t)b.len)
		c->quit = true;
	else if (!raw)
		shutdown(c->worker, SHUT_WR);
	strbuf_fini(&b);
}

/* --- lines ------------------------------------------------------------------------------------ */

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/* "@1", "@!12 show info", "@@1 ..."; <text> ends with NUL. */
static void run_prefixed(struct client *c, const char *text, struct slice whole)
{
	bool raw = text[1] == '@';
	const char *at = text + 1 + raw;
	size_t len = strcspn(at, " \t");
	char spec[32];
	pid_t pid;

	snprintf(spec, sizeof(spec), "%.*s", (int)len, at);
	pid = find_target(spec);
	at = skip_blanks(at + len);
	if (pid < 0) {
		strbuf_printf(&c->out, "Can't find the target PID matching the prefix '@%s'\n",
			      spec);
		end_command(c);
	} else if (!*at && !raw) {
		c->context = pid;
		end_command(c);
	} else if (!pid) {
		run_here(c, at);
	} else {
		run_there(c, pid, slice_make(at, (size_t)(whole.ptr + whole.len - at)), raw);
	}
}

static void run_command(struct client *c, const char *text, struct slice whole)
{
	const char *word = skip_blanks(text);
	size_t len = strcspn(word, " \t");

	if (*word == '@') {
		run_prefixed(c, word, whole);
		return;
	}
	if (run_own(c, word, len, skip_blanks(word + len)))
		return;
	if (c->context)
		run_there(c, c->context, slice_make(word, (size_t)(whole.ptr + whole.len - word)),
			  false);
	else
		run_here(c, word);
}

/* Where the command at <text> ends: at a ';' that is not escaped; "@@" takes the whole line. */
static size_t command_length(const char *text, size_t len)
{
	const char *at = text + strspn(text, " \t");

	if (at[0] == '@' && at[1] == '@')
		return len;
	for (size_t i = 0; i < len; i++) {
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

static void consume(struct strbuf *b, size_t n)
{
	memmove(b->ptr, b->ptr + n, b->len - n);
	b->len -= n;
}

/* Takes one command out of the input and runs it. False: there is none. */
static bool take_command(struct client *c)
{
	char *nl = c->in.len ? memchr(c->in.ptr, '\n', c->in.len) : NULL;
	size_t line, len, payload = 0;
	struct strbuf copy;

	if (!nl)
		return false;
	line = (size_t)(nl - c->in.ptr);
	*nl = '\0';
	len = command_length(c->in.ptr, line);
	*nl = '\n';
	c->last = len == line;
	if (c->last)
		payload = payload_length(&c->in, line);
	if (payload == SIZE_MAX)
		return false;
	strbuf_init(&copy);
	strbuf_add(&copy, slice_make(c->in.ptr, len));
	if (copy.len && copy.ptr[copy.len - 1] == '\r')
		copy.len--;
	len = copy.len;
	strbuf_add_char(&copy, '\0');
	if (payload) {
		copy.len = len;
		strbuf_add(&copy, slice_make(c->in.ptr + line, payload - 1));
		strbuf_add_char(&copy, '\0');
	}
	consume(&c->in, payload ? line + payload : (size_t)(c->last ? line : len) + 1);
	if (!copy.ptr)
		c->quit = true;
	else if (*skip_blanks(copy.ptr))
		run_command(c, copy.ptr, slice_make(copy.ptr, copy.len - 1));
	else
		end_command(c);
	strbuf_fini(&copy);
	return true;
}

/* --- input and output ------------------------------------------------------------------------- */

/* Reads what is there into <b>; false: the other side has ended. */
static bool receive(int fd, struct strbuf *b)
{
	char room[16384];
	ssize_t got = recv(fd, room, sizeof(room), MSG_DONTWAIT);

	if (got > 0)
		strbuf_add(b, slice_make(room, (size_t)got));
	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

static void from_worker(struct client *c)
{
	if (receive(c->worker, &c->out))
		return;
	close(c->worker);
	c->worker = -1;
	c->raw = false;
	end_command(c);
}

static void to_worker(struct client *c)
{
	ssize_t sent = c->in.len ? send(c->worker, c->in.ptr, c->in.len,
					MSG_NOSIGNAL | MSG_DONTWAIT) : 0;

	if (sent > 0)
		consume(&c->in, (size_t)sent);
	if (c->eof && !c->in.len)
		shutdown(c->worker, SHUT_WR);
}

static void send_out(struct client *c)
{
	ssize_t sent = send(c->fd, c->out.ptr + c->sent, c->out.len - c->sent,
			    MSG_NOSIGNAL | MSG_DONTWAIT);

	if (sent < 0 && errno != EAGAIN && errno != EINTR) {
		c->quit = true;
		c->sent = c->out.len;
	} else if (sent > 0) {
		c->sent += (size_t)sent;
	}
	if (c->sent == c->out.len) {
		strbuf_reset(&c->out);
		c->sent = 0;
	}
}

/* Moves a client as far as it goes. May free it. */
static void drive(struct client *c)
{
	if (c->seen & (POLLIN | POLLHUP | POLLERR) && !c->eof)
		c->eof = !receive(c->fd, &c->in);
	if (c->raw && c->worker >= 0)
		to_worker(c);
	while (c->worker < 0 && !c->quit && c->out.len < OUTPUT_SOFT && take_command(c))
		;
	if (c->in.len > INPUT_MAX)
		c->quit = true;
	if (c->fd >= 0 && c->out.len)
		send_out(c);
	if (c->fd < 0 || (!c->out.len && c->worker < 0 && (c->quit || c->eof)))
		client_free(c);
}

/* Takes over <fd>. NULL: no memory, it was closed. */
static struct client *client_new(int fd, enum ctl_level level)
{
	struct client *c = calloc(1, sizeof(*c));

	if (!c) {
		close(fd);
		return NULL;
	}
	c->fd = fd;
	c->worker = -1;
	c->level = level;
	strbuf_init(&c->in);
	strbuf_init(&c->out);
	list_append(&clients, &c->link);
	return c;
}

void master_cli_answer(int fd, struct slice text)
{
	struct client *c = client_new(fd, CTL_USER);

	if (!c)
		return;
	c->eof = c->quit = true;
	strbuf_add(&c->out, text);
	drive(c);
}

static void accept_client(int fd, enum ctl_level level)
{
	int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (client >= 0)
		client_new(client, level);
	else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
		accept_again_ns = clock_read_ns() + ACCEPT_PAUSE_MS * NS_PER_MS;
}

int master_cli_wait_ms(void)
{
	uint64_t now = clock_read_ns();

	return accept_again_ns > now ? (int)((accept_again_ns - now) / NS_PER_MS) + 1 : -1;
}

unsigned master_cli_poll(struct pollfd *fds, unsigned max)
{
	struct client *c;
	enum ctl_level level;
	unsigned n = 0;
	int fd;

	for (unsigned i = 0; n < max && master_cli_wait_ms() < 0 &&
	     (fd = master_socket_get(i, &level)) >= 0; i++)
		fds[n++] = (struct pollfd){ .fd = fd, .events = POLLIN };
	list_for_each(c, &clients, link) {
		if (n + 2 > max)
			break;
		c->wanted = (short)((c->eof || c->in.len > INPUT_MAX ? 0 : POLLIN) |
				    (c->out.len ? POLLOUT : 0));
		c->seen = 0;
		fds[n++] = (struct pollfd){ .fd = c->wanted ? c->fd : -1, .events = c->wanted };
		if (c->worker >= 0 && c->out.len < OUTPUT_SOFT)
			fds[n++] = (struct pollfd){ .fd = c->worker, .events = POLLIN };
	}
	return n;
}

static void handle_one(const struct pollfd *p)
{
	struct client *c, *next;
	enum ctl_level level;
	int fd;

	for (unsigned i = 0; (fd = master_socket_get(i, &level)) >= 0; i++) {
		if (fd == p->fd) {
			accept_client(fd, level);
			return;
		}
	}
	list_for_each_safe(c, next, &clients, link) {
		if (c->fd == p->fd) {
			c->seen = p->revents;
			drive(c);
			return;
		}
		if (c->worker == p->fd) {
			from_worker(c);
			c->seen = 0;
			drive(c);
			return;
		}
	}
}

void master_cli_handle(const struct pollfd *fds, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (fds[i].fd >= 0 && fds[i].revents)
			handle_one(&fds[i]);
}
