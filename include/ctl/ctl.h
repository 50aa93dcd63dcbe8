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
	struct strbuf *out;     /* where run writes; above CTL_OUT_SOFT bytes it should return CTL_MORE */
	void *state;            /* the command's own, NULL first */
	uint64_t pos;           /* same: a cursor */
	const struct ctl_command *command;
};

#define CTL_OUT_SOFT 16384

struct ctl_command {
	const char *words;      /* "show info" */
	enum ctl_level level;   /* least level */
	const char *syntax;     /* "[desc|json|typed|float]*", what follows the words */
	const char *help;       /* one line */
	enum ctl_step (*run)(struct ctl_request *rq);
	void (*release)(struct ctl_request *rq); /* frees rq->state, also when the client left; or NULL */
};

/* Makes the tables of the modules known. Once. */
bool ctl_register(const struct module *const *modules);
/* The list behind -dKcli. */
void ctl_dump_commands(FILE *out);

/* Messages as the reference prints them: text and a blank line. */
void ctl_say(struct ctl_request *rq, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Reports a missing level in the reference's words and returns false. */
bool ctl_require(struct ctl_request *rq, enum ctl_level level);

/* --- sessions: for the I/O side -------------------------------------------------------------- */

struct ctl_session_owner {
	/* The session has output, or a waiting command was resumed: run the session again. */
	void (*wake)(void *owner);
};

/* A session of <level>; <owner> is borrowed. NULL: no memory. */
struct ctl_session *ctl_session_new(enum ctl_level level, const struct ctl_session_owner *ops,
				    void *owner);
void ctl_session_free(struct ctl_session **s);
/* Adds received bytes. False: line too long or no memory, the session must be closed. */
bool ctl_session_feed(struct ctl_session *s, struct slice bytes);
/* The client will send no more. */
void ctl_session_eof(struct ctl_session *s);
/* Runs commands until the output is full, a command waits, or input is out. */
void ctl_session_run(struct ctl_session *s);
/* Output to send; consumed with ctl_session_sent(). */
struct slice ctl_session_output(struct ctl_session *s);
void ctl_session_sent(struct ctl_session *s, size_t len);
/* May the connection be closed: not interactive and all was answered and sent, or `quit`. */
bool ctl_session_is_over(const struct ctl_session *s);
/* For a command that returned CTL_WAIT; on the session's thread. */
void ctl_session_resume(struct ctl_session *s);
/* Interactive sessions have the longer timeout; ms; set by `set timeout cli`. */
int64_t ctl_session_timeout_ms(const struct ctl_session *s);

#endif
