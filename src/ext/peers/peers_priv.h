/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peers_priv.h - sections peers, for the files that read, run and show them
 *
 *     struct peers_conf (generation)  --orders-->  struct peers (home thread)
 *                                                    |-- struct shared_table: numbers, log
 *                                                    |-- struct peers_names (thread 0): DNS
 *                                                    '-- struct peer --- struct peers_link
 *                                                          '-- struct share: how far one peer is
 *                                                                with one table
 */
#ifndef SRC_EXT_PEERS_H
#define SRC_EXT_PEERS_H

#include "base/list.h"
#include "base/slot.h"
#include "base/strbuf.h"
#include "codec/peers.h"
#include "conf/conf.h"
#include "core/mailbox.h"
#include "net/dial.h"
#include "proxy/bind.h"
#include "proxy/proxy.h"
#include "proxy/server.h"
#include "table/feed.h"
#include "table/part.h"
#include "table/table.h"

/* A peer that is silent for PEERS_DEAD_MS is gone; one that has nothing to say sends a
 * heartbeat.
 */
#define PEERS_DEAD_MS 5000
#define PEERS_HEARTBEAT_MS 3000
#define PEERS_HANDSHAKE_MS 5000
/* How long a peer that can teach is waited for. */
#define PEERS_RESYNC_MS 5000
/* Of a template. */
#define PEERS_FOUND_MAX TABLE_PARTS_MAX
/* Texts that are known by a number on a link, in each direction. */
#define PEERS_WORDS 128
/* The age of what has just begun, by the clock of a thread that is behind. */
#define PEERS_AGE_MAX (UINT32_MAX - 65536)
/* tune.peers.max-updates-at-once */
#define PEERS_UPDATES 200

/* --- what a generation says ------------------------------------------------------------------- */

struct peers_conf {
	struct peers_conf *next;
	struct config *config;     /* whose it is */
	struct proxy *proxy;       /* name, log targets, bind line, servers; nowhere else */
	const char *local;         /* how this process is called */
	struct bind_conf *bind;    /* where it is met; NULL: nothing is said of that */
	const char *bind_word;     /* "bind" or "peer", which said it; NULL: neither has */
	bool mixed_told;           /* that both have was reported */
	bool has_local;            /* a line names this process */
	int local_line;
	struct server *template;   /* `peer-template`: how to reach those of its name; or NULL */
	unsigned shards;           /* 0: each peer gets all keys */
	bool disabled;
	bool is_used;              /* it has a peer that is this process, and is not disabled */
	struct listener *listener; /* owned, under a lock; NULL: none, or closed */
	struct peers *run;         /* borrowed; NULL before the generation starts */
};

struct peers_config {
	struct peers_conf *first;
	int64_t max_updates;
};
extern struct slot peers_config_slot, peers_server_slot; /* the latter: int, `shard` */
struct peers_config *peers_config_of(const struct config *cfg);
/* Which part of the keys a peer gets; 0: all of them. */
unsigned peers_shard(const struct peers_conf *c, const struct server *srv);
/* Is this the line of this process itself? */
static inline bool peers_is_local(const struct peers_conf *c, const struct server *srv)
{
	return strcmp(srv->name, c->local) == 0;
}

/* The address of the bind line; NULL: none. */
static inline const struct listener_conf *peers_listens_at(const struct peers_conf *c)
{
	return c->bind && !list_is_empty(&c->bind->listeners)
		? list_first(&c->bind->listeners, struct listener_conf, link) : NULL;
}

/* --- what runs: all of a section's home ------------------------------------------------------- */

/* A table that is shared. */
struct shared_table {
	struct list link;             /* in peers->tables */
	struct table *table;          /* of the generation in force */
	struct table_state *state;    /* counted */
	char *name;                   /* owned: what it is called among peers */
	struct peers_table definition;/* as we tell of it */
	uint32_t number;              /* of the change that was taken last */
	uint32_t told;                /* at a stop: what all peers are sure to have */
	/* Changes not sent to every peer yet: entries, held, of the numbers <first> on. */
	struct table_entry **log;
	uint32_t first, count, room;  /* room: a power of two; the place of n is n % room */
};

