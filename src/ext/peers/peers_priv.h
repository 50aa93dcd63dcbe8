/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peers_priv.h - sections peers, for the files that parse, run and show them
 *
 *     struct peers_conf (generation)  --orders-->  struct peers (home thread)
 *                                                    |-- struct shared_table: numbers, log
 *                                                    |-- struct peers_names (thread 0): DNS
 *                                                    '-- struct peer --- struct peers_link
 *                                                          '-- struct share: the progress of one
 *                                                                peer with one table
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

/* A peer that is silent for PEERS_DEAD_MS is considered gone; a peer with nothing to send sends a
 * heartbeat.
 */
#define PEERS_DEAD_MS 5000
#define PEERS_HEARTBEAT_MS 3000
#define PEERS_HANDSHAKE_MS 5000
/* How long to wait for a peer that can teach. */
#define PEERS_RESYNC_MS 5000
/* For a template. */
#define PEERS_FOUND_MAX TABLE_PARTS_MAX
/* Texts that a number stands for on a link, in each direction. */
#define PEERS_WORDS 128
/* A larger age comes from a thread whose clock is ahead and means 0. */
#define PEERS_AGE_MAX (UINT32_MAX - 65536)
/* tune.peers.max-updates-at-once */
#define PEERS_UPDATES 200

/* --- the configuration ------------------------------------------------------------------------ */

struct peers_conf {
	struct peers_conf *next;
	struct config *config;     /* the one it belongs to */
	/* name, log targets, bind line, servers; not in the list of proxies */
	struct proxy *proxy;
	const char *local;         /* name of this process */
	struct bind_conf *bind;    /* the address for peers; NULL: not given */
	const char *bind_word;     /* the line with that address, "bind" or "peer"; NULL: neither */
	bool mixed_told;           /* the use of both was reported */
	bool has_local;            /* a line names this process */
	int local_line;
	/* `peer-template`: the settings for peers of its name; or NULL */
	struct server *template;
	unsigned shards;           /* 0: each peer gets all keys */
	bool disabled;
	bool is_used;              /* it has a peer that is this process, and it is not disabled */
	struct listener *listener; /* owned, under a lock; NULL: none, or closed */
	struct peers *run;         /* borrowed; NULL before the generation starts */
};

struct peers_config {
	struct peers_conf *first;
	int64_t max_updates;
};
extern struct slot peers_config_slot, peers_server_slot; /* the latter: int, `shard` */
struct peers_config *peers_config_of(const struct config *cfg);
/* Returns the part of the keys that a peer gets; 0: all of them. */
unsigned peers_shard(const struct peers_conf *c, const struct server *srv);
/* Returns true if the line describes this process itself. */
static inline bool peers_is_local(const struct peers_conf *c, const struct server *srv)
{
	return strcmp(srv->name, c->local) == 0;
}

/* Returns the address of the bind line; NULL: none. */
static inline const struct listener_conf *peers_listens_at(const struct peers_conf *c)
{
	return c->bind && !list_is_empty(&c->bind->listeners)
		? list_first(&c->bind->listeners, struct listener_conf, link) : NULL;
}

/* --- state at run time: all of it belongs to a section's home --------------------------------- */

/* A shared table. */
struct shared_table {
	struct list link;             /* in peers->tables */
	struct table *table;          /* of the generation in force */
	struct table_state *state;    /* counted */
	char *name;                   /* owned: its name among peers */
	struct peers_table definition;/* as we announce it */
	uint32_t number;              /* of the latest change collected */
	/* at a stop: up to which number all peers certainly have the changes */
	uint32_t told;
	/* Changes not sent to every peer yet: entries, held, numbered from <first> on. */
	struct table_entry **log;
	uint32_t first, count, room;  /* room: a power of two; number n is at n % room */
};

enum share_mode {
	SHARE_LOG,     /* sends the log from <next> on */
	SHARE_WALK,    /* walks the table: sends entries changed since <acked> */
	SHARE_TEACH,   /* walks the table: sends all entries */
	SHARE_TAUGHT,  /* has finished teaching, and waits until all tables have */
};

