/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session.c - from bytes to commands and back
 *
 *	bytes -> a line (and its payload) -> commands cut at ';' -> words -> run -> text
 *
 * Escapes are resolved while the line is cut: a backslash makes the next byte literal. A blank line
 * ends the answer of each command; the prompt follows the last answer of a line.
 */
#include <stdlib.h>
#include <string.h>
#include "base/bug.h"
#include "base/clock.h"
#include "session_priv.h"

#define PATTERN_MAX 64
#define SLICE_NS 500000 /* how long commands run before others of the thread have their turn */

static size_t line_max = 16384, payload_max = 131072; /* atomic */
static int64_t default_timeout_ms = 10000;
static uint64_t start_ns;

void ctl_set_input_max(size_t line, size_t payload)
{
	__atomic_store_n(&line_max, line, __ATOMIC_RELAXED);
	__atomic_store_n(&payload_max, payload, __ATOMIC_RELAXED);
}

void ctl_set_timeout_ms(int64_t ms)
{
	__atomic_store_n(&default_timeout_ms, ms, __ATOMIC_RELAXED);
}

void ctl_set_start_ns(uint64_t monotonic_ns)
{
	start_ns = monotonic_ns;
}

uint64_t ctl_uptime_ns(void)
{
	uint64_t now = clock_read_ns();

	return start_ns && now > start_ns ? now - start_ns : 0;
}

/* --- life ------------------------------------------------------------------------------------ */

struct ctl_session *ctl_session_new(enum ctl_level level, const struct ctl_session_owner *ops,
				    void *owner)
{
	struct ctl_session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->ops = ops;
	s->owner = owner;
	s->level = level;
	s->timeout_ms = __atomic_load_n(&default_timeout_ms, __ATOMIC_RELAXED);
	strbuf_init(&s->in);
	strbuf_init(&s->out);
	return s;
}

void ctl_session_set_severity(struct ctl_session *s, int severity)
{
	s->severity_output = (enum severity_output)severity;
}

void ctl_session_set_master(struct ctl_session *s, bool expert, bool experimental, bool debug)
{
	s->master = true;
	s->debug = debug;
	s->expert = expert;
	s->experimental = experimental;
}

static void session_release(struct ctl_session *s)
{
	if (s->running && s->rq.command && s->rq.command->release)
		s->rq.command->release(&s->rq);
	s->running = false;
	s->waiting = false;
	s->watches_input = false;
}

static void session_drop_line(struct ctl_session *s)
{
	if (s->line)
		explicit_bzero(s->line, s->line_size);
	free(s->line);
	s->line = NULL;
}

void ctl_session_free(struct ctl_session **ps)
{
	struct ctl_session *s = *ps;

	if (!s)
		return;
	*ps = NULL;
	session_release(s);
	session_drop_line(s);
	if (s->in.ptr)
		explicit_bzero(s->in.ptr, s->in.len);
	strbuf_fini(&s->in);
	strbuf_fini(&s->out);
	free(s);
}

static size_t get(const size_t *limit)
{
	return __atomic_load_n(limit, __ATOMIC_RELAXED);
}

/* How much may be received that was not taken: more once a line announces a payload. */
static size_t session_room(const struct ctl_session *s)
{
	return get(&line_max) + (s->in_payload ? get(&payload_max) : 0);
}

bool ctl_session_wants_input(const struct ctl_session *s)
{
	return !s->quit && !s->eof && s->in.len - s->in_pos < session_room(s);
}

/* A command that watches the input is waiting no more. */
static void session_note_input(struct ctl_session *s)
{
	if (s->watches_input)
		s->waiting = false;
}

/* Makes room for <more> bytes without leaving a copy behind. */
static bool session_grow(struct ctl_session *s, size_t more)
{
	struct strbuf bigger;

	if (s->in.len + more < s->in.size)
		return true;
	strbuf_init(&bigger);
	if (!strbuf_reserve(&bigger, s->in.len + more) ||
	    !strbuf_add(&bigger, strbuf_slice(&s->in))) {
		strbuf_fini(&bigger);
		return false;
	}
	if (s->in.ptr)
		explicit_bzero(s->in.ptr, s->in.len);
	strbuf_fini(&s->in);
	s->in = bigger;
	return true;
}

