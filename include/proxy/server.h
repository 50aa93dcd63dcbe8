/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* server.h - a server of a backend: its settings, and its state, which survives a reload
 *
 * Purpose: struct server is the configuration (immutable after the check phase, owned by the
 *          generation); struct server_state is what changes at run time: weight, administrative and
 *          operational state, address, limits, load, counters. The next generation's server with
 *          the same backend name, server name and address adopts the state (server_state_adopt).
 * Owns   : a server holds one reference on its state. Texts lie in the generation's arena.
 * Threads: settings: any. State: members marked atomic are read without a lock; setters
 *          (server_set_*) may be called from any thread, take the backend's lock and publish the
 *          change. None is on the request path.
 * Errors : setters return false and give a message (static, or in the caller's buffer).
 * Manual : configuration 5.2; management 9.3 (set server, set weight, show servers state).
 */
#ifndef PROXY_SERVER_H
#define PROXY_SERVER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include "base/arena.h"
#include "base/list.h"
#include "base/slot.h"
#include "base/tree.h"
#include "proxy/check.h"
#include "proxy/counters.h"
#include "proxy/hash.h"
#include "proxy/resolve.h"
#include "proxy/outlier.h"
#include "proxy/source.h"

struct conf_line;
struct config;
struct diag_list;
struct expr_owned;
struct history;
struct logformat;
struct mux_kind;
struct proxy;
struct server_balance;
struct task;

/* A socket address for the kernel. Family AF_UNSPEC: unknown (yet). */
struct server_addr {
	struct sockaddr_storage sa;
	socklen_t len;
};

/* Options of `send-proxy-v2`. */
#define PROXY_V2_OPTIONS(X) \
	X(SSL, "ssl") X(CERT_CN, "cert-cn") X(CERT_SIG, "cert-sig") X(CERT_KEY, "cert-key") \
	X(SSL_CIPHER, "ssl-cipher") X(AUTHORITY, "authority") X(CRC32C, "crc32c") \
	X(UNIQUE_ID, "unique-id")
#define X(name, text) PROXY_V2_AT_##name,
enum proxy_v2_at { PROXY_V2_OPTIONS(X) PROXY_V2_COUNT };
#undef X
#define X(name, text) PROXY_V2_##name = 1 << PROXY_V2_AT_##name,
enum proxy_v2_option { PROXY_V2_OPTIONS(X) };
#undef X

/* Administrative state: atomic bits; texts and numbers as in `show servers state`. */
#define SERVER_ADMIN_FLAGS(X) \
	X(FMAINT, 0x01, "forced maintenance") \
	X(IMAINT, 0x02, "maintenance of the server it tracks") \
	X(CMAINT, 0x04, "disabled in the configuration") \
	X(FDRAIN, 0x08, "forced drain") \
	X(IDRAIN, 0x10, "drain of the server it tracks") \
	X(RMAINT, 0x20, "no address: name resolution") \
	X(HMAINT, 0x40, "its name was set at run time")
#define X(name, bit, text) SERVER_##name = bit,
enum server_admin {
	SERVER_ADMIN_FLAGS(X)
	SERVER_MAINT = 0x23, /* CMAINT only tells why */
	SERVER_DRAIN = 0x18,
};
#undef X

/* Operational state; numbers as in `show servers state`. */
enum server_oper { SERVER_STOPPED, SERVER_STARTING, SERVER_RUNNING, SERVER_STOPPING };

enum server_on_marked { SERVER_ON_NOTHING, SERVER_ON_SHUTDOWN_SESSIONS };

/* Cause of a change of state: the log's text after "is DOWN". */
enum server_cause { SERVER_BY_NOBODY, SERVER_BY_CLI, SERVER_BY_SCRIPT, SERVER_BY_CHECK,
		    SERVER_BY_AGENT, SERVER_BY_TRACK };

/* During slow start, weights are counted in sixteenths. */
#define SERVER_WARM 16

#define SERVER_TIERS_MAX 16

struct server_state {
	/* a cache line that each request reads and that is rarely written */
	unsigned admin;               /* atomic: enum server_admin */
	unsigned oper;                /* atomic: enum server_oper */
	int64_t maxconn, minconn;     /* atomic: current limits, 0 none */
	socklen_t address_len;        /* 0: the configured address applies */
	unsigned address_turn;        /* atomic: even; odd while <address> is being written */
	int64_t last_session_s;       /* atomic: wall-clock second of the last session, 0 none */
	struct counter_set counters;  /* enum counter_back */
	uint64_t session_max;         /* atomic */

	unsigned refs;                /* atomic */
	unsigned uweight;             /* atomic: current weight of the user, 0..256 */
	uint64_t changed_us;          /* atomic: wall clock of the last change of state */
	uint64_t down_ms;             /* accumulated downtime */
	struct sockaddr_in6 address;  /* (or sockaddr_in) set at run time: see server_address() */
	char *identity;               /* "backend/server@address": owned */
	struct check_state check, agent;
	int64_t strict_open;          /* atomic: connections, with strict-maxconn */
	unsigned errors_in_row;       /* atomic: seen in traffic (observe) */
	unsigned warm;                /* atomic: sixteenths of the weight in use (slowstart) */
	struct task *check_task;      /* under the lock: for waking its check; or NULL */
	struct task *warm_task;       /* likewise, for its slow start */
	uint64_t queue_max;           /* atomic */

	/* for queue.c: written only if there is a limit */
	struct {
		int64_t served;       /* atomic: slots taken */
		unsigned length;      /* atomic: waiters on this server's queue */
		unsigned passed;      /* waiters granted so far, under the lock */
		bool mixed;           /* atomic: there was a time without a limit */
		struct tree waiters;  /* under the backend's queue lock */
	} queue __attribute__((aligned(64)));

	/* members that each request reads fill that line */
	struct rate_set session_rate;
	struct time_set times;
	struct latency_set latency;
	struct history *history;      /* atomic: for manage/stats_history.h; owned; or NULL */

	struct resolve_state *resolve;  /* owned; NULL: no resolvers */
	bool port_is_fixed;           /* atomic: the port comes from a service record */
	struct outlier_state outlier; /* outlier-ejection */
};

/* TLVs to add to a PROXY header of version 2, in order; in the arena. */
struct server_tlvs {
	unsigned count;
	struct server_tlv {
		uint8_t type;
		const struct logformat *value;
	} list[];
};

/* Extra data of a server that was added at run time: freed when no thread needs it any more
 * (proxy/walk.h).
 */
struct server_own {
	struct arena memory;          /* holds the server and what its line configures */
	struct expr_owned *owned;     /* data of its expressions */
	struct server *next;          /* next removed one */
	uint64_t removal;             /* its number among the removals of the process */
	unsigned pins;                /* atomic: see server_pin() */
	unsigned is_kept;             /* atomic bool: see server_keep() */
	unsigned is_seen;             /* atomic bool: see server_see() */
	unsigned stage;               /* what is left to wait for; for walk.c */
};

struct server {
	/* a cache line that each request reads */
	struct server_state *state;
	struct proxy *proxy;
	struct source *source;        /* its own, the proxy's, or NULL */
	const char *redir;            /* redirect prefix; or NULL */
	struct {
		int64_t max_conn;     /* idle connections kept; -1 no limit, 0 none */
		int64_t low_conn;
		int64_t max_reuse;    /* -1 no limit */
	} pool;
	unsigned index;               /* of its entry in proxy->balance */
	unsigned char send_proxy;     /* 0, 1, 2 */
	bool port_is_mapped;          /* "+N", "-N" or none: destination port plus port_offset */
	bool is_direct;               /* proxy->direct, hidden: never reported as a server */
	bool is_quic;                 /* quic4@ etc.: its connections use QUIC */
	bool is_reverse;              /* rhttp@: only rules give it connections */

	struct list link;             /* in proxy->servers: read by server_next() */
	const char *name;
	const char *guid;             /* or NULL */
	/* small members together: servers are many */
	int id;                       /* from 1, unique in the backend */
	unsigned uweight;             /* initial, 0..256 */
	enum hash_key hash_key;       /* seed of its points on the consistent hashing ring */
	unsigned proxy_v2_options;    /* enum proxy_v2_option */
	struct {
		uint8_t down, up;     /* enum server_on_marked */
	} on_marked;
	bool id_forced;               /* by the `id` option */
	bool strict_maxconn;          /* idle connections count too */
	bool backup;
	bool disabled;                /* starts in maintenance (CMAINT) */
	bool datagrams;               /* "udp@": for log backends */
	bool log_octets;              /* log-proto octet-count */
	struct {                      /* members used at run time */
		bool is_referenced;   /* rules or expressions name it: it cannot be removed */
		bool is_dynamic;      /* added at run time */
		bool is_removed;      /* atomic: removed at run time; freed with the generation */
		unsigned revision;    /* number of removals before it was added */
		struct server *removed_next; /* in proxy->run.removed */
		struct server_own *own; /* NULL: freed with its generation */
	} life;
	struct {                      /* where it is configured */
		const char *file;
		int line;
	} place;
	struct {                      /* configured address */
		const struct sockaddr *sa; /* in the arena */
		const char *text;     /* as configured */
		const char *hostname; /* a host name was configured; or NULL. See resolve_name() */
		socklen_t len;
		int port;             /* 0 with port_offset or no port */
		int port_offset;
		bool unresolved;      /* no address: starts in maintenance (RMAINT) */
		bool is_any;          /* it is the wildcard */
	} at;

	int64_t tier;                 /* 1..SERVER_TIERS_MAX: the lowest usable tier serves */
	struct {
		int64_t maxconn, minconn, maxqueue; /* 0 none */
	} limits;
	struct {                      /* idle connections */
		int64_t purge_delay_ms;
		int64_t ping_ms;      /* HTTP/2: interval of PINGs; 0 none */
		const struct expr *conn_name; /* distinguishes them, in place of `sni`; or NULL */
	} idle;
	const struct server_tlvs *proxy_v2_tlvs; /* set-proxy-v2-tlv-fmt; NULL: none */
	const struct server_addr *socks4; /* proxy to connect through; NULL: none */
	struct {                      /* see struct socket_settings */
		const char *congestion, *md5_key; /* NULL none */
		const struct netns *netns; /* `namespace`; NULL: none */
		int64_t user_timeout_ms; /* tcp-ut; 0 none */
		int mss;              /* 0 none (not configurable for servers today) */
		bool tfo;
	} socket;
	uint64_t log_size;            /* log-bufsize; 0: one buffer */
	struct {
		const struct mux_kind *forced; /* `proto`, but `proto spop`; or NULL */
		bool is_spop;         /* `proto spop`: what `mode spop` does anyway */
		const struct mux_kind *ws; /* for WebSockets; NULL: what the server offers */
	} mux;
	const char *cookie;           /* `cookie` value; or NULL */
	struct server_checks checks;
	struct resolve resolve;

	/* of its options: servers with equal ones are reached in the same way */
	uint64_t digest;
	/* slots follow */
};

/* Returns its slots (SLOT_SERVER). */
struct slot_area *server_slots(const struct server *srv);
/* Returns the server that these slots belong to. */
struct server *server_of_slots(const struct slot_area *slots);

/* Return the first and the next server of a backend, in the order of the file; NULL at the end. Any
 * thread, while servers are added and removed: from a server that was removed meanwhile, the walk
 * returns to the list.
 */
struct server *server_first(const struct proxy *be);
struct server *server_next(const struct server *srv);
/* Finds a server by name, or by "#id". NULL: none. */
struct server *server_find(const struct proxy *be, const char *name);
/* Finds a server by "backend/server". NULL: *error tells why, a static text. */
struct server *server_find_path(struct config *cfg, const char *path, const char **error);

/* Returns the server of <cfg> that shares its state with <srv>, a server of another generation.
 * NULL: none.
 */
struct server *server_heir(const struct config *cfg, const struct server *srv);
/* Adds a word of a server's options to a digest. */
uint64_t server_digest_add(uint64_t digest, const char *word);

/* May it get new requests: running, not in drain, not in maintenance, not ejected, weight above 0?
 */
bool server_is_usable(const struct server *srv);
/* Would it be usable if it were not ejected (outlier-ejection)? */
bool server_is_only_ejected(const struct server *srv);
/* May it get requests that belong to it (persistence): running and not in maintenance? */
bool server_is_willing(const struct server *srv);
static inline unsigned server_weight(const struct server *srv)
{
	return __atomic_load_n(&srv->state->uweight, __ATOMIC_RELAXED);
}

/* Returns its current weight in sixteenths; less than 16 times the weight during slow start. */
static inline unsigned server_weight_sixteenths(const struct server *srv)
{
	return server_weight(srv) * __atomic_load_n(&srv->state->warm, __ATOMIC_RELAXED);
}

/* Writes the CSV's status column to <out> (32 bytes are enough): "UP", "UP 1/3", "DOWN (agent)",
 * "MAINT"...
 */
void server_status(const struct server *srv, char *out, size_t size);

/* Copies the current address, consistently even while it changes. */
void server_address(const struct server *srv, struct server_addr *out);

/* --- changes at run time, from any thread ----------------------------------------------------- */

/* Sets the weight: "12" absolute (0..256), "50%" of the initial weight; or the maxconn. */
bool server_set_weight(struct server *srv, const char *text, const char **error);
bool server_set_maxconn(struct server *srv, const char *text, const char **error);
/* Sets and clears administrative flags; redistributes its queue when it enters maintenance. */
void server_set_admin(struct server *srv, unsigned set, unsigned clear);
/* Notes whether its name has an address, and why not: "DNS NX status". Logged. */
void server_set_resolved(struct server *srv, bool resolved, const char *why);
/* Sets the operational state, for health checks and the like; servers that track it follow. No
 * effect in maintenance.
 */
void server_set_oper(struct server *srv, enum server_oper oper, enum server_cause cause);
/* Computes the current weight of a slow start. False: full weight. Any thread. */
bool server_warm_up(struct server *srv);

/* Installs a function that ends the streams of a server that went down (on-marked-down), or those
 * of backup servers when <srv> came up (<is_up>, on-marked-up). Installed by the stream floor;
 * called on any thread.
 */
typedef void server_shutdown_fn(struct server *srv, bool is_up);
void server_set_shutdown_hook(server_shutdown_fn *fn);
/* Installs a function that closes the idle connections of a server that enters maintenance.
 * Installed by the stream floor; called on any thread.
 */
typedef void server_maint_fn(struct server *srv);
void server_set_maint_hook(server_maint_fn *fn);
/* Sets the address and port; either may be NULL (unchanged). <message> (<size> bytes) tells in the
 * reference's words what changed, and that <by> changed it; on false, what is wrong.
 */
bool server_set_address(struct server *srv, const char *address, const char *port,
			const char *by, char *message, size_t size);

/* Installs the function that closes the idle connections to <srv> on all threads, then calls <done>
 * on this one (never before it returns). False: out of memory. Installed by the stream floor.
 */
typedef bool server_flush_fn(struct server *srv, void (*done)(void *ctx), void *ctx);
void server_set_flush_hook(server_flush_fn *fn);

/* What the stream floor knows about connections to <srv>, on any thread: idle ones on thread
 * <thread>, and over all threads the highest number in use at a time and the estimated need. The
 * stream floor installs the function; without it all are 0.
 */
struct server_conn_figures {
	unsigned idle, most_used, needed;
};
typedef void server_conn_figures_fn(const struct server *srv, unsigned thread,
				    struct server_conn_figures *out);
void server_set_conn_figures_hook(server_conn_figures_fn *fn);
void server_conn_figures(const struct server *srv, unsigned thread,
			 struct server_conn_figures *out);

/* --- life ------------------------------------------------------------------------------------- */

/* Creates a server of <px> with default settings (those of its default-server), not linked. NULL:
 * out of memory. server_link() adds it. server_close() releases what is not in the arena.
 */
struct server *server_new(struct proxy *px, const char *name);
/* As server_new(), without the settings of default-server. */
struct server *server_new_bare(struct proxy *px, const char *name);
/* Sets the address of its line, which must live as long as the server. */
void server_set_line_address(struct server *srv, const struct sockaddr *sa, socklen_t len);
/* Resolves the name of its line once: for servers whose names are not resolved at run time (rings,
 * peers). In the check phase; failures are reported.
 */
void server_resolve_once(struct config *cfg, struct server *srv, struct diag_list *diags);
/* Is it the wildcard, which stands for the destination address of the client? */
bool server_address_is_any(const struct sockaddr *sa);
void server_link(struct server *srv);
/* Makes server lines that this thread parses create their server in *<out>, without the settings of
 * default-server. NULL ends this.
 */
void server_set_capture(struct server **out);
/* Allocates the extra data of a server added at run time, with an empty arena. NULL: out of memory.
 */
struct server_own *server_own_new(void);
/* Frees it with everything in it, including the server. */
void server_own_free(struct server_own *own);
/* Completes settings that depend on others, after all lines were read. */
void server_complete(struct server *srv);
/* Warns about send-proxy* where connections to the server do not belong to a stream, so that no
 * header is sent.
 */
void server_sends_no_header(const struct server *srv, struct diag_list *diags);
void server_close(struct server *srv);
/* As server_close(); also frees a server that has its own memory. */
void server_end(struct server *srv);
/* Creates a state from the settings, with one reference. NULL: out of memory. */
struct server_state *server_state_new(const struct server *srv);
struct server_state *server_state_take(struct server_state *st);
void server_state_drop(struct server_state **st);

/* Puts the server <f> in maintenance or drain, or takes it out, as the server that it tracks, whose
 * flags are <admin>.
 */
void server_follow(struct server *f, unsigned admin);

/* Does its forced protocol suit the mode of its backend? */
bool server_proto_fits(const struct server *srv);
/* The name of such a protocol; a constant. */
const char *server_proto_name(const struct server *srv);
/* Prepares TLS for its connections, if its line asks for it. */
void server_check_tls(struct server *srv, struct diag_list *d);

#endif
