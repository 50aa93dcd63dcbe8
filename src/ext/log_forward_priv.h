/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log_forward_priv.h - sections log-forward, for the files that read and run them */
#ifndef SRC_EXT_LOG_FORWARD_H
#define SRC_EXT_LOG_FORWARD_H

#include "conf/conf.h"
#include "core/mailbox.h"
#include "proxy/bind.h"

#define LOG_DATAGRAM_MAX 65536

/* option host: what becomes of the host's name. */
enum forward_host { FORWARD_FILL, FORWARD_REPLACE, FORWARD_KEEP, FORWARD_APPEND };

struct log_forward {
	struct log_forward *next;
	struct proxy *proxy;       /* its log targets and bind lines; not among the proxies */
	int64_t client_ms;
	int64_t maxconn, backlog;
	bool lines_only;           /* option assume-rfc6587-ntf */
	bool unread;               /* option dont-parse-log */
	enum forward_host host;
	unsigned connections;      /* atomic: places taken */
	struct log_input *inputs;  /* what it listens on */
};

/* One address of a bind or dgram-bind line. */
struct log_input {
	struct log_input *next;
	struct log_forward *section;
	struct listener_conf *address;
	bool datagrams;
	struct listener *listener; /* of streams; under the lock of inputs; NULL: closed */
	/* of datagrams */
	unsigned number;           /* among the inputs: spreads them over threads */
	int fd;                    /* -1: none, or closed by thread 0 */
	/* the same, of the thread that receives them */
	bool is_polled;
	struct task *task;         /* owned: reads on, when a turn was not enough */
	char *data;                /* room for one */
	struct message message;    /* "receive no more" */
};

/* The sections of a generation. */
extern struct slot log_forward_slot;
struct log_forward *log_forwards_of(const struct config *cfg);
void log_forward_add(struct config *cfg, struct log_forward *f);

/* Opens the sockets of <cfg>, those that <prev> has at the same address shared. False: reported. */
bool log_forward_open(struct config *cfg, const struct config *prev, struct diag_list *diags);
/* The calling thread begins to receive what is for it. */
void log_forward_join(const struct config *cfg);
/* Receives no more; connections go on. On thread 0; other threads follow when they read their
 * messages, until then the generation must stay.
 */
void log_forward_close(const struct config *cfg);
/* The calling thread before and behind its loop. */
void log_forward_thread_init(void);
void log_forward_thread_fini(const struct config *cfg);

#endif
