/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_priv.h - what the files about checks share: rules, and a check that runs
 *
 *   check_conf.c  words of server lines and `option`s     check_rule.c   http-check, tcp-check
 *   check_base.c  where they are kept                     check_expect_conf.c ... expect
 *   check_section.c `healthcheck` sections
 *   check_set.c   the rules that apply to a backend       check_proto.c  mysql, redis, smtp, ...
 *   check_run.c   when checks run                         check_step.c   one rule after the other
 *   check_conn.c  connections                             check_external.c programs
 *   check_http.c  requests and responses                  check_expect.c comparing
 *   check_mux.c   HTTP/2, connections of the traffic      check_grpc.c   the health service of gRPC
 *   agent.c       what an agent says
 *
 * Calls go down this list of the second part: run, step, conn and expect, http, base. What is known
 * of a server, and what follows from a result, is the proxy floor's: proxy/check.h.
 */
#ifndef CHECK_CHECK_PRIV_H
#define CHECK_CHECK_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/block.h"
#include "base/list.h"
#include "base/slice.h"
#include "base/slot.h"
#include "codec/chunk.h"
#include "codec/h1.h"
#include "expr/expr.h"
#include "expr/logformat.h"
#include "expr/vars.h"
#include "http/msg.h"
#include "net/conn.h"
#include "check/run.h"
#include "proxy/check.h"

struct check;
struct check_mux;
struct conf_line;
struct diag_list;
struct regex;
struct task;

/* --- rules ---------------------------------------------------------------------------------- */

enum check_kind {
	CHECK_KIND_TCP,      /* nothing asked for: a connection is enough */
	CHECK_KIND_TCPCHK, CHECK_KIND_HTTP, CHECK_KIND_PROTO, CHECK_KIND_EXTERNAL,
	CHECK_KIND_AGENT, CHECK_KIND_GRPC,
};

enum check_rule_type { CHECK_CONNECT, CHECK_SEND, CHECK_HTTP_SEND, CHECK_EXPECT, CHECK_SET_VAR,
		       CHECK_UNSET_VAR, CHECK_COMMENT };

struct check_connect {
	bool implicit;              /* not written in the configuration */
	bool use_default;           /* `default`: what the server line says where it is not said */
	bool send_proxy, linger, ssl, via_socks4;
	int port;                   /* 0: not written, or <port_expr> */
	struct expr *port_expr;
	const struct sockaddr_storage *addr; /* or NULL */
	socklen_t addr_len;
	const char *sni;            /* or NULL */
	struct slice alpn;          /* in wire format */
	const struct mux_kind *proto; /* or NULL */
};

/* A text that is constant or a format. */
struct check_value {
	struct slice text;
	struct logformat *format;   /* NULL: <text> */
	bool hex;                   /* what the format gives is hexadecimal */
};

struct check_field {
	struct check_field *next;
	const char *name;           /* in lower case */
	struct logformat *value;
	const char *text;           /* the value as it is written; of a host only */
};

struct check_http_send {
	const char *method, *version; /* NULL: not written */
	struct check_value uri, body; /* text.ptr and format NULL: not written */
	struct check_field *fields, **last_field;
};

enum expect_match {
	EXPECT_STRING, EXPECT_REGEX, EXPECT_STRING_LF, EXPECT_BINARY, EXPECT_BINARY_REGEX,
	EXPECT_BINARY_LF, EXPECT_STATUS, EXPECT_STATUS_REGEX, EXPECT_FIELD, EXPECT_FULL_FIELD,
	EXPECT_FUNCTION,
};

/* What looking at the bytes received so far tells. */
enum expect_verdict {
	VERDICT_WAIT, VERDICT_OK, VERDICT_FAIL,
	VERDICT_END, /* the result is complete: no rule dresses it */
};

/* A protocol's own judge. Without VERDICT_WAIT it fills <r>: at least status. <is_last>: no more
 * bytes will come; then it may not wait.
 */
typedef enum expect_verdict check_judge_fn(struct check *c, struct slice in, bool is_last,
					   struct check_result *r);

enum field_match { FIELD_STR, FIELD_BEG, FIELD_END, FIELD_SUB, FIELD_REG };

struct check_field_pattern {
	enum field_match match;
	struct check_value value;
	struct regex *regex;
};

struct status_range { int low, high; };

struct check_expect {
	enum expect_match match;
	bool negated;
	bool implicit;
	int min_recv;               /* -1: not given */
	struct check_value value;
	struct regex *regex;
	struct status_range *ranges;
	int range_count;
	struct check_field_pattern name, field_value;
	bool has_field_value;
	check_judge_fn *judge;
	enum check_status ok, error, timeout; /* CHECK_UNKNOWN: not given */
	struct logformat *on_success, *on_error;
	struct expr *status_code;
};

struct check_var {
	const struct var_ref *ref;
	struct expr *expr;
	struct logformat *format;
};

