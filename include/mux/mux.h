/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mux.h - the protocols of connections: one table, one row per protocol
 *
 * Purpose: a connection is given to the mux of a row and is used through the operations of this row
 *          from then on. Code above does not ask which protocol it is. `proto`, `check-proto`, ALPN
 *          and `-vv` read the same rows.
 * Rows   : from module descriptors (module.muxes), in the order in which `-vv` lists them.
 * Owns   : a mux owns its connection until the connection ends, then notifies its owner
 *          (front_user.closed, back_user.closed); the mux is freed with the connection.
 * Threads: the table is constant. A mux belongs to the thread of its connection.
 * Errors : a constructor returns NULL when out of memory: the caller still owns the unchanged
 *          connection.
 * Manual : configuration 5.1, 5.2 proto, check-proto, ws, alpn; management -vv
 *
 *      client: mux_front_begin --> [front_give] --> front_start --> a stream each time the mux
 *              asks for one (front_user.stream_new) --> front_stop, or the client's end
 *      server: mux_back_begin --> back_attach for each further stream --> back_close, or the
 *              server's end
 *
 * An operation that a protocol lacks is NULL; the comment of the operation says what NULL means.
 */
#ifndef MUX_MUX_H
#define MUX_MUX_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "base/slice.h"
#include "mux/back.h"
#include "mux/front.h"
#include "net/dial.h"

struct block_queue;
struct config;
struct conn;
struct endpoint;
struct module;

enum mux_mode { MUX_TCP, MUX_HTTP, MUX_SPOP }; /* of the proxies that may use it */
enum mux_side { MUX_FRONT = 1 << 0, MUX_BACK = 1 << 1 };
enum mux_traits {
	/* the default of its mode, unless a line or ALPN chooses another */
	MUX_DEFAULT = 1 << 0,
	MUX_MULTIPLEX = 1 << 1,    /* carries several streams at a time */
	MUX_FRAMED = 1 << 2,       /* needs a transport with streams of its own: QUIC */
};

/* The first member of a protocol's connection object. */
struct mux {
	const struct mux_kind *kind;
};

struct mux_kind {
	const char *name;          /* the name for `proto` */
	const char *label;         /* the name in `-vv` and `show fd` */
	struct slice alpn;         /* a list of one protocol in wire format; slice_none(): none */
	struct slice preface;      /* the first bytes that clients send; slice_none(): anything */
	uint8_t mode;              /* enum mux_mode */
	uint8_t sides;             /* enum mux_side; 0: a name that is known but not supported */
	uint8_t traits;            /* enum mux_traits */
	uint8_t major;             /* HTTP version on the wire; 0: none */

	const struct endpoint_ops *front_ops; /* of the endpoints of clients, for the row itself */

	/* Implements mux_front_begin(). */
	struct mux *(*front_new)(struct conn *c, const struct front_owner *o);
	/* Gives the mux bytes that were already received, in whole blocks, taken out of <q>. The
	 * mux parses them after this turn of the loop, unless it is started earlier. NULL: the mux
	 * accepts only connections from which nothing was read.
	 */
	void (*front_give)(struct mux *m, struct block_queue *q);
	/* Begins. <readable>: bytes may be there already. May destroy the mux. */
	void (*front_start)(struct mux *m, bool readable);
	/* The time for the first head is up: the mux reports it in the next turn of the loop, after
	 * it has parsed what it was given. NULL: messages of this mux have no head.
	 */
	void (*front_expire)(struct mux *m);
	/* Accept no further request: end soon if idle, else after the messages in progress. May
	 * destroy the mux. NULL: the connection lasts as long as its stream.
	 */
	void (*front_stop)(struct mux *m);

	/* Called from front_user.settled(), reverse HTTP: gives the connection another owner, with
	 * its callbacks and settings. NULL: this mux never calls settled().
	 */
	void (*front_take)(struct mux *m, const struct front_owner *o);
	/* Called from front_user.settled(), too: turns the connection into one to a server,
	 * connected and without streams. Its former owner is not told of its end. False: not
	 * possible now.
	 */
	bool (*front_reverse)(struct mux *m, const struct back_owner *o);

