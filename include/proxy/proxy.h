/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* proxy.h - frontends, backends, listens and defaults: settings, and state that outlives a reload
 *
 * Purpose: the sections that everything else hangs its settings on. Settings of other modules
 * are in slots.
 * Owns   : a generation owns its proxies (its arena); a proxy holds a reference on its state.
 *          proxies_adopt() gives the next generation the states of the same names.
 * Threads: struct proxy is immutable after the check phase. State: members marked atomic.
 * Errors : parsers report diagnostics.
 * Manual : configuration 4.
 */
#ifndef PROXY_PROXY_H
#define PROXY_PROXY_H

#include <stdbool.h>
#include <stdint.h>
#include "base/list.h"
#include "base/slot.h"
#include "base/tree.h"
#include "proxy/counters.h"
#include "proxy/hash.h"
#include "proxy/outlier.h"

struct arena;
struct balance;
struct balance_algorithm;
struct conf_line;
struct config;
struct diag_list;
struct fcgi_peer;
struct history;
struct server;
struct server_addr;
struct source;

enum proxy_caps {
	PROXY_FE = 1 << 0,
	PROXY_BE = 1 << 1,
	PROXY_DEFAULTS = 1 << 2,
	PROXY_FORWARD = 1 << 3,  /* beside PROXY_FE: a log-forward section */
	PROXY_LISTEN = PROXY_FE | PROXY_BE,
};

enum proxy_mode { PROXY_MODE_TCP, PROXY_MODE_HTTP, PROXY_MODE_LOG, PROXY_MODE_SPOP };

/* X(name, words after `option`, sides where it has an effect, modes: 1 tcp, 2 http, 3 both) */
#define PROXY_OPTIONS(X) \
	X(ABORTONCLOSE, "abortonclose", PROXY_LISTEN, 3) \
	X(ALLBACKUPS, "allbackups", PROXY_BE, 3) \
	X(CHECKCACHE, "checkcache", PROXY_BE, 2) \
	X(CLITCPKA, "clitcpka", PROXY_FE, 3) \
	X(SRVTCPKA, "srvtcpka", PROXY_BE, 3) \
	X(CONTSTATS, "contstats", PROXY_FE, 3) \
	X(DONTLOG_NORMAL, "dontlog-normal", PROXY_FE, 3) \
	X(DONTLOGNULL, "dontlognull", PROXY_FE, 3) \
	X(H1_ADJUST_CLIENT, "h1-case-adjust-bogus-client", PROXY_FE, 3) \
	X(H1_ADJUST_SERVER, "h1-case-adjust-bogus-server", PROXY_BE, 3) \
	X(HTTP_BUFFER_REQUEST, "http-buffer-request", PROXY_LISTEN, 2) \
	X(DROP_REQUEST_TRAILERS, "http-drop-request-trailers", PROXY_BE, 2) \
	X(DROP_RESPONSE_TRAILERS, "http-drop-response-trailers", PROXY_FE, 2) \
	X(HTTP_IGNORE_PROBES, "http-ignore-probes", PROXY_FE, 2) \
	X(HTTP_NO_DELAY, "http-no-delay", PROXY_LISTEN, 2) \
	X(PRETEND_KEEPALIVE, "http-pretend-keepalive", PROXY_BE, 2) \
	X(USE_PROXY_HEADER, "http-use-proxy-header", PROXY_FE, 2) \
	X(UNSAFE_REQUEST, "accept-unsafe-violations-in-http-request", PROXY_FE, 2) \
	X(UNSAFE_RESPONSE, "accept-unsafe-violations-in-http-response", PROXY_BE, 2) \
	X(INDEPENDENT_STREAMS, "independent-streams", PROXY_LISTEN, 3) \
	X(LOG_HEALTH_CHECKS, "log-health-checks", PROXY_BE, 3) \
	X(LOG_SEPARATE_ERRORS, "log-separate-errors", PROXY_FE, 3) \
	X(LOGASAP, "logasap", PROXY_FE, 3) \
	X(NOLINGER, "nolinger", PROXY_LISTEN, 3) \
	X(PERSIST, "persist", PROXY_BE, 3) \
	X(PREFER_LAST_SERVER, "prefer-last-server", PROXY_BE, 2) \
	X(REDISPATCH, "redispatch", PROXY_BE, 3) \
	X(SOCKET_STATS, "socket-stats", PROXY_FE, 3) \
	X(SPLICE_AUTO, "splice-auto", PROXY_LISTEN, 3) \
	X(SPLICE_REQUEST, "splice-request", PROXY_LISTEN, 3) \
	X(SPLICE_RESPONSE, "splice-response", PROXY_LISTEN, 3) \
	X(TRANSPARENT, "transparent", PROXY_BE, 3) \
	X(SMART_ACCEPT, "tcp-smart-accept", PROXY_FE, 3) \
	X(SMART_CONNECT, "tcp-smart-connect", PROXY_BE, 3) \
	X(IDLE_CLOSE, "idle-close-on-response", PROXY_FE, 2) \
	X(DISABLE_H2_UPGRADE, "disable-h2-upgrade", PROXY_FE, 2)
