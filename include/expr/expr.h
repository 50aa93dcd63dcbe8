/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* expr.h - samples, fetches, converters: expressions, compiled once, evaluated without allocation
 *
 * An expression is fetch(args),converter(args),... compiled when the configuration is read.
 * Evaluating it gives a sample, or says that the sample does not exist, or is not known yet (more
 * bytes may bring it). Fetches are defined in any higher floor, with the data that they read; this
 * folder has the engine, the types and the converters.
 * Owns   : compiled expressions belong to the configuration (its arena).
 * Threads: compiled expressions are immutable and shared; evaluation uses the context's arena.
 * Manual : configuration 7.
 */
#ifndef EXPR_EXPR_H
#define EXPR_EXPR_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/slice.h"
#include "conf/conf.h"

enum sample_type {
	SMP_ANY,
	SMP_BOOL,
	SMP_INT,
	SMP_IPV4,
	SMP_IPV6,
	SMP_ADDR, /* v4 or v6: a static type only */
	SMP_STR,
	SMP_BIN,
	SMP_METH,
	SMP_TYPES,
};

enum sample_flags {
	SMP_CONST = 1 << 0,     /* the bytes must not be modified */
	SMP_NOT_LAST = 1 << 1,  /* more occurrences follow: ctx->cursor continues */
	SMP_MAY_CHANGE = 1 << 2,/* the result may change with more bytes */
	SMP_VOLATILE = 1 << 3,  /* dates, counters */
	SMP_AWAITED = 1 << 4,   /* with EXPR_WAIT: waiting for something other than bytes */
};

struct sample {
	enum sample_type type;
	unsigned flags;
	union {
		bool boolean;
		int64_t integer;
		uint32_t ipv4;      /* network order */
		uint8_t ipv6[16];
		struct slice text;  /* SMP_STR, SMP_BIN, and the text of an unknown SMP_METH */
	};
	int method;                 /* SMP_METH: enum http_method; <text> if it is OTHER */
};

enum expr_result {
	EXPR_NONE,  /* the sample does not exist */
	EXPR_FOUND,
	EXPR_WAIT,  /* not known yet; never with EXPR_FINAL */
};

/* When an expression is evaluated: bits, for the places of evaluation and for the validity of
 * fetches. The points are the columns of `-dKsmp`.
 */
enum expr_phase {
	EXPR_FE_CONN = 1 << 0, EXPR_FE_SESS = 1 << 1, EXPR_FE_REQ_CNT = 1 << 2,
	EXPR_FE_HRQ_HDR = 1 << 3, EXPR_FE_HRQ_BDY = 1 << 4, EXPR_FE_SET_BCK = 1 << 5,
	EXPR_BE_REQ_CNT = 1 << 6, EXPR_BE_HRQ_HDR = 1 << 7, EXPR_BE_HRQ_BDY = 1 << 8,
	EXPR_BE_SET_SRV = 1 << 9, EXPR_BE_SRV_CON = 1 << 10, EXPR_BE_RES_CNT = 1 << 11,
	EXPR_BE_HRS_HDR = 1 << 12, EXPR_BE_HRS_BDY = 1 << 13, EXPR_BE_STO_RUL = 1 << 14,
	EXPR_FE_RES_CNT = 1 << 15, EXPR_FE_HRS_HDR = 1 << 16, EXPR_FE_HRS_BDY = 1 << 17,
	EXPR_FE_LOG_END = 1 << 18, EXPR_BE_CHK_RUL = 1 << 19, EXPR_CFG_PARSER = 1 << 20,
	EXPR_CLI_PARSER = 1 << 21,
};

/* What a fetch reads, which determines where it is valid: bits; a fetch may have several (`hdr`
 * reads requests and responses). "Volatile" means gone once the message was forwarded.
 */
