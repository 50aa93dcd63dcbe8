/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mux.h - the protocols that a connection may speak: one table, one row each
 *
 * Purpose: a connection is given to the mux of a row, and is asked by the operations of this row
 *          from then on. Nothing above asks which protocol it speaks. `proto`, `check-proto`, ALPN
 *          and `-vv` read the same rows.
 * Rows   : those of module descriptors (module.muxes), in the order in which `-vv` lists them.
 * Owns   : a mux owns its connection until that ends, and tells its owner then (front_user.closed,
 *          back_user.closed); the mux is freed with it.
 * Threads: the table is constant. A mux belongs to the thread of its connection.
 * Errors : a constructor returns NULL when there is no memory: the connection is still the
 *          caller's, as it was.
 * Manual : configuration 5.1, 5.2 proto, check-proto, ws, alpn; management -vv
 *
 *      client: mux_front_begin --> [front_give] --> front_start --> a stream each time the mux
 *              asks for one (front_user.stream_new) --> front_stop, or the client's end
 *      server: mux_back_begin --> back_attach for each further stream --> back_close, or the
 *              server's end
 *
 * A protocol without an operation has NULL there; what this means stands with the operation.
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
	MUX_DEFAULT = 1 << 0,      /* of its mode, when neither a line nor ALPN asks for another */
	MUX_MULTIPLEX = 1 << 1,    /* carries several streams at once */
	MUX_FRAMED = 1 << 2,       /* needs a transport with streams of its own: QUIC */
};

/* The first member of what each protocol keeps of a connection. */
struct mux {
	const struct mux_kind *kind;
};

struct mux_kind {
	const char *name;          /* as `proto` has it */
	const char *label;         /* as `-vv` and `show fd` have it */
	struct slice alpn;         /* a list of one protocol in wire format; slice_none(): none */
	struct slice preface;      /* what a client's first bytes are; slice_none(): anything */
	uint8_t mode;              /* enum mux_mode */
	uint8_t sides;             /* enum mux_side; 0: a name that is known, and not supported */
	uint8_t traits;            /* enum mux_traits */
	uint8_t major;             /* HTTP version on the wire; 0: none */

	const struct endpoint_ops *front_ops; /* the row's own: of the endpoints of clients */

	/* For mux_front_begin(). */
	struct mux *(*front_new)(struct conn *c, const struct front_owner *o);
	/* Bytes that were received already, in whole blocks: taken out of <q>. The mux goes on with
	 * them after this turn of the loop, unless it is started before. NULL: the mux takes only
	 * connections from which nothing was read.
	 */
	void (*front_give)(struct mux *m, struct block_queue *q);
	/* Begins. <readable>: bytes may be there already. May destroy the mux. */
	void (*front_start)(struct mux *m, bool readable);
	/* The time for the first head is up: the mux says so on the next turn of the loop, after it
	 * has looked at what it was given. NULL: such a mux has no head.
	 */
	void (*front_expire)(struct mux *m);
	/* No further request: ends soon if idle, else after what is on its way. May destroy the
	 * mux. NULL: it lasts as long as its stream.
	 */
	void (*front_stop)(struct mux *m);

	/* From within front_user.settled(), reverse HTTP: the connection has another owner from now
	 * on, with its callbacks and settings. NULL: such a mux does not call settled().
	 */
	void (*front_take)(struct mux *m, const struct front_owner *o);
	/* From within front_user.settled(), too: from now on the connection is one to a server,
	 * connected and without streams. Its former owner is not told of its end. False: not now.
	 */
	bool (*front_reverse)(struct mux *m, const struct back_owner *o);