#define X(name, words, sides, modes) PROXY_OPT_AT_##name,
enum proxy_option_at { PROXY_OPTIONS(X) PROXY_OPT_COUNT };
#undef X
/* Tested as: px->options & PROXY_OPT_NOLINGER. */
#define X(name, words, sides, modes) \
	static const uint64_t PROXY_OPT_##name __attribute__((unused)) = \
		(uint64_t)1 << PROXY_OPT_AT_##name;
PROXY_OPTIONS(X)
#undef X

#define PROXY_OPT_SPLICE_ANY \
	(PROXY_OPT_SPLICE_AUTO | PROXY_OPT_SPLICE_REQUEST | PROXY_OPT_SPLICE_RESPONSE)

/* option httpclose | http-server-close | http-keep-alive: the last one given wins. */
enum proxy_http_conn { HTTP_CONN_KEEP_ALIVE, HTTP_CONN_SERVER_CLOSE, HTTP_CONN_CLOSE };

enum proxy_log_kind {
	PROXY_LOG_NONE, PROXY_LOG_TCP, PROXY_LOG_TCP_CLF, PROXY_LOG_TCP_JSON,
	/* in mode http only: */
	PROXY_LOG_HTTP, PROXY_LOG_HTTP_CLF, PROXY_LOG_HTTP_JSON, PROXY_LOG_HTTPS,
	PROXY_LOG_HTTPS_JSON,
	PROXY_LOG_KINDS
};

enum reuse_mode { REUSE_NEVER, REUSE_SAFE, REUSE_AGGRESSIVE, REUSE_ALWAYS };

/* option http-restrict-req-hdr-names */
enum proxy_restrict_names { RESTRICT_UNSET, RESTRICT_PRESERVE, RESTRICT_DELETE, RESTRICT_REJECT };

/* option forwardfor, originalto. <enabled> with <if_none>: only when the field is missing. */
struct proxy_forward_for {
	bool enabled, if_none;
	const char *header;          /* "X-Forwarded-For" */
	bool has_except;
	uint8_t except_family;       /* AF_INET, AF_INET6 */
	uint8_t except[16], except_mask[16]; /* network order; v4 in the first 4 bytes */
};

/* In ms; 0: none. Warned about when unset and needed. */
struct proxy_timeouts {
	int64_t client, client_fin, client_hs, server, server_fin, connect, queue;
	int64_t http_request, http_keep_alive, tunnel, tarpit, check;
};

struct proxy_tcp_keepalive {
	int count;                   /* 0: the system's */
	int64_t idle_ms, interval_ms;
};

/* Retries also on these events (retry-on): bits. */
#define PROXY_RETRY_EVENTS(X) \
	X(CONN_FAILURE, "conn-failure") X(EMPTY_RESPONSE, "empty-response") \
	X(JUNK_RESPONSE, "junk-response") X(RESPONSE_TIMEOUT, "response-timeout") \
	X(0RTT_REJECTED, "0rtt-rejected") X(401, "401") X(403, "403") X(404, "404") X(408, "408") \
	X(421, "421") X(425, "425") X(429, "429") X(500, "500") X(501, "501") X(502, "502") \
	X(503, "503") X(504, "504")