struct check_rule {
	struct check_rule *next;
	enum check_rule_type type;
	int step;                   /* from 1, as messages count; 0: implicit */
	const char *comment;        /* or NULL */
	union {
		struct check_connect connect;
		struct check_value send;
		struct check_http_send http;
		struct check_expect expect;
		struct check_var var;
	};
};

struct check_rules {
	struct check_rule *first, **last;
	int count;
};

/* A proxy's slot. */
struct check_proxy {
	enum check_kind kind;
	struct check_rules tcp, http; /* as written */
	bool tcp_is_own, http_is_own; /* else they are those of `defaults` */
	struct check_rule *proto;     /* of `option redis-check` and its kin */
	struct check_http_send *httpchk; /* what `option httpchk` says */
	bool disable_on_404, send_state;
	const char *command, *path;   /* external-check */
	struct check_rule *run;       /* what checks run: made in the check phase */
};

extern struct slot check_proxy_slot, check_config_slot;
struct check_proxy *check_proxy_of(const struct proxy *px);
/* Of the proxy or the `healthcheck` section of this line. */
struct check_proxy *check_proxy_of_line(const struct conf_line *l);
/* What checks <srv>: its `healthcheck`, or its backend. */
const struct check_proxy *check_proxy_of_server(const struct server *srv);

/* --- check_section.c: `healthcheck` sections */

bool check_section_open(struct conf_line *l);
void check_section_close(struct conf_line *l);
/* May a line of `http-check`, or of `tcp-check`, stand here? Anywhere but in a section: yes. False:
 * reported.
 */
bool check_section_fits(struct conf_line *l, bool http);
/* At a `type` line, before its arguments are parsed; false: reported. */
bool check_section_type_begins(struct conf_line *l, enum check_kind kind);
/* The settings of the section <name>; NULL: there is none. */
struct check_proxy *check_section_find(const struct config *cfg, const char *name);
/* Those of the section behind <prev>, or of the first (NULL); NULL at the end. */
struct check_proxy *check_section_next(const struct config *cfg, const struct check_proxy *prev);

/* A rule behind the others; NULL: no memory. */
struct check_rule *check_rule_add(struct arena *a, struct check_rules *rules,
				  enum check_rule_type type);
/* The rules of a protocol check with one `send` and judges; NULL: no memory. */
struct check_rule *check_rules_agent(struct arena *a);

/* A comment line speaks for the rule behind it: <rule>, the last one, gets it if it has none. */
void check_comment_inherit(const struct check_rules *rules, struct check_rule *rule);
/* What follows `expect`. */
bool check_expect_parse(struct conf_line *l, struct check_rules *rules, bool http);
/* "h2,http/1.1" in wire format; ptr NULL: a name is empty or too long, or no memory. */
struct slice check_alpn_make(struct arena *a, const char *text);
/* The mux to servers that is called so; NULL: there is none. */
const struct mux_kind *check_mux_find(const char *name);
/* The regular expression dies with the generation. False: reported, it is freed. */
bool check_keep_regex(struct conf_line *l, struct regex *re);

/* `http-check ...` and `tcp-check ...` lines. */
bool check_http_rule_parse(struct conf_line *l);
bool check_tcp_rule_parse(struct conf_line *l);
/* `option mysql-check` and its kin. */
bool check_proto_parse(struct conf_line *l);
/* Bytes from hexadecimal digits; NULL in .ptr: *error tells. */
struct slice check_hex_bytes(struct arena *a, const char *text, const char **error);

/* At start-up. False: no memory. */
bool checks_init(void);
/* The check phase: completes the rules of each backend, and what server lines say. */
void checks_check(struct config *cfg, struct diag_list *diags);
/* As checks_check(), for one backend, also for one that is made at run time. */
void checks_check_backend(struct proxy *px, struct diag_list *d);
/* --- a check -------------------------------------------------------------------------------- */

/* What a run needs while it lasts. */
struct check_run {
	struct arena arena;         /* first of all: what expressions make */
	const struct check_rule *rule; /* the current one */
	const struct check_rule *connect_rule; /* of the connection that stands */
	const struct check_rule *filled; /* the send whose bytes are in <out>, or left */
	struct block_queue out;     /* to send */
	struct block *in;           /* received on this connection */
	const struct check_value *made_of; /* the format of which <made> is the text */
	struct slice made;
	const char *note;           /* what a judge leaves for the next one; or NULL */
	bool in_end;                /* nothing more will come */
	bool sent_http;             /* in: a response */
	bool to_head;               /* which has no body */
	bool head_begun, head_done;
	struct h1_parser parser;
	struct h1_head head;
	struct chunk_decoder chunks;
	struct slice body;          /* decoded so far */
	size_t raw_at;              /* of <in>: what is not decoded yet */
	bool body_end;
	struct vars vars[VAR_SCOPES]; /* check, sess */
	struct expr_ctx ctx;
	struct expr_check seen;     /* what fetches look at */
	struct http_msg msg;        /* the response; set with head_done */
	bool is_spare;              /* its socket serves others when it is over */
	int family;                 /* of that */
	struct check_mux *mux;      /* carries the exchange; NULL: bytes of the connection do */
	uint64_t lend_ms;           /* when to ask again for a connection to be lent; 0: not */
	bool lend_named;            /* for one of a name, which may never come */
	/* not cleared at the beginning, as all before is */
	_Alignas(8) char first_texts[512]; /* of <arena> */
	struct h1_field fields[101]; /* of <head> */
};

