/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* server.h - one server of a backend: its settings, and its state which outlives a reload
 *
 * Purpose: struct server is what the configuration says (immutable after the check phase, owned
 *          by the generation); struct server_state is what changes at run time: weight,
 *          administrative and operational state, address, limits, load, counters. Another
 *          generation's server of the same backend name, server name and address adopts the
 *          state (server_state_adopt).
 * Owns   : a server holds one reference on its state. Texts are in the generation's arena.
 * Threads: settings from any thread. State: members marked atomic are read without a lock;
 *          setters (server_set_*) may be called from any thread, take the backend's lock and
 *          publish; none is on the request path.
 * Errors : setters return false and give a message (static text or in the caller's buffer).
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

/* A socket address ready for the kernel. family AF_UNSPEC: not known (yet). */
struct server_addr {
	struct sockaddr_storage sa;
	socklen_t len;
};

/* What `send-proxy-v2`'s options add. */
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

/* Administrative state: atomic bits; the words and numbers of `show servers state`. */
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

/* What changed it: what the log says behind "is DOWN". */
enum server_cause { SERVER_BY_NOBODY, SERVER_BY_CLI, SERVER_BY_SCRIPT, SERVER_BY_CHECK,
		    SERVER_BY_AGENT, SERVER_BY_TRACK };

/* The weight of a server is counted in sixteenths while it starts slowly. */
#define SERVER_WARM 16

#define SERVER_TIERS_MAX 16

struct server_state {
	/* a line that each request reads, and nearly none writes */
	unsigned admin;               /* atomic: enum server_admin */
	unsigned oper;                /* atomic: enum server_oper */
	int64_t maxconn, minconn;     /* atomic: limits now, 0 none */
	socklen_t address_len;        /* 0: the address of the file applies */
	unsigned address_turn;        /* atomic: even; odd while <address> is being written */
	int64_t last_session_s;       /* atomic: wall-clock second of the last session, 0 none */
	struct counter_set counters;  /* enum counter_back */
	uint64_t session_max;         /* atomic */

	unsigned refs;                /* atomic */
	unsigned uweight;             /* atomic: user's weight now, 0..256 */
	uint64_t changed_us;          /* atomic: wall clock of the last change of state */
	uint64_t down_ms;             /* accumulated time down */
	struct sockaddr_in6 address;  /* (or sockaddr_in) set at run time: see server_address() */
	char *identity;               /* "backend/server@address": owned */
	struct check_state check, agent;
	int64_t strict_open;          /* atomic: connections, with strict-maxconn */
	unsigned errors_in_row;       /* atomic: seen in traffic (observe) */
	unsigned warm;                /* atomic: sixteenths of the weight in use (slowstart) */
	struct task *check_task;      /* under the lock: to wake its check; or NULL */
	struct task *warm_task;       /* same, of its slow start */
	uint64_t queue_max;           /* atomic */

	/* queue.c's: written only when there is a limit */
	struct {
		int64_t served;       /* atomic: slots taken */
		unsigned length;      /* atomic: waiters on this server's queue */
		unsigned passed;      /* granted so far, under the lock */
		bool mixed;           /* atomic: the limit was 0 for a part of its life */
		struct tree waiters;  /* under the backend's queue lock */
	} queue __attribute__((aligned(64)));

	/* what each request reads fills that line */
	struct rate_set session_rate;
	struct time_set times;
	struct latency_set latency;
	struct history *history;      /* atomic: of manage/stats_history.h; owned; or NULL */

	struct resolve_state *resolve;  /* owned; NULL without resolvers */
	bool port_is_fixed;           /* atomic: a service has given the port */
	struct outlier_state outlier; /* outlier-ejection */
};

/* What version 2 of the PROXY protocol says besides, in this order; in the arena. */
struct server_tlvs {
	unsigned count;
	struct server_tlv {
		uint8_t type;
		const struct logformat *value;
	} list[];
};

/* What a server has beside that was added at run time: it is freed when no thread needs it any more
 * (proxy/walk.h).
 */
struct server_own {
	struct arena memory;          /* the server, and what its line says */
	struct expr_owned *owned;     /* of its expressions */
	struct server *next;          /* among those that were removed */
	uint64_t removal;             /* its place among the removals of the process */
	unsigned pins;                /* atomic: see server_pin() */
	unsigned is_kept;             /* atomic bool: see server_keep() */
	unsigned is_seen;             /* atomic bool: see server_see() */
	unsigned stage;               /* what is left to wait for: walk.c's */
};

struct server {
	/* the cache line that each request reads */
	struct server_state *state;
	struct proxy *proxy;
	struct source *source;        /* own, the proxy's, or NULL */
	const char *redir;            /* redirect prefix; or NULL */
	struct {
		int64_t max_conn;     /* idle connections kept; -1 no limit, 0 none */
		int64_t low_conn;
		int64_t max_reuse;    /* -1 no limit */
	} pool;
	unsigned index;               /* of its place in proxy->balance */
	unsigned char send_proxy;     /* 0, 1, 2 */
	bool port_is_mapped;          /* "+N", "-N" or none: destination port plus port_offset */
	bool is_direct;               /* proxy->direct, hidden: never reported as a server */
	bool is_quic;                 /* quic4@ and the like: its connections are of QUIC */
	bool is_reverse;              /* rhttp@: it has only connections that rules attach */

	struct list link;             /* in proxy->servers: read by server_next() */
	const char *name;
	const char *guid;             /* or NULL */
	/* small ones, side by side: servers are many */
	int id;                       /* from 1, unique in the backend */
	unsigned uweight;             /* initial, 0..256 */
	enum hash_key hash_key;       /* where its points of consistent hashing come from */
	unsigned proxy_v2_options;    /* enum proxy_v2_option */
	struct {
		uint8_t down, up;     /* enum server_on_marked */
	} on_marked;
	bool id_forced;               /* by the `id` option */
	bool strict_maxconn;          /* idle connections count too */
	bool backup;
	bool disabled;                /* starts in maintenance (CMAINT) */
	bool datagrams;               /* "udp@": of log backends */
	bool log_octets;              /* log-proto octet-count */
	struct {                      /* of a server at run time */
		bool is_referenced;   /* rules or expressions name it: it cannot be removed */
		bool is_dynamic;      /* added at run time */
		bool is_removed;      /* atomic: removed at run time; it dies with the generation */
		unsigned revision;    /* how many were removed before it was added */
		struct server *removed_next; /* in proxy->run.removed */
		struct server_own *own; /* NULL: it dies with its generation */
	} life;
	struct {                      /* where it is configured */
		const char *file;
		int line;
	} place;
	struct {                      /* address of the file */
		const struct sockaddr *sa; /* in the arena */
		const char *text;     /* as written */
		const char *hostname; /* when a name was written; or NULL. See resolve_name() */
		socklen_t len;
		int port;             /* 0 with port_offset or no port */
		int port_offset;
		bool unresolved;      /* no address: starts in maintenance (RMAINT) */
		bool is_any;          /* it is the wildcard */
	} at;

	int64_t tier;                 /* 1..SERVER_TIERS_MAX: the lowest one serves first */
	struct {
		int64_t maxconn, minconn, maxqueue; /* 0 none */
	} limits;
	struct {                      /* idle connections */
		int64_t purge_delay_ms;
		int64_t ping_ms;      /* HTTP/2: between PINGs; 0 none */
		const struct expr *conn_name; /* names them in place of `sni`; or NULL */
	} idle;
	const struct server_tlvs *proxy_v2_tlvs; /* set-proxy-v2-tlv-fmt; NULL: none */
	const struct server_addr *socks4; /* the proxy to connect through; NULL: none */
	struct {                      /* see struct socket_settings */
		const char *congestion, *md5_key; /* NULL none */
		const struct netns *netns; /* `namespace`; NULL: none */
		int64_t user_timeout_ms; /* tcp-ut; 0 none */
		int mss;              /* 0 none (never settable on servers today) */
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

	uint64_t digest;              /* of its options: equal ones are reached in the same way */
	/* slots follow */
};

/* Its slots (SLOT_SERVER). */
struct slot_area *server_slots(const struct server *srv);
/* The server whose slots these are. */
struct server *server_of_slots(const struct slot_area *slots);

/* First and next of a backend, in order of the file; NULL at the end. Any thread, while servers are
 * added and removed: the way on from one that was removed meanwhile leads back into the list.
 */
struct server *server_first(const struct proxy *be);
struct server *server_next(const struct server *srv);
/* By name, or by "#id"; NULL: none. */
struct server *server_find(const struct proxy *be, const char *name);
/* By "backend/server"; *error gets why not, a static text. */
struct server *server_find_path(struct config *cfg, const char *path, const char **error);

/* The server of <cfg> that shares the state of <srv>, of another generation; NULL: none. */
struct server *server_heir(const struct config *cfg, const struct server *srv);
/* Folds a word of its options into a digest. */
uint64_t server_digest_add(uint64_t digest, const char *word);

/* May it get new requests: running, not drained, not in maintenance, not ejected, weight above 0.
 */
bool server_is_usable(const struct server *srv);
/* Would it, if it were not ejected (outlier-ejection)? */
bool server_is_only_ejected(const struct server *srv);
/* May it get requests that belong to it (persistence): running and not in maintenance. */
bool server_is_willing(const struct server *srv);
static inline unsigned server_weight(const struct server *srv)
{
	return __atomic_load_n(&srv->state->uweight, __ATOMIC_RELAXED);
}

/* Sixteenths of weight that it has now; less than all of them while it starts slowly. */
static inline unsigned server_weight_sixteenths(const struct server *srv)
{
	return server_weight(srv) * __atomic_load_n(&srv->state->warm, __ATOMIC_RELAXED);
}

/* The CSV's status column, in <out> (32 bytes do): "UP", "UP 1/3", "DOWN (agent)", "MAINT"... */
void server_status(const struct server *srv, char *out, size_t size);

/* Copies the current address (consistent although it may change meanwhile). */
void server_address(const struct server *srv, struct server_addr *out);

/* --- changes, from any thread, at run time
 * ----------------------------------------------------
 */

/* "12" absolute (0..256), "50%" of the initial weight. */
bool server_set_weight(struct server *srv, const char *text, const char **error);
bool server_set_maxconn(struct server *srv, const char *text, const char **error);
/* Sets and clears administrative flags; redistributes its queue when it goes to maintenance. */
void server_set_admin(struct server *srv, unsigned set, unsigned clear);
/* Its name has an address, or none any more, and why: "DNS NX status". Told in the logs. */
void server_set_resolved(struct server *srv, bool resolved, const char *why);
/* For health checks and their kin; servers that track it follow. Without effect in maintenance. */
void server_set_oper(struct server *srv, enum server_oper oper, enum server_cause cause);
/* Slow start: computes the weight of the moment; false: it has all of it. Threads: any. */
bool server_warm_up(struct server *srv);

/* What is done to the streams of a server that went down (on-marked-down), or of backup servers
 * when another came up (on-marked-up). The stream floor installs it; called from any thread.
 */
typedef void server_shutdown_fn(struct server *srv, bool is_up);
void server_set_shutdown_hook(server_shutdown_fn *fn);
/* What is done when a server enters maintenance: its idle connections are closed. The stream floor
 * installs it; called from any thread.
 */
typedef void server_maint_fn(struct server *srv);
void server_set_maint_hook(server_maint_fn *fn);
/* Address and port: either may be NULL (unchanged). The message tells what changed, in the
 * reference's words, and <by> what, in <message> (<size> bytes), also on errors (returns false).
 */
bool server_set_address(struct server *srv, const char *address, const char *port,
			const char *by, char *message, size_t size);

/* Closes the idle connections to <srv> on all threads, then calls <done> on this one (never before
 * this function returns). False: no memory. The stream floor installs it.
 */
typedef bool server_flush_fn(struct server *srv, void (*done)(void *ctx), void *ctx);
void server_set_flush_hook(server_flush_fn *fn);

/* What the stream floor knows of the connections to <srv>, from any thread: how many are idle on
 * thread <thread>, and of all threads added up the most in use at once and those that are thought
 * to be needed. It installs the function; until then there are none.
 */
struct server_conn_figures {
	unsigned idle, most_used, needed;
};
typedef void server_conn_figures_fn(const struct server *srv, unsigned thread,
				    struct server_conn_figures *out);
void server_set_conn_figures_hook(server_conn_figures_fn *fn);
void server_conn_figures(const struct server *srv, unsigned thread,
			 struct server_conn_figures *out);

/* --- life ------------------------------------------------------------------------------------
 */

/* A server of <px> with default settings (those of its default-server), not linked; NULL: no
 * memory. server_link() adds it. server_close() undoes what is not in the arena.
 */
struct server *server_new(struct proxy *px, const char *name);
/* As server_new(), without the settings of its default-server. */
struct server *server_new_bare(struct proxy *px, const char *name);
/* Gives it the address of its line, which lives as long. */
void server_set_line_address(struct server *srv, const struct sockaddr *sa, socklen_t len);
/* Looks up the name of its line, for good: of servers whose names are not resolved at run time
 * (rings, peers). In the check phase; what fails is reported.
 */
void server_resolve_once(struct config *cfg, struct server *srv, struct diag_list *diags);
/* Is it the wildcard, which stands for the address that the client asked for? */
bool server_address_is_any(const struct sockaddr *sa);
void server_link(struct server *srv);
/* What this thread parses next goes to *<out> instead, without the settings of default-server; NULL
 * ends that.
 */
void server_set_capture(struct server **out);
/* What a server at run time has for itself, whose arena is empty; NULL: no memory. */
struct server_own *server_own_new(void);
/* Frees it with all that it has, the server too. */
void server_own_free(struct server_own *own);
/* Completes settings by others, once all are read. */
void server_complete(struct server *srv);
/* Warns of send-proxy*, where connections to the server are not a stream's: no header is sent. */
void server_sends_no_header(const struct server *srv, struct diag_list *diags);
void server_close(struct server *srv);
/* The same, and of one that has memory of its own that, too. */
void server_end(struct server *srv);
/* A fresh state from the settings, one reference; NULL: no memory. */
struct server_state *server_state_new(const struct server *srv);
struct server_state *server_state_take(struct server_state *st);
void server_state_drop(struct server_state **st);

/* A follower is in maintenance and drain as long as the one that it tracks: that has flags <admin>.
 */
void server_follow(struct server *f, unsigned admin);

/* Does a protocol that is forced on its connections fit the mode of its backend? */
bool server_proto_fits(const struct server *srv);
/* The name of such a protocol; a constant. */
const char *server_proto_name(const struct server *srv);
/* Prepares TLS for its connections, if its line asks for it. */
void server_check_tls(struct server *srv, struct diag_list *d);

#endif
