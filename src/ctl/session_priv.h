/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session_priv.h - a connection to the Runtime API, for the files of ctl */
#ifndef CTL_SESSION_PRIV_H
#define CTL_SESSION_PRIV_H

#include "ctl/ctl.h"

#define CTL_WORDS_MAX 64

enum severity_output { SEVERITY_NONE, SEVERITY_NUMBER, SEVERITY_STRING };

enum ctl_mode { CTL_SINGLE, CTL_INTERACTIVE, CTL_PROMPT };

struct ctl_session {
	const struct ctl_session_owner *ops;
	void *owner;
	enum ctl_level level;
	enum ctl_mode mode;
	enum severity_output severity_output;
	bool timed, expert, experimental;
	uint32_t anon_key;  /* names are hidden in output; 0: they are not */
	bool master;        /* of the master process's socket */
	bool debug;         /* of the master process, with mcli-debug-mode */
	bool eof;           /* the client has closed its sending side */
	bool gone;          /* and reads no more */
	bool quit;          /* nothing more will be executed */
	int64_t timeout_ms;

	struct strbuf in;   /* received; the first in_pos bytes are used */
	size_t in_pos;
	struct strbuf out;  /* to send; the first out_pos bytes were sent */
	size_t out_pos;

	char *line;         /* being executed: a heap copy, then split into words */
	size_t line_size;   /* of that memory: payloads are wiped, as they may contain keys */
	char *next;         /* what follows the current command in <line>; NULL: nothing */
	char *payload;      /* in <line>, NULL: none */
	size_t payload_len;

	bool running;       /* <rq> is in progress */
	bool waiting;       /* it returned CTL_WAIT */
	bool watches_input; /* and is resumed when input comes */
	bool resumed;       /* ctl_session_resume() was called before it returned */
	uint64_t slice_end_ns; /* when to let other work of the thread run */
	bool in_payload;    /* received bytes belong to the payload of a line */
	unsigned asked;     /* lines of a payload for which the "+ " prompt was printed */
	bool silent;        /* the running command prints nothing, not even a blank line */
	char last;          /* last byte of the command's output, 0: none */
	struct ctl_request rq;
	char *words[CTL_WORDS_MAX + 1];
};

/* --- table.c */

/* Finds the longest command whose words begin the session's; *used: how many. NULL: none. */
const struct ctl_command *ctl_find(const struct ctl_session *s, int count, int *used);
/* Lists the commands that match words[from...] (all if there are none), after <title>. */
void ctl_help(struct ctl_request *rq, int from, const char *title);

#endif