#define X(name, text) PROXY_RETRY_AT_##name,
enum proxy_retry_at { PROXY_RETRY_EVENTS(X) PROXY_RETRY_COUNT };
#undef X
#define X(name, text) PROXY_RETRY_##name = 1 << PROXY_RETRY_AT_##name,
enum proxy_retry_event { PROXY_RETRY_EVENTS(X) };
#undef X

/* Counters, queue and switches of a proxy. */
struct proxy_state {
	unsigned refs;               /* atomic */
	char *identity;              /* "fe:name" or the like: owned */
	unsigned open_sessions;      /* atomic: of the frontend, counted when accepted */
	unsigned disabled;           /* atomic bool: frontend disabled or shut down (Runtime API) */
	unsigned stopped;            /* atomic bool: shut down for good */
	unsigned unpublished;        /* atomic bool: the backend is not to be chosen */
	int64_t maxconn;             /* atomic: frontend's limit now */
	uint64_t changed_us;         /* atomic: wall clock of the backend's last change up/down */
	uint64_t down_ms;            /* accumulated */
	unsigned trying_again;       /* atomic: requests that the retry budget counts */
	unsigned was_up;             /* atomic: backend has a usable server */
	int64_t last_session_s;      /* atomic */
	uint32_t log_lines;          /* atomic: lines of the frontend that were numbered (%lc) */

	/* What `clear counters all` took from the frontend's: the process's totals stay. */
	struct { uint64_t connections, sessions, requests; } cleared; /* atomic */
	struct counter_set fe;       /* enum counter_front */
	struct counter_set be;       /* enum counter_back */
	uint64_t fe_session_max, be_session_max, be_queue_max; /* atomic; see gauge_add() */
	struct rate_set fe_conn_rate, fe_session_rate, fe_request_rate;
	struct rate_set be_session_rate;
	struct time_set times;
	struct latency_set fe_latency, be_latency;
	struct history *fe_history, *be_history; /* atomic: as of servers; owned; or NULL */

	/* queue.c's: one lock for the backend's and its servers' queues */
	struct {
		unsigned lock;       /* spin lock: a few instructions */
		unsigned length;     /* atomic */
		unsigned passed;     /* granted so far, under the lock */
		struct tree waiters;
	} queue __attribute__((aligned(64)));
	unsigned change_lock;        /* weights, states: off the request path */
};

/* A backend that rules of a frontend name. */
struct proxy_target {
	struct proxy_target *next;
	struct proxy *proxy;
};

/* A part of `option forwarded`: of the connection or the request, or an expression's value. */
struct proxy_forwarded_part {
	bool on;
	const struct expr *expr;     /* or NULL */
};

/* option forwarded: what the field says, in this order. */
struct proxy_forwarded {
	bool proto;
	struct proxy_forwarded_part host, by, by_port, client, client_port;
};

/* What `option`s of mode http say. */
struct proxy_http {
	enum proxy_http_conn connection;
	enum proxy_restrict_names restrict_names;
	struct proxy_forward_for forward_for, original_to;
	const struct proxy_forwarded *forwarded; /* option forwarded; NULL: not set */
	int64_t max_keep_alive_queue;/* -1 none */
	int max_session_server_conns;/* idle ones that are kept for one client alone */
	bool abort_is_said;          /* else option abortonclose depends on the mode */
	const struct fcgi_peer *fcgi; /* the application of servers with `proto fcgi`; or NULL */
};

/* Which log option there is. */
struct proxy_log_option {
	enum proxy_log_kind kind;
	const char *said;            /* how: "log-format", "option httplog"; or NULL */
	const char *file;            /* where it was set, for warnings */
	int line;
};

/* Other tries of what has failed. */
struct proxy_retry {
	int count;                   /* retries */
	int redispatch_after;        /* option redispatch <n>: 0 off, -1 last retry, n every n-th */
	unsigned on;                 /* enum proxy_retry_event */
	int percent, least;          /* retry-budget: of active requests; 0: none */
	int64_t delay_ms, delay_max_ms; /* retry-delay; 0: none */
};