enum expr_use {
	EXPR_USE_CONST = 1 << 0,           /* everywhere */
	/* everywhere, except while the configuration is parsed */
	EXPR_USE_INTERNAL = 1 << 1,
	EXPR_USE_L4_CLIENT = 1 << 2,       /* addresses of the client connection */
	EXPR_USE_L5_CLIENT = 1 << 3,       /* its session: PROXY, TLS */
	EXPR_USE_FRONTEND = 1 << 4,        /* the frontend and its listener */
	EXPR_USE_L6_REQUEST = 1 << 5,      /* bytes of the request, volatile */
	EXPR_USE_HTTP_REQUEST_VOLATILE = 1 << 6, /* request fields */
	/* request data that are kept to the end: method, version */
	EXPR_USE_HTTP_REQUEST = 1 << 7,
	EXPR_USE_HTTP_REQUEST_BODY = 1 << 8,
	EXPR_USE_BACKEND = 1 << 9,
	EXPR_USE_SERVER = 1 << 10,
	EXPR_USE_L4_SERVER = 1 << 11,
	EXPR_USE_L5_SERVER = 1 << 12,
	EXPR_USE_L6_RESPONSE = 1 << 13,
	EXPR_USE_HTTP_RESPONSE_VOLATILE = 1 << 14,
	EXPR_USE_HTTP_RESPONSE = 1 << 15,
	EXPR_USE_HTTP_RESPONSE_BODY = 1 << 16,
	EXPR_USE_TRANSACTION = 1 << 17,    /* counters of the request, growing to the end */
	EXPR_USE_TRANSACTION_RESPONSE = 1 << 18, /* counters of the response, growing to the end */
	EXPR_USE_SESSION_END = 1 << 19,    /* logs only */
};
/* Returns the mask of enum expr_phase where a fetch with these uses is valid. */
unsigned expr_use_phases(unsigned uses);
/* Returns "HTTP response headers": the first use of the mask in words, for messages. */
const char *expr_use_name(unsigned uses);
/* Returns "frontend http-request header rule": the first place of the mask, for messages. */
const char *expr_phase_name(unsigned phases);

enum expr_ctx_flags {
	EXPR_DIR_REQUEST = 1 << 0,  /* evaluated for the request side */
	EXPR_DIR_RESPONSE = 1 << 1,
	EXPR_FINAL = 1 << 2,        /* nothing more will come, so no EXPR_WAIT */
	EXPR_ITERATE = 1 << 3,      /* the caller wants further occurrences */
	/* the caller comes back after EXPR_WAIT, even with EXPR_FINAL: work of this program is
	 * pending, not bytes
	 */
	EXPR_MAY_WAIT = 1 << 4,
};

struct addr;
struct session;
struct conn;
struct stream;
struct proxy;
struct vars;

/* Scopes of variables (expr/vars.h), longest-lived first; then the scopes of the parent stream, for
 * which another stream works; these are read-only.
 */
enum var_scope {
	VAR_PROC, VAR_SESS, VAR_TXN, VAR_REQ, VAR_RES, VAR_CHECK,
	VAR_PARENT_SESS, VAR_PARENT_TXN, VAR_PARENT_REQ, VAR_PARENT_RES, VAR_SCOPES
};

/* What fetches see of a health check, which has no stream. */
struct server;
struct http_msg;
struct expr_check {
	const struct server *server;
	const struct http_msg *response; /* NULL: none, or none yet */
	struct slice body;        /* of the response; or all bytes that a TCP check has received */
	struct conn *const *conn; /* pointer to the check's connection, if it has one */
};

/* The context of an evaluation. Heads are opaque here; fetches of higher floors know them. */
struct expr_ctx {
	struct proxy *proxy;      /* the current one: first the frontend, then the backend */
	struct session *session;
	struct stream *stream;    /* NULL before there is one */
	const struct expr_check *check; /* NULL except in the rules of checks */
	struct arena *arena;      /* for results; owned by the caller */
	unsigned flags;           /* enum expr_ctx_flags */
	struct vars *vars[VAR_SCOPES]; /* heads; NULL: the scope does not exist now */
	uint64_t cursor[3];       /* for an iterating fetch; zeroed by the caller to start */
	const void *data; /* <data> of the current fetch or converter; set by the engine */
};

enum expr_arg_type {
	ARG_END, ARG_INT, ARG_TIME, ARG_SIZE, ARG_STR, ARG_IPV4, ARG_IPV6, ARG_MASK4, ARG_MASK6,
	ARG_REGEX, ARG_FRONTEND, ARG_BACKEND, ARG_PROXY, ARG_SERVER, ARG_TABLE, ARG_MAP, ARG_VAR,
	ARG_ENUM, ARG_USERLIST,
	ARG_SINK,   /* core/sink.h; resolved in this folder */
	ARG_BYTES,  /* a text that a check function has converted to bytes */
};

