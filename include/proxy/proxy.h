/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* proxy.h - frontends, backends, listens and defaults: settings, and state that survives a reload
 *
 * Purpose: the sections to which everything else attaches its settings. Settings of other modules
 *          are in slots.
 * Owns   : a generation owns its proxies (its arena); a proxy holds a reference on its state.
 *          proxies_adopt() passes the states to the next generation's proxies of the same names.
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
	PROXY_FORWARD = 1 << 3,  /* together with PROXY_FE: a log-forward section */
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

/* option httpclose | http-server-close | http-keep-alive: the last one wins. */
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

/* option forwardfor, originalto. <enabled> with <if_none>: only if the field is missing. */
struct proxy_forward_for {
	bool enabled, if_none;
	const char *header;          /* "X-Forwarded-For" */
	bool has_except;
	uint8_t except_family;       /* AF_INET, AF_INET6 */
	uint8_t except[16], except_mask[16]; /* network order; v4 in the first 4 bytes */
};

/* In ms; 0: none. Missing but needed ones cause a warning. */
struct proxy_timeouts {
	int64_t client, client_fin, client_hs, server, server_fin, connect, queue;
	int64_t http_request, http_keep_alive, tunnel, tarpit, check;
};

struct proxy_tcp_keepalive {
	int count;                   /* 0: the system's */
	int64_t idle_ms, interval_ms;
};

/* Events that allow a retry (retry-on): bits. */
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
	char *identity;              /* "fe:name" or similar: owned */
	unsigned open_sessions;      /* atomic: of the frontend, counted when accepted */
	unsigned disabled;           /* atomic bool: frontend disabled or shut down (Runtime API) */
	unsigned stopped;            /* atomic bool: shut down for good */
	unsigned unpublished;        /* atomic bool: the backend must not be chosen */
	int64_t maxconn;             /* atomic: current limit of the frontend */
	uint64_t changed_us;         /* atomic: wall clock when the backend last went up or down */
	uint64_t down_ms;            /* accumulated downtime */
	unsigned trying_again;       /* atomic: requests that the retry budget counts */
	unsigned was_up;             /* atomic: backend has a usable server */
	int64_t last_session_s;      /* atomic */
	uint32_t log_lines;          /* atomic: numbered log lines of the frontend (%lc) */

	/* What `clear counters all` subtracted from the frontend's: the process's totals stay. */
	struct { uint64_t connections, sessions, requests; } cleared; /* atomic */
	struct counter_set fe;       /* enum counter_front */
	struct counter_set be;       /* enum counter_back */
	uint64_t fe_session_max, be_session_max, be_queue_max; /* atomic; see gauge_add() */
	struct rate_set fe_conn_rate, fe_session_rate, fe_request_rate;
	struct rate_set be_session_rate;
	struct time_set times;
	struct latency_set fe_latency, be_latency;
	struct history *fe_history, *be_history; /* atomic: as in servers; owned; or NULL */

	/* for queue.c: one lock for the queues of the backend and its servers */
	struct {
		unsigned lock;       /* spin lock: a few instructions */
		unsigned length;     /* atomic */
		unsigned passed;     /* waiters granted so far, under the lock */
		struct tree waiters;
	} queue __attribute__((aligned(64)));
	unsigned change_lock;        /* for weights and states: off the request path */
};

/* A backend that a frontend's rules name. */
struct proxy_target {
	struct proxy_target *next;
	struct proxy *proxy;
};

/* A part of `option forwarded`: taken from the connection or request, or an expression's value. */
struct proxy_forwarded_part {
	bool on;
	const struct expr *expr;     /* or NULL */
};

/* option forwarded: the parts of the field, in this order. */
struct proxy_forwarded {
	bool proto;
	struct proxy_forwarded_part host, by, by_port, client, client_port;
};

/* `option`s of mode http. */
struct proxy_http {
	enum proxy_http_conn connection;
	enum proxy_restrict_names restrict_names;
	struct proxy_forward_for forward_for, original_to;
	const struct proxy_forwarded *forwarded; /* option forwarded; NULL: not set */
	int64_t max_keep_alive_queue;/* -1 none */
	int max_session_server_conns;/* idle ones reserved for one client */
	bool abort_is_said;          /* else option abortonclose depends on the mode */
	const struct fcgi_peer *fcgi; /* the application of servers with `proto fcgi`; or NULL */
};