/* How a backend chooses servers: `balance`, `hash-type`. */
struct proxy_balancing {
	const struct balance_algorithm *algorithm; /* NULL: not a backend */
	struct hash_settings hash;
	struct expr *log_hash;       /* balance log-hash, NULL: not that */
	unsigned random_draws;
	bool is_set;                 /* by the section or its defaults */
	bool unpublished;            /* be-unpublished */
};

/* Where a frontend's requests go. */
struct proxy_switching {
	struct proxy *backend;       /* default_backend */
	const char *backend_name;    /* as written, or NULL */
	struct proxy_target *targets;/* of its rules, each once, in the arena */
	bool to_http;                /* mode tcp: some of its streams may become HTTP */
};

/* A proxy at run time. */
struct proxy_run {
	struct proxy *next_added;    /* atomic: in its bucket of names */
	struct proxy *next_removed;  /* see proxy_withdraw() */
	struct server *removed;      /* its servers that die with it */
	struct server *stand_in;     /* where one was removed: see balance_forget(); or NULL */
	unsigned leaving;            /* atomic: its servers that will be freed; walk.c's */
	unsigned is_removed;         /* atomic bool */
	unsigned stage;              /* what is left to wait for: walk.c's */
	unsigned pins;               /* atomic: see proxy_pin() */
	unsigned is_kept;            /* atomic bool: see proxy_keep() */
	uint64_t removal;            /* its place among the removals of the process */
	struct arena *memory;        /* of one made at run time: owned, it lies in it; or NULL */
	bool is_added;               /* by `add backend`; else by the file */
	bool is_referenced;          /* other sections name it: it cannot be removed; or, of a
				      * defaults section, they run its rules or checks */
	bool is_named;               /* a defaults section: a section says `from` it */
};

struct proxy {
	struct list link;            /* in the generation: read by proxy_next() */
	struct tree_node by_name;    /* key: hash of the name */
	const char *name;            /* "" for anonymous defaults */
	const char *guid, *description;
	int id;
	bool id_forced;
	bool disabled;               /* by the file */
	unsigned caps;               /* enum proxy_caps */
	enum proxy_mode mode;
	const char *file;
	int line;
	struct proxy *defaults;      /* the section it comes from, or NULL */
	struct config *config;       /* borrowed */

	uint64_t options;            /* PROXY_OPT_* */
	struct proxy_http http;
	struct proxy_log_option log_option;
	enum reuse_mode reuse;
	struct proxy_retry retry;
	struct outlier_settings outlier; /* outlier-ejection */
	struct proxy_timeouts timeout;
	struct { struct proxy_tcp_keepalive client, server; } keepalive;

	struct { bool mode, maxconn, fullconn; } is_set; /* by the section or its defaults */
	int64_t maxconn;             /* frontend; 0: the process's */
	int64_t fullconn;            /* backend; computed in the check phase when 0 */
	int64_t backlog;             /* 0: maxconn */
	int64_t session_rate_limit;  /* rate-limit sessions; 0 none */

	struct proxy_switching switching;
	struct proxy_balancing balancing;
	struct balance *balance;     /* the choice itself: of the generation */
	const struct server_addr *dispatch; /* or NULL */
	struct server *direct;       /* what `dispatch` and `option transparent` mean (direct.c); or
				      * NULL. It has no place in <servers> */
	struct list servers;         /* struct server.link, in order of the file */
	unsigned server_count;       /* atomic */
	struct { struct server *server; bool is_own; } dflt; /* `default-server`; or NULL */
	struct source *source;       /* or NULL */
	struct list binds;           /* struct bind_conf.link */

	struct proxy_state *state;
	struct proxy_run run;
	/* slots follow */
};

/* Its slots (SLOT_PROXY): many times for each request. */
#define PROXY_SLOTS_AT ((sizeof(struct proxy) + 15) & ~(size_t)15)
static inline struct slot_area *proxy_slots(const struct proxy *px)
{
	return (struct slot_area *)(void *)((char *)(uintptr_t)px + PROXY_SLOTS_AT);
}

/* Has <px> what streams count for their frontend? A backend gets it here, before the first stream
 * that the program begins there: nothing shows these figures. Any thread. False: no memory.
 */
bool proxy_figures_of_front(struct proxy *px);