bool ctl_session_feed(struct ctl_session *s, struct slice bytes)
{
	if (s->quit)
		return true;
	if (s->in_pos) {
		memmove(s->in.ptr, s->in.ptr + s->in_pos, s->in.len - s->in_pos);
		s->in.len -= s->in_pos;
		explicit_bzero(s->in.ptr + s->in.len, s->in_pos);
		s->in_pos = 0;
	}
	if (!session_grow(s, bytes.len) || !strbuf_add(&s->in, bytes)) {
		s->quit = true;
		return false;
	}
	session_note_input(s);
	return true;
}

/* A line, or its payload, does not fit. */
static void session_too_big(struct ctl_session *s)
{
	strbuf_add_str(&s->out, s->in_payload
		       ? "The payload is too big. Please change 'tune.cli.max-payload-size' in "
			 "the configuration to use a bigger payload.\n"
		       : "The command line is too big for the buffer size. Please change "
			 "'tune.bufsize' in the configuration to use a bigger command.\n");
	s->quit = true;
}

void ctl_session_eof(struct ctl_session *s)
{
	s->eof = true;
	session_note_input(s);
}

struct slice ctl_session_output(struct ctl_session *s)
{
	if (s->out.len == s->out_pos)
		return slice_none();
	return slice_make(s->out.ptr + s->out_pos, s->out.len - s->out_pos);
}

void ctl_session_sent(struct ctl_session *s, size_t len)
{
	BUG_ON(len > s->out.len - s->out_pos);
	s->out_pos += len;
	if (s->out_pos == s->out.len) {
		strbuf_reset(&s->out);
		s->out_pos = 0;
	}
}

bool ctl_session_is_over(const struct ctl_session *s)
{
	return s->quit && !s->running && s->out_pos == s->out.len;
}

bool ctl_session_is_idle(const struct ctl_session *s)
{
	return s->out_pos == s->out.len && (!s->running || s->watches_input);
}

bool ctl_session_is_patient(const struct ctl_session *s)
{
	return s->running && s->rq.command && s->rq.command->flags & CTL_PATIENT;
}

int64_t ctl_session_timeout_ms(const struct ctl_session *s)
{
	return ctl_session_is_patient(s) ? 0 : s->timeout_ms;
}

int ctl_exposed_fd(const struct ctl_request *rq)
{
	const struct ctl_session *s = rq->session;

	return s->ops && s->ops->expose ? s->ops->expose(s->owner) : -1;
}

bool ctl_input_came(struct ctl_request *rq)
{
	struct ctl_session *s = rq->session;
	bool came = s->in.len > s->in_pos;

	s->watches_input = true;
	s->in_pos = s->in.len;
	return came || s->eof;
}

/* --- lines ----------------------------------------------------------------------------------- */

/* Looks for " <<pattern" at the end of the line; SIZE_MAX: no payload is announced. Otherwise the
 * offset of "<<".
 */
static size_t find_payload_mark(const char *line, size_t len)
{
	size_t at = len;

	while (at > 0 && line[at - 1] != ' ' && line[at - 1] != '\t')
		at--;
	if (len - at < 2 || line[at] != '<' || line[at + 1] != '<' || len - at - 2 > PATTERN_MAX)
		return SIZE_MAX;
	return at;
}

/* The end of the payload which begins at <from>: the offset of the line that is only <pattern>.
 * *after: what follows that line. SIZE_MAX: it did not come yet.
 */
static size_t find_payload_end(const char *text, size_t len, size_t from, struct slice pattern,
			       size_t *after)
{
	while (from < len) {
		const char *nl = memchr(text + from, '\n', len - from);
		size_t end;

		if (!nl)
			break;
		end = (size_t)(nl - text);
		*after = end + 1;
		if (slice_eq(slice_make(text + from, end - from), pattern))
			return from;
		from = *after;
	}
	return SIZE_MAX;
}