enum share_mode {
	SHARE_LOG,     /* sends what the log has from <next> on */
	SHARE_WALK,    /* walks the table: what has changed since <acked> */
	SHARE_TEACH,   /* walks the table: all of it */
	SHARE_TAUGHT,  /* was taught, and waits until that is so for all tables */
};

/* How a table is at a peer: other keys, other data. */
enum difference { DIFFERS_NOT, DIFFERS_KEYS, DIFFERS_DATA };

/* One peer and one table. */
struct share {
	struct list link;             /* in peer->shares */
	struct shared_table *shared;
	struct table_part *part;      /* `sum`: what the peer counts; NULL: it is put into ours */
	uint32_t acked;               /* the last of our numbers that the peer is sure to have */
	/* of its link: */
	enum share_mode mode;
	uint32_t next;                /* of the log */
	uint32_t base;                /* of a walk: what had happened when it began */
	uint32_t pushed;              /* the last number that was sent */
	struct table_cursor at;
	struct table_entry *held;     /* what the walk has found, and sends next; held */
	bool is_defined;              /* the peer has told what its table is like */
	bool agrees;                  /* and that fits ours */
	bool ack_due;
	uint8_t told;                 /* enum difference: logged last; outlives a link */
	uint32_t last, got;           /* of its numbers: that came last; of those to be acked */
	struct peers_table theirs;
};

struct peer {
	struct list link;             /* in peers->peers */
	struct peers *section;
	char *name;                   /* owned */
	struct server *srv;           /* of the generation in force */
	struct addr found;            /* of a template: where it is; ADDR_NONE: its line says it */
	bool is_listed;               /* of a template: its name stands for it still */
	bool is_local;
	struct list shares;
	struct peers_link *up;        /* NULL: there is none, not even an attempt */
	uint64_t dial_at_ms;          /* not before */
	uint64_t pid;                 /* of the process that came last; 0: none has */
	bool has_told;                /* what it counts, for sums */
	bool asked_in_vain;           /* it could not teach us everything */
	bool complained;              /* that it is away, or speaks nonsense, was logged */
	/* for `show peers` */
	unsigned last_status;         /* 0, or of a hello; PEERS_STATUS_* */
	uint64_t hello_ms;            /* of the last handshake; 0: never */
	unsigned sent_beats, got_beats, missed_beats, attempts, faults, collisions;
};

enum peers_resync { RESYNC_LOCAL, RESYNC_REMOTE, RESYNC_DONE };

struct peers {
	struct list link;             /* of thread 0: all of them */
	char *name;                   /* owned */
	unsigned home;
	struct peers_names *names;    /* owned, of thread 0; NULL: it never had a template */
	/* of its home: */
	struct config *config;        /* counted; NULL: no generation wants it */
	struct peers_conf *conf;
	struct list peers, tables, links;
	struct peers_found *found;    /* owned: the answer for its template; NULL: none yet */
	struct task *task;            /* takes what has changed, dials */
	enum peers_resync resync;
	bool has_met;                 /* a link was up, once */
	uint64_t resync_end_ms;
	struct peers_link *teacher;   /* the peer that was asked for everything */
	bool is_stopping;             /* its old links are gone, and the new process is taught */
	bool is_taught, has_stopped;  /* then, one after the other */
	unsigned stop_tries;
	uint64_t begun_us;            /* wall clock */
	uint64_t calls;               /* of its task */
};

enum link_state {
	LINK_DIALS,     /* no connection yet */
	LINK_ASKED,     /* our hello is sent */
	LINK_GREETED,   /* accepted: the peer's hello is awaited */
	LINK_UP,
	LINK_LEAVES,    /* says its last word */
};

