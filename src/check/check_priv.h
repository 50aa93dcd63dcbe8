/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_priv.h - declarations shared by the files about checks: rules, and a running check
 *
 *   check_conf.c  words of server lines and `option`s     check_rule.c   http-check, tcp-check
 *   check_base.c  where they are stored                   check_expect_conf.c ... expect
 *   check_section.c `healthcheck` sections
 *   check_set.c   the rules that apply to a backend       check_proto.c  mysql, redis, smtp, ...
 *   check_run.c   scheduling of checks                    check_step.c   runs the rules in order
 *   check_conn.c  connections                             check_external.c programs
 *   check_http.c  requests and responses                  check_expect.c comparing
 *   check_mux.c   HTTP/2, connections of the traffic      check_grpc.c   the health service of gRPC
 *   agent.c       answers of agents
 *
 * Calls go down the second part of this list: run, step, conn and expect, http, base. The state of
 * a server and the consequences of a result belong to the proxy layer: proxy/check.h.
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
	CHECK_KIND_TCP,      /* only a connection is checked */
	CHECK_KIND_TCPCHK, CHECK_KIND_HTTP, CHECK_KIND_PROTO, CHECK_KIND_EXTERNAL,
	CHECK_KIND_AGENT, CHECK_KIND_GRPC,
};

enum check_rule_type { CHECK_CONNECT, CHECK_SEND, CHECK_HTTP_SEND, CHECK_EXPECT, CHECK_SET_VAR,
		       CHECK_UNSET_VAR, CHECK_COMMENT };

struct check_connect {
	bool implicit;              /* not written in the configuration */
	/* `default`: uses the server line's settings where none are given here */
	bool use_default;
	bool send_proxy, linger, ssl, via_socks4;
	int port;                   /* 0: not written, or <port_expr> */
	struct expr *port_expr;
	const struct sockaddr_storage *addr; /* or NULL */
	socklen_t addr_len;
	const char *sni;            /* or NULL */
	struct slice alpn;          /* in wire format */
	const struct mux_kind *proto; /* or NULL */
};

/* A text, constant or a format. */
struct check_value {
	struct slice text;
	struct logformat *format;   /* NULL: <text> */
	bool hex;                   /* the format's result is hexadecimal */
};

struct check_field {
	struct check_field *next;
	const char *name;           /* in lower case */
	struct logformat *value;
	const char *text;           /* the value as written; of a host only */
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

/* The result of comparing the bytes received so far. */
enum expect_verdict {
	VERDICT_WAIT, VERDICT_OK, VERDICT_FAIL,
	VERDICT_END, /* the result is complete: no rule changes it */
};

/* Judges the answer of a protocol. Fills <r>, at least its status, unless it returns VERDICT_WAIT.
 * <is_last>: no more bytes will come; it must not return VERDICT_WAIT then.
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
	int step;                   /* from 1, as counted in messages; 0: implicit */
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
	bool tcp_is_own, http_is_own; /* else they come from `defaults` */
	struct check_rule *proto;     /* of `option redis-check` and similar */
	struct check_http_send *httpchk; /* from `option httpchk` */
	bool disable_on_404, send_state;
	const char *command, *path;   /* external-check */
	struct check_rule *run;       /* the rules that checks run: made in the check phase */
};

extern struct slot check_proxy_slot, check_config_slot;
struct check_proxy *check_proxy_of(const struct proxy *px);
/* Returns the settings of the proxy or the `healthcheck` section of this line. */
struct check_proxy *check_proxy_of_line(const struct conf_line *l);
/* Returns the settings that <srv> is checked with: of its `healthcheck` section or its backend. */
const struct check_proxy *check_proxy_of_server(const struct server *srv);

/* --- check_section.c: `healthcheck` sections */

bool check_section_open(struct conf_line *l);
void check_section_close(struct conf_line *l);
/* Returns true if a line of `http-check`, or of `tcp-check`, may stand here; outside of sections it
 * always may. Returns false: reported.
 */