/* <text> ends within a payload: each of its lines is followed by a prompt of its own. */
static void session_ask_payload(struct ctl_session *s, struct slice text)
{
	unsigned lines = 0;

	for (size_t i = 0; i < text.len; i++)
		lines += text.ptr[i] == '\n';
	for (; s->asked < lines; s->asked++)
		if (s->mode == CTL_PROMPT)
			strbuf_add_str(&s->out, "+ ");
}

/* Keeps a copy of the line to execute. False: no memory. */
static bool session_keep_line(struct ctl_session *s, struct slice line, struct slice payload)
{
	session_drop_line(s);
	s->line_size = line.len + payload.len + 2;
	s->line = malloc(s->line_size);
	if (!s->line)
		return false;
	memcpy(s->line, line.ptr, line.len);
	s->line[line.len] = 0;
	s->next = s->line;
	s->payload = NULL;
	if (!slice_is_none(payload)) {
		s->payload = s->line + line.len + 1;
		memcpy(s->payload, payload.ptr, payload.len);
		s->payload[payload.len] = 0;
		s->payload_len = payload.len;
	}
	return true;
}

/* The payload of a line that ends with <pattern>: begins at *after in <text>, which is set behind
 * its end. False: it did not come yet.
 */
static bool session_find_payload(struct ctl_session *s, struct slice text, struct slice pattern,
				 size_t *after, struct slice *payload)
{
	size_t start = *after, stop = find_payload_end(text.ptr, text.len, start, pattern, after);

	s->in_payload = true;
	if (stop == SIZE_MAX)
		session_ask_payload(s, text);
	if ((stop == SIZE_MAX ? text.len : *after) - start >= get(&payload_max))
		session_too_big(s);
	if (stop == SIZE_MAX || s->quit)
		return false;
	*payload = slice_make(text.ptr + start, stop - start);
	return true;
}

/* A CR ends the command as ';' does: another one, without words, comes behind. <at>: where it
 * stands in the line. A backslash before it does not keep it from that, and is no part of the last
 * word.
 */
static void session_end_at_cr(struct ctl_session *s, size_t at)
{
	size_t from = at;

	while (from > 0 && s->line[from - 1] == '\\')
		from--;
	if ((at - from) % 2)
		s->line[at - 1] = ' ';
	s->line[at] = ';';
}

/* Takes the next whole line (and payload) out of the input. False: it did not come yet. */
static bool session_take_line(struct ctl_session *s)
{
	size_t len = s->in.len - s->in_pos, end, mark, after;
	const char *text = len ? s->in.ptr + s->in_pos : "";
	struct slice payload = slice_none();
	const char *nl = memchr(text, '\n', len);
	bool cr;

	s->in_payload = false;
	end = nl ? (size_t)(nl - text) : len;
	if (end >= get(&line_max))
		session_too_big(s);
	if (!nl || s->quit)
		return false;
	after = end + 1;
	cr = end > 0 && text[end - 1] == '\r';
	mark = find_payload_mark(text, end - cr);
	if (mark != SIZE_MAX) {
		/* (with the CR, if there is one: it ends at a line that has it, too) */
		struct slice pattern = slice_make(text + mark + 2, end - mark - 2);

		if (!session_find_payload(s, slice_make(text, len), pattern, &after, &payload))
			return false;
		end = mark;
	}
	s->asked = 0;
	if (!session_keep_line(s, slice_make(text, end), payload)) {
		s->quit = true;
		return false;
	}
	if (cr && mark == SIZE_MAX)
		session_end_at_cr(s, end - 1);
	s->in_pos += after;
	return true;
}