/* Texts of servers' keys, by the numbers that they have on a link. */
struct peers_words {
	struct {
		const struct shared_table *of; /* out: whose text that is, */
		uint32_t word;                 /* and its number there */
		char *text;                    /* in: owned */
	} all[PEERS_WORDS];
};

struct peers_link {
	struct list link;             /* in peers->links */
	struct peers *section;
	struct peer *peer;            /* NULL: the peer has not said its name yet */
	struct config *config;        /* counted: its connection's settings are there */
	struct conn *conn;            /* NULL: <dial> is at it */
	struct dial dial;
	struct task *task;            /* deadlines; goes on after a long turn */
	enum link_state state;
	struct strbuf in, out;
	size_t sent;                  /* bytes of <out> */
	uint64_t opened_ms, heard_ms, said_ms;
	uint64_t lesson_ms;           /* when it was asked, or last taught us something */
	bool asked;                   /* it was asked to teach us everything */
	bool has_to_teach;            /* it has asked for everything, or is the new process */
	bool awaits_confirm;          /* it was told that this is all */
	bool confirm_due;             /* it has told us that */
	bool has_taught, was_refused; /* at a stop: it is done; it was not reached */
	bool holds;                   /* <in> begins with a change that a lesson must not undo */
	struct share *to, *from;      /* what updates on the wire are about; NULL: none */
	struct peers_words *words_out, *words_in; /* owned; NULL: none yet */
	uint64_t calls;
};

/* --- peers.c: sections ------------------------------------------------------------------------ */

/* Made or found by name, on thread 0. NULL: no memory. */
struct peers *peers_run_of(const char *name);
/* The next of all, NULL: the first, or no more. Any thread; names and homes never change. */
struct peers *peers_next(const struct peers *p);
/* The calling thread's sections, before and behind its loop. */
bool peers_thread_init(void);
void peers_thread_fini(void);
bool peers_init(void);
/* What the generation says from now on, for <p>'s home; takes over a reference to it. NULL: no
 * generation has the section any more. <stop>: teach the successor instead. From thread 0. False:
 * no memory.
 */
bool peers_order(struct peers *p, struct peers_conf *c, struct config *config, bool stop);

/* The names that the generation's template asks for, or with NULL none. On thread 0. False: no
 * memory.
 */
bool peers_follow_names(struct peers *p, const struct peers_conf *c);

/* --- peers_names.c: peers whose addresses a name server tells --------------------------------- */

/* The peers that the name of a template stands for. */
struct peers_found {
	struct message message;
	void (*told)(struct peers *p, struct peers_found *f); /* takes it over */
	struct peers *p;
	bool is_anew;                 /* another name: the peers of the last one are left */
	unsigned count;
	struct addr all[PEERS_FOUND_MAX];
};

/* Asks for the name of <c>'s template from now on, and gives each answer to <told>, at the home;
 * NULL, or a section without one: not any more. On thread 0. False: no memory.
 */
typedef void peers_told_fn(struct peers *p, struct peers_found *f);
bool peers_names_follow(struct peers *p, const struct peers_conf *c, peers_told_fn *told);
/* Is this the process itself? */
bool peers_is_own(const struct peers_conf *c, const struct addr *a);
/* What this process calls itself on the link of a peer of a template, ADDR_MAX bytes. */
void peers_own_name(const struct peers_link *l, char *out);
/* Where a peer is met; false: that is not known. */
bool peers_address(const struct peer *peer, struct server_addr *out);

/* --- peers_lesson.c: the teacher -------------------------------------------------------------- */

