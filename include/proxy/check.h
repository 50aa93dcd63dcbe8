/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* check.h - health checks and agent checks of servers
 *
 * Purpose: the check settings of a server line, the state that results from checks, and its
 *          consequences: the server goes up, down or to a soft stop. The floor above runs the
 *          checks (check/run.h).
 * Owns   : settings (struct server_checks) belong to the generation; results (struct check_state)
 *          belong to the server's state, which survives a reload; a running check belongs to its
 *          thread.
 * Threads: each check belongs to one thread from checks_start_thread() to checks_stop_thread().
 *          Results are written under the backend's change lock, by check_report() and the setters;
 *          members marked atomic are read without it.
 * Errors : a check that cannot run (no memory, no descriptor) reports CHECK_SOCKERR.
 * Manual : configuration 5.2 (check, agent-check and related options), 4.2 (http-check, tcp-check,
 *          option httpchk and related options); management 9.3 (set server, enable health, show
 *          servers state). See doc/internals/checks.md.
 */
#ifndef PROXY_CHECK_H
#define PROXY_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include "base/slice.h"

struct check_proxy;
struct config;
struct mux_kind;
struct proxy;
struct server;

/* Results of checks, numbered as in `show servers state`. X(name, code in the statistics, meaning,
 * outcome)
 */
#define CHECK_STATUSES(X) \
	X(UNKNOWN, "UNK", "Unknown", UNKNOWN) \
	X(INI, "INI", "Initializing", UNKNOWN) \
	X(START, "START", "Checking", UNKNOWN) \
	X(CHECKED, "CHECKED", "No status change", NEUTRAL) \
	X(HANA, "HANA", "Health analyze", FAILED) \
	X(SOCKERR, "SOCKERR", "Socket error", FAILED) \
	X(L4OK, "L4OK", "Layer4 check passed", PASSED) \
	X(L4TOUT, "L4TOUT", "Layer4 timeout", FAILED) \
	X(L4CON, "L4CON", "Layer4 connection problem", FAILED) \
	X(L6OK, "L6OK", "Layer6 check passed", PASSED) \
	X(L6TOUT, "L6TOUT", "Layer6 timeout", FAILED) \
	X(L6RSP, "L6RSP", "Layer6 invalid response", FAILED) \
	X(L7TOUT, "L7TOUT", "Layer7 timeout", FAILED) \
	X(L7RSP, "L7RSP", "Layer7 invalid response", FAILED) \
	X(L57DATA, "", "", UNKNOWN) /* the following ones have a protocol code */ \
	X(L7OK, "L7OK", "Layer7 check passed", PASSED) \
	X(L7OKC, "L7OKC", "Layer7 check conditionally passed", CONDPASS) \
	X(L7STS, "L7STS", "Layer7 wrong status", FAILED) \
	X(PROCERR, "PROCERR", "External check error", FAILED) \
	X(PROCTOUT, "PROCTOUT", "External check timeout", FAILED) \
	X(PROCOK, "PROCOK", "External check passed", PASSED)
#define X(name, code, meaning, result) CHECK_##name,
enum check_status { CHECK_STATUSES(X) CHECK_STATUS_COUNT };
#undef X

/* Numbers as in `show servers state`. */
enum check_outcome {
	CHECK_RES_UNKNOWN, CHECK_RES_NEUTRAL, CHECK_RES_FAILED, CHECK_RES_PASSED,
	CHECK_RES_CONDPASS
};

/* Bits as in `show servers state`. */
enum check_flags {
	CHECK_IN_PROGRESS = 0x01,
	CHECK_CONFIGURED = 0x02,
	CHECK_ENABLED = 0x04,   /* may be changed at run time */
	CHECK_PAUSED = 0x08,    /* by maintenance */
	CHECK_AGENT = 0x10,
};

enum check_observe { OBSERVE_NONE, OBSERVE_LAYER4, OBSERVE_LAYER7 };
enum check_on_error { ON_ERROR_FAIL_CHECK, ON_ERROR_FASTINTER, ON_ERROR_SUDDEN_DEATH,
		      ON_ERROR_MARK_DOWN };
enum check_init { CHECK_INIT_NONE, CHECK_INIT_FULLY_UP, CHECK_INIT_UP, CHECK_INIT_DOWN,
		  CHECK_INIT_FULLY_DOWN };

/* --- settings ------------------------------------------------------------------------------- */