/* The log option in effect. */
struct proxy_log_option {
	enum proxy_log_kind kind;
	const char *said;            /* its words: "log-format", "option httplog"; or NULL */
	const char *file;            /* where it was set, for warnings */
	int line;
};

/* Retries of failed requests. */
struct proxy_retry {
	int count;                   /* retries */
	int redispatch_after;        /* option redispatch <n>: 0 off, -1 last retry, n every n-th */
	unsigned on;                 /* enum proxy_retry_event */
	int percent, least;          /* retry-budget: percentage of active requests; 0: none */
	int64_t delay_ms, delay_max_ms; /* retry-delay; 0: none */
};

/* How a backend chooses servers: `balance`, `hash-type`. */
struct proxy_balancing {
	const struct balance_algorithm *algorithm; /* NULL: not a backend */
	struct hash_settings hash;
	struct expr *log_hash;       /* balance log-hash, else NULL */
	unsigned random_draws;
	bool is_set;                 /* by the section or its defaults */
	bool unpublished;            /* be-unpublished */
};

/* Where a frontend's requests go. */
struct proxy_switching {
	struct proxy *backend;       /* default_backend */
	const char *backend_name;    /* as configured, or NULL */
	struct proxy_target *targets;/* named by its rules, each once, in the arena */
	bool to_http;                /* mode tcp: some streams may switch to HTTP */
};

/* Members of a proxy that are used at run time. */
struct proxy_run {
	struct proxy *next_added;    /* atomic: next in its hash bucket of names */
	struct proxy *next_removed;  /* see proxy_withdraw() */
	struct server *removed;      /* removed servers that are freed with it */
	struct server *stand_in;     /* replaces a removed server: see balance_forget(); or NULL */
	unsigned leaving;            /* atomic: servers that will be freed; for walk.c */
	unsigned is_removed;         /* atomic bool */
	unsigned stage;              /* what is left to wait for; for walk.c */
	unsigned pins;               /* atomic: see proxy_pin() */
	unsigned is_kept;            /* atomic bool: see proxy_keep() */
	uint64_t removal;            /* its number among the removals of the process */
	/* if created at run time: owned, holds the proxy itself; or NULL */
	struct arena *memory;
	bool is_added;               /* by `add backend`; else by a file */
	/* other sections name it: it cannot be removed; or, for a defaults section, they run its
	 * rules or checks
	 */
	bool is_referenced;
	bool is_named;               /* a defaults section: a section names it with `from` */
};

struct proxy {
	struct list link;            /* in the generation: read by proxy_next() */
	struct tree_node by_name;    /* key: hash of the name */
	const char *name;            /* "" for anonymous defaults */
	const char *guid, *description;
	int id;
	bool id_forced;
	bool disabled;               /* by a file */
	unsigned caps;               /* enum proxy_caps */
	enum proxy_mode mode;
	const char *file;
	int line;
	struct proxy *defaults;      /* the defaults section it inherits from, or NULL */
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
	struct balance *balance;     /* data of the algorithm: belongs to the generation */
	const struct server_addr *dispatch; /* or NULL */
	/* stands for `dispatch` and `option transparent` (direct.c); or NULL. Not in <servers> */
	struct server *direct;
	struct list servers;         /* struct server.link, in order of the file */
	unsigned server_count;       /* atomic */
	struct { struct server *server; bool is_own; } dflt; /* `default-server`; or NULL */
	struct source *source;       /* or NULL */
	struct list binds;           /* struct bind_conf.link */

	struct proxy_state *state;
	struct proxy_run run;
	/* slots follow */
};

/* Its slots (SLOT_PROXY): used many times per request. */
#define PROXY_SLOTS_AT ((sizeof(struct proxy) + 15) & ~(size_t)15)
static inline struct slot_area *proxy_slots(const struct proxy *px)
{
	return (struct slot_area *)(void *)((char *)(uintptr_t)px + PROXY_SLOTS_AT);
}

/* Prepares what streams count for their frontend: a backend gets it here, before the program begins
 * the first stream on it. These figures are not shown. Any thread. False: out of memory.
 */
bool proxy_figures_of_front(struct proxy *px);

/* Creates a proxy or defaults section that inherits from <defaults> (may be NULL), not linked.
 * NULL: out of memory.
 */