void peers_log(const struct peers *p, int level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Others may know what we do not. <first>: the process may have taken over from another one. */
void peers_lesson_begin(struct peers *p, bool first);
/* Now and then. Returns the link that was asked and is to be pushed, or NULL. */
struct peers_link *peers_lesson_look(struct peers *p, uint64_t now_ms, uint64_t *next_ms);
/* Has it everything that others know? */
bool peers_is_complete(const struct peers *p);
/* Is it about to learn what others know? What it has counted meanwhile is little, and must not be
 * put over that: no peer is told before.
 */
bool peers_is_learning(const struct peers *p);
/* Links ask to be taught as they come up, and tell how it ended. */
void peers_link_is_up(struct peers_link *l);
void peers_was_taught(struct peers_link *l, bool all);
/* The link of a peer ended: it is tried again, later. */
void peers_link_ended(struct peers_link *l, bool was_up);

/* --- peers_listen.c --------------------------------------------------------------------------- */

/* Opens the sockets of <cfg>; those that <prev> has at the same address are shared. */
bool peers_listen_open(struct config *cfg, const struct config *prev, struct diag_list *diags);
/* Its home begins to accept. */
void peers_listen_start(const struct peers_conf *c);
/* From any thread. */
void peers_listen_close(struct peers_conf *c);

/* --- peers_link.c: connections ---------------------------------------------------------------- */

/* Begins to connect to a peer. */
void peers_link_dial(struct peer *peer);
/* A peer has connected: its hello is awaited on <fd>. */
void peers_link_accept(struct peers_conf *c, int fd);
/* Ends it, without a word. */
void peers_link_end(struct peers_link *l);
/* Sends what there is to send. False: the link has ended. */
bool peers_link_push(struct peers_link *l);
/* The generation of its settings is replaced: goes on with the new ones, or ends. */
void peers_link_follow(struct peers_link *l);
bool peers_link_init(void);

/* --- peers_tables.c: shared tables, and how far each peer is with them ------------------------ */

/* The tables of the generation in force become the shared ones. True: there are new ones. */
bool peers_tables_follow(struct peers *p);
/* Does one of them tell sums? */
bool peers_tables_add(const struct peers *p);
void peers_tables_free(struct peers *p);
/* Takes what has changed, numbers it. */
void peers_tables_take(struct peers *p);
/* At a stop, while it is known what peers have: what they have not is for the successor to tell. */
void peers_tables_stop(struct peers *p);
/* Forgets what all peers were sent. */
void peers_tables_trim(struct peers *p);
/* A peer knows of all tables; after changes of either. False: no memory. */
bool peers_shares_follow(struct peer *peer);
void peers_shares_free(struct peer *peer);
/* A link begins or ends: what is of it is as in the beginning. */
void peers_shares_reset(struct peer *peer);
/* It is there, or it is gone: sums are with or without its present. */
void peers_shares_set_up(struct peer *peer, bool up);
/* The process that knew what it has acknowledged is gone. */
void peers_shares_forget(struct peer *peer);
/* Begins to teach all tables. */
void peers_shares_teach(struct peer *peer);
/* It is sure to know what it was taught, and gets what came since. */
void peers_shares_confirmed(struct peer *peer);
/* The entry of number <n> in the log. */
static inline struct table_entry *shared_log_at(const struct shared_table *s, uint32_t n)
{
	return s->log[n & (s->room - 1)];
}

/* Is the next message a change that a peer tells while another one teaches? A lesson says what was
 * true before: the change is taken when the lesson is over.
 */
bool peers_learn_later(const struct peers_link *l, struct slice in);

/* --- peers_tell.c: what is sent --------------------------------------------------------------- */

/* Adds updates to l->out, <budget> at most. True: there may be more. *failed: no memory. */
bool peers_tell(struct peers_link *l, unsigned budget, bool *failed);

/* --- peers_learn.c: what comes ---------------------------------------------------------------- */

/* Looks at the messages to come, and has the entries that they are about fetched from memory. How
 * many of them, at least 1, are to be taken before it is asked again.
 */
unsigned peers_learn_soon(struct peers_link *l, struct slice in);
/* Takes the message. False: it broke the protocol; <why> says how. */
bool peers_learn(struct peers_link *l, const struct peers_msg *m, const char **why);
/* Adds the acks that are due to l->out. False: no memory. */
bool peers_ack_all(struct peers_link *l);
void peers_words_free(struct peers_words **w);

#endif
