/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dns_priv.h - sections, their name servers and resolutions, as the files of this folder see them
 *
 *	section (conf) --> state --> nameserver --> UDP socket, links (TCP)
 *	                         \--> resolution --> items, askers
 *
 * A state, and all that hangs off it, is thread 0's; counters are read by any.
 */
#ifndef DNS_DNS_PRIV_H
#define DNS_DNS_PRIV_H

#include "base/addr.h"
#include "base/list.h"
#include "base/slot.h"
#include "core/timer.h"
#include "dns/resolvers.h"

#define NAMESERVERS_MAX 64       /* as many as bits of a uint64_t */
#define ITEMS_MAX DNS_RECORDS_MAX
#define RESOLUTIONS_MAX 65000    /* of a section: each has its identifier */
#define BUCKETS 512
#define LINKS_MAX 16             /* TCP connections to a name server without maxconn */
#define LINK_QUERIES 4           /* queries under way on a connection before another is made */
#define LINK_IDLE_MS 5000

/* What a name server did: shared by all generations that know it, read by any thread. */
struct nameserver_figures {
	unsigned refs;                /* atomic */
	uint64_t value[RESOLVE_CNT_COUNT]; /* atomic, written by thread 0 */
};

/* --- what a section says: of the generation */

struct nameserver_conf {
	struct nameserver_conf *next;
	const char *name;
	const char *file;
	int line;
	struct addr_any addr;
	bool is_stream;
	unsigned links_max;
	struct nameserver_figures *figures; /* counted; NULL before the generation began */
};

struct resolvers_settings {
	int64_t hold_ms[RESOLVE_STATUS_COUNT];
	int64_t hold_obsolete_ms;
	int64_t resolve_ms, retry_ms;
	unsigned tries;
	unsigned payload;
	bool accept[2];               /* IPv4, IPv6 */
	bool ipv6_by_route;           /* IPv6 as long as there is a way to go */
};

struct resolvers {
	struct resolvers *next;
	const char *name;
	const char *file;             /* NULL: made by the program */
	int line;
	struct resolvers_settings set;
	struct nameserver_conf *servers, **servers_end;
	unsigned server_count;
	struct resolvers_state *state;  /* counted; made with the generation */
};

/* The sections of a generation: its slot. */
struct resolvers_config {
	struct resolvers *first, **end;
	bool refuse[2];               /* dns-accept-family: IPv4, IPv6 */
	bool ipv6_by_route;           /* its `auto` */
	bool only_ipv4;               /* by the command line, whatever it says */
};

extern struct slot resolvers_config_slot;
struct resolvers_config *resolvers_config_of(const struct config *cfg);

/* --- what happens */

struct nameserver {
	struct list link;             /* in its state */
	struct resolvers_state *state;
	char *name;                   /* owned */
	struct addr_any addr;
	bool is_stream;
	unsigned links_max;
	unsigned bit;                 /* its number in masks of a resolution */
	bool is_stale;                /* not in the section any more */
	int fd;                       /* UDP, -1: none. Its port changes: nameserver.c */
	int fd_before;                /* the one before, for late answers; -1: none */
	uint64_t fd_since_ms;         /* when <fd> was opened */
	struct timer more;            /* UDP: there was more to read than a turn's share */
	unsigned waiting;             /* resolutions that wait for its answer */
	struct list links;            /* struct stream_link */
	struct nameserver_figures *figures; /* counted */
};

struct resolvers_state {
	unsigned refs;                /* atomic */
	char *name;                   /* owned */
	bool is_live;                 /* of the live generation: servers are asked about again */
	struct resolvers_settings set;
	uint64_t burst_ms;            /* when the last burst of questions began */
	unsigned burst;               /* questions in it */
	struct list servers;          /* struct nameserver */
	unsigned resolution_count;
	struct list by_name[BUCKETS]; /* struct resolution.link */
	struct list by_id[BUCKETS];   /* struct resolution.id_link */
};

enum resolution_phase {
	RESOLUTION_IDLE,              /* nothing is under way; the timer is that of the next time */
	RESOLUTION_ASKING,            /* a question is out */
	RESOLUTION_PAUSE,             /* all have answered with errors: asked again on time */
	RESOLUTION_TURN,              /* others are being asked: its question comes soon */
};

struct resolution {
	struct list link, id_link;
	struct resolvers_state *state;
	enum resolution_phase phase;
	enum dns_type first, type;    /* asked for first; asked for now */
	uint16_t id;
	bool tried_other;             /* the other family, in this try */
	unsigned tries_left;
	uint64_t asked, answered;     /* masks of name servers */
	uint64_t asked_ms;
	enum resolve_status status, failure; /* of the last run; of this one so far */
	uint64_t valid_ms;            /* the last valid answer; 0: never */
	struct nameserver *source;    /* of it; NULL: gone */
	struct list items, askers;
	unsigned item_count;
	struct timer timer;
	unsigned running;             /* askers are being told: it is not freed */
	char name[];
};

/* state.c */
struct resolvers_state *state_new(const char *name);
struct resolvers_state *state_take(struct resolvers_state *st);
void state_drop(struct resolvers_state **st);
/* Makes name servers and settings what <conf> says. False: no memory. */
bool state_configure(struct resolvers_state *st, struct resolvers *conf);

/* nameserver.c */
struct nameserver *nameserver_new(struct resolvers_state *st, const struct nameserver_conf *conf);
void nameserver_free(struct nameserver *ns);
bool nameserver_is(const struct nameserver *ns, const struct nameserver_conf *conf);
void figures_drop(struct nameserver_figures **f);
/* Has <conf> share the figures of <ns>. */
void figures_share(struct nameserver_conf *conf, struct nameserver *ns);
/* May addresses of this family be asked for, now? */
bool family_is_accepted(const struct resolvers_settings *set, bool v6);
/* Sends a query. False: it could not, which is counted. */
bool nameserver_send(struct nameserver *ns, struct slice query);
void nameserver_count(struct nameserver *ns, enum resolve_counter what);

/* link.c: queries over TCP */
bool links_send(struct nameserver *ns, struct slice query);
void links_close(struct nameserver *ns);

/* resolution.c */
struct resolution *resolution_get(struct resolvers_state *st, const char *name, enum dns_type type);
void resolution_run(struct resolution *r);
void resolution_free(struct resolution *r);
/* Its askers have left: it goes when it is not worth keeping. */
void resolution_unused(struct resolution *r);
/* A name server is going: nothing more comes from it. */
void resolutions_forget_server(struct nameserver *ns);
/* A message from a name server. False: no question waits for it. */
bool resolution_answer(struct nameserver *ns, struct slice message);

/* items.c */
void items_merge(struct resolution *r, const struct dns_answer *answer);
void items_sweep(struct resolution *r);

#endif