/* A proxy or defaults section, inheriting from <defaults> (may be NULL), not linked; NULL: no
 * memory.
 */
struct proxy *proxy_new(struct config *cfg, const char *name, unsigned caps,
			struct proxy *defaults);
/* Lets go of what it holds outside its generation's memory: its servers, listeners' states, slots,
 * counts. For one that was not linked: its owner calls it once, when the generation ends. Thread 0,
 * or where the generation was read.
 */
void proxy_close(struct proxy *px);
/* Makes it known: found by name, and closed with its generation. */
void proxy_link(struct proxy *px);

/* Makes a backend at run time, in memory of its own, as proxy_new() does. <name> is copied. */
struct proxy *proxy_new_added(struct config *cfg, const char *name, struct proxy *defaults);
/* Where what belongs to <px> alone lies: its own memory, or that of its generation. */
struct arena *proxy_arena(const struct proxy *px);
/* What proxy_link() is for a backend that is made at run time and was checked; and the end of one
 * that is removed then, or that failed its check. Threads that stand on it go on from it. It is
 * freed with its generation; one that was made at run time before, after proxy_leaves()
 * (proxy/walk.h). Under config_edit_begin(), in the live generation.
 */
void proxy_publish_added(struct proxy *be);
void proxy_withdraw(struct proxy *be);
/* May another proxy or server of <cfg> get this identifier? False: <why>, without a full stop. */
bool proxy_guid_is_free(struct config *cfg, const char *guid, char *why, size_t size);

/* <px> is the program's own: it is called <name> (static) from now on, and no look-up, list or
 * reload finds it any more; it ends with its generation. In the start of its module.
 */
void proxy_hide(struct proxy *px, const char *name);

/* All frontends, backends and listens in order of the file, then those made at run time. Any
 * thread, while backends are added and removed: the way on from one that was removed meanwhile
 * leads back into the list.
 */
struct proxy *proxies_first(const struct config *cfg);
struct proxy *proxy_next(const struct proxy *px);
/* By name and sides (a proxy that has at least <caps>); name "#<id>" looks by id. NULL: none. */
struct proxy *proxy_find(const struct config *cfg, const char *name, unsigned caps);
/* As proxy_find(), for a section that will keep the pointer: the proxy cannot be removed at run
 * time. Check phase.
 */
struct proxy *proxy_find_kept(const struct config *cfg, const char *name, unsigned caps);
/* "did you mean '...' ?": the proxy with one of <caps> whose name is closest to one that does not
 * exist. NULL: none. In the arena of <cfg>. Check phase.
 */
const char *proxy_hint(struct config *cfg, const char *name, unsigned caps);
/* The proxy of <cfg> that shares the state of <px>, of another generation; NULL: none. */
struct proxy *proxy_heir(const struct config *cfg, const struct proxy *px);
/* The defaults section that stands behind <px>, or the first one (NULL); NULL at the end. */
struct proxy *proxy_next_defaults(const struct config *cfg, const struct proxy *px);
/* A defaults section by name, the last of several; NULL: none. */
struct proxy *proxy_find_defaults(const struct config *cfg, const char *name);
/* As proxy_find_defaults(), at run time: without those that tune.defaults.purge has let go. */
struct proxy *proxy_find_kept_defaults(const struct config *cfg, const char *name);
/* Reports if another section has the name of <px>, a new one that is not linked yet, and returns
 * false: an alert. Two defaults sections may have one name as long as no section says `from` the
 * first. Remembers the name of a log-forward section: no other code links those. While reading.
 */
bool proxy_claim_name(struct conf_line *l, struct proxy *px);
/* Keeps id 1 for the frontend of stats sockets, which is no proxy here. While reading. */
void proxies_reserve_first_id(struct config *cfg);
/* Servers whose name cannot be resolved start in maintenance instead of being an error (-dr).
 * Before the configuration is read.
 */
void proxies_allow_unresolved(struct config *cfg);
/* "tcp", "http"... */
const char *proxy_mode_name(enum proxy_mode mode);
/* "frontend", "backend", "proxy" (listen), "defaults": how messages call it. */
const char *proxy_kind_name(const struct proxy *px);