	/* Opens the connection: the <open> of a dialler (net/dial.h). NULL: it runs over a stream
	 * socket, which the dialler opens by itself.
	 */
	dial_open_fn *back_open;
	/* Implements mux_back_begin(). */
	struct mux *(*back_new)(struct conn *c, struct endpoint *ep, const struct back_owner *o);
	/* Adds a stream for <ep>: on an idle connection, or if back_room() allows it. False: out of
	 * memory. NULL, here and in the following operations: the connection serves one stream.
	 */
	bool (*back_attach)(struct mux *m, struct endpoint *ep);
	/* Returns how many more streams the connection takes now. */
	unsigned (*back_room)(const struct mux *m);
	/* Is an idle connection about to end, so that it must not get a stream? NULL: such a
	 * connection is closed before it could be used.
	 */
	bool (*back_is_ending)(const struct mux *m);
	/* Closes a connection without streams. */
	void (*back_close)(struct mux *m);
	/* Moves a connection without streams to another thread: back_detach_thread() leaves its
	 * thread (false: not now, it is busy), back_attach_thread() joins the calling one (false:
	 * out of memory; only back_close() is allowed then).
	 */
	bool (*back_detach_thread)(struct mux *m);
	bool (*back_attach_thread)(struct mux *m);

	/* Replaces the settings, when the connection moves to another generation; borrowed. After
	 * <idle_ping_ms> without a request (0: never), a mux that is able to checks whether the
	 * peer is alive. NULL: the mux has no settings.
	 */
	void (*set_settings)(struct mux *m, const struct mux_settings *set, int64_t idle_ping_ms);
};

/* Builds the table. Call once, before any configuration is read. False: out of memory. */
bool muxes_register(const struct module *const *modules);
/* Returns the row that `proto` calls <name>, supported or not; NULL: none. */
const struct mux_kind *mux_find(const char *name);
/* Returns the row that is used when no other is asked for. */
const struct mux_kind *mux_default(enum mux_mode mode);
/* Returns its ALPN name; empty: none. */
struct slice mux_protocol(const struct mux_kind *k);
/* Returns the row of the protocol that ALPN chose over TCP. Without one, or for another one: the
 * default row of HTTP.
 */
const struct mux_kind *mux_of_alpn(struct slice protocol);
/* Returns everything that ALPN may offer on <side> over TCP, in wire format, best first. Constant.
 */
struct slice mux_alpn_list(enum mux_side side);
/* Returns the row whose preface <bytes> start with; NULL: none. *more: there are too few bytes to
 * decide.
 */
const struct mux_kind *mux_of_preface(struct slice bytes, bool *more);
/* May connections of <side> in <mode> speak this protocol? */
bool mux_fits(const struct mux_kind *k, enum mux_side side, enum mux_mode mode);
/* Convert between a row and a small number that takes less room than a pointer; 0: NULL. */
uint8_t mux_number(const struct mux_kind *k);
const struct mux_kind *mux_of_number(uint8_t number);
/* Prints the protocols' part of `-vv`. */
void muxes_dump(FILE *out);

/* Installs the function that tells how many client connections there are, and may be at most.
 * Installed by the front floor at start-up; called on any thread.
 */
typedef void mux_load_fn(unsigned *open, unsigned *most);
void mux_set_load(mux_load_fn *fn);

/* Initialises <set> with values that suit all muxes: those of <cfg>, which has started, and no
 * limits.
 */
void mux_settings_init(struct mux_settings *set, const struct config *cfg);

/* Gives a client connection <c>, accepted and with its transport ready, to the mux of <k>. <o> is
 * copied. NULL: out of memory, the caller still owns the unchanged <c>.
 */
struct mux *mux_front_begin(struct conn *c, const struct mux_kind *k,
			    const struct front_owner *o);
/* Gives a server connection <c>, which may still be connecting or in a handshake, and its first
 * stream <ep> to the mux of <k>; <k> NULL: to the mux that ALPN chooses after the handshake.
 * o->user->begun() tells the mux; <ep> is told that the connection is established (EP_CONNECTED) or
 * that it failed. <o> is copied. False: out of memory, the caller still owns <c> and <ep>,
 * unchanged.
 */
bool mux_back_begin(struct conn *c, struct endpoint *ep, const struct mux_kind *k,
		    const struct back_owner *o);

static inline bool mux_is_ending(const struct mux *m)
{
	return m->kind->back_is_ending && m->kind->back_is_ending(m);
}

#endif
