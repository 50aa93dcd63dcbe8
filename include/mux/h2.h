/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* h2.h - the HTTP/2 mux, towards clients: one connection, many messages at once
 *
 * Purpose: turns a connection's frames into heads, body slices and ends of messages, each for the
 *          endpoint of its own stream, and back (RFC 9113, RFC 8441). Answers PING and SETTINGS,
 *          keeps the windows, ends with GOAWAY.
 * Owns   : the connection, until it ends; its owner (the session) is then told. A stream here lives
 *          as long as its endpoint is attached.
 * Threads: that of the connection.
 * Sending: what the streams say in one turn of the loop is gathered and leaves in one system call
 *          when the turn ends. EP_TX_DONE is set when the connection took all; its queue is
 *          bounded.
 * Idle   : without a stream it holds no buffer.
 * Bounds : streams at once, frames a turn, answers to control frames, bytes of a head, windows.
 *          What a well-behaved peer never does is counted (glitches) and may end the connection.
 * Config : tune.h2.*, option disable-h2-upgrade, bind's proto and alpn. See: doc/internals/h2.md
 */
#ifndef MUX_H2_H
#define MUX_H2_H

#include <stdbool.h>
#include <stdint.h>
#include "mux/front.h"

struct config;
struct h2_conn;

/* What the global section says of one side, in its order; 0 where that means no limit. */
struct h2_limits {
	int glitches, window, streams, frames_at_once, rst_at_once, total_streams;
	uint64_t rxbuf;
};

struct h2_tunes {
	struct h2_limits fe, be;   /* towards clients and servers */
	int table_size, window, streams, frame_size;
	int kill_cpu_percent;      /* tune.glitches.kill.cpu-usage */
	bool no_websockets;        /* clients are not offered RFC 8441 */
	unsigned log_errors;       /* enum h2_log_errors */
};

/* What the mux counts, X(NAME), in the order of `show stat`. CONNS and STREAMS are gauges. */
#define H2_COUNTS(X) \
	X(HEADERS) X(DATA) X(SETTINGS) X(RESETS) X(GOAWAYS) X(CONN_ERRORS) X(STREAM_ERRORS) \
	X(RESETS_SENT) X(GOAWAYS_SENT) X(CONNS) X(STREAMS) X(CONNS_TOTAL) X(STREAMS_TOTAL)
enum h2_counter {
#define X(name) H2_CNT_##name,
	H2_COUNTS(X)
#undef X
	H2_CNT_COUNT
};

enum h2_log_errors { H2_LOG_STREAM, H2_LOG_CONNECTION, H2_LOG_NONE };

/* The values of a generation that has started. */
const struct h2_tunes *h2_tunes_of(const struct config *cfg);

/* Takes over <c> (accepted, transport ready). NULL: no memory, <c> still the caller's. <tunes> live
 * as long as the settings.
 */
struct h2_conn *h2_front_new(struct conn *c, const struct front_user *user, void *owner,
			     const struct mux_settings *settings, const struct h2_tunes *tunes);
/* Bytes that were received already: those of <in> (borrowed) from offset <at>. Before the start. */
void h2_front_give(struct h2_conn *h, struct block *in, uint32_t at);
/* The same, all those of <q>, which are in whole blocks. It goes on with them after this turn. */
void h2_front_give_all(struct h2_conn *h, struct block_queue *q);
/* Reads at once what may be there already. May destroy the h2_conn. */
void h2_front_start(struct h2_conn *h);
/* The process stops: asks the client to go, and ends a moment after its last stream. */
void h2_front_stop(struct h2_conn *h);

/* The connection that it owns; borrowed. */
struct conn *h2_conn_conn(struct h2_conn *h);
/* Its settings from now on: the connection goes on with another generation. Borrowed. */
void h2_set_settings(struct h2_conn *h, const struct mux_settings *settings,
		     const struct h2_tunes *tunes);

/* When nothing is asked for <ms> (0: never), a PING finds out whether the peer is there; one that
 * has not answered it by as long again is left. On the connection's thread.
 */
void h2_set_idle_ping(struct h2_conn *h, int64_t ms);

/* --- towards servers */

struct h2_back_user {
	/* There may be room for another stream now, or none any more: h2_back_room(). */
	void (*room_changed)(void *owner);
	/* A stream left. When it was the last one: keep the connection (true) or let it be closed;
	 * otherwise the answer does not matter.
	 */
	bool (*stream_left)(void *owner, bool last);
	/* The connection is closed and the h2_conn about to be freed. */
	void (*closed)(void *owner);
	/* For `show fd`: " sv=<backend>/<server>". */
	void (*describe)(const void *owner, struct strbuf *out);
};

/* Takes over <c>, maybe still connecting, and says hello. Its first stream is attached next, and
 * told when the connection stands (EP_CONNECTED). NULL: no memory, <c> still the caller's.
 */
struct h2_conn *h2_back_new(struct conn *c, const struct h2_back_user *user, void *owner,
			    const struct mux_settings *settings, const struct h2_tunes *tunes);
/* A stream for <ep>, whose request follows. False: no memory. */
bool h2_back_attach(struct h2_conn *h, struct endpoint *ep);
/* Undoes h2_back_new(): <c> is the caller's again. */
void h2_back_abandon(struct h2_conn **h);
/* How many more streams it can take; 0 also when it is about to end or not connected yet. */
unsigned h2_back_room(const struct h2_conn *h);
/* Is it about to end? Then it takes no stream, not even as its only one. */
bool h2_back_is_ending(const struct h2_conn *h);
/* Says goodbye and closes a connection without streams. */
void h2_back_close(struct h2_conn *h);
/* Moves a connection without streams to another thread, as h1_back_detach_thread(). */
bool h2_back_detach_thread(struct h2_conn *h);
bool h2_back_attach_thread(struct h2_conn *h);

#endif