/* How a peer's table differs: other keys, other data. */
enum difference { DIFFERS_NOT, DIFFERS_KEYS, DIFFERS_DATA };

/* The state of one table with one peer. */
struct share {
	struct list link;             /* in peer->shares */
	struct shared_table *shared;
	/* `sum`: the counts of the peer; NULL: they are merged into ours */
	struct table_part *part;
	uint32_t acked;               /* the last of our numbers that the peer certainly has */
	/* per link: */
	enum share_mode mode;
	uint32_t next;                /* in the log */
	uint32_t base;                /* of a walk: the last number when it began */
	uint32_t pushed;              /* the last number sent */
	struct table_cursor at;
	struct table_entry *held;     /* the entry found by the walk and sent next; held */
	bool is_defined;              /* the peer has announced its table */
	bool agrees;                  /* and its definition matches ours */
	bool ack_due;
	uint8_t told;                 /* enum difference: logged last; kept across links */
	/* of its numbers: received last; received last among those to be acked */
	uint32_t last, got;
	struct peers_table theirs;
};

struct peer {
	struct list link;             /* in peers->peers */
	struct peers *section;
	char *name;                   /* owned */
	struct server *srv;           /* of the generation in force */
	/* with a template: its address; ADDR_NONE: it has its own line */
	struct addr found;
	bool is_listed;               /* with a template: the name still resolves to it */
	bool is_local;
	struct list shares;
	struct peers_link *up;        /* NULL: no link, not even an attempt */
	uint64_t dial_at_ms;          /* earliest time of the next attempt */
	uint64_t pid;                 /* of the last process that connected; 0: none */
	bool has_told;                /* it has sent its counts, for sums */
	bool asked_in_vain;           /* it could not teach us everything */
	bool complained;              /* its absence, or a protocol error, was logged */
	/* for `show peers` */
	unsigned last_status;         /* 0, or from a hello; PEERS_STATUS_* */
	uint64_t hello_ms;            /* of the last handshake; 0: never */
	unsigned sent_beats, got_beats, missed_beats, attempts, faults, collisions;
};

enum peers_resync { RESYNC_LOCAL, RESYNC_REMOTE, RESYNC_DONE };

struct peers {
	struct list link;             /* thread 0's list of all */
	char *name;                   /* owned */
	unsigned home;
	struct peers_names *names;    /* owned, of thread 0; NULL: never had a template */
	/* used by its home: */
	struct config *config;        /* counted; NULL: no generation has it */
	struct peers_conf *conf;
	struct list peers, tables, links;
	struct peers_found *found;    /* owned: the answer for its template; NULL: none yet */
	struct task *task;            /* collects changes, connects */
	enum peers_resync resync;
	bool has_met;                 /* a link has been up */
	uint64_t resync_end_ms;
	struct peers_link *teacher;   /* the peer that was asked for everything */
	bool is_stopping;             /* its old links are gone, the new process is being taught */
	bool is_taught, has_stopped;  /* afterwards, in this order */
	unsigned stop_tries;
	uint64_t begun_us;            /* wall clock */
	uint64_t calls;               /* of its task */
};

enum link_state {
	LINK_DIALS,     /* connecting */
	LINK_ASKED,     /* our hello is sent */
	LINK_GREETED,   /* accepted: waiting for the peer's hello */
	LINK_UP,
	LINK_LEAVES,    /* sends its last message */
};

/* Texts of server keys, by their numbers on a link. */
struct peers_words {
	struct {
		const struct shared_table *of; /* out: the table with that text, */
		uint32_t word;                 /* and its number there */
		char *text;                    /* in: owned */
	} all[PEERS_WORDS];
};

