/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listen_priv.h - declarations shared by the files about listening sockets
 *
 *   listen_limits.c      limits on new clients: counts, rates; counting of sessions
 *   listen_open.c        sockets of a line: options, shards, opening, accepting
 *   listen_state.c       starting, pausing, resuming, stopping
 *   listen_generation.c  handing over to the next configuration or process
 *   listen_named.c       sockets for another process
 *   listen_quic.c        QUIC connections
 *   listen_conf.c        global keywords
 */
#ifndef FRONT_LISTEN_PRIV_H
#define FRONT_LISTEN_PRIV_H

#include <stdbool.h>
#include "base/slot.h"
#include "front/listen.h"
#include "net/listener.h"
#include "proxy/bind.h"

struct addr;
struct config;
struct listener;
struct proxy;
struct socket_settings;

/* The sockets of one address of a bind line: one, or several with shards. */
struct opened {
	int backlog;
	unsigned count;
	unsigned refs;          /* its line, and the line of the next generation that shares it */
	struct opened *donor;   /* of the previous generation, counted: shares the first <lent> */
	unsigned lent;          /* shared with another generation: the port must not be released */
	bool chosen;            /* the generation being made has an heir of it */
	struct listener *sockets[];
};

/* --- listen_limits.c */

/* Creates the connection rate counter, if it does not exist. Returns false: no memory. */
bool listen_limits_init(void);
/* Returns the limit of the process in force; 0: none. */
unsigned listen_process_max(void);
/* Sets if clients with a source port below 1024 are refused. Any thread. */
void listen_reject_privileged(bool reject);
/* Returns true if an administrator has stopped the frontend from accepting. */
bool listen_is_held(const struct proxy *fe);
/* Stops all frontends from accepting, or ends that. */
void listen_suspend(bool on);

/* --- listen_open.c */

enum listen_shards { LISTEN_SHARDS_BY_GROUP, LISTEN_SHARDS_BY_PROCESS, LISTEN_SHARDS_BY_THREAD };

/* Settings of listening sockets in the `global` section, the defaults of bind lines. In a slot of
 * the configuration.
 */
struct listen_tunes {
	unsigned shards;                     /* per address: enum listen_shards */
	int rcvbuf, sndbuf, notsent_lowat;   /* 0: the kernel's own defaults */
	int maxaccept;                       /* connections accepted in a row; 0: the default */
	bool no_reuseport;
	bool reject_privileged;              /* harden.reject-privileged-ports.tcp */
};
extern struct slot listen_tune_slot;
struct listen_tunes *listen_tunes_of(const struct config *cfg);

/* Sets the callback for QUIC sockets, see listener_user.datagrams. Before they are opened. */
typedef void listen_datagrams_fn(void *owner, int fd, enum listener_wish wish);
void listen_set_datagrams(listen_datagrams_fn *fn);

/* Fills the settings of the sockets of a line; texts are borrowed. */
void listen_settings(const struct bind_conf *b, struct socket_settings *set);
/* Opens the sockets of <l>, sharing those of <donor> (or NULL), whose count it takes over with
 * l->opened. Returns false: reported; some may be open.
 */
bool listen_open_one(struct listener_conf *l, struct opened *donor, struct diag_list *diags);
/* Returns the index, below <count>, of the calling thread's socket of <l>. */
unsigned listen_shard_of_thread(const struct listener_conf *l, unsigned count);
/* Returns true if the thread accepts for <l>. Each of its <count> datagram sockets has one reader.
 */
bool listen_reads(const struct listener_conf *l, unsigned thread, unsigned count);

/* Starts a line of rhttp@ on the calling thread. */
void listen_start_reverse(struct listener_conf *l);

/* --- listen_state.c */

/* One thread may close sockets while others resume or share them: all accesses to
 * listener_conf.opened after start-up hold this lock. No code blocks while holding it, and none
 * takes it for each connection.
 */
void listen_opened_lock(void);
void listen_opened_unlock(void);

typedef bool listen_each_fn(struct listener_conf *l);
/* Calls <fn> for all addresses of all frontends, with this lock held. Returns false if it failed
 * for one.
 */
bool listen_each(const struct config *cfg, listen_each_fn *fn);
/* Stops accepting; the kernel refuses new connections; other programs may bind the port. */
bool listen_pause_one(struct listener_conf *l);

/* --- listen_generation.c */

/* Closes the sockets of <l>: frees the port immediately, the descriptors when all threads have left
 * them. Must be called with the lock held.
 */
void listen_close_sockets(struct listener_conf *l);
/* Returns true if the port can be released while the socket is kept: not for an inherited socket,
 * which is shared with others, a Unix socket or QUIC.
 */
bool listen_can_release(const struct listener_conf *l);
/* Releases the port of a socket, unless another process has the socket, too. */
void listen_release_port(int fd);

#endif