struct proxy *proxy_new(struct config *cfg, const char *name, unsigned caps,
			struct proxy *defaults);
/* Releases what it holds outside of its generation's memory: states of servers and listeners,
 * slots, counters. For a proxy that was not linked, its owner must call it once, when the
 * generation ends. Thread 0, or the thread that read the generation.
 */
void proxy_close(struct proxy *px);
/* Links the proxy: it is found by name, and closed with its generation. */
void proxy_link(struct proxy *px);

/* Creates a backend at run time, in its own memory, like proxy_new(). <name> is copied. */
struct proxy *proxy_new_added(struct config *cfg, const char *name, struct proxy *defaults);
/* Returns the arena for data that belongs to <px> alone: its own memory, or its generation's. */
struct arena *proxy_arena(const struct proxy *px);
/* Link and unlink a backend that was created at run time: proxy_publish_added() after its check,
 * proxy_withdraw() when it is removed or has failed its check. Threads that are walking over it can
 * continue. It is freed with its generation or, if created at run time, after proxy_leaves()
 * (proxy/walk.h). Under config_edit_begin(), in the live generation.
 */
void proxy_publish_added(struct proxy *be);
void proxy_withdraw(struct proxy *be);
/* May another proxy or server of <cfg> use this identifier? False: <why>, without a full stop. */
bool proxy_guid_is_free(struct config *cfg, const char *guid, char *why, size_t size);

/* Makes <px> internal to the program: it is called <name> (static) from now on, no lookup, list or
 * reload finds it any more, and it ends with its generation. For a module's start().
 */
void proxy_hide(struct proxy *px, const char *name);

/* Iterate over all frontends, backends and listens in the order of the file, then over those
 * created at run time. Any thread, while backends are added and removed: from a proxy that was
 * removed meanwhile, the walk returns to the list.
 */
struct proxy *proxies_first(const struct config *cfg);
struct proxy *proxy_next(const struct proxy *px);
/* Finds a proxy by name and sides (it has at least <caps>); "#<id>" looks up the id. NULL: none. */
struct proxy *proxy_find(const struct config *cfg, const char *name, unsigned caps);
/* As proxy_find(), for a section that keeps the pointer: the proxy cannot be removed at run time.
 * For the check phase.
 */
struct proxy *proxy_find_kept(const struct config *cfg, const char *name, unsigned caps);
/* Returns "did you mean '...' ?" with the name of the proxy, with one of <caps>, that is closest to
 * an unknown name. NULL: none. In the arena of <cfg>. For the check phase.
 */
const char *proxy_hint(struct config *cfg, const char *name, unsigned caps);
/* Returns the proxy of <cfg> that shares its state with <px>, a proxy of another generation. NULL:
 * none.
 */
struct proxy *proxy_heir(const struct config *cfg, const struct proxy *px);
/* Returns the defaults section after <px>, or the first one (NULL). NULL: no more. */
struct proxy *proxy_next_defaults(const struct config *cfg, const struct proxy *px);
/* Finds a defaults section by name, the last of several. NULL: none. */
struct proxy *proxy_find_defaults(const struct config *cfg, const char *name);
/* As proxy_find_defaults(), at run time: without those that tune.defaults.purge has released. */
struct proxy *proxy_find_kept_defaults(const struct config *cfg, const char *name);
/* Checks that no other section has the name of <px>, a new section that is not linked yet. False:
 * reported as an alert. Two defaults sections may share a name as long as no section names the
 * first with `from`. Records the name of a log-forward section, which no other code links. While
 * the configuration is read.
 */
bool proxy_claim_name(struct conf_line *l, struct proxy *px);
/* Reserves id 1 for the frontend of stats sockets, which is not a proxy here. While the
 * configuration is read.
 */
void proxies_reserve_first_id(struct config *cfg);
/* Makes servers whose name cannot be resolved start in maintenance, instead of an error (-dr).
 * Before the configuration is read.
 */
void proxies_allow_unresolved(struct config *cfg);
/* Returns "tcp", "http"... */
const char *proxy_mode_name(enum proxy_mode mode);
/* Returns "frontend", "backend", "proxy" (listen) or "defaults", for messages. */
const char *proxy_kind_name(const struct proxy *px);

/* Notes that a line sets the log format of its proxy or defaults section by <what> ("log-format",
 * "option httplog clf"; a lasting text). Warns if a defaults section has set one before. Manual:
 * configuration 4.2 log-format.
 */