struct expr_arg {
	enum expr_arg_type type;
	uint8_t number;               /* set by check() for the text; 0: none */
	union {
		int64_t integer;      /* INT; TIME in ms; SIZE; ENUM index */
		struct slice text;
		uint32_t ipv4;        /* IPV4, MASK4 (a mask); network order */
		uint8_t ipv6[16];     /* IPV6, MASK6 */
		void *object; /* proxy, server, table, regex, map: resolved in the check phase */
	};
	struct slice name;            /* as configured, for objects to resolve */
};

#define EXPR_ARGS_MAX 12

struct expr_fetch {
	const char *name;
	/* Argument types, mandatory ones first. */
	uint8_t args_min;
	uint8_t args[EXPR_ARGS_MAX]; /* enum expr_arg_type, ARG_END ends */
	enum sample_type out;
	unsigned use;                /* mask of enum expr_use */
	bool constant;               /* depends only on its arguments: evaluated at check time */
	enum expr_result (*fetch)(struct expr_ctx *ctx, const struct expr_arg *args,
				  struct sample *out);
	/* Checks and prepares arguments at configuration time; may be NULL. */
	bool (*check)(struct conf_line *l, struct expr_arg *args, const char **error);
	const void *data;            /* for functions shared by several fetches */
	const char *syntax, *help;
};

struct expr_converter {
	const char *name;
	uint8_t args_min;
	uint8_t args[EXPR_ARGS_MAX];
	enum sample_type in, out; /* out SMP_ANY: not known in advance */
	bool context;             /* uses more than its sample: never folded into a constant */
	bool keeps_text;          /* <in> is SMP_BIN, but a text stays a text */
	/* Changes *smp. False: no result. */
	bool (*convert)(struct expr_ctx *ctx, const struct expr_arg *args, struct sample *smp);
	bool (*check)(struct conf_line *l, struct expr_arg *args, const char **error);
	/* As check(), for functions shared by several converters, which need <data>. Only one of
	 * the two may be set.
	 */
	bool (*prepare)(struct conf_line *l, const struct expr_converter *c,
			struct expr_arg *args, const char **error);
	const void *data;
	const char *syntax, *help;
};

/* A criterion for ACLs only: `path_beg` is the fetch path matched by `beg`. */
struct expr_acl_keyword {
	const char *name;
	const char *fetch;
	uint8_t match; /* enum pattern_method */
};

struct expr;

/* Registers the tables of the modules. Call once. False: out of memory. */
bool expr_register(const struct module *const *modules);
/* Prints the list of -dKsmp. */
void expr_dump_fetches(FILE *out);
/* Prints the list of -dKcnv. */
void expr_dump_converters(FILE *out);
/* Prints the list of -dKacl: criteria for ACLs only. */
void expr_dump_acls(FILE *out);

/* Compiles the expression at the start of <text>; reports errors at word l->at. *end: offset of the
 * first unused character. <phase>: where it will run (one bit or a mask). NULL: reported.
 */
struct expr *expr_parse(struct conf_line *l, const char *text, size_t *end, unsigned phase);
/* Compiles the whole next word and moves past it. NULL: reported. */
struct expr *expr_take(struct conf_line *l, unsigned phase);
/* Returns "str", "ipv4"...: the manual's names of types. */
const char *sample_type_name(enum sample_type t);
/* Returns the type of its result, as far as known. */
enum sample_type expr_type(const struct expr *e);
/* Returns the points where its fetch is valid. */
unsigned expr_phases(const struct expr *e);
/* Returns the name of its fetch. */
const char *expr_fetch_name(const struct expr *e);
/* Returns what its fetch reads: a mask of enum expr_use. */
unsigned expr_uses(const struct expr *e);
/* Is its value known at check time? */
bool expr_is_constant(const struct expr *e);

/* Finds a fetch by name, or NULL. */
const struct expr_fetch *expr_fetch_find(struct slice name);
/* Finds a converter by name, or NULL. */
const struct expr_converter *expr_converter_find(struct slice name);
/* Finds an ACL criterion by name, or NULL. */
const struct expr_acl_keyword *expr_acl_keyword_find(struct slice name);

/* Returns the <index>-th fetch in the order of names; NULL: no more. */
const struct expr_fetch *expr_fetch_at(size_t index);
/* Returns the <index>-th converter in the order of names; NULL: no more. */
const struct expr_converter *expr_converter_at(size_t index);

/* Arguments that name a proxy, server, table, map or user list: the floor that knows these objects
 * resolves them in its check hook, sets arg->object, and reports those that it cannot find.
 */
