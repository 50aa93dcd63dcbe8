/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dns_priv.h - sections, their name servers and resolutions, shared by the files here
 *
 *	section (conf) --> state --> nameserver --> UDP socket, links (TCP)
 *	                         \--> resolution --> items, askers
 *
 * A state and everything in it belongs to thread 0; any thread reads the counters.
 */
#ifndef DNS_DNS_PRIV_H
#define DNS_DNS_PRIV_H

#include "base/addr.h"
#include "base/list.h"
#include "base/slot.h"
#include "core/timer.h"
#include "dns/resolvers.h"

#define NAMESERVERS_MAX 64       /* one bit of a uint64_t each */
#define ITEMS_MAX DNS_RECORDS_MAX
#define RESOLUTIONS_MAX 65000    /* of a section: each has its own identifier */
#define BUCKETS 512
#define LINKS_MAX 16             /* TCP connections to a name server that has no maxconn */
#define LINK_QUERIES 4           /* queries outstanding on a connection before another is opened */
#define LINK_IDLE_MS 5000

/* The counters of a name server: shared by all generations that have it, read by any thread. */
struct nameserver_figures {
	unsigned refs;                /* atomic */
	uint64_t value[RESOLVE_CNT_COUNT]; /* atomic, written by thread 0 */
};

/* --- the settings of a section: belong to the generation */

struct nameserver_conf {
	struct nameserver_conf *next;
	const char *name;
	const char *file;
	int line;
	struct addr_any addr;
	bool is_stream;
	unsigned links_max;
	struct nameserver_figures *figures; /* counted; NULL before the generation starts */
};

struct resolvers_settings {
	int64_t hold_ms[RESOLVE_STATUS_COUNT];
	int64_t hold_obsolete_ms;
	int64_t resolve_ms, retry_ms;
	unsigned tries;
	unsigned payload;
	bool accept[2];               /* IPv4, IPv6 */
	bool ipv6_by_route;           /* IPv6 only while there is a route */
};

struct resolvers {
	struct resolvers *next;
	const char *name;
	const char *file;             /* NULL: made by the program */
	int line;
	struct resolvers_settings set;
	struct nameserver_conf *servers, **servers_end;
	unsigned server_count;
	struct resolvers_state *state;  /* counted; created with the generation */
};

/* The sections of a generation: the contents of its slot. */
struct resolvers_config {
	struct resolvers *first, **end;
	bool refuse[2];               /* from dns-accept-family: IPv4, IPv6 */
	bool ipv6_by_route;           /* from its `auto` */
	bool only_ipv4;               /* set on the command line, overrides <refuse> */
};

extern struct slot resolvers_config_slot;
struct resolvers_config *resolvers_config_of(const struct config *cfg);

/* --- state at run time */

struct nameserver {
	struct list link;             /* in its state */
	struct resolvers_state *state;
	char *name;                   /* owned */
	struct addr_any addr;
	bool is_stream;
	unsigned links_max;
	unsigned bit;                 /* its bit in the masks of a resolution */
	bool is_stale;                /* no longer in the section */
	int fd;                       /* UDP; -1: none. Its port changes, see nameserver.c */
	int fd_before;                /* the previous one, kept for late answers; -1: none */
	uint64_t fd_since_ms;         /* when <fd> was opened */
	struct timer more;            /* UDP: a turn's limit was reached with more left to read */
	unsigned waiting;             /* resolutions that wait for an answer from it */
	struct list links;            /* struct stream_link */
	struct nameserver_figures *figures; /* counted */
};

struct resolvers_state {
	unsigned refs;                /* atomic */
	char *name;                   /* owned */
	/* belongs to the live generation: servers are queried again */
	bool is_live;
	struct resolvers_settings set;
	uint64_t burst_ms;            /* when the last burst of queries began */
	unsigned burst;               /* queries in it */
	struct list servers;          /* struct nameserver */
	unsigned resolution_count;
	struct list by_name[BUCKETS]; /* struct resolution.link */
	struct list by_id[BUCKETS];   /* struct resolution.id_link */
};

enum resolution_phase {
	RESOLUTION_IDLE,              /* nothing is outstanding; the timer is set to the next run */
	RESOLUTION_ASKING,            /* a query was sent */
	/* all name servers have answered with errors: retries when the timer expires */
	RESOLUTION_PAUSE,
	RESOLUTION_TURN,              /* other resolutions go first: its query is sent soon */
};

struct resolution {
	struct list link, id_link;
	struct resolvers_state *state;
	enum resolution_phase phase;
	enum dns_type first, type;    /* the type to query first; the type of the current query */
	uint16_t id;
	bool tried_other;             /* the other family was queried in this try */
	unsigned tries_left;
	uint64_t asked, answered;     /* masks of name servers */
	uint64_t asked_ms;
	enum resolve_status status, failure; /* of the last run; of the current one so far */
	uint64_t valid_ms;            /* time of the last valid answer; 0: none yet */
	struct nameserver *source;    /* of that answer; NULL: gone */
	struct list items, askers;
	unsigned item_count;
	struct timer timer;
	unsigned running;             /* askers are being called back: must not be freed */
	char name[];
};

/* state.c */
struct resolvers_state *state_new(const char *name);
struct resolvers_state *state_take(struct resolvers_state *st);
void state_drop(struct resolvers_state **st);
/* Applies the name servers and settings of <conf>. Returns false: no memory. */
bool state_configure(struct resolvers_state *st, struct resolvers *conf);

/* nameserver.c */
struct nameserver *nameserver_new(struct resolvers_state *st, const struct nameserver_conf *conf);
void nameserver_free(struct nameserver *ns);
bool nameserver_is(const struct nameserver *ns, const struct nameserver_conf *conf);
void figures_drop(struct nameserver_figures **f);
/* Makes <conf> share the counters of <ns>. */
void figures_share(struct nameserver_conf *conf, struct nameserver *ns);
/* Returns true if addresses of this family may be queried now. */
bool family_is_accepted(const struct resolvers_settings *set, bool v6);
/* Sends a query. Returns false: sending failed, which is counted. */
bool nameserver_send(struct nameserver *ns, struct slice query);
void nameserver_count(struct nameserver *ns, enum resolve_counter what);

/* link.c: queries over TCP */
bool links_send(struct nameserver *ns, struct slice query);
void links_close(struct nameserver *ns);

/* resolution.c */
struct resolution *resolution_get(struct resolvers_state *st, const char *name, enum dns_type type);
void resolution_run(struct resolution *r);
void resolution_free(struct resolution *r);
/* Called when its last asker has left: frees it unless it is worth keeping. */
void resolution_unused(struct resolution *r);
/* Called before a name server is freed: resolutions no longer expect an answer from it. */
void resolutions_forget_server(struct nameserver *ns);
/* Handles a message from a name server. Returns false: no query is waiting for it. */
bool resolution_answer(struct nameserver *ns, struct slice message);

/* items.c */
void items_merge(struct resolution *r, const struct dns_answer *answer);
void items_sweep(struct resolution *r);

#endif
