/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spoe_priv.h - declarations shared by the files of the engine
 *
 *     spoe_file.c    the file: agents, messages, groups
 *     spoe.c         the filter, the action: when messages are sent, handling of answers
 *     spoe_link.c    connections, and the outstanding requests on them
 */
#ifndef EXT_SPOE_PRIV_H
#define EXT_SPOE_PRIV_H

#include "base/list.h"
#include "codec/spop.h"
#include "core/thread.h"
#include "core/timer.h"
#include "ext/spoe.h"
#include "log/log.h"
#include "proxy/proxy.h"
#include "stream/filter.h"

/* X(name, word, phase in which its expressions are evaluated) */
#define SPOE_EVENTS(X) \
	X(CLIENT_SESSION, "on-client-session", EXPR_FE_CONN) \
	X(TCP_REQUEST_FE, "on-frontend-tcp-request", EXPR_FE_REQ_CNT) \
	X(TCP_REQUEST_BE, "on-backend-tcp-request", EXPR_BE_REQ_CNT) \
	X(HTTP_REQUEST_FE, "on-frontend-http-request", EXPR_FE_HRQ_HDR) \
	X(HTTP_REQUEST_BE, "on-backend-http-request", EXPR_BE_HRQ_HDR) \
	X(SERVER_SESSION, "on-server-session", EXPR_BE_SRV_CON) \
	X(TCP_RESPONSE, "on-tcp-response", EXPR_BE_RES_CNT) \
	X(HTTP_RESPONSE, "on-http-response", EXPR_BE_HRS_HDR)

enum spoe_event {
#define X(name, word, phase) SPOE_##name,
	SPOE_EVENTS(X)
#undef X
	SPOE_EVENT_COUNT, /* of a group: sent by a rule */
};
const char *spoe_event_word(enum spoe_event event);

struct spoe_arg {
	struct spoe_arg *next;
	struct slice name;       /* or empty */
	const struct expr *expr;
};

struct spoe_message {
	struct spoe_message *next;      /* in the engine, in the order of the file */
	struct spoe_message *next_here; /* in the event or the group, in the order of its line */
	struct slice id;
	struct spoe_arg *args, **args_end;
	unsigned char arg_count;
	struct acl_set *acls;
	const struct condition *condition;
	enum spoe_event event;
	const char *file;
	int line;
	bool is_used;
};

/* A list of names from lines `messages` and `groups`. */
struct spoe_name {
	struct spoe_name *next;
	const char *text;
};

struct spoe_group {
	struct spoe_group *next;
	const char *id;
	struct spoe_name *names;
	struct spoe_message *messages;
	bool is_used;
};

/* The connections of a thread to an agent. */
struct spoe_pool {
	struct list links;       /* of struct spoe_link */
	struct list queue;       /* of requests not assigned to a link yet */
	unsigned link_count, opening, queued;
};

enum spoe_option {
	SPOE_CONTINUE_ON_ERROR = 1 << 0, SPOE_FORCE_SET_VAR = 1 << 1, SPOE_NO_PIPELINING = 1 << 2,
	SPOE_DONTLOG_NORMAL = 1 << 3,
};

struct spoe_agent {
	const char *id, *file;
	int line;
	struct config *config;           /* borrowed */
	const char *backend_name;
	struct proxy *backend;
	const char *prefix;              /* of its variables */
	const char *error_var, *process_var, *total_var; /* or NULL */
	unsigned options;                /* enum spoe_option */
	int64_t timeout_ms;              /* processing; 0: none */
	uint64_t frame_size;             /* 0: the maximum */
	struct spoe_name *messages, *groups, *names;
	struct log_settings log;
	char engine_id[40];              /* a UUID of the process */
	uint64_t processed, failed;      /* atomic */
	struct spoe_pool pools[THREADS_MAX];
};

/* A line `filter spoe`. */
struct spoe_engine {
	const char *id, *path;
	struct proxy *proxy;
	struct spoe_agent *agent;
	struct spoe_message *messages, **messages_end;
	struct spoe_group *groups;
	struct spoe_message *by_event[SPOE_EVENT_COUNT];
};

extern struct slot spoe_config_slot;
extern const struct conf_section spoe_sections[];
extern const struct conf_keyword spoe_keywords[];
/* Functions of the filter's kind. */
bool spoe_line_parse(struct conf_line *l, struct filter_conf *conf);
bool spoe_line_check(struct config *cfg, struct filter_conf *conf, struct diag_list *diags);

/* --- requests: spoe_link.c -------------------------------------------------------------------- */

/* Why there is no answer: the values of `option set-on-error`. */
enum {
	SPOE_ERR_TIMEOUT = 1, SPOE_ERR_RESOURCES = 2, SPOE_ERR_TOO_BIG = 3,
	SPOE_ERR_INTERRUPTED = 5,
	SPOE_ERR_UNKNOWN = 255, SPOE_ERR_SPOP = 256, /* plus the code in SPOP */
};

struct spoe_link;

struct spoe_request {
	struct list link;               /* in a pool's queue, or among its link's requests */
	struct spoe_agent *agent;       /* NULL: the request is over */
	struct spoe_link *on;           /* NULL: in the queue */
	uint64_t id;                    /* its number on the link */
	struct slice payload;           /* the messages; must stay in place until it is over */
	/* Called once when the request is over: <status> 0 and the actions of the answer, or the
	 * reason of failure. May be called before spoe_request_begin() returns.
	 */
	void (*done)(struct spoe_request *rq, unsigned status, struct slice actions);
};

/* Bytes of a frame besides its payload, at most. */
#define SPOE_FRAME_HEAD 32
/* Returns the largest payload that can be sent to an agent. */
size_t spoe_payload_max(const struct spoe_agent *agent);
/* Sends <rq>, whose payload and done are set. Must be called on the thread of its stream, as all of
 * these.
 */
void spoe_request_begin(struct spoe_agent *agent, struct spoe_request *rq);
/* Returns the agent that the stream of a link talks to; NULL: it is another kind of stream. */
const struct spoe_agent *spoe_agent_of_stream(const struct stream *s);
/* Called when the stream no longer waits for the request; harmless if it is over. */
void spoe_request_cancel(struct spoe_request *rq);

#endif