/* Notes that the line says by <what> ("log-format", "option httplog clf"; it must last) how its
 * proxy or defaults section logs; a warning where a defaults section has said so before. Manual:
 * configuration 4.2 log-format.
 */
void proxy_log_format_said(struct conf_line *l, const char *what);

/* Gives the proxies, servers and listeners of <next> the states of those of <prev> that are the
 * same: same name and sides; for servers and listeners, same address too. What was set at run time
 * stays, unless the file itself says something else than it did. Before <next> is published, on
 * the thread that publishes; cannot fail.
 */
void proxies_adopt(struct config *next, struct config *prev);
/* After <live> was published: what was set through the former generation meanwhile counts too. */
void proxies_settle(struct config *live);

/* A rule of <fe> may send to <be>: its `fullconn` counts on that. In the check phase. False: no
 * memory.
 */
bool proxy_add_target(struct proxy *fe, struct proxy *be);
/* The process's connection limit, known late in the start: frontends without a `maxconn` and
 * backends without a `fullconn` get theirs from it. Before the generation is published.
 */
void proxies_set_process_maxconn(struct config *cfg, int64_t maxconn);

/* Counts a connection (accepted), a session, an HTTP request on a frontend, with their rates. */
void proxy_count_connection(struct proxy *fe);
void proxy_count_session(struct proxy *fe);
void proxy_count_request(struct proxy *fe);

/* Milliseconds for which <fe> must not accept (rate-limit sessions); 0: go on. */
unsigned proxy_accept_wait_ms(const struct proxy *fe);
/* Current sessions of the frontend; current streams of the backend. */
uint64_t proxy_fe_sessions(const struct proxy *px);
uint64_t proxy_be_sessions(const struct proxy *px);

/* References, from any thread; the last one frees. */
struct proxy_state *proxy_state_take(struct proxy_state *st);
/* Drops one and NULLs the pointer. */
void proxy_state_drop(struct proxy_state **st);

/* The generation that is live, borrowed: valid for this turn of the calling thread's loop at
 * least (main drops the old one only when every thread has seen the new). NULL before the first.
 */
struct config *proxies_current(void);
void proxies_publish(struct config *cfg);

/* Called when a frontend is enabled, disabled or shut down by the Runtime API: the stream floor
 * installs it to pause, resume or close sockets. <what>: 0 stop for good, 1 pause, 2 resume.
 */
void proxy_set_listen_hook(bool (*hook)(struct proxy *fe, int what));
/* Called when a frontend has a new maxconn: sockets that wait may accept again. */
void proxy_set_limit_hook(void (*hook)(struct proxy *fe));

/* Pauses, resumes and stops (for good) what a frontend listens on, and tells it. Any thread. */
enum proxy_switched {
	PROXY_SWITCHED,
	PROXY_IS_SO,      /* it was already */
	PROXY_IS_STOPPED, /* for good: nothing was done */
	PROXY_FAILED,     /* some sockets cannot: told in the logs */
};
enum proxy_switched proxy_pause(struct proxy *fe);
enum proxy_switched proxy_resume(struct proxy *fe);
enum proxy_switched proxy_stop(struct proxy *fe);

/* What proxies and servers tell about themselves: worth which level in the logs. */
enum proxy_event {
	PROXY_EVENT_NO_SERVER, /* emergency: a backend has lost its last server */
	PROXY_EVENT_DOWN,      /* alert: a server went down */
	PROXY_EVENT_WARNING,   /* a frontend was paused, resumed, stopped */
	PROXY_EVENT_NOTICE,    /* any other change */
	PROXY_EVENT_CHECK,     /* the result of a health check (option log-health-checks) */
};
typedef void proxy_event_fn(const struct proxy *px, enum proxy_event event, const char *text);
/* Floors above install theirs, at the start, each once; called from any thread. */
void proxy_add_event_hook(proxy_event_fn *fn);

/* Asks the stream floor to stop (0), pause (1) or resume (2) a frontend's sockets. */
bool proxy_listen_change(struct proxy *fe, int what);
void proxy_limit_change(struct proxy *fe);

/* Says an event on stderr and hands it to the logs. */
void proxy_tell(const struct proxy *px, enum proxy_event event, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