/* Settings of one of the two checks of a server. */
struct check_conf {
	int64_t inter_ms, fastinter_ms, downinter_ms; /* 0: not set, inter_ms applies */
	const struct sockaddr *addr;   /* where to connect instead; NULL: the server's */
	const char *addr_text;         /* as configured, or NULL */
	socklen_t addr_len;
	int port;                      /* 0: the server's */
	int rise, fall;
	bool on;
	const char *send;              /* agent-send; or NULL */
};

/* Check settings of a server line. Inherited from default-server. */
struct server_checks {
	struct check_conf health, agent;
	const char *pool_conn_name;    /* check-pool-conn-name, or NULL */
	const struct mux_kind *proto;  /* check-proto; or NULL */
	const char *sni;               /* check-sni, or NULL */
	struct slice alpn;             /* check-alpn in wire format */
	bool send_proxy;               /* check-send-proxy */
	bool via_socks4;               /* check-via-socks4 */
	bool reuse_pool;               /* check-reuse-pool */
	bool agent_addr_is_set;        /* by agent-addr: `addr` does not apply to the agent */
	int ssl;                       /* check-ssl 1, no-check-ssl -1, 0: as the traffic */
	/* index of its first check in the generation, to spread the starts */
	unsigned turn;
	enum check_observe observe;
	enum check_on_error on_error;
	int error_limit;               /* consecutive errors that count as a failed check */
	enum check_init init;
	int64_t slowstart_ms;          /* 0: none */
	const char *own_name;          /* healthcheck, or NULL */
	const struct check_proxy *own; /* its section, found in the check phase; or NULL */
	bool no_sni_auto;              /* no-check-sni-auto */
	const char *track_name;        /* as configured, or NULL */
	struct server *track;          /* the server that it tracks, or NULL */
	struct server *trackers;       /* first of the servers that track it */
	struct server *next_tracker;   /* next server that tracks the same */
};

/* --- state ---------------------------------------------------------------------------------- */

#define CHECK_TEXT_MAX 240

/* A run of equal consecutive results. */
#define CHECK_PAST_MAX 12
struct check_past {
	uint64_t first_ms, last_ms;    /* monotonic clock */
	unsigned count;
	uint16_t status;               /* enum check_status */
	int code;
	int64_t longest_ms;            /* duration */
};

/* State of one of a server's checks. */
struct check_state {
	unsigned flags;                /* atomic: enum check_flags */
	unsigned status;               /* atomic: enum check_status */
	unsigned outcome;              /* atomic: enum check_outcome */
	int health;                    /* atomic: 0..rise+fall-1; up from rise on */
	int rise, fall;                /* atomic: a reload may change them */
	int code;                      /* atomic: protocol code, with L7OK, L7OKC, L7STS */
	int64_t duration_ms;           /* atomic */
	bool is_tested;                /* atomic: a check has ended */
	unsigned force_fast;           /* atomic bool: on-error wants fastinter */
	int port;                      /* atomic: set at run time; 0: see check_conf */
	/* likewise (or IPv4), under the lock; AF_UNSPEC: see check_conf */
	struct sockaddr_in6 addr;
	char *send;                    /* agent-send at run time: owned, under the lock */
	char *text;                    /* of the last check: owned, under the lock; NULL: none */
	struct check_past *past;       /* a ring: owned, under the lock; NULL: none */
	unsigned past_count;           /* results so far; the last one may still grow */
};

/* Result of a check. */
struct check_result {
	enum check_status status;
	int code;                      /* of the protocol */
	int64_t duration_ms;
	const char *text;              /* or NULL; copied */
};

/* Return the code "L4OK", and the text "Layer4 check passed", of a status; and its outcome. */
const char *check_status_code(enum check_status status);
const char *check_status_text(enum check_status status);
enum check_outcome check_status_outcome(enum check_status status);
static inline bool check_status_has_code(enum check_status status)
{
	return status > CHECK_L57DATA;
}

static inline unsigned check_flags_of(const struct check_state *cs)
{
	return __atomic_load_n(&cs->flags, __ATOMIC_RELAXED);
}

static inline int check_health_of(const struct check_state *cs)
{
	return __atomic_load_n(&cs->health, __ATOMIC_RELAXED);
}

static inline int check_rise_of(const struct check_state *cs)
{
	return __atomic_load_n(&cs->rise, __ATOMIC_RELAXED);
}

