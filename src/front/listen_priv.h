/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listen_priv.h - what the files about listening sockets share
 *
 *   listen_limits.c      limits on new clients: places, rates; what sessions count
 *   listen_open.c        sockets of a line: options, shards, opening, accepting
 *   listen_state.c       starting, pausing, resuming, stopping
 *   listen_generation.c  from one configuration, or process, to the next
 *   listen_named.c       sockets for another process
 *   listen_quic.c        connections of QUIC
 *   listen_conf.c        global words
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
	unsigned refs;          /* its line, and the one of the next generation that shares */
	struct opened *donor;   /* of the generation before, counted: shares the first <lent> */
	unsigned lent;          /* shared with another generation: the port must not be released */
	bool chosen;            /* has an heir in the generation that is being made */
	struct listener *sockets[];
};

/* --- listen_limits.c */

/* Makes the rate of connections; false: no memory. Harmless when it is there. */
bool listen_limits_init(void);
/* The limit of the process in force; 0: none. */
unsigned listen_process_max(void);
/* Refuse clients whose own port is below 1024? Any thread. */
void listen_reject_privileged(bool reject);
/* Does an administrator want the frontend not to accept? */
bool listen_is_held(const struct proxy *fe);
/* Holds all frontends, or ends that. */
void listen_suspend(bool on);

/* --- listen_open.c */

enum listen_shards { LISTEN_SHARDS_BY_GROUP, LISTEN_SHARDS_BY_PROCESS, LISTEN_SHARDS_BY_THREAD };

/* What the section `global` says of listening sockets: how they are made unless their lines say
 * otherwise. In the configuration's slot.
 */
struct listen_tunes {
	unsigned shards;                     /* of an address: enum listen_shards */
	int rcvbuf, sndbuf, notsent_lowat;   /* 0: the kernel's own defaults */
	int maxaccept;                       /* connections accepted in a row; 0: the default */
	bool no_reuseport;
	bool reject_privileged;              /* harden.reject-privileged-ports.tcp */
};
extern struct slot listen_tune_slot;
struct listen_tunes *listen_tunes_of(const struct config *cfg);

/* What is told of sockets of QUIC, see listener_user.datagrams. Before they are opened. */
typedef void listen_datagrams_fn(void *owner, int fd, enum listener_wish wish);
void listen_set_datagrams(listen_datagrams_fn *fn);

/* What the sockets of a line are made with; texts are borrowed. */
void listen_settings(const struct bind_conf *b, struct socket_settings *set);
/* Opens the sockets of <l>, sharing those of <donor> (or NULL), whose count it takes over with
 * l->opened. False: reported; some may be open.
 */
bool listen_open_one(struct listener_conf *l, struct opened *donor, struct diag_list *diags);
/* Which of the sockets of <l>, of <count>, is that of the calling thread? */
unsigned listen_shard_of_thread(const struct listener_conf *l, unsigned count);
/* Does the thread accept for <l>? A socket of datagrams, of <count>, has one reader. */
bool listen_reads(const struct listener_conf *l, unsigned thread, unsigned count);

/* Begins a line of rhttp@ on the calling thread. */
void listen_start_reverse(struct listener_conf *l);

/* --- listen_state.c */

/* Sockets are closed by one thread while others may want to resume or to share them: all that
 * reaches for listener_conf.opened after the start holds this lock. Nothing else is waited for
 * under it; none of it is done for each connection.
 */
void listen_opened_lock(void);
void listen_opened_unlock(void);

typedef bool listen_each_fn(struct listener_conf *l);
/* Calls <fn> for all addresses of a frontend, or of all frontends, under the lock of what is open;
 * false when it failed for one.
 */
bool listen_each(const struct config *cfg, listen_each_fn *fn);
/* Stops accepting; the kernel refuses later connections; other programs may bind the port. */
bool listen_pause_one(struct listener_conf *l);

/* --- listen_generation.c */

/* Closes the sockets of <l>: the port immediately, descriptors when every thread has left them.
 * Under the lock of what is open.
 */
void listen_close_sockets(struct listener_conf *l);
/* Can the port be released while the socket is kept? An inherited socket is shared with others. */
bool listen_can_release(const struct listener_conf *l);
/* Releases the port of a socket, unless another process has the socket too. */
void listen_release_port(int fd);

#endif