void proxy_log_format_said(struct conf_line *l, const char *what);

/* Passes the states of the proxies, servers and listeners of <prev> to the same objects of <next>:
 * same name and sides; for servers and listeners, also the same address. Settings of the Runtime
 * API are kept unless the file itself has changed them. On the publishing thread, before <next> is
 * published; cannot fail.
 */
void proxies_adopt(struct config *next, struct config *prev);
/* Call after <live> was published: takes account of changes made meanwhile through the former
 * generation.
 */
void proxies_settle(struct config *live);

/* Notes that a rule of <fe> may choose <be>; `fullconn` of <be> depends on it. For the check phase.
 * False: out of memory.
 */
bool proxy_add_target(struct proxy *fe, struct proxy *be);
/* Sets the process's connection limit, which is known late in the start: frontends without a
 * `maxconn` and backends without a `fullconn` derive theirs from it. Before the generation is
 * published.
 */
void proxies_set_process_maxconn(struct config *cfg, int64_t maxconn);

/* Count a connection (accepted), a session and an HTTP request of a frontend, with their rates. */
void proxy_count_connection(struct proxy *fe);
void proxy_count_session(struct proxy *fe);
void proxy_count_request(struct proxy *fe);

/* Returns for how many ms <fe> must not accept (rate-limit sessions); 0: it may. */
unsigned proxy_accept_wait_ms(const struct proxy *fe);
/* Return the current sessions of the frontend, and the current streams of the backend. */
uint64_t proxy_fe_sessions(const struct proxy *px);
uint64_t proxy_be_sessions(const struct proxy *px);

/* Takes a reference. Any thread; dropping the last one frees. */
struct proxy_state *proxy_state_take(struct proxy_state *st);
/* Drops a reference and NULLs the pointer. */
void proxy_state_drop(struct proxy_state **st);

/* Returns the live generation, borrowed: valid at least for this turn of the calling thread's loop
 * (main drops the old one only when every thread has seen the new one). NULL before the first.
 * proxies_publish() makes <cfg> the live one.
 */
struct config *proxies_current(void);
void proxies_publish(struct config *cfg);

/* Installs a function of the stream floor that pauses, resumes or closes sockets when the Runtime
 * API disables, enables or shuts down a frontend. <what>: 0 stop for good, 1 pause, 2 resume.
 * False: some sockets failed.
 */
void proxy_set_listen_hook(bool (*hook)(struct proxy *fe, int what));
/* Installs a function that is called when a frontend has a new maxconn: waiting sockets may accept
 * again.
 */
void proxy_set_limit_hook(void (*hook)(struct proxy *fe));

/* Pause, resume and stop (for good) the listeners of a frontend, and report it. Any thread. */
enum proxy_switched {
	PROXY_SWITCHED,
	PROXY_IS_SO,      /* it was so already */
	PROXY_IS_STOPPED, /* stopped for good: nothing was done */
	PROXY_FAILED,     /* some sockets failed: reported in the logs */
};
enum proxy_switched proxy_pause(struct proxy *fe);
enum proxy_switched proxy_resume(struct proxy *fe);
enum proxy_switched proxy_stop(struct proxy *fe);

/* Events of proxies and servers, by log level. */
enum proxy_event {
	PROXY_EVENT_NO_SERVER, /* emergency: a backend has lost its last server */
	PROXY_EVENT_DOWN,      /* alert: a server went down */
	PROXY_EVENT_WARNING,   /* a frontend was paused, resumed, stopped */
	PROXY_EVENT_NOTICE,    /* any other change */
	PROXY_EVENT_CHECK,     /* the result of a health check (option log-health-checks) */
};
typedef void proxy_event_fn(const struct proxy *px, enum proxy_event event, const char *text);
/* Adds a function of a higher floor. Once each, at start-up; called on any thread. */
void proxy_add_event_hook(proxy_event_fn *fn);

/* Calls the hook to stop (0), pause (1) or resume (2) a frontend's sockets; and the one for a new
 * maxconn.
 */
bool proxy_listen_change(struct proxy *fe, int what);
void proxy_limit_change(struct proxy *fe);

/* Prints an event on stderr and passes it to the logs. */
void proxy_tell(const struct proxy *px, enum proxy_event event, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
