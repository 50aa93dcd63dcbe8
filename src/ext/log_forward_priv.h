/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log_forward_priv.h - sections log-forward, for the files that parse and run them */
#ifndef SRC_EXT_LOG_FORWARD_H
#define SRC_EXT_LOG_FORWARD_H

#include "conf/conf.h"
#include "core/mailbox.h"
#include "proxy/bind.h"

#define LOG_DATAGRAM_MAX 65536

/* option host: how the host name is treated. */
enum forward_host { FORWARD_FILL, FORWARD_REPLACE, FORWARD_KEEP, FORWARD_APPEND };

struct log_forward {
	struct log_forward *next;
	/* for its log targets and bind lines; not in the list of proxies */
	struct proxy *proxy;
	int64_t client_ms;
	int64_t maxconn, backlog;
	bool lines_only;           /* option assume-rfc6587-ntf */
	bool unread;               /* option dont-parse-log */
	enum forward_host host;
	unsigned connections;      /* atomic: open connections */
	struct log_input *inputs;  /* its listening addresses */
};

/* One address of a bind or dgram-bind line. */
struct log_input {
	struct log_input *next;
	struct log_forward *section;
	struct listener_conf *address;
	bool datagrams;
	struct listener *listener; /* for streams; under the lock of inputs; NULL: closed */
	/* for datagrams */
	unsigned number;           /* its index among the inputs: spreads them over threads */
	int fd;                    /* -1: none, or closed by thread 0 */
	/* likewise, used by the receiving thread */
	bool is_polled;
	struct task *task;         /* owned: continues reading if a turn was not enough */
	char *data;                /* room for one datagram */
	struct message message;    /* "stop receiving" */
};

/* The sections of a generation. */
extern struct slot log_forward_slot;
struct log_forward *log_forwards_of(const struct config *cfg);
void log_forward_add(struct config *cfg, struct log_forward *f);

/* Opens the sockets of <cfg>, sharing those that <prev> has at the same address. Returns false:
 * reported.
 */
bool log_forward_open(struct config *cfg, const struct config *prev, struct diag_list *diags);
/* Called by each thread: starts receiving on its inputs. */
void log_forward_join(const struct config *cfg);
/* Stops receiving; connections stay open. Must be called on thread 0; other threads stop when they
 * read their messages, until then the generation must stay.
 */
void log_forward_close(const struct config *cfg);
/* Called by each thread before and after its loop. */
void log_forward_thread_init(void);
void log_forward_thread_fini(const struct config *cfg);

#endif
