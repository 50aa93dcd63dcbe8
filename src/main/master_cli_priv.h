/* SPDX-License-Identifier: GPL-2.0-or-later */
/* master_cli_priv.h - a client of the master's socket, shared by the two files that serve it
 *
 *	master_cli.c  : sockets, clients, data between them and the workers
 *	master_line.c : commands of clients: lines, prefixes, session commands
 *
 * A client's line is split at ';'. Each command is for the master or for a worker; a command for a
 * worker is sent on a connection of its own, which the worker closes after its answer. Only one is
 * open at a time, so answers come in the order of the commands.
 */
#ifndef MAIN_MASTER_CLI_PRIV_H
#define MAIN_MASTER_CLI_PRIV_H

#include <stdbool.h>
#include <sys/types.h>
#include "base/list.h"
#include "base/strbuf.h"
#include "ctl/ctl.h"

#define MASTER_LINE_MAX 65536            /* bytes of a line */
#define MASTER_PAYLOAD_MAX (16 << 20)    /* of a command's payload; workers have their own limit */

struct master_client {
	struct list link;
	int fd;                 /* owned; -1: passed to a reload */
	enum ctl_level level;
	int severity_output;    /* as ctl_session_set_severity() takes it */
	bool prompt, timed;
	bool expert, experimental, debug;
	pid_t context;          /* the process that commands are sent to; 0: the master */

	int worker;             /* owned: connection to the worker that is answering, -1: none */
	bool raw;               /* "@@": further input of the client is sent to the worker, too */
	bool told;              /* the worker has received everything */
	struct strbuf up;       /* for the worker */
	size_t up_sent;

	struct strbuf in, out;  /* from and to the client */
	size_t out_sent;
	bool in_payload;        /* <in> is a line with an incomplete payload */
	unsigned asked;         /* lines of that payload that were prompted for */
	bool eof;               /* the client has closed its side */
	bool quit;              /* closed after everything was sent */
	short wanted, seen;     /* poll events */
};

/* Takes a command from the input and runs it. Returns false: no complete command yet. */
bool master_client_step(struct master_client *c);
/* Called at the end of a command's answer. */
void master_client_answered(struct master_client *c);

#endif