	/* Opens the connection: the <open> of a dialler (net/dial.h). NULL: it is one of streams,
	 * which the dialler opens by itself.
	 */
	dial_open_fn *back_open;
	/* For mux_back_begin(). */
	struct mux *(*back_new)(struct conn *c, struct endpoint *ep, const struct back_owner *o);
	/* One more stream, for <ep>: on a kept connection, or where back_room() allows it. False:
	 * no memory. NULL, here and in the following: the connection serves one stream.
	 */
	bool (*back_attach)(struct mux *m, struct endpoint *ep);
	/* How many more streams it takes now. */
	unsigned (*back_room)(const struct mux *m);
	/* Is a kept connection about to end? It takes no stream then. NULL: such a connection is
	 * closed before it is used.
	 */
	bool (*back_is_ending)(const struct mux *m);
	/* Closes a connection without streams. */
	void (*back_close)(struct mux *m);
	/* A connection without streams goes to another thread: leaves its own (false: not now, it
	 * has something to do), arrives on the calling one (false: no memory; only back_close() is
	 * allowed).
	 */
	bool (*back_detach_thread)(struct mux *m);
	bool (*back_attach_thread)(struct mux *m);

	/* Settings from now on, as the connection goes on with another generation; borrowed. When
	 * nothing was asked for <idle_ping_ms> (0: never), a mux that can do so finds out whether
	 * the peer is there. NULL: the mux has no settings.
	 */
	void (*set_settings)(struct mux *m, const struct mux_settings *set, int64_t idle_ping_ms);
};

/* Makes the table. Once, before any configuration is read. False: no memory. */
bool muxes_register(const struct module *const *modules);
/* The row that `proto` calls <name>, supported or not; NULL: there is none. */
const struct mux_kind *mux_find(const char *name);
/* What is used when nothing else is asked for. */
const struct mux_kind *mux_default(enum mux_mode mode);
/* The name that ALPN has for it; empty: none. */
struct slice mux_protocol(const struct mux_kind *k);
/* The row of the protocol that ALPN chose over TCP, the default of HTTP without one, or with
 * another.
 */
const struct mux_kind *mux_of_alpn(struct slice protocol);
/* All that ALPN may offer on <side> over TCP, in wire format, the best first; constant. */
struct slice mux_alpn_list(enum mux_side side);
/* The row whose preface <bytes> begin with, NULL: none. *more: they are too few to tell. */
const struct mux_kind *mux_of_preface(struct slice bytes, bool *more);
/* May connections of <side> in <mode> speak it? */
bool mux_fits(const struct mux_kind *k, enum mux_side side, enum mux_mode mode);
/* A number for where a pointer is too much; 0: NULL. */
uint8_t mux_number(const struct mux_kind *k);
const struct mux_kind *mux_of_number(uint8_t number);
/* The part of `-vv`. */
void muxes_dump(FILE *out);

/* How many connections of clients there are, and may be. The front floor installs it at start-up;
 * from any thread.
 */
typedef void mux_load_fn(unsigned *open, unsigned *most);
void mux_set_load(mux_load_fn *fn);

/* Settings that all muxes get along with: those of <cfg>, which has started, and no limits. */
void mux_settings_init(struct mux_settings *set, const struct config *cfg);

/* Gives <c>, of a client, accepted and its transport ready, to the mux of <k>. <o> is copied. NULL:
 * no memory, <c> is the caller's, as it was.
 */
struct mux *mux_front_begin(struct conn *c, const struct mux_kind *k,
			    const struct front_owner *o);
/* Gives <c>, to a server and maybe still connecting or shaking hands, to the mux of <k>, and its
 * first stream, <ep>; <k> NULL: to the mux that ALPN chooses once the handshake is over.
 * o->user->begun() tells which it is; <ep> is told when the connection stands (EP_CONNECTED), or
 * that it failed. <o> is copied. False: no memory, <c> and <ep> are the caller's, as they were.
 */
bool mux_back_begin(struct conn *c, struct endpoint *ep, const struct mux_kind *k,
		    const struct back_owner *o);

static inline bool mux_is_ending(const struct mux *m)
{
	return m->kind->back_is_ending && m->kind->back_is_ending(m);
}

#endif