static inline int check_fall_of(const struct check_state *cs)
{
	return __atomic_load_n(&cs->fall, __ATOMIC_RELAXED);
}

/* Sets the defaults of the settings. */
void server_checks_set_defaults(struct server_checks *c);
/* Initialises the checks in <st>, the state that a server starts with: enabled as configured,
 * health from init-state.
 */
struct server_state;
void check_states_init(const struct server *srv, struct server_state *st);
/* Frees what a state owns. */
void check_state_fini(struct check_state *cs);
/* Reports the result <r> of a check of <srv>, of its agent check if <agent>: counts, logs, and
 * changes the server's state when due. Any thread.
 */
void check_report(struct server *srv, bool agent, const struct check_result *r);
/* Returns the state of one of its checks. */
struct check_state *check_state_of(const struct server *srv, bool agent);
/* Copies the last text (at most <size> bytes with the NUL). */
void check_text(const struct server *srv, bool agent, char *out, size_t size);
/* Copies the last results, newest first. Returns how many. */
unsigned check_past(const struct server *srv, bool agent, struct check_past out[CHECK_PAST_MAX]);
/* Returns the interval between checks in ms, in the server's current state. */
int64_t check_interval_ms(const struct server *srv, bool agent);
/* Returns the address and port that the check connects to now. False: it has no port. */
struct server_addr;
bool check_address(const struct server *srv, bool agent, struct server_addr *out);

/* What a previous process knew about the checks of a server. */
struct check_memory {
	enum check_status status;
	enum check_outcome outcome;
	int health;
	unsigned flags, agent_flags;   /* enum check_flags */
};

/* Restores the last result of a server that is not running yet, and as much health as suits <oper>
 * (enum server_oper), the state in which the server starts.
 */
void check_restore_health(struct server *srv, unsigned oper, const struct check_memory *m);
/* Restores, for a server that is not running yet, which checks were switched on or off. */
void check_restore_flags(struct server *srv, const struct check_memory *m);
/* Pauses and resumes checks: maintenance of the server has begun, or has ended. */
void check_suspend(struct server *srv);
void check_resume(struct server *srv);

/* Returns the server whose checks decide for <srv>: the end of its chain of `track`, or itself. */
const struct server *check_decider(const struct server *srv);

/* --- observations of the stream floor (observe) --------------------------------------------- */

/* X(name, layers where it counts (1: layer4, 2: layer7), is it an error?, text) */
#define OBSERVATIONS(X) \
	X(CONNECTED, 1, 0, "L4 successful connection") \
	X(CONNECT_FAILED, 3, 1, "L4 unsuccessful connection") \
	X(RESPONSE_OK, 2, 0, "Correct http response") \
	X(RESPONSE_STATUS, 2, 1, "Wrong http response") \
	X(RESPONSE_BAD, 2, 1, "Invalid http response (headers)") \
	X(RESPONSE_TIMEOUT, 2, 1, "Read timeout (http)") \
	X(RESPONSE_BROKEN, 2, 1, "Read error (http)")
#define X(name, layers, error, text) SEEN_##name,
enum check_observation { OBSERVATIONS(X) };
#undef X

/* Slow part of check_observe(). */
void check_observe_now(struct server *srv, enum check_observation seen);
/* Notes what traffic has shown about <srv>. Does nothing unless `observe` is set. */
static inline void check_observe(struct server *srv, const struct server_checks *c,
				 enum check_observation seen)
{
	if (__builtin_expect(c->observe != OBSERVE_NONE, 0))
		check_observe_now(srv, seen);
}

/* --- run-time changes ----------------------------------------------------------------------- */

/* Enables or disables health or agent checks. False: not configured. */
bool check_enable(struct server *srv, bool agent, bool on);
/* Implement `set server health up|stopping|down` (0, 1, 2) and `set server agent up|down`; <by> is
 * an enum server_cause.
 */
void check_force_health(struct server *srv, int health_up_stopping_down, int by);
void check_force_agent(struct server *srv, bool up, int by);
/* Implement check-addr, check-port and the like at run time; <addr> or <port> may be NULL.
 * check_set_send(): false: out of memory. check_set_address(): false: <message> tells why.
 */
bool check_set_address(struct server *srv, bool agent, const char *addr, const char *port,
		       char *message, size_t size);
bool check_set_send(struct server *srv, const char *text);

#endif