struct peers_link {
	struct list link;             /* in peers->links */
	struct peers *section;
	struct peer *peer;            /* NULL: the peer's name is not known yet */
	struct config *config;        /* counted: has the settings of its connection */
	struct conn *conn;            /* NULL: <dial> is opening it */
	struct dial dial;
	struct task *task;            /* deadlines; continues after a long turn */
	enum link_state state;
	struct strbuf in, out;
	size_t sent;                  /* bytes of <out> */
	uint64_t opened_ms, heard_ms, said_ms;
	uint64_t lesson_ms;           /* when it was asked to teach, or last taught us something */
	bool asked;                   /* it was asked to teach us everything */
	bool has_to_teach;            /* it has asked for everything, or is the new process */
	bool awaits_confirm;          /* we have sent the end of the lesson */
	bool confirm_due;             /* we have received the end of the lesson */
	bool has_taught, was_refused; /* at a stop: it is done; it could not be reached */
	bool holds;                   /* <in> starts with a change that a lesson must not undo */
	struct share *to, *from;      /* the current tables of updates on the wire; NULL: none */
	struct peers_words *words_out, *words_in; /* owned; NULL: none yet */
	uint64_t calls;
};

/* --- peers.c: sections ------------------------------------------------------------------------ */

/* Returns the section with this name, created if needed. On thread 0. Returns NULL: no memory. */
struct peers *peers_run_of(const char *name);
/* Returns the next section of all; <p> NULL: the first; NULL at the end. Any thread; names and
 * homes never change.
 */
struct peers *peers_next(const struct peers *p);
/* Called by each thread before and after its loop. */
bool peers_thread_init(void);
void peers_thread_fini(void);
bool peers_init(void);
/* Passes the settings of a generation to <p>'s home, which gets a reference to it. <c> NULL: no
 * generation has the section any more. <stop>: teach the successor instead. From thread 0. Returns
 * false: no memory.
 */
bool peers_order(struct peers *p, struct peers_conf *c, struct config *config, bool stop);

/* Resolves the names of the generation's template from now on; <c> NULL: none. On thread 0. Returns
 * false: no memory.
 */
bool peers_follow_names(struct peers *p, const struct peers_conf *c);

/* --- peers_names.c: peers whose addresses come from DNS --------------------------------------- */

/* The addresses that a template's name resolves to. */
struct peers_found {
	struct message message;
	void (*told)(struct peers *p, struct peers_found *f); /* takes ownership */
	struct peers *p;
	/* for another name: the peers of the previous one are dropped */
	bool is_anew;
	unsigned count;
	struct addr all[PEERS_FOUND_MAX];
};

/* Resolves the name of <c>'s template from now on, and passes each answer to <told>, at the home;
 * <c> NULL, or without a template: stops. On thread 0. Returns false: no memory.
 */
typedef void peers_told_fn(struct peers *p, struct peers_found *f);
bool peers_names_follow(struct peers *p, const struct peers_conf *c, peers_told_fn *told);
/* Returns true if <a> is an address of this process. */
bool peers_is_own(const struct peers_conf *c, const struct addr *a);
/* Writes the name of this process on the link of a template's peer to <out>, ADDR_MAX bytes. */
void peers_own_name(const struct peers_link *l, char *out);
/* Returns the address of a peer; false: not known. */
bool peers_address(const struct peer *peer, struct server_addr *out);

/* --- peers_lesson.c: the teacher -------------------------------------------------------------- */

