/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ctl.h - the Runtime API engine: commands, levels, pausing and resuming, help
 *
 * Purpose: turns the bytes of an administration connection into commands of the modules' tables and
 *          their output. Does no I/O: net/ctl_socket passes the bytes in and sends the output.
 * Owns   : a session owns its input, its output and the state of the running command.
 * Threads: a session belongs to the thread that feeds it. A command that needs data of other
 *          threads returns CTL_WAIT and is resumed by ctl_session_resume() on its thread.
 * Errors : a bad command prints its message; out of memory ends the session.
 * Manual : management 9.
 */
#ifndef CTL_CTL_H
#define CTL_CTL_H

#include <stdbool.h>
#include <stdio.h>
#include "base/module.h"
#include "base/slice.h"
#include "base/strbuf.h"

/* Levels of a connection, and minimum levels of commands. */
enum ctl_level { CTL_USER, CTL_OPERATOR, CTL_ADMIN };

enum ctl_step {
	CTL_DONE, /* finished */
	CTL_MORE, /* output is full for now: call run() again once it was sent */
	CTL_WAIT, /* ctl_session_resume() will be called later */
};

struct ctl_session;

struct ctl_request {
	struct ctl_session *session;
	char **words;           /* the command and its arguments; words[count] is NULL */
	int count;
	int at;                 /* first word after the command's own */
	struct slice payload;   /* after "<<", without it; slice_none(): none */
	enum ctl_level level;   /* of the session */
	struct strbuf *out;     /* output of run(); see ctl_is_due() */
	void *state;            /* for the command, initially NULL */
	uint64_t pos;           /* for the command: a cursor */
	const struct ctl_command *command;
};

#define CTL_OUT_SOFT 16384

enum ctl_flags {
	CTL_EXPERT = 1 << 0,       /* needs expert-mode */
	CTL_EXPERIMENTAL = 1 << 1, /* needs experimental-mode */
	CTL_HIDDEN = 1 << 2,       /* not listed by help */
	CTL_MASTER = 1 << 3,       /* for the master process's socket, not for a worker's */
	CTL_ANYWHERE = 1 << 4,     /* for both */
	/* while it waits, for the process, its session has no timeout and is not shut down by a
	 * command of another session
	 */
	CTL_PATIENT = 1 << 6,
	CTL_PROCESS = 1 << 5,      /* about its own process: for a master with mcli-debug-mode */
	CTL_RAW = 1 << 7,          /* the last line of its output may lack a newline */
};

struct ctl_command {
	const char *words;      /* "show info" */
	enum ctl_level level;   /* minimum level */
	const char *syntax;     /* "[desc|json|typed|float]*", the arguments */
	const char *help;       /* one line */
	enum ctl_step (*run)(struct ctl_request *rq);
	/* Frees rq->state, also when the client has left. May be NULL. */
	void (*release)(struct ctl_request *rq);
	unsigned flags;         /* enum ctl_flags */
};

/* Registers the tables of the modules. Call once. False: out of memory. */
bool ctl_register(const struct module *const *modules);
/* Prints the list of -dKcli. */
void ctl_dump_commands(FILE *out);
/* Installs a source of commands that the live configuration adds to workers' sessions, after those
 * of the tables: <next> returns the one after <c>, or the first one (NULL); NULL: no more. They
 * must remain valid for the turn of the loop; one whose run() returns CTL_MORE or CTL_WAIT must
 * hold its own data until release(). If <syntax> is NULL, <help> is the whole line that `help`
 * shows. Call once, before any session.
 */
typedef const struct ctl_command *ctl_more_fn(const struct ctl_command *c);
void ctl_set_more(ctl_more_fn *next);

/* Severity of a message, shown by `set severity-output`. Clients take CTL_ERR for a failure. */
enum ctl_severity { CTL_ERR = 3, CTL_WARNING, CTL_NOTICE, CTL_INFO };

/* Writes the severity, if the session asked for it, before a text of several lines that the command
 * then adds to rq->out.
 */
