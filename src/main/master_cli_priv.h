/* SPDX-License-Identifier: GPL-2.0-or-later */
/* master_cli_priv.h - a client of the master's socket, for the two files that serve it
 *
 *	master_cli.c  : sockets, clients, bytes from and to them and the workers
 *	master_line.c : what clients say: lines, prefixes, the commands about the session
 *
 * A client's line is cut at ';'. Each command is for the master or for a worker; one for a worker
 * travels on a connection of its own, which the worker closes behind its answer: one at a time, so
 * answers come in the order of the commands.
 */
#ifndef MAIN_MASTER_CLI_PRIV_H
#define MAIN_MASTER_CLI_PRIV_H

#include <stdbool.h>
#include <sys/types.h>
#include "base/list.h"
#include "base/strbuf.h"
#include "ctl/ctl.h"

#define MASTER_LINE_MAX 65536            /* bytes of a line */
#define MASTER_PAYLOAD_MAX (16 << 20)    /* of what follows one; workers have their own limit */

struct master_client {
	struct list link;
	int fd;                 /* owned; -1: it was handed to a reload */
	enum ctl_level level;
	int severity_output;    /* as ctl_session_set_severity() takes it */
	bool prompt, timed;
	bool expert, experimental, debug;
	pid_t context;          /* the process that commands are for; 0: the master */

	int worker;             /* owned: to the worker whose answer is awaited, -1: none */
	bool raw;               /* "@@": what the client sends goes to the worker, too */
	bool told;              /* the worker has all that it gets */
	struct strbuf up;       /* for the worker */
	size_t up_sent;

	struct strbuf in, out;  /* from and to the client */
	size_t out_sent;
	bool in_payload;        /* <in> is a line whose payload is not complete */
	unsigned asked;         /* lines of that payload for which a prompt was printed */
	bool eof;               /* the client sends no more */
	bool quit;              /* it is closed once all was sent */
	short wanted, seen;     /* poll events */
};

/* Takes one command out of the input and runs it. False: there is none yet. */
bool master_client_step(struct master_client *c);
/* The answer of a command has come to its end. */
void master_client_answered(struct master_client *c);

#endif
