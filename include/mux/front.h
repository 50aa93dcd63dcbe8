/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* front.h - what a client's mux and the owner of its connection (the session) know of each other
 *
 * Purpose: the same whatever HTTP version the client speaks: how a stream is asked for, how bytes
 *          that are no request are reported, how the end is told.
 * Owns   : nothing. Settings are borrowed from the generation, which the session holds.
 * Threads: that of the connection.
 */
#ifndef MUX_FRONT_H
#define MUX_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/slice.h"
#include "mux/endpoint.h"

struct block_queue;
struct config;
struct conn;
struct fcgi_peer;
struct h1_case;
struct h2_tunes;
struct mux_kind;
struct strbuf;

enum mux_options {
	MUX_OPT_UNSAFE = 1 << 0,       /* accept-unsafe-violations of this side */
	MUX_OPT_IGNORE_PROBES = 1 << 1,
	MUX_OPT_DROP_TRAILERS = 1 << 2,       /* of what is sent to this side */
	MUX_OPT_PRETEND_KEEP_ALIVE = 1 << 3,  /* back: close without announcing it */
	MUX_OPT_PROXY_HEADER = 1 << 4,        /* front: http-use-proxy-header */
	MUX_OPT_IDLE_CLOSE = 1 << 5,          /* front: idle-close-on-response */
	MUX_OPT_ANY_PAYLOAD = 1 << 6,         /* front: h1-accept-payload-with-any-method */
	MUX_OPT_LAX_FRAMING = 1 << 7, /* h1-do-not-close-on-insecure-transfer-encoding */
	MUX_OPT_ANSWERS = 1 << 8,     /* front: the owner may answer by itself, see answer() */
};

/* What a mux needs of its proxy; stays as long as a connection has it. */
struct mux_settings {
	int64_t request_ms;    /* time for a head to come; 0: <client_ms> limits it */
	int64_t keep_alive_ms; /* between requests; 0: same */
	int64_t client_ms;     /* inactivity; 0: none of these has a limit */
	unsigned options;      /* enum mux_options */
	unsigned fields_max;   /* tune.http.maxhdr */
	size_t head_max;       /* tune.bufsize - tune.maxrewrite */
	const struct h1_case *adjust; /* h1-case-adjust-bogus-*: the names; NULL: as they are */
	struct counter_set *counters; /* of the proxy; borrowed, lives as long; NULL: none */
	unsigned h1_counts, h2_counts; /* numbers in it of the first of H1_COUNTS and H2_COUNTS */
	unsigned quic_counts;          /* same, of QUIC_COUNTS (quic/counts.h) */
	const struct h2_tunes *h2;     /* of the global section */
	const struct fcgi_peer *fcgi;  /* back: the application of the servers; NULL: none */
};

/* Milliseconds for a head to come; 0: any. */
static inline int64_t mux_request_ms(const struct mux_settings *set)
{
	return set->request_ms ? set->request_ms : set->client_ms;
}

/* Milliseconds between requests; 0: any. */
static inline int64_t mux_keep_alive_ms(const struct mux_settings *set)
{
	return set->keep_alive_ms ? set->keep_alive_ms : set->client_ms;
}

/* Why no request came out of the bytes. */
enum front_bad_kind {
	FRONT_BAD_SYNTAX, FRONT_BAD_TOO_LARGE, FRONT_BAD_ABORT, FRONT_BAD_TIMEOUT, FRONT_BAD_ERROR,
};

struct front_bad {
	enum front_bad_kind kind;
	int status;           /* what a request gets as answer; 0: none, as in HTTP/2 */
	const char *text;
	uint64_t since_ns;    /* when the first byte came; 0: none did */
	uint8_t version;      /* 11 or 20 */
	struct endpoint_bad details; /* what was received, if anything, for a capture */
};

/* A request that needs no stream, if its owner has the answer: GET in HTTP/1.1, for a path, without
 * a body, on a connection that is kept and has nothing unsent.
 */
struct front_request {
	struct slice target;   /* borrowed */
	size_t length;         /* bytes of the head */
};

struct front_user {
	/* HTTP/1 with MUX_OPT_ANSWERS: adds all of the answer to <out>, which is empty, and counts
	 * it. False: nothing was added, the request is to get a stream.
	 */
	bool (*answer)(void *owner, const struct front_request *rq, struct block_queue *out);
	/* A request's head is there, or in mode tcp a connection: returns the front endpoint of a
	 * new stream, whose rx_head is set in mode http, or NULL (no memory): the connection is
	 * closed. <since_ns>: when its first byte came; 0: not yet.
	 */
	struct endpoint *(*stream_new)(void *owner, uint64_t since_ns);
	/* Counts and logs; returns the page to send before closing (copied), slice_none() to close
	 * immediately.
	 */
	struct slice (*bad_request)(void *owner, const struct front_bad *bad);
	/* The connection's first bytes, <q>, are the preface of another protocol. The owner gives
	 * <c> to its mux, <kind>, with those bytes; the caller forgets the connection. False: the
	 * caller goes on, and looks at the bytes itself.
	 */
	bool (*preface)(void *owner, const struct mux_kind *kind, struct conn *c,
			struct block_queue *q);
	/* The connection is about to be closed, and its mux freed: forget both. */
	void (*closed)(void *owner);
	/* The client did what a well-behaved one does not (h2.h). Or NULL. */
	void (*glitch)(void *owner);
	/* A head of HTTP/2 came that is no request; the connection may go on. Or NULL. */
	void (*refused)(void *owner);
	/* For `show fd`: " fe=<name>". */
	void (*describe)(const void *owner, struct strbuf *out);
	/* The client has said what it can do: requests may follow. True: the connection goes on,
	 * maybe with another owner (front_take()), or as one to a server (front_reverse()). False:
	 * it is to be closed. HTTP/2 only. Or NULL.
	 */
	bool (*settled)(void *owner);
	/* What the session is about, for traces: adds to <out>. Or NULL. */
	void (*trace)(const void *owner, struct trace_facts *out);
};

/* Whose connection it is, and how it is used. */
struct front_owner {
	const struct front_user *user;
	void *owner;                         /* for the calls of <user> */
	const struct mux_settings *settings; /* borrowed, live as long as the connection */
	int64_t idle_ping_ms;                /* see mux_kind.set_settings() */
	bool dialled;                        /* we opened it: the mux says hello first */
};

#endif