void peers_log(const struct peers *p, int level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Starts a resync: others may have entries that this process lacks. <first>: the process may have
 * taken over from another.
 */
void peers_lesson_begin(struct peers *p, bool first);
/* Called from time to time. Returns the link that was asked and must be pushed, or NULL. */
struct peers_link *peers_lesson_look(struct peers *p, uint64_t now_ms, uint64_t *next_ms);
/* Returns true if it has everything that others have. */
bool peers_is_complete(const struct peers *p);
/* Returns true if it is about to be taught. Its own counts are small until then, and must not
 * replace those of others: no peer gets them before.
 */
bool peers_is_learning(const struct peers *p);
/* Called when links come up, to ask for a lesson, and when a lesson has ended. */
void peers_link_is_up(struct peers_link *l);
void peers_was_taught(struct peers_link *l, bool all);
/* Called when the link of a peer has ended: schedules the next attempt. */
void peers_link_ended(struct peers_link *l, bool was_up);

/* --- peers_listen.c --------------------------------------------------------------------------- */

/* Opens the sockets of <cfg>, sharing those that <prev> has at the same address. */
bool peers_listen_open(struct config *cfg, const struct config *prev, struct diag_list *diags);
/* Starts to accept on its home. */
void peers_listen_start(const struct peers_conf *c);
/* Any thread. */
void peers_listen_close(struct peers_conf *c);

/* --- peers_link.c: connections ---------------------------------------------------------------- */

/* Starts to connect to a peer. */
void peers_link_dial(struct peer *peer);
/* Starts a link for a peer that has connected on <fd> and waits for its hello. */
void peers_link_accept(struct peers_conf *c, int fd);
/* Ends the link without a last message. */
void peers_link_end(struct peers_link *l);
/* Sends pending data. Returns false: the link has ended. */
bool peers_link_push(struct peers_link *l);
/* Called when the generation of its settings is replaced: continues with the new settings, or ends.
 */
void peers_link_follow(struct peers_link *l);
bool peers_link_init(void);

/* --- peers_tables.c: shared tables, and the progress of each peer ----------------------------- */

/* Shares the tables of the generation in force. Returns true if there are new ones. */
bool peers_tables_follow(struct peers *p);
/* Returns true if one of them sends sums. */
bool peers_tables_add(const struct peers *p);
void peers_tables_free(struct peers *p);
/* Collects changes and numbers them. */
void peers_tables_take(struct peers *p);
/* Called at a stop, while the state of peers is known: the successor must send the rest. */
void peers_tables_stop(struct peers *p);
/* Removes entries from the logs that all peers were sent. */
void peers_tables_trim(struct peers *p);
/* Creates the shares of a peer for all tables; called after changes of either. Returns false: no
 * memory.
 */
bool peers_shares_follow(struct peer *peer);
void peers_shares_free(struct peer *peer);
/* Called when a link begins or ends: resets the per-link state. */
void peers_shares_reset(struct peer *peer);
/* Called when the peer is there or gone: its current counts are part of sums or not. */
void peers_shares_set_up(struct peer *peer, bool up);
/* Called when the process that had acknowledged changes is gone. */
void peers_shares_forget(struct peer *peer);
/* Starts to teach all tables. */
void peers_shares_teach(struct peer *peer);
/* Called when the peer has confirmed a lesson: continues with later changes. */
void peers_shares_confirmed(struct peer *peer);
/* Returns the entry of number <n> in the log. */
static inline struct table_entry *shared_log_at(const struct shared_table *s, uint32_t n)
{
	return s->log[n & (s->room - 1)];
}

/* Returns true if the next message is a change from one peer while another one teaches. A lesson
 * contains older values: the change is handled after the lesson.
 */
bool peers_learn_later(const struct peers_link *l, struct slice in);

/* --- peers_tell.c: sending -------------------------------------------------------------------- */

/* Appends at most <budget> updates to l->out. Returns true if there may be more. *failed: no
 * memory.
 */
bool peers_tell(struct peers_link *l, unsigned budget, bool *failed);

/* --- peers_learn.c: receiving ----------------------------------------------------------------- */

/* Looks ahead in the received messages and prefetches their entries. Returns how many messages, at
 * least 1, to handle before the next call.
 */
unsigned peers_learn_soon(struct peers_link *l, struct slice in);
/* Handles a message. Returns false: protocol error, described in <why>. */
bool peers_learn(struct peers_link *l, const struct peers_msg *m, const char **why);
/* Appends the acks that are due to l->out. Returns false: no memory. */
bool peers_ack_all(struct peers_link *l);
void peers_words_free(struct peers_words **w);

#endif