struct expr_pending {
	struct expr_pending *next;
	struct expr_arg *arg;         /* name as configured; empty: the current one */
	int position;                 /* from 1 */
	const char *what;             /* "fetch method", "converter", "ACL keyword" */
	const char *keyword;          /* nbsrv */
	void *object;                 /* conf_line.object of that line: the proxy */
	const char *file;
	int line;
};
struct expr_pending *expr_pending_first(struct config *cfg);

/* After config_unlend(): resolves the names that the parsed expressions need, reports errors in
 * <diags>, and returns what the expressions own (NULL: nothing), to be freed with the object that
 * contains them.
 */
struct expr_owned;
struct expr_owned *expr_unlend(struct config *cfg, struct diag_list *diags);
void expr_owned_free(struct expr_owned *list);

/* For expressions compiled at run time, in a configuration of their own (`set var`): resolves the
 * arguments of <scratch> by the names of <live>. Between config_edit_begin() and config_edit_end(),
 * which must enclose the life of the expressions. Set at start-up.
 */
typedef void expr_resolve_fn(struct config *scratch, struct config *live, struct diag_list *diags);
void expr_set_resolver(expr_resolve_fn *resolve);

/* Returns the configuration in force, borrowed for this turn; NULL: none. */
struct config *expr_config_in_force(void);

/* Evaluates an expression. */
enum expr_result expr_eval(const struct expr *e, struct expr_ctx *ctx, struct sample *out);
/* As expr_eval(), for texts that are needed now: a result that may still change is accepted as it
 * is.
 */
enum expr_result expr_eval_now(const struct expr *e, struct expr_ctx *ctx, struct sample *out);
/* Evaluates an expression and casts the result to a string in the arena. */
enum expr_result expr_eval_string(const struct expr *e, struct expr_ctx *ctx, struct slice *out);
/* May a sample of this static type be cast to that type? */
bool sample_can_cast(enum sample_type from, enum sample_type to);
/* Casts in place. False: impossible, or out of memory. */
bool sample_cast(struct sample *s, enum sample_type to, struct arena *arena);
/* Returns the address in a sample, or in its text, with port 0; <s> may be cast. False: none. */
bool sample_to_addr(struct sample *s, struct arena *arena, struct addr *out);

/* --- conditions ------------------------------------------------------------------------------ */

/* ACLs are stored per proxy; conditions refer to named and anonymous ACLs. */
struct acl_set;   /* the named ACLs of a proxy or section */
struct condition; /* if|unless ...: a disjunction of conjunctions */

/* Creates an empty set that is freed with <cfg>. NULL: out of memory. */
struct acl_set *acl_set_new(struct config *cfg);
/* Creates a set whose conditions can also use the ACLs of <outer>; its own come first. NULL: out of
 * memory.
 */
struct acl_set *acl_set_inner(struct acl_set *outer);
/* Parses `acl <name> <criterion> [flags] [operator] <value>...`, words from l->at. False: reported.
 */
bool acl_parse(struct conf_line *l, struct acl_set *set, unsigned phase);
/* Parses the words from l->at to the end, which begin with `if` or `unless`. False: reported. If no
 * words are left, *out is NULL (always true) and true is returned.
 */
bool condition_parse(struct conf_line *l, struct acl_set *set, unsigned phase,
		     struct condition **out);
/* As condition_parse(); each alert begins with <where>, which must live as long as the
 * configuration.
 */
bool condition_parse_in(struct conf_line *l, struct acl_set *set, unsigned phase,
			const char *where, struct condition **out);
/* Evaluates a condition. EXPR_FOUND: true; EXPR_NONE: false; EXPR_WAIT: not known yet. NULL is
 * true.
 */
enum expr_result condition_eval(const struct condition *c, struct expr_ctx *ctx);
/* How often an ACL was evaluated, and how often it matched. */
struct acl_hits {
	uint64_t evaluated, matched;
};
/* Visits one ACL; <file> NULL: a predefined one. */
typedef void acl_each_fn(void *data, const char *name, const char *file, int line,
			 const struct acl_hits *hits);
/* Calls <fn> for each named ACL of a set (NULL: none) and of the sets within it, with the sum over
 * all threads.
 */
void acl_set_each(const struct acl_set *set, acl_each_fn *fn, void *data);
/* Returns the uses of all fetches in the condition: what must be prepared or captured for it. */
unsigned condition_uses(const struct condition *c);

#endif
