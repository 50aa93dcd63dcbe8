/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ctl.h - the Runtime API engine: commands, levels, yield and resume, help
 *
 * Purpose: turns the bytes of an administration connection into commands of the modules' tables and
 *          their output. Does no I/O: net/ctl_socket feeds it and sends what it makes.
 * Owns   : a session owns its input, its output and the running command's state.
 * Threads: a session belongs to the thread that feeds it. A command that must look at what other
 *          threads own returns CTL_WAIT and is resumed by ctl_session_resume() on its thread.
 * Errors : a bad command prints its message; no memory ends the session.
 * Manual : management 9.
 */
#ifndef CTL_CTL_H
#define CTL_CTL_H

#include <stdbool.h>
#include <stdio.h>
#include "base/module.h"
#include "base/slice.h"
#include "base/strbuf.h"

/* Levels of a connection; mask bits of what a command needs. */
enum ctl_level { CTL_USER, CTL_OPERATOR, CTL_ADMIN };

enum ctl_step {
	CTL_DONE, /* finished */
	CTL_MORE, /* output is full for now: call run again once it was sent */
	CTL_WAIT, /* something else will call ctl_session_resume() */
};

struct ctl_session;

struct ctl_request {
	struct ctl_session *session;
	char **words;           /* the command and its arguments; words[count] is NULL */
	int count;
	int at;                 /* first word after the command's own */
	struct slice payload;   /* after "<<", without it; slice_none() when there was none */
	enum ctl_level level;   /* of the session */
	struct strbuf *out;     /* where run writes; see ctl_is_due() */
	void *state;            /* the command's own, NULL first */
	uint64_t pos;           /* same: a cursor */
	const struct ctl_command *command;
};

#define CTL_OUT_SOFT 16384

enum ctl_flags {
	CTL_EXPERT = 1 << 0,       /* needs expert-mode */
	CTL_EXPERIMENTAL = 1 << 1, /* needs experimental-mode */
	CTL_HIDDEN = 1 << 2,       /* not listed by help */
	CTL_MASTER = 1 << 3,       /* of the master process's socket, not of a worker */
	CTL_ANYWHERE = 1 << 4,     /* of both */
	CTL_PATIENT = 1 << 6,      /* while it waits, for the process, its session has no timeout
				    * and is not shut down by another one's command */
	CTL_PROCESS = 1 << 5,      /* looks at its process: of a master with mcli-debug-mode */
	CTL_RAW = 1 << 7,          /* its last line stays without an end, if it has none */
};

struct ctl_command {
	const char *words;      /* "show info" */
	enum ctl_level level;   /* least level */
	const char *syntax;     /* "[desc|json|typed|float]*", what follows the words */
	const char *help;       /* one line */
	enum ctl_step (*run)(struct ctl_request *rq);
	/* Frees rq->state, also when the client left; or NULL. */
	void (*release)(struct ctl_request *rq);
	unsigned flags;         /* enum ctl_flags */
};

/* Makes the tables of the modules known. Once. */
bool ctl_register(const struct module *const *modules);
/* The list behind -dKcli. */
void ctl_dump_commands(FILE *out);
/* Commands that the live configuration brings to a worker's sessions, behind the tables': <next> is
 * asked for the one after <c>, or for the first one (NULL); NULL: there is none. They must be there
 * for the turn of the loop at least; one whose run() returns CTL_MORE or CTL_WAIT keeps what it is
 * made of until release(). <help> is the whole line that `help` shows when <syntax> is NULL. Once,
 * before any session.
 */
typedef const struct ctl_command *ctl_more_fn(const struct ctl_command *c);
void ctl_set_more(ctl_more_fn *next);

/* How serious an answer is: `set severity-output` shows it. Clients take CTL_ERR for a failure. */
enum ctl_severity { CTL_ERR = 3, CTL_WARNING, CTL_NOTICE, CTL_INFO };

/* Writes the severity, if the session asked for it: in front of a text of several lines, which the
 * command adds to rq->out.
 */