void ctl_begin(struct ctl_request *rq, enum ctl_severity severity);
/* Writes one line with its severity. <fmt> must not end with a newline. */
void ctl_tell(struct ctl_request *rq, enum ctl_severity severity, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* As ctl_tell() with CTL_INFO. */
void ctl_say(struct ctl_request *rq, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* As ctl_tell() with CTL_ERR: the command failed. */
void ctl_error(struct ctl_request *rq, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Has the command written enough (CTL_OUT_SOFT bytes), or run long enough? Then it should remember
 * its position and return CTL_MORE. To be asked between items of which there may be thousands.
 */
bool ctl_is_due(const struct ctl_request *rq);
/* Adds the words from index <from> on to <to>, joined by spaces. */
void ctl_add_words(struct ctl_request *rq, struct strbuf *to, int from);
/* Returns the descriptor over which listening sockets may be sent to this client; -1: not
 * permitted.
 */
int ctl_exposed_fd(const struct ctl_request *rq);
/* Has the client sent something since the command began, or closed its side? The input is
 * discarded. Once a command has asked, it is resumed when input comes.
 */
bool ctl_input_came(struct ctl_request *rq);
/* --- anonymised sessions: `set anon on` */
#define CTL_HIDE_MAX 16 /* bytes of a replacement text */
/* Returns the key of this session; 0: not anonymised. */
uint32_t ctl_anon_key(const struct ctl_request *rq);
/* With a key, returns six hexadecimal digits, written to <out>, the same for the same text and key;
 * without one, <text> itself. Borrowed.
 */
const char *ctl_hide(uint32_t key, const char *text, char out[CTL_HIDE_MAX]);
/* As ctl_hide(), for an address without its port: "IPV4(9a4957)". This host's addresses are not
 * changed.
 */
const char *ctl_hide_ip(uint32_t key, const char *ip, char out[CTL_HIDE_MAX]);
/* Sets the key of `anonkey`, for sessions that set none; 0: none. Any thread. */
void ctl_set_anon_key(uint32_t key);

/* Sets the maximum size of a line and of its payload: tune.bufsize, tune.cli.max-payload-size. */
void ctl_set_input_max(size_t line, size_t payload);
/* Set the start of the process, and return the time since then: for timed prompts and `show
 * activity`.
 */
void ctl_set_start_ns(uint64_t monotonic_ns);
uint64_t ctl_uptime_ns(void);
/* Sets the timeout of sessions (stats timeout), ms; default 10 s. */
void ctl_set_timeout_ms(int64_t ms);
/* Checks the level of the session. False: too low, reported in the reference's words. */
bool ctl_require(struct ctl_request *rq, enum ctl_level level);

/* --- sessions: for the I/O side -------------------------------------------------------------- */

struct ctl_session_owner {
	/* The session has output, or a waiting command was resumed: call ctl_session_run() again.
	 */
	void (*wake)(void *owner);
	/* Returns the descriptor of the connection if listening sockets may be sent over it; -1:
	 * not permitted. May be NULL.
	 */
	int (*expose)(void *owner);
};

/* Creates a session of <level>; <owner> is borrowed. NULL: out of memory. */
struct ctl_session *ctl_session_new(enum ctl_level level, const struct ctl_session_owner *ops,
				    void *owner);
void ctl_session_free(struct ctl_session **s);
/* Sets the prefix of its messages: none (0), the severity's number (1) or its name (2). */
void ctl_session_set_severity(struct ctl_session *s, int severity);
/* Makes the session run the commands of the master process instead of a worker's; <debug>: also
 * CTL_PROCESS commands.
 */
void ctl_session_set_master(struct ctl_session *s, bool expert, bool experimental, bool debug);
/* Is there room for input? Receive only if so. */
bool ctl_session_wants_input(const struct ctl_session *s);
/* Adds received bytes. False: out of memory, the session must be closed. (ctl_session_run() reports
 * a line that is too long, and ends the session.)
 */
bool ctl_session_feed(struct ctl_session *s, struct slice bytes);
/* The client has closed its sending side. */
void ctl_session_eof(struct ctl_session *s);
/* The client has closed its connection and reads nothing more: waiting commands are given up,
 * remaining input is executed.
 */
void ctl_session_gone(struct ctl_session *s);
/* Runs commands until the output is full, a command waits, there is no more input, or the time is
 * up (then the owner is woken).
 */
void ctl_session_run(struct ctl_session *s);
/* Returns output to send; ctl_session_sent() consumes it. */
struct slice ctl_session_output(struct ctl_session *s);
void ctl_session_sent(struct ctl_session *s, size_t len);
/* May the connection be closed: not interactive and everything answered and sent, or `quit`? */
bool ctl_session_is_over(const struct ctl_session *s);
/* Is the session only waiting for input? */
bool ctl_session_is_idle(const struct ctl_session *s);
/* Resumes a command that returned CTL_WAIT. On the session's thread. */
void ctl_session_resume(struct ctl_session *s);
/* Returns the timeout in ms: longer for interactive sessions, set by `set timeout cli`. */
int64_t ctl_session_timeout_ms(const struct ctl_session *s);
/* Is it waiting in a CTL_PATIENT command? Its timeout is 0 then. */
bool ctl_session_is_patient(const struct ctl_session *s);

/* Commands about the session itself: help, prompt, quit, levels, echo, show env... */
extern const struct module mod_ctl;
extern const struct module mod_ctl_anon; /* set anon, show anon */

#endif