bool check_section_fits(struct conf_line *l, bool http);
/* Called at a `type` line, before its arguments are parsed. Returns false: reported. */
bool check_section_type_begins(struct conf_line *l, enum check_kind kind);
/* Returns the settings of the section <name>; NULL: no such section. */
struct check_proxy *check_section_find(const struct config *cfg, const char *name);
/* Returns the settings of the section after <prev>, or of the first one (NULL); NULL at the end. */
struct check_proxy *check_section_next(const struct config *cfg, const struct check_proxy *prev);

/* Appends a rule; NULL: no memory. */
struct check_rule *check_rule_add(struct arena *a, struct check_rules *rules,
				  enum check_rule_type type);
/* Returns the rules of agent checks; NULL: no memory. */
struct check_rule *check_rules_agent(struct arena *a);

/* A comment line applies to the rule after it: gives it to <rule>, the last one, if that has none.
 */
void check_comment_inherit(const struct check_rules *rules, struct check_rule *rule);
/* Parses the arguments of `expect`. */
bool check_expect_parse(struct conf_line *l, struct check_rules *rules, bool http);
/* Converts "h2,http/1.1" to wire format; ptr NULL: a name is empty or too long, or no memory. */
struct slice check_alpn_make(struct arena *a, const char *text);
/* Returns the mux to servers with this name; NULL: no such mux. */
const struct mux_kind *check_mux_find(const char *name);
/* Frees the regular expression with the generation. Returns false: reported, and it is freed. */
bool check_keep_regex(struct conf_line *l, struct regex *re);

/* Parse `http-check ...` and `tcp-check ...` lines. */
bool check_http_rule_parse(struct conf_line *l);
bool check_tcp_rule_parse(struct conf_line *l);
/* Parses `option mysql-check` and similar. */
bool check_proto_parse(struct conf_line *l);
/* Decodes hexadecimal digits; .ptr NULL: invalid, *error has the reason. */
struct slice check_hex_bytes(struct arena *a, const char *text, const char **error);

/* Called at start-up. Returns false: no memory. */
bool checks_init(void);
/* Check phase: completes the rules of each backend and the checks of server lines. */
void checks_check(struct config *cfg, struct diag_list *diags);
/* Does the same for one backend, also for one added at run time. */
void checks_check_backend(struct proxy *px, struct diag_list *d);
/* --- a check -------------------------------------------------------------------------------- */

/* State of a run. */
struct check_run {
	struct arena arena;         /* must be first: for results of expressions */
	const struct check_rule *rule; /* the current one */
	const struct check_rule *connect_rule; /* of the current connection */
	const struct check_rule *filled; /* the send rule whose bytes are in <out> or were sent */
	struct block_queue out;     /* to send */
	struct block *in;           /* received on this connection */
	const struct check_value *made_of; /* the format that <made> is the result of */
	struct slice made;
	const char *note;           /* left by a judge for the next one; or NULL */
	bool in_end;                /* no more bytes will come */
	bool sent_http;             /* <in> is a response */
	bool to_head;               /* to a HEAD request: it has no body */
	bool head_begun, head_done;
	struct h1_parser parser;
	struct h1_head head;
	struct chunk_decoder chunks;
	struct slice body;          /* decoded so far */
	size_t raw_at;              /* offset in <in> of the bytes not decoded yet */
	bool body_end;
	struct vars vars[VAR_SCOPES]; /* check, sess */
	struct expr_ctx ctx;
	struct expr_check seen;     /* for sample fetches */
	struct http_msg msg;        /* the response; set with head_done */
	bool is_spare;              /* its socket is kept for other checks afterwards */
	int family;                 /* of that socket */
	struct check_mux *mux;      /* carries the exchange; NULL: plain bytes of the connection */
	uint64_t lend_ms;           /* when to request a lent connection again; 0: not */
	bool lend_named;            /* one with a name, which may never come */
	/* not cleared at the beginning, unlike everything before */
	_Alignas(8) char first_texts[512]; /* of <arena> */
	struct h1_field fields[101]; /* of <head> */
};