void ctl_begin(struct ctl_request *rq, enum ctl_severity severity);
/* One line, with its severity. No newline at the end of <fmt>. */
void ctl_tell(struct ctl_request *rq, enum ctl_severity severity, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* ctl_tell() with CTL_INFO. */
void ctl_say(struct ctl_request *rq, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* ctl_tell() with CTL_ERR: the command was not carried out. */
void ctl_error(struct ctl_request *rq, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Has the command written enough (CTL_OUT_SOFT bytes), or held its thread long enough? It then
 * keeps its place and returns CTL_MORE. Asked between things of which there may be thousands.
 */
bool ctl_is_due(const struct ctl_request *rq);
/* Words from rq->at on, joined by a space. */
void ctl_add_words(struct ctl_request *rq, struct strbuf *to, int from);
/* Where to send listening sockets, if this client may have them; -1: it may not. */
int ctl_exposed_fd(const struct ctl_request *rq);
/* Did anything come since the command began, or did the client close its side? What came is thrown
 * away. A command that asked this once is resumed when something comes.
 */
bool ctl_input_came(struct ctl_request *rq);
/* --- anonymised sessions: `set anon on` */
#define CTL_HIDE_MAX 16 /* bytes of what stands for a text */
/* The key of this one; 0: it is not anonymised. */
uint32_t ctl_anon_key(const struct ctl_request *rq);
/* With a key, six hexadecimal digits made in <out>, the same for the same text and key; else <text>
 * itself. Borrowed.
 */
const char *ctl_hide(uint32_t key, const char *text, char out[CTL_HIDE_MAX]);
/* As ctl_hide(), for an address without its port, "IPV4(9a4957)"; those of this host stay as they
 * are.
 */
const char *ctl_hide_ip(uint32_t key, const char *ip, char out[CTL_HIDE_MAX]);
/* The key of `anonkey`, for sessions which give none; 0: none. Any thread. */
void ctl_set_anon_key(uint32_t key);

/* How many bytes a line may have, and its payload: tune.bufsize, tune.cli.max-payload-size. */
void ctl_set_input_max(size_t line, size_t payload);
/* Seconds since the start of the process, for timed prompts and `show activity`. */
void ctl_set_start_ns(uint64_t monotonic_ns);
uint64_t ctl_uptime_ns(void);
/* Timeout of sessions (stats timeout), ms; default 10 s. */
void ctl_set_timeout_ms(int64_t ms);
/* Reports a missing level in the reference's words and returns false. */
bool ctl_require(struct ctl_request *rq, enum ctl_level level);

/* --- sessions: for the I/O side -------------------------------------------------------------- */

struct ctl_session_owner {
	/* The session has output, or a waiting command was resumed: run the session again. */
	void (*wake)(void *owner);
	/* The descriptor of its connection if listening sockets may be sent there; -1: they may
	 * not. May be NULL.
	 */
	int (*expose)(void *owner);
};

/* A session of <level>; <owner> is borrowed. NULL: no memory. */
struct ctl_session *ctl_session_new(enum ctl_level level, const struct ctl_session_owner *ops,
				    void *owner);
void ctl_session_free(struct ctl_session **s);
/* How its messages begin: without severity (0), with its number (1) or its name (2). */
void ctl_session_set_severity(struct ctl_session *s, int severity);
/* The session runs the commands of the master process instead of those of a worker; <debug>: also
 * those of CTL_PROCESS.
 */
void ctl_session_set_master(struct ctl_session *s, bool expert, bool experimental, bool debug);
/* Is there room for input: receive only when this is true. */
bool ctl_session_wants_input(const struct ctl_session *s);
/* Adds received bytes. False: no memory, the session must be closed. (A line which is too long is
 * answered by ctl_session_run(), and ends the session.)
 */
bool ctl_session_feed(struct ctl_session *s, struct slice bytes);
/* The client will send no more. */
void ctl_session_eof(struct ctl_session *s);
/* The client will send no more, and cannot read an answer any more: commands that wait are given
 * up, what else it has sent is carried out.
 */
void ctl_session_gone(struct ctl_session *s);
/* Runs commands until the output is full, a command waits, input is out, or time is (the owner is
 * woken then).
 */
void ctl_session_run(struct ctl_session *s);
/* Output to send; consumed with ctl_session_sent(). */
struct slice ctl_session_output(struct ctl_session *s);
void ctl_session_sent(struct ctl_session *s, size_t len);
/* May the connection be closed: not interactive and all was answered and sent, or `quit`. */
bool ctl_session_is_over(const struct ctl_session *s);
/* Nothing is being done for the client but waiting for what it says next. */
bool ctl_session_is_idle(const struct ctl_session *s);
/* For a command that returned CTL_WAIT; on the session's thread. */
void ctl_session_resume(struct ctl_session *s);
/* Interactive sessions have the longer timeout; ms; set by `set timeout cli`. */
int64_t ctl_session_timeout_ms(const struct ctl_session *s);
/* Does it wait in a command that is to be waited for (CTL_PATIENT)? Its timeout is 0 then. */
bool ctl_session_is_patient(const struct ctl_session *s);

/* The commands about the session itself: help, prompt, quit, levels, echo, show env... */
extern const struct module mod_ctl;
extern const struct module mod_ctl_anon; /* set anon, show anon */

#endif