/* Cuts the next command of the line in words; returns how many. */
static int session_cut(struct ctl_session *s)
{
	char *from = s->next, *to = s->next;
	bool in_word = false, last = false;
	int n = 0;

	while (!last) {
		char c = *from++;
		bool end = c == 0 || c == ';';
		bool blank = c == ' ' || c == '\t';

		last = end;
		if (end)
			s->next = c ? from : NULL;
		if (end || blank) {
			if (in_word)
				*to++ = 0;
			in_word = false;
			continue;
		}
		if (c == '\\' && *from)
			c = *from++;
		if (!in_word) {
			if (n == CTL_WORDS_MAX) {
				/* Like a longer last word would: what is too much is not seen. */
				continue;
			}
			s->words[n++] = to;
			in_word = true;
		}
		*to++ = c;
	}
	s->words[n] = NULL;
	return n;
}

/* --- running --------------------------------------------------------------------------------- */

static void session_prompt(struct ctl_session *s)
{
	uint64_t up = ctl_uptime_ns() / NS_PER_SEC;

	if (s->mode != CTL_PROMPT)
		return;
	if (s->timed)
		strbuf_printf(&s->out, "[%u:%02u:%02u:%02u]", (unsigned)(up / 86400),
			      (unsigned)(up / 3600 % 24), (unsigned)(up / 60 % 60),
			      (unsigned)(up % 60));
	strbuf_add_str(&s->out, "> ");
}

/* The command is finished: a blank line, and the prompt if it was the last of its line. */
static void session_end_command(struct ctl_session *s)
{
	bool silent = s->silent && !s->last;
	bool raw = s->rq.command && s->rq.command->flags & CTL_RAW;

	session_release(s);
	if (s->quit)
		return;
	if (s->last && s->last != '\n' && !raw)
		strbuf_add_char(&s->out, '\n');
	if (!silent)
		strbuf_add_char(&s->out, '\n');
	if (s->next)
		return;
	session_prompt(s);
	if (s->mode == CTL_SINGLE)
		s->quit = true;
}

/* Is the session allowed to run <c>? Says why not. */
static bool session_may_run(struct ctl_request *rq, const struct ctl_command *c)
{
	const struct ctl_session *s = rq->session;

	if (!ctl_require(rq, c->level))
		return false;
	if ((c->flags & CTL_EXPERT) && !s->expert) {
		ctl_error(rq, "This command is restricted to expert mode only.");
		return false;
	}
	if ((c->flags & CTL_EXPERIMENTAL) && !s->experimental) {
		ctl_error(rq, "This command is restricted to experimental mode only.");
		return false;
	}
	return true;
}

/* Makes the request of the next command of the line; false: it was answered already. */
static bool session_begin_command(struct ctl_session *s)
{
	struct ctl_request *rq = &s->rq;
	int used;

	memset(rq, 0, sizeof(*rq));
	rq->session = s;
	rq->words = s->words;
	rq->count = session_cut(s);
	rq->level = s->level;
	rq->out = &s->out;
	rq->payload = slice_none();
	s->last = 0;
	s->silent = false;
	if (s->payload && !s->next)
		rq->payload = slice_make(s->payload, s->payload_len);
	if (rq->count == 0)
		return false;
	rq->command = ctl_find(s, rq->count, &used);
	if (!rq->command) {
		char title[CTL_WORDS_MAX * 4];

		snprintf(title, sizeof(title), "Unknown command: '%.160s', but maybe one of the "
			 "following ones is a better match:\n", s->words[0]);
		ctl_help(rq, 0, title);
		return false;
	}
	rq->at = used;
	return session_may_run(rq, rq->command);
}

/* Runs one step. False: the session must stop for now. */
static bool session_step(struct ctl_session *s)
{
	size_t before = s->out.len;
	enum ctl_step step = s->rq.command->run(&s->rq);

	if (s->out.len > before)
		s->last = s->out.ptr[s->out.len - 1];
	switch (step) {
	case CTL_DONE:
		session_end_command(s);
		return true;
	case CTL_WAIT:
		if (s->resumed) {
			s->resumed = false;
			return true;
		}
		s->waiting = true;
		return false;
	case CTL_MORE:
		break;
	}
	/* It yields for another reason than output: let others run. With output it goes on once
	 * some was sent, not before: a client that does not read must not keep us busy.
	 */
	if (s->out.len == s->out_pos && s->ops && s->ops->wake)
		s->ops->wake(s->owner);
	return false;
}