enum check_phase { CHECK_IDLE, CHECK_QUEUED, CHECK_RUNNING };

/* A check of a server; belongs to its thread. */
struct check {
	struct server *server;      /* borrowed from <config> */
	struct check_state *state;  /* in the server's state, which is counted here */
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
	void (*go_on)(struct check *c); /* runs the rules again after an event */
};

/* --- check_conn.c */

/* Closes the sockets that this thread's checks have kept for later ones. */
void check_spares_close(void);
/* Opens the connection of <c->run->rule>. Returns 0 or an errno. Returns 0 with run->lend_ms set if
 * it must be called again at that time.
 */
int check_open(struct check *c);
/* Closes the connection and discards the bytes received and those to send. */
void check_close(struct check *c);

/* --- check_step.c */

/* Runs rules until one has to wait (returns false) or the run ends with *<res> (returns true). */
bool check_steps(struct check *c, struct check_result *res);
/* Sets the result of a run that has timed out. */
void check_late(struct check *c, struct check_result *res);

/* --- check_base.c */

/* Returns the current text of a value; ptr NULL: no memory, or invalid hexadecimal. */
struct slice check_value_make(struct check_run *r, const struct check_value *v);

/* --- check_expect.c */

/* Compares the bytes received with the current rule. */
enum expect_verdict check_expect(struct check *c, struct check_result *r);

/* --- check_http.c */

/* Returns the SNI of the connection of the current rule, a connect rule: check-sni, or the host of
 * the request that follows. May be empty.
 */
struct slice check_http_sni(struct check *c);
/* Writes the request of the rule to run->out. Returns false: no memory, or too large. */
bool check_http_request(struct check *c, const struct check_http_send *h);
/* Parses the bytes received. Returns false: not an HTTP response. */
bool check_http_response(struct check *c);

/* --- check_mux.c: HTTP checks over HTTP/2 or on a connection of the traffic */

bool check_mux_init(void);
/* Returns true if the connection, which is established, needs a mux. */
bool check_mux_is_due(const struct check *c);
/* Passes the connection to the mux and sets c->conn to NULL. Returns false: no memory. */
bool check_mux_start(struct check *c);
/* Returns true if all connections for checks of the kind <cp->kind> with its rules come from the
 * traffic. Required for reverse HTTP: neither the line nor the rules may say how to connect.
 */
bool check_mux_shares_all(const struct server *srv, const struct check_proxy *cp);
/* Lends a connection of the traffic, or a new one that is passed to the traffic after the check,
 * according to check-reuse-pool. CHECK_LEND_NONE: the check must open its own.
 */
enum check_lend check_mux_share(struct check *c);
/* check_mux_stands(): returns true if the connection is established. check_mux_error(): returns its
 * error, or 0.
 */
bool check_mux_stands(const struct check_run *r);
int check_mux_error(struct check_run *r);
/* check_mux_add() adds a field to the request; check_mux_send() then sends it. <host> may be empty.
 * Return false: no memory.
 */
bool check_mux_add(struct check_run *r, struct slice name, struct slice value);
bool check_mux_send(struct check_run *r, struct slice method, struct slice uri, struct slice host,
		    struct slice body);
/* Returns the trailers of the answer; NULL: none (yet). */
const struct http_fields *check_mux_trailers(const struct check_run *r);
/* Leaves the connection: closes the check's own, returns a lent one to the traffic. */
void check_mux_close(struct check_run *r);

/* --- check_grpc.c */

/* Parses `option grpc-check`. */
bool check_grpc_parse(struct conf_line *l);

/* --- check_external.c */

/* Starts the program; when it ends, c->done is called. Returns true: the run has already ended,
 * with *<r>.
 */
bool check_external_start(struct check *c, struct check_result *r);
/* Kills it if it still runs. */
void check_external_stop(struct check *c);

/* agent.c: judges an agent's answer */
check_judge_fn agent_judge;

#endif