enum check_phase { CHECK_IDLE, CHECK_QUEUED, CHECK_RUNNING };

/* One check of one server, of its thread. */
struct check {
	struct server *server;      /* borrowed from <config> */
	struct check_state *state;  /* of the server's state, which is counted here */
	struct server_state *server_state;
	const struct check_conf *conf;
	const struct check_proxy *proxy;
	const struct check_rule *rules;
	struct list link;           /* of the thread */
	struct list wait;           /* in the thread's queue: tune.max-checks-per-thread */
	struct task *task;
	struct conn *conn;
	struct check_run *run;      /* NULL when idle */
	bool agent;
	enum check_kind kind;
	enum check_phase phase;
	uint64_t started_ms, deadline_ms, next_ms;
	uint64_t started_ns;
	int pid, pid_fd;            /* of an external check; 0 and -1: none */
	const struct conn_ops *conn_ops;
	void (*done)(struct check *c, const struct check_result *r); /* ends the run */
	void (*go_on)(struct check *c); /* something has changed: runs the rules */
};

/* --- check_conn.c */

/* Closes the sockets that this thread's checks have kept for the next ones. */
void check_spares_close(void);
/* Opens the connection of <c->run->rule>. Returns 0, or the errno of what failed; 0 with
 * run->lend_ms set: it is to be called again then.
 */
int check_open(struct check *c);
/* Closes it and forgets what was received and was to be sent. */
void check_close(struct check *c);

/* --- check_step.c */

/* Runs rules until one waits (false) or the run has ended with *<res> (true). */
bool check_steps(struct check *c, struct check_result *res);
/* The result when the time is over. */
void check_late(struct check *c, struct check_result *res);

/* --- check_base.c */

/* The text of a value now; ptr NULL: no memory, or not hexadecimal. */
struct slice check_value_make(struct check_run *r, const struct check_value *v);

/* --- check_expect.c */

/* Compares what came with the current rule. */
enum expect_verdict check_expect(struct check *c, struct check_result *r);

/* --- check_http.c */

/* The name that the connection of the current rule, which is one, asks for with TLS: check-sni, or
 * the host of the request that follows. May be empty.
 */
struct slice check_http_sni(struct check *c);
/* Puts the request of the rule in run->out; false: no memory or too large. */
bool check_http_request(struct check *c, const struct check_http_send *h);
/* Parses what was received; false: it is no HTTP response. */
bool check_http_response(struct check *c);

/* --- check_mux.c: HTTP checks over HTTP/2 or on a connection of the traffic */

bool check_mux_init(void);
/* Is the connection, which stands, one for the mux? */
bool check_mux_is_due(const struct check *c);
/* Gives the connection to the mux: c->conn is NULL then. False: no memory. */
bool check_mux_start(struct check *c);
/* Do all connections that checks of the kind <cp->kind> and its rules need come from those of the
 * traffic? Those of reverse HTTP must: nothing on the line or in the rules may say how to connect.
 */
bool check_mux_shares_all(const struct server *srv, const struct check_proxy *cp);
/* Lends a connection of the traffic, or a new one that goes there behind the check, as
 * check-reuse-pool asks. CHECK_LEND_NONE: the check has to open its own.
 */
enum check_lend check_mux_share(struct check *c);
/* Does the connection stand? Its error, 0: none. */
bool check_mux_stands(const struct check_run *r);
int check_mux_error(struct check_run *r);
/* Adds a field to the request; then sends it. <host> may be empty. False: no memory. */
bool check_mux_add(struct check_run *r, struct slice name, struct slice value);
bool check_mux_send(struct check_run *r, struct slice method, struct slice uri, struct slice host,
		    struct slice body);
/* Those of the answer; NULL: none (yet). */
const struct http_fields *check_mux_trailers(const struct check_run *r);
/* Leaves the connection: closed if it was the check's own, back to the traffic if lent. */
void check_mux_close(struct check_run *r);

/* --- check_grpc.c */

/* `option grpc-check`. */
bool check_grpc_parse(struct conf_line *l);

/* --- check_external.c */

/* Starts the program; its end calls c->done. True: the run has ended already, with *<r>. */
bool check_external_start(struct check *c, struct check_result *r);
/* Ends it if it still runs. */
void check_external_stop(struct check *c);

/* --- agent.c: judges an agent's line */
check_judge_fn agent_judge;

#endif