/* True: the command that waits is given up, for the client is gone. */
static bool session_gives_up(struct ctl_session *s)
{
	if (!s->gone || !s->running || !s->waiting)
		return false;
	s->waiting = s->resumed = false;
	session_end_command(s);
	return true;
}

void ctl_session_gone(struct ctl_session *s)
{
	s->gone = true;
	ctl_session_eof(s);
	session_gives_up(s);
}

/* A session that cannot be woken is not interrupted. */
static bool session_is_late(const struct ctl_session *s)
{
	return s->ops && s->ops->wake && clock_read_ns() >= s->slice_end_ns;
}

bool ctl_is_due(const struct ctl_request *rq)
{
	return rq->out->len >= CTL_OUT_SOFT || session_is_late(rq->session);
}

void ctl_session_run(struct ctl_session *s)
{
	s->slice_end_ns = clock_read_ns() + SLICE_NS;
	while (!s->waiting) {
		if (s->out.len - s->out_pos >= CTL_OUT_SOFT)
			return;
		if (!s->running && (s->next || s->in.len > s->in_pos) && session_is_late(s)) {
			s->ops->wake(s->owner);
			return;
		}
		if (s->running) {
			if (!session_step(s) && !session_gives_up(s))
				return;
			continue;
		}
		if (s->quit)
			return;
		if (!s->next && !session_take_line(s)) {
			s->quit |= s->eof;
			return;
		}
		s->running = session_begin_command(s);
		if (!s->running) {
			if (s->out.len)
				s->last = '\n';
			s->rq.command = NULL;
			session_end_command(s);
		}
	}
}

void ctl_session_resume(struct ctl_session *s)
{
	if (!s->waiting) {
		s->resumed = s->running;
		return;
	}
	s->waiting = false;
	if (s->ops && s->ops->wake)
		s->ops->wake(s->owner);
}

/* --- for commands ---------------------------------------------------------------------------- */

void ctl_begin(struct ctl_request *rq, enum ctl_severity severity)
{
	static const char *const names[] = {
		[CTL_ERR] = "err", [CTL_WARNING] = "warning", [CTL_NOTICE] = "notice",
		[CTL_INFO] = "info",
	};

	if (rq->session->severity_output == SEVERITY_NUMBER)
		strbuf_printf(rq->out, "[%d]: ", severity);
	else if (rq->session->severity_output == SEVERITY_STRING)
		strbuf_printf(rq->out, "[%s]: ", names[severity]);
}

static void ctl_vtell(struct ctl_request *rq, enum ctl_severity severity, const char *fmt,
		      va_list ap)
{
	ctl_begin(rq, severity);
	strbuf_vprintf(rq->out, fmt, ap);
	strbuf_add_char(rq->out, '\n');
}

void ctl_tell(struct ctl_request *rq, enum ctl_severity severity, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	ctl_vtell(rq, severity, fmt, ap);
	va_end(ap);
}

void ctl_say(struct ctl_request *rq, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	ctl_vtell(rq, CTL_INFO, fmt, ap);
	va_end(ap);
}

void ctl_error(struct ctl_request *rq, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	ctl_vtell(rq, CTL_ERR, fmt, ap);
	va_end(ap);
}

bool ctl_require(struct ctl_request *rq, enum ctl_level level)
{
	if (rq->session->level >= level)
		return true;
	ctl_error(rq, "Permission denied");
	return false;
}

void ctl_add_words(struct ctl_request *rq, struct strbuf *to, int from)
{
	for (int i = from; i < rq->count; i++) {
		if (i > from)
			strbuf_add_char(to, ' ');
		strbuf_add_str(to, rq->words[i]);
	}
}
